/* Making cases of convolutions, running them both ways, comparing. */
#include "convolution_case.h"

#include "interpreter.h"
#include "kernels.h"

enum { INPUTS = 5, INSTRUCTIONS = 16, TACTICS = 64 };

opened_device_t convolution_device;
const tenon_plugin_t* convolution_plugin;
void* convolution_state;
int convolution_failures;
int convolution_runs;
int convolution_refused;
bool convolution_is_loud;

/* x, w, the bias, and what the slot reads; `result` is of the reference, `sums` what the same sums
 * are of magnitudes: how far rounding can go. */
typedef struct made_t {
  const convolution_case_t* c;
  fake_t fake;
  tenon_tensor_view_t result;
  tenon_tensor_view_t sums;
  tenon_program_t program;
  tenon_instruction_t instructions[INSTRUCTIONS];
  tenon_operand_t operands[INPUTS];
  tenon_program_output_t output;
  uint32_t seed;
  int64_t terms;
} made_t;

/* ---- Tensors ---- */

static double next_number(made_t* m) {
  m->seed = m->seed * 1664525u + 1013904223u;
  return ((double)(m->seed >> 8) / (double)(1 << 24) - 0.5) * 2.0;
}

static void describe(made_t* m, uint32_t value, const tenon_tensor_view_t* view, bool is_output) {
  m->fake.values[value].info = (tenon_value_info_t){.name = "",
                                                    .dims_min = view->dims,
                                                    .dims_opt = view->dims,
                                                    .dims_max = view->dims,
                                                    .dtype = view->dtype,
                                                    .rank = view->rank,
                                                    .input = is_output ? TENON_NONE : value,
                                                    .output = is_output ? 0 : TENON_NONE};
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
  return index;
}

/* Extents of the result by the operator's shape rule. */
static void result_dims(const convolution_case_t* c, int64_t* out_dims) {
  const bool same = strncmp(c->auto_pad, "same", 4) == 0;
  out_dims[0] = c->batch;
  out_dims[1] = c->outputs;
  for (uint32_t a = 0; a < c->spatial; a++) {
    const bool given = strcmp(c->auto_pad, "explicit") == 0;
    const int64_t padding = given ? c->pads[a] + c->pads[a + c->spatial] : 0;
    const int64_t reach = (c->kernel[a] - 1) * c->dilation[a] + 1;
    const int64_t n = c->extent[a];
    out_dims[a + 2] = c->transposed && same ? n * c->stride[a]
                      : c->transposed       ? c->stride[a] * (n - 1) + c->grown[a] + reach - padding
                      : same                ? (n + c->stride[a] - 1) / c->stride[a]
                                            : (n + padding - reach) / c->stride[a] + 1;
  }
}

static void make_node(made_t* m) {
  const convolution_case_t* c = m->c;
  fake_t* fake = &m->fake;
  int64_t dims[CONVOLUTION_RANK] = {c->batch, c->channels};
  int64_t w[CONVOLUTION_RANK] = {c->transposed ? c->channels : c->outputs,
                                 (c->transposed ? c->outputs : c->channels) / c->groups};
  m->terms = c->channels / c->groups;
  for (uint32_t a = 0; a < c->spatial; a++) {
    dims[a + 2] = c->extent[a];
    w[a + 2] = c->kernel[a];
    m->terms *= c->kernel[a];
  }
  fake->kind = TENON_REGION_OPERATOR;
  fake->op = c->transposed ? "standard.deconvolution/1" : "standard.convolution/1";
  fake_int(fake, "groups", c->groups);
  fake_string(fake, "auto_pad", c->auto_pad);
  fake_ints(fake, "strides", c->spatial, c->stride);
  fake_ints(fake, "dilations", c->spatial, c->dilation);
  fake_ints(fake, "pads", 2 * (size_t)c->spatial, c->pads);
  if (c->transposed) {
    fake_ints(fake, "output_padding", c->spatial, c->grown);
  }
  (void)add_input(m, c->spatial + 2, dims);
  (void)add_input(m, c->spatial + 2, w);
  if (c->has_bias) {
    (void)add_input(m, 1, &c->outputs);
  }
  fake->node_input_count = fake->input_count;
  result_dims(c, dims);
  m->result = fake_tensor(fake, c->dtype, c->spatial + 2, dims);
  m->sums = fake_tensor(fake, TENON_DTYPE_FLOAT64, c->spatial + 2, dims);
  fake->outputs[0] = (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR, .tensor = m->result};
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
  const tenon_prepare_t making = {.size = sizeof(making),
                                  .region = (const tenon_region_t*)&fake,
                                  .table = &fake_region_table,
                                  .preparation = (tenon_preparation_t*)&fake,
                                  .host = &fake_prepare_table};
  tenon_status_t status = tenon__work_prepare(&making, &instance);
  if (status == TENON_OK) {
    status = tenon__work_bind(instance, (tenon_binding_t*)&fake, &fake_bind_table, &bound);
  }
  const tenon_enqueue_t call = {.size = sizeof(call),
                                .instance = instance,
                                .bound = bound,
                                .run = (tenon_run_t*)&fake,
                                .host = &fake_run_table,
                                .inputs = fake.inputs,
                                .outputs = fake.outputs,
                                .input_count = fake.input_count,
                                .output_count = 1};
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
  m->operands[operand] = (tenon_operand_t){.index = add_input(m, y->rank, full ? y->dims : dims),
                                           .dtype = m->c->dtype,
                                           .broadcast_axes = full ? 0 : all & ~2U};
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
  double values[INSTRUCTIONS] = {slot_value};
  for (uint32_t k = 0; k < m->program.instruction_count; k++) {
    const tenon_instruction_t* in = &m->instructions[k];
    const double a = values[in->operands[0]];
    const double b = values[in->operands[1]];
    const tenon_operand_t* operand =
        &m->operands[in->opcode == TENON_OPCODE_INPUT ? in->immediate.i : 0];
    const bool own = operand->kind == TENON_OPERAND_SLOT_VALUE;
    const tenon_tensor_view_t* view = &m->fake.inputs[own ? 0 : operand->index].tensor;
    const int64_t at = operand->broadcast_axes != 0 ? place / plane % y->dims[1] : place;
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

/* ---- On the device ---- */

static void* service(tenon_preparation_t* preparation, const char* name) {
  (void)preparation;
  return convolution_device.table->service(convolution_device.device, name);
}
static void report_quietly(void* user, int32_t severity, const char* message) {
  (void)user, (void)severity;
  (void)snprintf(opened_words, sizeof(opened_words), "%s", message);
}
static const tenon_sink_t quiet = {NULL, report_quietly};
static const tenon_sink_t* prepare_sink(tenon_preparation_t* preparation) {
  (void)preparation;
  return &quiet;
}
static const tenon_sink_t* bind_sink(tenon_binding_t* binding) {
  (void)binding;
  return &quiet;
}

/* Memory of the device: arguments in the order of inputs and then the output, zeros. */
typedef struct life_t {
  const tenon_kernel_t* kernel;
  tenon_stream_t* stream;
  void* instance;
  void* bound;
  tenon_tensor_view_t views[INPUTS + 1];
  int64_t strides[INPUTS + 1][CONVOLUTION_RANK];
  void* blocks[INPUTS + 2];
  size_t sizes[INPUTS + 2];
  uint32_t block_count;
} life_t;
static life_t* running;
static void* scratch; /* of all, as the tactics of a context share it */
static size_t scratch_bytes;

static void* run_scratch(tenon_run_t* run) {
  (void)run;
  return scratch;
}
static void* run_zeroed(tenon_run_t* run) {
  (void)run;
  return running->blocks[running->block_count - 1];
}
static tenon_stream_t* run_stream(tenon_run_t* run) {
  (void)run;
  return running->stream;
}
static tenon_status_t run_fail(tenon_run_t* run, tenon_status_t status, const char* message) {
  (void)run;
  (void)fprintf(stderr, "  (%s)\n", message);
  return status;
}
static const tenon_run_table_t run_table = {.size = sizeof(tenon_run_table_t),
                                            .scratch = run_scratch,
                                            .zeroed = run_zeroed,
                                            .stream = run_stream,
                                            .fail = run_fail};

/* Dense strides by the rule's order. */
static void lay_out(const tenon_argument_rule_t* rule, const tenon_tensor_view_t* view,
                    int64_t* out_strides) {
  int64_t step = 1;
  for (uint32_t place = view->rank; place-- > 0;) {
    const uint32_t axis = rule->kind == TENON_LAYOUT_EXACT ? rule->layout->order[place] : place;
    out_strides[axis] = step;
    step *= view->dims[axis];
  }
}

/* Copies a dense tensor into other strides, or back. */
static void rearrange(const tenon_tensor_view_t* view, const int64_t* strides, const uint8_t* from,
                      uint8_t* to, bool back) {
  const size_t bytes = tenon__number_bits(view->dtype) / 8;
  int64_t at[CONVOLUTION_RANK] = {0};
  for (size_t k = 0; k < (size_t)tenon__dims_product(view->dims, 0, view->rank); k++) {
    size_t place = 0;
    for (uint32_t a = 0; a < view->rank; a++) {
      place += (size_t)(at[a] * strides[a]);
    }
    memcpy(to + (back ? k : place) * bytes, from + (back ? place : k) * bytes, bytes);
    (void)tenon__point_next(at, view->dims, view->rank);
  }
}

static tenon_status_t add_block(life_t* life, size_t size, int32_t byte) {
  const tenon_device_descriptor_t* t = convolution_device.table;
  const uint32_t k = life->block_count++;
  life->sizes[k] = size + 256; /* what is behind the last element must stay as it is */
  const tenon_status_t status =
      t->allocate(convolution_device.device, life->stream, life->sizes[k], &life->blocks[k]);
  return status != TENON_OK ? status
                            : t->fill(convolution_device.device, life->stream, life->blocks[k],
                                      byte, life->sizes[k]);
}

static size_t bytes_of(const tenon_tensor_view_t* view) {
  return (size_t)tenon__dims_product(view->dims, 0, view->rank) * tenon__number_bits(view->dtype) /
         8;
}

static tenon_status_t copy_in(made_t* m, const tenon_tactic_t* tactic, life_t* life) {
  const tenon_device_descriptor_t* t = convolution_device.table;
  fake_t* fake = &m->fake;
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; status == TENON_OK && k <= fake->input_count; k++) {
    const bool is_output = k == fake->input_count;
    const tenon_tensor_view_t* view =
        is_output ? &fake->outputs[0].tensor : &fake->inputs[k].tensor;
    const size_t size = bytes_of(view);
    lay_out(is_output ? tactic->outputs : &tactic->inputs[k], view, life->strides[k]);
    status = add_block(life, size, 0xCD);
    if (status == TENON_OK && !is_output && size > 0) {
      uint8_t* moved = malloc(size);
      rearrange(view, life->strides[k], view->data, moved, false);
      status = t->copy(convolution_device.device, life->stream, TENON_COPY_TO_DEVICE,
                       life->blocks[k], moved, size);
      (void)t->synchronize(convolution_device.device, life->stream);
      free(moved);
    }
    life->views[k] = *view;
    life->views[k].data = life->blocks[k];
    life->views[k].strides = life->strides[k];
  }
  if (status == TENON_OK && tactic->scratch_bytes > scratch_bytes) {
    convolution_free_scratch();
    scratch_bytes = (size_t)tactic->scratch_bytes;
    status = t->allocate(convolution_device.device, NULL, scratch_bytes, &scratch);
  }
  return status == TENON_OK ? add_block(life, tactic->zeroed_bytes, 0) : status;
}

void convolution_free_scratch(void) {
  if (scratch != NULL) {
    convolution_device.table->free(convolution_device.device, NULL, scratch, scratch_bytes);
    scratch = NULL;
  }
}

/* ---- Tactics ---- */

struct tenon_emit_t {
  made_t* m;
  uint32_t count;
  tenon_tactic_t tactics[TACTICS];
  char names[TACTICS][96];
  uint8_t configurations[TACTICS][16];
  tenon_argument_rule_t rules[TACTICS][INPUTS + 1];
  tenon_numerics_t numerics[TACTICS];
};
static tenon_status_t add_tactic(tenon_emit_t* emit, const tenon_tactic_t* tactic) {
  const uint32_t k = emit->count++;
  if (k >= TACTICS) {
    return TENON_OK;
  }
  emit->tactics[k] = *tactic;
  (void)snprintf(emit->names[k], sizeof(emit->names[k]), "%s", tactic->name);
  memcpy(emit->configurations[k], tactic->configuration, tactic->configuration_size);
  memcpy(emit->rules[k], tactic->inputs, emit->m->fake.input_count * sizeof(*tactic->inputs));
  emit->rules[k][INPUTS] = *tactic->outputs;
  emit->numerics[k] = *tactic->numerics;
  emit->tactics[k].numerics = &emit->numerics[k];
  emit->tactics[k].name = emit->names[k];
  emit->tactics[k].configuration = emit->configurations[k];
  emit->tactics[k].inputs = emit->rules[k];
  emit->tactics[k].outputs = &emit->rules[k][INPUTS];
  return TENON_OK;
}

static const tenon_kernel_t* find_kernel(const char* op) {
  const tenon_kernel_t* kernel = NULL;
  for (uint32_t k = 0; (kernel = opened_offered(convolution_plugin, "kernel/1", k)) != NULL; k++) {
    if (strcmp(kernel->operators[0], op) == 0) {
      return kernel;
    }
  }
  return NULL;
}

/* ---- Comparing ---- */

/* Roundings: one for each term of the sum and a few behind it, of what the sum's magnitudes are;
 * the operands' own for tf32; the result's own where it is narrow. Tensor cores drop what is below
 * the largest of a few products, which costs some bits of the sum. */
static double tolerance_of(const made_t* m, const tenon_tactic_t* tactic, double sum,
                           double wanted) {
  const tenon_dtype_t dtype = m->c->dtype;
  const bool narrow = dtype != TENON_DTYPE_FLOAT32;
  const bool tf32 = tactic->numerics->error_bound > 2;
  const double unit = dtype == TENON_DTYPE_FLOAT16 ? 0x1p-10 : narrow ? 0x1p-7 : 0;
  const double each = narrow || tf32 ? 0x1p-21 : 0x1p-24;
  const double operands = tf32 ? 0x1p-10 : 0;
  return 1.25 * ((double)(m->terms + 8) * each * (sum + 1) + operands * sum) +
         unit * fmax(fabs(wanted), 1e-3);
}

static bool compare(const made_t* m, const tenon_tactic_t* tactic, const uint8_t* got) {
  const tenon_tensor_view_t* y = &m->fake.outputs[0].tensor;
  const int64_t count = tenon__dims_product(y->dims, 0, y->rank);
  uint32_t wrong = 0;
  for (int64_t k = 0; k < count; k++) {
    const double reference = tenon__number_load(m->result.data, 0, TENON_DTYPE_FLOAT64, k).f;
    const double sum = tenon__number_load(m->sums.data, 0, TENON_DTYPE_FLOAT64, k).f;
    const double wanted = evaluate(m, reference, k);
    const double found = tenon__number_load(got, 0, y->dtype, k).f;
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

/* What came out, and whether the bytes behind it are as they were. */
static bool read_result(const made_t* m, const life_t* life, uint8_t* out_dense) {
  const tenon_device_descriptor_t* t = convolution_device.table;
  const uint32_t k = m->fake.input_count;
  const size_t size = bytes_of(&life->views[k]);
  uint8_t* bytes = malloc(life->sizes[k]);
  bool good = t->copy(convolution_device.device, life->stream, TENON_COPY_TO_HOST, bytes,
                      life->blocks[k], life->sizes[k]) == TENON_OK &&
              t->synchronize(convolution_device.device, life->stream) == TENON_OK;
  if (good) {
    rearrange(&life->views[k], life->strides[k], bytes, out_dense, true);
  }
  for (size_t n = size; good && n < life->sizes[k]; n++) {
    good = bytes[n] == 0xCD;
  }
  free(bytes);
  return good;
}

static tenon_status_t enqueue(const made_t* m, life_t* life) {
  tenon_argument_t arguments[INPUTS + 1];
  for (uint32_t k = 0; k <= m->fake.input_count; k++) {
    arguments[k] = (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR, .tensor = life->views[k]};
  }
  running = life;
  const tenon_enqueue_t call = {.size = sizeof(call),
                                .instance = life->instance,
                                .bound = life->bound,
                                .run = (tenon_run_t*)life,
                                .host = &run_table,
                                .inputs = arguments,
                                .outputs = &arguments[m->fake.input_count],
                                .input_count = m->fake.input_count,
                                .output_count = 1};
  return life->kernel->enqueue(&call);
}

/* Once as it is, then recorded, the result wiped, and replayed. */
static bool run_twice(const made_t* m, const tenon_tactic_t* tactic, life_t* life) {
  const tenon_device_descriptor_t* t = convolution_device.table;
  tenon_device_t* device = convolution_device.device;
  const uint32_t y = m->fake.input_count;
  uint8_t* dense = calloc(1, bytes_of(&life->views[y]) + 1);
  void* recording = NULL;
  bool good = enqueue(m, life) == TENON_OK && t->synchronize(device, life->stream) == TENON_OK &&
              read_result(m, life, dense) && compare(m, tactic, dense);
  if (good && (tactic->flags & TENON_TACTIC_RECORDABLE) != 0) {
    good = t->begin_record(device, life->stream) == TENON_OK && enqueue(m, life) == TENON_OK &&
           t->end_record(device, life->stream, &recording) == TENON_OK &&
           t->fill(device, life->stream, life->blocks[y], 0xCD, life->sizes[y]) == TENON_OK &&
           t->replay(device, life->stream, recording) == TENON_OK &&
           t->synchronize(device, life->stream) == TENON_OK && read_result(m, life, dense) &&
           compare(m, tactic, dense);
    t->destroy_recording(device, recording);
  }
  free(dense);
  return good;
}

static void end_life(life_t* life) {
  const tenon_device_descriptor_t* t = convolution_device.table;
  if (life->bound != NULL) {
    life->kernel->unbind(life->instance, life->bound);
  }
  if (life->instance != NULL) {
    life->kernel->destroy(life->instance);
  }
  for (uint32_t k = 0; k < life->block_count; k++) {
    t->free(convolution_device.device, life->stream, life->blocks[k], life->sizes[k]);
  }
  (void)t->synchronize(convolution_device.device, life->stream);
  t->destroy_stream(convolution_device.device, life->stream);
}

static const life_t* binding_life;
static const tenon_argument_t* bound_input(tenon_binding_t* binding, uint32_t index) {
  static tenon_argument_t arguments[INPUTS + 1];
  (void)binding;
  arguments[index] =
      (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR, .tensor = binding_life->views[index]};
  return &arguments[index];
}
static const tenon_argument_t* bound_output(tenon_binding_t* binding, uint32_t index) {
  return bound_input(binding, fake_from(binding)->input_count + index);
}

/* 1: right; 0: wrong; -1: refused. */
static int run_tactic(made_t* m, const tenon_kernel_t* kernel, const tenon_tactic_t* tactic) {
  life_t life = {.kernel = kernel};
  tenon_prepare_table_t prepares = fake_prepare_table;
  tenon_bind_table_t binds = fake_bind_table;
  prepares.service = service;
  prepares.sink = prepare_sink;
  binds.sink = bind_sink;
  binds.input = bound_input;
  binds.output = bound_output;
  const tenon_prepare_t making = {.size = sizeof(making),
                                  .state = convolution_state,
                                  .region = (const tenon_region_t*)&m->fake,
                                  .table = &fake_region_table,
                                  .tactic = tactic,
                                  .preparation = (tenon_preparation_t*)&m->fake,
                                  .host = &prepares};
  int result = 0;
  if (convolution_device.table->create_stream(convolution_device.device, NULL, &life.stream) ==
          TENON_OK &&
      copy_in(m, tactic, &life) == TENON_OK) {
    binding_life = &life;
    tenon_status_t status = kernel->prepare(&making, &life.instance);
    if (status == TENON_OK) {
      status = kernel->bind(life.instance, (tenon_binding_t*)&m->fake, &binds, &life.bound);
    }
    result = status == TENON_ERROR_UNSUPPORTED                   ? -1
             : status == TENON_OK && run_twice(m, tactic, &life) ? 1
                                                                 : 0;
  }
  if (convolution_is_loud || result == 0) {
    (void)printf("%s | %s | %s\n", m->c->name, tactic->name, result > 0 ? "right" : opened_words);
  }
  end_life(&life);
  return result;
}

void convolution_check(const convolution_case_t* c) {
  static made_t made;
  static tenon_emit_t emit;
  made_t* m = &made;
  tenon_refusal_t refusal = {0};
  memset(m, 0, sizeof(*m));
  m->c = c;
  m->seed = c->seed;
  make_node(m);
  const tenon_tensor_view_t* y = &m->fake.outputs[0].tensor;
  m->result = fake_tensor(&m->fake, TENON_DTYPE_FLOAT64, y->rank, y->dims);
  bool good =
      run_reference(m, false, m->result) == TENON_OK && run_reference(m, true, m->sums) == TENON_OK;
  make_slot(m);
  m->fake.value_count = m->fake.input_count + 1;
  describe(m, m->fake.input_count, y, true);
  const tenon_region_t* region = (const tenon_region_t*)&m->fake;
  const tenon_kernel_t* kernel = find_kernel(m->fake.op);
  good = good && kernel->match(convolution_state, region, &fake_region_table, &refusal) != 0;
  emit = (tenon_emit_t){.m = m};
  int right = 0;
  if (good) {
    (void)kernel->tactics(convolution_state, region, &fake_region_table, &emit, add_tactic);
  }
  for (uint32_t k = 0; k < emit.count && k < TACTICS; k++) {
    const int result = run_tactic(m, kernel, &emit.tactics[k]);
    right += result > 0 ? 1 : 0;
    convolution_refused += result < 0 ? 1 : 0;
    good = good && result != 0;
  }
  convolution_runs += right;
  if (!good || right == 0 || emit.count > TACTICS) {
    (void)printf("FAILED %s: %d of %u tactics right%s%s\n", c->name, right, emit.count,
                 refusal.detail == NULL ? "" : ": ", refusal.detail == NULL ? "" : refusal.detail);
    convolution_failures++;
  }
  fake_done(&m->fake);
}
