/*
 * A decoder of make.py, token by token, against the same decoder over all tokens at once:
 *
 *   decoder FOLDER DEVICE [--measure]
 *
 * Exits with 77 where there is no such device.
 *
 * With its caches as states, and as inputs and outputs that lie in the device's memory. What copies
 * the plans have between memories is looked at too: none of a cache.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tenon/tenon.h"

#define TRY(call)                \
  status = (call);               \
  if (has_failed(status, #call)) \
  goto done

static int has_failed(tenon_status_t status, const char* call) {
  if (status != TENON_OK) {
    (void)printf("%s: %s\n%s\n", call, tenon_status_text(status), tenon_last_message());
  }
  return status != TENON_OK;
}

/* Sums of some hundred products in another order, of numbers around 1, in a few layers. */
static const double tolerance = 2e-4;

enum { MOST_RANK = 4, MOST_CACHES = 128 };

typedef struct decoder_t {
  tenon_engine_t* engine;
  tenon_context_t* context;
  const char* device;
  int64_t capacity;
  int64_t vocabulary;
} decoder_t;

/* What all of them are compared with: logits of each token. */
typedef struct truth_t {
  int64_t count;
  int64_t* ids;
  int64_t* positions;
  float* logits;
  int64_t vocabulary;
} truth_t;

typedef struct settings_t {
  tenon_registry_t* registry;
  const char* folder;
  const char* device;
  uint32_t no_measuring;
} settings_t;

static double seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void report(void* user, int32_t severity, const char* message) {
  (void)user;
  if (severity >= TENON_SEVERITY_WARNING) {
    (void)printf("%s\n", message);
  }
}

/* ---- Building ---- */

static int is_past(const char* name) {
  return strncmp(name, "past_", 5) == 0;
}

static tenon_status_t make_states(tenon_network_t* network) {
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < tenon_network_input_count(network);) {
    tenon_io_info_t input = {.size = sizeof(input)};
    char past[64];
    char present[64];
    TRY(tenon_network_get_input(network, i, &input));
    if (!is_past(input.name)) {
      ++i;
      continue;
    }
    (void)snprintf(past, sizeof past, "%s", input.name);
    (void)snprintf(present, sizeof present, "present_%s", input.name + 5);
    TRY(tenon_network_make_state(network, past, present));
  }
done:
  return status;
}

/* From no rows to all but one. */
typedef struct ranges_t {
  uint32_t count;
  char names[MOST_CACHES][64];
  int64_t dims[MOST_CACHES][3][MOST_RANK];
  tenon_profile_range_t items[MOST_CACHES];
} ranges_t;

static tenon_status_t fill_ranges(const tenon_network_t* network, int64_t capacity,
                                  ranges_t* ranges) {
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < tenon_network_input_count(network); ++i) {
    tenon_io_info_t input = {.size = sizeof(input)};
    TRY(tenon_network_get_input(network, i, &input));
    if (!is_past(input.name) || ranges->count == MOST_CACHES) {
      continue;
    }
    const uint32_t at = ranges->count++;
    const int64_t rows[3] = {0, capacity / 2, capacity - 1};
    (void)snprintf(ranges->names[at], sizeof ranges->names[at], "%s", input.name);
    for (uint32_t k = 0; k < 3; ++k) {
      for (uint32_t d = 0; d < MOST_RANK; ++d) {
        ranges->dims[at][k][d] = d == 2 ? rows[k] : input.dims[d];
      }
    }
    ranges->items[at] = (tenon_profile_range_t){ranges->names[at], MOST_RANK, ranges->dims[at][0],
                                                ranges->dims[at][1], ranges->dims[at][2]};
  }
done:
  return status;
}

static tenon_status_t open_decoder(const settings_t* settings, const char* form, const char* device,
                                   int64_t capacity, decoder_t* out_decoder) {
  char path[4096];
  tenon_status_t status = TENON_OK;
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  ranges_t* ranges = calloc(1, sizeof *ranges);
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.device = device;
  options.permits = TENON_PERMIT_NOTHING;
  options.no_measuring = settings->no_measuring;
  (void)snprintf(path, sizeof path, "%s/%s.onnx", settings->folder, form);
  out_decoder->device = device;
  TRY(tenon_network_create(settings->registry, &network));
  TRY(tenon_network_parse_file(network, path, NULL));
  if (strcmp(form, "states") == 0) {
    TRY(make_states(network));
  }
  TRY(fill_ranges(network, capacity, ranges));
  const tenon_profile_t profile = {{ranges->items, ranges->count, sizeof(*ranges->items)}};
  options.profiles = (tenon_list_t){&profile, ranges->count > 0 ? 1 : 0, sizeof(profile)};
  TRY(tenon_build(network, &options, &plan));
  TRY(tenon_engine_create_from_plan(settings->registry, plan, NULL, &out_decoder->engine));
  TRY(tenon_context_create(out_decoder->engine, NULL, &out_decoder->context));
done:
  free(ranges);
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  return status;
}

static void close_decoder(decoder_t* decoder) {
  tenon_context_destroy(decoder->context);
  tenon_engine_release(decoder->engine);
}

/* ---- Running ---- */

static tenon_status_t set_numbers(const decoder_t* decoder, const char* name, int64_t* numbers,
                                  uint32_t rank, const int64_t* dims) {
  tenon_status_t status = TENON_OK;
  uint32_t index = 0;
  static const int64_t ones[MOST_RANK] = {1, 1, 1, 1};
  int64_t strides[2] = {dims[rank - 1], 1};
  const tenon_tensor_view_t view = {.data = numbers,
                                    .dims = dims,
                                    .strides = rank == 1 ? ones : strides,
                                    .rank = rank,
                                    .dtype = TENON_DTYPE_INT64,
                                    .layout = TENON_NONE};
  TRY(tenon_engine_find_input(decoder->engine, name, &index));
  TRY(tenon_context_set_input(decoder->context, index, &view));
done:
  return status;
}

static tenon_status_t get_logits(const decoder_t* decoder, const float** out_logits) {
  tenon_status_t status = TENON_OK;
  uint32_t index = 0;
  tenon_tensor_view_t view;
  TRY(tenon_engine_find_output(decoder->engine, "logits", &index));
  TRY(tenon_context_get_output(decoder->context, index, &view));
  *out_logits = view.data;
done:
  return status;
}

static tenon_status_t make_truth(const settings_t* settings, truth_t* out_truth) {
  tenon_status_t status = TENON_OK;
  decoder_t decoder = {0};
  tenon_io_info_t logits = {.size = sizeof(logits)};
  uint32_t index = 0;
  const float* found = NULL;
  TRY(open_decoder(settings, "whole", "cpu", 0, &decoder));
  TRY(tenon_engine_find_output(decoder.engine, "logits", &index));
  TRY(tenon_engine_get_output(decoder.engine, index, &logits));
  const int64_t count = logits.dims[1];
  const size_t size = (size_t)(count * logits.dims[2]) * sizeof(float);
  *out_truth = (truth_t){.count = count, .vocabulary = logits.dims[2]};
  out_truth->ids = calloc((size_t)count, sizeof(int64_t));
  out_truth->positions = calloc((size_t)count, sizeof(int64_t));
  out_truth->logits = malloc(size);
  for (int64_t k = 0; k < count; ++k) {
    out_truth->ids[k] = k * 7919 % out_truth->vocabulary;
    out_truth->positions[k] = k;
  }
  TRY(set_numbers(&decoder, "ids", out_truth->ids, 2, (const int64_t[]){1, count}));
  TRY(set_numbers(&decoder, "position", out_truth->positions, 1, &count));
  TRY(tenon_context_run(decoder.context));
  TRY(get_logits(&decoder, &found));
  memcpy(out_truth->logits, found, size);
done:
  close_decoder(&decoder);
  return status;
}

static tenon_status_t set_token(const decoder_t* decoder, const truth_t* truth, int64_t token) {
  static const int64_t ones[] = {1, 1};
  tenon_status_t status = TENON_OK;
  TRY(set_numbers(decoder, "ids", &truth->ids[token], 2, ones));
  TRY(set_numbers(decoder, "position", &truth->positions[token], 1, ones));
done:
  return status;
}

/* How far the logits of one token are from what they should be, the largest of them being 1. */
static tenon_status_t add_difference(const decoder_t* decoder, const truth_t* truth, int64_t token,
                                     double* inout_worst) {
  tenon_status_t status = TENON_OK;
  const float* found = NULL;
  const float* expected = truth->logits + token * truth->vocabulary;
  double largest = 0;
  double worst = 0;
  TRY(get_logits(decoder, &found));
  for (int64_t k = 0; k < truth->vocabulary; ++k) {
    const double difference = fabs((double)found[k] - (double)expected[k]);
    largest = fmax(largest, fabs((double)expected[k]));
    worst = isnan(difference) ? INFINITY : fmax(worst, difference);
  }
  *inout_worst = fmax(*inout_worst, worst / largest);
done:
  return status;
}

static int tell(const decoder_t* decoder, const char* form, int64_t tokens, double worst,
                double took) {
  const int is_good = worst < tolerance;
  (void)printf("%s on %s: %lld tokens, %.2f ms each, differ by %.2g at most: %s\n", form,
               decoder->device, (long long)tokens, took * 1e3 / (double)tokens, worst,
               is_good ? "right" : "WRONG");
  return is_good;
}

/* ---- What the plan copies ---- */

static int is_of_cache(const char* text) {
  return strstr(text, "past_") != NULL || strstr(text, "present_") != NULL;
}

/* Steps that move a cache, or a part of one, and compute nothing: from one memory to another
 * (`kind` "copy"), or within one. */
static tenon_status_t count_moves(const decoder_t* decoder, int is_between, uint32_t* out_count) {
  tenon_status_t status = TENON_OK;
  *out_count = 0;
  for (uint32_t k = 0; k < tenon_engine_step_count(decoder->engine); ++k) {
    tenon_step_info_t info = {.size = sizeof(info)};
    TRY(tenon_engine_get_step(decoder->engine, k, &info));
    const int crosses = strcmp(info.kind, "copy") == 0 && info.kernel[0] == '\0';
    const int moves = crosses || strcmp(info.kind, "copy") == 0 ||
                      strstr(info.kernel, "move") != NULL || strstr(info.kernel, "copy") != NULL;
    *out_count +=
        moves && crosses == is_between && (is_of_cache(info.inputs) || is_of_cache(info.outputs))
            ? 1
            : 0;
  }
done:
  return status;
}

/* ---- The caches as states ---- */

static tenon_status_t run_states(const settings_t* settings, const truth_t* truth, int* out_good) {
  tenon_status_t status = TENON_OK;
  decoder_t decoder = {0};
  double worst = 0;
  uint32_t crossings = 0;
  uint32_t moves = 0;
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  TRY(open_decoder(settings, "states", settings->device, 0, &decoder));
  TRY(count_moves(&decoder, 1, &crossings));
  TRY(count_moves(&decoder, 0, &moves));
  TRY(tenon_engine_get_info(decoder.engine, &info));
  const double begin = seconds();
  for (int64_t token = 0; token < truth->count; ++token) {
    TRY(set_token(&decoder, truth, token));
    TRY(tenon_context_run(decoder.context));
    TRY(add_difference(&decoder, truth, token, &worst));
  }
  *out_good = tell(&decoder, "states", truth->count, worst, seconds() - begin);
  (void)printf("states: %.1f MiB; steps that copy a cache between memories %u, within one %u\n",
               (double)info.state_bytes / 1048576, crossings, moves);
  worst = 0;
  TRY(tenon_context_reset_states(decoder.context));
  TRY(set_token(&decoder, truth, 0));
  TRY(tenon_context_run(decoder.context));
  TRY(add_difference(&decoder, truth, 0, &worst));
  *out_good = *out_good && worst < tolerance && crossings == 0 && moves == 0;
done:
  close_decoder(&decoder);
  return status;
}

/* ---- The caches as inputs and outputs ---- */

/* One cache in two blocks that take turns: what was written last is read next. */
typedef struct cache_t {
  uint32_t input;
  uint32_t output;
  int64_t dims[MOST_RANK];
  size_t bytes;
  void* blocks[2];
} cache_t;

static int is_host(const decoder_t* decoder) {
  return strcmp(decoder->device, "cpu") == 0;
}

static tenon_status_t allocate(const decoder_t* decoder, size_t bytes, void** out_block) {
  if (!is_host(decoder)) {
    return tenon_engine_allocate(decoder->engine, bytes, out_block);
  }
  *out_block = calloc(1, bytes);
  return *out_block == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t open_caches(const decoder_t* decoder, int64_t capacity, cache_t* caches,
                                  uint32_t* out_count) {
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < tenon_engine_input_count(decoder->engine); ++i) {
    tenon_io_info_t input = {.size = sizeof(input)};
    char present[64];
    TRY(tenon_engine_get_input(decoder->engine, i, &input));
    if (!is_past(input.name) || *out_count == MOST_CACHES) {
      continue;
    }
    cache_t* cache = &caches[(*out_count)++];
    *cache = (cache_t){.input = i, .dims = {1, input.dims[1], 0, input.dims[3]}};
    cache->bytes = (size_t)(input.dims[1] * capacity * input.dims[3]) * sizeof(float);
    (void)snprintf(present, sizeof present, "present_%s", input.name + 5);
    TRY(tenon_engine_find_output(decoder->engine, present, &cache->output));
    TRY(allocate(decoder, cache->bytes, &cache->blocks[0]));
    TRY(allocate(decoder, cache->bytes, &cache->blocks[1]));
  }
done:
  return status;
}

static void close_caches(const decoder_t* decoder, cache_t* caches, uint32_t count) {
  for (uint32_t k = 0; k < 2 * count; ++k) {
    cache_t* cache = &caches[k / 2];
    if (is_host(decoder)) {
      free(cache->blocks[k % 2]);
    } else {
      tenon_engine_free(decoder->engine, cache->blocks[k % 2], cache->bytes);
    }
  }
}

static tenon_status_t lend_past(const decoder_t* decoder, const cache_t* cache,
                                const tenon_tensor_view_t* view) {
  return is_host(decoder) ? tenon_context_set_input(decoder->context, cache->input, view)
                          : tenon_context_set_input_on_device(decoder->context, cache->input, view);
}

static tenon_status_t lend_present(const decoder_t* decoder, const cache_t* cache,
                                   const tenon_tensor_view_t* view) {
  return is_host(decoder)
             ? tenon_context_set_output(decoder->context, cache->output, view)
             : tenon_context_set_output_on_device(decoder->context, cache->output, view);
}

/* `rows` of them were written. */
static tenon_status_t lend(const decoder_t* decoder, cache_t* cache, int64_t rows) {
  tenon_status_t status = TENON_OK;
  for (int k = 0; k < 2; ++k) {
    const int64_t dims[] = {1, cache->dims[1], rows + k, cache->dims[3]};
    const int64_t strides[] = {dims[1] * dims[2] * dims[3], dims[2] * dims[3], dims[3], 1};
    const tenon_tensor_view_t view = {.data = cache->blocks[(rows + k) % 2],
                                      .dims = dims,
                                      .strides = strides,
                                      .rank = MOST_RANK,
                                      .dtype = TENON_DTYPE_FLOAT32,
                                      .layout = TENON_NONE};
    TRY(k == 0 ? lend_past(decoder, cache, &view) : lend_present(decoder, cache, &view));
  }
done:
  return status;
}

static tenon_status_t lend_all(const decoder_t* decoder, cache_t* caches, uint32_t count,
                               int64_t rows) {
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < count && status == TENON_OK; ++k) {
    status = lend(decoder, &caches[k], rows);
  }
  return status;
}

static tenon_status_t run_past(const settings_t* settings, const truth_t* truth, int64_t capacity,
                               int* out_good) {
  tenon_status_t status = TENON_OK;
  decoder_t decoder = {0};
  double worst = 0;
  uint32_t count = 0;
  uint32_t moves = 0;
  cache_t* caches = calloc(MOST_CACHES, sizeof *caches);
  TRY(open_decoder(settings, "past", settings->device, capacity, &decoder));
  TRY(open_caches(&decoder, capacity, caches, &count));
  TRY(count_moves(&decoder, 0, &moves));
  const double begin = seconds();
  for (int64_t token = 0; token < truth->count; ++token) {
    TRY(set_token(&decoder, truth, token));
    TRY(lend_all(&decoder, caches, count, token));
    TRY(tenon_context_run(decoder.context));
    TRY(add_difference(&decoder, truth, token, &worst));
  }
  *out_good = tell(&decoder, "past", truth->count, worst, seconds() - begin);
  (void)printf("past: %u caches; steps that copy one within its memory %u\n", count, moves);
  *out_good = *out_good && moves == count; /* each is concatenated once */
done:
  close_caches(&decoder, caches, count);
  free(caches);
  close_decoder(&decoder);
  return status;
}

int main(int argc, char** argv) {
  tenon_status_t status = TENON_OK;
  truth_t truth = {0};
  int states = 0;
  int past = 0;
  if (argc < 3) {
    (void)printf("decoder FOLDER DEVICE [--measure]\n");
    return 2;
  }
  settings_t settings = {.folder = argv[1],
                         .device = argv[2],
                         .no_measuring = argc > 3 && strcmp(argv[3], "--measure") == 0 ? 0 : 1};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.logger.report = report;
  TRY(tenon_registry_create(&options, &settings.registry));
  TRY(make_truth(&settings, &truth));
  TRY(run_states(&settings, &truth, &states));
  TRY(run_past(&settings, &truth, truth.count, &past));
done:
  free(truth.ids);
  free(truth.positions);
  free(truth.logits);
  tenon_registry_release(settings.registry);
  return status == TENON_ERROR_NOT_FOUND        ? 77 /* no such device here */
         : status == TENON_OK && states && past ? 0
                                                : 1;
}
