/* Epilogues: preparing, binding, finishing tiles. */
#include "epilogue.h"

#include <math.h>
#include <string.h>

enum { MOST_OPERANDS = 16, CAPACITY = TENON_CPU_BLOCK_ELEMENTS };

struct tenon__cpu_bound_epilogue_t {
  const tenon__cpu_epilogue_t* epilogue;
  bool simple;
  size_t residual_stride;
  /* Otherwise: rows in segments within which all operands advance evenly. */
  tenon__cpu_block_t* block;
  size_t segment;
  uint32_t outer_rank;
  int64_t outer_extents[TENON_CPU_ROW_AXES];
  int64_t outer_strides[MOST_OPERANDS][TENON_CPU_ROW_AXES];
  tenon__cpu_walk_t walks[MOST_OPERANDS + 1]; /* operands, then the output */
};

bool tenon__cpu_epilogue_accepts(const tenon__cpu_elements_t* elements,
                                 const tenon_program_t* program, tenon_refusal_t* out_refusal) {
  if (!tenon__cpu_program_accepts(elements, program, out_refusal)) {
    out_refusal->reason = TENON_REFUSAL_SLOT;
    return false;
  }
  for (uint32_t i = 0; i < program->instruction_count; i++) {
    const uint32_t opcode = program->instructions[i].opcode;
    if (tenon__cpu_opcode_reduces(opcode) || opcode == TENON_OPCODE_LOAD ||
        opcode == TENON_OPCODE_EXTENT || opcode == TENON_OPCODE_INDEX) {
      *out_refusal = (tenon_refusal_t){TENON_REFUSAL_SLOT, i, "depends on other elements"};
      return false;
    }
  }
  if (program->output_count != 1 || program->operand_count > MOST_OPERANDS ||
      program->outputs[0].dtype != TENON_DTYPE_FLOAT32) {
    *out_refusal = (tenon_refusal_t){TENON_REFUSAL_SLOT, 0, "one output of type f32"};
    return false;
  }
  return true;
}

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

size_t tenon__cpu_epilogue_scratch(const tenon_program_t* program) {
  return program == NULL ? 0 : tenon__cpu_block_scratch_limit(program, CAPACITY);
}

/* ---- Binding ---- */

typedef struct binding_t {
  tenon_binding_t* handle;
  const tenon_bind_table_t* host;
} binding_t;
static void* allocate_bound(void* user, size_t size_bytes) {
  const binding_t* binding = user;
  return binding->host->allocate(binding->handle, size_bytes);
}

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

static int64_t axis_stride(const tenon_tensor_view_t* view, uint32_t axis) {
  return axis == TENON_NONE || view->dims[axis] == 1 ? 0 : view->strides[axis];
}

/* Joins the innermost row axes as far as all operands go along; the rest are outer loops. */
static void find_segment(tenon__cpu_bound_epilogue_t* bound, const tenon__cpu_row_shape_t* shape,
                         const tenon_tensor_view_t* const* views, const int64_t* extents) {
  const tenon_program_t* program = &bound->epilogue->program->source;
  bound->segment = 1;
  uint32_t k = shape->rank;
  for (; k > 0; k--) {
    const uint32_t axis = shape->axes[k - 1];
    const uint32_t count = extents[axis] == 1 ? 0 : program->operand_count;
    bool joins = true;
    for (uint32_t o = 0; o < count; o++) {
      const int64_t stride = views[o] == NULL ? 0 : axis_stride(views[o], axis);
      if (bound->segment == 1) {
        bound->walks[o].row = views[o] == NULL ? bound->walks[o].row : stride;
      } else if (views[o] != NULL && stride != bound->walks[o].row * (int64_t)bound->segment) {
        joins = false;
      }
    }
    if (!joins) {
      break;
    }
    bound->segment *= extents[axis] > 0 ? (size_t)extents[axis] : 1;
  }
  bound->outer_rank = k;
  for (uint32_t j = 0; j < k; j++) {
    bound->outer_extents[j] = extents[shape->axes[j]];
    for (uint32_t o = 0; o < program->operand_count; o++) {
      bound->outer_strides[o][j] = views[o] == NULL ? 0 : axis_stride(views[o], shape->axes[j]);
    }
  }
}

static tenon_status_t bind_program(tenon__cpu_bound_epilogue_t* bound,
                                   const tenon__cpu_row_shape_t* shape, const binding_t* binding,
                                   const int64_t* extents) {
  const tenon__cpu_program_t* program = bound->epilogue->program;
  const tenon_tensor_view_t* views[MOST_OPERANDS] = {0};
  const tenon__cpu_walk_t own = {(int64_t)shape->c_stride, 1};
  for (uint32_t o = 0; o < program->source.operand_count; o++) {
    const tenon_operand_t* operand = &program->source.operands[o];
    bound->walks[o] = own;
    if (operand->kind == TENON_OPERAND_ARGUMENT) {
      views[o] = &binding->host->input(binding->handle, operand->index)->tensor;
      bound->walks[o] = (tenon__cpu_walk_t){0, axis_stride(views[o], shape->column_axis)};
    }
  }
  bound->walks[program->source.operand_count] = own;
  find_segment(bound, shape, views, extents);
  const tenon__cpu_block_shape_t block = {
      .operands = bound->walks,
      .outputs = bound->walks + program->source.operand_count,
      .extents = extents,
      .row_axis = TENON_NONE - 1,
      .column_axis = TENON_NONE - 2,
      .whole = true,
      .capacity = CAPACITY,
      .in_place = true,
  };
  return tenon__cpu_block_create(bound->epilogue->elements, program, &block, allocate_bound,
                                 (void*)binding, &bound->block);
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
  return bound->simple ? TENON_OK : bind_program(bound, shape, &binding, extents);
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

/* Where an operand is at a row and column. */
static const char* operand_at(const tenon__cpu_epilogue_call_t* call, uint32_t operand, size_t row,
                              size_t column) {
  const tenon__cpu_bound_epilogue_t* bound = call->bound;
  const tenon_program_t* program = &bound->epilogue->program->source;
  const tenon_tensor_view_t* view = &call->inputs[program->operands[operand].index].tensor;
  int64_t outer = (int64_t)(row / bound->segment);
  int64_t offset = (int64_t)(row % bound->segment) * bound->walks[operand].row +
                   (int64_t)column * bound->walks[operand].column;
  for (uint32_t k = bound->outer_rank; k-- > 0;) {
    offset += outer % bound->outer_extents[k] * bound->outer_strides[operand][k];
    outer /= bound->outer_extents[k];
  }
  return (const char*)view->data + offset * (int64_t)tenon__cpu_element_bytes(view->dtype);
}

/* Evaluates the program on a part of a tile that lies in one segment. */
static void finish_part(const tenon__cpu_epilogue_task_t* task, float* c, size_t row, size_t rows,
                        size_t column, size_t columns) {
  const tenon__cpu_bound_epilogue_t* bound = task->call->bound;
  const tenon_program_t* program = &bound->epilogue->program->source;
  const char* operands[MOST_OPERANDS];
  for (uint32_t o = 0; o < program->operand_count; o++) {
    operands[o] = program->operands[o].kind == TENON_OPERAND_SLOT_VALUE
                      ? (const char*)c
                      : operand_at(task->call, o, row, column);
  }
  char* output = (char*)c;
  const tenon__cpu_frame_t frame = {.rows = rows,
                                    .columns = columns,
                                    .operands = operands,
                                    .outputs = &output,
                                    .buffers = task->buffers};
  (void)tenon__cpu_block_run(bound->block, 0, &frame);
}

static size_t min_size(size_t a, size_t b) {
  return a < b ? a : b;
}

static void finish_program(const void* user, float* c, size_t c_stride, size_t row, size_t rows,
                           size_t column, size_t columns) {
  const tenon__cpu_epilogue_task_t* task = user;
  const size_t segment = task->call->bound->segment;
  for (size_t j = 0; j < columns; j += CAPACITY) {
    const size_t width = min_size(columns - j, CAPACITY);
    for (size_t i = 0; i < rows;) {
      const size_t left = segment - (row + i) % segment;
      const size_t count = min_size(min_size(rows - i, left), CAPACITY / width);
      finish_part(task, c + i * c_stride + j, row + i, count, column + j, width);
      i += count;
    }
  }
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
