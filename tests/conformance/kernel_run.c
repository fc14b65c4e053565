/* Running a case both ways, and comparing. */
#include "kernel_tables.h"

opened_device_t kernel_device;
const tenon_plugin_t* kernel_plugin;
void* kernel_plugin_state;
int kernel_failures;
int kernel_runs;

/* ---- What bind and enqueue are given ---- */

static const kernel_life_t* current_life;
static tenon_stream_t* run_stream(tenon_run_t* run) {
  (void)run;
  return current_life->stream;
}
static void* run_zeroed(tenon_run_t* run) {
  (void)run;
  return current_life->zeroed;
}
static tenon_status_t run_fail(tenon_run_t* run, tenon_status_t status, const char* message) {
  (void)run;
  (void)fprintf(stderr, "  (%s)\n", message);
  return status;
}
static const tenon_sink_t* bind_sink(tenon_binding_t* binding) {
  (void)binding;
  return &opened_sink;
}
static tenon_bind_table_t bind_table(void) {
  tenon_bind_table_t table = fake_bind_table;
  table.sink = bind_sink;
  return table;
}

/* ---- Tactics ---- */

struct tenon_emit_t {
  kernel_case_t* c;
  uint32_t wanted;
  uint32_t count;
};
static tenon_status_t add_tactic(tenon_emit_t* emit, const tenon_tactic_t* tactic) {
  fake_t* fake = &emit->c->fake;
  if (emit->count++ == emit->wanted) {
    fake->tactic = *tactic;
    if (tactic->configuration_size > 0) {
      memcpy(fake->configuration, tactic->configuration, tactic->configuration_size);
    }
    fake->tactic.configuration = fake->configuration;
    emit->c->numerics = tactic->numerics == NULL ? (tenon_numerics_t){0} : *tactic->numerics;
  }
  return TENON_OK;
}

static bool computes(const tenon_kernel_t* kernel, const kernel_case_t* c) {
  const uint32_t flag = c->move != NULL ? TENON_KERNEL_MOVES : TENON_KERNEL_EXPRESSIONS;
  if (c->fake.op == NULL) {
    return (kernel->flags & flag) != 0;
  }
  const char* const* op = kernel->operators;
  while (op != NULL && *op != NULL && strcmp(*op, c->fake.op) != 0) {
    op++;
  }
  return op != NULL && *op != NULL;
}

static const tenon_kernel_t* find_kernel(const kernel_case_t* c) {
  const tenon_plugin_t* plugin = kernel_plugin != NULL ? kernel_plugin : kernel_device.plugin;
  const tenon_kernel_t* kernel = NULL;
  for (uint32_t k = 0; (kernel = opened_offered(plugin, "kernel/1", k)) != NULL; k++) {
    if (computes(kernel, c) && strcmp(kernel->device, kernel_device.table->name) == 0) {
      return kernel;
    }
  }
  return NULL;
}

static void* kernel_state(void) {
  return kernel_plugin != NULL ? kernel_plugin_state : kernel_device.state;
}

static void finish_program(kernel_case_t* c) {
  c->program.instructions = c->instructions;
  c->program.operands = c->operands;
  c->program.outputs = c->results;
  c->program.coordinates = c->coordinates;
  c->program.rank = c->rank;
  const bool is_operator = c->fake.op != NULL;
  c->fake.kind = is_operator       ? TENON_REGION_OPERATOR
                 : c->move != NULL ? TENON_REGION_MOVE
                                   : TENON_REGION_EXPRESSION;
  c->fake.program = c->move != NULL || is_operator ? NULL : &c->program;
  c->fake.slot = is_operator && c->program.instruction_count > 0 ? &c->program : NULL;
  c->fake.move = c->move;
  c->fake.value_count = c->fake.input_count + c->fake.output_count;
}

/* How many tactics there are; the one that is wanted is the fake's then. */
static uint32_t take_tactic(kernel_case_t* c, const tenon_kernel_t* kernel, uint32_t wanted) {
  tenon_emit_t emit = {c, wanted, 0};
  if (kernel->tactics == NULL) {
    return 1;
  }
  (void)kernel->tactics(kernel_state(), (const tenon_region_t*)&c->fake, &fake_region_table, &emit,
                        add_tactic);
  return emit.count;
}

static bool is_taken(const kernel_case_t* c, const tenon_kernel_t* kernel) {
  tenon_refusal_t refusal = {0};
  const bool taken =
      kernel != NULL &&
      (kernel->match == NULL || kernel->match(kernel_state(), (const tenon_region_t*)&c->fake,
                                              &fake_region_table, &refusal) != 0);
  if (!taken) {
    (void)fprintf(stderr, "  (refused: %u, %s)\n", refusal.reason,
                  refusal.detail == NULL ? "" : refusal.detail);
  }
  return taken;
}

/* ---- On the device ---- */

/* Scratch has whatever was there, and serves all that follow. */
static struct {
  void* block;
  uint64_t size;
} scratch;

void kernel_free_scratch(void) {
  if (scratch.block != NULL) {
    kernel_device.table->free(kernel_device.device, NULL, scratch.block, scratch.size);
  }
  scratch.block = NULL;
  scratch.size = 0;
}

static void* run_scratch(tenon_run_t* run) {
  (void)run;
  return scratch.block;
}
static const tenon_run_table_t run_table = {.size = sizeof(tenon_run_table_t),
                                            .scratch = run_scratch,
                                            .zeroed = run_zeroed,
                                            .stream = run_stream,
                                            .fail = run_fail};

static tenon_status_t take_memory(const kernel_case_t* c, kernel_life_t* life) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  const tenon_tactic_t* tactic = &c->fake.tactic;
  tenon_status_t status = TENON_OK;
  if (tactic->scratch_bytes > scratch.size) {
    kernel_free_scratch();
    status = t->allocate(kernel_device.device, NULL, tactic->scratch_bytes, &scratch.block);
    scratch.size = status == TENON_OK ? tactic->scratch_bytes : 0;
  }
  if (status == TENON_OK && tactic->zeroed_bytes > 0) {
    status = t->allocate(kernel_device.device, life->stream, tactic->zeroed_bytes, &life->zeroed);
  }
  return status == TENON_OK && life->zeroed != NULL
             ? t->fill(kernel_device.device, life->stream, life->zeroed, 0, tactic->zeroed_bytes)
             : status;
}

static tenon_status_t copy_in(kernel_case_t* c, kernel_life_t* life) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  for (uint32_t k = 0; k < c->fake.value_count; k++) {
    const kernel_tensor_t* tensor = &c->tensors[k];
    tenon_status_t status =
        t->allocate(kernel_device.device, life->stream, tensor->size_bytes, &life->blocks[k]);
    const bool is_output = k >= c->fake.input_count;
    if (status == TENON_OK && (is_output || c->bare)) {
      status = t->fill(kernel_device.device, life->stream, life->blocks[k],
                       is_output ? KERNEL_UNTOUCHED : KERNEL_BARE, tensor->size_bytes);
    } else if (status == TENON_OK) {
      status = t->copy(kernel_device.device, life->stream, TENON_COPY_TO_DEVICE, life->blocks[k],
                       tensor->bytes, tensor->size_bytes);
    }
    if (status != TENON_OK) {
      return status;
    }
    tenon_argument_t* argument =
        is_output ? &life->outputs[k - c->fake.input_count] : &life->inputs[k];
    *argument = (tenon_argument_t){.kind = TENON_ARGUMENT_TENSOR, .tensor = tensor->view};
    argument->tensor.data = (uint8_t*)life->blocks[k] + tensor->offset_bytes;
  }
  return TENON_OK;
}

tenon_status_t kernel_life_begin(kernel_case_t* c, uint32_t tactic, kernel_life_t* out) {
  const tenon_bind_table_t binds = bind_table();
  memset(out, 0, sizeof(*out));
  finish_program(c);
  out->kernel = find_kernel(c);
  const tenon_region_t* region = (const tenon_region_t*)&c->fake;
  if (!is_taken(c, out->kernel)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  if (take_tactic(c, out->kernel, tactic) <= tactic) {
    return TENON_ERROR_UNSUPPORTED;
  }
  const tenon_prepare_t making = {.size = sizeof(making),
                                  .state = kernel_state(),
                                  .region = region,
                                  .table = &fake_region_table,
                                  .tactic = &c->fake.tactic,
                                  .preparation = (tenon_preparation_t*)&c->fake,
                                  .host = &kernel_prepare_table};
  tenon_status_t status =
      kernel_device.table->create_stream(kernel_device.device, NULL, &out->stream);
  if (status == TENON_OK) {
    status = out->kernel->prepare(&making, &out->instance);
  }
  if (status == TENON_OK) {
    status = out->kernel->bind(out->instance, (tenon_binding_t*)&c->fake, &binds, &out->bound);
  }
  if (status == TENON_OK) {
    status = take_memory(c, out);
  }
  return status == TENON_OK ? copy_in(c, out) : status;
}

tenon_status_t kernel_life_enqueue(kernel_case_t* c, const kernel_life_t* life) {
  current_life = life;
  const tenon_enqueue_t call = {.size = sizeof(call),
                                .instance = life->instance,
                                .bound = life->bound,
                                .run = (tenon_run_t*)&c->fake,
                                .host = &run_table,
                                .inputs = life->inputs,
                                .outputs = life->outputs,
                                .input_count = c->fake.input_count,
                                .output_count = c->fake.output_count};
  return life->kernel->enqueue(&call);
}

void kernel_life_end(kernel_case_t* c, kernel_life_t* life) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  if (life->bound != NULL && life->kernel->unbind != NULL) {
    life->kernel->unbind(life->instance, life->bound);
  }
  if (life->instance != NULL && life->kernel->destroy != NULL) {
    life->kernel->destroy(life->instance);
  }
  for (uint32_t k = 0; k < c->fake.value_count; k++) {
    if (life->blocks[k] != NULL) {
      t->free(kernel_device.device, life->stream, life->blocks[k], c->tensors[k].size_bytes);
    }
  }
  if (life->zeroed != NULL) {
    t->free(kernel_device.device, life->stream, life->zeroed, c->fake.tactic.zeroed_bytes);
  }
  if (life->stream != NULL) {
    (void)t->synchronize(kernel_device.device, life->stream);
    t->destroy_stream(kernel_device.device, life->stream);
  }
}

/* ---- Comparing ---- */

static bool near(tenon_dtype_t dtype, tenon__number_t got, tenon__number_t wanted, double error) {
  if (!tenon__number_is_float(dtype)) {
    return got.i == wanted.i;
  }
  if (isnan(got.f) || isnan(wanted.f) || isinf(wanted.f)) {
    return (isnan(got.f) && isnan(wanted.f)) || got.f == wanted.f;
  }
  /* One unit in the last place of what is stored, besides: a narrow result may round otherwise. */
  const double unit = dtype == TENON_DTYPE_FLOAT16     ? 0x1p-10
                      : dtype == TENON_DTYPE_BFLOAT16  ? 0x1p-7
                      : dtype == TENON_DTYPE_FLOAT64   ? 0.0
                      : tenon__number_bits(dtype) == 8 ? 0x1p-2
                                                       : 0.0;
  const double scale = dtype == TENON_DTYPE_FLOAT64 ? 0x1p-53 : 0x1p-24;
  const double magnitude = fmax(fabs(wanted.f), 1.0);
  return fabs(got.f - wanted.f) <= error * scale * magnitude + (error > 0 ? unit * magnitude : 0);
}

/* Every byte that is no element must be as it was; every element as the reference says. */
static uint64_t compare(const kernel_tensor_t* tensor, const uint8_t* got, double error,
                        const char* name) {
  const tenon_tensor_view_t* view = &tensor->view;
  uint8_t* touched = calloc(1, tensor->size_bytes);
  const size_t bytes = tenon__number_bits(view->dtype) / 8;
  const int64_t count = tenon__dims_product(view->dims, 0, view->rank);
  uint64_t wrong = 0;
  for (int64_t k = 0; k < count; k++) {
    const int64_t place = tenon__view_place(view, k);
    const tenon__number_t wanted = tenon__number_load(view->data, 0, view->dtype, place);
    const tenon__number_t found =
        tenon__number_load(got + tensor->offset_bytes, 0, view->dtype, place);
    memset(touched + (int64_t)tensor->offset_bytes + place * (int64_t)bytes, 1, bytes);
    if (!near(view->dtype, found, wanted, error) && wrong++ < 3) {
      (void)fprintf(stderr, "%s: element %lld is %.9g, expected %.9g\n", name, (long long)k,
                    tenon__number_value(view->dtype, found),
                    tenon__number_value(view->dtype, wanted));
    }
  }
  for (size_t k = 0; k < tensor->size_bytes; k++) {
    if (touched[k] == 0 && got[k] != tensor->bytes[k] && wrong++ < 3) {
      (void)fprintf(stderr, "%s: byte %zu was written, which is no element's\n", name, k);
    }
  }
  free(touched);
  return wrong;
}

/* Once as it is, then recorded: what the first made is wiped away before the replay. */
static tenon_status_t replay(kernel_case_t* c, const kernel_life_t* life) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  void* recording = NULL;
  tenon_status_t status = TENON_OK;
  for (uint32_t k = c->fake.input_count; k < c->fake.value_count && status == TENON_OK; k++) {
    status = t->fill(kernel_device.device, life->stream, life->blocks[k], KERNEL_UNTOUCHED,
                     c->tensors[k].size_bytes);
  }
  if (status == TENON_OK) {
    status = t->begin_record(kernel_device.device, life->stream);
  }
  if (status == TENON_OK) {
    status = kernel_life_enqueue(c, life);
    const tenon_status_t ended = t->end_record(kernel_device.device, life->stream, &recording);
    status = status == TENON_OK ? ended : status;
  }
  if (status == TENON_OK) {
    status = t->replay(kernel_device.device, life->stream, recording);
  }
  if (status == TENON_OK) {
    status = t->synchronize(kernel_device.device, life->stream);
    t->destroy_recording(kernel_device.device, recording);
  }
  return status;
}

static bool run_tactic(kernel_case_t* c, uint32_t tactic, const char* name, double error) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  kernel_life_t life;
  tenon_status_t status = kernel_life_begin(c, tactic, &life);
  if (status == TENON_ERROR_UNSUPPORTED && c->fake.op != NULL && tactic > 0) {
    kernel_life_end(c, &life);
    return true;
  }
  status = status == TENON_OK ? kernel_life_enqueue(c, &life) : status;
  if (status == TENON_OK && c->recorded) {
    status = replay(c, &life);
  }
  status = status == TENON_OK ? t->synchronize(kernel_device.device, life.stream) : status;
  if (c->numerics.product_mantissa_bits != 0) {
    error *= 0x1p13;
  }
  bool good = status == TENON_OK;
  if (!good) {
    (void)fprintf(stderr, "%s: status %d\n", name, status);
  }
  for (uint32_t k = c->fake.input_count; good && k < c->fake.value_count; k++) {
    const kernel_tensor_t* tensor = &c->tensors[k];
    uint8_t* got = malloc(tensor->size_bytes);
    good = t->copy(kernel_device.device, life.stream, TENON_COPY_TO_HOST, got, life.blocks[k],
                   tensor->size_bytes) == TENON_OK &&
           t->synchronize(kernel_device.device, life.stream) == TENON_OK &&
           compare(tensor, got, error, name) == 0;
    free(got);
  }
  kernel_life_end(c, &life);
  return good;
}

/* The life of the reference's kernel for the region. */
static tenon_status_t run_reference(fake_t* fake) {
  const bool moves = fake->program == NULL;
  const tenon_prepare_t making = {.size = sizeof(making),
                                  .region = (const tenon_region_t*)fake,
                                  .table = &fake_region_table,
                                  .preparation = (tenon_preparation_t*)fake,
                                  .host = &fake_prepare_table};
  void* instance = NULL;
  void* bound = NULL;
  tenon_status_t status = moves ? tenon__moves_prepare(&making, &instance)
                                : tenon__expressions_prepare(&making, &instance);
  if (status == TENON_OK) {
    tenon_binding_t* binding = (tenon_binding_t*)fake;
    status = moves ? tenon__moves_bind(instance, binding, &fake_bind_table, &bound)
                   : tenon__expressions_bind(instance, binding, &fake_bind_table, &bound);
  }
  const tenon_enqueue_t call = {.size = sizeof(call),
                                .instance = instance,
                                .bound = bound,
                                .run = (tenon_run_t*)fake,
                                .host = &fake_run_table,
                                .inputs = fake->inputs,
                                .outputs = fake->outputs,
                                .input_count = fake->input_count,
                                .output_count = fake->output_count};
  if (status != TENON_OK) {
    return status;
  }
  return moves ? tenon__moves_enqueue(&call) : tenon__expressions_enqueue(&call);
}

void kernel_check_given(kernel_case_t* c, const char* name, double error) {
  finish_program(c);
  const tenon_kernel_t* kernel = find_kernel(c);
  const uint32_t count = is_taken(c, kernel) ? take_tactic(c, kernel, 0) : 0;
  bool good = count > 0;
  for (uint32_t tactic = 0; good && tactic < count; tactic++) {
    good = run_tactic(c, tactic, name, error);
  }
  kernel_runs++;
  if (!good) {
    (void)printf("FAILED %s\n", name);
    kernel_failures++;
  }
  kernel_case_end(c);
}

/* The reference first, in the host's memory; the device's outputs begin untouched. */
void kernel_check(kernel_case_t* c, const char* name, double error) {
  finish_program(c);
  fake_t reference = c->fake;
  reference.block_count = 0;
  const tenon_status_t status = run_reference(&reference);
  if (status != TENON_OK) {
    (void)printf("FAILED %s: the reference says %d, %s\n", name, status, reference.failure);
    kernel_failures++;
  }
  fake_done(&reference);
  kernel_check_given(c, name, error);
}

void kernel_check_fault(kernel_case_t* c, const char* name) {
  const tenon_device_descriptor_t* t = kernel_device.table;
  kernel_life_t life;
  tenon_status_t status = kernel_life_begin(c, 0, &life);
  status = status == TENON_OK ? kernel_life_enqueue(c, &life) : status;
  const bool found = status == TENON_OK &&
                     t->synchronize(kernel_device.device, life.stream) == TENON_ERROR_INVALID_DATA;
  opened_words[0] = 0;
  const bool told = t->health(kernel_device.device, &opened_sink) == TENON_OK &&
                    strstr(opened_words, "is read, whose extent is") != NULL;
  const bool once = t->synchronize(kernel_device.device, life.stream) == TENON_OK;
  kernel_runs++;
  if (!found || !told || !once) {
    (void)printf("FAILED %s: status %d, words '%s'\n", name, status, opened_words);
    kernel_failures++;
  }
  kernel_life_end(c, &life);
  kernel_case_end(c);
}
