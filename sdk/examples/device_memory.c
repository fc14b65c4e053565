/* A network on a GPU with the application's own memory there: nothing crosses to the host and back,
 * and the application's own copies stand on the same stream. Where there is no GPU, it says why,
 * and stops. CUDA's driver is opened at run time, so that this builds without CUDA. */
#include <dlfcn.h>
#include <string.h>

#include "example.h"

enum { COUNT = 4 };

/* As cuda.h declares them, but for the addresses: its CUdeviceptr is a number as wide as a pointer.
 */
typedef struct driver_t {
  int (*init)(unsigned flags);
  int (*retain)(void** context, int device);
  int (*release)(int device);
  int (*set_current)(void* context);
  int (*allocate)(void** address, size_t size);
  int (*free)(void* address);
  int (*write)(void* target, const void* source, size_t size, void* stream);
  int (*read)(void* target, const void* source, size_t size, void* stream);
  int (*synchronize)(void* stream);
} driver_t;

static int open_driver(driver_t* driver) {
  static const char* const names[] = {"cuInit",
                                      "cuDevicePrimaryCtxRetain",
                                      "cuDevicePrimaryCtxRelease_v2",
                                      "cuCtxSetCurrent",
                                      "cuMemAlloc_v2",
                                      "cuMemFree_v2",
                                      "cuMemcpyHtoDAsync_v2",
                                      "cuMemcpyDtoHAsync_v2",
                                      "cuStreamSynchronize"};
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  void* functions[sizeof names / sizeof *names];
  for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
    functions[k] = library == NULL ? NULL : dlsym(library, names[k]);
    if (functions[k] == NULL) {
      return 0;
    }
  }
  memcpy(driver, functions, sizeof *driver);
  return driver->init(0) == 0;
}

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

static tenon_status_t run(const driver_t* driver, tenon_context_t* context) {
  tenon_status_t status = TENON_OK;
  void* x = NULL;
  void* y = NULL;
  float numbers[COUNT] = {1, 2, 3, 4};
  const int64_t dims[] = {COUNT};
  void* stream = tenon_context_get_stream(context, "cuda.stream/1");
  if (driver->allocate(&x, sizeof numbers) != 0 || driver->allocate(&y, sizeof numbers) != 0) {
    (void)fprintf(stderr, "no memory on the GPU\n");
    goto done;
  }
  tenon_tensor_view_t view = example_floats(NULL, 1, dims);
  view.data = x;
  TRY(tenon_context_set_input_on_device(context, 0, &view));
  view.data = y;
  TRY(tenon_context_set_output_on_device(context, 0, &view));
  /* One stream: the copy, the run and the copy follow one another, and the host waits once. */
  (void)driver->write(x, numbers, sizeof numbers, stream);
  TRY(tenon_context_enqueue(context));
  (void)driver->read(numbers, y, sizeof numbers, stream);
  TRY(tenon_context_synchronize(context));
  (void)driver->synchronize(stream);
  (void)printf("on the GPU: %g %g %g %g\n", (double)numbers[0], (double)numbers[1],
               (double)numbers[2], (double)numbers[3]);
done:
  (void)driver->free(x);
  (void)driver->free(y);
  return status;
}

int main(void) {
  tenon_status_t status = TENON_OK;
  driver_t driver;
  void* current = NULL;
  tenon_registry_t* registry = NULL;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  if (!open_driver(&driver) || driver.retain(&current, 0) != 0) {
    (void)printf("there is no GPU: libcuda.so.1 cannot be opened, or finds none\n");
    return 0;
  }
  (void)driver.set_current(current); /* the primary context, which Tenon uses too */
  TRY(example_registry(&registry));
  TRY(build_plan(registry, "cuda", &plan));
  TRY(tenon_engine_create_from_plan(registry, plan, NULL, &engine));
  TRY(tenon_context_create(engine, NULL, &context));
  TRY(run(&driver, context));
done:
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  tenon_registry_release(registry);
  (void)driver.release(0);
  return status == TENON_OK ? 0 : 1;
}
