/* NVIDIA's GPUs: the device `cuda`, and kernels for expressions and for moves that are compiled for
 * it when a plan is made. */
#include <string.h>

#include "closed/last.h"
#include "closed/rows.h"
#include "compiler.h"
#include "device.h"
#include "kernels.h"
#include "management.h"

TENON_PLUGIN_MANIFEST("cuda", "0.2.0",
                      "vendor: Tenon\n"
                      "licence: Apache-2.0\n"
                      "offers: device cuda\n"
                      "offers: kernel expressions *expressions cuda\n"
                      "offers: kernel narrow_expressions *expressions cuda\n"
                      "offers: kernel moves *moves cuda\n"
                      "offers: kernel tiled_convolution standard.convolution/1 cuda\n"
                      "offers: kernel tiled_deconvolution standard.deconvolution/1 cuda\n"
                      "offers: kernel tiled_mat_mul standard.mat_mul/1 cuda\n"
                      "offers: kernel pool standard.max_pool/1 cuda\n"
                      "offers: kernel pool standard.average_pool/1 cuda\n"
                      "offers: kernel resize_last standard.resize/1 cuda\n"
                      "offers: kernel resize_last_known standard.resize/1 cuda\n"
                      "offers: kernel fused_attention * cuda\n" TENON_CLOSED_OFFERS
                      "needs-library: libcuda.so.1 opened\n"
                      "needs-library: libnvrtc.so.13 opened\n"
                      "needs-library: libnvrtc.so.12 opened\n"
                      "needs-library: libnvidia-ml.so.1 opened\n"
                      "threads: own\n"
                      "host-service: allocator/1\n");

static tenon_status_t start(const tenon_host_offer_t* host, void** out_state) {
  const tenon_allocator_t* allocator = host->table(host->host, "allocator/1");
  if (allocator == NULL) {
    return TENON_ERROR_DENIED;
  }
  tenon__cuda_state_t* state =
      allocator->resize(allocator->user, NULL, 0, sizeof(tenon__cuda_state_t));
  if (state == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  memset(state, 0, sizeof(*state));
  state->allocator = *allocator;
  (void)pthread_mutex_init(&state->lock, NULL);
  (void)pthread_mutex_init(&state->compiler_lock, NULL);
  *out_state = state;
  return TENON_OK;
}

static void stop(void* state) {
  tenon__cuda_state_t* cuda = state;
  tenon__cuda_compiler_close(cuda);
  tenon__cuda_management_close(cuda);
  (void)pthread_mutex_destroy(&cuda->compiler_lock);
  (void)pthread_mutex_destroy(&cuda->lock);
  (void)cuda->allocator.resize(cuda->allocator.user, cuda, sizeof(*cuda), 0);
}

/* A kernel of another file, as an offering of its own. */
#define KERNEL(name)                                                 \
  &(const tenon_offering_t) {                                        \
    .size = sizeof(tenon_offering_t), .kind = "kernel/1", .items = { \
      &tenon__cuda_##name##_kernel,                                  \
      1,                                                             \
      sizeof(tenon_kernel_t)                                         \
    }                                                                \
  }
static const tenon_offering_t* const offerings[] = {
    &tenon__cuda_devices,  KERNEL(expressions), KERNEL(narrow_expressions),
    KERNEL(moves),         KERNEL(convolution), KERNEL(deconvolution),
    KERNEL(mat_mul),       KERNEL(attention),   &tenon__cuda_last_kernels,
    &tenon__closed_kernels};
static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER, .name = "cuda", .version = "0.2.0", .offerings = TENON_LIST(offerings),
    .start = start,      .stop = stop,
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
