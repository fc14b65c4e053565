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

#endif
