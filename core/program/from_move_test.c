/* Moves as programs: each is evaluated and compared with its index map, element by element. */
#include "core/program/from_move.h"

#include <stdio.h>

#include "core/base/allocator.h"
#include "core/base/test.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_evaluate.h"
#include "core/language/move_rule.h"
#include "core/language/test_scope.h"
#include "core/program/evaluate.h"
#include "core/program/program_check.h"
#include "core/program/program_text.h"
#include "core/tensor/index_map_run.h"
#include "core/tensor/layout.h"

enum { AXES = 8, ELEMENTS = 512 };

static tenon_status_t map_of(test_scope_t* t, const char* source, const char* dims,
                             tenon__index_map_t* out_map) {
  tenon__text_t text = {0};
  tenon__inferred_shape_t shape = {0, NULL};
  shape.rank = test_dims(t, dims, &shape.dims);
  const tenon_status_t status = tenon__text_parse(&t->arena, source, NULL, &text);
  const tenon__node_text_t rule = {&t->scope, &text, &t->arena, NULL};
  return status != TENON_OK ? status : tenon__move_evaluate(&rule, 0, &shape, out_map);
}

/* Data of the node's inputs: dense i64; input k holds 1000 k + place, but the second one, which has
 * indices. */
typedef struct data_t {
  test_scope_t* t;
  int64_t inputs[4][ELEMENTS];
} data_t;

static const tenon__scope_value_t* input_of(const test_scope_t* t, uint32_t argument) {
  for (uint32_t i = 0; i < t->scope.input_count; ++i) {
    for (uint32_t k = 0; k < t->inputs[i].count; ++k) {
      if (t->inputs[i].values[k].argument == argument) {
        return &t->inputs[i].values[k];
      }
    }
  }
  return NULL;
}

static void numbers_of(const test_scope_t* t, const tenon_dim_t* dims, uint32_t rank,
                       int64_t* out) {
  for (uint32_t i = 0; i < rank; ++i) {
    EXPECT(tenon__dim_known(t->scope.pool, dims[i], &out[i]));
  }
}

static bool read_at(const data_t* data, uint32_t input, const int64_t* coordinates,
                    int64_t* out_value) {
  const tenon__scope_value_t* value = input_of(data->t, input);
  int64_t extents[AXES] = {0};
  int64_t place = 0;
  numbers_of(data->t, value->type.dims, value->type.rank, extents);
  for (uint32_t i = 0; i < value->type.rank; ++i) {
    if (coordinates[i] < 0 || coordinates[i] >= extents[i]) {
      return false;
    }
    place = place * extents[i] + coordinates[i];
  }
  *out_value = data->inputs[input][place];
  return true;
}

static bool element(void* user, uint32_t input, const int64_t* coordinates, uint32_t count,
                    int64_t* out_value) {
  (void)count;
  return read_at(user, input, coordinates, out_value);
}

/* What the map says stands at a point. */
static int64_t expected_at(data_t* data, const tenon__index_map_t* map, const int64_t* point) {
  const tenon__dim_point_t place = {
      .coordinates = point, .coordinate_count = map->rank, .element = element, .user = data};
  for (uint32_t s = 0; s < map->source_count; ++s) {
    int64_t coordinates[AXES] = {0};
    int64_t value = 0;
    for (uint32_t i = 0; i < map->sources[s].rank; ++i) {
      EXPECT(tenon__dim_value_at(data->t->scope.pool, map->sources[s].coordinates[i], &place,
                                 &coordinates[i]));
    }
    if (read_at(data, map->sources[s].input, coordinates, &value)) {
      return value;
    }
  }
  return map->fill == TENON_FILL_INPUT ? data->inputs[map->fill_input][0] : map->fill_value.i;
}

/* Every dimension of the pool in numbers; no symbols are left. */
static void evaluate_pool(const tenon__dim_pool_t* pool, int64_t* values, uint8_t* known) {
  int64_t symbols[64] = {0};
  uint8_t symbols_known[64] = {0};
  REQUIRE(tenon__symbol_count(pool) <= 64 && tenon__dim_pool_count(pool) <= ELEMENTS);
  tenon__dim_pool_evaluate(pool, symbols, symbols_known, values, known);
}

static tenon_status_t run_program(data_t* data, const tenon__expression_t* e, int64_t* out,
                                  const tenon_sink_t* sink) {
  static int64_t dims[4][AXES];
  static int64_t strides[5][AXES];
  tenon_tensor_view_t views[4];
  int64_t space[AXES] = {0};
  int64_t values[ELEMENTS];
  uint8_t known[ELEMENTS];
  evaluate_pool(data->t->scope.pool, values, known);
  numbers_of(data->t, e->space, e->program.rank, space);
  for (uint32_t k = 0; k < e->program.operand_count; ++k) {
    const uint32_t input = e->program.operands[k].index;
    const tenon__scope_value_t* value = input_of(data->t, input);
    int64_t own[AXES] = {0};
    int64_t own_strides[AXES] = {0};
    int64_t offset = 0;
    numbers_of(data->t, value->type.dims, value->type.rank, own);
    (void)tenon__strides_row_major(value->type.rank, own, own_strides);
    const bool indexed = e->program.operands[k].indexed != 0;
    memcpy(dims[k], indexed ? own : space, sizeof(own));
    memcpy(strides[k], own_strides, sizeof(own));
    if (!indexed) {
      const tenon__extents_t extents = {
          .pool = data->t->scope.pool, .values = values, .known = known};
      const tenon__map_source_t source = {.rank = e->accesses[k].rank,
                                          .coordinates = e->accesses[k].coordinates};
      EXPECT_STATUS(tenon__coordinates_view(&extents, &source, e->program.rank, own_strides,
                                            strides[k], &offset),
                    TENON_OK);
    }
    views[k] = (tenon_tensor_view_t){.data = data->inputs[input] + offset,
                                     .dims = dims[k],
                                     .strides = strides[k],
                                     .rank = indexed ? value->type.rank : e->program.rank,
                                     .dtype = TENON_DTYPE_INT64,
                                     .layout = TENON_NONE};
  }
  (void)tenon__strides_row_major(e->program.rank, space, strides[4]);
  const tenon_tensor_view_t output = {.data = out,
                                      .dims = space,
                                      .strides = strides[4],
                                      .rank = e->program.rank,
                                      .dtype = TENON_DTYPE_INT64,
                                      .layout = TENON_NONE};
  return tenon__program_evaluate(&e->program, space, views, &output, tenon__allocator_default(),
                                 sink);
}

static void expect_move(test_scope_t* t, const char* source, const char* dims, const char* text,
                        int line) {
  static const tenon__type_t inputs[4] = {{.dtype = TENON_DTYPE_INT64},
                                          {.dtype = TENON_DTYPE_INT64},
                                          {.dtype = TENON_DTYPE_INT64},
                                          {.dtype = TENON_DTYPE_INT64}};
  static data_t data;
  tenon__index_map_t map = {0};
  tenon__expression_t e = {0};
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  data.t = t;
  for (int64_t i = 0; i < ELEMENTS; ++i) {
    for (int64_t k = 0; k < 4; ++k) {
      data.inputs[k][i] = k == 1 ? (i * 5) % 7 - 3 : 1000 * k + i;
    }
  }
  if (map_of(t, source, dims, &map) != TENON_OK ||
      tenon__expression_from_move(t->scope.pool, &map, TENON_DTYPE_INT64, inputs, 4, &t->arena,
                                  sink, &e) != TENON_OK ||
      tenon__program_check(&e.program, sink) != TENON_OK) {
    tenon__test_fail(__FILE__, line, "%s: %s", source, messages.text);
    return;
  }
  const char* found = tenon__program_text(&e.program, 0, &t->arena);
  if (strcmp(found, text) != 0) {
    tenon__test_fail(__FILE__, line, "%s gives %s, expected %s", source, found, text);
  }
  int64_t out[ELEMENTS] = {0};
  int64_t extents[AXES] = {0};
  int64_t point[AXES] = {0};
  uint64_t count = 0;
  numbers_of(t, map.dims, map.rank, extents);
  (void)tenon__element_count(map.rank, extents, &count);
  EXPECT_STATUS(run_program(&data, &e, out, sink), TENON_OK);
  if (map.kind == TENON_MAP_LINEAR) { /* the definition in coordinates */
    static tenon__map_source_t whole;
    whole = map.sources[0];
    EXPECT_STATUS(
        tenon__index_map_coordinates(t->scope.pool, &t->arena, &map, 0, &whole.coordinates),
        TENON_OK);
    map.sources = &whole;
  }
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t expected = expected_at(&data, &map, point);
    if (out[i] != expected) {
      tenon__test_fail(__FILE__, line, "%s: element %llu is %lld, expected %lld", source,
                       (unsigned long long)i, (long long)out[i], (long long)expected);
      return;
    }
    for (uint32_t axis = map.rank; axis > 0 && ++point[axis - 1] == extents[axis - 1]; --axis) {
      point[axis - 1] = 0;
    }
  }
}

#define EXPECT_MOVE(source, dims, text) expect_move(&t, source, dims, text, __LINE__)

TENON_TEST(moves_of_every_kind) {
  test_scope_t t;
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  test_input(&t, "x", TENON_DTYPE_INT64, "4 6 3");
  test_input(&t, "i", TENON_DTYPE_INT64, "4");
  test_input(&t, "z", TENON_DTYPE_INT64, "2 6 3");
  test_input(&t, "v", TENON_DTYPE_INT64, "1");
  test_output(&t, "y", TENON_DTYPE_INT64, 1);
  EXPECT_MOVE("x[d] = o(2 - d)", "3 6 4", "in0");
  EXPECT_MOVE("x[d] = d == 1 ? 5 - 2 * o(d) : o(d)", "4 3 3", "in0");
  EXPECT_MOVE("x[d] = d == 1 ? wrap(element(i, o(1)), 6) : o(d)", "4 4 3",
              "let t0 = in1[index(1)]; in0[index(0), t0 < 0 ? t0 + 6 : t0, index(2)]");
  EXPECT_MOVE("x[d] = d == 1 ? o(d) - 2 : o(d); fill = v", "4 9 3",
              "let t0 = index(1) + -2; 0 <= t0 & t0 < 6 ? in0[index(0), t0, index(2)] : in3");
  EXPECT_MOVE("x[d] = d == 1 ? o(d) - 2 : o(d); fill = -7", "4 8 3",
              "let t0 = index(1) + -2; 0 <= t0 ? in0[index(0), t0, index(2)] : -7");
  EXPECT_MOVE("x[d] = d == 1 ? 5 - abs(5 - abs(o(d) - 2)) : o(d)", "4 10 3",
              "let t0 = max(index(1) + -2, -1 * index(1) + 2); "
              "in0[index(0), -1 * max(-1 * t0 + 5, t0 + -5) + 5, index(2)]");
  EXPECT_MOVE("x[d] = o(d); z[d] = d == 0 ? o(d) - 4 : o(d)", "6 6 3",
              "index(0) < 4 ? in0[index(0), index(1), index(2)] : in2[index(0) + -4, index(1), "
              "index(2)]");
  EXPECT_MOVE("x[d] = d == 1 ? o(d) / 2 : o(d)", "4 12 3", "in0[index(0), index(1) / 2, index(2)]");
  EXPECT_MOVE("x = linear", "4 2 3 3", "in0");
  EXPECT_MOVE("x = linear", "24 3", "in0[index(0) / 6, index(0) % 6, index(1)]");
  test_end(&t);
}

TENON_TEST(symbols_are_found_in_the_space_and_in_what_is_read) {
  static const tenon__type_t inputs[] = {{.dtype = TENON_DTYPE_FLOAT16},
                                         {.dtype = TENON_DTYPE_INT32}};
  test_scope_t t;
  tenon__index_map_t map = {0};
  tenon__expression_t e = {0};
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  test_input(&t, "x", TENON_DTYPE_FLOAT16, "b s");
  test_input(&t, "i", TENON_DTYPE_INT32, "4");
  test_output(&t, "y", TENON_DTYPE_FLOAT16, 1);
  tenon_dim_t dims[2] = {test_dim(&t, "b"), test_dim(&t, "s")};
  dims[1] =
      tenon__dim_add(t.scope.pool, tenon__dim_multiply(t.scope.pool, dims[1], test_dim(&t, "2")),
                     test_dim(&t, "3"));
  const tenon__inferred_shape_t shape = {2, dims};
  tenon__text_t text = {0};
  EXPECT_STATUS(
      tenon__text_parse(&t.arena, "x[d] = d == 0 ? o(d) : clamp(o(d) - 1, 0, dim(x, 1) - 1)", NULL,
                        &text),
      TENON_OK);
  const tenon__node_text_t rule = {&t.scope, &text, &t.arena, NULL};
  EXPECT_STATUS(tenon__move_evaluate(&rule, 0, &shape, &map), TENON_OK);
  EXPECT_STATUS(tenon__expression_from_move(t.scope.pool, &map, TENON_DTYPE_FLOAT16, inputs, 2,
                                            &t.arena, NULL, &e),
                TENON_OK);
  EXPECT_TEXT(tenon__program_text(&e.program, 0, &t.arena),
              "in0[index(0), min(extent(in0, 1) - 1, max(0, index(1) + -1))]");
  EXPECT_STATUS(tenon__program_check(&e.program, NULL), TENON_OK);
  EXPECT_INT(e.program.outputs[0].dtype, TENON_DTYPE_FLOAT16);
  /* Strings cannot be moved by expressions. */
  EXPECT_STATUS(tenon__expression_from_move(t.scope.pool, &map, TENON_DTYPE_STRING, inputs, 2,
                                            &t.arena, NULL, &e),
                TENON_ERROR_UNSUPPORTED);
  test_end(&t);
}

/* Of "x[d] = ..." to extents that rest on the symbols s and p. `x`: its extent. `numbers`: input i
 * holds p. */
static void expect_symbolic(const char* source, const char* x,
                            tenon_dim_t (*extent)(test_scope_t* t), bool numbers,
                            const char* text) {
  test_scope_t t;
  tenon__index_map_t map = {0};
  tenon__expression_t e = {0};
  tenon__text_t parsed = {0};
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  test_input(&t, "x", TENON_DTYPE_FLOAT32, x);
  test_contents(&t, "i", 1, "7 p");
  test_contents(&t, "j", 1, "s"); /* which the move does not read */
  test_output(&t, "y", TENON_DTYPE_FLOAT32, 1);
  const tenon_dim_t held[] = {test_dim(&t, "7"), test_dim(&t, "p")};
  const tenon__type_t inputs[] = {
      {.dtype = TENON_DTYPE_FLOAT32},
      {.dtype = TENON_DTYPE_INT64, .rank = 1, .content_count = numbers ? 2 : 0, .contents = held}};
  const tenon_dim_t dims[] = {extent(&t)};
  const tenon__inferred_shape_t shape = {1, dims};
  EXPECT_STATUS(tenon__text_parse(&t.arena, source, NULL, &parsed), TENON_OK);
  const tenon__node_text_t rule = {&t.scope, &parsed, &t.arena, NULL};
  EXPECT_STATUS(tenon__move_evaluate(&rule, 0, &shape, &map), TENON_OK);
  EXPECT_STATUS(tenon__expression_from_move(t.scope.pool, &map, TENON_DTYPE_FLOAT32, inputs, 2,
                                            &t.arena, NULL, &e),
                text != NULL ? TENON_OK : TENON_ERROR_UNSUPPORTED);
  if (text != NULL) {
    EXPECT_TEXT(tenon__program_text(&e.program, 0, &t.arena), text);
  }
  test_end(&t);
}

static tenon_dim_t combine(test_scope_t* t, uint32_t opcode, tenon_dim_t a, const char* b) {
  return tenon__dim_combine(t->scope.pool, opcode, a, test_dim(t, b));
}

static tenon_dim_t a_part_and_more(test_scope_t* t) { /* s / 160 + 17 */
  const tenon_dim_t part = combine(t, TENON_OPCODE_FLOOR_DIV, test_dim(t, "s"), "160");
  return combine(t, TENON_OPCODE_ADD, part, "17");
}

static tenon_dim_t of_two_symbols(test_scope_t* t) { /* s + p */
  return combine(t, TENON_OPCODE_ADD, test_dim(t, "s"), "p");
}

TENON_TEST(a_part_of_an_extent_is_found_by_its_difference) {
  expect_symbolic("x[d] = clamp(o(d) - 8, 0, j[0] / 160)", "9", a_part_and_more, false,
                  "in0[min(size(0) - 17, max(0, index(0) + -8))]");
}

static tenon_dim_t a_product(test_scope_t* t) { /* s p */
  return combine(t, TENON_OPCODE_MUL, test_dim(t, "s"), "p");
}

static tenon_dim_t of_no_symbol(test_scope_t* t) {
  return test_dim(t, "5");
}

TENON_TEST(a_number_that_no_extent_says_is_read_where_it_stands) {
  expect_symbolic("x[d] = max(0, o(d) - i[1])", "9", of_two_symbols, true,
                  "in0[max(-1 * in1[1] + index(0), 0)]");
  expect_symbolic("x[d] = max(0, o(d) - i[1])", "9", of_two_symbols, false, NULL);
}

TENON_TEST(a_symbol_is_solved_for_with_a_number_that_is_read) {
  expect_symbolic("x[d] = o(d) % j[0]", "9", a_product, true, "in0[index(0) % (size(0) / in1[1])]");
  expect_symbolic("x[d] = o(d) % j[0]", "9", a_product, false, NULL);
  expect_symbolic("x[d] = clamp(o(d), 0, j[0] - 1)", "9", of_two_symbols, true,
                  "in0[min(index(0), size(0) - in1[1] + -1)]");
  expect_symbolic("x[d] = clamp(o(d), 0, j[0] - 1)", "9", of_two_symbols, false, NULL);
}

TENON_TEST(an_extent_that_no_other_says_is_asked_of_what_is_read) {
  expect_symbolic("x[d] = o(d) % dim(x, 0)", "s", a_product, false,
                  "in0[index(0) % extent(in0, 0)]");
  expect_symbolic("x[d] = max(0, o(d) - i[1])", "s", of_two_symbols, false,
                  "in0[max(-1 * (size(0) - extent(in0, 0)) + index(0), 0)]");
  expect_symbolic("x[d] = wrap(element(i, o(d)), dim(x, 0))", "s", of_no_symbol, false,
                  "let t0 = in1[index(0)]; in0[t0 < 0 ? extent(in0, 0) + t0 : t0]");
}

/* Of many terms, as where parts of unknown lengths were put one after the other: the sum stays
 * together though the element that it is added to is one term more. */
static void expect_sum(uint32_t count) {
  test_scope_t t;
  tenon__index_map_t map = {0};
  tenon__expression_t e = {0};
  char name[16];
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  test_input(&t, "x", TENON_DTYPE_INT64, "s");
  test_input(&t, "i", TENON_DTYPE_INT64, "4");
  test_output(&t, "y", TENON_DTYPE_INT64, 1);
  tenon_dim_t sum = test_dim(&t, "2");
  for (uint32_t k = 0; k < count; ++k) {
    (void)snprintf(name, sizeof name, "p%u", k);
    sum = combine(&t, TENON_OPCODE_ADD, sum, name);
  }
  tenon__scope_value_t x = t.inputs[0].values[0];
  x.type.dims = &sum;
  t.inputs[0].values = &x;
  const tenon__type_t inputs[] = {{.dtype = TENON_DTYPE_INT64}, {.dtype = TENON_DTYPE_INT64}};
  EXPECT_STATUS(map_of(&t, "x[d] = wrap(element(i, o(0)), dim(x, 0))", "4", &map), TENON_OK);
  EXPECT_STATUS(tenon__expression_from_move(t.scope.pool, &map, TENON_DTYPE_INT64, inputs, 2,
                                            &t.arena, NULL, &e),
                TENON_OK);
  EXPECT_TEXT(tenon__program_text(&e.program, 0, &t.arena),
              "let t0 = in1[index(0)]; in0[t0 < 0 ? extent(in0, 0) + t0 : t0]");
  test_end(&t);
}

TENON_TEST(an_extent_of_many_terms_is_one) {
  expect_sum(1);
  expect_sum(20);
  expect_sum(90);
}

TENON_TEST(indices_out_of_range_are_errors) {
  static data_t data;
  static const tenon__type_t inputs[4] = {{.dtype = TENON_DTYPE_INT64},
                                          {.dtype = TENON_DTYPE_INT64},
                                          {.dtype = TENON_DTYPE_INT64},
                                          {.dtype = TENON_DTYPE_INT64}};
  test_scope_t t;
  tenon__index_map_t map = {0};
  tenon__expression_t e = {0};
  tenon__test_messages_t messages;
  const tenon_sink_t* sink = tenon__test_listen(&messages);
  REQUIRE(test_begin(&t, tenon__allocator_default()));
  test_input(&t, "x", TENON_DTYPE_INT64, "6");
  test_input(&t, "i", TENON_DTYPE_INT64, "4");
  test_output(&t, "y", TENON_DTYPE_INT64, 1);
  data.t = &t;
  data.inputs[1][2] = 6;
  EXPECT_STATUS(map_of(&t, "x[d] = element(i, o(0))", "4", &map), TENON_OK);
  EXPECT_STATUS(tenon__expression_from_move(t.scope.pool, &map, TENON_DTYPE_INT64, inputs, 4,
                                            &t.arena, sink, &e),
                TENON_OK);
  int64_t out[4] = {0};
  EXPECT_STATUS(run_program(&data, &e, out, sink), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(messages.text, "element 6 of axis 0");
  data.t = NULL;
  test_end(&t);
}

static bool convert_gather(tenon_allocator_t allocator, void* user) {
  (void)user;
  static const tenon__type_t inputs[] = {{.dtype = TENON_DTYPE_FLOAT16},
                                         {.dtype = TENON_DTYPE_INT32}};
  test_scope_t t;
  tenon__index_map_t map = {0};
  tenon__expression_t e = {0};
  bool fine = test_begin(&t, allocator);
  if (fine) {
    test_input(&t, "x", TENON_DTYPE_FLOAT16, "b 9");
    test_input(&t, "i", TENON_DTYPE_INT32, "4");
    test_output(&t, "y", TENON_DTYPE_FLOAT16, 1);
    fine = t.fine &&
           map_of(&t, "x[d] = d == 0 ? o(d) : wrap(element(i, o(1)), 9) - 1; fill = 1", "b 4",
                  &map) == TENON_OK &&
           tenon__expression_from_move(t.scope.pool, &map, TENON_DTYPE_FLOAT16, inputs, 2, &t.arena,
                                       NULL, &e) == TENON_OK;
  }
  test_end(&t);
  return fine;
}

TENON_TEST(survives_failing_allocations) {
  tenon__test_each_allocation(convert_gather, NULL);
}
