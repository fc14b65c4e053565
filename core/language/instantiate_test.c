/* Texts of operators of every kind, instantiated: what program they give, over what space, and what
 * is refused. */
#include "core/language/instantiate.h"
#include "core/base/test.h"
#include "core/language/test_scope.h"
#include "core/program/program.h"
#include "core/program/program_check.h"
#include "core/program/program_text.h"

static tenon_status_t instantiate(test_scope_t* t, const char* source,
                                  const tenon__inferred_shape_t* shapes, const tenon_sink_t* sink,
                                  tenon__expression_t* out_expression,
                                  tenon__inferred_shape_t* out_shapes) {
  tenon__text_t text = {0};
  const tenon_status_t status = tenon__text_parse(&t->arena, source, sink, &text);
  const tenon__node_text_t node_text = {&t->scope, &text, &t->arena, sink};
  return status != TENON_OK
             ? status
             : tenon__expression_instantiate(&node_text, shapes, out_expression, out_shapes);
}

/* "program -> [shape]" of each output. */
static const char* outcome(test_scope_t* t, const tenon__expression_t* expression,
                           const tenon__inferred_shape_t* shapes) {
  const char* text = "";
  for (uint32_t i = 0; i < expression->program.output_count; ++i) {
    const tenon__inferred_shape_t* shape = &shapes[expression->program.outputs[i].index];
    text = tenon__arena_format(&t->arena, "%s%s%s -> [%s]", text, i > 0 ? " | " : "",
                               tenon__program_text(&expression->program, i, &t->arena),
                               test_list_text(t, shape->dims, shape->rank));
  }
  return text;
}

static void expect_program(test_scope_t* t, const char* source, const char* expected, int line) {
  tenon__expression_t expression = {0};
  tenon__inferred_shape_t shapes[TEST_PORTS] = {0};
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  if (instantiate(t, source, NULL, sink, &expression, shapes) != TENON_OK) {
    tenon__test_fail(__FILE__, line, "%s: %s", source, messages.text);
    return;
  }
  const tenon_status_t status = tenon__program_check(&expression.program, sink);
  const char* text = outcome(t, &expression, shapes);
  if (strcmp(text, expected) != 0 || status != TENON_OK) {
    tenon__test_fail(__FILE__, line, "%s gives %s, expected %s; %s", source, text, expected,
                     messages.text);
  }
}

static void expect_fault(test_scope_t* t, const char* source, tenon_status_t expected,
                         const char* message, int line) {
  tenon__expression_t expression = {0};
  tenon__inferred_shape_t shapes[TEST_PORTS] = {0};
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  const tenon_status_t status = instantiate(t, source, NULL, sink, &expression, shapes);
  if (status != expected || strstr(messages.text, message) == NULL || messages.count != 1) {
    tenon__test_fail(__FILE__, line, "%s: status %d, says \"%s\"", source, status, messages.text);
  }
}

#define EXPECT_PROGRAM(source, expected) expect_program(&t, source, expected, __LINE__)
#define EXPECT_FAULT(source, status, message) expect_fault(&t, source, status, message, __LINE__)
#define WITH_SCOPE \
  test_scope_t t;  \
  REQUIRE(test_begin(&t, tenon__allocator_default()))

TENON_TEST(elementwise) {
  WITH_SCOPE;
  test_input(&t, "a", TENON_DTYPE_FLOAT32, "b s 4");
  test_input(&t, "c", TENON_DTYPE_FLOAT32, "4");
  test_input(&t, "absent", TENON_DTYPE_FLOAT32, NULL);
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  test_float(&t, "alpha", 0.1);
  test_string(&t, "mode", "tanh");
  EXPECT_PROGRAM("y = a * sigmoid(a)", "in0 * sigmoid(in0) -> [b, s, 4]");
  EXPECT_PROGRAM("y = max(a + c, 0)", "max(in0 + in1, 0) -> [b, s, 4]");
  EXPECT_PROGRAM("y = present(absent) ? a + absent : a", "in0 -> [b, s, 4]");
  EXPECT_PROGRAM("y = a >= 0 ? a : alpha * 2 * a", "in0 >= 0 ? in0 : 0.2 * in0 -> [b, s, 4]");
  EXPECT_PROGRAM("let k = sqrt(2); y = a / k", "in0 / 1.4142135 -> [b, s, 4]");
  EXPECT_PROGRAM("y = mode == 'tanh' ? tanh(a) : erf(a)", "tanh(in0) -> [b, s, 4]");
  EXPECT_PROGRAM("y = clamp(a, -1, c)", "min(max(in0, -1), in1) -> [b, s, 4]");
  EXPECT_PROGRAM("y = (a > 0 ? 1 : 0.5) * a", "(in0 > 0 ? 1 : 0.5) * in0 -> [b, s, 4]");
  EXPECT_PROGRAM("y = a > 0 ? 1 : 0", "in0 > 0 ? 1 : 0 -> [b, s, 4]");
  EXPECT_PROGRAM("y = select(a == c && !(a < 1), a, c)",
                 "in0 == in1 & not(in0 < 1) ? in0 : in1 -> [b, s, 4]");
  EXPECT_PROGRAM("y = is_nan(a) || false ? 0 : a", "is_nan(in0) ? 0 : in0 -> [b, s, 4]");
  EXPECT_PROGRAM("y = 7", "7 -> []");
  EXPECT_PROGRAM("y = rank(a) == 3 ? c : a", "in1 -> [4]");
  EXPECT_PROGRAM("y = cast(index(-1), f32) + a", "f32(index(2)) + in0 -> [b, s, 4]");
  EXPECT_PROGRAM("y = a / cast(size([0, -1]), f32)", "in0 / f32(size(0) * size(2)) -> [b, s, 4]");
  EXPECT_PROGRAM("y = random(7, index(0)) + a", "random(7, u64(index(0))) + in0 -> [b, s, 4]");
  EXPECT_PROGRAM("y = -a % 3 - inf", "-in0 % 3 - inf -> [b, s, 4]");
  test_end(&t);
}

TENON_TEST(reductions) {
  static const int64_t axes[] = {1, -1};
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b s 4");
  test_contents(&t, "where_axes", 1, "0 -1");
  t.inputs[1].flags |= TENON_PORT_SHAPE_OPERAND;
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  test_int(&t, "axis", -1);
  test_ints(&t, "axes", axes, 2);
  test_ints(&t, "none", axes, 0);
  EXPECT_PROGRAM("let e = exp(x - max(x, axis)); y = e / sum(e, axis)",
                 "let t0 = exp(in0 - max(in0, [2])); t0 / sum(t0, [2]) -> [b, s, 4]");
  EXPECT_PROGRAM("y = sum(x, axes)", "sum(in0, [1, 2]) -> [b, 1, 1]");
  EXPECT_PROGRAM("y = mean(x, [0, 1])", "mean(in0, [0, 1]) -> [1, 1, 4]");
  EXPECT_PROGRAM("y = prod(x, 1..)", "prod(in0, [1, 2]) -> [b, 1, 1]");
  EXPECT_PROGRAM("y = sum(x, 0..2)", "sum(in0, [0, 1]) -> [1, 1, 4]");
  EXPECT_PROGRAM("y = sum(x, [])", "sum(in0, [0, 1, 2]) -> [1, 1, 1]");
  EXPECT_PROGRAM("y = sum(x, none)", "sum(in0, [0, 1, 2]) -> [1, 1, 1]");
  EXPECT_PROGRAM("y = sum(x, 5..)", "in0 -> [b, s, 4]");
  EXPECT_PROGRAM("y = min(x, where_axes)", "min(in0, [0, 2]) -> [1, s, 1]");
  EXPECT_PROGRAM("y = max(x, 0)", "max(in0, 0) -> [b, s, 4]");
  EXPECT_PROGRAM("y = max(x, [0])", "max(in0, [0]) -> [1, s, 4]");
  EXPECT_PROGRAM("y = sqrt(sum(x * x, axis)) + 1", "sqrt(sum(in0 * in0, [2])) + 1 -> [b, s, 1]");
  EXPECT_PROGRAM("y = x - mean(x, 0)", "in0 - mean(in0, [0]) -> [b, s, 4]");
  EXPECT_PROGRAM("y = cast(any(x > 0, axis), f32)", "f32(max(in0 > 0, [2])) -> [b, s, 1]");
  test_int(&t, "keepdims", 0);
  EXPECT_PROGRAM("y = sum(x, axes)", "sum(in0, [1, 2]) -> [b]");
  EXPECT_PROGRAM("y = min(x == max(x, axis) ? index(axis) : size(axis) - 1, axis)",
                 "min(in0 == max(in0, [2]) ? index(2) : size(2) - 1, [2]) -> [b, s]");
  test_int(&t, "noop_with_empty_axes", 1);
  EXPECT_PROGRAM("y = sum(x, none)", "in0 -> [b, s, 4]");
  test_end(&t);
}

TENON_TEST(several_outputs) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT16, "b s 4");
  test_input(&t, "scale", TENON_DTYPE_FLOAT32, "4");
  test_output(&t, "y", TENON_DTYPE_FLOAT16, 1);
  test_output(&t, "mean", TENON_DTYPE_FLOAT32, 1);
  test_output(&t, "spread", TENON_DTYPE_FLOAT32, 1);
  t.output_values[1][0].present = false;
  test_int(&t, "axis", -1);
  test_type(&t, "T", TENON_DTYPE_FLOAT16);
  EXPECT_PROGRAM(
      "let m = mean(x, axis..); let r = rsqrt(mean((x - m) * (x - m), axis..) + 1e-5);"
      "y = (x - m) * r * cast(scale, T); mean = m; spread = r",
      "let t0 = in0 - mean(in0, [2]); t0 * rsqrt(mean(t0 * t0, [2]) + 1e-05) * in1 -> [b, s, 4]"
      " | let t0 = in0 - mean(in0, [2]); rsqrt(mean(t0 * t0, [2]) + 1e-05) -> [b, s, 1]");
  tenon__expression_t expression = {0};
  tenon__inferred_shape_t shapes[3] = {0};
  EXPECT_STATUS(
      instantiate(&t, "y = x; mean = 0; spread = sum(x, axis)", NULL, NULL, &expression, shapes),
      TENON_OK);
  REQUIRE(expression.program.outputs != NULL);
  EXPECT_INT(expression.program.outputs[1].index, 2);
  EXPECT_INT(expression.program.outputs[1].reduced_axes, 4);
  EXPECT_INT(expression.program.outputs[0].dtype, TENON_DTYPE_FLOAT16);
  EXPECT_INT(expression.output_ranks[1], 3);
  EXPECT_INT(expression.output_axes[1][2], 2);
  test_end(&t);
}

TENON_TEST(parameters_along_an_axis) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b 3 h w");
  test_input(&t, "scale", TENON_DTYPE_FLOAT32, "3");
  test_input(&t, "xs", TENON_DTYPE_FLOAT32, "w");
  test_input(&t, "xs", TENON_DTYPE_FLOAT32, "1");
  test_input(&t, "xs", TENON_DTYPE_FLOAT32, "h 1");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  EXPECT_PROGRAM("y = x * along(scale, 1)", "in0 * in1 -> [b, 3, h, w]");
  EXPECT_PROGRAM("y = fold(add, xs) / count(xs)", "(in2 + in3 + in4) / 3 -> [h, w]");
  EXPECT_PROGRAM("y = xs[2]", "in4 -> [h, 1]");
  tenon__expression_t expression = {0};
  tenon__inferred_shape_t shape = {0};
  EXPECT_STATUS(
      instantiate(&t, "y = x * along(scale, -3) + xs[1]", NULL, NULL, &expression, &shape),
      TENON_OK);
  REQUIRE(expression.accesses != NULL && expression.program.operands != NULL);
  const tenon__dim_pool_t* pool = t.scope.pool;
  EXPECT_TEXT(tenon__dim_text(pool, expression.accesses[0].coordinates[3], &t.arena), "o3");
  EXPECT_TEXT(tenon__dim_text(pool, expression.accesses[1].coordinates[0], &t.arena), "o1");
  EXPECT_TEXT(tenon__dim_text(pool, expression.accesses[2].coordinates[0], &t.arena), "0");
  EXPECT_INT(expression.program.operands[0].broadcast_axes, 0);
  EXPECT_INT(expression.program.operands[1].broadcast_axes, 13);
  EXPECT_INT(expression.program.operands[2].broadcast_axes, 15);
  test_end(&t);
}

TENON_TEST(extents_that_may_be_one) {
  WITH_SCOPE;
  test_input(&t, "a", TENON_DTYPE_FLOAT32, "b 4");
  test_input(&t, "c", TENON_DTYPE_FLOAT32, "s 4");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  tenon__expression_t expression = {0};
  tenon__inferred_shape_t shape = {0};
  EXPECT_STATUS(instantiate(&t, "y = a + c", NULL, NULL, &expression, &shape), TENON_OK);
  REQUIRE(expression.accesses != NULL);
  EXPECT_TEXT(test_list_text(&t, shape.dims, shape.rank), "b == 1 ? s : b, 4");
  EXPECT_TEXT(tenon__dim_text(t.scope.pool, expression.accesses[0].coordinates[0], &t.arena),
              "b == 1 ? 0 : o0");
  test_end(&t);
}

TENON_TEST(spaces_from_rules) {
  WITH_SCOPE;
  test_input(&t, "value", TENON_DTYPE_INT32, "");
  test_output(&t, "y", TENON_DTYPE_INT32, 1);
  test_int(&t, "axis", -1);
  tenon__expression_t expression = {0};
  tenon__inferred_shape_t shape = {0, NULL};
  shape.rank = test_dims(&t, "b 7", &shape.dims);
  EXPECT_STATUS(
      instantiate(&t, "y = value + cast(index(axis), i32)", &shape, NULL, &expression, &shape),
      TENON_OK);
  REQUIRE(expression.program.operands != NULL);
  EXPECT_INT(expression.program.rank, 2);
  EXPECT_INT(expression.program.operands[0].broadcast_axes, 3);
  EXPECT_TEXT(tenon__program_text(&expression.program, 0, &t.arena), "in0 + i32(index(1))");
  test_end(&t);
}

TENON_TEST(types) {
  WITH_SCOPE;
  test_input(&t, "h", TENON_DTYPE_BFLOAT16, "4");
  test_input(&t, "i", TENON_DTYPE_INT64, "4");
  test_input(&t, "p", TENON_DTYPE_INT4, "4");
  test_input(&t, "u", TENON_DTYPE_UINT8, "4");
  test_input(&t, "s", TENON_DTYPE_STRING, "4");
  test_input(&t, "c", TENON_DTYPE_BOOL, "4");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  test_dtype(&t, "to", TENON_DTYPE_UINT4);
  test_type(&t, "T", TENON_DTYPE_FLOAT16);
  EXPECT_PROGRAM("y = h + 1", "in0 + 1 -> [4]");
  EXPECT_PROGRAM("y = cast(i, f32) + h", "f32(in1) + in0 -> [4]");
  EXPECT_PROGRAM("y = cast(p + 1, T)", "f32(in2 + 1) -> [4]");
  EXPECT_PROGRAM("y = cast(h, to)", "u8(min(max(in0, 0), 15)) -> [4]");
  EXPECT_PROGRAM("y = cast(i, i4)", "shr(shl(i8(in1), 4), 4) -> [4]");
  EXPECT_PROGRAM("y = cast(u, to)", "in3 & 15 -> [4]");
  EXPECT_PROGRAM("y = cast(h, f16)", "in0 -> [4]");
  EXPECT_PROGRAM("y = shl(u, 1) | 3", "shl(in3, 1) | 3 -> [4]");
  EXPECT_PROGRAM("y = highest(T) * h", "65504 * in0 -> [4]");
  EXPECT_PROGRAM("y = lowest(i4) + p", "-8 + in2 -> [4]");
  EXPECT_PROGRAM("y = floor(i)", "in1 -> [4]");
  EXPECT_PROGRAM("y = c ? 1 : 2", "in5 ? 1 : 2 -> [4]");
  EXPECT_PROGRAM("y = c == true ? h : -1", "in5 == 1 ? in0 : -1 -> [4]");
  EXPECT_FAULT("y = h + i", TENON_ERROR_INVALID_DATA, "column 7: i64 where f32 is expected");
  EXPECT_FAULT("y = i + 0.5", TENON_ERROR_INVALID_DATA, "a float literal where i64 is expected");
  EXPECT_FAULT("y = h && c", TENON_ERROR_INVALID_DATA, "f32 where bool is expected");
  EXPECT_FAULT("y = exp(i)", TENON_ERROR_INVALID_DATA, "'exp' does not take i64");
  EXPECT_FAULT("y = h & h", TENON_ERROR_INVALID_DATA, "'and' does not take f32");
  EXPECT_FAULT("y = c + c", TENON_ERROR_INVALID_DATA, "'add' does not take bool");
  EXPECT_FAULT("y = s", TENON_ERROR_UNSUPPORTED, "cannot read 's' of type str");
  EXPECT_FAULT("y = sum(c, [0])", TENON_ERROR_INVALID_DATA, "'sum' does not take bool");
  EXPECT_FAULT("y = cast(h, x)", TENON_ERROR_INVALID_DATA, "a type is expected");
  test_end(&t);
}

static void expect_rounds(test_scope_t* t, const char* source, bool rounds, int line) {
  tenon__expression_t expression = {0};
  tenon__inferred_shape_t shape = {0};
  EXPECT_STATUS(instantiate(t, source, NULL, NULL, &expression, &shape), TENON_OK);
  REQUIRE(expression.program.outputs != NULL);
  if ((expression.program.outputs[0].reserved == TENON_OUTPUT_ROUNDS) != rounds) {
    tenon__test_fail(__FILE__, line, "%s %s", source, rounds ? "does not round" : "rounds");
  }
}

TENON_TEST(a_cast_that_is_the_whole_value_rounds) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "4");
  test_input(&t, "h", TENON_DTYPE_FLOAT16, "4");
  test_output(&t, "y", TENON_DTYPE_FLOAT16, 1);
  test_dtype(&t, "to", TENON_DTYPE_FLOAT16);
  test_type(&t, "T", TENON_DTYPE_FLOAT16);
  expect_rounds(&t, "y = cast(x, f16)", true, __LINE__);
  expect_rounds(&t, "y = cast(x + h, to)", true, __LINE__);
  expect_rounds(&t, "let s = cast(x, T); y = s", true, __LINE__);
  expect_rounds(&t, "y = present(x) ? cast(x, to) : h", true, __LINE__);
  expect_rounds(&t, "y = x", false, __LINE__);
  expect_rounds(&t, "y = cast(x, to) * h", false, __LINE__);
  expect_rounds(&t, "y = cast(x, bf16)", false, __LINE__);
  expect_rounds(&t, "y = cast(x, f32)", false, __LINE__);
  expect_rounds(&t, "y = cast(h, f16)", false, __LINE__);
  test_end(&t);
}

TENON_TEST(faults_name_the_place) {
  WITH_SCOPE;
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "b 4");
  test_input(&t, "wrong", TENON_DTYPE_FLOAT32, "5");
  test_input(&t, "absent", TENON_DTYPE_FLOAT32, NULL);
  test_input(&t, "xs", TENON_DTYPE_FLOAT32, "4");
  test_input(&t, "xs", TENON_DTYPE_FLOAT32, "4");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  EXPECT_FAULT("y = x + q", TENON_ERROR_INVALID_DATA, "column 9: unknown name 'q'");
  EXPECT_FAULT("y = x + wrong", TENON_ERROR_INVALID_DATA, "[b, 4] and [5] do not broadcast");
  EXPECT_FAULT("y = absent", TENON_ERROR_INVALID_DATA, "input 'absent' is absent");
  EXPECT_FAULT("y = xs", TENON_ERROR_INVALID_DATA, "'xs' has 2 items");
  EXPECT_FAULT("y = foo(x)", TENON_ERROR_INVALID_DATA, "unknown function 'foo'");
  EXPECT_FAULT("y = exp(x, x)", TENON_ERROR_INVALID_DATA, "'exp' takes 1 argument, not 2");
  EXPECT_FAULT("y = sum(x, 2)", TENON_ERROR_INVALID_DATA, "axis 2 of a space of rank 2");
  EXPECT_FAULT("y = index(x)", TENON_ERROR_INVALID_DATA,
               "an integer is expected, not an element of a tensor");
  EXPECT_FAULT("z = x", TENON_ERROR_INVALID_DATA, "no statement \"y = ...\"");
  EXPECT_FAULT("let a = b; let b = x; y = a", TENON_ERROR_INVALID_DATA, "unknown name 'b'");
  EXPECT_FAULT("y = x * along(x, 0)", TENON_ERROR_INVALID_DATA, "has rank 2 where at most 1 fits");
  test_end(&t);
}

TENON_TEST(definitions_that_double_stay_small) {
  WITH_SCOPE;
  char source[4096] = "let a0 = x; ";
  test_input(&t, "x", TENON_DTYPE_FLOAT32, "4");
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  for (int i = 1; i < 60; ++i) {
    (void)snprintf(source + strlen(source), sizeof(source) - strlen(source),
                   "let a%d = a%d * a%d; ", i, i - 1, i - 1);
  }
  (void)snprintf(source + strlen(source), sizeof(source) - strlen(source), "y = a59");
  tenon__expression_t expression = {0};
  tenon__inferred_shape_t shape = {0};
  EXPECT_STATUS(instantiate(&t, source, NULL, NULL, &expression, &shape), TENON_OK);
  EXPECT_INT(expression.program.instruction_count, 60);
  test_end(&t);
}

static bool instantiate_softmax(tenon_allocator_t allocator, void* user) {
  (void)user;
  test_scope_t t;
  bool fine = test_begin(&t, allocator);
  if (fine) {
    tenon__expression_t expression = {0};
    tenon__inferred_shape_t shape = {0};
    test_input(&t, "x", TENON_DTYPE_FLOAT16, "b s 4");
    test_input(&t, "z", TENON_DTYPE_FLOAT16, "s 1");
    test_output(&t, "y", TENON_DTYPE_FLOAT16, 1);
    test_int(&t, "axis", -1);
    fine = t.fine &&
           instantiate(&t,
                       "let e = exp(x - max(x, axis)); y = cast(e / sum(e, axis), i4) == 3"
                       " ? clamp(z, -1, 1) : random(1, index(0))",
                       NULL, NULL, &expression, &shape) == TENON_OK &&
           strcmp(tenon__program_text(&expression.program, 0, &t.arena), "?") != 0;
  }
  test_end(&t);
  return fine;
}

/* Folds over `count` times a vector: are they made, and as a program that a plan's reader takes? */
static tenon_status_t fold_many(uint32_t count, const tenon_sink_t* sink) {
  test_scope_t t;
  tenon__expression_t expression = {0};
  tenon__inferred_shape_t shapes[TEST_PORTS] = {0};
  if (!test_begin(&t, tenon__allocator_default())) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon__scope_value_t* first = test_input(&t, "xs", TENON_DTYPE_FLOAT32, "4");
  tenon__scope_value_t* values = tenon__arena_allocate(&t.arena, count, sizeof(*values));
  for (uint32_t k = 0; values != NULL && k < count; ++k) {
    values[k] = *first;
  }
  t.inputs[0].flags |= TENON_PORT_VARIADIC;
  t.inputs[0].values = values;
  t.inputs[0].count = count;
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  tenon_status_t status =
      instantiate(&t, "y = fold(add, xs) + fold(mul, xs)", NULL, sink, &expression, shapes);
  if (status == TENON_OK) {
    EXPECT_INT(expression.program.instruction_count, 2 * count);
    status = tenon__program_check(&expression.program, sink);
  }
  test_end(&t);
  return status;
}

TENON_TEST(large_programs_are_read_again_or_not_made) {
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  EXPECT_STATUS(fold_many(33000, sink), TENON_OK);
  EXPECT_TEXT(messages.text, "");
  EXPECT_STATUS(fold_many(TENON__MOST_INSTRUCTIONS / 2 + 1, sink), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(messages.text,
                  "an expression of 1048578 instructions, at most 1048576 are possible");
}

TENON_TEST(survives_failing_allocations) {
  tenon__test_each_allocation(instantiate_softmax, NULL);
}
