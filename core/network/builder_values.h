/*
 * The builder's functions that make values and return their properties.
 *
 * These are entries of tenon_builder_table_t for third parties, documented in plugin.h. Each
 * argument is checked. Errors are reported to the builder's sink with the value's name, and outputs
 * are then unchanged.
 */
#ifndef TENON_CORE_NETWORK_BUILDER_VALUES_H_
#define TENON_CORE_NETWORK_BUILDER_VALUES_H_

#include "core/network/builder_parts.h"

tenon_status_t tenon__build_input(tenon_builder_t* builder, const char* name, tenon_dtype_t dtype,
                                  uint32_t rank, const int64_t* dims, const char* const* symbols,
                                  tenon_value_t* out_value);
tenon_status_t tenon__build_input_container(tenon_builder_t* builder, const char* name,
                                            uint32_t kind, tenon_dtype_t dtype, uint32_t rank,
                                            const int64_t* dims, tenon_value_t* out_value);
tenon_status_t tenon__build_output(tenon_builder_t* builder, tenon_value_t value, const char* name);
tenon_status_t tenon__build_constant(tenon_builder_t* builder, const char* name,
                                     const tenon_tensor_view_t* view, int32_t borrow,
                                     tenon_value_t* out_value);
tenon_status_t tenon__build_body_parameter(tenon_builder_t* builder, const char* name,
                                           uint32_t kind, tenon_dtype_t dtype, uint32_t rank,
                                           const int64_t* dims, tenon_value_t* out_value);
tenon_status_t tenon__build_body_parameter_like(tenon_builder_t* builder, const char* name,
                                                tenon_value_t like, tenon_value_t* out_value);
tenon_status_t tenon__build_add_state(tenon_builder_t* builder,
                                      const tenon_state_descriptor_t* state,
                                      tenon_value_t* out_read);
tenon_status_t tenon__build_write_state(tenon_builder_t* builder, const char* name,
                                        tenon_value_t value);
tenon_status_t tenon__build_type(tenon_builder_t* builder, tenon_value_t value,
                                 tenon_value_type_t* out_type);
int32_t tenon__build_content(tenon_builder_t* builder, tenon_value_t value, uint32_t index,
                             int64_t* out_value);
tenon_status_t tenon__build_set_name(tenon_builder_t* builder, tenon_value_t value,
                                     const char* name);

/* ---- Handles ----
 *
 * A handle is an index of the builder's own table and not the value's id, because ids are relative
 * to a graph and an external number must be checked against one table. A value may have several
 * handles. */

/* Makes a new handle for an existing value, for rewrites. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__builder_handle(tenon_builder_t* builder, uint32_t graph, uint32_t value,
                                     tenon_value_t* out_handle);

/* Returns the value of a handle in the current graph. A constant of an enclosing graph is repeated
 * there, at each call, sharing the bytes. Returns INVALID_ARGUMENT for other values of enclosing
 * graphs, which must be captured, for invalid handles, and for values of a cancelled body. */
tenon_status_t tenon__builder_resolve(tenon_builder_t* builder, tenon_value_t handle,
                                      uint32_t* out_value);

/* Returns the value in any graph; NULL for an invalid handle. */
const tenon__value_node_t* tenon__builder_look(const tenon_builder_t* builder,
                                               tenon_value_t handle);

#endif
