/* Making cases of convolutions and pools, what they are by the reference, comparing. */
#include "convolution_case.h"

#include "kernels.h"

/* ---- Tensors ---- */

static double next_number(made_t* m) {
  m->seed = m->seed * 1664525u + 1013904223u;
  return ((double)(m->seed >> 8) / (double)(1 << 24) - 0.5) * 2.0;
}

static void describe(made_t* m, uint32_t value, const tenon_tensor_view_t* view, bool is_output) {
  m->fake.values[value].info = (tenon_value_info_t){.name = "",
                                                    .kind = TENON_ARGUMENT_TENSOR,
                                                    .dims_min = view->dims,
                                                    .dims_opt = view->dims,
                                                    .dims_max = view->dims,
                                                    .dtype = view->dtype,
                                                    .rank = view->rank,
                                                    .input = is_output ? TENON_NONE : value,
                                                    .output = is_output ? 0 : TENON_NONE};
}

/* A value whose first extent is the batch: it is prepared for each of the profile. */
static void open_batch(made_t* m, uint32_t value) {
  tenon_value_info_t* info = &m->fake.values[value].info;
  const int64_t batches[] = {1, m->c->batch_opt, m->c->batch_max};
  const int64_t** points[] = {&info->dims_min, &info->dims_opt, &info->dims_max};
  for (uint32_t k = 0; k < 3 && m->c->batch_opt > 0; k++) {
    int64_t* dims = m->profile[value][k];
    memcpy(dims, *points[k], info->rank * sizeof(*dims));
    dims[0] = batches[k];
    *points[k] = dims;
  }
}

static uint32_t add_input(made_t* m, uint32_t rank, const int64_t* dims) {
  fake_t* fake = &m->fake;
  const uint32_t index = fake->input_count++;
  const tenon_tensor_view_t view = fake_tensor(fake, m->c->dtype, rank, dims);
  for (int64_t k = 0; k < tenon__dims_product(dims, 0, rank); k++) {
    const bool none = m->c->not_numbers && index == 0 && k % 17 == 0;
    const tenon__number_t number = {.f = none ? (double)NAN : next_number(m)};
    tenon__number_store(view.data, 0, view.dtype, k, number);
  }
  fake->inputs[index] = (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR, .tensor = view};
  describe(m, index, &fake->inputs[index].tensor, false);
  /* Weights: constant, or not; so is the bias. */
  if ((index == 1 || index == 2) && (m->c->is_constant || m->c->seed % 2 == 0)) {
    fake->values[index].info.constant_data = view.data;
    fake->values[index].info.flags = TENON_VALUE_CONSTANT;
  }
  return index;
}

/* Windows of a pool that rounds up: the last begins within x or the padding in front. */
static int64_t up_to(int64_t room, int64_t begins, int64_t stride) {
  const int64_t windows = (room + stride - 1) / stride + 1;
  const int64_t most = (begins + stride - 1) / stride;
  return windows < most ? windows : most;
}

/* Extents of the result by the operator's shape rule. */
static void result_dims(const convolution_case_t* c, int64_t* out_dims) {
  const bool same = strncmp(c->auto_pad, "same", 4) == 0;
  const bool turned = c->kind == KIND_TRANSPOSED;
  out_dims[0] = c->batch;
  out_dims[1] = c->outputs;
  for (uint32_t a = 0; a < c->spatial; a++) {
    const bool given = strcmp(c->auto_pad, "explicit") == 0;
    const int64_t padding = given ? c->pads[a] + c->pads[a + c->spatial] : 0;
    const int64_t reach = (c->kernel[a] - 1) * c->dilation[a] + 1;
    const int64_t n = c->extent[a];
    out_dims[a + 2] = turned && same ? n * c->stride[a]
                      : turned       ? c->stride[a] * (n - 1) + c->grown[a] + reach - padding
                      : same         ? (n + c->stride[a] - 1) / c->stride[a]
                      : c->rounds_up && given
                          ? up_to(n + padding - reach, n + c->pads[a], c->stride[a])
                          : (n + padding - reach) / c->stride[a] + 1;
  }
}

static void make_attributes(made_t* m) {
  static const char* const operators[] = {"standard.convolution/1", "standard.deconvolution/1",
                                          "standard.max_pool/1", "standard.average_pool/1"};
  const convolution_case_t* c = m->c;
  fake_t* fake = &m->fake;
  fake->kind = TENON_REGION_OPERATOR;
  fake->op = operators[c->kind];
  fake_string(fake, "auto_pad", c->auto_pad);
  fake_ints(fake, "strides", c->spatial, c->stride);
  fake_ints(fake, "dilations", c->spatial, c->dilation);
  fake_ints(fake, "pads", 2 * (size_t)c->spatial, c->pads);
  if (c->kind >= KIND_MAX_POOL) {
    fake_ints(fake, "kernel_shape", c->spatial, c->kernel);
    fake_int(fake, "ceil_mode", c->rounds_up ? 1 : 0);
    fake_int(fake, "count_include_pad", c->counts_padding ? 1 : 0);
    fake_int(fake, "storage_order", 0);
    return;
  }
  fake_int(fake, "groups", c->groups);
  if (c->kind == KIND_TRANSPOSED) {
    fake_ints(fake, "output_padding", c->spatial, c->grown);
  }
}

static void make_node(made_t* m) {
  const convolution_case_t* c = m->c;
  const bool turned = c->kind == KIND_TRANSPOSED;
  fake_t* fake = &m->fake;
  int64_t dims[CONVOLUTION_RANK] = {c->batch, c->channels};
  int64_t w[CONVOLUTION_RANK] = {turned ? c->channels : c->outputs,
                                 (turned ? c->outputs : c->channels) / c->groups};
  m->terms = c->kind >= KIND_MAX_POOL ? 1 : c->channels / c->groups;
  for (uint32_t a = 0; a < c->spatial; a++) {
    dims[a + 2] = c->extent[a];
    w[a + 2] = c->kernel[a];
    m->terms *= c->kernel[a];
  }
  make_attributes(m);
  open_batch(m, add_input(m, c->spatial + 2, dims));
  if (c->kind < KIND_MAX_POOL) {
    (void)add_input(m, c->spatial + 2, w);
  }
  if (c->has_bias) {
    (void)add_input(m, 1, &c->outputs);
  }
  fake->node_input_count = fake->input_count;
  result_dims(c, dims);
  m->wanted = fake_tensor(fake, TENON_DTYPE_FLOAT64, c->spatial + 2, dims);
  m->sums = fake_tensor(fake, TENON_DTYPE_FLOAT64, c->spatial + 2, dims);
  fake->outputs[0] = (tenon_argument_t){
      .kind = TENON_ARGUMENT_TENSOR, .tensor = fake_tensor(fake, c->dtype, c->spatial + 2, dims)};
  fake->output_count = 1;
}

/* ---- The reference ---- */

/* The node by the reference into `y`; `magnitudes`: of absolute values. */
static tenon_status_t run_reference(const made_t* m, bool magnitudes, tenon_tensor_view_t y) {
  fake_t fake = m->fake;
  void* instance = NULL;
  void* bound = NULL;
  fake.block_count = 0;
  fake.input_count = fake.node_input_count;
  for (uint32_t k = 0; k < fake.input_count; k++) {
    tenon_tensor_view_t* view = &fake.inputs[k].tensor;
    const tenon_tensor_view_t wide =
        fake_tensor(&fake, TENON_DTYPE_FLOAT64, view->rank, view->dims);
    for (int64_t n = 0; n < tenon__dims_product(view->dims, 0, view->rank); n++) {
      tenon__number_t number = tenon__number_load(view->data, 0, view->dtype, n);
      number.f = magnitudes ? fabs(number.f) : number.f;
      tenon__number_store(wide.data, 0, TENON_DTYPE_FLOAT64, n, number);
    }
    *view = wide;
  }
  fake.outputs[0].tensor = y;
  const tenon_prepare_t making = fake_prepare_call(&fake, NULL);
  tenon_status_t status = tenon__work_prepare(&making, &instance);
  if (status == TENON_OK) {
    status = tenon__work_bind(instance, (tenon_binding_t*)&fake, &fake_bind_table, &bound);
  }
  const tenon_enqueue_t call = fake_enqueue_call(&fake, instance, bound);
  status = status == TENON_OK ? tenon__work_enqueue(&call) : status;
  fake_done(&fake);
  return status;
}

/* ---- The slot ---- */

static uint32_t add_operand(made_t* m, bool full) {
  const tenon_tensor_view_t* y = &m->fake.outputs[0].tensor;
  int64_t dims[CONVOLUTION_RANK] = {1, y->dims[1], 1, 1, 1};
  const uint32_t all = (1U << y->rank) - 1;
  const uint32_t operand = m->program.operand_count++;
  const uint32_t input = add_input(m, y->rank, full ? y->dims : dims);
  if (full) {
    open_batch(m, input);
  }
  m->operands[operand] = (tenon_operand_t){
      .index = input, .dtype = m->c->dtype, .broadcast_axes = full ? 0 : all & ~2U};
  return operand;
}
/* A constant without extents, which the host has aligned to the space. */
static uint32_t add_bound(made_t* m, double number) {
  const tenon_tensor_view_t* y = &m->fake.outputs[0].tensor;
  static const int64_t dims[CONVOLUTION_RANK] = {1, 1, 1, 1, 1};
  const uint32_t operand = m->program.operand_count++;
  const uint32_t index = add_input(m, y->rank, dims);
  const tenon_tensor_view_t* view = &m->fake.inputs[index].tensor;
  tenon__number_store(view->data, 0, view->dtype, 0, (tenon__number_t){.f = number});
  m->fake.values[index].info.rank = 0;
  m->fake.values[index].info.constant_data = view->data;
  m->fake.values[index].info.flags = TENON_VALUE_CONSTANT;
  m->operands[operand] = (tenon_operand_t){
      .index = index, .dtype = m->c->dtype, .broadcast_axes = (1U << y->rank) - 1};
  return operand;
}
static uint32_t add_instruction(made_t* m, uint16_t opcode, uint32_t a, uint32_t b) {
  const uint32_t k = m->program.instruction_count++;
  m->instructions[k] =
      (tenon_instruction_t){.opcode = opcode, .dtype = TENON_DTYPE_FLOAT32, .operands = {a, b, 0}};
  return k;
}
static uint32_t read_operand(made_t* m, uint32_t operand) {
  const uint32_t k = add_instruction(m, TENON_OPCODE_INPUT, 0, 0);
  m->instructions[k].immediate.i = operand;
  return k;
}
static uint32_t add_number(made_t* m, double number) {
  const uint32_t k = add_instruction(m, TENON_OPCODE_CONSTANT, 0, 0);
  m->instructions[k].immediate.f = number;
  return k;
}

static void make_slot(made_t* m) {
  const convolution_slot_t slot = m->c->slot;
  const bool residual = slot == SLOT_RESIDUAL || slot == SLOT_RESIDUAL_BIAS_RELU;
  const bool bias = slot == SLOT_BIAS_RELU || slot == SLOT_RESIDUAL_BIAS_RELU;
  const bool relu = bias || slot == SLOT_RELU || slot == SLOT_CLIP;
  if (slot == SLOT_NOTHING) {
    return;
  }
  m->operands[0] = (tenon_operand_t){.kind = TENON_OPERAND_SLOT_VALUE, .dtype = m->c->dtype};
  m->program.operand_count = 1;
  uint32_t value = read_operand(m, 0);
  if (bias) {
    value = add_instruction(m, TENON_OPCODE_ADD, value, read_operand(m, add_operand(m, false)));
  }
  if (residual) {
    value = add_instruction(m, TENON_OPCODE_ADD, read_operand(m, add_operand(m, true)), value);
  }
  if (relu) {
    value = add_instruction(m, TENON_OPCODE_MAX, value, add_number(m, 0));
  }
  if (slot == SLOT_CLIP) {
    value = add_instruction(m, TENON_OPCODE_MIN, value, add_number(m, 0.75));
  }
  if (slot == SLOT_BOUNDS) {
    value = add_instruction(m, TENON_OPCODE_MAX, value, read_operand(m, add_bound(m, -0.25)));
    value = add_instruction(m, TENON_OPCODE_MIN, value, read_operand(m, add_bound(m, 0.5)));
  }
  if (slot == SLOT_SIGMOID || slot == SLOT_SWISH) {
    const uint32_t gate = add_instruction(m, TENON_OPCODE_SIGMOID, value, 0);
    value = slot == SLOT_SIGMOID ? gate : add_instruction(m, TENON_OPCODE_MUL, value, gate);
  }
  if (slot == SLOT_HALF_RESIDUAL) {
    value = add_instruction(m, TENON_OPCODE_MUL, value, add_number(m, 0.5));
    value = add_instruction(m, TENON_OPCODE_ADD, value, read_operand(m, add_operand(m, true)));
  }
  m->output = (tenon_program_output_t){.instruction = value, .dtype = m->c->dtype};
  m->program.instructions = m->instructions;
  m->program.operands = m->operands;
  m->program.outputs = &m->output;
  m->program.output_count = 1;
  m->program.rank = m->fake.outputs[0].tensor.rank;
  m->fake.slot = &m->program;
}

/* The slot's program at element `place` of the result. */
static double evaluate(const made_t* m, double slot_value, int64_t place) {
  const tenon_tensor_view_t* y = &m->fake.outputs[0].tensor;
  const int64_t plane = tenon__dims_product(y->dims, 2, y->rank);
  double values[CONVOLUTION_INSTRUCTIONS] = {slot_value};
  for (uint32_t k = 0; k < m->program.instruction_count; k++) {
    const tenon_instruction_t* in = &m->instructions[k];
    const double a = values[in->operands[0]];
    const double b = values[in->operands[1]];
    const tenon_operand_t* operand =
        &m->operands[in->opcode == TENON_OPCODE_INPUT ? in->immediate.i : 0];
    const bool own = operand->kind == TENON_OPERAND_SLOT_VALUE;
    const tenon_tensor_view_t* view = &m->fake.inputs[own ? 0 : operand->index].tensor;
    const int64_t channel = place / plane % y->dims[1];
    const int64_t at = tenon__dims_product(view->dims, 0, view->rank) == 1 ? 0
                       : operand->broadcast_axes != 0                      ? channel
                                                                           : place;
    values[k] = in->opcode == TENON_OPCODE_CONSTANT  ? in->immediate.f
                : in->opcode == TENON_OPCODE_ADD     ? a + b
                : in->opcode == TENON_OPCODE_MUL     ? a * b
                : in->opcode == TENON_OPCODE_MAX     ? (isnan(a) ? a : fmax(a, b))
                : in->opcode == TENON_OPCODE_MIN     ? (isnan(a) ? a : fmin(a, b))
                : in->opcode == TENON_OPCODE_SIGMOID ? 1.0 / (1.0 + exp(-a))
                : own                                ? slot_value
                      : tenon__number_load(view->data, 0, view->dtype, at).f;
  }
  return m->program.instruction_count == 0 ? slot_value : values[m->output.instruction];
}

/* ---- Comparing ---- */

/* Roundings: one for each term of the sum and a few behind it, of what the sum's magnitudes are;
 * the operands' own where they are f32, which own kernels round to nearest and a library may cut;
 * the result's own where it is narrow. Tensor cores drop what is below the largest of a few
 * products, which costs some bits of the sum. */
static double tolerance_of(const made_t* m, const tenon_tactic_t* tactic, double sum,
                           double wanted) {
  const tenon_dtype_t dtype = m->c->dtype;
  const bool narrow = dtype != TENON_DTYPE_FLOAT32;
  const uint32_t bits = tactic->numerics->product_mantissa_bits;
  const bool is_cut = bits == 10 || bits == 7; /* tf32, f16, bf16 */
  const tenon_dtype_t stored =
      tactic->outputs->dtype != TENON_DTYPE_UNDEFINED ? tactic->outputs->dtype : dtype;
  const double unit = stored == TENON_DTYPE_FLOAT16    ? 0x1p-10
                      : stored == TENON_DTYPE_BFLOAT16 ? 0x1p-7
                                                       : 0;
  const double each = narrow || is_cut ? 0x1p-21 : 0x1p-24;
  const double cut = bits == 10 ? 0x1p-9 : bits == 7 ? 0x1p-6 : 0; /* both are */
  const double operands = convolution_is_own ? cut / 2 : cut;
  /* A bias that is added to a narrow result: the sum without it was rounded as well. */
  const double twice = tactic->launches > 1 ? unit * sum : 0;
  return 1.25 * ((double)(m->terms + 8) * each * (sum + 1) + operands * sum) +
         unit * fmax(fabs(wanted), 1e-3) + twice;
}

bool convolution_compare(const made_t* m, const tenon_tactic_t* tactic, const uint8_t* got) {
  const tenon_tensor_view_t* y = &m->fake.outputs[0].tensor;
  const tenon_dtype_t stored =
      tactic->outputs->dtype != TENON_DTYPE_UNDEFINED ? tactic->outputs->dtype : y->dtype;
  const int64_t count = tenon__dims_product(y->dims, 0, y->rank);
  uint32_t wrong = 0;
  for (int64_t k = 0; k < count; k++) {
    const double reference = tenon__number_load(m->wanted.data, 0, TENON_DTYPE_FLOAT64, k).f;
    const double sum = tenon__number_load(m->sums.data, 0, TENON_DTYPE_FLOAT64, k).f;
    const double wanted = evaluate(m, reference, k);
    const double found = tenon__number_load(got, 0, stored, k).f;
    const bool good =
        isnan(wanted) ? isnan(found) : fabs(found - wanted) <= tolerance_of(m, tactic, sum, wanted);
    if (!good && wrong++ < 3) {
      (void)fprintf(stderr, "%s, %s: element %lld is %.9g, expected %.9g (within %.3g)\n",
                    m->c->name, tactic->name, (long long)k, found, wanted,
                    tolerance_of(m, tactic, sum, wanted));
    }
  }
  return wrong == 0;
}

bool convolution_make(const convolution_case_t* c, made_t* out_made) {
  made_t* m = out_made;
  memset(m, 0, sizeof(*m));
  m->c = c;
  m->seed = c->seed;
  make_node(m);
  const bool good = c->is_unjudged || (run_reference(m, false, m->wanted) == TENON_OK &&
                                       run_reference(m, true, m->sums) == TENON_OK);
  make_slot(m);
  m->fake.value_count = m->fake.input_count + 1;
  describe(m, m->fake.input_count, &m->fake.outputs[0].tensor, true);
  open_batch(m, m->fake.input_count);
  return good;
}

static bool own_must_run(const convolution_case_t* c) {
  const bool narrow = c->dtype != TENON_DTYPE_FLOAT32;
  const bool single = c->groups == c->channels && c->outputs == c->channels && c->groups > 1;
  const bool few = c->channels <= 4 && c->dilation[c->spatial - 1] == 1;
  const bool in_pieces = c->channels % (narrow ? 8 : 4) == 0; /* of 16 bytes */
  bool touches = c->kind == KIND_TRANSPOSED && strcmp(c->auto_pad, "explicit") == 0 &&
                 c->groups == 1 && in_pieces && c->outputs % 4 == 0;
  for (uint32_t a = 0; a < c->spatial; a++) {
    touches = touches && c->kernel[a] == c->stride[a] && c->dilation[a] == 1 && c->grown[a] == 0 &&
              c->pads[a] == 0 && c->pads[a + c->spatial] == 0;
  }
  if (touches && c->spatial < 3 && c->is_constant && c->batch > 0) {
    return true;
  }
  return c->kind == KIND_PLAIN && c->spatial < 3 && c->is_constant && c->batch > 0 &&
         (single || (c->groups == 1 && (in_pieces || few)));
}

bool convolution_must_run(const convolution_case_t* c) {
  if (convolution_is_own) {
    return own_must_run(c);
  }
  bool even = !c->rounds_up && strncmp(c->auto_pad, "same", 4) != 0;
  for (uint32_t a = 0; a < c->spatial; a++) {
    even = even && c->dilation[a] == 1 && c->pads[a] == c->pads[a + c->spatial] &&
           c->pads[a] < c->kernel[a];
  }
  return c->extent[0] > 0 &&
         (c->kind >= KIND_MAX_POOL ? even
                                   : c->dtype == TENON_DTYPE_FLOAT32 && c->slot < SLOT_SWISH);
}
