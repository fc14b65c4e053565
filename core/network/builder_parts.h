/* The insides of the builder, shared by builder.c (nodes), builder_bodies.c (bodies) and
 * builder_values.c (values). */
#ifndef TENON_CORE_NETWORK_BUILDER_PARTS_H_
#define TENON_CORE_NETWORK_BUILDER_PARTS_H_

#include "core/base/status.h"
#include "core/network/builder.h"

/* A handle's value. Handle h stands for entry h - 1. */
typedef struct tenon__handle_t {
  uint32_t graph;
  uint32_t value;
} tenon__handle_t;

/* A node begun and not ended. Lists lie in `arena`. */
typedef struct tenon__pending_node_t {
  const tenon__operator_t* op; /* NULL: none is begun */
  tenon__arena_t arena;
  const char* name;
  uint32_t attribute_count;
  size_t attribute_capacity;
  tenon__scope_attribute_t* attributes;
  uint32_t input_count;
  size_t input_capacity;
  uint32_t* inputs;
  uint32_t body_count;
  size_t body_capacity;
  uint32_t* bodies;
  uint32_t output_count; /* 0: not said */
} tenon__pending_node_t;

/* A graph being built: the main one, or a body inside the one before. */
typedef struct tenon__frame_t {
  uint32_t graph;
  tenon__pending_node_t node;
} tenon__frame_t;

struct tenon_builder_t {
  tenon__network_t* network;
  tenon__find_operator_t find;
  void* find_user;
  tenon__suggest_operator_t suggest;
  const tenon_sink_t* sink; /* its own: what is said to it goes to next_sink */
  const tenon_sink_t* next_sink;
  tenon_sink_t own_sink;
  bool is_fixed; /* works inside a network whose inputs, outputs and states are what they are */
  uint32_t given_count;
  tenon__given_input_t* given; /* borrowed */
  tenon__arena_t arena;        /* what is lent to the caller */
  size_t handle_count;
  size_t handle_capacity;
  tenon__handle_t* handles;
  uint32_t frame_count;
  size_t frame_capacity;
  tenon__frame_t* frames;
};

static inline tenon__frame_t* tenon__builder_frame(const tenon_builder_t* builder) {
  return &builder->frames[builder->frame_count - 1];
}

static inline uint32_t tenon__builder_graph(const tenon_builder_t* builder) {
  return builder->frames[builder->frame_count - 1].graph;
}

/* The value behind a handle, in the graph being built; a constant of an enclosing graph is repeated
 * there, any other value of one must be captured: INVALID_ARGUMENT. */
tenon_status_t tenon__builder_resolve(tenon_builder_t* builder, tenon_value_t handle,
                                      uint32_t* out_value);
/* Any graph's value; NULL for a handle that is none. */
const tenon__value_node_t* tenon__builder_look(const tenon_builder_t* builder,
                                               tenon_value_t handle);

/* The node that was begun, if any, goes. */
void tenon__builder_drop_node(tenon__pending_node_t* node);

/* Entries of the table. */
tenon_status_t tenon__build_begin_body(tenon_builder_t* builder, const char* name);
tenon_status_t tenon__build_body_result(tenon_builder_t* builder, tenon_value_t handle);
tenon_status_t tenon__build_end_body(tenon_builder_t* builder, uint32_t* out_body);
void tenon__build_cancel_body(tenon_builder_t* builder);
tenon_status_t tenon__build_fail_body(tenon_builder_t* builder, tenon_status_t status,
                                      const char* words, uint32_t* out_body);
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
