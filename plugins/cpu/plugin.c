/* What this plugin offers: vector kernels for the host's processors. */
#include "kernels.h"

#define OFFERS(name, op) "offers: kernel " name " " op " cpu\n"
#define MANIFEST_LINES(name, offers) offers
TENON_PLUGIN_MANIFEST("cpu", "0.2.0",
                      "vendor: Tenon\n"
                      "licence: Apache-2.0\n" TENON_CPU_KERNELS(MANIFEST_LINES));

#define OFFERING(name, offers)                                \
  &(const tenon_offering_t){.size = sizeof(tenon_offering_t), \
                            .kind = "kernel/1",               \
                            .items = {&tenon__cpu_##name##_kernel, 1, sizeof(tenon_kernel_t)}},
static const tenon_offering_t* const offerings[] = {TENON_CPU_KERNELS(OFFERING)};

/* The state of each instruction set is a constant: nothing is allocated, nothing to be freed. */
static tenon_status_t start(const tenon_host_offer_t* host, void** out_state) {
  (void)host;
  *out_state = (void*)tenon__cpu_state_of(tenon__cpu_isa_choose());
  return TENON_OK;
}

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER, .name = "cpu", .version = "0.2.0", .offerings = TENON_LIST(offerings),
    .start = start,
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
