/* Canonical forms never lie: random expressions against their values. */
#include "core/base/allocator.h"
#include "core/dimension/dimension_evaluate.h"
#include "core/dimension/dimension_text.h"
#include "core/dimension/test_dimension.h"

/* A small generator of random expressions: the value by canonical form must be the value by
 * definition. */
typedef struct chaos_t {
  fixture_t* f;
  uint64_t state;
  int64_t values[3];
} chaos_t;

static uint32_t roll(chaos_t* chaos, uint32_t count) {
  chaos->state = chaos->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(chaos->state >> 33) % count;
}

static int64_t floor_quotient(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

/* The value by definition; the divisor is not 0. */
static int64_t value_of(uint32_t opcode, int64_t x, int64_t y) {
  switch (opcode) {
    case TENON_OPCODE_ADD:
      return x + y;
    case TENON_OPCODE_SUB:
      return x - y;
    case TENON_OPCODE_MUL:
      return x * y;
    case TENON_OPCODE_FLOOR_DIV:
      return floor_quotient(x, y);
    case TENON_OPCODE_MOD:
      return x - y * floor_quotient(x, y);
    case TENON_OPCODE_MIN:
      return x < y ? x : y;
    case TENON_OPCODE_MAX:
      return x > y ? x : y;
    case TENON_OPCODE_EQ:
      return x == y;
    case TENON_OPCODE_NE:
      return x != y;
    case TENON_OPCODE_LT:
      return x < y;
    default:
      return x >= y;
  }
}

/* A dimension and its value; false when it has none. */
static bool grow_expression(chaos_t* chaos, uint32_t depth, tenon_dim_t* out_dim,
                            int64_t* out_value) {
  static const uint32_t opcodes[] = {
      TENON_OPCODE_ADD, TENON_OPCODE_ADD,       TENON_OPCODE_SUB,       TENON_OPCODE_MUL,
      TENON_OPCODE_MUL, TENON_OPCODE_FLOOR_DIV, TENON_OPCODE_FLOOR_DIV, TENON_OPCODE_MOD,
      TENON_OPCODE_MOD, TENON_OPCODE_MIN,       TENON_OPCODE_MAX,       TENON_OPCODE_EQ,
      TENON_OPCODE_LT,  TENON_OPCODE_NE,        TENON_OPCODE_GE,        TENON_OPCODE_SELECT};
  const fixture_t* f = chaos->f;
  if (depth == 0 || roll(chaos, 6) == 0) {
    const tenon_dim_t symbols[3] = {f->b, f->s, f->p};
    const uint32_t which = roll(chaos, 6);
    *out_value = which < 3 ? chaos->values[which] : (int64_t)roll(chaos, 13) - 3;
    *out_dim = which < 3 ? symbols[which] : num(f, *out_value);
    return true;
  }
  const uint32_t opcode = opcodes[roll(chaos, sizeof(opcodes) / sizeof(opcodes[0]))];
  tenon_dim_t a = TENON_DIM_INVALID;
  tenon_dim_t b = TENON_DIM_INVALID;
  int64_t x = 0;
  int64_t y = 0;
  if (!grow_expression(chaos, depth - 1, &a, &x) || !grow_expression(chaos, depth - 1, &b, &y)) {
    return false;
  }
  if (opcode == TENON_OPCODE_SELECT) {
    tenon_dim_t c = TENON_DIM_INVALID;
    int64_t z = 0;
    if (!grow_expression(chaos, depth - 1, &c, &z)) {
      return false;
    }
    *out_dim = tenon__dim_select(f->pool, c, a, b);
    *out_value = z != 0 ? x : y;
    return true;
  }
  if ((opcode == TENON_OPCODE_FLOOR_DIV || opcode == TENON_OPCODE_MOD) && y == 0) {
    return false;
  }
  *out_dim = op(f, opcode, a, b);
  *out_value = value_of(opcode, x, y);
  return true;
}

static void check_one(chaos_t* chaos) {
  fixture_t* f = chaos->f;
  tenon_dim_t dim = TENON_DIM_INVALID;
  int64_t value = 0;
  if (!grow_expression(chaos, 4, &dim, &value) || dim.id == TENON_NONE) {
    return;
  }
  const uint32_t count = tenon__dim_pool_count(f->pool);
  int64_t* values = tenon__allocate(tenon__allocator_default(), count, sizeof(*values));
  uint8_t* known = tenon__allocate(tenon__allocator_default(), count, 1);
  const uint8_t all[3] = {1, 1, 1};
  tenon__dim_pool_evaluate(f->pool, chaos->values, all, values, known);
  const char* text = tenon__dim_text(f->pool, dim, &f->arena);
  int64_t low = 0;
  int64_t high = 0;
  tenon__dim_range(f->pool, dim, &low, &high);
  if (!known[dim.id] || values[dim.id] != value || value < low || value > high) {
    tenon__test_fail(__FILE__, __LINE__,
                     "b=%lld s=%lld p=%lld: %s gives %lld (%d), range [%lld, %lld], not %lld",
                     (long long)chaos->values[0], (long long)chaos->values[1],
                     (long long)chaos->values[2], text, (long long)values[dim.id], known[dim.id],
                     (long long)low, (long long)high, (long long)value);
  }
  tenon__free(tenon__allocator_default(), values, count * sizeof(*values));
  tenon__free(tenon__allocator_default(), known, count);
}

TENON_TEST(random_expressions_keep_their_value) {
  chaos_t chaos = {.state = 12345};
  for (int round = 0; round < 400; ++round) {
    WITH_FIXTURE;
    chaos.f = f;
    for (int i = 0; i < 25; ++i) {
      chaos.values[0] = 1 + roll(&chaos, 9);
      chaos.values[1] = 1 + roll(&chaos, 40);
      chaos.values[2] = roll(&chaos, 5);
      check_one(&chaos);
    }
    tear_down(&fixture);
  }
}
