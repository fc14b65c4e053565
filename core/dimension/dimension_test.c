/* Canonical forms that shape arithmetic of models must reach. */
#include "core/base/bytes.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_evaluate.h"
#include "core/dimension/dimension_text.h"
#include "core/dimension/test_dimension.h"
#include "core/plan_file/dimension_file.h"

static tenon_dim_t add(const fixture_t* f, tenon_dim_t a, tenon_dim_t b) {
  return op(f, TENON_OPCODE_ADD, a, b);
}
static tenon_dim_t sub(const fixture_t* f, tenon_dim_t a, tenon_dim_t b) {
  return op(f, TENON_OPCODE_SUB, a, b);
}
static tenon_dim_t mul(const fixture_t* f, tenon_dim_t a, tenon_dim_t b) {
  return op(f, TENON_OPCODE_MUL, a, b);
}
static tenon_dim_t divide(const fixture_t* f, tenon_dim_t a, tenon_dim_t b) {
  return op(f, TENON_OPCODE_FLOOR_DIV, a, b);
}
static tenon_dim_t mod(const fixture_t* f, tenon_dim_t a, tenon_dim_t b) {
  return op(f, TENON_OPCODE_MOD, a, b);
}

#define EXPECT_SAME(f, actual, expected)                                     \
  do {                                                                       \
    const tenon_dim_t a_ = (actual);                                         \
    const tenon_dim_t e_ = (expected);                                       \
    if (a_.id != e_.id) {                                                    \
      tenon__test_fail(__FILE__, __LINE__, "%s is %s, expected %s", #actual, \
                       tenon__dim_text((f)->pool, a_, &(f)->arena),          \
                       tenon__dim_text((f)->pool, e_, &(f)->arena));         \
    }                                                                        \
  } while (0)

TENON_TEST(sums_and_products_are_canonical) {
  WITH_FIXTURE;
  EXPECT_SAME(f, add(f, s, b), add(f, b, s));
  EXPECT_SAME(f, sub(f, s, s), num(f, 0));
  EXPECT_SAME(f, sub(f, add(f, s, num(f, 1)), num(f, 1)), s);
  EXPECT_SAME(f, mul(f, add(f, s, num(f, 1)), b), add(f, mul(f, b, s), b));
  EXPECT_SAME(f, mul(f, add(f, s, p), add(f, s, p)),
              add(f, add(f, mul(f, s, s), mul(f, p, p)), mul(f, num(f, 2), mul(f, p, s))));
  EXPECT_SAME(f, mul(f, num(f, 0), s), num(f, 0));
  EXPECT_TEXT(tenon__dim_text(f->pool, add(f, num(f, 1), mul(f, b, num(f, 4))), &f->arena),
              "4*b + 1");
  EXPECT_TEXT(tenon__dim_text(f->pool, divide(f, sub(f, s, num(f, 1)), num(f, 2)), &f->arena),
              "(s + 1)/2 - 1");
  tear_down(&fixture);
}

TENON_TEST(reshapes_cancel) {
  WITH_FIXTURE;
  /* Reshape(x[b, s, 768], [0, -1, 12, 64]) */
  const tenon_dim_t elements = mul(f, mul(f, b, s), num(f, 768));
  EXPECT_SAME(f, divide(f, elements, mul(f, b, num(f, 768))), s);
  EXPECT_SAME(f, divide(f, mul(f, num(f, 128), mul(f, b, num(f, 768))), num(f, INT64_C(128) * 768)),
              b);
  /* With a past: b (s + p) 64, both ways. */
  const tenon_dim_t total = mul(f, b, add(f, s, p));
  EXPECT_SAME(f, divide(f, mul(f, total, num(f, 64)), mul(f, num(f, 64), b)), add(f, s, p));
  EXPECT_SAME(f, divide(f, mul(f, total, num(f, 64)), add(f, s, p)), mul(f, b, num(f, 64)));
  EXPECT_SAME(f, divide(f, mul(f, total, num(f, 64)), mul(f, add(f, s, p), num(f, 32))),
              mul(f, b, num(f, 2)));
  EXPECT_SAME(f, mod(f, mul(f, total, num(f, 64)), add(f, s, p)), num(f, 0));
  EXPECT_SAME(f, divide(f, num(f, 0), s), num(f, 0));
  tear_down(&fixture);
}

TENON_TEST(division_uses_ranges) {
  WITH_FIXTURE;
  const tenon_dim_t x4 = mul(f, s, num(f, 4));
  EXPECT_SAME(f, divide(f, mul(f, s, num(f, 2)), num(f, 2)), s);
  EXPECT_SAME(f, divide(f, mul(f, s, num(f, 6)), num(f, 6)), s);
  EXPECT_SAME(f, divide(f, add(f, x4, num(f, 3)), num(f, 4)), s);
  EXPECT_SAME(f, divide(f, add(f, x4, num(f, 2)), num(f, 8)), divide(f, s, num(f, 2)));
  EXPECT_SAME(f, mod(f, add(f, x4, num(f, 3)), num(f, 4)), num(f, 3));
  EXPECT_SAME(f, mod(f, add(f, x4, num(f, 3)), num(f, 8)),
              add(f, mul(f, num(f, 4), mod(f, s, num(f, 2))), num(f, 3)));
  EXPECT_SAME(f, divide(f, divide(f, s, num(f, 2)), num(f, 3)), divide(f, s, num(f, 6)));
  EXPECT_SAME(f, divide(f, add(f, divide(f, s, num(f, 2)), num(f, 1)), num(f, 3)),
              divide(f, add(f, s, num(f, 2)), num(f, 6)));
  EXPECT_SAME(f, add(f, mul(f, num(f, 4), divide(f, s, num(f, 4))), mod(f, s, num(f, 4))), s);
  EXPECT_SAME(f, add(f, mul(f, b, divide(f, s, b)), mod(f, s, b)), s);
  EXPECT_SAME(f, divide(f, s, num(f, -2)), divide(f, mul(f, num(f, -1), s), num(f, 2)));
  EXPECT_SAME(f, divide(f, s, num(f, 1)), s);
  EXPECT_INT(divide(f, s, num(f, 0)).id, TENON_NONE);
  EXPECT_SAME(f, mod(f, num(f, -7), num(f, 4)), num(f, 1));
  EXPECT_SAME(f, divide(f, num(f, -7), num(f, 4)), num(f, -2));
  /* A strided window: floor((s + 2*1 - 3) / 2) + 1 */
  const tenon_dim_t window =
      add(f, divide(f, sub(f, add(f, s, num(f, 2)), num(f, 3)), num(f, 2)), num(f, 1));
  EXPECT_SAME(f, window, divide(f, add(f, s, num(f, 1)), num(f, 2)));
  tear_down(&fixture);
}

TENON_TEST(coordinates_divide_like_row_major_order) {
  WITH_FIXTURE;
  const tenon_dim_t i = tenon__dim_coordinate(f->pool, 0, b);
  const tenon_dim_t j = tenon__dim_coordinate(f->pool, 1, s);
  const tenon_dim_t k = tenon__dim_coordinate(f->pool, 2, num(f, 64));
  const tenon_dim_t place = add(f, mul(f, add(f, mul(f, i, s), j), num(f, 64)), k);
  EXPECT_SAME(f, mod(f, place, num(f, 64)), k);
  EXPECT_SAME(f, mod(f, divide(f, place, num(f, 64)), s), j);
  EXPECT_SAME(f, divide(f, place, mul(f, s, num(f, 64))), i);
  EXPECT_SAME(f, divide(f, add(f, mul(f, i, num(f, 64)), k), num(f, 128)), divide(f, i, num(f, 2)));
  tear_down(&fixture);
}

TENON_TEST(minimum_and_maximum_are_decided) {
  WITH_FIXTURE;
  const uint32_t min = TENON_OPCODE_MIN;
  const uint32_t max = TENON_OPCODE_MAX;
  EXPECT_SAME(f, op(f, min, s, add(f, s, num(f, 1))), s);
  EXPECT_SAME(f, op(f, max, s, add(f, s, p)), add(f, s, p));
  EXPECT_SAME(f, op(f, min, num(f, INT64_MAX), s), s);
  EXPECT_SAME(f, op(f, min, op(f, max, num(f, INT64_MAX), num(f, 0)), s), s);
  EXPECT_SAME(f, op(f, max, add(f, num(f, INT64_MIN), s), num(f, -1)), num(f, -1));
  EXPECT_SAME(f, op(f, max, sub(f, s, num(f, 1)), num(f, 0)), sub(f, s, num(f, 1)));
  EXPECT_SAME(f, op(f, min, op(f, min, s, b), op(f, min, b, num(f, 7))),
              op(f, min, num(f, 7), op(f, min, b, s)));
  EXPECT_SAME(f, op(f, max, op(f, min, s, num(f, 5)), s), s);
  EXPECT_SAME(f, op(f, TENON_OPCODE_LT, op(f, min, s, num(f, 5)), num(f, 6)), num(f, 1));
  EXPECT_SAME(f, op(f, TENON_OPCODE_GE, s, num(f, 1)), num(f, 1));
  EXPECT_SAME(f, op(f, TENON_OPCODE_LE, b, s), op(f, TENON_OPCODE_GE, s, b));
  tear_down(&fixture);
}

TENON_TEST(choices_are_decided) {
  WITH_FIXTURE;
  const tenon_dim_t is_minus = op(f, TENON_OPCODE_EQ, s, num(f, -1));
  EXPECT_SAME(f, is_minus, num(f, 0));
  EXPECT_SAME(f, tenon__dim_select(f->pool, is_minus, b, s), s);
  const tenon_dim_t is_one = op(f, TENON_OPCODE_EQ, s, num(f, 1));
  EXPECT_SAME(f, tenon__dim_select(f->pool, is_one, num(f, 1), s), s);
  EXPECT_SAME(f, tenon__dim_select(f->pool, is_one, b, mul(f, s, b)), mul(f, b, s));
  const tenon_dim_t o = tenon__dim_coordinate(f->pool, 0, s);
  EXPECT_SAME(f, tenon__dim_select(f->pool, is_one, num(f, 0), o), o);
  EXPECT_SAME(f, tenon__dim_select(f->pool, is_one, num(f, 1), num(f, 0)), is_one);
  EXPECT_SAME(f, op(f, TENON_OPCODE_EQ, mul(f, num(f, 2), s), num(f, 3)), num(f, 0));
  EXPECT_SAME(f, op(f, TENON_OPCODE_EQ, add(f, mul(f, num(f, 2), s), num(f, 1)), num(f, 5)),
              op(f, TENON_OPCODE_EQ, s, num(f, 2)));
  const tenon_dim_t not_one = op(f, TENON_OPCODE_NE, s, num(f, 1));
  EXPECT_SAME(f, tenon__dim_select(f->pool, not_one, b, p),
              tenon__dim_select(f->pool, is_one, p, b));
  tear_down(&fixture);
}

TENON_TEST(overflow_is_invalid_and_contagious) {
  WITH_FIXTURE;
  const tenon_dim_t huge = num(f, INT64_MAX);
  EXPECT_INT(add(f, huge, num(f, 1)).id, TENON_NONE);
  EXPECT_INT(mul(f, mul(f, huge, s), num(f, 2)).id, TENON_NONE);
  EXPECT_INT(add(f, TENON_DIM_INVALID, s).id, TENON_NONE);
  EXPECT_INT(tenon__dim_select(f->pool, TENON_DIM_INVALID, s, s).id, TENON_NONE);
  EXPECT_INT(divide(f, num(f, INT64_MIN), num(f, -1)).id, TENON_NONE);
  EXPECT(!tenon__dim_pool_failed(f->pool));
  tear_down(&fixture);
}

TENON_TEST(ranges_follow_symbols) {
  WITH_FIXTURE;
  const tenon_dim_t twice = mul(f, s, num(f, 2));
  const tenon_dim_t rest = mod(f, s, num(f, 8));
  int64_t low = 0;
  int64_t high = 0;
  tenon__dim_range(f->pool, twice, &low, &high);
  EXPECT_INT(low, 2);
  EXPECT_INT(high, INT64_MAX);
  tenon__symbol_set_range(f->pool, tenon__dim_get(f->pool, s).index, 3, 5);
  tenon__dim_range(f->pool, twice, &low, &high);
  EXPECT_INT(low, 6);
  EXPECT_INT(high, 10);
  tenon__dim_range(f->pool, rest, &low, &high);
  EXPECT_INT(high, 5);
  tenon__symbol_set_range(f->pool, tenon__dim_get(f->pool, s).index, 9, 11);
  tenon__dim_range(f->pool, s, &low, &high);
  EXPECT_INT(high, 5);
  tenon__symbol_set_range(f->pool, tenon__dim_get(f->pool, s).index, 5, 5);
  EXPECT(tenon__dim_known(f->pool, twice, &low));
  EXPECT_INT(low, 10);
  tear_down(&fixture);
}

TENON_TEST(what_rests_on_one_number_is_known) {
  WITH_FIXTURE;
  int64_t value = 0;
  const tenon_dim_t rest = mod(f, add(f, s, b), num(f, 5));
  const tenon_dim_t same = op(f, TENON_OPCODE_EQ, s, num(f, 9));
  const tenon_dim_t less = op(f, TENON_OPCODE_LT, s, b);
  const tenon_dim_t choice = tenon__dim_select(f->pool, less, p, mul(f, s, b));
  const tenon_dim_t nothing = divide(f, s, sub(f, b, num(f, 4)));
  tenon__symbol_set_range(f->pool, tenon__dim_get(f->pool, s).index, 9, 9);
  EXPECT(!tenon__dim_known(f->pool, rest, &value));
  EXPECT(tenon__dim_known(f->pool, same, &value));
  EXPECT_INT(value, 1);
  tenon__symbol_set_range(f->pool, tenon__dim_get(f->pool, b).index, 4, 4);
  EXPECT(tenon__dim_known(f->pool, rest, &value));
  EXPECT_INT(value, 3);
  EXPECT(tenon__dim_known(f->pool, less, &value));
  EXPECT_INT(value, 0);
  EXPECT(tenon__dim_known(f->pool, choice, &value));
  EXPECT_INT(value, 36);
  EXPECT(!tenon__dim_known(f->pool, nothing, &value));
  /* Without numbers for any symbol, and those that are given count. */
  const uint8_t unknown[8] = {0};
  const int64_t no_numbers[8] = {0};
  int64_t values[64];
  uint8_t known[64];
  REQUIRE(tenon__symbol_count(f->pool) <= 8 && tenon__dim_pool_count(f->pool) <= 64);
  tenon__dim_pool_evaluate(f->pool, no_numbers, unknown, values, known);
  EXPECT_INT(known[s.id], 1);
  EXPECT_INT(values[choice.id], 36);
  EXPECT_INT(known[p.id], 0);
  EXPECT_INT(known[nothing.id], 0);
  tear_down(&fixture);
}

TENON_TEST(symbols_are_found_by_what_they_are) {
  WITH_FIXTURE;
  const tenon__symbol_t symbol = {
      .kind = TENON_SYMBOL_CONTENT, .a = 3, .b = 1, .max = 9, .bound = TENON_DIM_INVALID};
  EXPECT_INT(tenon__symbol_find(f->pool, TENON_SYMBOL_CONTENT, 3, 1).id, TENON_NONE);
  const tenon_dim_t made = tenon__dim_symbol(f->pool, &symbol);
  EXPECT_SAME(f, tenon__symbol_find(f->pool, TENON_SYMBOL_CONTENT, 3, 1), made);
  EXPECT_INT(tenon__symbol_find(f->pool, TENON_SYMBOL_CONTENT, 1, 3).id, TENON_NONE);
  EXPECT_INT(tenon__symbol_find(f->pool, TENON_SYMBOL_EXTENT, 3, 1).id, TENON_NONE);
  tear_down(&fixture);
}

TENON_TEST(affine_parts_are_found) {
  WITH_FIXTURE;
  const tenon_dim_t i = tenon__dim_coordinate(f->pool, 0, b);
  const tenon_dim_t j = tenon__dim_coordinate(f->pool, 1, s);
  tenon_dim_t base = TENON_DIM_INVALID;
  tenon_dim_t parts[2];
  const tenon_dim_t map = add(f, add(f, mul(f, i, s), mul(f, num(f, 2), j)), sub(f, b, num(f, 1)));
  EXPECT(tenon__dim_affine(f->pool, map, 2, &base, parts));
  EXPECT_SAME(f, base, sub(f, b, num(f, 1)));
  EXPECT_SAME(f, parts[0], s);
  EXPECT_SAME(f, parts[1], num(f, 2));
  EXPECT(!tenon__dim_affine(f->pool, mul(f, i, j), 2, &base, parts));
  EXPECT(!tenon__dim_affine(f->pool, divide(f, i, num(f, 2)), 2, &base, parts));
  const tenon_dim_t is_one = op(f, TENON_OPCODE_EQ, p, num(f, 1));
  const tenon_dim_t choice = tenon__dim_select(f->pool, is_one, num(f, 0), j);
  EXPECT(tenon__dim_affine(f->pool, choice, 2, &base, parts));
  EXPECT_SAME(f, parts[1], tenon__dim_select(f->pool, is_one, num(f, 0), num(f, 1)));
  EXPECT_SAME(f, base, num(f, 0));
  tear_down(&fixture);
}

TENON_TEST(substitution_rewrites_coordinates_and_elements) {
  WITH_FIXTURE;
  const tenon_dim_t i = tenon__dim_coordinate(f->pool, 0, b);
  const tenon_dim_t j = tenon__dim_coordinate(f->pool, 1, s);
  const tenon_dim_t replacements[2] = {add(f, j, num(f, 1)), i};
  const tenon_dim_t element = tenon__dim_element(f->pool, 1, &i, 1);
  const uint32_t inputs[2] = {5, 7};
  const tenon_dim_t before = add(f, mul(f, i, num(f, 3)), add(f, j, element));
  const tenon_dim_t shifted = add(f, j, num(f, 1));
  const tenon_dim_t moved = tenon__dim_element(f->pool, 7, &shifted, 1);
  EXPECT_SAME(f, tenon__dim_substitute(f->pool, before, replacements, 2, inputs),
              add(f, mul(f, shifted, num(f, 3)), add(f, i, moved)));
  EXPECT(tenon__dim_mentions(f->pool, before, TENON_SYMBOL_COORDINATE));
  EXPECT(tenon__dim_mentions(f->pool, before, -1));
  EXPECT(!tenon__dim_mentions(f->pool, before, TENON_SYMBOL_CONTENT));
  EXPECT_SAME(f, tenon__dim_substitute(f->pool, s, replacements, 2, NULL), s);
  tear_down(&fixture);
}

TENON_TEST(made_up_names_do_not_meet_given_ones) {
  WITH_FIXTURE;
  const tenon__symbol_t unnamed = {
      .kind = TENON_SYMBOL_INPUT, .a = 3, .max = 9, .bound = TENON_DIM_INVALID};
  const tenon_dim_t made = tenon__dim_symbol(f->pool, &unnamed);
  EXPECT_SAME(f, made, tenon__dim_symbol(f->pool, &unnamed));
  EXPECT_TEXT(tenon__symbol_get(f->pool, tenon__dim_get(f->pool, made).index)->name, "s3");
  EXPECT(made.id != input(f->pool, "s3", 0).id);
  EXPECT_SAME(f, input(f->pool, "s", 0), s);
  EXPECT(tenon__dim_coordinate(f->pool, 0, b).id != tenon__dim_coordinate(f->pool, 0, s).id);
  tear_down(&fixture);
}

TENON_TEST(numbers_at_coordinates) {
  WITH_FIXTURE;
  const tenon_dim_t i = tenon__dim_coordinate(f->pool, 0, b);
  const tenon_dim_t j = tenon__dim_coordinate(f->pool, 1, s);
  const tenon_dim_t map = add(f, mul(f, i, s), divide(f, j, num(f, 2)));
  int64_t values[64] = {0};
  uint8_t known[64] = {0};
  REQUIRE(tenon__dim_pool_count(f->pool) <= 64);
  const uint32_t symbols = tenon__symbol_count(f->pool);
  int64_t symbol_values[8] = {0};
  uint8_t symbol_known[8] = {0};
  REQUIRE(symbols <= 8);
  symbol_values[1] = 10;
  symbol_known[1] = 1;
  tenon__dim_pool_evaluate(f->pool, symbol_values, symbol_known, values, known);
  const int64_t coordinates[2] = {3, 5};
  const tenon__dim_point_t point = {
      .values = values, .known = known, .coordinates = coordinates, .coordinate_count = 2};
  int64_t value = 0;
  EXPECT(tenon__dim_value_at(f->pool, map, &point, &value));
  EXPECT_INT(value, 32);
  EXPECT(!tenon__dim_value_at(f->pool, add(f, map, b), &point, &value));
  int64_t base = 0;
  int64_t parts[2] = {0};
  const tenon_dim_t affine = sub(f, sub(f, s, num(f, 1)), add(f, mul(f, i, s), j));
  tenon__dim_pool_evaluate(f->pool, symbol_values, symbol_known, values, known);
  EXPECT(tenon__dim_affine_at(f->pool, affine, &point, &base, parts));
  EXPECT_INT(base, 9);
  EXPECT_INT(parts[0], -10);
  EXPECT_INT(parts[1], -1);
  EXPECT(!tenon__dim_affine_at(f->pool, map, &point, &base, parts));
  tear_down(&fixture);
}

static bool write_and_read(tenon_allocator_t allocator, void* user) {
  (void)user;
  fixture_t fixture;
  bool fine = set_up(&fixture, allocator);
  if (fine) {
    const fixture_t* f = &fixture;
    const tenon_dim_t o = tenon__dim_coordinate(f->pool, 0, f->s);
    const tenon_dim_t e = tenon__dim_element(f->pool, 2, &o, 1);
    tenon_dim_t x = op(f, TENON_OPCODE_MIN, divide(f, add(f, f->b, f->p), num(f, 3)), f->s);
    x = tenon__dim_select(f->pool, op(f, TENON_OPCODE_LT, x, f->p), e, x);
    x = tenon__dim_substitute(f->pool, x, &f->b, 1, NULL);
    const char* text = tenon__dim_text(f->pool, x, &fixture.arena);
    struct tenon__byte_writer_t writer;
    tenon__byte_writer_initialize(&writer, allocator);
    tenon__dim_pool_write(f->pool, &writer);
    struct tenon__byte_reader_t reader;
    tenon__byte_reader_initialize(&reader, writer.data, writer.size);
    tenon__dim_pool_t* copy = NULL;
    fine = x.id != TENON_NONE && !writer.failed &&
           tenon__dim_pool_read(allocator, &reader, NULL, &copy) == TENON_OK;
    if (fine) {
      fine = strcmp(tenon__dim_text(copy, x, &fixture.arena), text) == 0 && strcmp(text, "?") != 0;
      /* What is built on the copy meets what was there. */
      fine = fine && tenon__dim_add(copy, f->b, f->p).id == add(f, f->b, f->p).id;
    }
    tenon__dim_pool_destroy(copy);
    tenon__byte_writer_deinitialize(&writer);
  }
  tear_down(&fixture);
  return fine;
}

TENON_TEST(survives_writing_and_failing_allocations) {
  tenon__test_each_allocation(write_and_read, NULL);
}

TENON_TEST(rejects_broken_pools) {
  const struct {
    const char* name;
    uint8_t bytes[40];
    size_t size;
  } cases[] = {
      {"nothing", {0}, 0},
      {"count beyond the end", {0, 0, 0, 0, 9, 0, 0, 0}, 8},
      {"unknown kind", {0, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 0}, 13},
      {"symbol that is not there", {0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0}, 13},
      {"operand that is not there",
       {0, 0, 0, 0, 1, 0, 0, 0, 2, 7, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
       25},
      {"the same constant twice",
       {0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
       26},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    tenon__test_messages_t messages;
    const tenon_sink_t* sink = tenon__test_listen(&messages);
    struct tenon__byte_reader_t reader;
    tenon__byte_reader_initialize(&reader, cases[i].bytes, cases[i].size);
    tenon__dim_pool_t* pool = NULL;
    const tenon_status_t status =
        tenon__dim_pool_read(tenon__allocator_default(), &reader, sink, &pool);
    if (status != TENON_ERROR_INVALID_DATA || pool != NULL || messages.count != 1) {
      tenon__test_fail(__FILE__, __LINE__, "%s was taken", cases[i].name);
    }
    tenon__dim_pool_destroy(pool);
  }
}
