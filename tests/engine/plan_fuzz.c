/*
 * Plans that somebody made up, loaded and run. The input says which of the small networks and what
 * is changed in its plan (plan_edits.h); the plan is built when the program begins, so that an
 * input means the same in every build. The file's digest is made anew, so that the reader gets past
 * it. What is loaded runs twice, and every byte of every output is read.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/tensor/layout.h"
#include "sdk/library/library.h"
#include "tests/engine/networks.h"
#include "tests/engine/plan_edits.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1, const uint8_t* data2,
                                 size_t size2, uint8_t* out, size_t max_out_size,
                                 unsigned int seed);

enum { MOST_SEEDS = 32, MOST_BYTES = 1 << 25, MOST_ELEMENTS = 1 << 12, MOST_STEPS = 4000 };
enum { MOST_INPUTS = 4 };

typedef struct seed_t {
  tenon_plan_t* plan;
  const void* data; /* its */
  size_t size;
} seed_t;

static tenon_registry_t* registry;
static seed_t seeds[MOST_SEEDS];
static const char* names[MOST_SEEDS];
static uint32_t seed_count;

/* ---- The world ---- */

static size_t live_bytes;

/* A plan may ask for more than there is: then it gets none. */
static void* resize(void* user, void* block, size_t old_size_bytes, size_t new_size_bytes) {
  const tenon_allocator_t usual = tenon__allocator_default();
  (void)user;
  if (new_size_bytes > old_size_bytes &&
      (new_size_bytes > MOST_BYTES || live_bytes + new_size_bytes - old_size_bytes > MOST_BYTES)) {
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

static void begin(void) {
  static const tenon_allocator_t allocator = {NULL, resize};
  static const char* const paths[] = {PLUGINS, NULL};
  const test_network_t* networks = NULL;
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  tenon_build_options_t build = TENON_OPTIONS(tenon_build_options_t);
  /* Of the vector kernels those that the sanitizers watch. */
  if (setenv("TENON_CPU", "baseline", 1) != 0) {
    abort();
  }
  options.paths = paths;
  options.only_paths = 1;
  options.allocator = &allocator;
  options.logger = (tenon_sink_t){NULL, hear};
  build.no_measuring = 1;
  build.thread_count = 1;
  if (tenon_registry_create(&options, &registry) != TENON_OK) {
    abort();
  }
  const uint32_t count = test_networks(&networks);
  for (uint32_t k = 0; k < count && k < MOST_SEEDS; ++k) {
    seed_t* seed = &seeds[seed_count];
    if (test_network_build(&networks[k], registry, &build, &seed->plan) != TENON_OK ||
        tenon_plan_get_data(seed->plan, &seed->data, &seed->size) != TENON_OK) {
      abort(); /* the plugins are not there */
    }
    names[seed_count++] = networks[k].name;
  }
}

/* ---- The plan ---- */

static const tenon__operator_t* find_operator(void* user, const char* name) {
  return tenon__catalog_operator(user, name, NULL);
}

/* The file that the edits make of the seed; NULL when the plan can no longer be written. */
static uint8_t* make_file(const seed_t* seed, const edits_t* edits, size_t* out_size) {
  const tenon_allocator_t allocator = tenon__allocator_default();
  tenon__plan_t* plan = NULL;
  void* file = NULL;
  if (tenon__plan_read(allocator, seed->data, seed->size, find_operator, registry->catalog, NULL,
                       &plan) != TENON_OK) {
    abort();
  }
  edits_apply(edits, plan);
  if (tenon__plan_write(plan, allocator, NULL, &file, out_size) != TENON_OK) {
    file = NULL;
  } else {
    edits_apply_to_file(edits, file, *out_size);
  }
  tenon__plan_destroy(plan);
  return file;
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
  tenon_io_info_t info;
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

static jmp_buf away;
static uint32_t step_count;

/* A body that somebody made up may never end. Between two steps nothing is held. */
static void count_step(void* user, uint32_t step, double seconds) {
  (void)user;
  (void)step;
  (void)seconds;
  if (++step_count > MOST_STEPS) {
    longjmp(away, 1);
  }
}

static void run(tenon_engine_t* engine, tenon_context_t* context, uint32_t number) {
  input_t inputs[MOST_INPUTS];
  const uint32_t count = tenon_engine_input_count(engine);
  bool good = count <= MOST_INPUTS;
  memset(inputs, 0, sizeof inputs);
  for (uint32_t k = 0; good && k < count; ++k) {
    good = set_input(engine, context, k, number, &inputs[k]);
  }
  step_count = 0;
  if (good && setjmp(away) == 0 && tenon_context_run(context) == TENON_OK) {
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
    tenon_step_info_t step;
    const uint32_t* sources = NULL;
    uint32_t count = 0;
    if (tenon_engine_get_step(engine, k, &step) == TENON_OK) {
      sum += strlen(step.name) + strlen(step.inputs) + strlen(step.outputs) + strlen(step.nodes);
    }
    (void)tenon_engine_get_step_sources(engine, k, &sources, &count);
  }
}

static void use(const uint8_t* file, size_t size, bool refits) {
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  if (tenon_engine_create_from_memory(registry, file, size, NULL, &engine) != TENON_OK) {
    return;
  }
  describe(engine);
  tenon_context_options_t options = TENON_OPTIONS(tenon_context_options_t);
  options.thread_count = 1;
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
  tenon_engine_release(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  edits_t edits;
  if (registry == NULL) {
    begin();
  }
  edits_parse(data, size, &edits);
  for (uint32_t k = 0; k < seed_count; ++k) {
    size_t file_size = 0;
    uint8_t* file =
        strcmp(names[k], edits.network) == 0 ? make_file(&seeds[k], &edits, &file_size) : NULL;
    if (file != NULL) {
      use(file, file_size, edits_refit(&edits));
      tenon__free(tenon__allocator_default(), file, file_size);
    }
  }
  return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  edits_t edits;
  uint64_t random = seed;
  if (registry == NULL) {
    begin();
  }
  edits_parse(data, size, &edits);
  const uint32_t count = 1 + seed % 3;
  for (uint32_t k = 0; k < count; ++k) {
    edits_mutate(&edits, &random, names, seed_count);
  }
  return edits_print(&edits, (char*)data, max_size);
}

/* The first's network, some of the edits of both. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1, const uint8_t* data2,
                                 size_t size2, uint8_t* out, size_t max_out_size,
                                 unsigned int seed) {
  edits_t first;
  edits_t second;
  edits_parse(data1, size1, &first);
  edits_parse(data2, size2, &second);
  for (uint32_t k = 0; k < second.count && first.count < EDIT_MOST; ++k) {
    if ((seed >> k & 1u) != 0) {
      first.items[first.count++] = second.items[k];
    }
  }
  return edits_print(&first, (char*)out, max_out_size);
}
