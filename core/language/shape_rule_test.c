/* Shapes, conditions and contents by the rules that operators of every kind need. */
#include "core/language/shape_rule.h"

#include "core/base/test.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_prove.h"
#include "core/language/condition.h"
#include "core/language/test_scope.h"

static tenon_dim_t make_fresh(void* user, uint32_t output, uint32_t axis, tenon_dim_t bound) {
  tenon__dim_pool_t* pool = user;
  const tenon__symbol_t symbol = {
      .kind = TENON_SYMBOL_EXTENT, .a = output, .b = axis, .max = INT64_MAX, .bound = bound};
  return tenon__dim_symbol(pool, &symbol);
}

static tenon_status_t shapes_of(test_scope_t* t, const char* source, const tenon_sink_t* sink,
                                tenon__inferred_shape_t* shapes, uint32_t count) {
  tenon__text_t text = {0};
  const tenon_status_t status = tenon__text_parse(&t->arena, source, sink, &text);
  const tenon__node_text_t rule = {&t->scope, &text, &t->arena, sink};
  return status != TENON_OK
             ? status
             : tenon__shape_rule_evaluate(&rule, (tenon__fresh_t){make_fresh, t->scope.pool},
                                          shapes, count);
}

static void expect_shape(test_scope_t* t, const char* rule, const char* expected, int line) {
  tenon__inferred_shape_t shape = {TENON_NONE, NULL};
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  const tenon_status_t status = shapes_of(t, rule, sink, &shape, 1);
  if (status != TENON_OK) {
    tenon__test_fail(__FILE__, line, "%s: %s", rule, messages.text);
    return;
  }
  const char* text = test_list_text(t, shape.dims, shape.rank);
  if (strcmp(text, expected) != 0) {
    tenon__test_fail(__FILE__, line, "%s gives [%s], expected [%s]", rule, text, expected);
  }
}

static void expect_fault(test_scope_t* t, const char* rule, tenon_status_t expected,
                         const char* message, int line) {
  tenon__inferred_shape_t shapes[TEST_ITEMS] = {0};
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  const tenon_status_t status = shapes_of(t, rule, sink, shapes, t->outputs[0].count);
  if (status != expected || strstr(messages.text, message) == NULL || messages.count != 1) {
    tenon__test_fail(__FILE__, line, "%s: status %d, says \"%s\"", rule, status, messages.text);
  }
}

#define EXPECT_SHAPE(rule, expected) expect_shape(&t, rule, expected, __LINE__)
#define EXPECT_FAULT(rule, status, message) expect_fault(&t, rule, status, message, __LINE__)
#define WITH_SCOPE \
  test_scope_t t;  \
  REQUIRE(test_begin(&t, tenon__allocator_default()))

TENON_TEST(simple_shapes) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b 3 h w");
  test_input(&t, "bias", TENON_DTYPE_FLOAT32, NULL);
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  test_int(&t, "axis", -1);
  EXPECT_SHAPE("y = x", "b, 3, h, w");
  EXPECT_SHAPE("y = []", "");
  EXPECT_SHAPE("y = [dim(x, 0), 7]", "b, 7");
  EXPECT_SHAPE("y = present(bias) ? bias : x", "b, 3, h, w");
  EXPECT_SHAPE("y.rank = rank(x) - 1; y[d] = dim(x, d + 1)", "3, h, w");
  EXPECT_SHAPE("let a = wrap(axis, rank(x)); y.rank = rank(x); y[d] = d == a ? 1 : dim(x, d)",
               "b, 3, h, 1");
  EXPECT_SHAPE("y.rank = 2; y[0] = dim(x, 1); y[d] = elements(x)", "3, 3*b*h*w");
  EXPECT_SHAPE("y.rank = 2; y[d] = d == 0 ? elements(x, 0, 2) : elements(x, 2, rank(x))",
               "3*b, h*w");
  EXPECT_SHAPE("y.rank = 1; y[d] = (dim(x, -1) + 2 * 1 - 3) / 2 + 1", "(w + 1)/2");
  EXPECT_SHAPE("y.rank = 2; let e = dim(x, d) ; y[d] = e * 2", "2*b, 6");
  EXPECT_SHAPE("y.rank = 1; y[d] = min(max(dim(x, 2), 0), 9223372036854775807)", "h");
  EXPECT_SHAPE("y.rank = 1; y[d] = floor(2.5 * 3)", "7");
  EXPECT_SHAPE("y.rank = 2; y[d] = dim(x, d) + rank(y)", "b + 2, 5");
  test_end(&t);
}

/* A reshape as an operator would write it. */
TENON_TEST(reshape_with_zero_and_minus_one) {
  static const char rule[] =
      "let m = index_of(dims, -1);"
      "let rest = m < 0 ? 1 : (0 == m ? 1 : at(dims, 0, 1) == 0 ? dim(x, 0) : at(dims, 0, 1));"
      "let known = rest * (1 == m ? 1 : at(dims, 1, 1) == 0 ? dim(x, 1) : at(dims, 1, 1))"
      " * (2 == m ? 1 : at(dims, 2, 1)) * (3 == m ? 1 : at(dims, 3, 1));"
      "y.rank = len(dims);"
      "y[d] = dims[d] == 0 ? dim(x, d) : d == m ? elements(x) / known : dims[d]";
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b s 768");
  test_contents(&t, "dims", 1, "0 -1 12 64");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  EXPECT_SHAPE(rule, "b, s, 12, 64");
  test_end(&t);
}

TENON_TEST(strided_slices) {
  static const char rule[] =
      "let n = dim(x, d);"
      "let k = present(axes) ? axis_of(axes, d, rank(x)) : d < len(starts) ? d : -1;"
      "let step = present(steps) ? steps[k] : 1; let low = step > 0 ? 0 : -1;"
      "let begin = clamp(wrap(starts[k], n), low, n + low);"
      "let end = clamp(wrap(ends[k], n), low, n + low); y.rank = rank(x);"
      "y[d] = k < 0 ? n : step > 0 ? max(0, ceil_div(end - begin, step))"
      " : max(0, ceil_div(begin - end, -step))";
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b s 768");
  test_contents(&t, "starts", 1, "1 -1");
  test_contents(&t, "ends", 1, "9223372036854775807 -9223372036854775808");
  test_contents(&t, "axes", 1, "1 -1");
  test_contents(&t, "steps", 1, "2 -1");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  EXPECT_SHAPE(rule, "b, s/2, 768");
  test_end(&t);
}

TENON_TEST(broadcasting) {
  WITH_SCOPE;
  test_input(&t, "xs", TENON_DTYPE_FLOAT32, "b 1 5");
  test_input(&t, "xs", TENON_DTYPE_FLOAT32, "s 1");
  test_input(&t, "z", TENON_DTYPE_FLOAT32, "5");
  test_input(&t, "q", TENON_DTYPE_FLOAT32, "b");
  test_input(&t, "wrong", TENON_DTYPE_FLOAT32, "3");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  EXPECT_SHAPE("y = broadcast(xs)", "b, s, 5");
  EXPECT_SHAPE("y = broadcast(xs, z)", "b, s, 5");
  EXPECT_SHAPE("y = broadcast(z, q)", "5");
  EXPECT_SHAPE("y = broadcast(q, [dim(xs[1], 0)])", "b == 1 ? s : b");
  EXPECT_SHAPE("y = broadcast(q, [3, 1])", "3, b");
  EXPECT_FAULT("y = broadcast(xs, wrong)", TENON_ERROR_INVALID_DATA,
               "shapes [b, s, 5] and [3] do not broadcast");
  test_end(&t);
}

TENON_TEST(variadic_ports) {
  WITH_SCOPE;
  test_input(&t, "xs", TENON_DTYPE_FLOAT32, "b s 4");
  test_input(&t, "xs", TENON_DTYPE_FLOAT32, "b p 4");
  test_contents(&t, "sizes", 1, "2 5");
  test_output(&t, "ys", TENON_DTYPE_FLOAT32, 2);
  test_int(&t, "axis", 1);
  tenon__inferred_shape_t shapes[2] = {0};
  EXPECT_STATUS(shapes_of(&t,
                          "ys.count = len(sizes); ys.rank = rank(xs);"
                          "ys[d] = d == axis ? sum_dim(xs, axis) : d == 0 ? sizes[k] : count(xs)",
                          NULL, shapes, 2),
                TENON_OK);
  EXPECT_TEXT(test_list_text(&t, shapes[0].dims, shapes[0].rank), "2, s + p, 2");
  EXPECT_TEXT(test_list_text(&t, shapes[1].dims, shapes[1].rank), "5, s + p, 2");
  /* Sums that end earlier than the one before, and along another axis. */
  EXPECT_STATUS(shapes_of(&t,
                          "ys.count = 2; ys.rank = 4; ys[d] = d == 0 ? before(2, 1) :"
                          " d == 1 ? before(1, 1) : d == 2 ? before(k, 0) : before(2, 1)",
                          NULL, shapes, 2),
                TENON_OK);
  EXPECT_TEXT(test_list_text(&t, shapes[0].dims, shapes[0].rank), "s + p, s, 0, s + p");
  EXPECT_TEXT(test_list_text(&t, shapes[1].dims, shapes[1].rank), "s + p, s, b, s + p");
  EXPECT_FAULT("ys.count = 3; ys = xs", TENON_ERROR_INVALID_DATA,
               "output 'ys' has 3 items, the node has 2");
  test_end(&t);
}

TENON_TEST(fresh_extents_are_shared_by_lets) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b 4");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  test_output(&t, "z", TENON_DTYPE_INT64, 1);
  tenon__inferred_shape_t shapes[2] = {0};
  EXPECT_STATUS(shapes_of(&t,
                          "let n = fresh(elements(x)); y.rank = 2; y[d] = d == 0 ? n : 4;"
                          "z.rank = 2; z[d] = d == 0 ? n : fresh()",
                          NULL, shapes, 2),
                TENON_OK);
  REQUIRE(shapes[0].dims != NULL && shapes[1].dims != NULL);
  EXPECT(tenon__dim_equal(shapes[0].dims[0], shapes[1].dims[0]));
  EXPECT(!tenon__dim_equal(shapes[1].dims[0], shapes[1].dims[1]));
  EXPECT(tenon__dim_never_above(
      t.scope.pool, shapes[0].dims[0],
      tenon__dim_multiply(t.scope.pool, test_dim(&t, "b"), test_dim(&t, "4"))));
  test_end(&t);
}

TENON_TEST(absent_outputs_need_no_rule) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b 4");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  test_output(&t, "z", TENON_DTYPE_FLOAT32, 1);
  t.output_values[1][0].present = false;
  tenon__inferred_shape_t shapes[2] = {0};
  EXPECT_STATUS(shapes_of(&t, "y = x", NULL, shapes, 2), TENON_OK);
  EXPECT_INT(shapes[1].rank, 0);
  test_end(&t);
}

TENON_TEST(faults_name_the_place) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b 4");
  test_input(&t, "unknown", TENON_DTYPE_INT64, "3");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  test_string(&t, "mode", "a");
  EXPECT_FAULT("y = q", TENON_ERROR_INVALID_DATA, "column 5: unknown name 'q'");
  EXPECT_FAULT("y.rank = 1; y[d] = dim(x, 2)", TENON_ERROR_INVALID_DATA,
               "column 27: axis 2 of 'x', which has rank 2");
  EXPECT_FAULT("y.rank = 1; y[d] = foo(x)", TENON_ERROR_INVALID_DATA, "unknown function 'foo'");
  EXPECT_FAULT("y.rank = 1; y[d] = dim(x)", TENON_ERROR_INVALID_DATA, "takes 2 arguments, not 1");
  EXPECT_FAULT("y.rank = 1; y[d] = mode", TENON_ERROR_INVALID_DATA, "an integer is expected");
  EXPECT_FAULT("y.rank = 1; y[d] = 1 / (rank(x) - 2)", TENON_ERROR_INVALID_DATA, "divided by zero");
  EXPECT_FAULT("y.rank = dim(x, 0); y[d] = 1", TENON_ERROR_UNSUPPORTED,
               "b must be known when building");
  EXPECT_FAULT("y.rank = 1; y[d] = unknown[0]", TENON_ERROR_UNSUPPORTED,
               "the contents of 'unknown' must be known");
  EXPECT_FAULT("y.rank = 1; y[d] = o(0)", TENON_ERROR_INVALID_DATA, "belong to moves");
  EXPECT_FAULT("y.rank = 1; y[d] = 3 - 4", TENON_ERROR_INVALID_DATA,
               "extent 0 of 'y' is negative: -1");
  EXPECT_FAULT("y.rank = 65; y[d] = 1", TENON_ERROR_INVALID_DATA, "y.rank is 65");
  EXPECT_FAULT("z.rank = 1", TENON_ERROR_INVALID_DATA, "the rule says nothing of output 'y'");
  EXPECT_FAULT("y.rank = 2; y[0] = 1", TENON_ERROR_INVALID_DATA, "the rule says nothing of axis 1");
  EXPECT_FAULT("let a = a + 1; y.rank = 1; y[d] = a", TENON_ERROR_INVALID_DATA, "unknown name 'a'");
  EXPECT_SHAPE("y.rank = 1; y[d] = len(unknown)", "3");
  test_end(&t);
}

TENON_TEST(lets_that_double_end_quickly) {
  WITH_SCOPE;
  char rule[8192] = "let a0 = dim(x, 0); ";
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b 4");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  for (int i = 1; i < 60; ++i) {
    (void)snprintf(rule + strlen(rule), sizeof(rule) - strlen(rule),
                   "let a%d = max(a%d, a%d + d); ", i, i - 1, i - 1);
  }
  (void)snprintf(rule + strlen(rule), sizeof(rule) - strlen(rule), "y.rank = 2; y[d] = a59");
  EXPECT_SHAPE(rule, "b, b + 59");
  test_end(&t);
}

static void expect_condition(test_scope_t* t, const char* source, bool expected, int line) {
  const tenon__syntax_t* syntax = NULL;
  bool holds = !expected;
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  if (tenon__text_parse_expression(&t->arena, source, sink, &syntax) != TENON_OK ||
      tenon__condition_evaluate(&t->scope, syntax, sink, &holds) != TENON_OK || holds != expected) {
    tenon__test_fail(__FILE__, line, "%s is %d: %s", source, holds, messages.text);
  }
}

#define EXPECT_CONDITION(source, expected) expect_condition(&t, source, expected, __LINE__)

TENON_TEST(conditions) {
  static const int64_t perm[] = {0, 2, 1};
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT16, "b 4 4");
  test_input(&t, "bias", TENON_DTYPE_FLOAT16, NULL);
  test_output(&t, "y", TENON_DTYPE_FLOAT16, 1);
  test_string(&t, "mode", "edge");
  test_float(&t, "alpha", 0.5);
  test_ints(&t, "perm", perm, 3);
  test_dtype(&t, "to", TENON_DTYPE_INT8);
  t.attributes[1].defined = false;
  EXPECT_CONDITION("mode == 'edge' && !present(bias)", true);
  EXPECT_CONDITION("mode != 'edge' || alpha == 0.5", true);
  EXPECT_CONDITION("alpha > 1", false);
  EXPECT_CONDITION("dtype(x) == 'f16' && to == 'i8'", true);
  EXPECT_CONDITION("defined(mode) && !defined(alpha)", true);
  EXPECT_CONDITION("has(perm, 2) && index_of(perm, 1) == 2 && len(perm) == rank(x)", true);
  EXPECT_CONDITION("axis_of(perm, 1, 3) == 2 && sum(perm, 0, 3) == 3 && prod(perm, 1, 3) == 2",
                   true);
  EXPECT_CONDITION("present(bias) && dim(bias, 0) == 3", false);
  EXPECT_CONDITION("dim(x, 0) == 0", false);
  EXPECT_CONDITION("true", true);
  EXPECT_CONDITION("abs(0 - 3) == 3 && ceil_div(7, 2) == 4 && ceil_div(7, -2) == -3", true);
  EXPECT_CONDITION("-7 / 2 == -4 && -7 % 4 == 1 && clamp(9, 0, 5) == 5", true);
  EXPECT_CONDITION("at(perm, 5, 9) == 9 && at(perm, 1, 9) == 2", true);
  const tenon__syntax_t* syntax = NULL;
  bool holds = false;
  EXPECT_STATUS(tenon__text_parse_expression(&t.arena, "dim(x, 0) == 2", NULL, &syntax), TENON_OK);
  EXPECT_STATUS(tenon__condition_evaluate(&t.scope, syntax, NULL, &holds), TENON_ERROR_UNSUPPORTED);
  test_end(&t);
}

TENON_TEST(checks_fill_their_messages) {
  static const int64_t perm[] = {0, 2, 1};
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT16, "b 130 4");
  test_ints(&t, "perm", perm, 3);
  test_int(&t, "groups", 4);
  const tenon__syntax_t* syntax = NULL;
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  EXPECT_STATUS(tenon__text_parse_expression(&t.arena, "dim(x, 1) % groups == 0", NULL, &syntax),
                TENON_OK);
  EXPECT_STATUS(tenon__check_evaluate(
                    &t.scope, syntax,
                    "{dim(x, 1)} channels, {groups} groups of {dim(x, 0)}, {perm}, {?}", sink),
                TENON_ERROR_INVALID_DATA);
  EXPECT_TEXT(messages.text, "130 channels, 4 groups of b, [0, 2, 1], {?}\n");
  EXPECT_STATUS(tenon__text_parse_expression(&t.arena, "dim(x, 0) == 2", NULL, &syntax), TENON_OK);
  EXPECT_STATUS(tenon__check_evaluate(&t.scope, syntax, "no", sink), TENON_OK);
  EXPECT_STATUS(tenon__text_parse_expression(&t.arena, "dim(x, 7) == 2", NULL, &syntax), TENON_OK);
  EXPECT_STATUS(tenon__check_evaluate(&t.scope, syntax, "no", sink), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(messages.text, "axis 7 of 'x'");
  test_end(&t);
}

TENON_TEST(contents_of_shapes) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT16, "b 130 4");
  test_output(&t, "y", TENON_DTYPE_INT64, 1);
  tenon__text_t text = {0};
  tenon__type_t type = {0};
  tenon__inferred_shape_t shape = {0, NULL};
  const tenon__node_text_t rule = {&t.scope, &text, &t.arena, NULL};
  shape.rank = test_dims(&t, "2", &shape.dims);
  EXPECT_STATUS(tenon__text_parse(&t.arena, "let r = 1; y[i] = dim(x, i + r)", NULL, &text),
                TENON_OK);
  EXPECT_STATUS(tenon__contents_evaluate(&rule, 0, &shape, &type), TENON_OK);
  EXPECT_TEXT(test_list_text(&t, type.contents, type.content_count), "130, 4");
  shape.rank = 0;
  EXPECT_STATUS(tenon__text_parse(&t.arena, "y = elements(x)", NULL, &text), TENON_OK);
  EXPECT_STATUS(tenon__contents_evaluate(&rule, 0, &shape, &type), TENON_OK);
  EXPECT_TEXT(test_list_text(&t, type.contents, type.content_count), "520*b");
  test_end(&t);
}

static bool evaluate_rules(tenon_allocator_t allocator, void* user) {
  (void)user;
  test_scope_t t;
  tenon__inferred_shape_t shape = {0};
  const tenon__syntax_t* syntax = NULL;
  tenon__type_t type = {0};
  tenon__text_t text = {0};
  bool fine = test_begin(&t, allocator);
  if (fine) {
    test_input(&t, "x", TENON_DTYPE_FLOAT32, "b s 768");
    test_input(&t, "z", TENON_DTYPE_FLOAT32, "s 1");
    test_contents(&t, "dims", 1, "0 -1 12 64");
    test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
    fine =
        t.fine &&
        shapes_of(&t, "let n = dims[d]; y.rank = len(dims); y[d] = n < 0 ? fresh(dim(x, 1)) : n",
                  NULL, &shape, 1) == TENON_OK &&
        shapes_of(&t, "y = broadcast(x, z)", NULL, &shape, 1) == TENON_OK &&
        tenon__text_parse_expression(&t.arena, "dim(x, 2) == 3", NULL, &syntax) == TENON_OK &&
        tenon__check_evaluate(&t.scope, syntax, "{dim(x, 2)}", NULL) == TENON_ERROR_INVALID_DATA &&
        tenon__text_parse(&t.arena, "y[i] = i * 2", NULL, &text) == TENON_OK;
    shape.rank = test_dims(&t, "3", &shape.dims);
    fine = fine && t.fine &&
           tenon__contents_evaluate(&(tenon__node_text_t){&t.scope, &text, &t.arena, NULL}, 0,
                                    &shape, &type) == TENON_OK;
  }
  test_end(&t);
  return fine;
}

TENON_TEST(survives_failing_allocations) {
  tenon__test_each_allocation(evaluate_rules, NULL);
}
