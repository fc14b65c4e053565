/* Refit: other weights in an engine that is built, without building again. */
#include "example.h"

static tenon_status_t build_network(tenon_network_t* network) {
  const float weights[] = {1, 2, 3, 4};
  tenon_status_t status = TENON_OK;
  tenon_value_t x;
  tenon_value_t w;
  tenon_value_t y;
  TRY(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 2, (const int64_t[]){1, 2}, &x));
  TRY(tenon_network_add_constant(network, "w", TENON_DTYPE_FLOAT32, 2, (const int64_t[]){2, 2},
                                 weights, &w));
  TRY(tenon_network_add(network, "standard.mat_mul/1", "dense", (const tenon_value_t[]){x, w}, 2,
                        NULL, &y, 1));
  TRY(tenon_network_add_output(network, y, "y"));
done:
  return status;
}

static tenon_status_t run(tenon_engine_t* engine) {
  tenon_status_t status = TENON_OK;
  tenon_context_t* context = NULL;
  tenon_tensor_view_t y;
  float x[] = {1, 1};
  const int64_t dims[] = {1, 2};
  const tenon_tensor_view_t view = example_floats(x, 2, dims);
  TRY(tenon_context_create(engine, NULL, &context));
  TRY(tenon_context_set_input(context, 0, &view));
  TRY(tenon_context_run(context));
  TRY(tenon_context_get_output(context, 0, &y));
  (void)printf("y = %g %g\n", (double)((const float*)y.data)[0], (double)((const float*)y.data)[1]);
done:
  tenon_context_destroy(context);
  return status;
}

int main(void) {
  tenon_status_t status = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  const float weights[] = {10, 20, 30, 40};
  TRY(example_registry(&registry));
  TRY(tenon_network_create(registry, &network));
  TRY(build_network(network));
  TRY(tenon_build(network, NULL, &plan));
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  for (uint32_t i = 0; i < tenon_engine_weights_count(engine); ++i) {
    (void)printf("weights %s\n", tenon_engine_get_weights_name(engine, i));
  }
  TRY(run(engine)); /* 4 6 */
  TRY(tenon_engine_set_weights(engine, "w", weights, sizeof(weights)));
  TRY(tenon_engine_commit_weights(engine)); /* everything derived from them is made again */
  TRY(run(engine));                         /* 40 60 */
done:
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
