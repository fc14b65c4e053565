/* Verification finds what a careless pass would leave behind. */
#include "core/network/test_operators.h"
#include "core/network/verify_rules.h"

/* y = ramp(dense(x, w)), s = shape_of(y): one thing of each kind to break. */
typedef struct subject_t {
  test_fixture_t fixture;
  tenon_value_t w;
  tenon_value_t dense;
  tenon_value_t y;
  tenon_value_t shape;
} subject_t;

static bool open(subject_t* subject) {
  test_fixture_t* fixture = &subject->fixture;
  const float numbers[] = {1, 2, 3, 4, 5, 6};
  if (!test_fixture_open(fixture, tenon__allocator_default())) {
    return false;
  }
  const tenon_value_t x = test_input(fixture, "x", DIMS(4, 3));
  subject->w = test_floats(fixture, "w", numbers, DIMS(2, 3));
  subject->dense = test_binary(fixture, "test.dense/1", "dense", x, subject->w);
  subject->y = test_unary(fixture, "test.ramp/1", "y", subject->dense);
  subject->shape = test_unary(fixture, "test.shape_of/1", "shape", subject->y);
  return fixture->build->output(fixture->builder, subject->y, "y") == TENON_OK &&
         fixture->build->output(fixture->builder, subject->shape, "shape") == TENON_OK;
}

static tenon__value_node_t* value(subject_t* subject, tenon_value_t handle) {
  return test_value(&subject->fixture, handle);
}

static tenon__node_t* producer(subject_t* subject, tenon_value_t handle) {
  return test_producer(&subject->fixture, handle);
}

static const tenon_dim_t no_dims[2] = {{0}, {123456}};

static void has_no_type(subject_t* s) {
  value(s, s->dense)->type.dtype = TENON_DTYPE_UNDEFINED;
}
static void has_no_such_extent(subject_t* s) {
  value(s, s->dense)->type.dims = no_dims;
}
static void has_no_such_content(subject_t* s) {
  value(s, s->shape)->type.contents = no_dims;
}
static void has_no_such_weights(subject_t* s) {
  value(s, s->w)->weights = 99;
}
static void has_a_dead_producer(subject_t* s) {
  producer(s, s->dense)->alive = false;
}
static void is_made_twice(subject_t* s) {
  value(s, s->y)->weights = 0;
}
static void reads_what_is_dead(subject_t* s) {
  value(s, s->w)->alive = false;
}
static void reads_from_nothing(subject_t* s) {
  value(s, s->w)->weights = TENON_NONE;
}
static void gives_what_is_dead(subject_t* s) {
  s->fixture.network->graphs[0]->outputs[0] = 99;
}
static void lacks_semantics(subject_t* s) {
  producer(s, s->y)->form = TENON_NODE_EXPRESSION;
}
static void reads_another_type(subject_t* s) {
  value(s, s->dense)->type.dtype = TENON_DTYPE_FLOAT64;
}
static void computes_another_shape(subject_t* s) {
  value(s, s->dense)->type.dims = value(s, s->w)->type.dims;
}
static void waits_for_itself(subject_t* s) {
  producer(s, s->dense)->inputs[0] = test_value_index(&s->fixture, s->y);
}

TENON_TEST(finds_each_fault) {
  static const struct {
    void (*break_it)(subject_t* subject);
    const char* message;
  } faults[] = {
      {has_no_type, "dense: has no type"},
      {has_no_such_extent, "dense: has extents or contents that are not there"},
      {has_no_such_content, "shape: has extents or contents that are not there"},
      {has_no_such_weights, "w: refers to weights, a state or a number that is not there"},
      {has_a_dead_producer, "dense: is made by a node that is not there"},
      {is_made_twice, "y: is made twice"},
      {reads_what_is_dead, "dense: reads a value that is not there"},
      {reads_from_nothing, "dense: reads a value that nothing makes"},
      {gives_what_is_dead, "an output: is not there"},
      {lacks_semantics, "y: has neither operator, expression nor move"},
      {reads_another_type, "y: has an operand of another type than its input"},
      {computes_another_shape, "its output 'dense' is not of the type that the operator's rules"},
      {waits_for_itself, "waits for its own result"},
  };
  for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); ++i) {
    subject_t subject;
    REQUIRE(open(&subject));
    const tenon_sink_t* sink = &subject.fixture.messages.sink;
    EXPECT_STATUS(tenon__network_verify(subject.fixture.network, sink), TENON_OK);
    faults[i].break_it(&subject);
    EXPECT(tenon__network_verify(subject.fixture.network, sink) != TENON_OK);
    EXPECT_CONTAINS(subject.fixture.messages.text, faults[i].message);
    test_fixture_close(&subject.fixture);
  }
}
