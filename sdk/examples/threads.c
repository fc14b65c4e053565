/* One engine, many threads: each has a context of its own, all share the weights. */
#include <pthread.h>

#include "example.h"

enum { THREADS = 8, RUNS = 20 };

typedef struct work_t {
  tenon_engine_t* engine; /* counted */
  float first;
  float result;
  tenon_status_t status;
} work_t;

static void* run_thread(void* user) {
  work_t* work = user;
  tenon_context_t* context = NULL;
  tenon_status_t status = TENON_OK;
  tenon_tensor_view_t y;
  const int64_t dims[] = {3};
  tenon_context_options_t options = TENON_OPTIONS(tenon_context_options_t);
  options.thread_count = 1;
  TRY(tenon_context_create(work->engine, &options, &context));
  for (int i = 0; i < RUNS; ++i) {
    float x[] = {work->first, (float)i, 1};
    const tenon_tensor_view_t view = example_floats(x, 1, dims);
    TRY(tenon_context_set_input(context, 0, &view));
    TRY(tenon_context_run(context));
    TRY(tenon_context_get_output(context, 0, &y));
    work->result = ((const float*)y.data)[0];
  }
done:
  tenon_context_destroy(context);
  tenon_engine_release(work->engine);
  work->status = status;
  return NULL;
}

static tenon_status_t build_network(tenon_network_t* network) {
  tenon_status_t status = TENON_OK;
  tenon_value_t x;
  tenon_value_t y;
  TRY(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 1, (const int64_t[]){3}, &x));
  TRY(tenon_builder_get_table()->expression(tenon_network_get_builder(network),
                                            "y = x * sigmoid(x)", (const char* const[]){"x"}, &x, 1,
                                            "swish", &y));
  TRY(tenon_network_add_output(network, y, "y"));
done:
  return status;
}

int main(void) {
  tenon_status_t status = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  pthread_t threads[THREADS];
  work_t work[THREADS];
  int started = 0;
  TRY(example_registry(&registry));
  tenon_registry_retain(registry); /* counted, like engines */
  tenon_registry_release(registry);
  TRY(tenon_network_create(registry, &network));
  TRY(build_network(network));
  TRY(tenon_build(network, NULL, &plan));
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  for (; started < THREADS; ++started) {
    tenon_engine_retain(engine);
    work[started] = (work_t){.engine = engine, .first = (float)started};
    if (pthread_create(&threads[started], NULL, run_thread, &work[started]) != 0) {
      tenon_engine_release(engine);
      break;
    }
  }
  for (int i = 0; i < started; ++i) {
    (void)pthread_join(threads[i], NULL);
    status = status == TENON_OK ? work[i].status : status;
  }
  for (int i = 0; i < started && status == TENON_OK; ++i) {
    (void)printf("swish(%d) = %.4f\n", i, (double)work[i].result);
  }
done:
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
