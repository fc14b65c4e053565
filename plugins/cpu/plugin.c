/* What this plugin offers: vector kernels for the host's processors. */
#include "kernels.h"

TENON_PLUGIN_MANIFEST("cpu", "0.1.0",
                      "vendor: Tenon\n"
                      "licence: Apache-2.0\n"
                      "offers: kernel convolution standard.convolution/1 cpu\n"
                      "offers: kernel deconvolution standard.deconvolution/1 cpu\n"
                      "offers: kernel mat_mul standard.mat_mul/1 cpu\n"
                      "offers: kernel lstm standard.lstm/1 cpu\n"
                      "offers: kernel gru standard.gru/1 cpu\n"
                      "offers: kernel max_pool standard.max_pool/1 cpu\n"
                      "offers: kernel average_pool standard.average_pool/1 cpu\n"
                      "offers: kernel scatter standard.scatter_nd/1 cpu\n"
                      "offers: kernel scatter standard.scatter_elements/1 cpu\n"
                      "offers: kernel trees standard.tree_ensemble/1 cpu\n"
                      "offers: kernel expressions *expressions cpu\n"
                      "offers: kernel moves *moves cpu\n");

#define KERNEL(kernel)                                                                    \
  {                                                                                       \
    .size = sizeof(tenon_offering_t), .kind = "kernel/1", .items = &(kernel), .count = 1, \
    .stride = sizeof(tenon_kernel_t)                                                      \
  }
static const tenon_offering_t offerings[] = {
    KERNEL(tenon__cpu_convolution_kernel),  KERNEL(tenon__cpu_deconvolution_kernel),
    KERNEL(tenon__cpu_mat_mul_kernel),      KERNEL(tenon__cpu_lstm_kernel),
    KERNEL(tenon__cpu_gru_kernel),          KERNEL(tenon__cpu_max_pool_kernel),
    KERNEL(tenon__cpu_average_pool_kernel), KERNEL(tenon__cpu_expression_kernel),
    KERNEL(tenon__cpu_move_kernel),         KERNEL(tenon__cpu_scatter_kernel),
    KERNEL(tenon__cpu_tree_kernel),
};

/* The state of each instruction set is a constant: nothing is allocated, nothing to be freed. */
static tenon_status_t start(const tenon_host_offer_t* host, void** out_state) {
  (void)host;
  *out_state = (void*)tenon__cpu_state_of(tenon__cpu_isa_choose());
  return TENON_OK;
}

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER,
    .name = "cpu",
    .version = "0.1.0",
    .offerings = offerings,
    .offering_count = sizeof(offerings) / sizeof(offerings[0]),
    .start = start,
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
