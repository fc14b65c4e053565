/* Convolutions, pools, attention and recurrent layers on NVIDIA's GPUs by cuDNN 9, for the device
 * `cuda` of another plugin. */
#include <string.h>

#include "kernels.h"
#include "library.h"

TENON_PLUGIN_MANIFEST("cudnn", "0.2.0",
                      "vendor: Tenon\n"
                      "licence: Apache-2.0\n"
                      "offers: kernel convolution standard.convolution/1 cuda\n"
                      "offers: kernel deconvolution standard.deconvolution/1 cuda\n"
                      "offers: kernel max_pool standard.max_pool/1 cuda\n"
                      "offers: kernel average_pool standard.average_pool/1 cuda\n"
                      "offers: kernel attention * cuda\n"
                      "offers: kernel recurrent standard.lstm/1 cuda\n"
                      "offers: kernel recurrent standard.gru/1 cuda\n"
                      "offers: kernel recurrent standard.rnn/1 cuda\n"
                      "needs-library: libcudnn.so.9 opened\n"
                      "host-service: allocator/1\n");

static tenon_status_t start(const tenon_host_offer_t* host, void** out_state) {
  const tenon_allocator_t* allocator = host->table(host->host, "allocator/1");
  tenon__cudnn_state_t* state =
      allocator == NULL ? NULL
                        : allocator->resize(allocator->user, NULL, 0, sizeof(tenon__cudnn_state_t));
  if (state == NULL) {
    return allocator == NULL ? TENON_ERROR_DENIED : TENON_ERROR_OUT_OF_MEMORY;
  }
  memset(state, 0, sizeof(*state));
  state->allocator = *allocator;
  (void)pthread_mutex_init(&state->lock, NULL);
  *out_state = state;
  return TENON_OK;
}

static void stop(void* state) {
  tenon__cudnn_state_t* cudnn = state;
  const tenon_allocator_t allocator = cudnn->allocator;
  (void)pthread_mutex_destroy(&cudnn->lock);
  (void)allocator.resize(allocator.user, cudnn, sizeof(*cudnn), 0);
}

static const tenon_offering_t* const offerings[] = {&tenon__cudnn_convolutions, &tenon__cudnn_pools,
                                                    &tenon__cudnn_attentions, &tenon__cudnn_layers};
static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER, .name = "cudnn", .version = "0.2.0", .offerings = TENON_LIST(offerings),
    .start = start,      .stop = stop,
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
