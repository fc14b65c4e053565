/* A program of the contract, copied and analysed: types, phases between reductions. */
#ifndef TENON_CPU_PROGRAM_H_
#define TENON_CPU_PROGRAM_H_

#include "cpu.h"

/*
 * Reductions divide a program into phases: what a phase computes needs only reductions of earlier
 * phases. softmax has three: the maximum; the sum of exponentials; the quotient. All reductions of
 * a program that this plugin takes run along the same axes.
 */
typedef struct tenon__cpu_program_t {
  tenon_program_t source; /* our own copy */
  const uint8_t* types;   /* of each instruction's value */
  const uint32_t* phases; /* of each instruction: the first phase in which its value can be had */
  uint32_t phase_count;
  bool reduces;
  uint64_t reduced_axes; /* of all reductions */
  size_t element_bytes;  /* of the widest value */
} tenon__cpu_program_t;

typedef void* (*tenon__cpu_allocate_t)(void* user, size_t size_bytes);

bool tenon__cpu_type_of(tenon_dtype_t dtype, tenon__cpu_type_t* out_type);
size_t tenon__cpu_type_bytes(tenon__cpu_type_t type);
/* Bytes of an element in memory; 0 for what has none of its own. */
size_t tenon__cpu_dtype_bytes(tenon_dtype_t dtype);
bool tenon__cpu_opcode_reduces(uint32_t opcode);
/* Operands that are instructions: 0 to 3. */
uint32_t tenon__cpu_opcode_operands(uint32_t opcode);

/* Can blocks of this instruction set compute it? Fills in the refusal. */
bool tenon__cpu_program_accepts(const tenon__cpu_elements_t* elements,
                                const tenon_program_t* program, tenon_refusal_t* out_refusal);
/* Memory from `allocate`, zero-filled. */
tenon_status_t tenon__cpu_program_create(const tenon_program_t* source,
                                         tenon__cpu_allocate_t allocate, void* user,
                                         tenon__cpu_program_t** out_program);
/* How many buffers its evaluation needs at most. */
uint32_t tenon__cpu_program_buffers(const tenon_program_t* program);

#endif
