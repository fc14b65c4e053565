/* Floor division and remainder. The numerator is split into a multiple of the divisor and a rest,
 * floor((d n + r) / n) = d + floor(r / n), and the rest is simplified where its range allows.
 * Simplifying may give a value to what divides by zero, never another value to what has one. */

#include "core/dimension/dimension_divide.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/dimension/dimension_apply.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_node.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_prove.h"

enum { DIVISION_DEPTH = 6, DIVISION_STEPS = 32 };

/* Numerator and divisor are sums; the divisor has one term when `single`. */
typedef struct division_t {
  tenon__sum_t numerator;
  tenon__sum_t divisor;
  tenon__sum_t multiple; /* after splitting: numerator = multiple * divisor + rest */
  tenon__sum_t rest;
  int64_t factor; /* of the remainder: what numerator and divisor had in common */
  tenon__term_t common;
} division_t;

/* True when every term of both sums holds the atom. */
static bool all_hold(const tenon__sum_t* sum, uint32_t atom) {
  for (uint32_t i = 0; i < sum->term_count; ++i) {
    bool held = false;
    for (uint32_t k = 0; k < sum->terms[i].factor_count; ++k) {
      held = held || sum->terms[i].factors[k] == atom;
    }
    if (!held) {
      return false;
    }
  }
  return true;
}

static void divide_all(tenon__sum_t* sum, const tenon__term_t* term) {
  for (uint32_t i = 0; i < sum->term_count; ++i) {
    tenon__term_t quotient;
    if (tenon__term_divide(&sum->terms[i], term, &quotient)) {
      sum->terms[i] = quotient;
    }
  }
}

/* Takes common factors out of numerator and divisor; gathers them in `common`. */
static void cancel_common(division_t* division) {
  uint64_t shared = 0;
  for (uint32_t i = 0; i < division->numerator.term_count; ++i) {
    shared = tenon__greatest_divisor(shared, division->numerator.terms[i].coefficient);
  }
  for (uint32_t i = 0; i < division->divisor.term_count; ++i) {
    shared = tenon__greatest_divisor(shared, division->divisor.terms[i].coefficient);
  }
  tenon__term_t common = {.coefficient = shared > INT64_MAX ? 1 : (int64_t)shared};
  const tenon__term_t candidates = division->divisor.terms[0];
  for (uint32_t i = 0; i < candidates.factor_count; ++i) {
    const tenon__term_t atom = {
        .coefficient = 1, .factor_count = 1, .factors = {candidates.factors[i]}};
    if (all_hold(&division->numerator, candidates.factors[i]) &&
        all_hold(&division->divisor, candidates.factors[i])) {
      divide_all(&division->numerator, &atom);
      divide_all(&division->divisor, &atom);
      common.factors[common.factor_count++] = candidates.factors[i];
    }
  }
  const tenon__term_t number = {.coefficient = common.coefficient};
  divide_all(&division->numerator, &number);
  divide_all(&division->divisor, &number);
  division->common = common;
}

/* Splits by a divisor of one term. Coefficients are divided towards zero, constants towards minus
 * infinity. */
static void split_single(division_t* division) {
  const tenon__term_t* divisor = &division->divisor.terms[0];
  const tenon__term_t monomial = {
      .coefficient = 1, .factor_count = divisor->factor_count, .factors = {0}};
  tenon__term_t bare = monomial;
  memcpy(bare.factors, divisor->factors, sizeof(bare.factors));
  tenon__sum_clear(&division->multiple);
  tenon__sum_clear(&division->rest);
  for (uint32_t i = 0; i < division->numerator.term_count; ++i) {
    const tenon__term_t* term = &division->numerator.terms[i];
    tenon__term_t quotient;
    if (!tenon__term_divide(term, &bare, &quotient) ||
        (divisor->coefficient == -1 && term->coefficient == INT64_MIN)) {
      tenon__sum_add_term(&division->rest, term);
      continue;
    }
    int64_t whole = term->coefficient / divisor->coefficient;
    int64_t left = term->coefficient % divisor->coefficient;
    if (term->factor_count == 0 && left < 0 && divisor->coefficient > 0) {
      whole -= 1;
      left += divisor->coefficient;
    }
    quotient.coefficient = whole;
    tenon__sum_add_term(&division->multiple, &quotient);
    tenon__term_t remaining = *term;
    remaining.coefficient = left;
    tenon__sum_add_term(&division->rest, &remaining);
  }
}

/* Long division of sums; true when nothing is left. */
static bool split_exactly(division_t* division) {
  tenon__sum_sort(&division->divisor);
  tenon__sum_t left = division->numerator;
  tenon__sum_clear(&division->multiple);
  for (uint32_t step = 0; step < DIVISION_STEPS && left.term_count > 0; ++step) {
    tenon__sum_sort(&left);
    tenon__sum_t quotient = {.term_count = 1};
    tenon__sum_t product;
    if (!tenon__term_divide(&left.terms[0], &division->divisor.terms[0], &quotient.terms[0])) {
      return false;
    }
    tenon__sum_multiply(&quotient, &division->divisor, &product);
    tenon__sum_add_scaled(&left, &product, -1);
    tenon__sum_add_scaled(&division->multiple, &quotient, 1);
    if (left.failed || left.overflowed || division->multiple.failed ||
        division->multiple.overflowed) {
      return false;
    }
  }
  tenon__sum_clear(&division->rest);
  return left.term_count == 0;
}

/* 0 <= rest < divisor, always? */
static bool rest_is_below(const tenon__dim_pool_t* pool, const division_t* division) {
  tenon__sum_t margin = division->divisor;
  tenon__sum_add_scaled(&margin, &division->rest, -1);
  tenon__sum_add_constant(&margin, -1);
  return tenon__sum_never_negative(pool, &division->rest) &&
         tenon__sum_never_negative(pool, &margin);
}

/* With a constant divisor n: the rest always lies in [k n, k n + n - 1]? */
static bool rest_in_one_step(const tenon__dim_pool_t* pool, const division_t* division, int64_t n,
                             int64_t* out_step) {
  int64_t low = 0;
  int64_t high = 0;
  tenon__sum_range(pool, &division->rest, &low, &high);
  if (low == INT64_MIN || high == INT64_MAX ||
      tenon__floor_div_int64(low, n) != tenon__floor_div_int64(high, n)) {
    return false;
  }
  *out_step = tenon__floor_div_int64(low, n);
  return true;
}

/* rest = g a + b with 0 <= b < g, g a divisor of n greater than 1: floor(rest / n) = floor(a / (n /
 * g)). */
static bool find_coarser(const tenon__dim_pool_t* pool, const division_t* division, int64_t n,
                         int64_t* out_g, tenon__sum_t* out_a, tenon__sum_t* out_b) {
  for (uint32_t i = 0; i < division->rest.term_count; ++i) {
    const int64_t g =
        (int64_t)tenon__greatest_divisor((uint64_t)n, division->rest.terms[i].coefficient);
    if (g <= 1 || division->rest.terms[i].factor_count == 0) {
      continue;
    }
    tenon__sum_clear(out_a);
    tenon__sum_clear(out_b);
    for (uint32_t k = 0; k < division->rest.term_count; ++k) {
      tenon__term_t term = division->rest.terms[k];
      if (term.factor_count == 0) {
        const int64_t whole = tenon__floor_div_int64(term.coefficient, g);
        tenon__sum_add_constant(out_a, whole);
        tenon__sum_add_constant(out_b, term.coefficient - whole * g);
      } else if (term.coefficient % g == 0) {
        term.coefficient /= g;
        tenon__sum_add_term(out_a, &term);
      } else {
        tenon__sum_add_term(out_b, &term);
      }
    }
    int64_t low = 0;
    int64_t high = 0;
    tenon__sum_range(pool, out_b, &low, &high);
    if (low >= 0 && high < g) {
      *out_g = g;
      return true;
    }
  }
  return false;
}

/* multiple + other, written; other may be INVALID. */
static tenon_dim_t add_multiple(tenon__dim_pool_t* pool, division_t* division, tenon_dim_t other) {
  if (division->multiple.failed || division->multiple.overflowed) {
    return TENON_DIM_INVALID;
  }
  return tenon__dim_add(pool, tenon__sum_write(pool, &division->multiple), other);
}

static tenon_dim_t write_both(tenon__dim_pool_t* pool, uint32_t opcode, tenon__sum_t* numerator,
                              tenon__sum_t* divisor) {
  const tenon_dim_t above = tenon__sum_write(pool, numerator);
  return tenon__dim_pair(pool, opcode, above, tenon__sum_write(pool, divisor));
}

/* floor((floor(x / m) + c) / n) = floor((x + c m) / (m n)), m and n positive: the rest is that
 * quotient. */
static bool unnest(tenon__dim_pool_t* pool, division_t* division, tenon_dim_t* out_result) {
  const tenon__sum_t* rest = &division->rest;
  const int64_t constant = tenon__sum_constant(rest);
  if (rest->term_count != (constant != 0 ? 2u : 1u)) {
    return false;
  }
  const tenon__term_t* term = &rest->terms[rest->terms[0].factor_count == 0 ? 1 : 0];
  if (term->coefficient != 1 || term->factor_count != 1) {
    return false;
  }
  const tenon_dim_t n = tenon__sum_write(pool, &division->divisor);
  const tenon__dim_node_t* node = tenon__dim_node(pool, term->factors[0]);
  if (node->kind != TENON_DIM_OPERATION || node->opcode != TENON_OPCODE_FLOOR_DIV ||
      !tenon__dim_valid(pool, n)) {
    return false;
  }
  const tenon_dim_t x = node->operands[0];
  const tenon_dim_t m = node->operands[1];
  if (tenon__dim_node(pool, m.id)->min < 1 || tenon__dim_node(pool, n.id)->min < 1) {
    return false;
  }
  const tenon_dim_t shift = tenon__dim_multiply(pool, tenon__dim_constant(pool, constant), m);
  const tenon_dim_t wide = tenon__dim_multiply(pool, m, n);
  if (!tenon__dim_valid(pool, shift) || !tenon__dim_valid(pool, wide)) {
    return false;
  }
  *out_result = tenon__dim_floor_div(pool, tenon__dim_add(pool, x, shift), wide);
  return true;
}

/* floor(rest / divisor) where the divisor is the positive constant n. */
static tenon_dim_t divide_rest_by_number(tenon__dim_pool_t* pool, division_t* division, int64_t n) {
  int64_t step = 0;
  int64_t g = 1;
  tenon__sum_t a;
  tenon__sum_t b;
  if (rest_in_one_step(pool, division, n, &step)) {
    return tenon__dim_constant(pool, step);
  }
  if (find_coarser(pool, division, n, &g, &a, &b)) {
    return tenon__dim_floor_div(pool, tenon__sum_write(pool, &a), tenon__dim_constant(pool, n / g));
  }
  return TENON_DIM_INVALID;
}

/* A remainder of a remainder: x % (m n) % n = x % n. Replaces such atoms in the rest. */
static void flatten_remainders(const tenon__dim_pool_t* pool, division_t* division, int64_t n) {
  for (uint32_t i = 0; i < division->rest.term_count; ++i) {
    const tenon__term_t term = division->rest.terms[i];
    if (term.factor_count != 1) {
      continue;
    }
    const tenon__dim_node_t* node = tenon__dim_node(pool, term.factors[0]);
    int64_t m = 0;
    if (node->kind != TENON_DIM_OPERATION || node->opcode != TENON_OPCODE_MOD ||
        !tenon__dim_known(pool, node->operands[1], &m) || m <= 0 || m % n != 0) {
      continue;
    }
    tenon__sum_t inner;
    tenon__sum_read(pool, node->operands[0], &inner);
    tenon__sum_t flat = division->rest;
    flat.terms[i] = flat.terms[--flat.term_count];
    tenon__sum_add_scaled(&flat, &inner, term.coefficient);
    if (!flat.failed && !flat.overflowed) {
      division->numerator = flat;
      split_single(division);
      return;
    }
  }
}

static tenon_dim_t rest_by_number(tenon__dim_pool_t* pool, division_t* division, int64_t n) {
  flatten_remainders(pool, division, n);
  int64_t step = 0;
  int64_t g = 1;
  tenon__sum_t a;
  tenon__sum_t b;
  if (division->rest.term_count == 0) {
    return tenon__dim_constant(pool, 0);
  }
  if (rest_in_one_step(pool, division, n, &step)) {
    tenon__sum_t value = division->rest;
    int64_t shift = 0;
    if (tenon__multiply_int64(step, -n, &shift)) {
      tenon__sum_add_constant(&value, shift);
      return value.failed ? TENON_DIM_INVALID : tenon__sum_write(pool, &value);
    }
  }
  if (find_coarser(pool, division, n, &g, &a, &b)) {
    const tenon_dim_t coarse =
        tenon__dim_mod(pool, tenon__sum_write(pool, &a), tenon__dim_constant(pool, n / g));
    return tenon__dim_add(pool, tenon__dim_multiply(pool, tenon__dim_constant(pool, g), coarse),
                          tenon__sum_write(pool, &b));
  }
  return TENON_DIM_INVALID;
}

/* floor(rest / divisor), or rest % divisor. */
static tenon_dim_t divide_rest(tenon__dim_pool_t* pool, uint32_t opcode, division_t* division) {
  const bool is_mod = opcode == TENON_OPCODE_MOD;
  const int64_t number = tenon__sum_constant(&division->divisor);
  tenon_dim_t result = TENON_DIM_INVALID;
  if (division->rest.term_count == 0) {
    return tenon__dim_constant(pool, 0);
  }
  if (tenon__sum_is_constant(&division->divisor) && number > 0) {
    result = is_mod ? rest_by_number(pool, division, number)
                    : divide_rest_by_number(pool, division, number);
  }
  if (!tenon__dim_valid(pool, result) && rest_is_below(pool, division)) {
    result = is_mod ? tenon__sum_write(pool, &division->rest) : tenon__dim_constant(pool, 0);
  }
  if (!tenon__dim_valid(pool, result) && (is_mod || !unnest(pool, division, &result))) {
    result = write_both(pool, opcode, &division->rest, &division->divisor);
  }
  return result;
}

/* Reads both and brings them to a splittable form. False: leave the operation as it stands. */
static bool begin(tenon__dim_pool_t* pool, division_t* division, tenon_dim_t a, tenon_dim_t b) {
  tenon__sum_read(pool, a, &division->numerator);
  tenon__sum_read(pool, b, &division->divisor);
  if (division->divisor.term_count == 0) {
    return false;
  }
  cancel_common(division);
  if (division->divisor.term_count > 1) {
    if (!split_exactly(division)) {
      /* The common factors are gone already: the rest is all of the numerator. */
      tenon__sum_clear(&division->multiple);
      division->rest = division->numerator;
    }
    return true;
  }
  split_single(division);
  return !division->multiple.failed && !division->multiple.overflowed && !division->rest.failed &&
         !division->rest.overflowed;
}

/* 0 - a */
static tenon_dim_t minus(tenon__dim_pool_t* pool, tenon_dim_t a) {
  return tenon__dim_multiply(pool, tenon__dim_constant(pool, -1), a);
}

/* The value of a constant node; 1 for everything else. */
static int64_t number_or_one(const tenon__dim_pool_t* pool, tenon_dim_t dim) {
  const tenon__dim_node_t* node = tenon__dim_node(pool, dim.id);
  return node->kind == TENON_DIM_CONSTANT ? node->value : 1;
}

tenon_dim_t tenon__dim_floor_div(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b) {
  if (!tenon__dim_valid(pool, a) || !tenon__dim_valid(pool, b)) {
    return TENON_DIM_INVALID;
  }
  const tenon__dim_node_t* x = tenon__dim_node(pool, a.id);
  const bool number = tenon__dim_node(pool, b.id)->kind == TENON_DIM_CONSTANT;
  const int64_t n = number_or_one(pool, b);
  int64_t quotient = 0;
  if (n == 0 || (number && x->kind == TENON_DIM_CONSTANT)) {
    return tenon__dim_apply(TENON_OPCODE_FLOOR_DIV, x->value, n, &quotient)
               ? tenon__dim_constant(pool, quotient)
               : TENON_DIM_INVALID;
  }
  division_t division;
  if (pool->depth >= DIVISION_DEPTH) {
    return tenon__dim_pair(pool, TENON_OPCODE_FLOOR_DIV, a, b);
  }
  ++pool->depth;
  tenon_dim_t result;
  if (n < 0 && n != INT64_MIN) {
    result = tenon__dim_floor_div(pool, minus(pool, a), tenon__dim_constant(pool, -n));
  } else if (begin(pool, &division, a, b)) {
    result = add_multiple(pool, &division, divide_rest(pool, TENON_OPCODE_FLOOR_DIV, &division));
  } else {
    result = tenon__dim_pair(pool, TENON_OPCODE_FLOOR_DIV, a, b);
  }
  --pool->depth;
  return result;
}

tenon_dim_t tenon__dim_mod(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b) {
  if (!tenon__dim_valid(pool, a) || !tenon__dim_valid(pool, b)) {
    return TENON_DIM_INVALID;
  }
  const int64_t n = number_or_one(pool, b);
  if (n == 0) {
    return TENON_DIM_INVALID;
  }
  if (pool->depth >= DIVISION_DEPTH || n == INT64_MIN) {
    return tenon__dim_pair(pool, TENON_OPCODE_MOD, a, b);
  }
  ++pool->depth;
  tenon_dim_t result;
  division_t division;
  if (n < 0) {
    result = minus(pool, tenon__dim_mod(pool, minus(pool, a), tenon__dim_constant(pool, -n)));
  } else if (begin(pool, &division, a, b)) {
    tenon__sum_t common = {.term_count = 1, .terms = {division.common}};
    result = divide_rest(pool, TENON_OPCODE_MOD, &division);
    result = tenon__dim_multiply(pool, result, tenon__sum_write(pool, &common));
  } else {
    result = tenon__dim_pair(pool, TENON_OPCODE_MOD, a, b);
  }
  --pool->depth;
  return result;
}
