/* Parts of one tensor: where they lie apart, and that a plan writes all of them before it reads. */
#include "core/plan_file/memory_check.h"

#include "core/plan_file/sample_plan.h"

/* After the sample's headers: its own are for any program. */
#include "core/base/test.h"
#include "core/plan/place.h"

/* Of the sample's main graph. */
enum { JOINED = 8, TURNED = 9, LEFT = 10, RIGHT = 11 };
enum { PART_LEFT = 3, PART_RIGHT = 4, END = 5 };

typedef struct fixture_t {
  sample_library_t library;
  tenon__test_messages_t messages;
  tenon__plan_t* plan;
  tenon__schedule_t* schedule;
} fixture_t;

static void start(fixture_t* f) {
  memset(f, 0, sizeof *f);
  const tenon_sink_t* sink = tenon__test_listen(&f->messages);
  REQUIRE(sample_library_create(&f->library, sink));
  f->plan = sample_plan_create(&f->library, tenon__allocator_default(), sink);
  REQUIRE(f->plan != NULL);
  f->schedule = &f->plan->schedules[0];
}

static void stop(fixture_t* f) {
  tenon__plan_destroy(f->plan);
  sample_library_destroy(&f->library);
}

static bool lie_apart(const fixture_t* f, uint32_t a, uint32_t b) {
  return tenon__places_lie_apart(f->plan->network, 0, f->schedule, a, b);
}

static tenon_status_t check(fixture_t* f) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  f->messages.text[0] = '\0';
  const tenon_status_t status =
      tenon__memory_check(f->plan, 0, &arena, tenon__test_listen(&f->messages));
  tenon__arena_deinitialize(&arena);
  return status;
}

TENON_TEST(boxes_that_share_no_element) {
  fixture_t f;
  start(&f);
  EXPECT(lie_apart(&f, LEFT, RIGHT));
  EXPECT(lie_apart(&f, RIGHT, LEFT));
  EXPECT(!lie_apart(&f, LEFT, LEFT));
  EXPECT(!lie_apart(&f, LEFT, JOINED));
  EXPECT(!lie_apart(&f, JOINED, LEFT));
  EXPECT(!lie_apart(&f, LEFT, TURNED));
  f.schedule->places[RIGHT].index = 0;
  EXPECT(!lie_apart(&f, LEFT, RIGHT));
  stop(&f);
}

TENON_TEST(a_whole_is_read_when_its_parts_are_written) {
  fixture_t f;
  start(&f);
  EXPECT_STATUS(check(&f), TENON_OK);
  const tenon__step_t right = f.schedule->steps[PART_RIGHT];
  f.schedule->steps[PART_RIGHT] = f.schedule->steps[END];
  f.schedule->steps[END] = right;
  EXPECT_STATUS(check(&f), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(f.messages.text, "reads what was not written, or written over");
  stop(&f);
}

TENON_TEST(a_part_written_twice_is_none_for_the_other) {
  fixture_t f;
  start(&f);
  f.schedule->places[RIGHT].index = 0;
  EXPECT_STATUS(check(&f), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(f.messages.text, "reads what was not written, or written over");
  stop(&f);
}

TENON_TEST(a_part_is_written_once) {
  fixture_t f;
  start(&f);
  ((uint32_t*)f.schedule->steps[PART_RIGHT].outputs)[0] = LEFT;
  EXPECT_STATUS(check(&f), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(f.messages.text, "writes what another step has written");
  stop(&f);
}
