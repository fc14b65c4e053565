/* What the plugins of this folder have in common: operators of one or two tensors of floats, and
 * the words around descriptors. */
#ifndef TENON_TESTS_CONTRACT_STRANGER_H_
#define TENON_TESTS_CONTRACT_STRANGER_H_

#include <string.h>

#include "tenon/plugin.h"

typedef tenon_status_t (*stranger_add_t)(tenon_emit_t* emit, const tenon_tactic_t* tactic);

static const tenon_port_t stranger_x[] = {
    {.size = sizeof(tenon_port_t), .name = "x", .type = "f32"}};
static const tenon_port_t stranger_y[] = {
    {.size = sizeof(tenon_port_t), .name = "y", .type = "f32"}};

/* A closed operator: y has the shape of x, and nothing says what it means. */
#define STRANGER_UNARY(identity)                                                            \
  {                                                                                         \
    .size = sizeof(tenon_operator_t), .name = (identity), .inputs = TENON_LIST(stranger_x), \
    .outputs = TENON_LIST(stranger_y), .shape = "y = x"                                     \
  }

#define STRANGER_TACTICS(name)                                                      \
  static tenon_status_t name(void* state, const tenon_region_t* region,             \
                             const tenon_region_table_t* table, tenon_emit_t* emit, \
                             stranger_add_t add)

static inline int64_t stranger_count(const tenon_tensor_view_t* view) {
  int64_t count = 1;
  for (uint32_t k = 0; k < view->rank; ++k) {
    count *= view->dims[k];
  }
  return count;
}

#define STRANGER_QUERY(plugin_name)                                                              \
  static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = (plugin_name),              \
                                        .version = "1.0.0", .offerings = TENON_LIST(offerings)}; \
  TENON_EXPORT const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {        \
    (void)host;                                                                                  \
    return &plugin;                                                                              \
  }

#endif
