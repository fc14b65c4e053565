/* What an alternative could save at best: counted by hand. */
#include "core/choice/savings.h"

#include "core/base/allocator.h"
#include "core/base/test.h"

enum { NODES = 4, UNITS = 3, PLACES = 3 };

/* Nodes 0 and 1 are unit 0, node 2 is unit 1, node 3 is unit 2. Places of a pattern: nodes 1 and 2,
 * node 3, and, overlapping both, nodes 2 and 3. */
typedef struct scene_t {
  tenon__arena_t arena;
  uint32_t covered[UNITS][2];
  struct tenon_region_t regions[UNITS];
  tenon__candidate_t items[UNITS + 1]; /* the last: the pattern's kernel */
  tenon__candidates_t candidates[UNITS + 1];
  tenon__unit_t units[UNITS];
  uint32_t nodes[PLACES][2];
  claim_t claims[PLACES];
  claim_class_t pattern;
  fusion_t fusion;
  alternatives_t alternatives;
  covering_t covering;
  covered_t by_nodes;
} scene_t;

static bool open_scene(scene_t* s, tenon__time_t time) {
  static const double seconds[UNITS] = {30e-6, 20e-6, 10e-6};
  *s = (scene_t){.covered = {{0, 1}, {2}, {3}}, .nodes = {{1, 2}, {3}, {2, 3}}};
  tenon__arena_initialize(&s->arena, tenon__allocator_default());
  for (uint32_t k = 0; k < UNITS; ++k) {
    s->regions[k] = (struct tenon_region_t){
        .kind = TENON_REGION_OPERATOR, .covered = s->covered[k], .covered_count = k == 0 ? 2 : 1};
    s->items[k].time = (tenon__time_t){TENON_FIGURE_MEASURED, seconds[k]};
    s->candidates[k] = (tenon__candidates_t){.count = 1, .items = &s->items[k]};
    s->units[k] =
        (tenon__unit_t){.kind = TENON_UNIT_REGION,
                        .chosen = {.region = &s->regions[k], .candidates = &s->candidates[k]},
                        .own_seconds = seconds[k]};
  }
  s->units[1].copies_seconds = 5e-6;
  s->items[UNITS].time = time;
  s->candidates[UNITS] = (tenon__candidates_t){.count = 1, .items = &s->items[UNITS]};
  s->pattern = (claim_class_t){.candidates = &s->candidates[UNITS]};
  for (uint32_t k = 0; k < PLACES; ++k) {
    s->claims[k] = (claim_t){.nodes = s->nodes[k], .node_count = k == 1 ? 1 : 2};
  }
  s->alternatives = (alternatives_t){.claims = s->claims,
                                     .claim_count = PLACES,
                                     .classes = &s->pattern,
                                     .class_count = 1,
                                     .fusions = &s->fusion,
                                     .fusion_count = 1};
  s->covering = (covering_t){.units = {.items = s->units, .count = UNITS}};
  return tenon__covering_by_nodes(&s->covering, NODES, &s->arena, &s->by_nodes) == TENON_OK;
}

static double saving_of_pattern(scene_t* s) {
  double saving = 0;
  EXPECT_STATUS(tenon__saving_of_class(&s->alternatives, &s->by_nodes, 0, &s->arena, &saving),
                TENON_OK);
  return saving;
}

static double saving_of_fusion(scene_t* s) {
  double saving = 0;
  EXPECT_STATUS(tenon__saving_of_fusion(&s->alternatives, &s->covering, 0, &s->arena, &saving),
                TENON_OK);
  return saving;
}

TENON_TEST(each_node_knows_its_unit) {
  scene_t s;
  REQUIRE(open_scene(&s, (tenon__time_t){TENON_FIGURE_MEASURED, 0}));
  s.units[1].kind = TENON_UNIT_VIEW;
  EXPECT_STATUS(tenon__covering_by_nodes(&s.covering, NODES, &s.arena, &s.by_nodes), TENON_OK);
  EXPECT_INT(s.by_nodes.unit_of[1], 0);
  EXPECT_INT(s.by_nodes.unit_of[2], TENON_NONE);
  EXPECT_INT(s.by_nodes.unit_of[3], 2);
  tenon__arena_deinitialize(&s.arena);
}

/* Two places, as the third overlaps; all three units, and the copies around one of them. */
TENON_TEST(a_pattern_saves_its_units_less_its_own_time_in_each_place) {
  scene_t s;
  REQUIRE(open_scene(&s, (tenon__time_t){TENON_FIGURE_MEASURED, 20e-6}));
  EXPECT_NEAR(saving_of_pattern(&s) * 1e6, 30 + 20 + 5 + 10 - 2 * 20, 1e-9);
  s.items[UNITS].time.seconds = 40e-6;
  EXPECT_NEAR(saving_of_pattern(&s) * 1e6, 65 - 80, 1e-9);
  tenon__arena_deinitialize(&s.arena);
}

TENON_TEST(what_is_known_better_is_looked_at_and_what_is_known_worse_is_not) {
  scene_t s;
  REQUIRE(open_scene(&s, (tenon__time_t){TENON_FIGURE_ESTIMATED, 1e-6}));
  EXPECT(saving_of_pattern(&s) == -TENON_CERTAIN_SAVING);
  s.items[0].time.figure = TENON_FIGURE_NONE; /* one unit that nobody timed is enough */
  EXPECT(saving_of_pattern(&s) == TENON_CERTAIN_SAVING);
  s.items[UNITS].time.figure = TENON_FIGURE_NONE; /* fewer steps then */
  EXPECT(saving_of_pattern(&s) == TENON_CERTAIN_SAVING);
  tenon__arena_deinitialize(&s.arena);
}

TENON_TEST(a_fusion_counts_where_it_is_made) {
  scene_t s;
  REQUIRE(open_scene(&s, (tenon__time_t){TENON_FIGURE_MEASURED, 0}));
  s.fusion.apart = (tenon__time_t){TENON_FIGURE_MEASURED, 12e-6};
  EXPECT_NEAR(saving_of_fusion(&s), 0, 0);
  s.units[0].fusions.count = 1;
  s.units[2].fusions.count = 1;
  EXPECT_NEAR(saving_of_fusion(&s), 0, 0); /* their kernels' slots are empty */
  s.regions[0].slot_count = 1;
  s.regions[2].slot_count = 1;
  EXPECT_NEAR(saving_of_fusion(&s) * 1e6, 30 + 10 - 2 * 12, 1e-9);
  tenon__arena_deinitialize(&s.arena);
}
