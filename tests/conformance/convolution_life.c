/* Running cases by a device's kernels: every tactic, once and recorded. */
#include "convolution_case.h"

enum { INPUTS = CONVOLUTION_INPUTS, TACTICS = 64 };

opened_device_t convolution_device;
const tenon_plugin_t* convolution_plugin;
void* convolution_state;
int convolution_failures;
int convolution_runs;
int convolution_refused;
bool convolution_is_loud;

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

/* Memory of the device: arguments in the order of inputs and then the output, the
 * step's own, zeros. */
typedef struct life_t {
  const tenon_kernel_t* kernel;
  tenon_stream_t* stream;
  void* instance;
  void* bound;
  tenon_tensor_view_t views[INPUTS + 1];
  int64_t strides[INPUTS + 1][CONVOLUTION_RANK];
  void* blocks[INPUTS + 3];
  size_t sizes[INPUTS + 3];
  uint32_t block_count;
  size_t shift; /* bytes in front of each argument */
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
static void* run_persistent(tenon_run_t* run) {
  (void)run;
  return running->blocks[running->block_count - 2];
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
                                            .persistent = run_persistent,
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
                       (uint8_t*)life->blocks[k] + life->shift, moved, size);
      (void)t->synchronize(convolution_device.device, life->stream);
      free(moved);
    }
    life->views[k] = *view;
    life->views[k].data = (uint8_t*)life->blocks[k] + life->shift;
    life->views[k].strides = life->strides[k];
  }
  if (status == TENON_OK && tactic->scratch_bytes > scratch_bytes) {
    convolution_free_scratch();
    scratch_bytes = (size_t)tactic->scratch_bytes;
    status = t->allocate(convolution_device.device, NULL, scratch_bytes, &scratch);
  }
  status = status == TENON_OK ? add_block(life, tactic->persistent_bytes, 0) : status;
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

/* ---- Running ---- */

/* What came out, and whether the bytes around it are as they were. */
static bool read_result(const made_t* m, const life_t* life, uint8_t* out_dense) {
  const tenon_device_descriptor_t* t = convolution_device.table;
  const uint32_t k = m->fake.input_count;
  const size_t size = bytes_of(&life->views[k]);
  uint8_t* bytes = malloc(life->sizes[k]);
  bool good = t->copy(convolution_device.device, life->stream, TENON_COPY_TO_HOST, bytes,
                      life->blocks[k], life->sizes[k]) == TENON_OK &&
              t->synchronize(convolution_device.device, life->stream) == TENON_OK;
  if (good) {
    rearrange(&life->views[k], life->strides[k], bytes + life->shift, out_dense, true);
  }
  for (size_t n = 0; good && n < life->sizes[k]; n++) {
    good = (n >= life->shift && n < life->shift + size) || bytes[n] == 0xCD;
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

/* Weights that are no constants may be others in the next run: nothing may be kept of them. */
static tenon_status_t forget_weights(const made_t* m, const life_t* life) {
  const uint32_t own = life->block_count - 2;
  return m->c->kind >= KIND_MAX_POOL || (m->fake.values[1].info.flags & TENON_VALUE_CONSTANT) != 0
             ? TENON_OK
             : convolution_device.table->fill(convolution_device.device, life->stream,
                                              life->blocks[own], 0xEE, life->sizes[own]);
}

/* Once as it is, then recorded, the result wiped, and replayed. */
static bool run_twice(const made_t* m, const tenon_tactic_t* tactic, life_t* life) {
  const tenon_device_descriptor_t* t = convolution_device.table;
  tenon_device_t* device = convolution_device.device;
  const uint32_t y = m->fake.input_count;
  uint8_t* dense = calloc(1, bytes_of(&life->views[y]) + 1);
  void* recording = NULL;
  bool good = enqueue(m, life) == TENON_OK && t->synchronize(device, life->stream) == TENON_OK &&
              read_result(m, life, dense) && convolution_compare(m, tactic, dense);
  if (good && (tactic->flags & TENON_TACTIC_RECORDABLE) != 0) {
    good = t->begin_record(device, life->stream) == TENON_OK && enqueue(m, life) == TENON_OK &&
           t->end_record(device, life->stream, &recording) == TENON_OK &&
           forget_weights(m, life) == TENON_OK &&
           t->fill(device, life->stream, life->blocks[y], 0xCD, life->sizes[y]) == TENON_OK &&
           t->replay(device, life->stream, recording) == TENON_OK &&
           t->synchronize(device, life->stream) == TENON_OK && read_result(m, life, dense) &&
           convolution_compare(m, tactic, dense);
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
  /* What asks for no alignment may begin at any element, as a piece of another tensor does. */
  if (m->c->seed % 2 != 0 && tactic->outputs->alignment <= 4) {
    life.shift = m->c->dtype == TENON_DTYPE_FLOAT32 ? 4 : 2;
  }
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
  tenon_refusal_t refusal = {0};
  bool good = convolution_make(c, &made);
  const tenon_region_t* region = (const tenon_region_t*)&made.fake;
  const tenon_kernel_t* kernel = find_kernel(made.fake.op);
  const bool taken =
      good && kernel->match(convolution_state, region, &fake_region_table, &refusal) != 0;
  emit = (tenon_emit_t){.m = &made};
  int right = 0;
  if (taken) {
    (void)kernel->tactics(convolution_state, region, &fake_region_table, &emit, add_tactic);
  }
  for (uint32_t k = 0; k < emit.count && k < TACTICS; k++) {
    const int result = run_tactic(&made, kernel, &emit.tactics[k]);
    right += result > 0 ? 1 : 0;
    convolution_refused += result < 0 ? 1 : 0;
    good = good && result != 0;
  }
  convolution_runs += right;
  const bool must = convolution_must_run(c);
  const bool may_refuse = !must && (taken || c->kind >= KIND_MAX_POOL);
  if (!good || (right == 0 && !may_refuse) || emit.count > TACTICS) {
    (void)printf("FAILED %s: %d of %u tactics right%s%s\n", c->name, right, emit.count,
                 refusal.detail == NULL ? "" : ": ", refusal.detail == NULL ? "" : refusal.detail);
    convolution_failures++;
  }
  fake_done(&made.fake);
}
