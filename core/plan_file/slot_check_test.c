/* Regions with slots on all sides, written and read again; and what the reader makes of those that
 * no build would write. The operator is the sample's "twist", which reads a and gives t; each slot
 * adds x to its own value. */
#include "core/base/bytes.h"
#include "core/plan_file/region_file.h"
#include "core/plan_file/sample_plan.h"
#include "core/region/retype.h"

/* After the sample's headers: its own are for any program. */
#include "core/base/test.h"

enum { SUM = 0, TWIST = 1 };

typedef struct scene_t {
  sample_library_t library;
  tenon__test_messages_t messages;
  tenon__plan_t* plan;
  uint32_t x;
  uint32_t w;
  uint32_t d;
  tenon__expression_t sum; /* value + x */
  struct tenon_region_t region;
} scene_t;

static void fill(scene_t* s, uint32_t slot, uint32_t kind, uint32_t value) {
  const tenon__slot_filling_t filling = {
      .slot = slot, .kind = kind, .expression = &s->sum, .value = value};
  EXPECT_STATUS(tenon__region_fill_slot(&s->plan->arena, &s->region, &filling), TENON_OK);
}

static tenon__expression_t sum_of(scene_t* s, const tenon__region_slot_t* slot) {
  tenon__expression_t sum = slot->expression;
  tenon_operand_t* operands =
      tenon__arena_copy(&s->plan->arena, sum.program.operands, 2 * sizeof *operands);
  operands[1].index = s->x;
  sum.program.operands = operands;
  return sum;
}

/* x stands before the operator in a's place, d behind it, and d beside it once more. */
static bool start(scene_t* s) {
  memset(s, 0, sizeof *s);
  const tenon_sink_t* sink = tenon__test_listen(&s->messages);
  if (!sample_library_create(&s->library, sink)) {
    return false;
  }
  s->plan = sample_plan_create(&s->library, tenon__allocator_default(), sink);
  if (s->plan == NULL) {
    return false;
  }
  const struct tenon_region_t* sum = s->plan->schedules[0].steps[SUM].region;
  const struct tenon_region_t* twist = s->plan->schedules[0].steps[TWIST].region;
  s->x = sum->inputs[0].value;
  s->w = sum->inputs[1].value;
  s->d = twist->outputs[0].value;
  s->sum = sum_of(s, &twist->slots[0]);
  const bool made = tenon__region_of_node(&s->plan->arena, s->plan->network, 0, twist->nodes[0],
                                          &s->region) == TENON_OK;
  fill(s, 4, TENON_SLOT_PROLOGUE, s->x);
  fill(s, 0, TENON_SLOT_EPILOGUE, s->d);
  fill(s, 7, TENON_SLOT_SIDE, s->d);
  return made;
}

static void stop(scene_t* s) {
  tenon__plan_destroy(s->plan);
  sample_library_destroy(&s->library);
}

static tenon_status_t read_back(scene_t* s, struct tenon_region_t* out_region) {
  tenon__byte_writer_t bytes;
  tenon__byte_reader_t reader;
  tenon__byte_writer_initialize(&bytes, tenon__allocator_default());
  tenon__region_write(&s->region, &bytes);
  tenon__byte_reader_initialize(&reader, bytes.data, bytes.size);
  const tenon_status_t status = tenon__region_read(&reader, s->plan->network, 0, &s->plan->arena,
                                                   &s->messages.sink, out_region);
  EXPECT(status != TENON_OK || reader.position == bytes.size);
  tenon__byte_writer_deinitialize(&bytes);
  return status;
}

TENON_TEST(slots_on_all_sides_come_back) {
  scene_t s;
  struct tenon_region_t region = {0};
  REQUIRE(start(&s));
  EXPECT_INT(s.region.inputs[0].value, s.x);
  EXPECT_INT(s.region.output_count, 2);
  EXPECT_STATUS(read_back(&s, &region), TENON_OK);
  REQUIRE(region.slot_count == 3);
  for (uint32_t k = 0; k < 3; ++k) {
    const tenon__region_slot_t* slot = &region.slots[k];
    EXPECT_INT(slot->slot, s.region.slots[k].slot);
    EXPECT_INT(slot->kind, s.region.slots[k].kind);
    EXPECT_INT(slot->index, 0);
    EXPECT_INT(slot->expression.program.outputs[0].index, slot->kind == TENON_SLOT_SIDE ? 1 : 0);
    EXPECT_INT(tenon__region_slot_value(&region, slot),
               slot->kind == TENON_SLOT_PROLOGUE ? s.x : s.d);
  }
  EXPECT_INT(region.inputs[0].value, s.x);
  EXPECT_INT(region.input_count, 4); /* an operand of each slot */
  stop(&s);
}

/* What a slot makes can be stored in another type; what a prologue makes is the operator's. */
TENON_TEST(narrower_arguments_leave_a_prologue_alone) {
  static const tenon_dtype_t halves[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_FLOAT16,
                                         TENON_DTYPE_FLOAT16, TENON_DTYPE_FLOAT16};
  scene_t s;
  struct tenon_region_t region = {0};
  REQUIRE(start(&s));
  EXPECT_STATUS(tenon__region_retype(&s.plan->arena, &s.region, halves, halves, &region), TENON_OK);
  EXPECT_INT(tenon__region_input_dtype(&region, 0, NULL), TENON_DTYPE_FLOAT32);
  for (uint32_t k = 0; k < 3; ++k) {
    const bool is_prologue = region.slots[k].kind == TENON_SLOT_PROLOGUE;
    EXPECT_INT(region.slots[k].expression.program.outputs[0].dtype,
               is_prologue ? TENON_DTYPE_FLOAT32 : TENON_DTYPE_FLOAT16);
  }
  s.region = region;
  EXPECT_STATUS(read_back(&s, &region), TENON_OK);
  stop(&s);
}

/* ---- What no build would write ---- */

static tenon__region_slot_t* slot(scene_t* s, uint32_t k) {
  return &((tenon__region_slot_t*)s->region.slots)[k];
}
static tenon__region_input_t* inputs(scene_t* s) {
  return (tenon__region_input_t*)s->region.inputs;
}
static tenon__region_output_t* outputs(scene_t* s) {
  return (tenon__region_output_t*)s->region.outputs;
}
static tenon_program_output_t* result(scene_t* s, uint32_t k) {
  return (tenon_program_output_t*)slot(s, k)->expression.program.outputs;
}
static tenon_operand_t* own(scene_t* s, uint32_t k) {
  return (tenon_operand_t*)slot(s, k)->expression.program.operands;
}

static void kind_that_there_is_not(scene_t* s) {
  slot(s, 0)->kind = 4;
}
static void number_of_another(scene_t* s) {
  slot(s, 2)->slot = 0;
}
static void place_of_another(scene_t* s) {
  slot(s, 1)->kind = TENON_SLOT_PROLOGUE;
}
static void before_no_input(scene_t* s) {
  slot(s, 0)->index = 1; /* an operand */
}
static void before_a_far_input(scene_t* s) {
  slot(s, 0)->index = UINT32_MAX;
}
static void made_for_another_input(scene_t* s) {
  result(s, 0)->index = 1;
}
static void another_shape_before(scene_t* s) {
  inputs(s)[0].value = s->w;
}
static void nothing_before(scene_t* s) {
  inputs(s)[0].value = TENON_NONE;
}
static void another_type_before(scene_t* s) {
  own(s, 0)[0].dtype = TENON_DTYPE_FLOAT64;
}
static void another_type_made_before(scene_t* s) {
  result(s, 0)->dtype = TENON_DTYPE_FLOAT64;
}
static void another_input_without_a_prologue(scene_t* s) {
  slot(s, 0)->kind = TENON_SLOT_SIDE;
}
static void behind_another_output(scene_t* s) {
  slot(s, 1)->index = 1;
}
static void beside_no_output(scene_t* s) {
  slot(s, 2)->index = 1;
}
static void beside_in_the_place_of_the_first(scene_t* s) {
  result(s, 2)->index = 0;
}
static void another_shape_beside(scene_t* s) {
  outputs(s)[1].value = s->w;
}
static void another_type_beside(scene_t* s) {
  own(s, 2)[0].dtype = TENON_DTYPE_FLOAT64;
}
static void an_output_that_nothing_makes(scene_t* s) {
  s->region.slot_count = 2;
}
static void another_input_before_nothing(scene_t* s) {
  s->region.slots += 1;
  s->region.slot_count = 2;
}
static void several_nodes(scene_t* s) {
  uint32_t* nodes = tenon__arena_allocate(&s->plan->arena, 2, sizeof *nodes);
  nodes[0] = nodes[1] = s->region.nodes[0];
  s->region.nodes = nodes;
  s->region.node_count = 2;
}

TENON_TEST(slots_that_do_not_fit_are_refused) {
  static const struct {
    void (*change)(scene_t* s);
    const char* message;
  } faults[] = {{kind_that_there_is_not, "does not fit where it is"},
                {number_of_another, "a slot is filled twice"},
                {place_of_another, "a slot is filled twice"},
                {before_no_input, "does not fit where it is"},
                {before_a_far_input, "does not fit where it is"},
                {made_for_another_input, "does not fit where it is"},
                {another_shape_before, "does not fit where it is"},
                {nothing_before, "does not fit where it is"},
                {another_type_before, "does not fit where it is"},
                {another_type_made_before, "does not fit where it is"},
                {another_input_without_a_prologue, "does not fit where it is"},
                {behind_another_output, "does not fit where it is"},
                {beside_no_output, "does not fit where it is"},
                {beside_in_the_place_of_the_first, "does not fit where it is"},
                {another_shape_beside, "does not fit where it is"},
                {another_type_beside, "does not fit where it is"},
                {an_output_that_nothing_makes, "the arguments are not those of the operator"},
                {another_input_before_nothing, "the arguments are not those of the operator"},
                {several_nodes, "does not fit where it is"}};
  for (size_t k = 0; k < sizeof faults / sizeof *faults; ++k) {
    scene_t s;
    struct tenon_region_t region = {0};
    REQUIRE(start(&s));
    faults[k].change(&s);
    EXPECT_STATUS(read_back(&s, &region), TENON_ERROR_INVALID_DATA);
    EXPECT_CONTAINS(s.messages.text, faults[k].message);
    stop(&s);
  }
}
