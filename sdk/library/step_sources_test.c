#include "sdk/library/step_sources.h"

#include "core/base/test.h"

enum { INPUT, LEFT, RIGHT, WHOLE, VIEW, Y, Z, PLACES };

static const uint32_t from_input[] = {INPUT};
static const uint32_t to_left[] = {LEFT};
static const uint32_t to_right[] = {RIGHT, TENON_NONE};
static const uint32_t from_view[] = {VIEW, TENON_NONE, WHOLE, VIEW};
static const uint32_t to_y[] = {Y};
static const uint32_t from_y_and_right[] = {Y, RIGHT};
static const uint32_t to_z[] = {Z};

typedef struct wiring_t {
  const uint32_t* inputs;
  const uint32_t* outputs;
  uint32_t input_count;
  uint32_t output_count;
} wiring_t;
static const wiring_t wirings[] = {
    {from_input, to_left, 1, 1},    {from_input, to_right, 1, 2}, {from_view, to_y, 4, 1},
    {from_y_and_right, to_z, 2, 1}, {to_z, to_z, 1, 1}, /* writes in place */
};
enum { STEPS = sizeof(wirings) / sizeof(wirings[0]), FIRST = 10 };

TENON_TEST(steps_read_from_those_that_wrote_their_inputs_or_parts_of_them) {
  static const uint32_t expected[STEPS][3] = {{0}, {0}, {2, 10, 11}, {2, 11, 12}, {1, 13}};
  tenon__test_allocator_t state = {0};
  tenon__arena_t arena;
  tenon__step_sources_t sources[STEPS];
  tenon__arena_initialize(&arena, tenon__test_allocator(&state));
  tenon__step_t* steps = tenon__arena_allocate(&arena, STEPS, sizeof(*steps));
  tenon__place_t* places = tenon__arena_allocate(&arena, PLACES, sizeof(*places));
  REQUIRE(steps != NULL && places != NULL);
  for (uint32_t k = 0; k < PLACES; ++k) {
    places[k].storage = TENON_STORAGE_ARENA;
  }
  /* Other steps write the two parts of WHOLE. VIEW shows WHOLE. */
  places[LEFT] = (tenon__place_t){.storage = TENON_STORAGE_PART, .base = WHOLE};
  places[RIGHT] = (tenon__place_t){.storage = TENON_STORAGE_PART, .base = VIEW};
  places[VIEW] = (tenon__place_t){.storage = TENON_STORAGE_VIEW, .base = WHOLE};
  for (uint32_t k = 0; k < STEPS; ++k) {
    steps[k].input_count = wirings[k].input_count;
    steps[k].inputs = wirings[k].inputs;
    steps[k].output_count = wirings[k].output_count;
    steps[k].outputs = wirings[k].outputs;
  }
  const tenon__schedule_t schedule = {
      .place_count = PLACES, .places = places, .step_count = STEPS, .steps = steps};
  REQUIRE(tenon__step_sources_find(&schedule, FIRST, &arena, sources) == TENON_OK);
  for (uint32_t k = 0; k < STEPS; ++k) {
    EXPECT_INT(sources[k].count, expected[k][0]);
    for (uint32_t i = 0; i < sources[k].count && i < expected[k][0]; ++i) {
      EXPECT_INT(sources[k].steps[i], expected[k][i + 1]);
    }
  }
  tenon__arena_deinitialize(&arena);
}
