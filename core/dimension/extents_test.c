#include "core/dimension/extents.h"

#include "core/base/allocator.h"
#include "core/base/test.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_pool.h"

typedef struct scene_t {
  tenon__dim_pool_t* pool;
  tenon__arena_t arena;
  tenon_dim_t n[3]; /* symbols */
  tenon__extents_t extents;
} scene_t;

/* Extents with these numbers for the symbols; dimensions that are made afterwards are late. */
static void begin(scene_t* s, int64_t a, int64_t b, int64_t c) {
  static const char* const names[3] = {"a", "b", "c"};
  const int64_t values[3] = {a, b, c};
  tenon__arena_initialize(&s->arena, tenon__allocator_default());
  REQUIRE(tenon__dim_pool_create(tenon__allocator_default(), &s->pool) == TENON_OK);
  for (uint32_t k = 0; k < 3; ++k) {
    const tenon__symbol_t symbol = {
        .kind = TENON_SYMBOL_INPUT, .name = names[k], .max = INT64_MAX, .bound = TENON_DIM_INVALID};
    s->n[k] = tenon__dim_symbol(s->pool, &symbol);
  }
  REQUIRE(tenon__extents_create(&s->arena, s->pool, &s->extents) == TENON_OK);
  for (uint32_t k = 0; k < 3; ++k) {
    tenon__extents_set(&s->extents, tenon__dim_get(s->pool, s->n[k]).index, values[k]);
  }
  tenon__extents_update(&s->extents);
}

static void end(scene_t* s) {
  tenon__arena_deinitialize(&s->arena);
  tenon__dim_pool_destroy(s->pool);
}

/* (a opcode b) opcode c, which the pool makes one operation of three where it can. */
static tenon_dim_t of_three(scene_t* s, uint32_t opcode) {
  const tenon_dim_t two = tenon__dim_combine(s->pool, opcode, s->n[0], s->n[1]);
  return tenon__dim_combine(s->pool, opcode, two, s->n[2]);
}

static int64_t late(const scene_t* s, tenon_dim_t dim) {
  int64_t value = -1;
  EXPECT(dim.id >= s->extents.dim_count);
  EXPECT(tenon__extents_get(&s->extents, dim, &value));
  return value;
}

TENON_TEST(late_dimensions_count_all_their_operands) {
  scene_t s;
  begin(&s, 7, 5, 3);
  EXPECT_INT(late(&s, of_three(&s, TENON_OPCODE_MIN)), 3);
  EXPECT_INT(late(&s, of_three(&s, TENON_OPCODE_MAX)), 7);
  EXPECT_INT(late(&s, of_three(&s, TENON_OPCODE_ADD)), 15);
  EXPECT_INT(late(&s, of_three(&s, TENON_OPCODE_MUL)), 105);
  end(&s);
  begin(&s, 3, 5, 7);
  EXPECT_INT(late(&s, of_three(&s, TENON_OPCODE_MIN)), 3);
  EXPECT_INT(late(&s, of_three(&s, TENON_OPCODE_MAX)), 7);
  EXPECT_INT(late(&s, tenon__dim_combine(s.pool, TENON_OPCODE_FLOOR_DIV, s.n[2], s.n[0])), 2);
  EXPECT_INT(late(&s, tenon__dim_combine(s.pool, TENON_OPCODE_MOD, s.n[2], s.n[0])), 1);
  end(&s);
}

/* The sum of what is compared does not matter. */
TENON_TEST(late_dimensions_compare_large_numbers) {
  scene_t s;
  begin(&s, INT64_MAX, INT64_MAX - 1, 2);
  EXPECT(late(&s, tenon__dim_combine(s.pool, TENON_OPCODE_MIN, s.n[0], s.n[1])) == INT64_MAX - 1);
  EXPECT_INT(late(&s, tenon__dim_combine(s.pool, TENON_OPCODE_LT, s.n[0], s.n[1])), 0);
  end(&s);
}

TENON_TEST(late_dimensions_without_a_value_are_unknown) {
  scene_t s;
  int64_t value = 0;
  begin(&s, INT64_MAX, 2, 0);
  EXPECT(!tenon__extents_get(&s.extents, of_three(&s, TENON_OPCODE_ADD), &value));
  EXPECT(!tenon__extents_get(
      &s.extents, tenon__dim_combine(s.pool, TENON_OPCODE_FLOOR_DIV, s.n[1], s.n[2]), &value));
  end(&s);
}

/* max(0, min(n, 350) - max(0, n - 350)), a slice of n: 0 at n = 700, 350 at n = 350. */
static tenon_dim_t slice_of(scene_t* s) {
  tenon__dim_pool_t* pool = s->pool;
  const tenon_dim_t zero = tenon__dim_constant(pool, 0);
  const tenon_dim_t most = tenon__dim_constant(pool, 350);
  const tenon_dim_t end = tenon__dim_combine(pool, TENON_OPCODE_MIN, s->n[0], most);
  const tenon_dim_t begin = tenon__dim_combine(
      pool, TENON_OPCODE_MAX, zero, tenon__dim_add(pool, s->n[0], tenon__dim_constant(pool, -350)));
  return tenon__dim_combine(pool, TENON_OPCODE_MAX, zero, tenon__dim_subtract(pool, end, begin));
}

/* The bound at one end of n in 1..700, with the dimension made before the extents or after. */
static int64_t bound_of_slice(int64_t n, tenon__extents_end_t which, bool is_late) {
  scene_t s;
  int64_t value = -1;
  begin(&s, n, 1, 1);
  const uint32_t symbol = tenon__dim_get(s.pool, s.n[0]).index;
  tenon__symbol_set_range(s.pool, symbol, 1, 700);
  const tenon_dim_t slice = slice_of(&s);
  if (!is_late) {
    EXPECT_STATUS(tenon__extents_create(&s.arena, s.pool, &s.extents), TENON_OK);
    tenon__extents_set(&s.extents, symbol, n);
  }
  s.extents.end = which;
  if (!is_late) { /* there is no room for values of late dimensions */
    tenon__extents_update(&s.extents);
  }
  EXPECT(tenon__extents_bound(&s.extents, slice, &value));
  end(&s);
  return value;
}

TENON_TEST(bounds_hold_inside_a_range) {
  for (int is_late = 0; is_late < 2; ++is_late) {
    EXPECT_INT(bound_of_slice(700, TENON_EXTENTS_POINT, is_late == 1), 0);
    EXPECT_INT(bound_of_slice(700, TENON_EXTENTS_MOST, is_late == 1), 350);
    EXPECT(bound_of_slice(1, TENON_EXTENTS_LEAST, is_late == 1) <= 0);
  }
}

TENON_TEST(without_a_range_there_is_no_bound) {
  scene_t s;
  int64_t value = 0;
  begin(&s, 5, 3, 2);
  const tenon_dim_t sum = tenon__dim_add(s.pool, s.n[0], s.n[1]);
  s.extents.end = TENON_EXTENTS_MOST;
  tenon__extents_update(&s.extents);
  EXPECT(!tenon__extents_bound(&s.extents, sum, &value));
  EXPECT(tenon__extents_bound(&s.extents, s.n[0], &value));
  EXPECT_INT(value, 5);
  end(&s);
}
