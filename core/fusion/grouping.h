/* Nodes of a graph while they are grouped. For fusion and choice alone. */
#ifndef TENON_CORE_FUSION_GROUPING_H_
#define TENON_CORE_FUSION_GROUPING_H_

#include "core/candidate/conversions.h"
#include "core/fusion/unit.h"
#include "core/network/order.h"
#include "core/timing/tuning.h"

/* A group: nodes that become one unit. It has either a region (operators, claims) or an expression
 * (runs), or neither (views, contents, control). A group that another took in is dead and has no
 * nodes. */
typedef struct group_t {
  bool alive;
  tenon__unit_kind_t kind;
  uint32_t node_count;
  uint32_t nodes[GROUP_MOST_NODES];
  uint32_t last_position; /* largest of its nodes' */
  uint32_t output;        /* VIEW, and moves: of the node */
  /* Runs of expressions: the composed expression, operands' indices are graph values. */
  const tenon__expression_t* expression;
  uint32_t value_count;
  /* The values that it makes for other groups: one for each output of the expression, in order.
   * None is TENON_NONE. */
  uint32_t values[GROUP_MOST_NODES];
  /* Operators: the region, what fills its slots included. */
  struct tenon_region_t* region;
  const tenon__candidates_t* candidates; /* of a claim: its claimant's; NULL: everyone is asked */
  tenon__unit_fusions_t fusions;
} group_t;

/* Tables over nodes and values of one graph; begun once, and covered again for each alternative
 * that is tried: what depends on the alternatives is reset from first_groups. `arena` is that of
 * the covering at hand, `scratch` lives to the end. */
typedef struct grouping_t {
  tenon__tuning_t* tuning;
  struct alternatives_t* alternatives;
  tenon__arena_t scratch; /* as long as the grouping */
  tenon__arena_t* arena;  /* of the covering that is being made */
  uint32_t graph;
  const tenon__graph_t* g;
  const uint32_t* order; /* nodes */
  uint32_t order_count;
  uint32_t* position;  /* of each node in the order */
  uint32_t* device_of; /* of each node: number of the device that computes it */
  bool* by_name;       /* of each node: kernels compute its operator, not its expression or map */
  tenon__lists_t uses; /* of each value, by nodes */
  conversions_t conversions;
  bool* needed; /* values whose data somebody reads */
  bool* sizing; /* of these, values whose numbers are extents elsewhere: made before that */
  bool* leaves; /* values that others than nodes read: outputs, states, dimensions */
  const tenon__expression_t** expressions; /* of each node, once somebody asked */
  struct fusion_slots_t* slots;            /* of each operator's node, once somebody asked */
  const char** notes; /* of each node: lines about fusions that nobody takes, or NULL */
  uint32_t* group_of; /* node -> group, TENON_NONE; nodes with several groups: the first */
  group_t* groups;
  uint32_t group_count;
  uint32_t* stamps; /* of each node: the last walk that came to it */
  uint32_t stamp;
  uint32_t* stack; /* of the walk: nodes to look at */
  uint32_t stack_depth;
  bool expects;      /* whoever would be asked only begins what takes long */
  bool has_expected; /* what epilogues need was begun */
  /* As it is before anything is grouped. */
  const group_t* first_groups;
  uint32_t first_group_count;
  const uint32_t* first_group_of;
} grouping_t;

/* An expression node's expression with graph values as operand indices, and without its absent
 * outputs; NULL when the node has none. Moves that are no views and no boxes count as expressions.
 * Made once for a node; OUT_OF_MEMORY only. */
tenon_status_t tenon__grouping_expression(grouping_t* grouping, uint32_t node,
                                          const tenon__expression_t** out_expression);
/* The values that the outputs of this expression are, without absent ones. Returns their count, of
 * which at most GROUP_MOST_NODES are written. */
uint32_t tenon__node_values(const tenon__node_t* node, uint32_t out_values[GROUP_MOST_NODES]);
/* Can the numbers of all wanted outputs of a node be written from dimensions alone? Such a node
 * needs no kernel: the core writes its few numbers. */
bool tenon__node_is_contents(const tenon__network_t* network, const tenon__graph_t* g,
                             const tenon__node_t* node);
/* Does anybody read a value that the node makes? */
bool tenon__grouping_is_needed(const grouping_t* grouping, const tenon__node_t* node);
/* Has it a sum, a mean or the like? Then it is not repeated inside of another. */
bool tenon__expression_reduces(const tenon__expression_t* expression);
/* Space equal to the value's shape, and operand `operand` reads it at the identity. */
bool tenon__expression_same_space(const grouping_t* grouping, const tenon__expression_t* expression,
                                  uint32_t value);
bool tenon__grouping_is_identity(const grouping_t* grouping, const tenon__expression_t* expression,
                                 uint32_t operand);
/* Does a node that is none of these read the value, or does it leave the graph? */
bool tenon__grouping_read_outside(const grouping_t* grouping, uint32_t value, const uint32_t* nodes,
                                  uint32_t node_count);
/* Would a step wait for itself? A walk back from the values that it reads, through all that makes
 * them: a node brings the other nodes of its group along, since they become one step. Linear in
 * what lies before; nodes are stamped, so that a walk costs no clearing. Begin, from each value,
 * then meets once. */
void tenon__grouping_walk_begin(grouping_t* grouping);
void tenon__grouping_walk_from(grouping_t* grouping, uint32_t value);
/* Does the walk come to one of these nodes? */
bool tenon__grouping_walk_meets(grouping_t* grouping, const uint32_t* nodes, uint32_t node_count);
/* Remembers, for the report, why nobody takes these nodes at once. Nothing where the build keeps no
 * refusals. */
tenon_status_t tenon__grouping_note(grouping_t* grouping, uint32_t node, uint32_t node_count,
                                    const char* refusals);

#endif
