/*
 * Bodies of a network being built. Between begin and end all that is added goes into the body, also
 * what a converter adds that knows nothing of bodies; values of graphs outside must be captured,
 * save constants, which are repeated inside. Bodies nest to a depth of 64.
 */
#ifndef TENON_CORE_NETWORK_BUILDER_BODIES_H_
#define TENON_CORE_NETWORK_BUILDER_BODIES_H_

#include "core/network/builder_parts.h"

/* Entries of the table. */
tenon_status_t tenon__build_begin_body(tenon_builder_t* builder, const char* name);
tenon_status_t tenon__build_body_result(tenon_builder_t* builder, tenon_value_t handle);
tenon_status_t tenon__build_end_body(tenon_builder_t* builder, uint32_t* out_body);
void tenon__build_cancel_body(tenon_builder_t* builder);
tenon_status_t tenon__build_fail_body(tenon_builder_t* builder, tenon_status_t status,
                                      const char* message, uint32_t* out_body);

/* The node that was begun, if any, goes. */
void tenon__builder_drop_node(tenon__pending_node_t* node);

/* What was begun since a mark and not ended, nodes and bodies, goes. */
typedef struct tenon__builder_mark_t {
  uint32_t frame_count;
  bool has_node;
} tenon__builder_mark_t;

tenon__builder_mark_t tenon__builder_mark(const tenon_builder_t* builder);

void tenon__builder_unwind(tenon_builder_t* builder, tenon__builder_mark_t mark);

#endif
