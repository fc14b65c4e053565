/* Names, order, functions, subgraphs and inputs, seen through what gets built. */
#include "core/base/test.h"
#include "testing/fake.h"

static const int64_t two[1] = {2};

static tenon__fake_t fake;

/* Parses, keeps the fake for looking at; the test releases. */
static tenon_status_t parse(const tenon__message_t* message) {
  tenon__fake_initialize(&fake, message->bytes, message->size);
  const tenon_status_t status = tenon__fake_parse(&fake);
  EXPECT(status == TENON_OK || fake.error_count > 0 || fake.missing_count > 0);
  EXPECT(status != TENON_OK || fake.error_count == 0);
  EXPECT_INT(fake.open_bodies, 0);
  return status;
}

static void release(void) {
  tenon__fake_deinitialize(&fake);
}

static void expect_refused(const tenon__message_t* message, tenon_status_t status,
                           const char* words) {
  EXPECT_STATUS(parse(message), status);
  EXPECT_CONTAINS(fake.messages, words);
  EXPECT_INT(fake.error_count, 1);
  release();
}

static tenon__message_t begin(uint64_t opset) {
  tenon__message_t m = {.size = 0};
  tenon__message_begin_model(&m, opset);
  tenon__message_text(&m, 2, "graph");
  return m;
}

static void node(tenon__message_t* m, const char* type, const char* name, const char* inputs,
                 const char* outputs) {
  tenon__message_begin_node(m, 1, type, name, inputs, outputs);
  tenon__message_end(m);
}

static void input(tenon__message_t* m, const char* name) {
  tenon__message_value_info(m, 11, name, 1, 1, two);
}

static void output(tenon__message_t* m, const char* name) {
  tenon__message_value_info(m, 12, name, 1, 1, two);
}

static void initialiser(tenon__message_t* m, const char* name) {
  static const float values[2] = {1, 2};
  tenon__message_begin(m, 5);
  tenon__message_varint(m, 1, 2);
  tenon__message_varint(m, 2, 1);
  tenon__message_text(m, 8, name);
  tenon__message_bytes(m, 9, values, sizeof(values));
  tenon__message_end(m);
}

TENON_TEST(builds_inputs_nodes_outputs) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Relu", "act", "x", "y");
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_TEXT(fake.log,
              "input x %1: f32[2]\n"
              "node standard.relu/1 'act' %1 -> %2\n"
              "name %2 y\n"
              "output y %2\n");
  release();
}

TENON_TEST(nodes_out_of_order_are_sorted) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Exp", "second", "t", "y");
  node(&m, "Log", "first", "x", "t");
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.log,
                  "node standard.log/1 'first' %1 -> %2\nname %2 t\n"
                  "node standard.exp/1 'second' %2 -> %3\n");
  release();
}

TENON_TEST(cycles_are_refused) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Add", "a", "x u", "t");
  node(&m, "Add", "b", "x t", "u");
  output(&m, "t");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "Add 'a' needs its own output");
}

TENON_TEST(dangling_names_are_refused) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Add", "a", "x nothing", "t");
  output(&m, "t");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "Add 'a' reads 'nothing', which no node");
  m = begin(13);
  input(&m, "x");
  output(&m, "t");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "output 't' is produced by no node");
}

/* An input whose type is these kinds (fields of TypeProto) around a tensor of floats. */
static void input_of_kinds(tenon__message_t* m, const char* name, const uint32_t* kinds,
                           uint32_t count) {
  enum { SEQUENCE_OR_OPTIONAL_ELEMENT = 1, TENSOR = 1, FLOAT = 1 };
  tenon__message_begin(m, 11);
  tenon__message_text(m, 1, name);
  tenon__message_begin(m, 2);
  for (uint32_t i = 0; i < count; ++i) {
    tenon__message_begin(m, kinds[i]);
    tenon__message_begin(m, SEQUENCE_OR_OPTIONAL_ELEMENT);
  }
  tenon__message_begin(m, TENSOR);
  tenon__message_varint(m, 1, FLOAT);
  for (uint32_t i = 0; i < 3 + 2 * count; ++i) {
    tenon__message_end(m);
  }
}

TENON_TEST(containers_hold_tensors_alone) {
  enum { SEQUENCE = 4, OPTIONAL_OF = 9 };
  tenon__message_t m = begin(18);
  input_of_kinds(&m, "s", (const uint32_t[]){SEQUENCE}, 1);
  input_of_kinds(&m, "o", (const uint32_t[]){OPTIONAL_OF}, 1);
  node(&m, "OptionalHasElement", "a", "o", "y");
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  release();
  m = begin(18);
  input_of_kinds(&m, "o", (const uint32_t[]){OPTIONAL_OF, SEQUENCE}, 2);
  node(&m, "OptionalGetElement", "a", "o", "y");
  output(&m, "y");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_UNSUPPORTED, "input 'o' is a container of containers");
}

TENON_TEST(names_defined_twice_are_refused) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Exp", "a", "x", "t");
  node(&m, "Log", "b", "x", "t");
  output(&m, "t");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "'t' is defined twice");
}

TENON_TEST(initialiser_of_an_input_is_a_constant) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  input(&m, "w");
  initialiser(&m, "w");
  initialiser(&m, "unused");
  node(&m, "Add", "a", "x w", "y");
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT(strstr(fake.log, "input w") == NULL && strstr(fake.log, "unused") == NULL);
  EXPECT_CONTAINS(fake.log, "%2: f32[2]\nnode standard.add/1 'a' %1 %2 -> %3\n");
  release();
}

TENON_TEST(everything_missing_is_told_at_once) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Strange", "a", "x", "t");
  node(&m, "Relu", "b", "t", "u");
  tenon__message_begin_node(&m, 1, "Stranger", "c", "u", "y");
  tenon__message_text(&m, 7, "acme");
  tenon__message_end(&m);
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_ERROR_UNSUPPORTED);
  EXPECT_TEXT(fake.missing, ":Strange:13:a\nacme:Stranger:1:c\n");
  EXPECT_TEXT(fake.log, "");
  release();
}

TENON_TEST(unnamed_and_unwanted_things) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  node(&m, "Clip", "", "x _ x", "y unused");
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.log, "node standard.clip/1 'Clip_y' %1 %0 %1 -> %2 %3\n");
  release();
}

static void begin_attribute(tenon__message_t* m, const char* name, uint64_t type) {
  tenon__message_begin(m, 5);
  tenon__message_text(m, 1, name);
  tenon__message_varint(m, 20, type);
}

TENON_TEST(attributes_of_a_wrong_kind_are_refused) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  tenon__message_begin_node(&m, 1, "Gemm", "g", "x x", "y");
  begin_attribute(&m, "alpha", 2);
  tenon__message_varint(&m, 3, 1);
  tenon__message_end(&m);
  tenon__message_end(&m);
  output(&m, "y");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA,
                 "Gemm 'g': attribute 'alpha' is an int, it must be a float");
}

TENON_TEST(constants_in_their_forms) {
  tenon__message_t m = begin(13);
  tenon__message_begin_node(&m, 1, "Constant", "a", "", "a");
  begin_attribute(&m, "value_float", 1);
  tenon__message_float(&m, 2, 0.5F);
  tenon__message_end(&m);
  tenon__message_end(&m);
  tenon__message_begin_node(&m, 1, "Constant", "b", "", "b");
  begin_attribute(&m, "value_ints", 7);
  tenon__message_varint(&m, 8, 5);
  tenon__message_varint(&m, 8, 6);
  tenon__message_end(&m);
  tenon__message_end(&m);
  tenon__message_begin_node(&m, 1, "Constant", "c", "", "c");
  begin_attribute(&m, "value_string", 3);
  tenon__message_text(&m, 4, "text");
  tenon__message_end(&m);
  tenon__message_end(&m);
  output(&m, "a");
  output(&m, "b");
  output(&m, "c");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.log, "constant a %1: f32\n");
  EXPECT_CONTAINS(fake.log, "constant b %2: i64[2]\n");
  EXPECT_CONTAINS(fake.log, "constant c %3: str\n");
  release();
}

TENON_TEST(constant_without_value_is_refused) {
  tenon__message_t m = begin(13);
  node(&m, "Constant", "a", "", "a");
  output(&m, "a");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "Constant 'a' has 0 values");
}

/* An input of unknown rank. */
static tenon__message_t without_shape(void) {
  tenon__message_t m = begin(13);
  tenon__message_begin(&m, 11);
  tenon__message_text(&m, 1, "x");
  tenon__message_begin(&m, 2);
  tenon__message_begin(&m, 1);
  tenon__message_varint(&m, 1, 1);
  for (int i = 0; i < 3; ++i) {
    tenon__message_end(&m);
  }
  node(&m, "Relu", "a", "x", "y");
  output(&m, "y");
  tenon__message_end_model(&m);
  return m;
}

TENON_TEST(rank_that_the_file_leaves_open_must_be_given) {
  const tenon__message_t m = without_shape();
  expect_refused(&m, TENON_ERROR_INVALID_ARGUMENT, "input 'x' (f32) has no shape in the file");
  static const int64_t dims[2] = {1, -1};
  tenon__fake_initialize(&fake, m.bytes, m.size);
  fake.shape_input = "x";
  fake.shape_rank = 2;
  fake.shape_dims = dims;
  EXPECT_STATUS(tenon__fake_parse(&fake), TENON_OK);
  EXPECT_CONTAINS(fake.log, "input x %1: f32[1,-1]\n");
  release();
}

TENON_TEST(given_shape_must_agree_with_the_file) {
  static const int64_t open[2] = {3, -1};
  static const int64_t dims[2] = {4, 5};
  tenon__message_t m = begin(13);
  tenon__message_value_info(&m, 11, "x", 1, 2, open);
  node(&m, "Relu", "a", "x", "y");
  output(&m, "y");
  tenon__message_end_model(&m);
  tenon__fake_initialize(&fake, m.bytes, m.size);
  fake.shape_input = "x";
  fake.shape_rank = 2;
  fake.shape_dims = dims;
  EXPECT_STATUS(tenon__fake_parse(&fake), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(fake.messages, "dimension 0 is 3 in the file, the shape given says 4");
  release();
}

/* --- Functions ---------------------------------------------------------------------------- */

/* Ends the graph and begins a function of domain "local" in the model. */
static void begin_function(tenon__message_t* m, const char* name, const char* in, const char* out) {
  tenon__message_begin(m, 25);
  tenon__message_text(m, 1, name);
  tenon__message_text(m, 10, "local");
  tenon__message_text(m, 4, in);
  tenon__message_text(m, 5, out);
  tenon__message_begin(m, 9);
  tenon__message_varint(m, 2, 13);
  tenon__message_end(m);
}

static void call(tenon__message_t* m, uint32_t field, const char* type, const char* name,
                 const char* inputs, const char* outputs, float alpha) {
  tenon__message_begin_node(m, field, type, name, inputs, outputs);
  tenon__message_text(m, 7, "local");
  begin_attribute(m, "slope", 1);
  tenon__message_float(m, 2, alpha);
  tenon__message_end(m);
  tenon__message_end(m);
}

TENON_TEST(functions_become_their_nodes) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  call(&m, 1, "Leak", "first", "x", "t", 0.25F);
  call(&m, 1, "Leak", "second", "t", "y", 0.75F);
  output(&m, "y");
  tenon__message_end(&m);
  begin_function(&m, "Leak", "in", "out");
  tenon__message_text(&m, 6, "slope");
  tenon__message_begin_node(&m, 7, "LeakyRelu", "inner", "in", "out");
  begin_attribute(&m, "alpha", 1);
  tenon__message_text(&m, 21, "slope");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.log, "node standard.leaky_relu/1 'first/inner' alpha=0.25 %1 -> %2\n");
  EXPECT_CONTAINS(fake.log, "node standard.leaky_relu/1 'second/inner' alpha=0.75 %2 -> %3\n");
  EXPECT_CONTAINS(fake.log, "output y %3\n");
  release();
}

TENON_TEST(functions_that_call_themselves_are_refused) {
  tenon__message_t m = begin(13);
  input(&m, "x");
  call(&m, 1, "Round", "a", "x", "y", 0);
  output(&m, "y");
  tenon__message_end(&m);
  begin_function(&m, "Round", "in", "out");
  call(&m, 7, "Trip", "b", "in", "out", 0);
  tenon__message_end(&m);
  begin_function(&m, "Trip", "in", "out");
  call(&m, 7, "Round", "c", "in", "out", 0);
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "Round 'c': function 'Round' calls itself");
}

/* f0 calls f1 twice, f1 calls f2 twice, ...: 2^40 nodes from a small file. */
TENON_TEST(functions_that_explode_are_refused) {
  char names[41][16];
  tenon__message_t m = begin(13);
  input(&m, "x");
  call(&m, 1, "f0", "a", "x", "y", 0);
  output(&m, "y");
  tenon__message_end(&m);
  for (int i = 0; i < 41; ++i) {
    (void)snprintf(names[i], sizeof(names[i]), "f%d", i);
  }
  for (int i = 0; i < 40; ++i) {
    begin_function(&m, names[i], "in", "out");
    call(&m, 7, names[i + 1], "p", "in", "t", 0);
    call(&m, 7, names[i + 1], "q", "t", "out", 0);
    tenon__message_end(&m);
  }
  begin_function(&m, names[40], "in", "out");
  tenon__message_begin_node(&m, 7, "Identity", "i", "in", "out");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_UNSUPPORTED, "its functions expanded");
}

/* --- Subgraphs ---------------------------------------------------------------------------- */

static void begin_graph(tenon__message_t* m, const char* name) {
  begin_attribute(m, name, 5);
  tenon__message_begin(m, 6);
}

static void end_graph(tenon__message_t* m) {
  tenon__message_end(m);
  tenon__message_end(m);
}

TENON_TEST(both_branches_take_what_either_captures) {
  tenon__message_t m = begin(13);
  tenon__message_value_info(&m, 11, "c", 9, 0, NULL);
  input(&m, "x");
  input(&m, "z");
  initialiser(&m, "w");
  tenon__message_begin_node(&m, 1, "If", "if", "c", "y");
  begin_graph(&m, "then_branch");
  node(&m, "Add", "p", "x w", "then_out");
  output(&m, "then_out");
  end_graph(&m);
  begin_graph(&m, "else_branch");
  node(&m, "Add", "q", "z w", "else_out");
  output(&m, "else_out");
  end_graph(&m);
  tenon__message_end(&m);
  output(&m, "y");
  tenon__message_end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.log,
                  "begin if/then_branch\n"
                  "parameter x %4: f32[2]\n"
                  "parameter z %5: f32[2]\n");
  EXPECT_CONTAINS(fake.log, "node standard.add/1 'p' %4 %6 -> %7\n");
  EXPECT_CONTAINS(fake.log, "node standard.add/1 'q' %9 %10 -> %11\n");
  EXPECT_CONTAINS(fake.log, "node standard.branch/1 'if' %1 %2 %3 body1 body2 -> %12\n");
  release();
}

TENON_TEST(names_of_inner_graphs_stay_inside) {
  tenon__message_t m = begin(13);
  tenon__message_value_info(&m, 11, "c", 9, 0, NULL);
  tenon__message_begin_node(&m, 1, "If", "if", "c", "y");
  for (int i = 0; i < 2; ++i) {
    begin_graph(&m, i == 0 ? "then_branch" : "else_branch");
    node(&m, "Not", "n", "c", "inner");
    output(&m, "inner");
    end_graph(&m);
  }
  tenon__message_end(&m);
  output(&m, "inner");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "output 'inner' is produced by no node");
}

static tenon__message_t loop(int32_t rank_of_counter) {
  const int64_t one[1] = {1};
  tenon__message_t m = begin(13);
  tenon__message_value_info(&m, 11, "n", 7, 0, NULL);
  input(&m, "x");
  input(&m, "z");
  tenon__message_begin_node(&m, 1, "Loop", "loop", "n _ x", "last all");
  begin_graph(&m, "body");
  tenon__message_value_info(&m, 11, "i", 7, (uint32_t)rank_of_counter, one);
  tenon__message_value_info(&m, 11, "go", 9, 0, NULL);
  input(&m, "v");
  node(&m, "Identity", "keep", "go", "go_on");
  node(&m, "Add", "step", "v z", "v_next");
  output(&m, "go_on");
  output(&m, "v_next");
  output(&m, "v_next");
  end_graph(&m);
  tenon__message_end(&m);
  output(&m, "last");
  output(&m, "all");
  tenon__message_end_model(&m);
  return m;
}

TENON_TEST(loop_becomes_a_repetition) {
  const tenon__message_t m = loop(0);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.log,
                  "begin loop/body\n"
                  "parameter iteration %4: i64\n"
                  "parameter condition %5: bool\n"
                  "parameter v %6: f32[2]\n"
                  "parameter z %7: f32[2]\n"
                  "node standard.add/1 'step' %6 %7 -> %8\n"
                  "name %8 v_next\n"
                  "result %5\nresult %8\nresult %8\n"
                  "end body1\n");
  EXPECT_CONTAINS(fake.log,
                  "node standard.repetition/1 'loop' carried_count=1 scanned_count=0 axes=[0] "
                  "directions=[0] %1 %0 %2 %3 body1 -> %9 %10\n");
  release();
}

TENON_TEST(loop_counter_of_rank_1_is_reshaped) {
  const tenon__message_t m = loop(1);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.log, "node standard.reshape/1 'loop' %4 %8 -> %9\n");
  release();
}

TENON_TEST(loop_that_does_not_fit_its_body_is_refused) {
  tenon__message_t m = begin(13);
  tenon__message_value_info(&m, 11, "n", 7, 0, NULL);
  input(&m, "x");
  tenon__message_begin_node(&m, 1, "Loop", "loop", "n _ x x", "last more");
  begin_graph(&m, "body");
  tenon__message_value_info(&m, 11, "i", 7, 0, NULL);
  tenon__message_value_info(&m, 11, "go", 9, 0, NULL);
  output(&m, "go");
  end_graph(&m);
  tenon__message_end(&m);
  output(&m, "last");
  tenon__message_end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "its graph 'body' has 2 inputs and 1 outputs");
}

TENON_TEST(every_failing_allocation_is_reported) {
  const tenon__message_t m = loop(1);
  for (size_t fail_at = 1; fail_at < 100; ++fail_at) {
    tenon__fake_initialize(&fake, m.bytes, m.size);
    fake.fail_at = fail_at;
    const tenon_status_t status = tenon__fake_parse(&fake);
    const bool failed = fake.allocation_count >= fail_at;
    EXPECT(failed == (status != TENON_OK));
    EXPECT_INT(fake.open_bodies, 0);
    release();
    if (!failed) {
      return;
    }
  }
  EXPECT(false);
}
