/* The rules, by opcode. Each rule looks at operands that are simplified already. */
#include "core/program/simplify.h"

#include <math.h>

#include "core/base/string_map.h"

enum { SIZE_LIMIT = 1u << 20 };

typedef tenon__simplifier_t simplifier_t;
typedef tenon_instruction_t instruction_t;

void tenon__simplifier_initialize(simplifier_t* out_simplifier, tenon__arena_t* arena) {
  *out_simplifier = (simplifier_t){0};
  tenon__program_builder_initialize(&out_simplifier->builder, arena);
}

static const instruction_t* made(const simplifier_t* s, uint32_t index) {
  return &s->builder.instructions[index];
}

static bool is_opcode(const simplifier_t* s, uint32_t index, uint32_t opcode) {
  return made(s, index)->opcode == opcode;
}

static bool is_float(tenon_dtype_t dtype) {
  return tenon__dtype_class(dtype) == 'f';
}

/* A constant of that value; of floats also of that sign of zero. */
static bool is_number(const simplifier_t* s, uint32_t index, double number) {
  tenon__scalar_t value;
  if (!tenon__builder_constant(&s->builder, index, &value)) {
    return false;
  }
  if (!is_float(made(s, index)->dtype)) {
    return (double)value.i == number;
  }
  return value.f == number && (signbit(value.f) != 0) == (signbit(number) != 0);
}

/* Whole numbers up to two to this are values of the type. */
static uint32_t whole_bits(tenon_dtype_t dtype) {
  const uint32_t bits = tenon__dtype_bits(dtype);
  const char kind = tenon__dtype_class(dtype);
  return kind != 'f' ? bits - (kind == 'i' ? 1u : 0u) : bits >= 64 ? 53u : 24u;
}

/* Does every value of `from` have its equal in `to`, both types of arithmetic? */
static bool is_lossless(tenon_dtype_t from, tenon_dtype_t to) {
  const char a = tenon__dtype_class(from);
  const char b = tenon__dtype_class(to);
  const bool holds = b == 'f' || (a != 'f' && b != 'b' && (a == b || b == 'i'));
  return from == to || a == 'b' || (holds && whole_bits(from) <= whole_bits(to));
}

/* Folds an operation on constants alone. */
static bool fold(simplifier_t* s, const instruction_t* i, uint32_t* out) {
  const uint32_t count = tenon__opcode_operand_count(i->opcode);
  tenon__scalar_t values[3] = {{.i = 0}, {.i = 0}, {.i = 0}};
  if (count == 0 || tenon__opcode_is_reduction(i->opcode)) {
    return false;
  }
  for (uint32_t k = 0; k < count; ++k) {
    if (!tenon__builder_constant(&s->builder, i->operands[k], &values[k])) {
      return false;
    }
  }
  const tenon_dtype_t from = tenon__builder_type(&s->builder, i->operands[0]);
  tenon__scalar_t result = {.i = 0};
  if (i->opcode == TENON_OPCODE_RANDOM) {
    result.f = tenon__random_uniform(i->dtype, (uint64_t)values[0].i, (uint64_t)values[1].i);
  } else {
    result = tenon__scalar_apply(i->opcode, i->dtype, from, values[0], values[1], values[2]);
  }
  *out = tenon__emit_constant(&s->builder, tenon__instruction_type(i), result);
  return true;
}

static uint32_t unary(simplifier_t* s, uint32_t opcode, tenon_dtype_t dtype, uint32_t a) {
  return tenon__simplify_operation(s, opcode, dtype, a, 0, 0);
}

static uint32_t binary(simplifier_t* s, uint32_t opcode, tenon_dtype_t dtype, uint32_t a,
                       uint32_t b) {
  return tenon__simplify_operation(s, opcode, dtype, a, b, 0);
}

static uint32_t simplify_add(simplifier_t* s, const instruction_t* i, uint32_t a, uint32_t b) {
  /* In floats x + 0 is not x for x = -0, but x + -0 is x always. */
  if (is_number(s, b, is_float(i->dtype) ? -0.0 : 0.0)) {
    return a;
  }
  if (is_opcode(s, b, TENON_OPCODE_NEG)) {
    return binary(s, TENON_OPCODE_SUB, i->dtype, a, made(s, b)->operands[0]);
  }
  if (is_opcode(s, a, TENON_OPCODE_NEG)) {
    return binary(s, TENON_OPCODE_SUB, i->dtype, b, made(s, a)->operands[0]);
  }
  return TENON_NONE;
}

static uint32_t simplify_sub(simplifier_t* s, const instruction_t* i, uint32_t a, uint32_t b) {
  tenon__scalar_t value;
  if (a == b && !is_float(i->dtype)) {
    return tenon__emit_constant(&s->builder, i->dtype, (tenon__scalar_t){.i = 0});
  }
  if (is_opcode(s, b, TENON_OPCODE_NEG)) {
    return binary(s, TENON_OPCODE_ADD, i->dtype, a, made(s, b)->operands[0]);
  }
  if (is_number(s, a, is_float(i->dtype) ? -0.0 : 0.0)) {
    return unary(s, TENON_OPCODE_NEG, i->dtype, b);
  }
  if (tenon__builder_constant(&s->builder, b, &value)) { /* one form for both: a + -c */
    value = tenon__scalar_apply(TENON_OPCODE_NEG, i->dtype, i->dtype, value, value, value);
    const uint32_t minus = tenon__emit_constant(&s->builder, i->dtype, value);
    return binary(s, TENON_OPCODE_ADD, i->dtype, a, minus);
  }
  return TENON_NONE;
}

static uint32_t simplify_mul(simplifier_t* s, const instruction_t* i, uint32_t a, uint32_t b) {
  if (is_number(s, b, 1.0)) {
    return a;
  }
  if (is_number(s, b, -1.0) && tenon__dtype_class(i->dtype) != 'u') {
    return unary(s, TENON_OPCODE_NEG, i->dtype, a);
  }
  if (is_number(s, b, 0.0) && !is_float(i->dtype)) {
    return b;
  }
  return TENON_NONE;
}

/* The argument x of a sum 1 + exp(-x) (negated) or 1 + exp(x); TENON_NONE for any other. */
static uint32_t exponential_sum(const simplifier_t* s, uint32_t sum, bool negated) {
  const uint32_t* terms = made(s, sum)->operands;
  if (!is_opcode(s, sum, TENON_OPCODE_ADD) || !is_number(s, terms[1], 1.0) ||
      !is_opcode(s, terms[0], TENON_OPCODE_EXP)) {
    return TENON_NONE;
  }
  const uint32_t exponent = made(s, terms[0])->operands[0];
  return !negated                                   ? exponent
         : is_opcode(s, exponent, TENON_OPCODE_NEG) ? made(s, exponent)->operands[0]
                                                    : TENON_NONE;
}

/* Multiplying by 1 / c is exact when c is a power of two whose inverse is a normal number. */
static bool exact_inverse(tenon_dtype_t dtype, double value, double* out_inverse) {
  int exponent = 0;
  const int limit = dtype == TENON_DTYPE_FLOAT64 ? 1000 : 120;
  if (!(fabs(frexp(value, &exponent)) == 0.5) || exponent > limit || exponent < -limit) {
    return false;
  }
  *out_inverse = 1.0 / value;
  return true;
}

static uint32_t simplify_div(simplifier_t* s, const instruction_t* i, uint32_t a, uint32_t b) {
  tenon__scalar_t value;
  if (is_number(s, b, 1.0)) {
    return a;
  }
  if (!is_float(i->dtype)) {
    return TENON_NONE;
  }
  if (is_number(s, a, 1.0)) {
    return unary(s, TENON_OPCODE_RECIP, i->dtype, b);
  }
  if (tenon__builder_constant(&s->builder, b, &value) &&
      exact_inverse(i->dtype, value.f, &value.f)) {
    const uint32_t inverse = tenon__emit_constant(&s->builder, i->dtype, value);
    return binary(s, TENON_OPCODE_MUL, i->dtype, a, inverse);
  }
  return TENON_NONE;
}

static uint32_t simplify_pow(simplifier_t* s, const instruction_t* i, uint32_t a, uint32_t b) {
  if (is_number(s, b, 1.0)) {
    return a;
  }
  if (is_number(s, b, 2.0)) {
    return binary(s, TENON_OPCODE_MUL, i->dtype, a, a);
  }
  return TENON_NONE;
}

/* min(min(x, c), d) with constants is min(x, min(c, d)); twice the same is once. */
static uint32_t simplify_extremum(simplifier_t* s, const instruction_t* i, uint32_t a, uint32_t b) {
  tenon__scalar_t values[2];
  if (a == b) {
    return a;
  }
  if (!is_opcode(s, a, i->opcode) || !tenon__builder_constant(&s->builder, b, &values[0]) ||
      !tenon__builder_constant(&s->builder, made(s, a)->operands[1], &values[1])) {
    return TENON_NONE;
  }
  const uint32_t inner = made(s, a)->operands[0];
  const tenon__scalar_t both =
      tenon__scalar_apply(i->opcode, i->dtype, i->dtype, values[0], values[1], values[1]);
  return binary(s, i->opcode, i->dtype, inner, tenon__emit_constant(&s->builder, i->dtype, both));
}

static uint32_t simplify_not(simplifier_t* s, const instruction_t* i, uint32_t a) {
  (void)i;
  const instruction_t inner = *made(s, a);
  const uint32_t opposite = inner.opcode == TENON_OPCODE_LT ? TENON_OPCODE_LE : TENON_OPCODE_LT;
  const bool number = !is_float(inner.dtype);
  switch (inner.opcode) {
    case TENON_OPCODE_NOT:
      return inner.operands[0];
    case TENON_OPCODE_EQ:
    case TENON_OPCODE_NE:
      return binary(s, inner.opcode == TENON_OPCODE_EQ ? TENON_OPCODE_NE : TENON_OPCODE_EQ,
                    inner.dtype, inner.operands[0], inner.operands[1]);
    case TENON_OPCODE_LT: /* not with NaN */
    case TENON_OPCODE_LE:
      return number ? binary(s, opposite, inner.dtype, inner.operands[1], inner.operands[0])
                    : TENON_NONE;
    default:
      return TENON_NONE;
  }
}

static uint32_t simplify_cast(simplifier_t* s, const instruction_t* i, uint32_t a) {
  const tenon_dtype_t middle = tenon__builder_type(&s->builder, a);
  if (middle == i->dtype) {
    return a;
  }
  if (is_opcode(s, a, TENON_OPCODE_CAST)) {
    const uint32_t inner = made(s, a)->operands[0];
    if (is_lossless(tenon__builder_type(&s->builder, inner), middle)) {
      return unary(s, TENON_OPCODE_CAST, i->dtype, inner);
    }
  }
  return TENON_NONE;
}

static uint32_t simplify_select(simplifier_t* s, const instruction_t* i) {
  tenon__scalar_t condition;
  const uint32_t* operands = i->operands;
  if (tenon__builder_constant(&s->builder, operands[0], &condition)) {
    return operands[condition.i != 0 ? 1 : 2];
  }
  if (operands[1] == operands[2]) {
    return operands[1];
  }
  if (is_opcode(s, operands[0], TENON_OPCODE_NOT)) {
    return tenon__simplify_operation(s, TENON_OPCODE_SELECT, i->dtype,
                                     made(s, operands[0])->operands[0], operands[2], operands[1]);
  }
  return TENON_NONE;
}

/* and, or, xor of a value with itself, with nothing, with everything; shifts by nothing. */
static uint32_t simplify_bits(simplifier_t* s, const instruction_t* i, uint32_t a, uint32_t b) {
  const bool is_bool = i->dtype == TENON_DTYPE_BOOL;
  if (a == b && i->opcode < TENON_OPCODE_SHL) {
    return i->opcode == TENON_OPCODE_XOR
               ? tenon__emit_constant(&s->builder, i->dtype, (tenon__scalar_t){.i = 0})
               : a;
  }
  if (is_number(s, b, 0.0)) {
    return i->opcode == TENON_OPCODE_AND ? b : a;
  }
  if (is_bool && is_number(s, b, 1.0)) {
    return i->opcode == TENON_OPCODE_XOR   ? unary(s, TENON_OPCODE_NOT, i->dtype, a)
           : i->opcode == TENON_OPCODE_AND ? a
                                           : b;
  }
  return TENON_NONE;
}

static uint32_t simplify_compare(simplifier_t* s, const instruction_t* i, uint32_t a, uint32_t b) {
  if (i->opcode == TENON_OPCODE_GT || i->opcode == TENON_OPCODE_GE) {
    return binary(s, i->opcode == TENON_OPCODE_GT ? TENON_OPCODE_LT : TENON_OPCODE_LE, i->dtype, b,
                  a);
  }
  if (a == b && !is_float(i->dtype)) {
    const bool holds = i->opcode == TENON_OPCODE_EQ || i->opcode == TENON_OPCODE_LE;
    const tenon__scalar_t value = {.i = holds ? 1 : 0};
    return tenon__emit_constant(&s->builder, TENON_DTYPE_BOOL, value);
  }
  return TENON_NONE;
}

/* What is whole stays. */
static uint32_t simplify_rounding(simplifier_t* s, const instruction_t* i, uint32_t a) {
  (void)i;
  const uint32_t inner = made(s, a)->opcode;
  const bool is_whole = inner >= TENON_OPCODE_FLOOR && inner <= TENON_OPCODE_TRUNC;
  return is_whole ? a : TENON_NONE;
}

static uint32_t simplify_sign(simplifier_t* s, const instruction_t* i, uint32_t a) {
  const bool twice = is_opcode(s, a, i->opcode);
  if (is_opcode(s, a, TENON_OPCODE_NEG)) {
    const uint32_t inner = made(s, a)->operands[0];
    return twice ? inner : unary(s, TENON_OPCODE_ABS, i->dtype, inner);
  }
  return twice ? a : TENON_NONE;
}

static uint32_t simplify_logistic(simplifier_t* s, const instruction_t* i, uint32_t a) {
  const bool is_inverse = i->opcode == TENON_OPCODE_RECIP;
  const uint32_t argument = exponential_sum(s, a, is_inverse);
  return argument == TENON_NONE
             ? TENON_NONE
             : unary(s, is_inverse ? TENON_OPCODE_SIGMOID : TENON_OPCODE_SOFTPLUS, i->dtype,
                     argument);
}

static uint32_t simplify_log1p(simplifier_t* s, const instruction_t* i, uint32_t a) {
  return is_opcode(s, a, TENON_OPCODE_EXP)
             ? unary(s, TENON_OPCODE_SOFTPLUS, i->dtype, made(s, a)->operands[0])
             : TENON_NONE;
}

/* The instruction that it comes out as; TENON_NONE: no rule fits. */
static uint32_t simplify(simplifier_t* s, const instruction_t* i) {
  static uint32_t (*const of_one[TENON_OPCODE_COUNT])(simplifier_t*, const instruction_t*,
                                                      uint32_t) = {
      [TENON_OPCODE_NEG] = simplify_sign,       [TENON_OPCODE_ABS] = simplify_sign,
      [TENON_OPCODE_FLOOR] = simplify_rounding, [TENON_OPCODE_CEIL] = simplify_rounding,
      [TENON_OPCODE_ROUND] = simplify_rounding, [TENON_OPCODE_TRUNC] = simplify_rounding,
      [TENON_OPCODE_RECIP] = simplify_logistic, [TENON_OPCODE_LOG] = simplify_logistic,
      [TENON_OPCODE_LOG1P] = simplify_log1p,    [TENON_OPCODE_NOT] = simplify_not,
      [TENON_OPCODE_CAST] = simplify_cast};
  static uint32_t (*const of_two[TENON_OPCODE_COUNT])(simplifier_t*, const instruction_t*, uint32_t,
                                                      uint32_t) = {
      [TENON_OPCODE_ADD] = simplify_add,      [TENON_OPCODE_SUB] = simplify_sub,
      [TENON_OPCODE_MUL] = simplify_mul,      [TENON_OPCODE_DIV] = simplify_div,
      [TENON_OPCODE_POW] = simplify_pow,      [TENON_OPCODE_MIN] = simplify_extremum,
      [TENON_OPCODE_MAX] = simplify_extremum, [TENON_OPCODE_AND] = simplify_bits,
      [TENON_OPCODE_OR] = simplify_bits,      [TENON_OPCODE_XOR] = simplify_bits,
      [TENON_OPCODE_SHL] = simplify_bits,     [TENON_OPCODE_SHR] = simplify_bits,
      [TENON_OPCODE_EQ] = simplify_compare,   [TENON_OPCODE_NE] = simplify_compare,
      [TENON_OPCODE_LT] = simplify_compare,   [TENON_OPCODE_LE] = simplify_compare,
      [TENON_OPCODE_GT] = simplify_compare,   [TENON_OPCODE_GE] = simplify_compare};
  const uint32_t a = i->operands[0];
  if (tenon__opcode_is_reduction(i->opcode)) {
    return i->immediate.i == 0 ? a : TENON_NONE;
  }
  return i->opcode == TENON_OPCODE_SELECT ? simplify_select(s, i)
         : of_one[i->opcode] != NULL      ? of_one[i->opcode](s, i, a)
         : of_two[i->opcode] != NULL      ? of_two[i->opcode](s, i, a, i->operands[1])
                                          : TENON_NONE;
}

/* Room for the keys of all instructions there are; computes those that are new. */
static void update_keys(simplifier_t* s) {
  const uint32_t count = s->builder.instruction_count;
  if (!TENON_ARENA_GROW(s->builder.arena, s->keys, s->key_capacity, count)) {
    s->builder.failed = true;
    return;
  }
  for (; s->key_count < count; ++s->key_count) {
    const instruction_t* i = made(s, s->key_count);
    const uint64_t head[3] = {i->opcode, i->dtype, (uint64_t)i->immediate.i};
    tenon__instruction_key_t key = {
        .hash = tenon__hash_bytes(head, sizeof(head), 3), .first_operand = TENON_NONE, .size = 1};
    uint32_t below = 0;
    const uint32_t* operands = tenon__instruction_needs(s->builder.coordinates, i, &below);
    if (tenon__opcode_reads_operand(i->opcode)) {
      key.first_operand = (uint32_t)i->immediate.i;
    }
    for (uint32_t k = 0; k < below; ++k) {
      const tenon__instruction_key_t* other = &s->keys[operands[k]];
      key.hash = tenon__hash_bytes(&other->hash, sizeof(other->hash), key.hash);
      key.size = key.size + other->size > SIZE_LIMIT ? SIZE_LIMIT : key.size + other->size;
      key.first_operand =
          other->first_operand < key.first_operand ? other->first_operand : key.first_operand;
    }
    s->keys[s->key_count] = key;
  }
}

/* Constants last; then by the inputs read, by size, by what it is. */
static bool comes_before(const simplifier_t* s, uint32_t a, uint32_t b) {
  const bool a_constant = is_opcode(s, a, TENON_OPCODE_CONSTANT);
  const bool b_constant = is_opcode(s, b, TENON_OPCODE_CONSTANT);
  const tenon__instruction_key_t* x = &s->keys[a];
  const tenon__instruction_key_t* y = &s->keys[b];
  if (a_constant != b_constant) {
    return b_constant;
  }
  if (x->first_operand != y->first_operand) {
    return x->first_operand < y->first_operand;
  }
  return x->size != y->size ? x->size < y->size : x->hash < y->hash;
}

uint32_t tenon__simplify_emit(simplifier_t* s, const instruction_t* instruction,
                              const uint32_t* coordinates) {
  if (s->builder.failed) {
    return 0;
  }
  instruction_t own = *instruction;
  uint32_t result = TENON_NONE;
  update_keys(s);
  if (!s->builder.failed && tenon__opcode_is_commutative(own.opcode) &&
      comes_before(s, own.operands[1], own.operands[0])) {
    own.operands[0] = instruction->operands[1];
    own.operands[1] = instruction->operands[0];
  }
  if (!s->builder.failed && !fold(s, &own, &result)) {
    result = simplify(s, &own);
  }
  return s->builder.failed      ? 0
         : result != TENON_NONE ? result
                                : tenon__emit(&s->builder, &own, coordinates);
}
