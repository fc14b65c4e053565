/* Which of two coverings is better: by what differs, and no more surely than it is known. */
#include "core/choice/coverings.h"

#include "core/base/test.h"

enum { PARTS = 4 };

/* Units made by hand: each with one candidate. */
typedef struct scene_t {
  struct tenon_region_t region;
  tenon__candidate_t items[PARTS];
  tenon__candidates_t candidates[PARTS];
  tenon__unit_t units[PARTS];
  const tenon__unit_t* parts[2][PARTS];
  covering_t own;
  covering_t other;
} scene_t;

/* Part 0 is in both; part 1 in `own`; parts 2 and 3 in `other`. */
static void open_scene(scene_t* s, double own, double second, double third) {
  const double seconds[PARTS] = {1, own, second, third};
  *s = (scene_t){.region = {.kind = TENON_REGION_OPERATOR}};
  for (uint32_t k = 0; k < PARTS; ++k) {
    s->items[k].time = (tenon__time_t){TENON_FIGURE_MEASURED, seconds[k]};
    s->candidates[k] = (tenon__candidates_t){.serial = k, .count = 1, .items = &s->items[k]};
    s->units[k] = (tenon__unit_t){
        .kind = TENON_UNIT_REGION,
        .chosen = {.region = &s->region, .candidates = &s->candidates[k]},
        .own_seconds = seconds[k],
    };
  }
  s->parts[0][0] = s->parts[1][0] = &s->units[0];
  s->parts[0][1] = &s->units[1];
  s->parts[1][1] = &s->units[2];
  s->parts[1][2] = &s->units[3];
  const tenon__copies_t none = {.time.figure = TENON_FIGURE_MEASURED};
  s->own = (covering_t){.copies = none, .parts = s->parts[0], .part_count = 2, .step_count = 2};
  s->other = (covering_t){.copies = none, .parts = s->parts[1], .part_count = 3, .step_count = 3};
}

TENON_TEST(more_steps_must_be_faster_by_more_than_the_noise) {
  static const struct {
    double second;
    opinion_t opinion;
  } cases[] = {{55e-6, OPINION_KEEP},
               {50e-6, OPINION_KEEP},
               {46e-6, OPINION_KEEP}, /* 4 % */
               {44e-6, OPINION_CHANGE}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
    scene_t s;
    open_scene(&s, 100e-6, cases[k].second, 50e-6);
    EXPECT_INT(tenon__covering_compare(&s.own, &s.other, true), cases[k].opinion);
  }
}

TENON_TEST(fewer_steps_need_not_be_faster) {
  scene_t s;
  open_scene(&s, 100e-6, 50e-6, 50e-6);
  EXPECT_INT(tenon__covering_compare(&s.other, &s.own, true), OPINION_CHANGE);
  open_scene(&s, 101e-6, 50e-6, 50e-6);
  EXPECT_INT(tenon__covering_compare(&s.other, &s.own, true), OPINION_KEEP);
}

TENON_TEST(copies_are_part_of_it) {
  scene_t s;
  open_scene(&s, 100e-6, 50e-6, 50e-6);
  s.own.copies = (tenon__copies_t){.count = 2, .time = {TENON_FIGURE_MEASURED, 20e-6}};
  EXPECT_INT(tenon__covering_compare(&s.own, &s.other, true), OPINION_CHANGE);
}

TENON_TEST(copies_that_nobody_measured_never_win_against_what_was) {
  scene_t s;
  open_scene(&s, 100e-6, 20e-6, 20e-6);
  s.other.copies = (tenon__copies_t){.count = 1, .time = {TENON_FIGURE_ESTIMATED, 1e-6}};
  EXPECT_INT(tenon__covering_compare(&s.own, &s.other, true), OPINION_KEEP);
  s.own.copies = s.other.copies; /* of both nobody knows better */
  EXPECT_INT(tenon__covering_compare(&s.own, &s.other, true), OPINION_CHANGE);
}

TENON_TEST(what_was_measured_once_is_measured_again) {
  scene_t s;
  open_scene(&s, 100e-6, 20e-6, 20e-6);
  s.items[1].is_fresh = true;
  EXPECT_INT(tenon__covering_compare(&s.own, &s.other, true), OPINION_LOOK_AGAIN);
  EXPECT_INT(tenon__covering_compare(&s.own, &s.other, false), OPINION_CHANGE);
  s.items[1].is_fresh = false;
  s.items[3].is_fresh = true;
  EXPECT_INT(tenon__covering_compare(&s.own, &s.other, true), OPINION_LOOK_AGAIN);
  s.items[3].is_fresh = false;
  s.items[0].is_fresh = true; /* both have it */
  EXPECT_INT(tenon__covering_compare(&s.own, &s.other, true), OPINION_CHANGE);
  open_scene(&s, 100e-6, 60e-6, 60e-6);
  s.items[1].is_fresh = true; /* it is better anyway */
  EXPECT_INT(tenon__covering_compare(&s.own, &s.other, true), OPINION_KEEP);
}

TENON_TEST(a_disturbed_time_speaks_for_others_only_where_it_is_much_longer) {
  scene_t s;
  open_scene(&s, 100e-6, 25e-6, 25e-6);
  s.items[1].is_disturbed = true;
  EXPECT_INT(tenon__covering_compare(&s.own, &s.other, true), OPINION_KEEP);
  open_scene(&s, 100e-6, 15e-6, 15e-6);
  s.items[1].is_disturbed = true;
  EXPECT_INT(tenon__covering_compare(&s.own, &s.other, true), OPINION_CHANGE);
  open_scene(&s, 100e-6, 25e-6, 25e-6);
  s.items[2].is_disturbed = true; /* it may be faster still */
  EXPECT_INT(tenon__covering_compare(&s.own, &s.other, true), OPINION_CHANGE);
}

TENON_TEST(what_is_known_better_is_preferred) {
  scene_t s;
  open_scene(&s, 100e-6, 1e-6, 1e-6);
  s.items[3].time.figure = TENON_FIGURE_ESTIMATED;
  EXPECT_INT(tenon__covering_compare(&s.own, &s.other, true), OPINION_KEEP);
  EXPECT_INT(tenon__covering_compare(&s.other, &s.own, true), OPINION_CHANGE);
  s.candidates[1].count = 0; /* nobody computes that */
  EXPECT_INT(tenon__covering_compare(&s.own, &s.other, true), OPINION_CHANGE);
  EXPECT_INT(tenon__covering_compare(&s.other, &s.own, true), OPINION_KEEP);
}
