/*
 * Epilogues: what neighbours want done with a product's or convolution's elements, done while a
 * tile of them is in the first-level cache. Bias, residual and the common activations have fast
 * paths: bias, residual and clamp in the tile's registers, activations in one pass. Any other
 * program is evaluated on the tile.
 */
#ifndef TENON_CPU_EPILOGUE_H_
#define TENON_CPU_EPILOGUE_H_

#include "block.h"
#include "product.h"

enum { TENON_CPU_ROW_AXES = 8 };

/* A slot's program, recognised: activation(value + bias + residual). */
typedef struct tenon__cpu_epilogue_t {
  const tenon__cpu_elements_t* elements;
  tenon__cpu_program_t* program; /* NULL: the slot is empty */
  bool simple;
  uint32_t bias;     /* region input, TENON_NONE; varies along the channel axis alone */
  uint32_t residual; /* region input, TENON_NONE; the slot's own shape */
  tenon__cpu_activation_t activation;
  float a;
  float b;
} tenon__cpu_epilogue_t;

/* The space of a slot as rows and columns: which axes the rows run over, outermost first. */
typedef struct tenon__cpu_row_shape_t {
  uint32_t rank;
  uint32_t axes[TENON_CPU_ROW_AXES];
  uint32_t column_axis; /* TENON_NONE: one column */
  size_t c_stride;      /* from row to row of what the kernel computes */
} tenon__cpu_row_shape_t;

typedef struct tenon__cpu_bound_epilogue_t tenon__cpu_bound_epilogue_t;

/* One call's part in a product. */
typedef struct tenon__cpu_epilogue_call_t {
  const tenon__cpu_bound_epilogue_t* bound;
  const tenon_argument_t* inputs;
  const float* bias;
  const float* addend;
  size_t addend_stride;
  float low;
  float high;
  tenon__cpu_finish_t finish; /* NULL: nothing */
} tenon__cpu_epilogue_call_t;

/* What `finish` gets as user: a call and the buffers of its thread. */
typedef struct tenon__cpu_epilogue_task_t {
  const tenon__cpu_epilogue_call_t* call;
  char* buffers;
} tenon__cpu_epilogue_task_t;

/* A finish whose rows and columns are counted from elsewhere: a product that is a part of the
 * slot's space. */
typedef struct tenon__cpu_shifted_finish_t {
  const tenon__cpu_epilogue_task_t* task;
  tenon__cpu_finish_t finish;
  size_t row;
  size_t column;
} tenon__cpu_shifted_finish_t;
void tenon__cpu_finish_shifted(const void* user, float* c, size_t c_stride, size_t row, size_t rows,
                               size_t column, size_t columns);

/* Can it be done? Fills in the refusal. */
bool tenon__cpu_epilogue_accepts(const tenon__cpu_elements_t* elements,
                                 const tenon_program_t* program, tenon_refusal_t* out_refusal);
tenon_status_t tenon__cpu_epilogue_prepare(const tenon__cpu_elements_t* elements,
                                           tenon__cpu_region_t region, uint32_t channel_axis,
                                           tenon__cpu_allocate_t allocate, void* user,
                                           tenon__cpu_epilogue_t* out_epilogue);
/* Buffers for one thread; `program` may be NULL. */
size_t tenon__cpu_epilogue_scratch(const tenon_program_t* program);
/* `fuses_residual`: the kernel can add an addend; `has_bias`: it adds a bias of its own. */
tenon_status_t tenon__cpu_epilogue_bind(const tenon__cpu_epilogue_t* epilogue,
                                        const tenon__cpu_row_shape_t* shape, bool fuses_residual,
                                        bool has_bias, tenon_binding_t* binding,
                                        const tenon_bind_table_t* host,
                                        tenon__cpu_bound_epilogue_t** out_bound);
/* `own_bias`: the kernel's, NULL if none. */
void tenon__cpu_epilogue_start(const tenon__cpu_bound_epilogue_t* bound,
                               const tenon_argument_t* inputs, const float* own_bias,
                               tenon__cpu_epilogue_call_t* out_call);

/* epilogue_match.c: is the program activation(value + bias + residual)? */
bool tenon__cpu_epilogue_recognise(const tenon_program_t* program, tenon__cpu_region_t region,
                                   uint32_t channel_axis, tenon__cpu_epilogue_t* inout_epilogue);

#endif
