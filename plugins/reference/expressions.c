/*
 * The kernel for regions of expressions: evaluates the program point by point. Reductions come
 * first, in order: each in a pass of its own over the space, into an array over the axes that it
 * keeps; then every output in a pass.
 *
 * A value may be poisoned: it comes from a LOAD outside of its operand. A SELECT that takes the
 * other side is not; a poisoned output is an error.
 */
#include <stdio.h>
#include <string.h>

#include "interpreter.h"
#include "work.h"

/* What prepare leaves: a copy of the program. */
typedef struct expressions_t {
  tenon_program_t program;
  const char** names; /* of the operands' values, for messages */
} expressions_t;

/* What bind leaves. All arrays have one entry for each instruction unless they say otherwise. */
typedef struct evaluation_t {
  const tenon_program_t* program;
  const char* const* names; /* of the operands' values */
  const int64_t* space;
  tenon__number_t* values;
  uint8_t* poisoned;
  tenon__number_t** reduced; /* of a reduction: its results */
  uint8_t* needed;           /* (instruction_count + output_count) rows: what a pass evaluates */
  int64_t* point;            /* rank entries */
  /* The first fault, for the message. */
  const char* fault_name; /* of the value that is read */
  uint32_t fault_axis;
  int64_t fault_index;
  int64_t fault_extent;
  /* Of the call. */
  const tenon_argument_t* inputs;
  const tenon_argument_t* outputs;
  tenon_run_t* run;
  const tenon_run_table_t* host;
  uint32_t points; /* evaluated */
} evaluation_t;

static const void* keep(const tenon_prepare_t* call, const void* data, size_t size_bytes) {
  void* copy = call->host->allocate(call->preparation, size_bytes + 1);
  if (copy != NULL && size_bytes > 0) {
    memcpy(copy, data, size_bytes);
  }
  return copy;
}

tenon_status_t tenon__expressions_prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon_program_t* program = call->table->program(call->region);
  expressions_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  if (program == NULL) {
    return TENON_ERROR_INTERNAL;
  }
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon_program_t copy = *program;
  copy.instructions =
      keep(call, program->instructions, program->instruction_count * sizeof(tenon_instruction_t));
  copy.operands = keep(call, program->operands, program->operand_count * sizeof(tenon_operand_t));
  copy.outputs =
      keep(call, program->outputs, program->output_count * sizeof(tenon_program_output_t));
  copy.coordinates = keep(call, program->coordinates, program->coordinate_count * sizeof(uint32_t));
  if (copy.instructions == NULL || copy.operands == NULL || copy.outputs == NULL ||
      copy.coordinates == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  instance->names = call->host->allocate(call->preparation,
                                         (program->operand_count + 1) * sizeof(*instance->names));
  if (instance->names == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    const tenon_value_info_t* value = call->table->value(
        call->region, call->table->input(call->region, program->operands[k].index));
    instance->names[k] = value == NULL ? NULL : value->name;
  }
  instance->program = copy;
  *out_instance = instance;
  return TENON_OK;
}

static bool in_mask(uint64_t mask, uint32_t axis) {
  return (mask >> axis & 1) != 0;
}

/* Product of the extents of the axes in the mask, or of those not in it. */
static int64_t extent_of(const evaluation_t* evaluation, uint64_t mask, bool inside) {
  int64_t product = 1;
  for (uint32_t axis = 0; axis < evaluation->program->rank; ++axis) {
    product *= in_mask(mask, axis) == inside ? evaluation->space[axis] : 1;
  }
  return product;
}

/* Marks what a pass for `root` evaluates; reductions other than the root are there already. */
static void mark_needed(const tenon_program_t* program, uint32_t root, uint8_t* needed) {
  needed[root] = 1;
  for (uint32_t index = root + 1; index-- > 0;) {
    const tenon_instruction_t* instruction = &program->instructions[index];
    if (needed[index] == 0 || (index != root && tenon__opcode_reduces(instruction->opcode))) {
      continue;
    }
    for (uint32_t k = 0; k < tenon__opcode_operands(instruction->opcode); ++k) {
      needed[instruction->operands[k]] = 1;
    }
    bool loads = instruction->opcode == TENON_OPCODE_LOAD;
    if (loads) {
      for (uint32_t k = 0; k < instruction->operands[1]; ++k) {
        needed[program->coordinates[instruction->operands[0] + k]] = 1;
      }
    }
  }
}

tenon_status_t tenon__expressions_bind(void* instance, tenon_binding_t* binding,
                                       const tenon_bind_table_t* host, void** out_bound) {
  const tenon_program_t* program = &((const expressions_t*)instance)->program;
  size_t count = program->instruction_count;
  evaluation_t* evaluation = host->allocate(binding, sizeof(*evaluation));
  const int64_t* space = host->space(binding, TENON_NONE);
  if (evaluation == NULL || (space == NULL && program->rank > 0)) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  int64_t* extents = host->allocate(binding, (program->rank + 1u) * sizeof(int64_t));
  evaluation->program = program;
  evaluation->names = ((const expressions_t*)instance)->names;
  evaluation->values = host->allocate(binding, (count + 1) * sizeof(tenon__number_t));
  evaluation->poisoned = host->allocate(binding, count + 1);
  evaluation->reduced = host->allocate(binding, (count + 1) * sizeof(tenon__number_t*));
  evaluation->needed = host->allocate(binding, (count + program->output_count) * count + 1);
  evaluation->point = host->allocate(binding, (program->rank + 1u) * sizeof(int64_t));
  if (extents == NULL || evaluation->values == NULL || evaluation->poisoned == NULL ||
      evaluation->reduced == NULL || evaluation->needed == NULL || evaluation->point == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t axis = 0; axis < program->rank; ++axis) {
    extents[axis] = space[axis];
  }
  evaluation->space = extents;
  for (uint32_t index = 0; index < count; ++index) {
    const tenon_instruction_t* instruction = &program->instructions[index];
    if (!tenon__opcode_reduces(instruction->opcode)) {
      continue;
    }
    size_t kept = (size_t)extent_of(evaluation, (uint64_t)instruction->immediate.i, false);
    evaluation->reduced[index] = host->allocate(binding, (kept + 1) * sizeof(tenon__number_t));
    if (evaluation->reduced[index] == NULL) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
    mark_needed(program, instruction->operands[0], evaluation->needed + index * count);
  }
  for (uint32_t output = 0; output < program->output_count; ++output) {
    /* An output that is a reduction only reads it. */
    uint32_t root = program->outputs[output].instruction;
    uint8_t* needed = evaluation->needed + (count + output) * count;
    if (tenon__opcode_reduces(program->instructions[root].opcode)) {
      needed[root] = 1;
    } else {
      mark_needed(program, root, needed);
    }
  }
  *out_bound = evaluation;
  return TENON_OK;
}

/* The element of an aligned operand at this point. */
static tenon__number_t read_operand(const evaluation_t* evaluation, uint32_t operand,
                                    tenon_dtype_t dtype) {
  const tenon_operand_t* from = &evaluation->program->operands[operand];
  const tenon_tensor_view_t* view = &evaluation->inputs[from->index].tensor;
  int64_t place = 0;
  for (uint32_t axis = 0; axis < view->rank; ++axis) {
    place += view->dims[axis] == 1 ? 0 : evaluation->point[axis] * view->strides[axis];
  }
  tenon__number_t number = tenon__number_load(view->data, view->bit_offset, view->dtype, place);
  return tenon__number_cast(number, view->dtype, dtype);
}

/* A LOAD: clamps its coordinates, and tells whether it had to. */
static tenon__number_t load(evaluation_t* evaluation, const tenon_instruction_t* instruction,
                            bool* out_poisoned) {
  const tenon_program_t* program = evaluation->program;
  const tenon_operand_t* from = &program->operands[instruction->immediate.i];
  const tenon_tensor_view_t* view = &evaluation->inputs[from->index].tensor;
  tenon__number_t nothing = {.i = 0};
  int64_t place = 0;
  for (uint32_t axis = 0; axis < instruction->operands[1]; ++axis) {
    uint32_t source = program->coordinates[instruction->operands[0] + axis];
    int64_t index = evaluation->values[source].i;
    int64_t extent = view->dims[axis];
    *out_poisoned = *out_poisoned || evaluation->poisoned[source] != 0;
    if (index < 0 || index >= extent) {
      if (!*out_poisoned) {
        evaluation->fault_name = evaluation->names[instruction->immediate.i];
        evaluation->fault_axis = axis;
        evaluation->fault_index = index;
        evaluation->fault_extent = extent;
      }
      *out_poisoned = true;
      index = index < 0 ? 0 : extent - 1;
    }
    if (extent == 0) {
      return nothing;
    }
    place += index * view->strides[axis];
  }
  tenon__number_t number = tenon__number_load(view->data, view->bit_offset, view->dtype, place);
  return tenon__number_cast(number, view->dtype, instruction->dtype);
}

/* Place of this point in an array over the axes outside of the mask. */
static int64_t reduced_place(const evaluation_t* evaluation, uint64_t mask) {
  int64_t place = 0;
  for (uint32_t axis = 0; axis < evaluation->program->rank; ++axis) {
    if (!in_mask(mask, axis)) {
      place = place * evaluation->space[axis] + evaluation->point[axis];
    }
  }
  return place;
}

static void evaluate_with_operands(evaluation_t* evaluation, uint32_t index) {
  const tenon_instruction_t* instruction = &evaluation->program->instructions[index];
  tenon__number_t operands[3] = {{.i = 0}, {.i = 0}, {.i = 0}};
  bool poisoned = false;
  uint32_t count = tenon__opcode_operands(instruction->opcode);
  bool selects = instruction->opcode == TENON_OPCODE_SELECT;
  for (uint32_t k = 0; k < count; ++k) {
    operands[k] = evaluation->values[instruction->operands[k]];
    bool matters = !selects || k == 0 || (operands[0].i != 0) == (k == 1);
    poisoned = poisoned || (matters && evaluation->poisoned[instruction->operands[k]] != 0);
  }
  tenon_dtype_t from = instruction->dtype;
  if (count > 0) {
    from = tenon__opcode_result(&evaluation->program->instructions[instruction->operands[0]]);
  }
  evaluation->values[index] = tenon__opcode_apply(instruction, from, operands);
  evaluation->poisoned[index] = poisoned;
}

static void evaluate(evaluation_t* evaluation, uint32_t index) {
  const tenon_instruction_t* instruction = &evaluation->program->instructions[index];
  tenon__number_t* value = &evaluation->values[index];
  bool poisoned = false;
  switch (instruction->opcode) {
    case TENON_OPCODE_INPUT:
      *value = read_operand(evaluation, (uint32_t)instruction->immediate.i, instruction->dtype);
      break;
    case TENON_OPCODE_CONSTANT:
      if (tenon__number_is_float(instruction->dtype)) {
        value->f = instruction->immediate.f;
        *value = tenon__number_wrap(*value, instruction->dtype);
      } else {
        value->i = instruction->immediate.i;
      }
      break;
    case TENON_OPCODE_INDEX:
      value->i = evaluation->point[instruction->immediate.i];
      break;
    case TENON_OPCODE_SIZE:
      value->i = evaluation->space[instruction->immediate.i];
      break;
    case TENON_OPCODE_EXTENT:
      value->i = evaluation->inputs[evaluation->program->operands[instruction->immediate.i].index]
                     .tensor.dims[instruction->operands[0]];
      break;
    case TENON_OPCODE_LOAD:
      *value = load(evaluation, instruction, &poisoned);
      break;
    default:
      if (!tenon__opcode_reduces(instruction->opcode)) {
        evaluate_with_operands(evaluation, index);
        return;
      }
      *value =
          evaluation->reduced[index][reduced_place(evaluation, (uint64_t)instruction->immediate.i)];
      break;
  }
  evaluation->poisoned[index] = poisoned;
}

/* Evaluates what row `pass` of `needed` marks, at this point. */
static void evaluate_point(evaluation_t* evaluation, uint32_t pass) {
  uint32_t count = evaluation->program->instruction_count;
  const uint8_t* needed = evaluation->needed + (size_t)pass * count;
  for (uint32_t index = 0; index < count; ++index) {
    if (needed[index] != 0) {
      evaluate(evaluation, index);
    }
  }
}

/* The next point along the axes in the mask; false after the last. */
static bool next_point(const evaluation_t* evaluation, uint64_t mask) {
  for (uint32_t axis = evaluation->program->rank; axis-- > 0;) {
    if (!in_mask(mask, axis)) {
      continue;
    }
    if (++evaluation->point[axis] < evaluation->space[axis]) {
      return true;
    }
    evaluation->point[axis] = 0;
  }
  return false;
}

static tenon_status_t fail_load(const evaluation_t* evaluation) {
  char message[512];
  const char* name = evaluation->fault_name;
  const bool has_name = name != NULL && name[0] != '\0';
  (void)snprintf(
      message, sizeof(message), "element %lld of axis %u%s%.300s%s is read, whose extent is %lld",
      (long long)evaluation->fault_index, evaluation->fault_axis, has_name ? " of '" : "",
      has_name ? name : "", has_name ? "'" : "", (long long)evaluation->fault_extent);
  return evaluation->host->fail(evaluation->run, TENON_ERROR_INVALID_DATA, message);
}

static void begin_points(const evaluation_t* evaluation) {
  for (uint32_t axis = 0; axis < evaluation->program->rank; ++axis) {
    evaluation->point[axis] = 0;
  }
}

/* Asks at some points only: one takes little. */
static bool is_cancelled(evaluation_t* evaluation) {
  evaluation->points += 1;
  return evaluation->points % 1024 == 0 && tenon__is_cancelled(evaluation->run, evaluation->host);
}

static tenon_status_t reduce(evaluation_t* evaluation, uint32_t index) {
  const tenon_instruction_t* instruction = &evaluation->program->instructions[index];
  uint64_t mask = (uint64_t)instruction->immediate.i;
  int64_t kept = extent_of(evaluation, mask, false);
  int64_t count = extent_of(evaluation, mask, true);
  begin_points(evaluation);
  for (int64_t place = 0; place < kept; ++place) {
    tenon__number_t running = tenon__reduction_start(instruction);
    for (int64_t step = 0; step < count; ++step) {
      if (is_cancelled(evaluation)) {
        return TENON_ERROR_CANCELLED;
      }
      evaluate_point(evaluation, index);
      if (evaluation->poisoned[instruction->operands[0]] != 0) {
        return fail_load(evaluation);
      }
      running =
          tenon__reduction_add(instruction, running, evaluation->values[instruction->operands[0]]);
      (void)next_point(evaluation, mask);
    }
    evaluation->reduced[index][place] = tenon__reduction_end(instruction, running, count);
    (void)next_point(evaluation, ~mask);
  }
  return TENON_OK;
}

/* Converts a value to the output's type and stores it at this point. */
static tenon_status_t store(const evaluation_t* evaluation, const tenon_program_output_t* output) {
  const tenon_tensor_view_t* view = &evaluation->outputs[output->index].tensor;
  const tenon_instruction_t* instruction = &evaluation->program->instructions[output->instruction];
  int64_t place = 0;
  for (uint32_t axis = 0; axis < view->rank; ++axis) {
    place += view->dims[axis] == 1 ? 0 : evaluation->point[axis] * view->strides[axis];
  }
  tenon__number_t number = evaluation->values[output->instruction];
  tenon_string_view_t copy;
  if (view->dtype == TENON_DTYPE_STRING) {
    const tenon_string_view_t* text = number.s;
    tenon_status_t status =
        evaluation->host->copy_string(evaluation->run, output->index, *text, &copy);
    if (status != TENON_OK) {
      return status;
    }
    number.s = &copy;
  } else {
    number = tenon__number_cast(number, tenon__opcode_result(instruction), view->dtype);
  }
  tenon__number_store(view->data, view->bit_offset, view->dtype, place, number);
  return TENON_OK;
}

static tenon_status_t write_output(evaluation_t* evaluation, uint32_t number) {
  const tenon_program_output_t* output = &evaluation->program->outputs[number];
  if (evaluation->outputs[output->index].kind == TENON_ARGUMENT_ABSENT) {
    return TENON_OK;
  }
  uint64_t kept = ~output->reduced_axes;
  int64_t count = extent_of(evaluation, kept, true);
  begin_points(evaluation);
  for (int64_t place = 0; place < count; ++place) {
    if (is_cancelled(evaluation)) {
      return TENON_ERROR_CANCELLED;
    }
    evaluate_point(evaluation, evaluation->program->instruction_count + number);
    if (evaluation->poisoned[output->instruction] != 0) {
      return fail_load(evaluation);
    }
    tenon_status_t status = store(evaluation, output);
    if (status != TENON_OK) {
      return status;
    }
    (void)next_point(evaluation, kept);
  }
  return TENON_OK;
}

tenon_status_t tenon__expressions_enqueue(const tenon_enqueue_t* call) {
  evaluation_t* evaluation = call->bound;
  const tenon_program_t* program = evaluation->program;
  evaluation->inputs = call->inputs;
  evaluation->outputs = call->outputs;
  evaluation->run = call->run;
  evaluation->host = call->host;
  tenon_status_t status = TENON_OK;
  for (uint32_t index = 0; status == TENON_OK && index < program->instruction_count; ++index) {
    if (tenon__opcode_reduces(program->instructions[index].opcode)) {
      status = reduce(evaluation, index);
    }
  }
  for (uint32_t number = 0; status == TENON_OK && number < program->output_count; ++number) {
    status = write_output(evaluation, number);
  }
  return status;
}
