/* Making cases: tensors that lie as they are told, programs instruction by instruction. */
#include "kernel_case.h"

void kernel_case_begin(kernel_case_t* c, uint32_t rank, const int64_t* space) {
  memset(c, 0, sizeof(*c));
  c->rank = rank;
  c->seed = 12345;
  for (uint32_t axis = 0; axis < rank; axis++) {
    c->space[axis] = space[axis];
  }
  fake_set_space(&c->fake, rank, c->space);
}

void kernel_case_end(kernel_case_t* c) {
  for (uint32_t k = 0; k < KERNEL_TENSORS; k++) {
    if (c->asked[k].bytes != c->tensors[k].bytes) {
      free(c->asked[k].bytes);
    }
    free(c->tensors[k].bytes);
  }
  fake_done(&c->fake);
}

/* ---- Tensors ---- */

static uint32_t next(kernel_case_t* c) {
  c->seed = c->seed * 1664525u + 1013904223u;
  return c->seed >> 8;
}

static tenon__number_t make_number(kernel_case_t* c, tenon_dtype_t dtype) {
  tenon__number_t number = {.i = 0};
  const uint32_t draw = next(c);
  if (!tenon__number_is_float(dtype)) {
    const bool extreme = draw % 16 == 0 && !c->whole_numbers;
    number.i = extreme ? (int64_t)((uint64_t)next(c) << 40 | next(c)) : (int64_t)(draw % 37) - 11;
    return tenon__number_wrap(number, dtype);
  }
  if (c->whole_numbers) {
    number.f = (double)(draw % 17) - 8.0;
  } else {
    number.f = ((double)draw / (double)(1 << 24) - 0.5) * 8.0;
    number.f = draw % 61 == 0 ? (draw % 2 == 0 ? -0.0 : (double)INFINITY) : number.f;
    number.f = draw % 97 == 0 ? (double)NAN : number.f;
  }
  return number;
}

/* Strides as the lie says, memory for all that they reach. */
static void make_tensor(kernel_case_t* c, kernel_tensor_t* tensor, tenon_dtype_t dtype,
                        uint32_t rank, const int64_t* dims, const kernel_lie_t* lie) {
  static const kernel_lie_t plain = {.step = 1};
  const kernel_lie_t* how = lie == NULL ? &plain : lie;
  const int64_t bytes = (int64_t)tenon__number_bits(dtype) / 8;
  int64_t stride = how->step == 0 ? 1 : how->step;
  int64_t least = 0;
  int64_t most = 0;
  for (uint32_t place = rank; place-- > 0;) {
    const uint32_t axis = how->order == NULL ? place : how->order[place];
    const bool one = (how->broadcast >> axis & 1) != 0;
    const bool back = (how->reversed >> axis & 1) != 0;
    tensor->own[axis] = one ? 1 : dims[axis];
    tensor->dims[axis] = how->spreads ? dims[axis] : tensor->own[axis];
    tensor->strides[axis] = one && how->spreads ? 0 : back ? -stride : stride;
    *(back ? &least : &most) += (tensor->dims[axis] - 1) * tensor->strides[axis];
    stride = stride * tensor->own[axis] + (place + 1 == rank ? how->pitch : 0);
  }
  least = least > 0 ? 0 : least;
  most = most < 0 ? 0 : most;
  tensor->size_bytes = (size_t)((most - least + 1 + c->shift) * bytes) + (size_t)KERNEL_MARGIN * 2;
  tensor->offset_bytes = (size_t)((c->shift - least) * bytes) + KERNEL_MARGIN;
  if (!c->bare) {
    tensor->bytes = aligned_alloc(64, (tensor->size_bytes + 63) / 64 * 64);
    memset(tensor->bytes, KERNEL_UNTOUCHED, tensor->size_bytes);
  }
  tensor->view =
      (tenon_tensor_view_t){.data = c->bare ? NULL : tensor->bytes + tensor->offset_bytes,
                            .dims = tensor->dims,
                            .strides = tensor->strides,
                            .rank = rank,
                            .dtype = dtype,
                            .layout = TENON_NONE};
}

static void make_data(kernel_case_t* c, const kernel_tensor_t* tensor) {
  const tenon_dtype_t dtype = tensor->view.dtype;
  const int64_t count =
      (int64_t)((tensor->size_bytes - 2 * (size_t)KERNEL_MARGIN) * 8 / tenon__number_bits(dtype));
  for (int64_t place = 0; place < count; place++) {
    tenon__number_store(tensor->bytes + KERNEL_MARGIN, 0, dtype, place, make_number(c, dtype));
  }
}

static kernel_tensor_t* add_tensor(kernel_case_t* c, bool is_output, tenon_dtype_t dtype,
                                   uint32_t rank, const int64_t* dims, const kernel_lie_t* lie) {
  fake_t* fake = &c->fake;
  kernel_tensor_t* tensor = &c->tensors[fake->input_count + fake->output_count];
  make_tensor(c, tensor, dtype, rank, dims, lie);
  const tenon_argument_t argument = {.kind = TENON_ARGUMENT_TENSOR, .tensor = tensor->view};
  fake->values[fake->input_count + fake->output_count].info =
      (tenon_value_info_t){.name = "",
                           .dims_min = tensor->own,
                           .dims_opt = tensor->own,
                           .dims_max = tensor->own,
                           .dtype = dtype,
                           .rank = rank,
                           .input = is_output ? TENON_NONE : fake->input_count,
                           .output = is_output ? fake->output_count : TENON_NONE};
  if (is_output) {
    fake->outputs[fake->output_count++] = argument;
  } else {
    if (!c->bare) {
      make_data(c, tensor);
    }
    fake->inputs[fake->input_count++] = argument;
  }
  return tensor;
}

kernel_tensor_t* kernel_move_tensor(kernel_case_t* c, bool is_output, tenon_dtype_t dtype,
                                    uint32_t rank, const int64_t* dims, const kernel_lie_t* lie) {
  return add_tensor(c, is_output, dtype, rank, dims, lie);
}

/* ---- Programs ---- */

uint32_t kernel_add(kernel_case_t* c, uint16_t opcode, tenon_dtype_t dtype, uint32_t a, uint32_t b,
                    uint32_t d) {
  c->instructions[c->program.instruction_count] =
      (tenon_instruction_t){.opcode = opcode, .dtype = (uint16_t)dtype, .operands = {a, b, d}};
  return c->program.instruction_count++;
}

uint32_t kernel_immediate(kernel_case_t* c, uint16_t opcode, tenon_dtype_t dtype, int64_t value) {
  const uint32_t k = kernel_add(c, opcode, dtype, 0, 0, 0);
  c->instructions[k].immediate.i = value;
  return k;
}

uint32_t kernel_constant(kernel_case_t* c, tenon_dtype_t dtype, double value) {
  const uint32_t k = kernel_add(c, TENON_OPCODE_CONSTANT, dtype, 0, 0, 0);
  if (tenon__number_is_float(dtype)) {
    c->instructions[k].immediate.f = value;
  } else {
    c->instructions[k].immediate.i = (int64_t)value;
  }
  return k;
}

uint32_t kernel_reduce(kernel_case_t* c, uint16_t opcode, tenon_dtype_t dtype, uint32_t a,
                       uint64_t axes) {
  const uint32_t k = kernel_add(c, opcode, dtype, a, 0, 0);
  c->instructions[k].immediate.i = (int64_t)axes;
  return k;
}

uint32_t kernel_operand(kernel_case_t* c, tenon_dtype_t dtype, const kernel_lie_t* lie) {
  const uint32_t operand = c->program.operand_count++;
  c->operands[operand] = (tenon_operand_t){.index = c->fake.input_count,
                                           .dtype = dtype,
                                           .broadcast_axes = lie == NULL ? 0 : lie->broadcast};
  (void)add_tensor(c, false, dtype, c->rank, c->space, lie);
  return kernel_immediate(c, TENON_OPCODE_INPUT, dtype, operand);
}

uint32_t kernel_indexed(kernel_case_t* c, tenon_dtype_t dtype, uint32_t rank, const int64_t* dims) {
  const uint32_t operand = c->program.operand_count++;
  c->operands[operand] =
      (tenon_operand_t){.index = c->fake.input_count, .dtype = dtype, .indexed = 1};
  (void)add_tensor(c, false, dtype, rank, dims, NULL);
  return operand;
}

uint32_t kernel_load(kernel_case_t* c, tenon_dtype_t dtype, uint32_t operand, uint32_t count,
                     const uint32_t* coordinates) {
  const uint32_t first = c->program.coordinate_count;
  for (uint32_t n = 0; n < count; n++) {
    c->coordinates[c->program.coordinate_count++] = coordinates[n];
  }
  const uint32_t k = kernel_add(c, TENON_OPCODE_LOAD, dtype, first, count, 0);
  c->instructions[k].immediate.i = operand;
  return k;
}

void kernel_output(kernel_case_t* c, tenon_dtype_t dtype, uint32_t instruction,
                   uint64_t reduced_axes, const kernel_lie_t* lie) {
  kernel_lie_t how = lie == NULL ? (kernel_lie_t){.step = 1} : *lie;
  how.broadcast |= reduced_axes;
  c->results[c->program.output_count++] = (tenon_program_output_t){.instruction = instruction,
                                                                   .dtype = dtype,
                                                                   .index = c->fake.output_count,
                                                                   .reduced_axes = reduced_axes};
  (void)add_tensor(c, true, dtype, c->rank, c->space, &how);
}
