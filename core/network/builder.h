/* The builder behind tenon_builder_table_t: what parsers, converters, rewrites and tenon.h build with. */
#ifndef TENON_CORE_NETWORK_BUILDER_H_
#define TENON_CORE_NETWORK_BUILDER_H_

#include "core/network/network.h"

/* `find` looks operators up (and may load plugins). The builder borrows the network. */
tenon_status_t tenon__builder_create(tenon__network_t* network, tenon__find_operator_t find,
                                     void* find_user, const tenon_sink_t* sink,
                                     tenon_builder_t** out_builder);
void tenon__builder_destroy(tenon_builder_t* builder);
const tenon_builder_table_t* tenon__builder_table(void);
/* Builder handles are value ids of the graph being built, plus 1; those of enclosing graphs are told apart by
 * the builder. The network value behind a handle of the main graph: */
uint32_t tenon__builder_value(const tenon_builder_t* builder, tenon_value_t value);
/* True when nothing is left open (a node begun, a body). Else says what. */
tenon_status_t tenon__builder_finish(tenon_builder_t* builder);

#endif
