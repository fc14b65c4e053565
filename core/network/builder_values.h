/*
 * The builder's part that makes values and answers questions about them.
 *
 * These are entries of tenon_builder_table_t, called by strangers: every argument is checked, a
 * fault is told to the builder's sink with the value's name, and on failure *out is untouched. What
 * they mean is said in plugin.h.
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
 * A handle is a number of the builder's own table and not the value's id, as ids count anew in each
 * graph and a stranger's number has to be checked against one table. A value may have several
 * handles. */

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
