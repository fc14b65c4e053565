/* Functions and subgraphs, seen through what gets built. */
#include "testing/graph.h"

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
    tenon__fake_initialize(&fake, &under_test);
    tenon__fake_add_part(&fake, m.bytes, m.size);
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
