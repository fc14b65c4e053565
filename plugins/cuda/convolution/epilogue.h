/*
 * What stands in a convolution's slot, as functions of V neighbouring outputs (slot.cuh):
 *   read_constants, read_operands(p, place, operands)    before the wait, and behind it
 *   read_common                                          of a stream: behind it, once for all
 * pixels finish(p, place, operands, sums)                     computes and writes; returns a fault
 * The slot's own value is the sum in f32. An empty slot stores it.
 */
#ifndef PLUGINS_CUDA_CONVOLUTION_EPILOGUE_H_
#define PLUGINS_CUDA_CONVOLUTION_EPILOGUE_H_

#include "axes.h"
#include "launch.h"
#include "problem.h"
#include "text.h"

typedef struct tenon__cuda_epilogue_t {
  tenon__cuda_analysis_t analysis; /* of `program` */
  tenon__cuda_layout_t layout;
  tenon_program_t program;
  tenon_operand_t operands[TENON_CUDA_TENSORS];
  tenon_program_output_t output;
  tenon_instruction_t sum; /* of an empty slot */
  uint32_t value;          /* the operand that is the slot's own value; TENON_NONE: unread */
  bool is_constant[TENON_CUDA_TENSORS];
  bool is_number[TENON_CUDA_TENSORS]; /* one element, whatever the place */
  bool is_stream;                     /* stream.cuh */
  bool is_dense[TENON_CUDA_TENSORS];  /* of a stream: has the result's extents */
  uint32_t channel_axis;
  uint32_t which[TENON_CUDA_AXIS_COUNT]; /* TENON_CUDA_AXIS_* of each axis of the space */
} tenon__cuda_epilogue_t;

/* NULL, or why no text can be written, and the refusal's reason. `stored`: as what an empty slot
 * stores the sums. The region's program is borrowed, `out` stays where it is. */
const char* tenon__cuda_epilogue_make(const tenon__cuda_problem_t* problem, tenon_dtype_t stored,
                                      tenon__cuda_epilogue_t* out, uint32_t* out_reason);
/* Of a problem that a stream takes (stream.h): pixels are counted through, behind linear.cuh. */
void tenon__cuda_epilogue_stream(const tenon__cuda_problem_t* problem, tenon__cuda_epilogue_t* e);
/* In front of frame.cuh: WALKS, AXES, INDEXED and V. */
void tenon__cuda_epilogue_define(const tenon__cuda_epilogue_t* epilogue, uint32_t elements,
                                 tenon__cuda_text_t* text);
/* Behind slot.cuh, or linear.cuh. */
void tenon__cuda_epilogue_write(const tenon__cuda_epilogue_t* epilogue, tenon__cuda_text_t* text);

/* The slot's part of a launch's parameters, for the views at hand. */
typedef struct tenon__cuda_epilogue_bound_t {
  const tenon__cuda_epilogue_t* epilogue;
  uint8_t* parameters; /* layout.total bytes, then the shape */
  tenon__cuda_fault_t* fault;
  uint32_t elements;
  bool wide[TENON_CUDA_WALKS];
} tenon__cuda_epilogue_bound_t;

/* False: a tensor reaches beyond 2^31 elements. */
bool tenon__cuda_epilogue_bind(tenon__cuda_epilogue_bound_t* bound, tenon_binding_t* handle,
                               const tenon_bind_table_t* host);
void tenon__cuda_epilogue_enqueue(const tenon__cuda_epilogue_bound_t* bound,
                                  const tenon_enqueue_t* call);

#endif
