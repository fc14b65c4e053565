/*
 * A region: connected nodes that one kernel computes as one step. This is the type behind the
 * contract's opaque tenon_region_t. The same region is made when candidates are timed and again
 * when a plan is loaded.
 *
 * A region defines a computation, not its implementation: several kernels are asked about one
 * region, and each plan step has one.
 */
#ifndef TENON_CORE_REGION_REGION_H_
#define TENON_CORE_REGION_REGION_H_

#include "core/dimension/extents.h"
#include "core/network/network.h"

/* Number of the iteration space to which an argument is aligned. */
#define TENON_SPACE_PROGRAM TENON_NONE

/* One input of the region. Plain: the value itself. Aligned: a view with the rank of a space.
 * Inputs of the operators come first, in their order, then those of slots. */
typedef struct tenon__region_input_t {
  uint32_t value;      /* of the graph; TENON_NONE: an absent optional input */
  tenon_dtype_t dtype; /* stored type; UNDEFINED: the value's own (see retype.h) */
  bool aligned;
  uint32_t space;         /* slot, or TENON_SPACE_PROGRAM */
  tenon__access_t access; /* if aligned */
  /* In proposed regions: its order as a view of a row-major tensor, outermost axis first; NULL:
   * row-major. Only trials use it, for kernels that accept any order. */
  const uint32_t* order;
} tenon__region_input_t;

/* Plain: axis_count 0, axes NULL. Aligned: the value may lack axes of the space that were reduced.
 */
typedef struct tenon__region_output_t {
  uint32_t value;      /* TENON_NONE: unused */
  tenon_dtype_t dtype; /* as for inputs */
  bool aligned;
  uint32_t axis_count;  /* aligned: rank of the value */
  const uint32_t* axes; /* aligned: axis of the space for each axis of the value */
} tenon__region_output_t;

/* The program in one slot of the kernel. operands[k].index is the region's input. The program has
 * one output; its index is the region's output that it writes, for a prologue the input that it
 * replaces. */
typedef struct tenon__region_slot_t {
  uint32_t slot;  /* of the kernel */
  uint32_t kind;  /* TENON_SLOT_* */
  uint32_t index; /* of the operator's input or output with the slot */
  tenon__expression_t expression;
} tenon__region_slot_t;

/* An aligned input's access, decomposed: coordinate d = base[d] + sum(coefficients[d * rank + k] *
 * point k). Computed when the region is finished, so that alignment needs no mutable pool: contexts
 * of several threads align in parallel. */
typedef struct tenon__region_affine_t {
  const tenon_dim_t* base;
  const tenon_dim_t* coefficients;
} tenon__region_affine_t;

/* A region of a network that must not change meanwhile. It is small and copied freely; lists are in
 * its creator's arena. Unfinished, it names nodes. Finished (region_finish.h), it is passed to
 * kernels. Members used: nodes for OPERATOR, expression for EXPRESSION, map for MOVE, slots for
 * OPERATOR only. Derived members are zero before it is finished. */
struct tenon_region_t {
  const tenon__network_t* network;
  uint32_t graph;
  uint32_t device; /* number of the plan's device that computes it */
  uint32_t kind;   /* TENON_REGION_OPERATOR, _EXPRESSION, _MOVE */
  /* Nodes that the kernel sees (operators), the main one first. */
  uint32_t node_count;
  const uint32_t* nodes;
  /* All nodes that the step computes: `nodes`, and those in slots or in the program. */
  uint32_t covered_count;
  const uint32_t* covered;
  uint32_t input_count;
  const tenon__region_input_t* inputs;
  uint32_t output_count;
  const tenon__region_output_t* outputs;
  uint32_t slot_count;
  const tenon__region_slot_t* slots;
  const tenon__expression_t* expression; /* REGION_EXPRESSION */
  const tenon__index_map_t* map; /* REGION_MOVE: source.input and fill_input: region inputs */
  /* Derived by tenon__region_finish. */
  uint32_t value_count;
  const tenon_value_info_t* values;
  const uint32_t* graph_values; /* value of the graph for each of them */
  const uint32_t* input_values; /* region input -> value of the region, or TENON_NONE */
  const uint32_t* output_values;
  const tenon__region_affine_t* affines; /* per input; empty for plain ones */
  const tenon__arena_t* arena;
  const tenon__profile_t* profile;
};

/* Walks over the inputs and outputs that have a value. */
static inline uint32_t tenon__next_region_input(const struct tenon_region_t* region, uint32_t k) {
  while (k < region->input_count && region->inputs[k].value == TENON_NONE) {
    ++k;
  }
  return k;
}
static inline uint32_t tenon__next_region_output(const struct tenon_region_t* region, uint32_t k) {
  while (k < region->output_count && region->outputs[k].value == TENON_NONE) {
    ++k;
  }
  return k;
}
#define TENON_EACH_REGION_INPUT(k, region)                                              \
  for (uint32_t k = tenon__next_region_input((region), 0); (k) < (region)->input_count; \
       (k) = tenon__next_region_input((region), (k) + 1))
#define TENON_EACH_REGION_OUTPUT(k, region)                                               \
  for (uint32_t k = tenon__next_region_output((region), 0); (k) < (region)->output_count; \
       (k) = tenon__next_region_output((region), (k) + 1))

/* Makes the region of one operator's node, with plain inputs and outputs and empty slots. Returns
 * OUT_OF_MEMORY only, as all functions that make regions. */
tenon_status_t tenon__region_of_node(tenon__arena_t* arena, const tenon__network_t* network,
                                     uint32_t graph, uint32_t node,
                                     struct tenon_region_t* out_region);
/* Operators' nodes of one graph, the main one first, with their external inputs and their
 * outputs. */
typedef struct tenon__node_group_t {
  const uint32_t* nodes;
  uint32_t node_count;
  const uint32_t* inputs;
  uint32_t input_count;
  const uint32_t* outputs;
  uint32_t output_count;
} tenon__node_group_t;

/* Makes the region of several operators' nodes. Lists are copied. */
tenon_status_t tenon__region_of_nodes(tenon__arena_t* arena, const tenon__network_t* network,
                                      uint32_t graph, const tenon__node_group_t* group,
                                      struct tenon_region_t* out_region);
/* Lists the external inputs of the nodes, in order of reading, each once. Returns false if there
 * are too many. */
enum { TENON_REGION_MOST_PROPOSED = 64 };
bool tenon__region_reads(const tenon__graph_t* graph, const uint32_t* nodes, uint32_t node_count,
                         uint32_t out_values[TENON_REGION_MOST_PROPOSED], uint32_t* out_count);
/* The program for a slot. `expression` has operand kinds SLOT_VALUE for the slot's own value and
 * graph values in operands[k].index for the rest. `value`, of the graph:
 *   PROLOGUE  the slot's own value, which replaces the region's input `index`
 *   EPILOGUE  the new value of the region's output `index`
 *   SIDE      an additional output, after all others */
typedef struct tenon__slot_filling_t {
  uint32_t slot;
  uint32_t kind;
  uint32_t index;
  const tenon__expression_t* expression;
  uint32_t value;
} tenon__slot_filling_t;

/* Adds the slot, its operands and its result. The caller adds covered nodes. */
tenon_status_t tenon__region_fill_slot(tenon__arena_t* arena, struct tenon_region_t* inout_region,
                                       const tenon__slot_filling_t* filling);
/* An expression over values of a graph. */
typedef struct tenon__graph_expression_t {
  const tenon__expression_t* expression; /* operands[k].index are graph values */
  const uint32_t* values;                /* of its outputs; TENON_NONE: not computed */
  const uint32_t* covered;               /* the nodes that it computes */
  uint32_t covered_count;
} tenon__graph_expression_t;
/* The expression without the outputs whose entry in `values` is TENON_NONE, so that no kernel
 * computes them, and the list of the remaining values. Both are in the arena. */
tenon_status_t tenon__expression_drop_absent(tenon__arena_t* arena,
                                             const tenon__expression_t* expression,
                                             const uint32_t* values,
                                             tenon__expression_t* out_expression,
                                             const uint32_t** out_values);
tenon_status_t tenon__region_of_expression(tenon__arena_t* arena, const tenon__network_t* network,
                                           uint32_t graph, const tenon__graph_expression_t* source,
                                           struct tenon_region_t* out_region);
/* Makes a move region from a node's map (sources index the node's inputs). */
tenon_status_t tenon__region_of_move(tenon__arena_t* arena, const tenon__network_t* network,
                                     uint32_t graph, uint32_t node, uint32_t output,
                                     struct tenon_region_t* out_region);
/* Makes a copy of a value, to change its layout: a move region that covers no node. */
tenon_status_t tenon__region_of_copy(tenon__arena_t* arena, const tenon__network_t* network,
                                     uint32_t graph, uint32_t value,
                                     struct tenon_region_t* out_region);

/* Returns the name of its main node; "" if it covers none. */
static inline const char* tenon__region_name(const struct tenon_region_t* region) {
  return region->node_count == 0
             ? ""
             : region->network->graphs[region->graph]->nodes[region->nodes[0]].name;
}
/* Returns the index of the graph's `value` in a finished region; TENON_NONE if it is not there, and
 * for TENON_NONE. */
static inline uint32_t tenon__region_value(const struct tenon_region_t* region, uint32_t value) {
  const uint32_t count = value == TENON_NONE ? 0 : region->value_count;
  for (uint32_t k = 0; k < count; ++k) {
    if (region->graph_values[k] == value) {
      return k;
    }
  }
  return TENON_NONE;
}
/* Returns the graph's value whose shape is the space of a filled slot: the program's result, for a
 * prologue the value that it reads instead of the input. */
uint32_t tenon__region_slot_value(const struct tenon_region_t* region,
                                  const tenon__region_slot_t* slot);
/* Returns the extents of a space of the region. TENON_SPACE_PROGRAM is the region's expression. */
const tenon_dim_t* tenon__region_space(const struct tenon_region_t* region, uint32_t space,
                                       uint32_t* out_rank);

#endif
