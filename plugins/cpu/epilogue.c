/* Epilogues: preparing, binding, finishing tiles. */
#include "epilogue.h"

#include <math.h>
#include <string.h>

struct tenon__cpu_bound_epilogue_t {
  const tenon__cpu_epilogue_t* epilogue;
  bool simple;
  size_t residual_stride;
  tenon__cpu_rows_t* rows; /* otherwise */
};

tenon_status_t tenon__cpu_epilogue_prepare(const tenon__cpu_elements_t* elements,
                                           tenon__cpu_region_t region, uint32_t channel_axis,
                                           tenon__cpu_allocate_t allocate, void* user,
                                           tenon__cpu_epilogue_t* out_epilogue) {
  const tenon_program_t* program = region.table->slot_program(region.handle, 0);
  *out_epilogue = (tenon__cpu_epilogue_t){
      .elements = elements, .simple = true, .bias = TENON_NONE, .residual = TENON_NONE};
  if (program == NULL) {
    return TENON_OK;
  }
  out_epilogue->simple = tenon__cpu_epilogue_recognise(program, region, channel_axis, out_epilogue);
  return tenon__cpu_program_create(program, allocate, user, &out_epilogue->program);
}

/* ---- Binding ---- */

typedef struct binding_t {
  tenon_binding_t* handle;
  const tenon_bind_table_t* host;
} binding_t;

/* The stride with which an argument advances from row to row, all rows; -1 if it does not evenly.
 */
static int64_t even_stride(const tenon_tensor_view_t* view, const tenon__cpu_row_shape_t* shape,
                           const int64_t* extents) {
  int64_t count = 1;
  int64_t even = 0;
  for (uint32_t k = shape->rank; k-- > 0;) {
    const uint32_t axis = shape->axes[k];
    if (extents[axis] == 1) {
      continue;
    }
    if (view->dims[axis] == 1 || (count > 1 && view->strides[axis] != even * count)) {
      return -1;
    }
    even = count > 1 ? even : view->strides[axis];
    count *= extents[axis];
  }
  return even;
}

static bool columns_together(const tenon_tensor_view_t* view, const tenon__cpu_row_shape_t* shape,
                             const int64_t* extents) {
  return shape->column_axis == TENON_NONE || extents[shape->column_axis] == 1 ||
         (view->dims[shape->column_axis] != 1 && view->strides[shape->column_axis] == 1);
}

/* Do the fast paths fit these strides? */
static bool binds_simply(tenon__cpu_bound_epilogue_t* bound, const tenon__cpu_row_shape_t* shape,
                         bool fuses_residual, bool has_bias, const binding_t* binding,
                         const int64_t* extents) {
  const tenon__cpu_epilogue_t* epilogue = bound->epilogue;
  if (!epilogue->simple || (epilogue->bias != TENON_NONE && has_bias) ||
      (epilogue->residual != TENON_NONE && !fuses_residual)) {
    return false;
  }
  if (epilogue->bias != TENON_NONE &&
      !columns_together(&binding->host->input(binding->handle, epilogue->bias)->tensor, shape,
                        extents)) {
    return false;
  }
  if (epilogue->residual != TENON_NONE) {
    const tenon_tensor_view_t* view =
        &binding->host->input(binding->handle, epilogue->residual)->tensor;
    const int64_t stride = even_stride(view, shape, extents);
    bound->residual_stride = (size_t)stride;
    return stride >= 0 && columns_together(view, shape, extents);
  }
  return true;
}

tenon_status_t tenon__cpu_epilogue_bind(const tenon__cpu_epilogue_t* epilogue,
                                        const tenon__cpu_row_shape_t* shape, bool fuses_residual,
                                        bool has_bias, tenon_binding_t* handle,
                                        const tenon_bind_table_t* host,
                                        tenon__cpu_bound_epilogue_t** out_bound) {
  const binding_t binding = {handle, host};
  tenon__cpu_bound_epilogue_t* bound = host->allocate(handle, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->epilogue = epilogue;
  bound->simple = true;
  *out_bound = bound;
  if (epilogue->program == NULL) {
    return TENON_OK;
  }
  const int64_t* extents = host->space(handle, 0);
  if (extents == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->simple = binds_simply(bound, shape, fuses_residual, has_bias, &binding, extents);
  const tenon__cpu_walk_t own = {(int64_t)shape->c_stride, 1};
  const tenon__cpu_rows_request_t request = {.elements = epilogue->elements,
                                             .program = epilogue->program,
                                             .shape = shape,
                                             .extents = extents,
                                             .value = own,
                                             .made = own};
  return bound->simple ? TENON_OK : tenon__cpu_rows_bind(&request, handle, host, &bound->rows);
}

/* ---- Running ---- */

static void finish_activation(const void* user, float* c, size_t c_stride, size_t row, size_t rows,
                              size_t column, size_t columns) {
  (void)row, (void)column;
  const tenon__cpu_epilogue_task_t* task = user;
  const tenon__cpu_epilogue_t* epilogue = task->call->bound->epilogue;
  epilogue->elements->activate[epilogue->activation](c, c_stride, rows, columns, epilogue->a,
                                                     epilogue->b);
}

static void finish_program(const void* user, float* c, size_t c_stride, size_t row, size_t rows,
                           size_t column, size_t columns) {
  const tenon__cpu_epilogue_task_t* task = user;
  const tenon__cpu_rows_part_t part = {c, c, row, rows, column, columns};
  (void)c_stride;
  tenon__cpu_rows_run(task->call->bound->rows, task->call->inputs, &part, task->buffers);
}

void tenon__cpu_finish_shifted(const void* user, float* c, size_t c_stride, size_t row, size_t rows,
                               size_t column, size_t columns) {
  const tenon__cpu_shifted_finish_t* shifted = user;
  shifted->finish(shifted->task, c, c_stride, shifted->row + row, rows, shifted->column + column,
                  columns);
}

void tenon__cpu_epilogue_start(const tenon__cpu_bound_epilogue_t* bound,
                               const tenon_argument_t* inputs, const float* own_bias,
                               tenon__cpu_epilogue_call_t* out_call) {
  const tenon__cpu_epilogue_t* epilogue = bound->epilogue;
  *out_call = (tenon__cpu_epilogue_call_t){
      .bound = bound, .inputs = inputs, .bias = own_bias, .low = -INFINITY, .high = INFINITY};
  if (!bound->simple) {
    out_call->finish = finish_program;
    return;
  }
  if (epilogue->bias != TENON_NONE) {
    out_call->bias = inputs[epilogue->bias].tensor.data;
  }
  if (epilogue->residual != TENON_NONE) {
    out_call->addend = inputs[epilogue->residual].tensor.data;
    out_call->addend_stride = bound->residual_stride;
  }
  if (epilogue->activation == TENON_CPU_ACTIVATION_CLAMP) {
    out_call->low = epilogue->a;
    out_call->high = epilogue->b;
  } else if (epilogue->activation != TENON_CPU_ACTIVATION_NONE) {
    out_call->finish = finish_activation;
  }
}
