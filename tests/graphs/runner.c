/* Builds and runs models for graphs.py. Requests arrive on stdin, results leave on stdout. One
 * process serves many requests, so plugins and devices are loaded once. If a request ends the
 * process, graphs.py starts another one.
 *
 * Request (little-endian; a text or blob is u32 size and bytes):
 *   text options     words separated by spaces: no-measuring no-fusion reference file refit
 *                    device=NAME threads=N (default: 1)
 *   blob model       an ONNX file
 *   u32 count        inputs: text name, u32 dtype, u32 rank, i64 dims[rank], blob data
 *   u32 count        profile ranges: text name, u32 rank, i64 min[rank], opt[rank], max[rank]
 *   u32 count        weights for a refit: text name, blob data
 * Result: u32 status, text message, u32 count of outputs: u32 dtype, u32 rank, i64 dims[rank],
 * blob data. Data is row-major. A tensor of strings is a text for each element. Status 100: the
 * engine cannot replace a weight, or needs another plan for it. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tenon/tenon.h"

enum { REFIT_REFUSED = 100, MAX_ITEMS = 4096 };

typedef struct item_t {
  char* name;
  uint32_t dtype;
  uint32_t rank;
  int64_t* dims; /* of a range: min, optimum, max */
  void* data;
  void* texts; /* of strings: the blob that `data` views */
  uint32_t size_bytes;
} item_t;

typedef struct items_t {
  item_t* items;
  uint32_t count;
} items_t;

typedef struct request_t {
  char* options;
  void* model;
  uint32_t model_size;
  items_t inputs;
  items_t ranges;
  items_t weights;
} request_t;

typedef struct run_t {
  tenon_network_t* network;
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
  bool refuses_refit;
  const char* missing; /* a weight that the engine does not list */
} run_t;

/* ---- Reading --------------------------------------------------------------------------------- */

static void stop(const char* reason) {
  (void)fprintf(stderr, "runner: %s\n", reason);
  exit(2);
}

static void* allocate(size_t size) {
  void* block = calloc(1, size > 0 ? size : 1);
  if (block == NULL) {
    stop("out of memory");
  }
  return block;
}

static void read_bytes(void* target, size_t size) {
  if (size > 0 && fread(target, 1, size, stdin) != size) {
    stop("the request is incomplete");
  }
}

static uint32_t read_u32(void) {
  uint32_t value = 0;
  read_bytes(&value, sizeof(value));
  return value;
}

/* The blob ends with NUL, so that it can be a text. */
static void* read_blob(uint32_t* out_size) {
  const uint32_t size = read_u32();
  char* data = allocate((size_t)size + 1);
  read_bytes(data, size);
  if (out_size != NULL) {
    *out_size = size;
  }
  return data;
}

static uint32_t read_rank(void) {
  const uint32_t rank = read_u32();
  if (rank > TENON_RANK_LIMIT) {
    stop("the rank is too large");
  }
  return rank;
}

static items_t make_items(void) {
  const uint32_t count = read_u32();
  if (count > MAX_ITEMS) {
    stop("too many items");
  }
  return (items_t){allocate(count * sizeof(item_t)), count};
}

static void read_dims(item_t* item, uint32_t times) {
  item->rank = read_rank();
  const size_t size = (size_t)item->rank * times * sizeof(int64_t);
  item->dims = allocate(size);
  read_bytes(item->dims, size);
}

/* Turns a text for each element into views. The texts stay in the blob. */
static void view_strings(item_t* item) {
  size_t count = 1;
  for (uint32_t k = 0; k < item->rank; ++k) {
    count *= (size_t)item->dims[k];
  }
  tenon_string_view_t* views = allocate(count * sizeof(*views));
  const char* at = item->data;
  for (size_t i = 0; i < count; ++i) {
    uint32_t size = 0;
    memcpy(&size, at, sizeof(size));
    views[i] = (tenon_string_view_t){at + sizeof(size), size};
    at += sizeof(size) + size;
  }
  item->texts = item->data;
  item->data = views;
}

static bool read_request(request_t* request) {
  const int first = getc(stdin);
  if (first == EOF) {
    return false;
  }
  (void)ungetc(first, stdin);
  request->options = read_blob(NULL);
  request->model = read_blob(&request->model_size);
  request->inputs = make_items();
  for (uint32_t i = 0; i < request->inputs.count; ++i) {
    item_t* item = &request->inputs.items[i];
    item->name = read_blob(NULL);
    item->dtype = read_u32();
    read_dims(item, 1);
    item->data = read_blob(&item->size_bytes);
    if (item->dtype == TENON_DTYPE_STRING) {
      view_strings(item);
    }
  }
  request->ranges = make_items();
  for (uint32_t i = 0; i < request->ranges.count; ++i) {
    request->ranges.items[i].name = read_blob(NULL);
    read_dims(&request->ranges.items[i], 3);
  }
  request->weights = make_items();
  for (uint32_t i = 0; i < request->weights.count; ++i) {
    item_t* item = &request->weights.items[i];
    item->name = read_blob(NULL);
    item->data = read_blob(&item->size_bytes);
  }
  return true;
}

static void free_items(items_t* items) {
  for (uint32_t i = 0; i < items->count; ++i) {
    free(items->items[i].name);
    free(items->items[i].dims);
    free(items->items[i].data);
    free(items->items[i].texts);
  }
  free(items->items);
}

static void free_request(request_t* request) {
  free(request->options);
  free(request->model);
  free_items(&request->inputs);
  free_items(&request->ranges);
  free_items(&request->weights);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_bytes(const void* data, size_t size) {
  if (size > 0 && fwrite(data, 1, size, stdout) != size) {
    stop("the result cannot be written");
  }
}

static void write_u32(uint32_t value) {
  write_bytes(&value, sizeof(value));
}

static void write_text(const char* text, size_t size) {
  write_u32((uint32_t)size);
  write_bytes(text, size);
}

static size_t count_elements(const tenon_tensor_view_t* view) {
  size_t count = 1;
  for (uint32_t k = 0; k < view->rank; ++k) {
    count *= (size_t)view->dims[k];
  }
  return count;
}

/* Bytes from the first element to element `index` of the row-major order. */
static ptrdiff_t offset_of(const tenon_tensor_view_t* view, size_t index, size_t element_size) {
  ptrdiff_t offset = 0;
  if (view->strides == NULL) {
    return (ptrdiff_t)(index * element_size);
  }
  for (uint32_t k = view->rank; k-- > 0;) {
    const size_t dim = (size_t)view->dims[k];
    offset += (ptrdiff_t)(index % dim) * (ptrdiff_t)view->strides[k] * (ptrdiff_t)element_size;
    index /= dim;
  }
  return offset;
}

static void write_strings(const tenon_tensor_view_t* view) {
  const size_t count = count_elements(view);
  size_t size = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < count; ++i) {
      const ptrdiff_t offset = offset_of(view, i, sizeof(tenon_string_view_t));
      const tenon_string_view_t* text =
          (const tenon_string_view_t*)(const void*)((const char*)view->data + offset);
      if (pass == 0) {
        size += sizeof(uint32_t) + text->size;
      } else {
        write_text(text->data, text->size);
      }
    }
    if (pass == 0) {
      write_u32((uint32_t)size);
    }
  }
}

static void write_output(const tenon_tensor_view_t* view) {
  write_u32(view->dtype);
  write_u32(view->rank);
  write_bytes(view->dims, view->rank * sizeof(int64_t));
  if (view->dtype == TENON_DTYPE_STRING) {
    write_strings(view);
    return;
  }
  const size_t element_size = tenon_dtype_bits(view->dtype) / 8;
  const size_t count = count_elements(view);
  write_u32((uint32_t)(count * element_size));
  for (size_t i = 0; i < count; ++i) {
    write_bytes((const char*)view->data + offset_of(view, i, element_size), element_size);
  }
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool has_option(const request_t* request, const char* word) {
  const size_t size = strlen(word);
  for (const char* at = request->options; (at = strstr(at, word)) != NULL; at += size) {
    if ((at == request->options || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0')) {
      return true;
    }
  }
  return false;
}

static uint32_t read_thread_count(const request_t* request) {
  const char* word = "threads=";
  const char* named = strstr(request->options, word);
  return named != NULL ? (uint32_t)strtoul(named + strlen(word), NULL, 10) : 1;
}

static tenon_status_t build(const request_t* request, tenon_timing_cache_t* cache, run_t* run) {
  static char device[64];
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.thread_count = read_thread_count(request);
  options.timing_cache = cache;
  options.permits = TENON_PERMIT_NOTHING;
  options.no_measuring = has_option(request, "no-measuring");
  options.no_fusion = has_option(request, "no-fusion");
  options.reference_only = has_option(request, "reference");
  const char* named = strstr(request->options, "device=");
  if (named != NULL && sscanf(named, "device=%63s", device) == 1) {
    options.device = device;
  }
  tenon_profile_range_t* ranges = allocate(request->ranges.count * sizeof(*ranges));
  for (uint32_t i = 0; i < request->ranges.count; ++i) {
    const item_t* item = &request->ranges.items[i];
    ranges[i] = (tenon_profile_range_t){item->name, item->rank, item->dims, item->dims + item->rank,
                                        item->dims + (size_t)item->rank * 2};
  }
  const tenon_profile_t profile = {{ranges, request->ranges.count, sizeof(*ranges)}};
  if (request->ranges.count > 0) {
    options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  }
  const tenon_status_t status = tenon_build(run->network, &options, &run->plan);
  free(ranges);
  return status;
}

/* Loads the plan, through a file if the request says so. */
static tenon_status_t load(tenon_registry_t* registry, const request_t* request, run_t* run) {
  if (!has_option(request, "file")) {
    return tenon_engine_create_from_plan(registry, run->plan, NULL, &run->engine);
  }
  char path[] = "/tmp/tenon-graphs-XXXXXX";
  const int descriptor = mkstemp(path);
  if (descriptor < 0) {
    stop("no temporary file can be made");
  }
  (void)close(descriptor);
  tenon_status_t status = tenon_plan_save(run->plan, path);
  if (status == TENON_OK) {
    status = tenon_engine_create_from_file(registry, path, NULL, &run->engine);
  }
  (void)unlink(path);
  return status;
}

static tenon_status_t run_once(const request_t* request, run_t* run) {
  for (uint32_t i = 0; i < request->inputs.count; ++i) {
    const item_t* item = &request->inputs.items[i];
    const tenon_tensor_view_t view = {.data = item->data,
                                      .dims = item->dims,
                                      .rank = item->rank,
                                      .dtype = item->dtype,
                                      .layout = TENON_NONE};
    uint32_t index = 0;
    tenon_status_t status = tenon_engine_find_input(run->engine, item->name, &index);
    if (status == TENON_OK) {
      status = tenon_context_set_input(run->context, index, &view);
    }
    if (status != TENON_OK) {
      return status;
    }
  }
  return tenon_context_run(run->context);
}

static bool is_weight(const tenon_engine_t* engine, const char* name) {
  for (uint32_t i = 0; i < tenon_engine_weights_count(engine); ++i) {
    if (strcmp(tenon_engine_get_weights_name(engine, i), name) == 0) {
      return true;
    }
  }
  return false;
}

/* A weight that the engine does not list cannot be replaced. */
static tenon_status_t refit(const request_t* request, run_t* run) {
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < request->weights.count && status == TENON_OK; ++i) {
    const item_t* item = &request->weights.items[i];
    if (!is_weight(run->engine, item->name)) {
      run->missing = item->name;
      run->refuses_refit = true;
      return TENON_ERROR_NOT_FOUND;
    }
    status = tenon_engine_set_weights(run->engine, item->name, item->data, item->size_bytes);
  }
  if (status == TENON_OK) {
    status = tenon_engine_commit_weights(run->engine);
  }
  run->refuses_refit = status == TENON_ERROR_UNSUPPORTED;
  return status;
}

static tenon_status_t execute(tenon_registry_t* registry, tenon_timing_cache_t* cache,
                              const request_t* request, run_t* run) {
  tenon_status_t status = tenon_network_create(registry, &run->network);
  if (status == TENON_OK) {
    status = tenon_network_parse_memory(run->network, request->model, request->model_size, "graph",
                                        NULL);
  }
  if (status == TENON_OK) {
    status = build(request, cache, run);
  }
  if (status == TENON_OK) {
    status = load(registry, request, run);
  }
  if (status == TENON_OK) {
    status = tenon_context_create(run->engine, NULL, &run->context);
  }
  if (status == TENON_OK && has_option(request, "refit")) {
    status = run_once(request, run);
    status = status == TENON_OK ? refit(request, run) : status;
  }
  return status == TENON_OK ? run_once(request, run) : status;
}

static void answer(const run_t* run, tenon_status_t status) {
  const char* message = status == TENON_OK     ? ""
                        : run->missing != NULL ? run->missing
                                               : tenon_last_message();
  const uint32_t count = status == TENON_OK ? tenon_engine_output_count(run->engine) : 0;
  write_u32(run->refuses_refit ? REFIT_REFUSED : (uint32_t)status);
  write_text(message, strlen(message));
  write_u32(count);
  for (uint32_t i = 0; i < count; ++i) {
    tenon_tensor_view_t view = {0};
    if (tenon_context_get_output(run->context, i, &view) != TENON_OK) {
      stop("an output is no tensor");
    }
    write_output(&view);
  }
  if (fflush(stdout) != 0) {
    stop("the result cannot be written");
  }
}

int main(void) {
  tenon_registry_t* registry = NULL;
  tenon_timing_cache_t* cache = NULL;
  if (tenon_registry_create(NULL, &registry) != TENON_OK ||
      tenon_timing_cache_create(registry, NULL, &cache) != TENON_OK) {
    stop(tenon_last_message());
  }
  request_t request = {0};
  while (read_request(&request)) {
    run_t run = {0};
    const tenon_status_t status = execute(registry, cache, &request, &run);
    answer(&run, status);
    tenon_context_destroy(run.context);
    tenon_engine_release(run.engine);
    tenon_plan_destroy(run.plan);
    tenon_network_destroy(run.network);
    free_request(&request);
    request = (request_t){0};
  }
  tenon_timing_cache_destroy(cache);
  tenon_registry_release(registry);
  return 0;
}
