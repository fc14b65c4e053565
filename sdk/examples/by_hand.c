/* A network without any model file: two dense layers, built layer by layer, with a batch that may
 * vary. y = softmax(relu(x * w1 + b1) * w2) */
#include "example.h"

static tenon_status_t build_network(tenon_network_t* network) {
  static const float w1[] = {1, -1, 0.5F, 2, 0, 1}; /* 2 x 3 */
  static const float b1[] = {0, 0.5F, -1};          /* 3 */
  static const float w2[] = {1, 0, 0, 1, 1, 1};     /* 3 x 2 */
  tenon_status_t status = TENON_OK;
  tenon_value_t x;
  tenon_value_t weights1;
  tenon_value_t bias1;
  tenon_value_t weights2;
  tenon_value_t product;
  tenon_value_t sum;
  tenon_value_t hidden;
  tenon_value_t scores;
  tenon_value_t y;
  TRY(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 2, (const int64_t[]){-1, 2}, &x));
  TRY(tenon_network_add_constant(network, "w1", TENON_DTYPE_FLOAT32, 2, (const int64_t[]){2, 3}, w1,
                                 &weights1));
  TRY(tenon_network_add_constant(network, "b1", TENON_DTYPE_FLOAT32, 1, (const int64_t[]){3}, b1,
                                 &bias1));
  TRY(tenon_network_add_constant(network, "w2", TENON_DTYPE_FLOAT32, 2, (const int64_t[]){3, 2}, w2,
                                 &weights2));
  TRY(tenon_network_add(network, "standard.mat_mul/1", "dense1",
                        (const tenon_value_t[]){x, weights1}, 2, NULL, &product, 1));
  TRY(tenon_network_add(network, "standard.add/1", "add1", (const tenon_value_t[]){product, bias1},
                        2, NULL, &sum, 1));
  /* Arithmetic needs no operator: it can be said. */
  TRY(tenon_builder_get_table()->expression(tenon_network_get_builder(network), "y = max(a, 0)",
                                            (const char* const[]){"a"}, &sum, 1, "relu1", &hidden));
  TRY(tenon_network_add(network, "standard.mat_mul/1", "dense2",
                        (const tenon_value_t[]){hidden, weights2}, 2, NULL, &scores, 1));
  TRY(tenon_network_add(network, "standard.softmax/1", "softmax", &scores, 1,
                        &(tenon_list_t){(const tenon_attribute_t[]){TENON_INT("axis", 1)}, 1,
                                        sizeof(tenon_attribute_t)},
                        &y, 1));
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
  tenon_context_t* context = NULL;
  TRY(example_registry(&registry));
  TRY(tenon_network_create(registry, &network));
  TRY(build_network(network));
  tenon_network_print(network, example_print, NULL);
  (void)printf("%u input, %u output\n", tenon_network_input_count(network),
               tenon_network_output_count(network));
  tenon_io_info_t info = {.size = sizeof(info)};
  TRY(tenon_network_get_input(network, 0, &info));
  (void)printf("%s has rank %u\n", info.name, info.rank);
  TRY(tenon_network_get_output(network, 0, &info));
  (void)printf("%s has rank %u\n", info.name, info.rank);

  /* Tuned for a batch of 2, good for 1 to 4. */
  const tenon_profile_range_t range = {.input = "x",
                                       .rank = 2,
                                       .min = (const int64_t[]){1, 2},
                                       .optimum = (const int64_t[]){2, 2},
                                       .max = (const int64_t[]){4, 2}};
  const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  TRY(tenon_build(network, &options, &plan));
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  TRY(tenon_context_create(engine, NULL, &context));
  for (int64_t batch = 1; batch <= 3; ++batch) {
    float x[] = {1, 0, 0, 1, 1, 1};
    const int64_t dims[] = {batch, 2};
    const tenon_tensor_view_t view = example_floats(x, 2, dims);
    tenon_tensor_view_t y;
    TRY(tenon_context_set_input(context, 0, &view));
    TRY(tenon_context_run(context));
    TRY(tenon_context_get_output(context, 0, &y));
    const float* last = (const float*)y.data + (batch - 1) * 2;
    (void)printf("batch %d, last row: %.4f %.4f\n", (int)batch, (double)last[0], (double)last[1]);
  }
done:
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
