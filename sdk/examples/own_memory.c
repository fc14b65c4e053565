/* The application's own memory and time: outputs written where it wants them, once it knows how
 * large they will be; strided inputs, enqueueing, a profiler; sequences as inputs and outputs. */
#include "example.h"

/* y = x * 2 + 1, 4 x 3; and a sequence of two tensors from which the second is taken and put into
 * another sequence. */
static tenon_status_t build_network(tenon_network_t* network) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = tenon_network_get_builder(network);
  tenon_status_t status = TENON_OK;
  tenon_value_t x;
  tenon_value_t y;
  tenon_value_t sequence;
  tenon_value_t position;
  tenon_value_t second;
  tenon_value_t made;
  const int64_t one = 1;
  TRY(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 2, (const int64_t[]){4, 3}, &x));
  TRY(table->expression(builder, "y = x * 2 + 1", (const char* const[]){"x"}, &x, 1, "twice", &y));
  TRY(tenon_network_add_output(network, y, "y"));
  TRY(table->input_container(builder, "parts", TENON_ARGUMENT_SEQUENCE, TENON_DTYPE_FLOAT32, 1,
                             (const int64_t[]){2}, &sequence));
  TRY(tenon_network_add_constant(network, "one", TENON_DTYPE_INT64, 0, NULL, &one, &position));
  TRY(tenon_network_add(network, "standard.sequence_at/1", "second",
                        (const tenon_value_t[]){sequence, position}, 2, NULL, &second, 1));
  TRY(tenon_network_add(network, "standard.sequence_make/1", "made", &second, 1, NULL, &made, 1));
  TRY(tenon_network_add_output(network, made, "made"));
done:
  return status;
}

static void on_step(void* user, uint32_t step, double seconds) {
  uint32_t* count = user;
  (void)step;
  (void)seconds;
  ++*count;
}

static tenon_status_t run(tenon_context_t* context) {
  tenon_status_t status = TENON_OK;
  float columns[12];           /* x with its first axis innermost */
  float results[4][8] = {{0}}; /* rows of 3 in a wider array */
  float part0[] = {1, 2};
  float part1[] = {3, 4};
  uint32_t step_count = 0;
  const tenon_argument_t* made = NULL;
  const int64_t* output_dims = NULL;
  const int64_t* most_dims = NULL;
  for (int i = 0; i < 12; ++i) {
    columns[i] = (float)i;
  }
  const int64_t dims[] = {4, 3};
  const int64_t two[] = {2};
  tenon_tensor_view_t x = example_floats(columns, 2, dims);
  x.strides = (const int64_t[]){1, 4};
  tenon_tensor_view_t y = example_floats(&results[0][0], 2, dims);
  y.strides = (const int64_t[]){8, 1};
  const tenon_argument_t items[] = {
      {.kind = TENON_ARGUMENT_TENSOR, .tensor = example_floats(part0, 1, two)},
      {.kind = TENON_ARGUMENT_TENSOR, .tensor = example_floats(part1, 1, two)}};
  const tenon_argument_t parts = {.kind = TENON_ARGUMENT_SEQUENCE, .count = 2, .items = items};
  TRY(tenon_context_set_input(context, 0, &x));
  TRY(tenon_context_set_input_argument(context, 1, &parts));
  TRY(tenon_context_get_output_extents(context, 0, &output_dims, &most_dims));
  (void)printf("y will be %lld x %lld\n", (long long)output_dims[0], (long long)output_dims[1]);
  TRY(tenon_context_set_output(context, 0, &y));
  TRY(tenon_context_set_profiler(context, on_step, &step_count));
  TRY(tenon_context_enqueue(context));
  TRY(tenon_context_synchronize(context));
  TRY(tenon_context_get_output_argument(context, 1, &made));
  (void)printf("y[3][2] = %g\n", (double)results[3][2]); /* x[3][2] is 11 */
  (void)printf("made holds %u tensor, which begins with %g\n", made->count,
               (double)*(const float*)made->items[0].tensor.data);
  (void)printf("%s\n", step_count > 0 ? "steps were timed" : "no step was timed");
  tenon_step_work_t work = TENON_OPTIONS(tenon_step_work_t);
  TRY(tenon_context_get_step_work(context, 0, &work));
  (void)printf("the first one read %g bytes\n", work.bytes_read);
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
  TRY(tenon_build(network, NULL, &plan));
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  TRY(tenon_context_create(engine, NULL, &context));
  TRY(run(context));
done:
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_network_destroy(network);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
