/*
 * What the engine itself costs, as one JSON object: optimising and planning a network of many
 * nodes (and of a quarter of them, to see how it grows), one step of a run, what a run allocates,
 * and how much of the arena is needed at once. Medians. Nothing is measured while building: the
 * kernels' estimates decide.
 *
 *   engine_bench [nodes [repetitions]]
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "tenon/tenon.h"

enum { REPETITION_LIMIT = 100, CHANNELS = 4 };

static size_t allocations; /* while a run is counted; the bench has one thread then */

static void* count_resize(void* user, void* block, size_t old_size, size_t new_size) {
  enum { ALIGNMENT = 64 };
  (void)user;
  ++allocations;
  void* moved = new_size == 0
                    ? NULL
                    : aligned_alloc(ALIGNMENT, (new_size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  if (moved != NULL && block != NULL) {
    memcpy(moved, block, old_size < new_size ? old_size : new_size);
  }
  if (moved != NULL || new_size == 0) {
    free(block);
  }
  return moved;
}

static const tenon_allocator_t counting = {.resize = count_resize};

static void tell(void* user, int32_t severity, const char* message) {
  (void)user;
  if (severity >= TENON_SEVERITY_WARNING) {
    (void)fprintf(stderr, "%s\n", message);
  }
}

typedef struct times_t {
  double build; /* seconds */
  double load;
  double run;
  uint32_t steps;
  size_t run_allocations;
  double arena_excess; /* arena / alive at once */
} times_t;

#define TRY(call)           \
  do {                      \
    status = (call);        \
    if (status != TENON_OK) \
      goto done;            \
  } while (0)

static tenon_status_t add(tenon_network_t* network, const char* op, uint32_t number,
                          const tenon_value_t* inputs, uint32_t count, tenon_value_t* out_value) {
  char name[32];
  (void)snprintf(name, sizeof(name), "n%u", number);
  return tenon_network_add(network, op, name, inputs, count, NULL, out_value, 1);
}

/* Blocks of matrix product, bias, max(x, 0), and a way around them: every value but the first
 * product's is read twice. */
static tenon_status_t make_network(tenon_network_t* network, uint32_t node_count) {
  static float weights[CHANNELS * CHANNELS] = {1, 0, 0, 1};
  const int64_t dims[] = {1, CHANNELS};
  const int64_t square[] = {CHANNELS, CHANNELS};
  tenon_status_t status = TENON_OK;
  tenon_value_t x;
  tenon_value_t w;
  tenon_value_t b;
  TRY(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 2, dims, &x));
  TRY(tenon_network_add_constant(network, "w", TENON_DTYPE_FLOAT32, 2, square, weights, &w));
  TRY(tenon_network_add_constant(network, "b", TENON_DTYPE_FLOAT32, 2, dims, weights, &b));
  for (uint32_t k = 0; k + 4 <= node_count; k += 4) {
    tenon_value_t product;
    tenon_value_t sum;
    tenon_value_t positive;
    TRY(add(network, "standard.mat_mul/1", k, (const tenon_value_t[]){x, w}, 2, &product));
    TRY(add(network, "standard.add/1", k + 1, (const tenon_value_t[]){product, b}, 2, &sum));
    TRY(add(network, "standard.relu/1", k + 2, &sum, 1, &positive));
    TRY(add(network, "standard.add/1", k + 3, (const tenon_value_t[]){positive, x}, 2, &x));
  }
  TRY(tenon_network_add_output(network, x, "y"));
done:
  return status;
}

static tenon_status_t time_runs(tenon_context_t* context, times_t* out_times) {
  enum { RUNS = 20 };
  float data[CHANNELS] = {1, 2, 3, 4};
  const int64_t dims[] = {1, CHANNELS};
  const tenon_tensor_view_t x = {
      .data = data, .dims = dims, .rank = 2, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
  tenon_status_t status = TENON_OK;
  TRY(tenon_context_set_input(context, 0, &x));
  TRY(tenon_context_run(context));
  allocations = 0;
  const double begin = tenon__seconds();
  for (int k = 0; k < RUNS; ++k) {
    TRY(tenon_context_run(context));
  }
  out_times->run = (tenon__seconds() - begin) / RUNS;
  out_times->run_allocations = allocations;
done:
  return status;
}

static tenon_status_t measure(tenon_registry_t* registry, uint32_t node_count, times_t* out_times) {
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  tenon_status_t status = TENON_OK;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  options.no_measuring = 1;
  options.thread_count = 1;
  TRY(tenon_network_create(registry, &network));
  TRY(make_network(network, node_count));
  double begin = tenon__seconds();
  TRY(tenon_build(network, &options, &plan));
  out_times->build = tenon__seconds() - begin;
  begin = tenon__seconds();
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  TRY(tenon_context_create(engine, NULL, &context));
  out_times->load = tenon__seconds() - begin;
  out_times->steps = tenon_engine_step_count(engine);
  TRY(tenon_engine_get_info(engine, &info));
  out_times->arena_excess =
      info.peak_alive_bytes == 0 ? 1 : (double)info.arena_bytes / (double)info.peak_alive_bytes;
  TRY(time_runs(context, out_times));
done:
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  return status;
}

static int compare(const void* a, const void* b) {
  const double left = *(const double*)a;
  const double right = *(const double*)b;
  return (left > right) - (left < right);
}

static double median(double* values, int count) {
  qsort(values, (size_t)count, sizeof(*values), compare);
  return values[count / 2];
}

static bool report(tenon_registry_t* registry, const char* label, uint32_t nodes, int repetitions) {
  static double build[REPETITION_LIMIT];
  static double load[REPETITION_LIMIT];
  static double run[REPETITION_LIMIT];
  times_t times = {0};
  for (int k = 0; k < repetitions; ++k) {
    if (measure(registry, nodes, &times) != TENON_OK) {
      return false;
    }
    build[k] = times.build;
    load[k] = times.load;
    run[k] = times.run;
  }
  (void)printf(
      "\"%s\": {\"nodes\": %u, \"build_ms\": %.3f, \"load_ms\": %.3f, \"steps\": %u, "
      "\"step_ns\": %.1f, \"run_allocations\": %zu, \"arena_to_alive\": %.4f}",
      label, nodes, 1e3 * median(build, repetitions), 1e3 * median(load, repetitions), times.steps,
      1e9 * median(run, repetitions) / (times.steps > 0 ? times.steps : 1), times.run_allocations,
      times.arena_excess);
  return true;
}

int main(int argc, char** argv) {
  const long nodes = argc > 1 ? strtol(argv[1], NULL, 10) : 10000;
  const long repetitions = argc > 2 ? strtol(argv[2], NULL, 10) : 5;
  tenon_registry_t* registry = NULL;
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.allocator = &counting;
  options.logger.report = tell;
  if (nodes < 16 || nodes > 1000000 || repetitions < 1 || repetitions > REPETITION_LIMIT ||
      tenon_registry_create(&options, &registry) != TENON_OK) {
    (void)fputs("usage: engine_bench [nodes [repetitions]]\n", stderr);
    return 2;
  }
  (void)printf("{");
  bool good = report(registry, "quarter", (uint32_t)nodes / 4, (int)repetitions);
  (void)printf(", ");
  good = good && report(registry, "whole", (uint32_t)nodes, (int)repetitions);
  (void)printf("}\n");
  tenon_registry_release(registry);
  return good ? 0 : 1;
}
