/*
 * Bodies of a network under construction. Between begin and end, all nodes are added to the body,
 * also by converters that do not know bodies. Values of enclosing graphs must be captured, except
 * constants, which are repeated inside. Bodies nest to a depth of 64.
 */
#ifndef TENON_CORE_NETWORK_BUILDER_BODIES_H_
#define TENON_CORE_NETWORK_BUILDER_BODIES_H_

#include "core/network/builder_parts.h"

/* Entries of the table. */
tenon_status_t tenon__build_begin_body(tenon_builder_t* builder, const char* name);
/* Adds a result, in the order of the calls. A value may be a result twice. */
tenon_status_t tenon__build_body_result(tenon_builder_t* builder, tenon_value_t handle);
/* Ends the body and returns its number for add_body of its owner. Returns INVALID_STATE while a
 * node of the body is begun. */
tenon_status_t tenon__build_end_body(tenon_builder_t* builder, uint32_t* out_body);
/* Cancels the body: its contents are dead, and its graph keeps its number. Does nothing outside of
 * bodies. */
void tenon__build_cancel_body(tenon_builder_t* builder);
/* Ends a body as one that cannot run (fault.h), with the status and message of such a run. Its
 * parameters stay. `status` must be an error; `message` may be NULL. */
tenon_status_t tenon__build_fail_body(tenon_builder_t* builder, tenon_status_t status,
                                      const char* message, uint32_t* out_body);

/* Drops the node that was begun, if any, with its arena, attributes and inputs. */
void tenon__builder_drop_node(tenon__pending_node_t* node);

/* A state of the builder, taken before a plugin's callback gets it. */
typedef struct tenon__builder_mark_t {
  uint32_t frame_count;
  bool has_node;
  uint32_t graph_count;
  uint32_t state_count;
  /* Of the graph being built. */
  uint32_t node_count;
  uint32_t value_count;
  uint32_t input_count;
  uint32_t output_count;
} tenon__builder_mark_t;

tenon__builder_mark_t tenon__builder_mark(const tenon_builder_t* builder);

/* Drops nodes and bodies that were begun since the mark and not ended, so that the builder is
 * usable after a failed callback. Nodes that were ended stay. */
void tenon__builder_unwind(tenon_builder_t* builder, tenon__builder_mark_t mark);

/* Unwinds, then removes the nodes and values that were added since the mark and releases their
 * names. Returns false, and removes nothing, if bodies, inputs, outputs or states were added too,
 * or a state was written, because a parser may refer to these. */
bool tenon__builder_undo(tenon_builder_t* builder, tenon__builder_mark_t mark);

#endif
