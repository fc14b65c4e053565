/* Parts of one tensor: where they lie apart, and that a plan writes all of them before it reads.
 * Memory that is nobody's, another's, or too much. */
#include "core/plan_file/memory_check.h"

#include "core/plan/place.h"
#include "core/plan_file/test_hostile.h"

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

/* ---- Memory that is nobody's, another's, or too much ---- */

static uint32_t another_place(hostile_t* h, uint32_t of, tenon__storage_t storage) {
  tenon__schedule_t* schedule = &h->plan->schedules[0];
  schedule->places[schedule->place_count] = schedule->places[of];
  schedule->places[schedule->place_count].storage = storage;
  return schedule->place_count++;
}
static void output_in_another_place(hostile_t* h) {
  h->plan->schedules[0].outputs[0] = another_place(h, LAST, TENON_STORAGE_OUTPUT);
}
static void input_in_another_place(hostile_t* h) {
  numbers(step(h, SUM)->inputs)[0] = another_place(h, X, TENON_STORAGE_INPUT);
}
static void more_memory_than_values(hostile_t* h) {
  h->plan->schedules[0].memory_bytes[0] = UINT64_C(1) << 31;
}
static void memory_that_wraps(hostile_t* h) {
  h->plan->schedules[0].memory_bytes[0] = UINT64_MAX - 31;
}
static void value_larger_than_it_is(hostile_t* h) {
  place(h, A)->size_bytes = UINT64_C(1) << 31;
  h->plan->schedules[0].memory_bytes[0] = UINT64_C(1) << 32;
}
static void more_scratch_than_steps(hostile_t* h) {
  h->plan->devices[0].scratch_bytes = UINT64_MAX - 31;
}
static void more_zeroed_than_steps(hostile_t* h) {
  h->plan->devices[0].zeroed_bytes = UINT64_C(1) << 40;
}
static void more_persistent_than_steps(hostile_t* h) {
  h->plan->devices[0].persistent_bytes = UINT64_C(1) << 40;
}
static void steps_that_cannot_be_counted(hostile_t* h) {
  step(h, SUM)->tactic.persistent_bytes = UINT64_MAX - 63;
  h->plan->devices[0].persistent_bytes = UINT64_MAX - 63;
}
static void output_over_an_input(hostile_t* h) {
  place(h, D)->offset = place(h, A)->offset;
}
static void output_over_a_value_that_is_read_later(hostile_t* h) {
  place(h, ROWS)->offset = place(h, A)->offset;
}
static void in_place_without_a_rule(hostile_t* h) {
  place(h, D)->order = NULL;
  place(h, D)->alias = A;
  place(h, D)->offset = place(h, A)->offset;
}
static void body_over_what_it_was_lent(hostile_t* h) {
  step(h, CHOOSE)->body_offset[0] = place(h, ROWS)->offset;
}
static void written_twice(hostile_t* h) {
  tenon__schedule_t* schedule = &h->plan->schedules[0];
  memmove(step(h, COPY) + 1, step(h, COPY),
          (schedule->step_count++ - COPY) * sizeof *schedule->steps);
}
static void output_whose_weights_are_gone(hostile_t* h) {
  static const bool kept[2] = {false, true};
  h->plan->weights_kept = kept;
  numbers(step(h, CHOOSE)->inputs)[1] = W;
  h->plan->network->graphs[0]->nodes[step(h, CHOOSE)->node].inputs[1] = place(h, W)->value;
}
static void state_of_another_shape(hostile_t* h) {
  h->plan->network->states[0].update = place(h, LABELS)->value;
}
static void state_that_becomes_more(hostile_t* h) {
  h->plan->network->states[0].update = place(h, JOINED)->value;
}
static void contents_of_other_weights(hostile_t* h) {
  static tenon_dim_t contents[2];
  tenon__value_node_t* labels = &h->plan->network->graphs[0]->values[place(h, W)->value];
  int64_t count = 1;
  for (uint32_t k = 0; k < labels->type.rank; ++k) {
    int64_t extent = 0;
    EXPECT(tenon__dim_known(h->plan->network->pool, labels->type.dims[k], &extent));
    count *= extent;
  }
  tenon_dim_t* all = tenon__arena_allocate(&h->plan->arena, (size_t)count, sizeof *all);
  contents[0] = tenon__dim_constant(h->plan->network->pool, 77);
  for (int64_t k = 0; k < count; ++k) {
    all[k] = contents[0];
  }
  labels->type.contents = all;
  labels->type.content_count = (uint32_t)count;
}
static void weights_that_are_an_input(hostile_t* h) {
  h->plan->network->graphs[0]->values[place(h, X)->value].weights = 0;
}
static void weights_of_another_extent(hostile_t* h) {
  static int64_t dims[2] = {1, 1};
  h->plan->network->weights[0].dims = dims;
}

static void too_many_threads(hostile_t* h) {
  h->plan->thread_count = 1u << 30;
}
static tenon__place_t* next_place(hostile_t* h) {
  return place(h, numbers(step(h, UPDATE)->outputs)[0]);
}
static void place_next(tenon__place_t* next, tenon__storage_t storage) {
  next->storage = storage;
  next->index = 0;
  next->size_bytes = 0;
}
static void next_state_of_another_value(hostile_t* h) {
  place_next(place(h, A), TENON_STORAGE_NEXT);
}
static void next_of_no_state(hostile_t* h) {
  place_next(next_place(h), TENON_STORAGE_NEXT);
  next_place(h)->index = 1;
}
static void two_next_states(hostile_t* h) {
  place_next(next_place(h), TENON_STORAGE_NEXT);
  (void)another_place(h, numbers(step(h, UPDATE)->outputs)[0], TENON_STORAGE_NEXT);
}
static void next_state_in_another_order(hostile_t* h) {
  static const uint32_t order[1] = {0};
  place_next(next_place(h), TENON_STORAGE_NEXT);
  next_place(h)->order = order;
}
static void next_state_that_nobody_writes(hostile_t* h) {
  place_next(next_place(h), TENON_STORAGE_NEXT);
  h->plan->schedules[0].step_count = UPDATE;
}
static void state_in_place_without_a_rule(hostile_t* h) {
  place_next(next_place(h), TENON_STORAGE_STATE);
}
static void state_in_place_that_is_read_later(hostile_t* h) {
  tenon__schedule_t* schedule = &h->plan->schedules[0];
  static const tenon_argument_rule_t in_place = {.in_place = 1};
  const uint64_t bytes = next_place(h)->size_bytes;
  place_next(next_place(h), TENON_STORAGE_STATE);
  step(h, UPDATE)->tactic.output_rules = &in_place;
  const uint32_t aside =
      another_place(h, numbers(step(h, UPDATE)->outputs)[0], TENON_STORAGE_ARENA);
  schedule->places[aside].size_bytes = bytes;
  schedule->places[aside].offset = schedule->memory_bytes[0];
  schedule->memory_bytes[0] += 64;
  schedule->steps[UPDATE + 1] = schedule->steps[UPDATE];
  static uint32_t outputs[1];
  outputs[0] = aside;
  schedule->steps[UPDATE + 1].outputs = outputs;
  schedule->step_count = UPDATE + 2;
}
static void state_begins_with_what_is_gone(hostile_t* h) {
  static const bool kept[2] = {false, true};
  h->plan->network->states[0].initial = 0;
  h->plan->weights_kept = kept;
}
static void state_begins_with_another_shape(hostile_t* h) {
  h->plan->network->states[0].initial = 1;
}

static const fault_t faults[] = {
    FAULT(output_in_another_place, "is not what it refers to"),
    FAULT(input_in_another_place, "is not what it refers to"),
    FAULT(more_memory_than_values, "'main' asks for 2147483648 bytes of memory, its values take"),
    FAULT(memory_that_wraps, "asks for 18446744073709551584 bytes of memory"),
    FAULT(value_larger_than_it_is, "'sum' asks for 2147483648 bytes, it takes 48"),
    FAULT(more_scratch_than_steps, "18446744073709551584 bytes of scratch memory, its steps need"),
    FAULT(more_zeroed_than_steps, "1099511627776 bytes of zeroed memory, its steps need"),
    FAULT(more_persistent_than_steps, "1099511627776 bytes of persistent memory, its steps need"),
    FAULT(steps_that_cannot_be_counted, "more memory than can be counted"),
    FAULT(output_over_an_input, "writes into what it reads or writes besides"),
    FAULT(output_over_a_value_that_is_read_later, "reads what was not written, or written over"),
    FAULT(in_place_without_a_rule, "writes into what it reads or writes besides"),
    FAULT(body_over_what_it_was_lent, "has bodies that write into its own arguments"),
    FAULT(written_twice, "writes what another step has written"),
    FAULT(output_whose_weights_are_gone, "reads weights that the plan does not keep"),
    FAULT(state_of_another_shape, "is of another type"),
    FAULT(state_that_becomes_more, "is of another type"),
    FAULT(contents_of_other_weights, "has other elements than its contents say"),
    FAULT(weights_that_are_an_input, "is made twice"),
    FAULT(weights_of_another_extent, "w: is of another type than its weights"),
    FAULT(too_many_threads, "threads"),
    FAULT(state_begins_with_what_is_gone, "begins with values that are not there"),
    FAULT(next_state_of_another_value, "is not what it refers to"),
    FAULT(next_of_no_state, "is not what it refers to"),
    FAULT(two_next_states, "is not what it refers to"),
    FAULT(next_state_in_another_order, "is not what it refers to"),
    FAULT(next_state_that_nobody_writes, "nothing is left of the next value of a state"),
    FAULT(state_in_place_without_a_rule, "writes into what it reads or writes besides"),
    FAULT(state_in_place_that_is_read_later, "reads what was not written, or written over"),
    FAULT(state_begins_with_another_shape, "begins with values that are not there"),
};

TENON_TEST(refuses_each_fault_with_its_reason) {
  for (size_t k = 0; k < sizeof faults / sizeof faults[0]; ++k) {
    try_fault(&faults[k]);
  }
}
