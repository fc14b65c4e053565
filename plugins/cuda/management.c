/* See management.h. CUDA's headers do not declare this library: what is used of it is declared here
 * as its reference has it, where 0 is success. */
#include "management.h"

#include <dlfcn.h>
#include <string.h>

/* nvmlClockType_t */
enum { CLOCK_PROCESSORS = 1, CLOCK_MEMORY = 2 };

struct tenon__cuda_management_t {
  void* library; /* NULL: it cannot be used, and is not tried again */
  int (*init)(void);
  int (*shutdown)(void);
  int (*find)(const char* bus_id, void** out_handle);
  int (*clock)(void* handle, int type, unsigned* out_megahertz);
};

static bool open_library(tenon__cuda_management_t* management) {
  static const char* const names[] = {"nvmlInit_v2", "nvmlShutdown",
                                      "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetClockInfo"};
  void* functions[sizeof(names) / sizeof(names[0])] = {NULL};
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  bool good = library != NULL;
  for (size_t k = 0; good && k < sizeof(names) / sizeof(names[0]); ++k) {
    functions[k] = dlsym(library, names[k]);
    good = functions[k] != NULL;
  }
  if (good) {
    /* POSIX: an object pointer holds a function's. */
    memcpy((void*)&management->init, &functions[0], sizeof(void*));
    memcpy((void*)&management->shutdown, &functions[1], sizeof(void*));
    memcpy((void*)&management->find, &functions[2], sizeof(void*));
    memcpy((void*)&management->clock, &functions[3], sizeof(void*));
    good = management->init() == 0;
  }
  if (!good && library != NULL) {
    (void)dlclose(library);
  }
  management->library = good ? library : NULL;
  return good;
}

/* NULL: there is none. Under the state's lock. */
static tenon__cuda_management_t* find_management(tenon__cuda_state_t* state) {
  if (state->management == NULL) {
    tenon__cuda_management_t* management =
        state->allocator.resize(state->allocator.user, NULL, 0, sizeof(*management));
    if (management == NULL) {
      return NULL;
    }
    memset(management, 0, sizeof(*management));
    (void)open_library(management);
    state->management = management;
  }
  return state->management->library == NULL ? NULL : state->management;
}

static double clock_of(const tenon__cuda_management_t* management, void* handle, int type) {
  unsigned megahertz = 0;
  return management->clock(handle, type, &megahertz) == 0 ? (double)megahertz * 1e6 : 0;
}

void tenon__cuda_clocks(tenon_device_t* device, double* out_processors, double* out_memory) {
  char bus_id[32] = "";
  void* handle = NULL;
  *out_processors = 0;
  *out_memory = 0;
  (void)pthread_mutex_lock(&device->state->lock);
  const tenon__cuda_management_t* management = find_management(device->state);
  if (management != NULL &&
      device->driver->cuDeviceGetPCIBusId(bus_id, (int)sizeof(bus_id), device->handle) ==
          CUDA_SUCCESS &&
      management->find(bus_id, &handle) == 0) {
    *out_processors = clock_of(management, handle, CLOCK_PROCESSORS);
    *out_memory = clock_of(management, handle, CLOCK_MEMORY);
  }
  (void)pthread_mutex_unlock(&device->state->lock);
}

void tenon__cuda_management_close(tenon__cuda_state_t* state) {
  tenon__cuda_management_t* management = state->management;
  if (management == NULL) {
    return;
  }
  if (management->library != NULL) {
    (void)management->shutdown();
    (void)dlclose(management->library);
  }
  (void)state->allocator.resize(state->allocator.user, management, sizeof(*management), 0);
  state->management = NULL;
}
