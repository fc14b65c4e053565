/*
 * The handles that a builder gives out, and the values behind them.
 *
 * A handle is a number of the builder's own table and not the value's id, as ids count anew in each
 * graph and a stranger's number has to be checked against one table. A value may have several
 * handles.
 */
#ifndef TENON_CORE_NETWORK_BUILDER_HANDLES_H_
#define TENON_CORE_NETWORK_BUILDER_HANDLES_H_

#include "core/network/network.h"

/* A handle for a value that is there already, for rewrites. Each call makes a new handle.
 * OUT_OF_MEMORY only. */
tenon_status_t tenon__builder_handle(tenon_builder_t* builder, uint32_t graph, uint32_t value,
                                     tenon_value_t* out_handle);

/* The value behind a handle, in the graph being built; a constant of an enclosing graph is repeated
 * there, any other value of one must be captured: INVALID_ARGUMENT. INVALID_ARGUMENT too for a
 * handle of no value, or of one that a cancelled body took with it. A constant that is resolved
 * twice inside is there twice, and both share the bytes. */
tenon_status_t tenon__builder_resolve(tenon_builder_t* builder, tenon_value_t handle,
                                      uint32_t* out_value);

/* Any graph's value; NULL for a handle that is none. */
const tenon__value_node_t* tenon__builder_look(const tenon_builder_t* builder,
                                               tenon_value_t handle);

#endif
