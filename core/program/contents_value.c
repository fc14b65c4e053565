/* Arithmetic on quotients of dimensions. */
#include "core/program/contents_value.h"

#include <math.h>

#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/program/scalar.h"

enum { MOST_FRACTION = 1024, MOST_NUMERATOR = 1 << 24 };

typedef tenon__content_t content_t;

static bool is_known(content_t value) {
  return !tenon__dim_equal(value.numerator, TENON_DIM_INVALID);
}

static tenon_dim_t op(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a, tenon_dim_t b) {
  return tenon__dim_combine(pool, opcode, a, b);
}

content_t tenon__content_whole(tenon__dim_pool_t* pool, tenon_dim_t dim) {
  return (content_t){dim, tenon__dim_constant(pool, 1), 0};
}

content_t tenon__content_number(tenon__dim_pool_t* pool, int64_t value) {
  return tenon__content_whole(pool, tenon__dim_constant(pool, value));
}

content_t tenon__content_float(tenon__dim_pool_t* pool, double value) {
  for (int64_t fraction = 1; fraction <= MOST_FRACTION; fraction *= 2) {
    const double scaled = value * (double)fraction;
    if (fabs(scaled) <= MOST_NUMERATOR && scaled == rint(scaled)) {
      return (content_t){tenon__dim_constant(pool, (int64_t)scaled),
                         tenon__dim_constant(pool, fraction), 0};
    }
  }
  return tenon__content_unknown();
}

bool tenon__content_is_whole(tenon__dim_pool_t* pool, content_t value) {
  return is_known(value) && tenon__dim_is(pool, value.denominator, 1);
}

bool tenon__content_known(tenon__dim_pool_t* pool, content_t value, int64_t* out_value) {
  return tenon__content_is_whole(pool, value) && tenon__dim_known(pool, value.numerator, out_value);
}

/* a / b with b positive for sure; divided out where it goes. */
static content_t quotient(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b) {
  int64_t low = 0;
  int64_t high = 0;
  tenon__dim_range(pool, b, &low, &high);
  if (tenon__dim_equal(a, TENON_DIM_INVALID) || tenon__dim_equal(b, TENON_DIM_INVALID) || low < 1) {
    return tenon__content_unknown();
  }
  if (tenon__dim_is(pool, op(pool, TENON_OPCODE_MOD, a, b), 0)) {
    return tenon__content_whole(pool, op(pool, TENON_OPCODE_FLOOR_DIV, a, b));
  }
  return (content_t){a, b, 0};
}

static content_t negated(tenon__dim_pool_t* pool, content_t a) {
  a.numerator = op(pool, TENON_OPCODE_SUB, tenon__dim_constant(pool, 0), a.numerator);
  return a;
}

/* What ADD, SUB, MIN, MAX and comparisons do, on a common denominator. */
static content_t on_common(tenon__dim_pool_t* pool, uint32_t opcode, content_t a, content_t b) {
  tenon_dim_t x = a.numerator;
  tenon_dim_t y = b.numerator;
  tenon_dim_t below = a.denominator;
  if (!tenon__dim_equal(a.denominator, b.denominator)) {
    x = op(pool, TENON_OPCODE_MUL, a.numerator, b.denominator);
    y = op(pool, TENON_OPCODE_MUL, b.numerator, a.denominator);
    below = op(pool, TENON_OPCODE_MUL, a.denominator, b.denominator);
  }
  const tenon_dim_t result = op(pool, opcode, x, y);
  return tenon__opcode_is_comparison(opcode) ? tenon__content_whole(pool, result)
                                             : quotient(pool, result, below);
}

static content_t divide_floats(tenon__dim_pool_t* pool, content_t a, content_t b) {
  int64_t low = 0;
  int64_t high = 0;
  tenon__dim_range(pool, b.numerator, &low, &high);
  if (high < 0) {
    a = negated(pool, a);
    b = negated(pool, b);
  } else if (low < 1) {
    return tenon__content_unknown();
  }
  return quotient(pool, op(pool, TENON_OPCODE_MUL, a.numerator, b.denominator),
                  op(pool, TENON_OPCODE_MUL, a.denominator, b.numerator));
}

/* Towards zero, the divisor positive. */
static tenon_dim_t truncated(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b) {
  const tenon_dim_t zero = tenon__dim_constant(pool, 0);
  const tenon_dim_t down = op(pool, TENON_OPCODE_FLOOR_DIV, a, b);
  const tenon_dim_t minus = op(pool, TENON_OPCODE_SUB, zero, a);
  const tenon_dim_t up =
      op(pool, TENON_OPCODE_SUB, zero, op(pool, TENON_OPCODE_FLOOR_DIV, minus, b));
  return tenon__dim_select(pool, op(pool, TENON_OPCODE_LT, a, zero), up, down);
}

static content_t divide_integers(tenon__dim_pool_t* pool, uint32_t opcode, content_t a,
                                 content_t b) {
  int64_t low = 0;
  int64_t high = 0;
  tenon__dim_range(pool, b.numerator, &low, &high);
  if (opcode == TENON_OPCODE_FLOOR_DIV || opcode == TENON_OPCODE_MOD) {
    return low > 0 || high < 0
               ? tenon__content_whole(pool, op(pool, opcode, a.numerator, b.numerator))
               : tenon__content_unknown();
  }
  if (low < 1) {
    return tenon__content_unknown();
  }
  const tenon_dim_t whole = truncated(pool, a.numerator, b.numerator);
  if (opcode == TENON_OPCODE_DIV) {
    return tenon__content_whole(pool, whole);
  }
  return tenon__content_whole(pool, op(pool, TENON_OPCODE_SUB, a.numerator,
                                       op(pool, TENON_OPCODE_MUL, whole, b.numerator)));
}

static content_t combine_two(tenon__dim_pool_t* pool, const tenon_instruction_t* i, content_t a,
                             content_t b) {
  /* On bools; TENON_OPCODE_NOP for what is no operation of dimensions. */
  static const uint8_t of_bools[TENON_OPCODE_COUNT] = {[TENON_OPCODE_AND] = TENON_OPCODE_MIN,
                                                       [TENON_OPCODE_OR] = TENON_OPCODE_MAX,
                                                       [TENON_OPCODE_XOR] = TENON_OPCODE_NE};
  const bool is_float = tenon__dtype_class(i->dtype) == 'f';
  const uint32_t opcode = i->dtype == TENON_DTYPE_BOOL && of_bools[i->opcode] != TENON_OPCODE_NOP
                              ? of_bools[i->opcode]
                              : i->opcode;
  if (tenon__opcode_is_comparison(opcode)) {
    return on_common(pool, opcode, a, b);
  }
  switch (opcode) {
    case TENON_OPCODE_ADD:
    case TENON_OPCODE_SUB:
    case TENON_OPCODE_MIN:
    case TENON_OPCODE_MAX:
      return on_common(pool, opcode, a, b);
    case TENON_OPCODE_MUL:
      return quotient(pool, op(pool, TENON_OPCODE_MUL, a.numerator, b.numerator),
                      op(pool, TENON_OPCODE_MUL, a.denominator, b.denominator));
    case TENON_OPCODE_DIV:
      return is_float ? divide_floats(pool, a, b) : divide_integers(pool, i->opcode, a, b);
    case TENON_OPCODE_FLOOR_DIV:
    case TENON_OPCODE_MOD:
    case TENON_OPCODE_FMOD:
      return is_float ? tenon__content_unknown() : divide_integers(pool, i->opcode, a, b);
    default:
      return tenon__content_unknown();
  }
}

/* An integer type is taken to hold every extent if it has 32 bits, a smaller one only what fits for
 * sure. */
static content_t cast(tenon__dim_pool_t* pool, content_t a, tenon_dtype_t from, tenon_dtype_t to) {
  const char kind = tenon__dtype_class(to);
  const tenon_dim_t zero = tenon__dim_constant(pool, 0);
  int64_t low = 0;
  int64_t high = 0;
  if (kind == 'f') {
    return a;
  }
  if (kind == 'b') {
    return tenon__content_whole(pool, op(pool, TENON_OPCODE_NE, a.numerator, zero));
  }
  if (tenon__dtype_class(from) == 'f') {
    a = tenon__content_whole(pool, truncated(pool, a.numerator, a.denominator));
  }
  tenon__dim_range(pool, a.numerator, &low, &high);
  const uint32_t bits = tenon__dtype_bits(to) - (kind == 'i' ? 1u : 0u);
  const bool fits = bits >= 31 || (high < (INT64_C(1) << bits) &&
                                   low >= (kind == 'i' ? -(INT64_C(1) << bits) : 0));
  return fits && (kind == 'i' || low >= 0) ? a : tenon__content_unknown();
}

static content_t combine_one(tenon__dim_pool_t* pool, const tenon_instruction_t* i,
                             tenon_dtype_t from, content_t a) {
  const tenon_dim_t one = tenon__dim_constant(pool, 1);
  switch (i->opcode) {
    case TENON_OPCODE_CAST:
      return cast(pool, a, from, i->dtype);
    case TENON_OPCODE_NEG:
      return negated(pool, a);
    case TENON_OPCODE_ABS:
      return on_common(pool, TENON_OPCODE_MAX, a, negated(pool, a));
    case TENON_OPCODE_FLOOR:
      return tenon__content_whole(pool,
                                  op(pool, TENON_OPCODE_FLOOR_DIV, a.numerator, a.denominator));
    case TENON_OPCODE_CEIL:
      a.numerator =
          op(pool, TENON_OPCODE_ADD, a.numerator, op(pool, TENON_OPCODE_SUB, a.denominator, one));
      return tenon__content_whole(pool,
                                  op(pool, TENON_OPCODE_FLOOR_DIV, a.numerator, a.denominator));
    case TENON_OPCODE_TRUNC:
      return tenon__content_whole(pool, truncated(pool, a.numerator, a.denominator));
    case TENON_OPCODE_ROUND:
      return tenon__content_is_whole(pool, a) ? a : tenon__content_unknown();
    case TENON_OPCODE_RECIP:
      return divide_floats(pool, tenon__content_number(pool, 1), a);
    case TENON_OPCODE_NOT:
      return i->dtype == TENON_DTYPE_BOOL
                 ? on_common(pool, TENON_OPCODE_EQ, a, tenon__content_number(pool, 0))
                 : tenon__content_unknown();
    default:
      return tenon__content_unknown();
  }
}

static content_t choose(tenon__dim_pool_t* pool, content_t condition, content_t a, content_t b) {
  int64_t known = 0;
  if (!is_known(condition)) {
    return tenon__content_unknown();
  }
  if (tenon__dim_known(pool, condition.numerator, &known)) {
    return known != 0 ? a : b;
  }
  if (!is_known(a) || !is_known(b) || !tenon__dim_equal(a.denominator, b.denominator)) {
    return tenon__content_unknown();
  }
  a.numerator = tenon__dim_select(pool, condition.numerator, a.numerator, b.numerator);
  return a;
}

/* Numbers that are all known go through the rules for scalars, with their rounding and wrapping. */
static bool fold(tenon__dim_pool_t* pool, const tenon_instruction_t* i, tenon_dtype_t from,
                 const content_t* const operands[3], uint32_t count, content_t* out_value) {
  tenon__scalar_t numbers[3] = {{.i = 0}, {.i = 0}, {.i = 0}};
  for (uint32_t k = 0; k < count; ++k) {
    int64_t above = 0;
    int64_t below = 0;
    if (!tenon__dim_known(pool, operands[k]->numerator, &above) ||
        !tenon__dim_known(pool, operands[k]->denominator, &below)) {
      return false;
    }
    if (tenon__dtype_class(from) == 'f') {
      numbers[k].f = (double)above / (double)below;
    } else {
      numbers[k].i = above;
    }
  }
  const tenon__scalar_t result =
      tenon__scalar_apply(i->opcode, i->dtype, from, numbers[0], numbers[1], numbers[2]);
  *out_value = tenon__dtype_class(tenon__instruction_type(i)) == 'f'
                   ? tenon__content_float(pool, result.f)
                   : tenon__content_number(pool, result.i);
  return true;
}

static content_t combine(tenon__dim_pool_t* pool, const tenon_instruction_t* instruction,
                         tenon_dtype_t from, const content_t* const operands[3]) {
  const uint32_t count = tenon__opcode_operand_count(instruction->opcode);
  content_t folded;
  if (instruction->opcode == TENON_OPCODE_SELECT) {
    return choose(pool, *operands[0], *operands[1], *operands[2]);
  }
  for (uint32_t k = 0; k < count; ++k) {
    if (!is_known(*operands[k])) {
      return tenon__content_unknown();
    }
  }
  if (instruction->opcode != TENON_OPCODE_RANDOM &&
      fold(pool, instruction, from, operands, count, &folded)) {
    return folded;
  }
  return count == 2 ? combine_two(pool, instruction, *operands[0], *operands[1])
                    : combine_one(pool, instruction, from, *operands[0]);
}

content_t tenon__content_combine(tenon__dim_pool_t* pool, const tenon_instruction_t* instruction,
                                 tenon_dtype_t from, const content_t* const operands[3]) {
  const content_t value = combine(pool, instruction, from, operands);
  int64_t low = 0;
  int64_t high = 0;
  if (is_known(value) && tenon__dtype_class(tenon__instruction_type(instruction)) == 'u') {
    tenon__dim_range(pool, value.numerator, &low, &high);
  }
  /* Contents are signed: an unsigned number that may wrap, or be 2^63 or more, is none. */
  return low < 0 ? tenon__content_unknown() : value;
}

content_t tenon__content_add_to_sum(tenon__dim_pool_t* pool, const tenon_instruction_t* instruction,
                                    content_t sum, content_t value) {
  static const uint16_t opcodes[] = {TENON_OPCODE_ADD, TENON_OPCODE_MUL, TENON_OPCODE_MIN,
                                     TENON_OPCODE_MAX, TENON_OPCODE_ADD};
  const uint32_t count = sum.count + 1;
  if (count > 1 && is_known(sum) && is_known(value)) {
    tenon_instruction_t own = *instruction;
    own.opcode = opcodes[instruction->opcode - TENON_OPCODE_SUM];
    value = combine_two(pool, &own, sum, value);
  } else if (count > 1) {
    value = tenon__content_unknown();
  }
  value.count = count;
  return value;
}

content_t tenon__content_end_sum(tenon__dim_pool_t* pool, const tenon_instruction_t* instruction,
                                 content_t sum) {
  int64_t number = 0;
  if (instruction->opcode == TENON_OPCODE_MEAN && is_known(sum) && sum.count > 0) {
    tenon_instruction_t own = *instruction;
    own.opcode = TENON_OPCODE_DIV;
    sum = combine_two(pool, &own, sum, tenon__content_number(pool, (int64_t)sum.count));
  }
  if (tenon__dtype_class(instruction->dtype) == 'f' || !tenon__content_known(pool, sum, &number)) {
    return sum;
  }
  const tenon__scalar_t fit = tenon__scalar_fit(instruction->dtype, (tenon__scalar_t){.i = number});
  return tenon__content_number(pool, fit.i);
}
