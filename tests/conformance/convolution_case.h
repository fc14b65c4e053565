/*
 * A convolution with what stands behind it, or a pool, its tensors in the host's memory: what it is
 * by plugins/reference, and what each tactic of a device's kernel makes of copies of the same
 * bytes.
 *
 *   convolution_case_t c = {.dtype = TENON_DTYPE_FLOAT32, .spatial = 2, ...};
 *   convolution_check(&c);
 */
#ifndef TESTS_CONFORMANCE_CONVOLUTION_CASE_H_
#define TESTS_CONFORMANCE_CONVOLUTION_CASE_H_

#include <math.h>
#include <stdbool.h>

#include "kernel_life.h"
#include "work.h"

/* What stands behind the convolution. */
typedef enum convolution_slot_t {
  SLOT_NOTHING,
  SLOT_RELU,
  SLOT_BIAS_RELU,
  SLOT_RESIDUAL,
  SLOT_RESIDUAL_BIAS_RELU,
  SLOT_CLIP,
  SLOT_SIGMOID,
  SLOT_SWISH,         /* the value is read twice */
  SLOT_HALF_RESIDUAL, /* a number, then a residual */
  SLOT_COUNT,         /* cases are drawn of those above */
  SLOT_BOUNDS /* CLIP by operands without extents, as ONNX has them: libraries may not know it */
} convolution_slot_t;

/* What a window does; of pools groups, weights, bias and slot say nothing. */
typedef enum convolution_kind_t {
  KIND_PLAIN,
  KIND_TRANSPOSED,
  KIND_MAX_POOL,
  KIND_AVERAGE_POOL
} convolution_kind_t;

enum {
  CONVOLUTION_AXES = 3,
  CONVOLUTION_RANK = 5,
  CONVOLUTION_INPUTS = 5,
  CONVOLUTION_INSTRUCTIONS = 16
};

typedef struct convolution_case_t {
  char name[160];
  tenon_dtype_t dtype;
  convolution_kind_t kind;
  bool has_bias;
  bool counts_padding; /* of an average */
  bool rounds_up;      /* of a pool */
  bool not_numbers;    /* some among x */
  bool is_constant;    /* the weights are, for certain; else some are */
  bool is_unjudged;    /* to be timed: the reference is not asked */
  bool is_single;      /* f32 is not tried in f16 or bf16 */
  /* Tactics alone whose names begin so, of which one must run; NULL: all. */
  const char* wanted_tactics;
  convolution_slot_t slot;
  uint32_t spatial;
  int64_t batch;
  int64_t batch_opt; /* of a profile from 1 to batch_max; 0: the batch is fixed */
  int64_t batch_max;
  int64_t channels; /* of x, all groups together; so are outputs */
  int64_t outputs;
  int64_t groups;
  int64_t extent[CONVOLUTION_AXES];
  int64_t kernel[CONVOLUTION_AXES];
  int64_t stride[CONVOLUTION_AXES];
  int64_t dilation[CONVOLUTION_AXES];
  int64_t pads[2 * CONVOLUTION_AXES];
  int64_t grown[CONVOLUTION_AXES]; /* output_padding */
  const char* auto_pad;
  uint32_t seed;
} convolution_case_t;

/* x, w, the bias, and what the slot reads; `wanted` is the reference's, `sums` what the same sums
 * are of magnitudes: how far rounding can go. */
typedef struct made_t {
  const convolution_case_t* c;
  fake_t fake;
  int64_t profile[CONVOLUTION_INPUTS + 1][3][CONVOLUTION_RANK]; /* of values with an open batch */
  tenon_tensor_view_t wanted;
  tenon_tensor_view_t sums;
  tenon_program_t program;
  tenon_instruction_t instructions[CONVOLUTION_INSTRUCTIONS];
  tenon_operand_t operands[CONVOLUTION_INPUTS];
  tenon_program_output_t output;
  uint32_t seed;
  int64_t terms;
} made_t;

/* convolution_case.c. False: the reference does not compute it. `fake` is to be given to fake_done.
 */
bool convolution_make(const convolution_case_t* c, made_t* out_made);
/* Are these, dense, the values that the reference has, as far as the tactic's arithmetic allows? */
bool convolution_compare(const made_t* m, const tenon_tactic_t* tactic, const uint8_t* got);

/* The device's own kernels are asked, which compile each of their tactics: so many of a case are
 * tried, 0: all. */
extern bool convolution_is_own;
extern uint32_t convolution_tactics;

/* By own kernels channels in pieces of 16 bytes, or few, one by one or all together. By a
 * library's f32 with nothing or a known form behind it, pools that pad alike on both sides: of
 * others a device may have none. A library may take no image without pixels. */
bool convolution_must_run(const convolution_case_t* c);

/* Is f32 narrowed by the tactic, to f16 or bf16? */
bool convolution_narrows(const tenon_tactic_t* tactic);

extern int convolution_refused; /* tactics that prepare or bind refused */
extern bool convolution_is_loud;

/* A tactic's life, which the fake keeps, with its arguments in place, bound and run once, is lent
 * to `use`. The status of what came first to fail. */
tenon_status_t convolution_lend(made_t* m, const tenon_kernel_t* kernel,
                                void (*use)(const kernel_life_t* life, void* user), void* user);

/* Every tactic that is not refused gives what the reference gives, and of cases that must run one
 * at least is not. Each that does is one of kernel_runs. */
void convolution_check(const convolution_case_t* c);

#endif
