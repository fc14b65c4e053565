/*
 * A region of one expression, one move or one operator's node, its tensors in the host's memory,
 * and two ways to run it: by plugins/reference, and by a kernel of a device on copies of the same
 * bytes.
 *
 *   kernel_case_t c;
 *   kernel_case_begin(&c, DIMS(3, 4));                                   the space
 *   const uint32_t x = kernel_operand(&c, TENON_DTYPE_FLOAT32, NULL);
 *   const uint32_t y = kernel_add(&c, TENON_OPCODE_EXP, TENON_DTYPE_FLOAT32, x, 0, 0);
 *   kernel_output(&c, TENON_DTYPE_FLOAT32, y, 0, NULL);
 *   kernel_check(&c, "exp", 4.0);
 */
#ifndef TESTS_CONFORMANCE_KERNEL_CASE_H_
#define TESTS_CONFORMANCE_KERNEL_CASE_H_

#include <math.h>

#include "interpreter.h"
#include "kernel_life.h"
#include "work.h"

/* A rank and extents. */
#define DIMS(...) \
  (uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), ((const int64_t[]){__VA_ARGS__})

enum { KERNEL_INSTRUCTIONS = 256 };
/* What every byte of a bare operand is: ordinary floats of every size. */
enum { KERNEL_BARE = 0x3B };

/* A tensor's memory: all that its strides reach, with a margin that nobody may touch. */
enum { KERNEL_MARGIN = 64 };
typedef struct kernel_tensor_t {
  tenon_tensor_view_t view; /* data: the first element in the host's memory */
  int64_t dims[FAKE_RANK];
  int64_t own[FAKE_RANK]; /* extents, before it is spread over the space */
  int64_t strides[FAKE_RANK];
  uint8_t* bytes;
  size_t size_bytes;
  size_t offset_bytes; /* of the first element */
} kernel_tensor_t;

typedef struct kernel_case_t {
  fake_t fake;
  tenon_program_t program;
  tenon_instruction_t instructions[KERNEL_INSTRUCTIONS];
  tenon_operand_t operands[KERNEL_TENSORS];
  tenon_program_output_t results[KERNEL_TENSORS];
  uint32_t coordinates[64];
  kernel_tensor_t tensors[KERNEL_TENSORS]; /* operands, then outputs */
  kernel_tensor_t asked[KERNEL_TENSORS];   /* the same in the types and orders of a tactic */
  int64_t space[FAKE_RANK];
  uint32_t rank;
  uint32_t seed;
  bool whole_numbers; /* floats are made as small whole numbers */
  bool bare;          /* for who measures: tensors have memory on the device alone */
  bool recorded;      /* what is compared comes from a replay */
  uint32_t shift;     /* elements between a block's beginning and its first element */
  /* The only tactic that runs. It must exist. NULL: all tactics run. */
  const char* wanted_tactic;
  const tenon_move_t* move;
} kernel_case_t;

void kernel_case_begin(kernel_case_t* c, uint32_t rank, const int64_t* space);
void kernel_case_end(kernel_case_t* c);

/* How a tensor lies; NULL everywhere: dense rows over the space. `order`: axes from outermost to
 * innermost; `pitch`: this many elements more than needed behind the innermost axis; `step`:
 * between neighbours of the innermost axis; axes in `broadcast` have extent 1, or, where it
 * `spreads`, all of the space and stride 0; those in `reversed` run backwards. */
typedef struct kernel_lie_t {
  const uint32_t* order;
  int64_t pitch;
  int64_t step;
  uint64_t broadcast;
  uint64_t reversed;
  bool spreads;
} kernel_lie_t;

/* An operand with made data, and the INPUT that reads it in its own type: the instruction. */
uint32_t kernel_operand(kernel_case_t* c, tenon_dtype_t dtype, const kernel_lie_t* lie);
/* An operand for LOAD alone, of a rank of its own: the operand's number. */
uint32_t kernel_indexed(kernel_case_t* c, tenon_dtype_t dtype, uint32_t rank, const int64_t* dims);
uint32_t kernel_add(kernel_case_t* c, uint16_t opcode, tenon_dtype_t dtype, uint32_t a, uint32_t b,
                    uint32_t d);
uint32_t kernel_immediate(kernel_case_t* c, uint16_t opcode, tenon_dtype_t dtype, int64_t value);
uint32_t kernel_constant(kernel_case_t* c, tenon_dtype_t dtype, double value);
uint32_t kernel_reduce(kernel_case_t* c, uint16_t opcode, tenon_dtype_t dtype, uint32_t a,
                       uint64_t axes);
uint32_t kernel_load(kernel_case_t* c, tenon_dtype_t dtype, uint32_t operand, uint32_t count,
                     const uint32_t* coordinates);
void kernel_output(kernel_case_t* c, tenon_dtype_t dtype, uint32_t instruction,
                   uint64_t reduced_axes, const kernel_lie_t* lie);
/* A tensor of a move or of an operator, which have no program. */
kernel_tensor_t* kernel_move_tensor(kernel_case_t* c, bool is_output, tenon_dtype_t dtype,
                                    uint32_t rank, const int64_t* dims, const kernel_lie_t* lie);

/* Runs both, with every tactic, and compares. `error`: 0 for the same values; else by how much a
 * float may be off, as a part of the larger of its own magnitude and 1, in units of 2^-24 for
 * results of 32 bits (the caller says why). Ends the case. */
void kernel_check(kernel_case_t* c, const char* name, double error);
/* The same, where the outputs' elements in the host's memory are what is expected already. A tactic
 * of an operator may find when it is bound that it is none, but for the first; one that multiplies
 * in a narrower type than f32 may be off by as much more as that type lacks bits. */
void kernel_check_given(kernel_case_t* c, const char* name, double error);
/* The device must find an error in the data: at synchronisation. */
void kernel_check_fault(kernel_case_t* c, const char* name);

/* The device's half, for who measures: made and bound once, to be enqueued often, and ended in any
 * case. UNSUPPORTED: there is no such tactic. */
tenon_status_t kernel_case_live(kernel_case_t* c, uint32_t tactic, kernel_life_t* out_life);

#endif
