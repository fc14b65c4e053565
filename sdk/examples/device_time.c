/* A network on a device, with inputs and outputs in the device's memory and times by its own clock,
 * and nothing of the device's own interface: this builds and runs wherever Tenon does. Its name is
 * the argument, "cuda" without one; where there is none it says so, and stops. */
#include "example.h"

enum { COUNT = 4, RUNS = 10 };

/* y = x * 2 + 1 */
static tenon_status_t build_plan(tenon_registry_t* registry, const char* device,
                                 tenon_plan_t** out_plan) {
  tenon_status_t status = TENON_OK;
  tenon_network_t* network = NULL;
  tenon_value_t x;
  tenon_value_t y;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.device = device;
  TRY(tenon_network_create(registry, &network));
  TRY(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 1, (const int64_t[]){COUNT}, &x));
  TRY(tenon_builder_get_table()->expression(tenon_network_get_builder(network), "y = x * 2 + 1",
                                            (const char* const[]){"x"}, &x, 1, "twice", &y));
  TRY(tenon_network_add_output(network, y, "y"));
  TRY(tenon_build(network, &options, out_plan));
done:
  tenon_network_destroy(network);
  return status;
}

/* One run alone, then several that the host enqueues before it waits. */
static tenon_status_t time_runs(tenon_context_t* context) {
  tenon_status_t status = TENON_OK;
  tenon_run_times_t times = TENON_OPTIONS(tenon_run_times_t);
  TRY(tenon_context_set_timing(context, 1));
  TRY(tenon_context_run(context));
  TRY(tenon_context_get_times(context, &times));
  (void)printf("%u run: %.1f us, of which copies took %.1f us\n", times.run_count,
               times.seconds * 1e6, (times.transfer_in_seconds + times.transfer_out_seconds) * 1e6);
  for (int k = 0; k < RUNS; ++k) {
    TRY(tenon_context_enqueue(context));
  }
  TRY(tenon_context_synchronize(context));
  TRY(tenon_context_get_times(context, &times));
  (void)printf("%u runs: %.1f us each; the host waited %u times in between\n", times.run_count,
               times.seconds * 1e6 / times.run_count, times.wait_count);
  TRY(tenon_context_set_timing(context, 0));
done:
  return status;
}

static tenon_status_t run(tenon_engine_t* engine, tenon_context_t* context) {
  tenon_status_t status = TENON_OK;
  void* x = NULL;
  void* y = NULL;
  float numbers[COUNT] = {1, 2, 3, 4};
  const int64_t dims[] = {COUNT};
  tenon_device_reading_t reading = TENON_OPTIONS(tenon_device_reading_t);
  TRY(tenon_engine_allocate(engine, sizeof numbers, &x));
  TRY(tenon_engine_allocate(engine, sizeof numbers, &y));
  tenon_tensor_view_t view = example_floats(NULL, 1, dims);
  view.data = x;
  TRY(tenon_context_set_input_on_device(context, 0, &view));
  view.data = y;
  TRY(tenon_context_set_output_on_device(context, 0, &view));
  TRY(tenon_engine_copy(engine, TENON_COPY_TO_DEVICE, x, numbers, sizeof numbers));
  TRY(time_runs(context));
  TRY(tenon_engine_copy(engine, TENON_COPY_TO_HOST, numbers, y, sizeof numbers));
  (void)printf("on the device: %g %g %g %g\n", (double)numbers[0], (double)numbers[1],
               (double)numbers[2], (double)numbers[3]);
  TRY(tenon_engine_read_device(engine, &reading));
  (void)printf("%llu bytes were taken there at most\n", (unsigned long long)reading.peak_bytes);
done:
  tenon_engine_free(engine, x, sizeof numbers);
  tenon_engine_free(engine, y, sizeof numbers);
  return status;
}

int main(int argc, char** argv) {
  const char* device = argc > 1 ? argv[1] : "cuda";
  tenon_status_t status = TENON_OK;
  tenon_registry_t* registry = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  TRY(example_registry(&registry));
  if (build_plan(registry, device, &plan) != TENON_OK) {
    (void)printf("there is no device '%s', or it cannot be used\n", device);
    tenon_registry_release(registry);
    return 0;
  }
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  TRY(tenon_context_create(engine, NULL, &context));
  TRY(run(engine, context));
done:
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_registry_release(registry);
  return status == TENON_OK ? 0 : 1;
}
