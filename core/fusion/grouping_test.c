#include "core/fusion/grouping.h"

#include <string.h>

#include "core/base/test.h"

/* Node k makes value k and runs at position k. Nodes 0 and 3 are one group. Node 1 reads node 0, and
 * node 3 reads node 2, so node 1 depends on node 2 by the group. */
enum { EARLY, READER, TARGET, LATE, LAST, NODES };

typedef struct world_t {
  tenon__graph_t graph;
  tenon__node_t nodes[NODES];
  tenon__value_node_t values[NODES];
  group_t group;
  uint32_t group_of[NODES];
  uint32_t position[NODES];
  uint32_t cuts[NODES];
  uint32_t stamps[NODES];
  uint32_t stack[NODES];
  grouping_t grouping;
} world_t;

static uint32_t reads[NODES] = {TENON_NONE, EARLY, TENON_NONE, TARGET, LATE};

static void begin(world_t* w) {
  memset(w, 0, sizeof(*w));
  for (uint32_t k = 0; k < NODES; ++k) {
    w->nodes[k].input_count = 1;
    w->nodes[k].inputs = &reads[k];
    w->values[k].producer = k;
    w->group_of[k] = k == EARLY || k == LATE ? 0 : TENON_NONE;
    w->position[k] = w->cuts[k] = k;
  }
  w->graph.nodes = w->nodes;
  w->graph.values = w->values;
  w->group.node_count = 2;
  w->group.nodes[0] = LATE;
  w->group.nodes[1] = EARLY;
  w->grouping = (grouping_t){.g = &w->graph,
                             .groups = &w->group,
                             .group_of = w->group_of,
                             .position = w->position,
                             .cuts = w->cuts,
                             .stamps = w->stamps,
                             .stack = w->stack};
  tenon__grouping_span(&w->grouping, &w->group);
}

static bool meets(world_t* w, uint32_t value, uint32_t node) {
  tenon__grouping_walk_begin(&w->grouping);
  tenon__grouping_walk_from(&w->grouping, value);
  return tenon__grouping_walk_meets(&w->grouping, &node, 1);
}

TENON_TEST(a_walk_passes_through_groups_that_span_its_target) {
  static world_t w;
  begin(&w);
  EXPECT(meets(&w, READER, TARGET));
  EXPECT(meets(&w, EARLY, TARGET));
  EXPECT(meets(&w, LAST, TARGET));
  EXPECT(!meets(&w, TARGET, READER));
}

TENON_TEST(a_walk_ends_at_positions_that_no_group_spans) {
  static world_t w;
  begin(&w);
  EXPECT(!meets(&w, LATE, LAST));
  EXPECT_INT(w.grouping.stack_depth, 0);
  EXPECT_INT(w.stamps[LATE], w.grouping.stamp);
  EXPECT(w.stamps[TARGET] != w.grouping.stamp); /* the walk has not passed LATE */
}
