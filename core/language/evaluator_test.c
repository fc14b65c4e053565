/* One language: the same text means the same where numbers, extents and elements are wanted. */
#include "core/language/evaluator.h"

#include "core/base/test.h"
#include "core/dimension/dimension_text.h"
#include "core/language/condition.h"
#include "core/language/instantiate.h"
#include "core/language/shape_rule.h"
#include "core/language/test_scope.h"
#include "core/program/program_text.h"

/* What an expression is where no program is made: "7", "0.5", "s/2", "[1, s]", "'text'". */
static const char* value_text(test_scope_t* t, const tenon__language_value_t* value) {
  const tenon__dim_pool_t* pool = t->scope.pool;
  switch (value->kind) {
    case TENON_LANGUAGE_INTEGER:
      return tenon__arena_format(&t->arena, "%lld", (long long)value->integer);
    case TENON_LANGUAGE_TRUTH:
      return value->integer != 0 ? "true" : "false";
    case TENON_LANGUAGE_REAL:
      return tenon__arena_format(&t->arena, "%.17g float", value->real);
    case TENON_LANGUAGE_DIMENSION:
      return tenon__dim_text(pool, value->dim, &t->arena);
    case TENON_LANGUAGE_TEXT:
      return tenon__arena_format(&t->arena, "'%s'", value->text);
    case TENON_LANGUAGE_LIST:
      return tenon__arena_format(&t->arena, "%u items", value->count);
    default:
      return "an element";
  }
}

static tenon_status_t evaluate(test_scope_t* t, const char* source, const tenon_sink_t* sink,
                               tenon__language_value_t* out_value) {
  tenon__environment_t environment;
  const tenon__syntax_t* syntax = NULL;
  const tenon__node_text_t text = {&t->scope, NULL, &t->arena, sink};
  TENON_TRY(tenon__text_parse_expression(&t->arena, source, sink, &syntax));
  TENON_TRY(tenon__language_begin(&text, &environment));
  return tenon__language_evaluate(&environment, syntax, out_value);
}

static void expect_value(test_scope_t* t, const char* source, const char* expected, int line) {
  tenon__language_value_t value = {0};
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  if (evaluate(t, source, sink, &value) != TENON_OK) {
    tenon__test_fail(__FILE__, line, "%s: %s", source, messages.text);
  } else if (strcmp(value_text(t, &value), expected) != 0) {
    tenon__test_fail(__FILE__, line, "%s is %s, expected %s", source, value_text(t, &value),
                     expected);
  }
}

static void expect_fault(test_scope_t* t, const char* source, tenon_status_t expected,
                         const char* message, int line) {
  tenon__language_value_t value = {0};
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  const tenon_status_t status = evaluate(t, source, sink, &value);
  if (status != expected || strstr(messages.text, message) == NULL || messages.count != 1) {
    tenon__test_fail(__FILE__, line, "%s: status %d, says \"%s\"", source, status, messages.text);
  }
}

/* "y = source" as a program. */
static void expect_program(test_scope_t* t, const char* source, const char* expected, int line) {
  tenon__text_t text = {0};
  tenon__expression_t expression = {0};
  tenon__inferred_shape_t shapes[TEST_PORTS] = {0};
  tenon__test_messages_t messages;
  const tenon__node_text_t node_text = {&t->scope, &text, &t->arena, tenon__test_listen(&messages)};
  const char* statement = tenon__arena_format(&t->arena, "y = %s", source);
  if (tenon__text_parse(&t->arena, statement, node_text.sink, &text) != TENON_OK ||
      tenon__expression_instantiate(&node_text, NULL, &expression, shapes) != TENON_OK) {
    tenon__test_fail(__FILE__, line, "%s: %s", source, messages.text);
    return;
  }
  const char* found = tenon__program_text(&expression.program, 0, &t->arena);
  if (strcmp(found, expected) != 0) {
    tenon__test_fail(__FILE__, line, "%s gives %s, expected %s", source, found, expected);
  }
}

#define EXPECT_VALUE(source, expected) expect_value(&t, source, expected, __LINE__)
#define EXPECT_FAULT(source, status, message) expect_fault(&t, source, status, message, __LINE__)
#define EXPECT_PROGRAM(source, expected) expect_program(&t, source, expected, __LINE__)
#define WITH_SCOPE \
  test_scope_t t;  \
  REQUIRE(test_begin(&t, tenon__allocator_default()))

/* Known numbers come out alike in a shape and in a program that needs them. */
TENON_TEST(known_numbers_are_the_same_everywhere) {
  static const int64_t perm[] = {0, 2, 1};
  static const struct {
    const char* source;
    const char* value;
  } rows[] = {{"-7 / 2", "-4"},
              {"7 / -2", "-4"},
              {"-7 % 4", "1"},
              {"floor_div(-7, 2)", "-4"},
              {"div(-7, 2)", "-3"},
              {"7 / 2 * 2 + 7 % 2", "7"},
              {"floor(2.5 * 3)", "7"},
              {"ceil(2.5)", "3"},
              {"round(2.5)", "2"},
              {"trunc(-2.5)", "-2"},
              {"abs(-3) + neg(4)", "-1"},
              {"max(1, 5, 3) - min(4, 2)", "3"},
              {"clamp(9, 0, 5)", "5"},
              {"ceil_div(7, 2)", "4"},
              {"wrap(-1, 4)", "3"},
              {"6 & 3 | 8 ^ 1", "11"},
              {"shl(3, 2)", "12"},
              {"rank(x) + dim(x, 1)", "6"},
              {"count(xs)", "2"},
              {"groups == 4 ? 1 : 2", "1"},
              {"groups ? 1 : 2", "1"},
              {"!groups ? 1 : 2", "2"},
              {"mode == 'same' && present(x) ? 1 : 2", "1"},
              {"select(present(absent), dim(absent, 0), 3)", "3"},
              {"true + true", "2"},
              {"perm[1] + at(perm, 9, 5)", "7"},
              {"sum(perm) + prod(perm, 1, 3)", "5"},
              {"len(perm) + index_of(perm, 1) + axis_of(perm, 1, 3)", "7"},
              {"has(perm, 2) ? 1 : 2", "1"},
              {"dtype(h) == 'i32' ? 1 : 2", "1"},
              {"sum([1, 2, 3])", "6"},
              {"value(only)", "3"}};
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "s 4");
  test_input(&t, "h", TENON_DTYPE_INT32, "s 4");
  test_input(&t, "absent", TENON_DTYPE_FLOAT32, NULL);
  test_input(&t, "xs", TENON_DTYPE_FLOAT32, "4");
  test_input(&t, "xs", TENON_DTYPE_FLOAT32, "4");
  test_contents(&t, "only", 1, "3");
  test_output(&t, "y", TENON_DTYPE_INT32, 1);
  test_ints(&t, "perm", perm, 3);
  test_int(&t, "groups", 4);
  test_string(&t, "mode", "same");
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    EXPECT_VALUE(rows[i].source, rows[i].value);
    EXPECT_PROGRAM(rows[i].source, rows[i].value);
  }
  test_end(&t);
}

/* `/` floors integers, known or not, as `%` says it must; the truncating division is a function. */
TENON_TEST(division_of_integers_floors) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "s 4");
  test_input(&t, "i", TENON_DTYPE_INT32, "4");
  test_input(&t, "c", TENON_DTYPE_BOOL, "4");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  test_float(&t, "alpha", 0.5);
  EXPECT_VALUE("dim(x, 0) / 2", "s/2");
  EXPECT_VALUE("7 / alpha", "14 float");
  EXPECT_VALUE("7.0 / 2", "3.5 float");
  EXPECT_PROGRAM("x / 2", "in0 / 2");
  EXPECT_PROGRAM("2 / x", "2 / in0");
  EXPECT_PROGRAM("i / 2", "in1 / 2");
  EXPECT_PROGRAM("div(i, 2)", "div(in1, 2)");
  EXPECT_PROGRAM("floor_div(i, 2)", "in1 / 2");
  EXPECT_PROGRAM("floor_div(x, 2)", "floor_div(in0, 2)");
  EXPECT_PROGRAM("i % 2", "in1 % 2");
  EXPECT_PROGRAM("(c ? 1 : 2) / x", "(in2 ? 1 : 2) / in0");
  EXPECT_PROGRAM("(c ? 1 : 2) / i", "(in2 ? 1 : 2) / in1");
  EXPECT_PROGRAM("(c ? 1.5 : 2) / 3", "(in2 ? 1.5 : 2) / 3");
  EXPECT_FAULT("div(dim(x, 0), 2)", TENON_ERROR_UNSUPPORTED,
               "'div' takes known numbers: s must be known when building");
  test_end(&t);
}

TENON_TEST(a_name_of_an_input_is_its_contents_or_its_element) {
  WITH_SCOPE;
  test_contents(&t, "sizes", 1, "3 s");
  test_output(&t, "y", TENON_DTYPE_INT64, 1);
  EXPECT_VALUE("sizes", "2 items");
  EXPECT_VALUE("sizes[1] + len(sizes)", "s + 2");
  EXPECT_PROGRAM("sizes + 1", "in0 + 1");
  EXPECT_PROGRAM("sizes[0] + at(sizes, 0, 7)", "in0 + 3");
  test_end(&t);
}

TENON_TEST(faults_say_what_to_do) {
  static const double scales[] = {0.5, 2};
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "s 4");
  test_input(&t, "absent", TENON_DTYPE_FLOAT32, NULL);
  test_input(&t, "ids", TENON_DTYPE_INT64, "3");
  test_float(&t, "alpha", 0.5);
  tenon__scope_attribute_t* list = test_attribute(&t, "scales", TENON_ATTRIBUTE_FLOATS);
  list->numbers = scales;
  list->count = 2;
  test_string(&t, "mode", "same");
  EXPECT_VALUE("scales[1]", "2 float");
  EXPECT_FAULT("1 + q", TENON_ERROR_INVALID_DATA,
               "column 5: unknown name 'q': no let above, input, output or attribute has it");
  EXPECT_FAULT("rank(q)", TENON_ERROR_INVALID_DATA,
               "column 6: unknown name 'q': an input or output is expected");
  EXPECT_FAULT("rank(1)", TENON_ERROR_INVALID_DATA, "the name of an input or output is expected");
  EXPECT_FAULT("frobnicate(x)", TENON_ERROR_INVALID_DATA, "unknown function 'frobnicate'");
  EXPECT_FAULT("sqrt()", TENON_ERROR_INVALID_DATA, "'sqrt' takes 1 argument, not 0");
  EXPECT_FAULT("elements()", TENON_ERROR_INVALID_DATA, "'elements' takes 1 to 3 arguments, not 0");
  EXPECT_FAULT("scales[2]", TENON_ERROR_INVALID_DATA, "the list has 2 items, there is no item 2");
  EXPECT_FAULT("alpha[0]", TENON_ERROR_INVALID_DATA, "a list is expected");
  EXPECT_FAULT("dim(absent, 0)", TENON_ERROR_INVALID_DATA,
               "input 'absent' is absent: ask present(absent) first");
  EXPECT_FAULT("mode + 1", TENON_ERROR_INVALID_DATA, "'add' takes numbers, not a string");
  EXPECT_FAULT("alpha & 1", TENON_ERROR_INVALID_DATA, "'and' does not take floats");
  EXPECT_FAULT("alpha * dim(x, 0)", TENON_ERROR_UNSUPPORTED,
               "'mul' takes a float: s must be known when building");
  EXPECT_FAULT("ids[0]", TENON_ERROR_UNSUPPORTED, "the contents of 'ids' must be known");
  EXPECT_FAULT("mean(x, 0)", TENON_ERROR_INVALID_DATA,
               "'mean' works on elements, which only expressions have");
  EXPECT_FAULT("1 / 0", TENON_ERROR_INVALID_DATA, "divided by zero");
  EXPECT_FAULT("9223372036854775807 + 1", TENON_ERROR_INVALID_DATA, "overflows 64 bits");
  EXPECT_FAULT("floor(inf)", TENON_ERROR_INVALID_DATA, "'floor' of inf is no 64-bit integer");
  EXPECT_FAULT("[0, 1..2]", TENON_ERROR_INVALID_DATA, "a range stands only for axes");
  EXPECT_FAULT("dim(x, alpha)", TENON_ERROR_INVALID_DATA, "an integer is expected, not a float");
  test_end(&t);
}

TENON_TEST(what_cannot_be_decided_needs_no_side) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "s 4");
  EXPECT_VALUE("dim(x, 0) > 3 && true", "3 < s");
  EXPECT_VALUE("true || dim(nothing, 0) > 3", "true");
  EXPECT_VALUE("dim(x, 0) > 3 || dim(x, 1) == 4", "true");
  EXPECT_VALUE("dim(x, 0) > 3 && dim(x, 1) == 5", "false");
  EXPECT_VALUE("!(dim(x, 1) == 5)", "true");
  EXPECT_VALUE("dim(x, 0) == 1 ? 2 : 3", "s == 1 ? 2 : 3");
  EXPECT_VALUE("abs(dim(x, 0))", "s");
  EXPECT_VALUE("-dim(x, 0)", "-s");
  EXPECT_VALUE("floor(dim(x, 0))", "s");
  test_end(&t);
}

static bool evaluate_everything(tenon_allocator_t allocator, void* user) {
  (void)user;
  test_scope_t t;
  tenon__language_value_t value = {0};
  bool fine = test_begin(&t, allocator);
  if (fine) {
    test_input(&t, "x", TENON_DTYPE_FLOAT32, "b s 768");
    test_contents(&t, "dims", 1, "0 -1 12 b");
    fine = t.fine &&
           evaluate(&t, "max(dim(x, 0) * dim(x, 1) / 3 % 5, ceil_div(elements(x), 2) - 1)", NULL,
                    &value) == TENON_OK &&
           evaluate(&t, "sum(dims, 2) + axis_of([0, 1], 1, rank(x)) + abs(dims[3])", NULL,
                    &value) == TENON_OK &&
           evaluate(&t, "dim(x, 0) > 2 && dim(x, 1) < 7 ? wrap(dims[3], 4) : -dim(x, 1)", NULL,
                    &value) == TENON_OK;
  }
  test_end(&t);
  return fine;
}

TENON_TEST(survives_failing_allocations) {
  tenon__test_each_allocation(evaluate_everything, NULL);
}
