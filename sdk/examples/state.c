/* State: what a network remembers from one execution to the next, here a running sum. Each context
 * has its own. A network that was built without one, or read from a file, gets it from an input and
 * the output that an application would give it next. */
#include "example.h"

/* sum' = sum + x; y = sum' */
static tenon_status_t build_network(tenon_network_t* network) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = tenon_network_get_builder(network);
  const int64_t dims[] = {2};
  const float initial[] = {10, 20};
  const tenon_state_descriptor_t state = {.size = sizeof(state),
                                          .name = "sum",
                                          .dtype = TENON_DTYPE_FLOAT32,
                                          .rank = 1,
                                          .dims = dims,
                                          .initial_data = initial};
  tenon_status_t status = TENON_OK;
  tenon_value_t x;
  tenon_value_t old;
  tenon_value_t sum;
  TRY(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 1, dims, &x));
  TRY(table->add_state(builder, &state, &old));
  TRY(tenon_network_add(network, "standard.add/1", "add", (const tenon_value_t[]){old, x}, 2, NULL,
                        &sum, 1));
  TRY(table->write_state(builder, "sum", sum));
  TRY(tenon_network_add_output(network, sum, "y"));
done:
  return status;
}

/* The same: sum + x, of an input that is the output of before. */
static tenon_status_t build_carried(tenon_network_t* network) {
  const int64_t dims[] = {2};
  tenon_status_t status = TENON_OK;
  tenon_value_t x;
  tenon_value_t old;
  tenon_value_t sum;
  TRY(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 1, dims, &x));
  TRY(tenon_network_add_input(network, "sum", TENON_DTYPE_FLOAT32, 1, dims, &old));
  TRY(tenon_network_add(network, "standard.add/1", "add", (const tenon_value_t[]){old, x}, 2, NULL,
                        &sum, 1));
  TRY(tenon_network_add_output(network, sum, "y"));
  TRY(tenon_network_add_output(network, sum, "next_sum"));
  TRY(tenon_network_make_state(network, "sum", "next_sum")); /* one input, one output are left */
done:
  return status;
}

static tenon_status_t step(tenon_context_t* context, const char* name, float first) {
  tenon_status_t status = TENON_OK;
  float x[] = {first, 1};
  const int64_t dims[] = {2};
  const tenon_tensor_view_t view = example_floats(x, 1, dims);
  tenon_tensor_view_t y;
  TRY(tenon_context_set_input(context, 0, &view));
  TRY(tenon_context_run(context));
  TRY(tenon_context_get_output(context, 0, &y));
  (void)printf("%s: %g %g\n", name, (double)((const float*)y.data)[0],
               (double)((const float*)y.data)[1]);
done:
  return status;
}

static tenon_status_t run_carried(tenon_registry_t* registry) {
  tenon_status_t status = TENON_OK;
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  TRY(tenon_network_create(registry, &network));
  TRY(build_carried(network));
  TRY(tenon_build(network, NULL, &plan));
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  TRY(tenon_context_create(engine, NULL, &context));
  TRY(step(context, "carried", 1)); /* 1 1: it began with zeros */
  TRY(step(context, "carried", 1)); /* 2 2 */
done:
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  return status;
}

int main(void) {
  tenon_status_t status = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_network_t* network = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* a = NULL;
  tenon_context_t* b = NULL;
  TRY(example_registry(&registry));
  TRY(tenon_network_create(registry, &network));
  TRY(build_network(network));
  TRY(tenon_build(network, NULL, &plan));
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  TRY(tenon_context_create(engine, NULL, &a));
  TRY(tenon_context_create(engine, NULL, &b));
  TRY(step(a, "a", 1)); /* 11 21 */
  TRY(step(a, "a", 1)); /* 12 22 */
  TRY(step(b, "b", 5)); /* 15 21: a state of its own */

  float sum[2];
  TRY(tenon_context_read_state(a, "sum", sum, sizeof(sum)));
  (void)printf("a remembers %g %g\n", (double)sum[0], (double)sum[1]);
  TRY(tenon_context_clone_states(b, a));
  TRY(step(b, "b", 1)); /* 13 23 */
  sum[0] = 100;
  TRY(tenon_context_write_state(a, "sum", sum, sizeof(sum)));
  TRY(step(a, "a", 1)); /* 101 23 */
  TRY(tenon_context_reset_states(a));
  TRY(step(a, "a", 1)); /* 11 21 */
  TRY(run_carried(registry));
done:
  tenon_context_destroy(a);
  tenon_context_destroy(b);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
