/* Giving up: a run that another thread ends, after which the context runs on; and a build that its
 * progress function ends. The network is a loop, y = x + 1 as often as its trip count says. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "example.h"

static tenon_status_t build_body(tenon_builder_t* builder, tenon_value_t x, uint32_t* out_body) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  const uint32_t kind = TENON_ARGUMENT_TENSOR;
  tenon_status_t status = TENON_OK;
  tenon_value_t iteration;
  tenon_value_t condition;
  tenon_value_t h;
  tenon_value_t next;
  TRY(table->begin_body(builder, "body"));
  TRY(table->body_parameter(builder, "i", kind, TENON_DTYPE_INT64, 0, NULL, &iteration));
  TRY(table->body_parameter(builder, "go", kind, TENON_DTYPE_BOOL, 0, NULL, &condition));
  TRY(table->body_parameter_like(builder, "h", x, &h));
  TRY(table->expression(builder, "y = h + 1", (const char* const[]){"h"}, &h, 1, "one_more",
                        &next));
  TRY(table->body_result(builder, condition));
  TRY(table->body_result(builder, next));
  TRY(table->end_body(builder, out_body));
done:
  return status;
}

static tenon_status_t build_network(tenon_network_t* network) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = tenon_network_get_builder(network);
  tenon_status_t status = TENON_OK;
  tenon_value_t trips;
  tenon_value_t x;
  tenon_value_t y;
  uint32_t body = 0;
  TRY(tenon_network_add_input(network, "trips", TENON_DTYPE_INT64, 0, NULL, &trips));
  TRY(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 0, NULL, &x));
  TRY(build_body(builder, x, &body));
  TRY(table->begin(builder, "standard.repetition/1", "loop"));
  TRY(table->attribute_int(builder, "carried_count", 1));
  TRY(table->add_input(builder, trips));
  TRY(table->add_input(builder, (tenon_value_t){0})); /* no condition at the beginning */
  TRY(table->add_input(builder, x));
  TRY(table->add_body(builder, body));
  TRY(table->output_count(builder, 1));
  TRY(table->end(builder, &y, 1));
  TRY(tenon_network_add_output(network, y, "y"));
done:
  return status;
}

/* Gives up when kernels are about to be chosen. */
static int32_t on_progress(void* user, const char* phase, uint32_t done, uint32_t total) {
  (void)user;
  (void)done;
  (void)total;
  return strcmp(phase, "choose") == 0;
}

typedef struct watch_t {
  tenon_context_t* context;
  atomic_int is_over;
} watch_t;

/* Cancelling before the run has begun does nothing: it is done again. */
static void* watch(void* user) {
  watch_t* it = user;
  while (atomic_load(&it->is_over) == 0) {
    tenon_context_cancel(it->context);
  }
  return NULL;
}

static tenon_status_t run_and_cancel(tenon_context_t* context) {
  watch_t it = {.context = context};
  pthread_t thread;
  if (pthread_create(&thread, NULL, watch, &it) != 0) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon_status_t status = tenon_context_run(context);
  atomic_store(&it.is_over, 1);
  (void)pthread_join(thread, NULL);
  (void)printf("a long run: %s\n", tenon_status_text(status));
  return TENON_OK;
}

static tenon_status_t set_scalar(tenon_context_t* context, uint32_t index, tenon_dtype_t dtype,
                                 void* data) {
  const tenon_tensor_view_t view = {.data = data, .dtype = dtype, .layout = TENON_NONE};
  return tenon_context_set_input(context, index, &view);
}

int main(void) {
  tenon_status_t status = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_tensor_view_t y;
  int64_t trips = INT64_C(1) << 50;
  float x = 4;
  TRY(example_registry(&registry));
  TRY(tenon_network_create(registry, &network));
  TRY(build_network(network));
  options.progress = on_progress;
  (void)printf("a build: %s\n", tenon_status_text(tenon_build(network, &options, &plan)));
  TRY(tenon_build(network, NULL, &plan));
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  TRY(tenon_context_create(engine, NULL, &context));
  TRY(set_scalar(context, 0, TENON_DTYPE_INT64, &trips));
  TRY(set_scalar(context, 1, TENON_DTYPE_FLOAT32, &x));
  TRY(run_and_cancel(context));
  trips = 3;
  TRY(tenon_context_run(context));
  TRY(tenon_context_get_output(context, 0, &y));
  (void)printf("a short one: y = %g\n", (double)*(const float*)y.data);
done:
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
