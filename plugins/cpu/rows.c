/* Evaluates slots' programs on rows and columns. */
#include "rows.h"

enum { MOST_OPERANDS = 16, CAPACITY = TENON_CPU_BLOCK_ELEMENTS };

/* Rows are divided into segments. Within a segment, each operand has a constant stride. */
struct tenon__cpu_rows_t {
  const tenon__cpu_program_t* program;
  tenon__cpu_block_t* block;
  size_t segment;
  uint32_t outer_rank;
  int64_t outer_extents[TENON_CPU_ROW_AXES];
  int64_t outer_strides[MOST_OPERANDS][TENON_CPU_ROW_AXES];
  tenon__cpu_walk_t walks[MOST_OPERANDS + 1]; /* operands, then the output */
  tenon__cpu_walk_t value;
  tenon__cpu_walk_t made;
  size_t value_bytes;
  size_t made_bytes;
};

bool tenon__cpu_rows_accepts_any(const tenon__cpu_elements_t* elements,
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
  if (program->output_count != 1 || program->operand_count > MOST_OPERANDS) {
    *out_refusal = (tenon_refusal_t){TENON_REFUSAL_SLOT, 0, "one output, 16 operands"};
    return false;
  }
  return true;
}

bool tenon__cpu_rows_accepts(const tenon__cpu_elements_t* elements, const tenon_program_t* program,
                             tenon_refusal_t* out_refusal) {
  if (!tenon__cpu_rows_accepts_any(elements, program, out_refusal)) {
    return false;
  }
  if (program->outputs[0].dtype != TENON_DTYPE_FLOAT32) {
    *out_refusal = (tenon_refusal_t){TENON_REFUSAL_SLOT, 0, "one output of type f32"};
    return false;
  }
  return true;
}

size_t tenon__cpu_rows_scratch(const tenon_program_t* program) {
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

static int64_t axis_stride(const tenon_tensor_view_t* view, uint32_t axis) {
  return axis == TENON_NONE || view->dims[axis] == 1 ? 0 : view->strides[axis];
}

/* Joins the innermost row axes to a segment while all operands have a constant stride. Other axes are
 * outer loops. */
static void find_segment(tenon__cpu_rows_t* rows, const tenon__cpu_row_shape_t* shape,
                         const tenon_tensor_view_t* const* views, const int64_t* extents) {
  const tenon_program_t* program = &rows->program->source;
  rows->segment = 1;
  uint32_t k = shape->rank;
  for (; k > 0; k--) {
    const uint32_t axis = shape->axes[k - 1];
    const uint32_t count = extents[axis] == 1 ? 0 : program->operand_count;
    bool joins = true;
    for (uint32_t o = 0; o < count; o++) {
      const int64_t stride = views[o] == NULL ? 0 : axis_stride(views[o], axis);
      if (rows->segment == 1) {
        rows->walks[o].row = views[o] == NULL ? rows->walks[o].row : stride;
      } else if (views[o] != NULL && stride != rows->walks[o].row * (int64_t)rows->segment) {
        joins = false;
      }
    }
    if (!joins) {
      break;
    }
    rows->segment *= extents[axis] > 0 ? (size_t)extents[axis] : 1;
  }
  rows->outer_rank = k;
  for (uint32_t j = 0; j < k; j++) {
    rows->outer_extents[j] = extents[shape->axes[j]];
    for (uint32_t o = 0; o < program->operand_count; o++) {
      rows->outer_strides[o][j] = views[o] == NULL ? 0 : axis_stride(views[o], shape->axes[j]);
    }
  }
}

tenon_status_t tenon__cpu_rows_bind(const tenon__cpu_rows_request_t* request,
                                    tenon_binding_t* handle, const tenon_bind_table_t* host,
                                    tenon__cpu_rows_t** out_rows) {
  const tenon_program_t* program = &request->program->source;
  const tenon__cpu_row_shape_t* shape = request->shape;
  const tenon_tensor_view_t* views[MOST_OPERANDS] = {0};
  binding_t binding = {handle, host};
  tenon__cpu_rows_t* rows = host->allocate(handle, sizeof(*rows));
  if (rows == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  rows->program = request->program;
  rows->value = request->value;
  rows->made = request->made;
  rows->value_bytes = rows->made_bytes = tenon__cpu_element_bytes(program->outputs[0].dtype);
  for (uint32_t o = 0; o < program->operand_count; o++) {
    const tenon_operand_t* operand = &program->operands[o];
    rows->walks[o] = request->value;
    if (operand->kind == TENON_OPERAND_SLOT_VALUE) {
      rows->value_bytes = tenon__cpu_element_bytes(operand->dtype);
    }
    if (operand->kind == TENON_OPERAND_ARGUMENT) {
      views[o] = &host->input(handle, operand->index)->tensor;
      rows->walks[o] = (tenon__cpu_walk_t){0, axis_stride(views[o], shape->column_axis)};
    }
  }
  rows->walks[program->operand_count] = request->made;
  find_segment(rows, shape, views, request->extents);
  const tenon__cpu_block_shape_t block = {
      .operands = rows->walks,
      .outputs = rows->walks + program->operand_count,
      .extents = request->extents,
      .row_axis = TENON_NONE - 1,
      .column_axis = TENON_NONE - 2,
      .whole = true,
      .capacity = CAPACITY,
      .in_place = true,
  };
  *out_rows = rows;
  return tenon__cpu_block_create(request->elements, request->program, &block, allocate_bound,
                                 &binding, &rows->block);
}

/* ---- Running ---- */

/* Returns the address of an operand's element at a row and column. */
static const char* operand_at(const tenon__cpu_rows_t* rows, const tenon_argument_t* inputs,
                              uint32_t operand, size_t row, size_t column) {
  const tenon_program_t* program = &rows->program->source;
  const tenon_tensor_view_t* view = &inputs[program->operands[operand].index].tensor;
  int64_t outer = (int64_t)(row / rows->segment);
  int64_t offset = (int64_t)(row % rows->segment) * rows->walks[operand].row +
                   (int64_t)column * rows->walks[operand].column;
  for (uint32_t k = rows->outer_rank; k-- > 0;) {
    offset += outer % rows->outer_extents[k] * rows->outer_strides[operand][k];
    outer /= rows->outer_extents[k];
  }
  return (const char*)view->data + offset * (int64_t)tenon__cpu_element_bytes(view->dtype);
}

static int64_t offset_of(tenon__cpu_walk_t walk, size_t row, size_t column) {
  return (int64_t)row * walk.row + (int64_t)column * walk.column;
}

/* Runs a part that is in one segment and fits the buffers. */
static void run_block(const tenon__cpu_rows_t* rows, const tenon_argument_t* inputs,
                      const tenon__cpu_rows_part_t* part, char* buffers) {
  const tenon_program_t* program = &rows->program->source;
  const char* operands[MOST_OPERANDS];
  for (uint32_t o = 0; o < program->operand_count; o++) {
    operands[o] = program->operands[o].kind == TENON_OPERAND_SLOT_VALUE
                      ? part->value
                      : operand_at(rows, inputs, o, part->row, part->column);
  }
  char* output = part->made;
  const tenon__cpu_frame_t frame = {.rows = part->rows,
                                    .columns = part->columns,
                                    .operands = operands,
                                    .outputs = &output,
                                    .buffers = buffers};
  (void)tenon__cpu_block_run(rows->block, 0, &frame);
}

static size_t min_size(size_t a, size_t b) {
  return a < b ? a : b;
}

void tenon__cpu_rows_run(const tenon__cpu_rows_t* rows, const tenon_argument_t* inputs,
                         const tenon__cpu_rows_part_t* part, char* buffers) {
  for (size_t j = 0; j < part->columns; j += CAPACITY) {
    const size_t width = min_size(part->columns - j, CAPACITY);
    for (size_t i = 0; i < part->rows;) {
      const size_t left = rows->segment - (part->row + i) % rows->segment;
      const size_t count = min_size(min_size(part->rows - i, left), CAPACITY / width);
      const int64_t value = offset_of(rows->value, i, j) * (int64_t)rows->value_bytes;
      const int64_t made = offset_of(rows->made, i, j) * (int64_t)rows->made_bytes;
      const tenon__cpu_rows_part_t block = {.value = (const char*)part->value + value,
                                            .made = (char*)part->made + made,
                                            .row = part->row + i,
                                            .rows = count,
                                            .column = part->column + j,
                                            .columns = width};
      run_block(rows, inputs, &block, buffers);
      i += count;
    }
  }
}
