/* The grouping of a graph's nodes. For the modules fusion and choice only. */
#ifndef TENON_CORE_FUSION_GROUPING_H_
#define TENON_CORE_FUSION_GROUPING_H_

#include "core/candidate/conversions.h"
#include "core/fusion/unit.h"
#include "core/network/order.h"
#include "core/timing/tuning.h"

/* A group of nodes that become one unit. It has a region (operators, claims), an expression (runs),
 * or neither (views, contents, control). A group that was merged into another is dead and has no
 * nodes. */
typedef struct group_t {
  bool alive;
  tenon__unit_kind_t kind;
  uint32_t node_count;
  uint32_t nodes[GROUP_MOST_NODES];
  uint32_t last_position; /* maximum of its nodes' positions */
  uint32_t output;        /* VIEW, and moves: of the node */
  /* Expression fusion (runs): the composed expression. Operands' indices are graph values. */
  const tenon__expression_t* expression;
  uint32_t value_count;
  /* The values that it computes for other groups: one for each output of the expression, in order,
   * none of them TENON_NONE. */
  uint32_t values[GROUP_MOST_NODES];
  /* Operators: the region, including its slots' programs. */
  struct tenon_region_t* region;
  const tenon__candidates_t* candidates; /* of a claim: its claimant's; NULL: all are asked */
  tenon__unit_fusions_t fusions;
} group_t;

/* Tables over nodes and values of one graph. It is begun once and covered again for each
 * alternative that is tried; groups are then reset from first_groups. `arena` is that of the
 * current covering; `scratch` lives to the end. */
typedef struct grouping_t {
  tenon__tuning_t* tuning;
  struct alternatives_t* alternatives;
  tenon__arena_t scratch; /* as long as the grouping */
  tenon__arena_t* arena;  /* of the current covering */
  uint32_t graph;
  const tenon__graph_t* g;
  const uint32_t* order; /* nodes */
  uint32_t order_count;
  uint32_t* position;  /* of each node in the order */
  uint32_t* device_of; /* of each node: number of the device that computes it */
  bool* by_name;       /* of each node: kernels compute its operator, not its expression or map */
  tenon__lists_t uses; /* of each value, by nodes */
  conversions_t conversions;
  bool* needed; /* values whose data are read */
  bool* sizing; /* of these, values whose elements are extents of others, computed first */
  bool* leaves; /* values with readers other than nodes: outputs, states, dimensions */
  const tenon__expression_t** expressions; /* of each node, made on first use */
  struct fusion_slots_t* slots;            /* of each operator's node, made on first use */
  const char** notes;                      /* of each node: lines about refused fusions, or NULL */
  uint32_t* group_of; /* node -> group, TENON_NONE; nodes with several groups: the first */
  group_t* groups;
  uint32_t group_count;
  /* Of each position p: if no group has nodes both before p and from p on, p itself. Otherwise an
   * earlier position, which leads to the last such position before p. */
  uint32_t* cuts;
  uint32_t* stamps; /* of each node: the last walk that reached it */
  uint32_t stamp;
  uint32_t* stack; /* of the walk: nodes to visit */
  uint32_t stack_depth;
  bool expects;      /* kernels only begin slow preparations */
  bool has_expected; /* preparations for epilogues have begun */
  /* The initial groups. */
  const group_t* first_groups;
  uint32_t first_group_count;
  const uint32_t* first_group_of;
} grouping_t;

/* Returns an expression node's expression with graph values as operand indices and without absent
 * outputs; NULL if the node has none. Moves that are neither views nor boxes count as expressions.
 * Made once for each node. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__grouping_expression(grouping_t* grouping, uint32_t node,
                                          const tenon__expression_t** out_expression);
/* Lists the values of this expression's outputs, without absent ones. Returns their number and
 * writes at most GROUP_MOST_NODES. */
uint32_t tenon__node_values(const tenon__node_t* node, uint32_t out_values[GROUP_MOST_NODES]);
/* Returns true if dimensions determine the elements of all requested outputs of a node. Such a node
 * needs no kernel: the core writes its few elements. */
bool tenon__node_is_contents(const tenon__network_t* network, const tenon__graph_t* g,
                             const tenon__node_t* node);
/* Returns true if an output of the node is read. */
bool tenon__grouping_is_needed(const grouping_t* grouping, const tenon__node_t* node);
/* Returns true if it has a reduction. Then it is not computed repeatedly inside another
 * expression. */
bool tenon__expression_reduces(const tenon__expression_t* expression);
/* The first returns true if the space equals the value's shape, the second if operand `operand` is
 * read element-wise. */
bool tenon__expression_same_space(const grouping_t* grouping, const tenon__expression_t* expression,
                                  uint32_t value);
bool tenon__grouping_is_identity(const grouping_t* grouping, const tenon__expression_t* expression,
                                 uint32_t operand);
/* Returns true if another node reads the value, or it leaves the graph. */
bool tenon__grouping_read_outside(const grouping_t* grouping, uint32_t value, const uint32_t* nodes,
                                  uint32_t node_count);
/* Call this after nodes are added to a group. */
void tenon__grouping_span(grouping_t* grouping, const group_t* group);
/* Detects steps that would depend on themselves, by a walk backwards from the values that a step
 * reads through their producers. A node includes all nodes of its group, because they become one
 * step. The walk ends at a position that no group spans and that precedes all nodes of the step.
 * Nodes are stamped, so that nothing must be cleared. Call begin, then from for each value, then
 * meets once. */
void tenon__grouping_walk_begin(grouping_t* grouping);
void tenon__grouping_walk_from(grouping_t* grouping, uint32_t value);
/* Returns true if the walk reaches one of these nodes. */
bool tenon__grouping_walk_meets(grouping_t* grouping, const uint32_t* nodes, uint32_t node_count);
/* Stores, for the report, the reasons why no kernel accepts these nodes at once. Does nothing if
 * the build keeps no refusals. */
tenon_status_t tenon__grouping_note(grouping_t* grouping, uint32_t node, uint32_t node_count,
                                    const char* refusals);

#endif
