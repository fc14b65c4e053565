/* Branches of an If that cannot be built, or whose results differ, seen through what gets built. */
#include "testing/graph.h"

static const int64_t two_by_two[2] = {2, 2};

static void begin_graph(tenon__message_t* m, const char* name) {
  begin_attribute(m, name, 5);
  tenon__message_begin(m, 6);
}

static void end_graph(tenon__message_t* m) {
  tenon__message_end(m);
  tenon__message_end(m);
}

/* A subgraph of one node, without inputs. */
static void branch_of(tenon__message_t* m, const char* name, const char* type,
                      const char* node_name, const char* inputs) {
  begin_graph(m, name);
  node(m, type, node_name, inputs, "out");
  output(m, "out");
  end_graph(m);
}

/* c: a condition that only a run knows; x f32[2]; z f32[2, 2]. */
static tenon__message_t begin_model(void) {
  tenon__message_t m = begin(13);
  tenon__message_value_info(&m, 11, "c", 9, 0, NULL);
  input(&m, "x");
  tenon__message_value_info(&m, 11, "z", 1, 2, two_by_two);
  return m;
}

static void end_model(tenon__message_t* m) {
  output(m, "y");
  tenon__message_end_model(m);
}

/* y = If(c) then TYPE(x) else TYPE(x). */
static tenon__message_t choice(const char* then_type, const char* else_type) {
  tenon__message_t m = begin_model();
  tenon__message_begin_node(&m, 1, "If", "if", "c", "y");
  branch_of(&m, "then_branch", then_type, "p", "x");
  branch_of(&m, "else_branch", else_type, "q", "x");
  tenon__message_end(&m);
  end_model(&m);
  return m;
}

TENON_TEST(a_branch_with_an_operator_that_nobody_has_cannot_run) {
  for (int which = 0; which < 2; ++which) {
    const tenon__message_t m = which == 0 ? choice("Unheard", "Relu") : choice("Relu", "Unheard");
    EXPECT_STATUS(parse(&m), TENON_OK);
    EXPECT_INT(fake.missing_count, 0);
    EXPECT_TEXT(fake.messages, "");
    EXPECT_CONTAINS(fake.log, which == 0
                                  ? "begin if/then_branch\nparameter x %7: f32[2]\n"
                                    "fail body2 4: Unheard 'p': no converter takes Unheard\n"
                                  : "fail body2 4: Unheard 'q': no converter takes Unheard\n");
    EXPECT_CONTAINS(fake.log, which == 0 ? "node standard.branch/1 'if' %1 %2 body2 body1"
                                         : "node standard.branch/1 'if' %1 %2 body1 body2");
    /* It is told of all the same, among what the file holds. */
    EXPECT_CONTAINS(fake.declared, ":Unheard:13:");
    release();
  }
}

TENON_TEST(operators_that_both_branches_lack_are_told_at_once) {
  const tenon__message_t m = choice("Unheard", "Unseen");
  EXPECT_STATUS(parse(&m), TENON_ERROR_UNSUPPORTED);
  EXPECT_TEXT(fake.missing, ":Unheard:13:p\n:Unseen:13:q\n");
  release();
}

TENON_TEST(an_operator_that_is_certainly_needed_is_told) {
  const int64_t yes = 1; /* the fake knows numbers of this type */
  tenon__message_t m = begin_model();
  tenon__message_begin(&m, 5);
  tenon__message_varint(&m, 2, 7);
  tenon__message_text(&m, 8, "known");
  tenon__message_bytes(&m, 9, &yes, sizeof(yes));
  tenon__message_end(&m);
  tenon__message_begin_node(&m, 1, "If", "if", "known", "y");
  branch_of(&m, "then_branch", "Unheard", "p", "x");
  branch_of(&m, "else_branch", "Relu", "q", "x");
  tenon__message_end(&m);
  end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_ERROR_UNSUPPORTED);
  EXPECT_TEXT(fake.missing, ":Unheard:13:p\n");
  release();
}

/* BitShift says what is wrong itself. */
TENON_TEST(a_branch_that_a_converter_refuses_cannot_run) {
  tenon__message_t m = begin_model();
  tenon__message_begin_node(&m, 1, "If", "if", "c", "y");
  begin_graph(&m, "then_branch");
  tenon__message_begin_node(&m, 1, "BitShift", "shift", "x x", "out");
  begin_attribute(&m, "direction", 3);
  tenon__message_text(&m, 4, "UP");
  tenon__message_end(&m);
  tenon__message_end(&m);
  output(&m, "out");
  end_graph(&m);
  branch_of(&m, "else_branch", "Relu", "q", "x");
  tenon__message_end(&m);
  end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_TEXT(fake.messages, "");
  EXPECT_CONTAINS(fake.log, "cancel body\n");
  EXPECT_CONTAINS(fake.log,
                  "fail body2 3: BitShift 'shift': direction 'UP' is neither LEFT nor "
                  "RIGHT\n");
  release();
}

/* What else a file may have wrong is no matter of branches. */
TENON_TEST(an_if_without_a_branch_is_refused) {
  tenon__message_t m = begin_model();
  tenon__message_begin_node(&m, 1, "If", "if", "c", "y");
  branch_of(&m, "then_branch", "Relu", "p", "x");
  tenon__message_end(&m);
  end_model(&m);
  expect_refused(&m, TENON_ERROR_INVALID_DATA, "If 'if' lacks the graph 'else_branch'");
}

/* then: x, f32[2]; else: z, f32[2, 2]. */
static void add_ranks(tenon__message_t* m, const char* name) {
  tenon__message_begin_node(m, 1, "If", "if", "c", name);
  branch_of(m, "then_branch", "Relu", "p", "x");
  branch_of(m, "else_branch", "Relu", "q", "z");
  tenon__message_end(m);
}

static tenon__message_t either_rank(void) {
  tenon__message_t m = begin_model();
  initialiser(&m, "w");
  node(&m, "Neg", "before", "x", "b");
  add_ranks(&m, "t");
  node(&m, "Add", "sum", "b t", "s"); /* of the fake: like its first input */
  node(&m, "Mul", "product", "s w", "y");
  end_model(&m);
  return m;
}

TENON_TEST(what_works_with_either_rank_is_taken_into_the_branches) {
  const tenon__message_t m = either_rank();
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_TEXT(fake.messages, "");
  /* The weights are there once, and what is read is passed. */
  EXPECT_CONTAINS(fake.log, "constant w");
  EXPECT(strstr(strstr(fake.log, "constant w") + 1, "constant w") == NULL);
  EXPECT_CONTAINS(fake.log, "'sum'");
  const char* node_line = strstr(fake.log, "node standard.branch/1 'if'");
  REQUIRE(node_line != NULL);
  EXPECT(strstr(node_line, "'sum'") == NULL);
  EXPECT(strstr(node_line, "'product'") == NULL);
  EXPECT_CONTAINS(node_line, "body3 body4 ->");
  EXPECT_CONTAINS(node_line, "output y %");
  release();
}

TENON_TEST(what_is_declared_decides_where_ranks_remain) {
  tenon__message_t m = begin_model();
  add_ranks(&m, "y"); /* which is declared f32[2] */
  end_model(&m);
  EXPECT_STATUS(parse(&m), TENON_OK);
  EXPECT_CONTAINS(fake.log,
                  "4: its results are y f32[2, 2]; with these the file's outputs are of "
                  "other types than it declares\n");
  release();
}

TENON_TEST(every_failing_allocation_is_reported) {
  const tenon__message_t models[2] = {either_rank(), choice("Unheard", "Relu")};
  for (int k = 0; k < 2; ++k) {
    bool failed = true;
    for (size_t fail_at = 1; failed; ++fail_at) {
      tenon__fake_initialize(&fake, &under_test);
      tenon__fake_add_part(&fake, models[k].bytes, models[k].size);
      fake.fail_at = fail_at;
      const tenon_status_t status = tenon__fake_parse(&fake);
      failed = fake.allocation_count >= fail_at;
      EXPECT(status == (failed ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK));
      EXPECT_INT(fake.open_bodies, 0);
      release();
    }
  }
}
