/*
 * Epilogues: what neighbours want done with a product's or convolution's elements, done while a
 * tile of them is in the first-level cache. Bias, residual and the common activations have fast
 * paths: bias, residual and clamp in the tile's registers, activations in one pass. Any other
 * program is evaluated on the tile (rows.h). So a ReLU behind a convolution costs nothing, a GELU
 * one pass over what is in the cache, and neither writes or reads the tensor once more.
 *
 * The life: accepts of rows.h in match, prepare and its scratch when the kernel is prepared, bind
 * for extents, start in each enqueue; `finish` of the call goes into the product
 * (tenon__cpu_product_t), with a task that holds the thread's buffers. Columns are channels; rows
 * are numbered over the whole slot, outermost axis first, and a part counts from where it begins.
 */
#ifndef TENON_CPU_EPILOGUE_H_
#define TENON_CPU_EPILOGUE_H_

#include "product.h"
#include "rows.h"

/* A slot's program, recognised: activation(value + bias + residual). Part of an instance. */
typedef struct tenon__cpu_epilogue_t {
  const tenon__cpu_elements_t* elements;
  tenon__cpu_program_t* program; /* NULL: the slot is empty */
  /* It is of that form, or empty; else the members below say nothing. */
  bool simple;
  uint32_t bias; /* region input, TENON_NONE; varies along the channel axis alone */
  /* Region input, TENON_NONE; the slot's own shape. */
  uint32_t residual;
  /* With its parameters; NONE where there is none. */
  tenon__cpu_activation_t activation;
  float a;
  float b;
} tenon__cpu_epilogue_t;

typedef struct tenon__cpu_bound_epilogue_t tenon__cpu_bound_epilogue_t;

/* One call's part in a product: its bias, addend, low, high and finish are those of
 * tenon__cpu_product_t. */
typedef struct tenon__cpu_epilogue_call_t {
  const tenon__cpu_bound_epilogue_t* bound;
  const tenon_argument_t* inputs;
  const float* bias;
  /* The residual's first element; NULL: none. Rows are addend_stride floats apart over the whole
   * slot. */
  const float* addend;
  size_t addend_stride;
  float low;
  float high;
  tenon__cpu_finish_t finish; /* NULL: nothing is left to do */
} tenon__cpu_epilogue_call_t;

/* What `finish` gets as user: a call and the buffers of its thread, tenon__cpu_rows_scratch bytes.
 */
typedef struct tenon__cpu_epilogue_task_t {
  const tenon__cpu_epilogue_call_t* call;
  char* buffers;
} tenon__cpu_epilogue_task_t;

/* A finish whose rows and columns are counted from elsewhere: a product that is a part of the
 * slot's space. Its user goes with tenon__cpu_finish_shifted. */
typedef struct tenon__cpu_shifted_finish_t {
  const tenon__cpu_epilogue_task_t* task;
  tenon__cpu_finish_t finish;
  size_t row;
  size_t column;
} tenon__cpu_shifted_finish_t;
void tenon__cpu_finish_shifted(const void* user, float* c, size_t c_stride, size_t row, size_t rows,
                               size_t column, size_t columns);

/* `channel_axis`: of the slot's space, along which a bias varies; the rank of the space: none
 * does. A slot without a program is an epilogue that does nothing. OUT_OF_MEMORY alone. */
tenon_status_t tenon__cpu_epilogue_prepare(const tenon__cpu_elements_t* elements,
                                           tenon__cpu_region_t region, uint32_t channel_axis,
                                           tenon__cpu_allocate_t allocate, void* user,
                                           tenon__cpu_epilogue_t* out_epilogue);
/* `fuses_residual`: the kernel can add an addend; `has_bias`: it adds a bias of its own. Where
 * the fast paths do not fit (both have a bias, a residual's rows are uneven, columns lie apart)
 * the program is evaluated instead. */
tenon_status_t tenon__cpu_epilogue_bind(const tenon__cpu_epilogue_t* epilogue,
                                        const tenon__cpu_row_shape_t* shape, bool fuses_residual,
                                        bool has_bias, tenon_binding_t* binding,
                                        const tenon_bind_table_t* host,
                                        tenon__cpu_bound_epilogue_t** out_bound);
/* `own_bias`: the kernel's, NULL if none. `inputs` are used until the run ends. */
void tenon__cpu_epilogue_start(const tenon__cpu_bound_epilogue_t* bound,
                               const tenon_argument_t* inputs, const float* own_bias,
                               tenon__cpu_epilogue_call_t* out_call);

/* epilogue_match.c: is the program activation(value + bias + residual), in any order and
 * association? Constants are compared within 1e-6 of their size. Fills in bias, residual and
 * activation. */
bool tenon__cpu_epilogue_recognise(const tenon_program_t* program, tenon__cpu_region_t region,
                                   uint32_t channel_axis, tenon__cpu_epilogue_t* inout_epilogue);

#endif
