/* Modules that a device has loaded: found by their text, shared, kept for a while. */
#include <stdio.h>
#include <string.h>

#include "compiler.h"
#include "helper/protocol.h"

/* So many that nobody has any more are kept, for the next who asks. */
enum { KEPT_MODULES = 256 };

struct tenon__cuda_module_t {
  tenon__cuda_module_t* next;
  char key[TENON_CUDA_KEY];
  CUlibrary library;
  void* code;
  size_t code_size;
  uint32_t users;
};

/* What `prepare` gave, for blobs and words. */
typedef struct request_t {
  const char* text;
  tenon_preparation_t* preparation;
  const tenon_prepare_table_t* host;
} request_t;

/* Two sums of 64 bits over the text (FNV-1a, and the same with another prime): 128 bits, so that
 * no two texts meet by chance. */
static void write_key(const char* text, char out_key[TENON_CUDA_KEY]) {
  uint64_t first = 0xCBF29CE484222325u;
  uint64_t second = 0x9AE16A3B2F90404Fu;
  for (const char* at = text; *at != 0; at++) {
    first = (first ^ (uint8_t)*at) * 0x100000001B3u;
    second = (second ^ (uint8_t)*at) * 0x9E3779B97F4A7C15u;
    second ^= second >> 29;
  }
  (void)snprintf(out_key, TENON_CUDA_KEY, "text.%016llx%016llx", (unsigned long long)first,
                 (unsigned long long)second);
}

/* Under the device's lock. */
static tenon__cuda_module_t* find(const tenon_device_t* device, const char* key) {
  tenon__cuda_module_t* module = device->modules;
  while (module != NULL && strcmp(module->key, key) != 0) {
    module = module->next;
  }
  return module;
}

static void unload(const tenon_device_t* device, tenon__cuda_module_t* module) {
  const tenon_allocator_t* allocator = &device->state->allocator;
  if (module->library != NULL) {
    (void)device->driver->cuLibraryUnload(module->library);
  }
  if (module->code != NULL) {
    (void)allocator->resize(allocator->user, module->code, module->code_size, 0);
  }
  (void)allocator->resize(allocator->user, module, sizeof(*module), 0);
}

/* Under the device's lock: the last of the list that nobody has, which is the oldest, goes. */
static void drop_oldest(tenon_device_t* device) {
  uint32_t unused = 0;
  tenon__cuda_module_t** oldest = NULL;
  for (tenon__cuda_module_t** at = &device->modules; *at != NULL; at = &(*at)->next) {
    if ((*at)->users == 0) {
      unused++;
      oldest = at;
    }
  }
  if (unused > KEPT_MODULES) {
    tenon__cuda_module_t* module = *oldest;
    *oldest = module->next;
    unload(device, module);
  }
}

static tenon_status_t load(tenon_device_t* device, tenon__cuda_module_t* module) {
  const tenon_status_t status = tenon__cuda_enter(device);
  return status != TENON_OK ? status
                            : TENON_CUDA_CALL(device, cuLibraryLoadData, &module->library,
                                              module->code, NULL, NULL, 0, NULL, NULL, 0);
}

/* The host rejects stored code of other compilers and architectures by this text. */
static void write_validity(const tenon_device_t* device, char* out_text, size_t capacity) {
  char target[16];
  tenon__cuda_write_target(device->architecture, target, sizeof(target));
  (void)snprintf(out_text, capacity, "%s, %s", tenon__cuda_compiler_version(device->state), target);
}

/* The plan's blob under the module's key; NULL: it has none. */
static const void* stored_code(const tenon_device_t* device, const request_t* request,
                               const char* key, size_t* out_size) {
  char validity[64];
  const void* code = NULL;
  write_validity(device, validity, sizeof(validity));
  if (request->host->load_blob == NULL ||
      request->host->load_blob(request->preparation, key, validity, &code, out_size) != TENON_OK) {
    return NULL;
  }
  return code;
}

/* So that the plan at hand has it, whoever it was that compiled it. */
static tenon_status_t store_code(const tenon_device_t* device, const request_t* request,
                                 const tenon__cuda_module_t* module) {
  char validity[64];
  if (request->host->save_blob == NULL) {
    return TENON_OK;
  }
  write_validity(device, validity, sizeof(validity));
  return request->host->save_blob(request->preparation, module->key, validity, module->code,
                                  module->code_size);
}

static tenon_status_t load_stored(tenon_device_t* device, const request_t* request,
                                  tenon__cuda_module_t* module) {
  const tenon_allocator_t* allocator = &device->state->allocator;
  size_t size = 0;
  const void* code = stored_code(device, request, module->key, &size);
  if (code == NULL || size == 0) {
    return TENON_ERROR_NOT_FOUND;
  }
  module->code = allocator->resize(allocator->user, NULL, 0, size);
  if (module->code == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  memcpy(module->code, code, size);
  module->code_size = size;
  const tenon_status_t status = load(device, module);
  if (status != TENON_OK) { /* damaged: to be compiled */
    (void)allocator->resize(allocator->user, module->code, size, 0);
    module->code = NULL;
  }
  return status;
}

static tenon_status_t make(tenon_device_t* device, const request_t* request,
                           tenon__cuda_module_t* module) {
  const tenon_prepare_table_t* host = request->host;
  if (load_stored(device, request, module) == TENON_OK) {
    return TENON_OK;
  }
  const tenon_sink_t* sink = host->sink != NULL ? host->sink(request->preparation) : NULL;
  tenon_status_t status = TENON_OK;
  if (!tenon__cuda_ahead_take(device, module->key, &module->code, &module->code_size)) {
    status = tenon__cuda_compile(device->state, request->text, device->architecture, sink,
                                 &module->code, &module->code_size);
  }
  return status != TENON_OK ? status : load(device, module);
}

static tenon__cuda_module_t* share(tenon_device_t* device, const char* key) {
  (void)pthread_mutex_lock(&device->lock);
  tenon__cuda_module_t* module = find(device, key);
  if (module != NULL) {
    module->users++;
  }
  (void)pthread_mutex_unlock(&device->lock);
  return module;
}

/* Another thread may have been faster: then its module counts. */
static tenon__cuda_module_t* insert(tenon_device_t* device, tenon__cuda_module_t* module) {
  (void)pthread_mutex_lock(&device->lock);
  tenon__cuda_module_t* meanwhile = find(device, module->key);
  if (meanwhile != NULL) {
    unload(device, module);
    module = meanwhile;
  } else {
    module->next = device->modules;
    device->modules = module;
  }
  module->users++;
  (void)pthread_mutex_unlock(&device->lock);
  return module;
}

static tenon_status_t get(tenon_device_t* device, const request_t* request,
                          tenon__cuda_module_t** out_module) {
  const tenon_allocator_t* allocator = &device->state->allocator;
  char key[TENON_CUDA_KEY];
  tenon_status_t status = TENON_OK;
  write_key(request->text, key);
  tenon__cuda_module_t* module = share(device, key);
  if (module == NULL) {
    module = allocator->resize(allocator->user, NULL, 0, sizeof(*module));
    if (module == NULL) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
    memset(module, 0, sizeof(*module));
    memcpy(module->key, key, sizeof(key));
    status = make(device, request, module);
    if (status != TENON_OK) {
      unload(device, module);
      return status;
    }
    module = insert(device, module);
  }
  status = store_code(device, request, module);
  if (status != TENON_OK) {
    tenon__cuda_module_release(device, module);
    return status;
  }
  *out_module = module;
  return TENON_OK;
}

void tenon__cuda_module_begin(tenon_device_t* device, const tenon_prepare_t* call,
                              tenon__cuda_text_t* adopt_text) {
  const request_t request = {adopt_text->data, call->preparation, call->host};
  char key[TENON_CUDA_KEY];
  size_t size = 0;
  if (adopt_text->failed) { /* it is told when it is asked for */
    tenon__cuda_text_free(adopt_text);
    return;
  }
  write_key(request.text, key);
  tenon__cuda_module_t* module = share(device, key);
  if (module == NULL && stored_code(device, &request, key, &size) == NULL) {
    tenon__cuda_ahead_begin(device, key, adopt_text);
  } else {
    tenon__cuda_text_free(adopt_text);
  }
  tenon__cuda_module_release(device, module);
}

/* ---- Kernels of a module ---- */

void tenon__cuda_module_release(tenon_device_t* device, tenon__cuda_module_t* module) {
  if (module != NULL) {
    (void)pthread_mutex_lock(&device->lock);
    module->users--;
    drop_oldest(device);
    (void)pthread_mutex_unlock(&device->lock);
  }
}

tenon_status_t tenon__cuda_find_kernel(tenon_device_t* device, CUlibrary library,
                                       const tenon__cuda_wanted_t* wanted) {
  CUkernel kernel = NULL;
  tenon_status_t status = tenon__cuda_enter(device);
  if (status == TENON_OK) {
    status = TENON_CUDA_CALL(device, cuLibraryGetKernel, &kernel, library, wanted->name);
  }
  if (status == TENON_OK) { /* loads it now, not in the first launch */
    status = TENON_CUDA_CALL(device, cuKernelGetFunction, wanted->out_kernel, kernel);
  }
  return status;
}

tenon_status_t tenon__cuda_module_get(tenon_device_t* device, const tenon_prepare_t* call,
                                      tenon__cuda_text_t* adopt_text,
                                      const tenon__cuda_wanted_t* wanted, uint32_t count,
                                      tenon__cuda_module_t** out_module) {
  const request_t request = {adopt_text->data, call->preparation, call->host};
  tenon__cuda_module_t* module = NULL;
  tenon_status_t status =
      adopt_text->failed ? TENON_ERROR_OUT_OF_MEMORY : get(device, &request, &module);
  tenon__cuda_text_free(adopt_text);
  for (uint32_t k = 0; status == TENON_OK && k < count; k++) {
    status = tenon__cuda_find_kernel(device, module->library, &wanted[k]);
  }
  if (status != TENON_OK) {
    tenon__cuda_module_release(device, module);
    return status;
  }
  *out_module = module;
  return TENON_OK;
}

void tenon__cuda_modules_close(tenon_device_t* device) {
  tenon__cuda_ahead_close(device);
  while (device->modules != NULL) {
    tenon__cuda_module_t* module = device->modules;
    device->modules = module->next;
    unload(device, module);
  }
}
