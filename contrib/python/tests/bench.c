/* The calls of bench.py from C: the network, the data and the repetitions are the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tenon/tenon.h"

enum { CALLS = 5000, REPETITIONS = 9, COUNT = 16 };

static void check(tenon_status_t status) {
  if (status != TENON_OK) {
    fprintf(stderr, "%s: %s\n", tenon_status_text(status), tenon_last_message());
    exit(3);
  }
}

static double now(void) {
  struct timespec time;
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* One run; with `data`, also its input and a copy of its output. */
static void call(tenon_context_t* context, float* data) {
  static float result[COUNT];
  const int64_t dims[] = {1, COUNT};
  const tenon_tensor_view_t x = {
      .data = data, .dims = dims, .rank = 2, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
  tenon_tensor_view_t y;
  if (data != NULL) {
    check(tenon_context_set_input(context, 0, &x));
  }
  check(tenon_context_run(context));
  if (data != NULL) {
    check(tenon_context_get_output(context, 0, &y));
    memcpy(result, y.data, sizeof(result));
  }
}

static void measure(tenon_context_t* context, float* data, const char* name) {
  double best = 1e9;
  for (int k = 0; k < REPETITIONS; k++) {
    const double begin = now();
    for (int i = 0; i < CALLS; i++) {
      call(context, data);
    }
    const double seconds = (now() - begin) / CALLS;
    best = seconds < best ? seconds : best;
  }
  printf("%8.2f us  %s\n", best * 1e6, name);
}

int main(void) {
  static float data[COUNT];
  tenon_registry_t* registry = NULL;
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  tenon_value_t x = {0};
  tenon_value_t y = {0};
  const int64_t dims[] = {1, COUNT};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.thread_count = 1;
  options.no_measuring = 1;
  check(tenon_registry_create(NULL, &registry));
  check(tenon_network_create(registry, &network));
  check(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 2, dims, &x));
  check(tenon_network_add(network, "standard.relu/1", NULL, &x, 1, NULL, &y, 1));
  check(tenon_network_add_output(network, y, "y"));
  check(tenon_build(network, &options, &plan));
  check(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  check(tenon_context_create(engine, NULL, &context));
  call(context, data);
  measure(context, NULL, "C: run");
  measure(context, data, "C: set_input, run, get_output, a copy");
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return 0;
}
