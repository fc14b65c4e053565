/* One plan, an engine on each device of a name that the machine has, a thread for each: how many
 * runs a second each makes alone, and all make at once. example_several_devices MODEL DEVICE
 * [SECONDS]; inputs are zeros. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "example.h"

enum { MOST_DEVICES = 8, MOST_INPUTS = 16 };

typedef struct work_t {
  tenon_engine_t* engine;
  tenon_context_t* context;
  void* inputs[MOST_INPUTS]; /* lent to the context */
  double seconds;            /* how long it is to run */
  double rate;
  tenon_status_t status;
} work_t;

static double now(void) {
  struct timespec time;
  (void)timespec_get(&time, TIME_UTC);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void* run_thread(void* user) {
  work_t* work = user;
  tenon_status_t status = TENON_OK;
  const double begin = now();
  double end = begin;
  int count = 0;
  while (end < begin + work->seconds) {
    TRY(tenon_context_run(work->context));
    count++;
    end = now();
  }
  work->rate = count / (end - begin);
done:
  work->status = status;
  return NULL;
}

/* At the extents for which the plan was tuned; no element is larger than 16 bytes. */
static tenon_status_t set_zeros(work_t* work) {
  tenon_status_t status = TENON_OK;
  const uint32_t count = tenon_engine_input_count(work->engine);
  for (uint32_t k = 0; k < count && k < MOST_INPUTS; k++) {
    tenon_io_info_t info = {.size = sizeof(info)};
    tenon_tensor_view_t view = {.layout = TENON_NONE};
    size_t elements = 1;
    TRY(tenon_engine_get_input(work->engine, k, &info));
    TRY(tenon_engine_get_profile(work->engine, k, 1, &view.dims));
    for (uint32_t axis = 0; axis < info.rank; axis++) {
      elements *= (size_t)view.dims[axis];
    }
    work->inputs[k] = calloc(elements + 1, 16);
    if (work->inputs[k] == NULL) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
    view.data = work->inputs[k];
    view.rank = info.rank;
    view.dtype = info.dtype;
    TRY(tenon_context_set_input(work->context, k, &view));
  }
done:
  return status;
}

static tenon_status_t begin(tenon_registry_t* registry, const tenon_plan_t* plan, uint32_t index,
                            work_t* work) {
  tenon_status_t status = TENON_OK;
  tenon_engine_options_t options = TENON_OPTIONS(tenon_engine_options_t);
  options.device_index = index;
  status = tenon_engine_create_from_plan(registry, plan, &options, &work->engine);
  if (status != TENON_OK && index > 0) {
    return status; /* there are no more */
  }
  TRY(status);
  TRY(tenon_context_create(work->engine, NULL, &work->context));
  TRY(set_zeros(work));
  TRY(tenon_context_run(work->context)); /* the first takes longer */
  TRY(tenon_context_run(work->context));
done:
  return status;
}

static tenon_status_t build(tenon_registry_t* registry, const char* model, const char* device,
                            tenon_plan_t** out_plan) {
  tenon_status_t status = TENON_OK;
  tenon_network_t* network = NULL;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.device = device;
  TRY(tenon_network_create(registry, &network));
  TRY(tenon_network_parse_file(network, model, NULL));
  TRY(tenon_build(network, &options, out_plan));
done:
  tenon_network_destroy(network);
  return status;
}

/* Runs a second of all together. */
static tenon_status_t run_at_once(work_t* works, uint32_t count, double* out_rate) {
  pthread_t threads[MOST_DEVICES];
  uint32_t started = 0;
  tenon_status_t status = TENON_OK;
  while (started < count &&
         pthread_create(&threads[started], NULL, run_thread, &works[started]) == 0) {
    started++;
  }
  *out_rate = 0;
  for (uint32_t k = 0; k < started; k++) {
    (void)pthread_join(threads[k], NULL);
    status = status == TENON_OK ? works[k].status : status;
    *out_rate += works[k].rate;
  }
  return started < count ? TENON_ERROR_OUT_OF_MEMORY : status;
}

int main(int argc, char** argv) {
  tenon_status_t status = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_plan_t* plan = NULL;
  work_t works[MOST_DEVICES];
  uint32_t count = 0;
  double rate = 0;
  memset(works, 0, sizeof works);
  if (argc < 3) {
    (void)fprintf(stderr, "usage: several_devices MODEL DEVICE [SECONDS]\n");
    return 1;
  }
  TRY(example_registry(&registry));
  TRY(build(registry, argv[1], argv[2], &plan));
  for (; count < MOST_DEVICES && begin(registry, plan, count, &works[count]) == TENON_OK; count++) {
    works[count].seconds = argc > 3 ? strtod(argv[3], NULL) : 0.1;
  }
  for (uint32_t k = 0; k < count; k++) {
    TRY(run_at_once(&works[k], 1, &rate));
    (void)printf("%s:%u alone: %.1f runs a second\n", argv[2], k, rate);
  }
  TRY(run_at_once(works, count, &rate));
  (void)printf("%u at once: %.1f runs a second\n", count, rate);
  status = count == 0 ? TENON_ERROR_NOT_FOUND : status;
done:
  for (uint32_t k = 0; k < MOST_DEVICES; k++) {
    tenon_context_destroy(works[k].context);
    tenon_engine_release(works[k].engine);
    for (uint32_t i = 0; i < MOST_INPUTS; i++) {
      free(works[k].inputs[i]);
    }
  }
  tenon_plan_destroy(plan);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
