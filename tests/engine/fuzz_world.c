/* What the fuzz targets of the whole engine have in common: see fuzz_world.h. */
#include "tests/engine/fuzz_world.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "core/base/allocator.h"
#include "core/tensor/layout.h"
#include "sdk/library/library.h"

enum { MOST_ELEMENTS = 1 << 12, MOST_STEPS = 4000, MOST_INPUTS = 4, MOST_MICROSECONDS = 20000 };

/* ---- Patience ---- */

/* A body that somebody made up may never end: then its run is cancelled, after so many steps, and
 * after so much of the processor's time for bodies that have none. */
static tenon_context_t* volatile running;
static uint32_t step_count;

static void count_step(void* user, uint32_t step, double seconds) {
  (void)user;
  (void)step;
  (void)seconds;
  if (++step_count > MOST_STEPS) {
    tenon_context_cancel(running);
  }
}

static void hear_timer(int number) {
  (void)number;
  if (running != NULL) {
    /* tenon.h says that it may. NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c) */
    tenon_context_cancel(running);
  }
}

/* NULL: none runs. */
static void watch(tenon_context_t* context) {
  static const struct itimerval patience = {{0, MOST_MICROSECONDS}, {0, MOST_MICROSECONDS}};
  static const struct itimerval none;
  running = context;
  if (setitimer(ITIMER_VIRTUAL, context != NULL ? &patience : &none, NULL) != 0) {
    abort();
  }
}

/* ---- The world ---- */

static size_t live_bytes;
static size_t most_bytes;

/* A plan or a model may ask for more than there is: then it gets none. */
static void* resize(void* user, void* block, size_t old_size_bytes, size_t new_size_bytes) {
  const tenon_allocator_t usual = tenon__allocator_default();
  (void)user;
  if (new_size_bytes > old_size_bytes &&
      (new_size_bytes > most_bytes || live_bytes + new_size_bytes - old_size_bytes > most_bytes)) {
    return NULL;
  }
  void* resized = usual.resize(usual.user, block, old_size_bytes, new_size_bytes);
  if (resized != NULL || new_size_bytes == 0) {
    live_bytes += new_size_bytes - old_size_bytes;
  }
  return resized;
}

static volatile uint64_t sum; /* of all that is read */

static void hear(void* user, int32_t severity, const char* message) {
  (void)user;
  sum += strlen(message) + (uint64_t)severity;
}

tenon_registry_t* fuzz_registry(void) {
  static const tenon_allocator_t allocator = {NULL, resize};
  static const char* const paths[] = {PLUGINS, NULL};
  tenon_registry_t* registry = NULL;
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  /* Of the vector kernels those that the sanitizers watch. */
  if (setenv("TENON_CPU", "baseline", 1) != 0 || signal(SIGVTALRM, hear_timer) == SIG_ERR) {
    abort();
  }
  options.paths = paths;
  options.only_paths = 1;
  options.allocator = &allocator;
  options.logger = (tenon_sink_t){NULL, hear};
  most_bytes = SIZE_MAX;
  if (tenon_registry_create(&options, &registry) != TENON_OK) {
    abort();
  }
  return registry;
}

void fuzz_limit_memory(size_t bytes) {
  most_bytes = live_bytes + bytes;
}

/* ---- Inputs ---- */

typedef struct input_t {
  int64_t dims[64];
  uint8_t* data;
  size_t size;
} input_t;

static void fill(input_t* input, tenon_dtype_t dtype, uint32_t run) {
  for (size_t k = 0; k < input->size; ++k) {
    input->data[k] = dtype == TENON_DTYPE_BOOL ? (uint8_t)(run & 1) : (uint8_t)(k * 29 % 128);
  }
  for (size_t k = 0; dtype == TENON_DTYPE_INT64 && k + 8 <= input->size; k += 8) {
    const int64_t small = run == 0 ? 2 : 0;
    memcpy(input->data + k, &small, sizeof small);
  }
  for (size_t k = 0; dtype == TENON_DTYPE_FLOAT32 && k + 4 <= input->size; k += 4) {
    const float number = (float)((int)(k * 37 % 101) - 50) / 16.0F;
    memcpy(input->data + k, &number, sizeof number);
  }
}

/* Of the extents that the plan says; false for what is no tensor, or a large one. */
static bool set_input(tenon_engine_t* engine, tenon_context_t* context, uint32_t index,
                      uint32_t run, input_t* input) {
  tenon_io_info_t info = {.size = sizeof(info)};
  const int64_t* most = NULL;
  uint64_t count = 0;
  if (tenon_engine_get_input(engine, index, &info) != TENON_OK ||
      info.kind != TENON_ARGUMENT_TENSOR || info.rank > 64 ||
      tenon_engine_get_profile(engine, index, run == 0 ? 2 : 1, &most) != TENON_OK) {
    return false;
  }
  for (uint32_t d = 0; d < info.rank; ++d) {
    input->dims[d] = info.dims[d] >= 0 ? info.dims[d] : most[d] >= 0 ? most[d] : 3;
  }
  if (!tenon__element_count(info.rank, input->dims, &count) || count > MOST_ELEMENTS ||
      !tenon__dtype_bytes(info.dtype, count, &input->size) || info.dtype == TENON_DTYPE_STRING) {
    return false;
  }
  input->data = aligned_alloc(64, (input->size + 63) / 64 * 64 + 64);
  if (input->data == NULL) {
    abort();
  }
  fill(input, info.dtype, run);
  const tenon_tensor_view_t view = {.data = input->data,
                                    .dims = input->dims,
                                    .rank = info.rank,
                                    .dtype = info.dtype,
                                    .layout = TENON_NONE};
  return tenon_context_set_input(context, index, &view) == TENON_OK;
}

/* ---- Outputs ---- */

static void read_bytes(const void* data, size_t size) {
  for (size_t k = 0; k < size; ++k) {
    sum += ((const uint8_t*)data)[k];
  }
}

static void read_elements(const tenon_tensor_view_t* view, uint64_t count) {
  size_t bytes = 0;
  if (!tenon__dtype_bytes(view->dtype, count, &bytes)) {
    abort(); /* more than can be in memory */
  }
  read_bytes(view->data, bytes);
  const tenon_string_view_t* strings = view->data;
  for (uint64_t k = 0; view->dtype == TENON_DTYPE_STRING && k < count; ++k) {
    read_bytes(strings[k].data, strings[k].size);
  }
}

static void read_output(const tenon_context_t* context, uint32_t index) {
  tenon_tensor_view_t view;
  uint64_t count = 0;
  if (tenon_context_get_output(context, index, &view) != TENON_OK) {
    return;
  }
  if (!tenon__element_count(view.rank, view.dims, &count) ||
      !tenon__strides_are_row_major(view.rank, view.dims, view.strides)) {
    abort();
  }
  if (count > 0) {
    read_elements(&view, count);
  }
}

/* ---- Running ---- */

static void run(tenon_engine_t* engine, tenon_context_t* context, uint32_t number) {
  input_t inputs[MOST_INPUTS];
  const uint32_t count = tenon_engine_input_count(engine);
  bool good = count <= MOST_INPUTS;
  memset(inputs, 0, sizeof inputs);
  for (uint32_t k = 0; good && k < count; ++k) {
    good = set_input(engine, context, k, number, &inputs[k]);
  }
  step_count = 0;
  if (good) {
    watch(context);
    good = tenon_context_run(context) == TENON_OK;
    watch(NULL);
  }
  if (good) {
    for (uint32_t k = 0; k < tenon_engine_output_count(engine); ++k) {
      read_output(context, k);
    }
  }
  for (uint32_t k = 0; k < MOST_INPUTS; ++k) {
    free(inputs[k].data);
  }
}

static void refit(tenon_engine_t* engine) {
  static const uint8_t bytes[4096];
  const uint32_t count = tenon_engine_weights_count(engine);
  for (uint32_t k = 0; k < count; ++k) {
    const char* name = tenon_engine_get_weights_name(engine, k);
    for (size_t size = 4; name != NULL && size <= sizeof bytes; size += 4) {
      if (tenon_engine_set_weights(engine, name, bytes, size) == TENON_OK) {
        break;
      }
    }
  }
  (void)tenon_engine_commit_weights(engine);
}

/* What a program for people asks. */
static void describe(tenon_engine_t* engine) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  (void)tenon_engine_get_info(engine, &info);
  for (uint32_t k = 0; k < tenon_engine_step_count(engine); ++k) {
    tenon_step_info_t step = {.size = sizeof(step)};
    const uint32_t* sources = NULL;
    uint32_t count = 0;
    if (tenon_engine_get_step(engine, k, &step) == TENON_OK) {
      sum += strlen(step.name) + strlen(step.inputs) + strlen(step.outputs) + strlen(step.nodes);
    }
    (void)tenon_engine_get_step_sources(engine, k, &sources, &count);
  }
}

void fuzz_use(tenon_engine_t* engine, bool refits) {
  tenon_context_t* context = NULL;
  tenon_context_options_t options = TENON_OPTIONS(tenon_context_options_t);
  options.thread_count = 1;
  describe(engine);
  if (tenon_context_create(engine, &options, &context) == TENON_OK) {
    (void)tenon_context_set_profiler(context, count_step, NULL);
    run(engine, context, 0);
    if (refits) {
      refit(engine);
    }
    run(engine, context, 1);
    (void)tenon_context_reset_states(context);
  }
  tenon_context_destroy(context);
}
