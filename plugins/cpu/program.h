/* A program of the contract, copied and analysed: types, phases between reductions. What block.h
 * evaluates. */
#ifndef TENON_CPU_PROGRAM_H_
#define TENON_CPU_PROGRAM_H_

#include "cpu.h"

/* Reductions divide a program into phases: what a phase computes needs only reductions of
 * earlier phases. softmax has three: the maximum; the sum of exponentials; the quotient. All
 * reductions of a program that this plugin takes run along the same axes. Arrays have an entry
 * for each instruction; immutable once made. */
typedef struct tenon__cpu_program_t {
  tenon_program_t source; /* our own copy */
  /* Of each instruction's value: a tenon__cpu_type_t. Comparisons and tests are BOOL. */
  const uint8_t* types;
  /* Of each instruction: the first phase in which its value can be had. */
  const uint32_t* phases;
  uint32_t phase_count; /* 1 without reductions */
  bool reduces;
  /* Of all reductions: a bit for each axis of the space. */
  uint64_t reduced_axes;
  size_t element_bytes; /* of the widest value */
} tenon__cpu_program_t;

/* Zero-filled memory of the preparation or binding, which frees it; NULL when it is out. */
typedef void* (*tenon__cpu_allocate_t)(void* user, size_t size_bytes);

/* As what values of a dtype are computed: f16 and bf16 as f32. False for what blocks do not
 * have: 8-bit floats, complex numbers, packed types, strings. */
bool tenon__cpu_type_of(tenon_dtype_t dtype, tenon__cpu_type_t* out_type);
size_t tenon__cpu_type_bytes(tenon__cpu_type_t type);
bool tenon__cpu_opcode_reduces(uint32_t opcode);
/* Operands that are instructions: 0 to 3. Those of LOAD, its coordinates, are listed elsewhere. */
uint32_t tenon__cpu_opcode_operands(uint32_t opcode);

/* Can blocks of this instruction set compute it? Fills in the refusal: DTYPE for a type or
 * operation without a block function, OTHER for reductions along different axes. */
bool tenon__cpu_program_accepts(const tenon__cpu_elements_t* elements,
                                const tenon_program_t* program, tenon_refusal_t* out_refusal);
/* Of one that was accepted. Memory from `allocate`, zero-filled. OUT_OF_MEMORY alone. */
tenon_status_t tenon__cpu_program_create(const tenon_program_t* source,
                                         tenon__cpu_allocate_t allocate, void* user,
                                         tenon__cpu_program_t** out_program);
/* How many buffers its evaluation needs at most, whatever the shape. */
uint32_t tenon__cpu_program_buffers(const tenon_program_t* program);

#endif
