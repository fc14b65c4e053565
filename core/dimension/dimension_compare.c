/* Minimum, maximum, equality and order, decided where ranges or proofs decide them. */

#include "core/dimension/dimension_compare.h"

#include "core/dimension/dimension_apply.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_node.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_prove.h"

enum { EXTREMUM_OPERANDS = 12 };

/* Appends a dimension, or its operands when it is an operation of the same kind. */
static uint32_t gather(const tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t dim,
                       tenon_dim_t* operands, uint32_t count) {
  const tenon__dim_node_t* node = tenon__dim_node(pool, dim.id);
  const bool same = node->kind == TENON_DIM_OPERATION && node->opcode == opcode &&
                    node->operand_count <= EXTREMUM_OPERANDS;
  const uint32_t more = same ? node->operand_count : 1;
  for (uint32_t i = 0; i < more; ++i) {
    operands[count++] = same ? node->operands[i] : dim;
  }
  return count;
}

/* Is `a` never needed beside `b`? */
static bool covered(const tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a, tenon_dim_t b) {
  return opcode == TENON_OPCODE_MIN ? tenon__dim_never_above(pool, b, a)
                                    : tenon__dim_never_above(pool, a, b);
}

tenon_dim_t tenon__dim_extremum(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a,
                                tenon_dim_t b) {
  tenon_dim_t operands[2 * EXTREMUM_OPERANDS];
  uint32_t count = gather(pool, opcode, a, operands, 0);
  count = gather(pool, opcode, b, operands, count);
  for (uint32_t i = 0; i < count; ++i) {
    bool needless = false;
    for (uint32_t k = 0; k < count && !needless; ++k) {
      needless = k != i && covered(pool, opcode, operands[i], operands[k]);
    }
    if (needless) {
      operands[i] = operands[--count];
      --i;
    }
  }
  for (uint32_t i = 1; i < count; ++i) {
    const tenon_dim_t operand = operands[i];
    uint32_t at = i;
    for (; at > 0 && operands[at - 1].id > operand.id; --at) {
      operands[at] = operands[at - 1];
    }
    operands[at] = operand;
  }
  if (count > EXTREMUM_OPERANDS) {
    return tenon__dim_pair(pool, opcode, a, b);
  }
  return count == 1 ? operands[0] : tenon__dim_operation(pool, opcode, operands, count);
}

/* a - b as `variable` + `constant`; false when it does not fit. */
static bool difference(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b,
                       tenon__sum_t* out_variable, int64_t* out_constant) {
  tenon__sum_t other;
  tenon__sum_read(pool, a, out_variable);
  tenon__sum_read(pool, b, &other);
  tenon__sum_add_scaled(out_variable, &other, -1);
  tenon__sum_join_remainders(pool, out_variable);
  if (out_variable->failed || out_variable->overflowed) {
    return false;
  }
  *out_constant = tenon__sum_constant(out_variable);
  if (*out_constant == INT64_MIN) {
    return false;
  }
  tenon__sum_add_constant(out_variable, -*out_constant);
  return true;
}

/* Divides all coefficients by their greatest common divisor, which is returned. */
static int64_t take_divisor(tenon__sum_t* sum) {
  uint64_t shared = 0;
  for (uint32_t i = 0; i < sum->term_count; ++i) {
    shared = tenon__greatest_divisor(shared, sum->terms[i].coefficient);
  }
  if (shared <= 1 || shared > INT64_MAX) {
    return 1;
  }
  for (uint32_t i = 0; i < sum->term_count; ++i) {
    sum->terms[i].coefficient /= (int64_t)shared;
  }
  return (int64_t)shared;
}

static tenon_dim_t compare_raw(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a,
                               tenon_dim_t b) {
  const bool swap = opcode == TENON_OPCODE_EQ && a.id > b.id;
  return swap ? tenon__dim_pair(pool, opcode, b, a) : tenon__dim_pair(pool, opcode, a, b);
}

/* variable (opcode) constant as a node. */
static tenon_dim_t compare_with(tenon__dim_pool_t* pool, uint32_t opcode, tenon__sum_t* variable,
                                int64_t constant) {
  const tenon_dim_t left = tenon__sum_write(pool, variable);
  return tenon__dim_pair(pool, opcode, left, tenon__dim_constant(pool, constant));
}

/* !(p < q) is q < p + 1; INVALID when the condition is no such comparison. */
static tenon_dim_t negated_order(tenon__dim_pool_t* pool, tenon_dim_t condition) {
  const tenon__dim_node_t* node = tenon__dim_node(pool, condition.id);
  if (node->kind != TENON_DIM_OPERATION || node->opcode != TENON_OPCODE_LT) {
    return TENON_DIM_INVALID;
  }
  const tenon_dim_t p = node->operands[0];
  const tenon_dim_t q = node->operands[1];
  const tenon_dim_t above = tenon__dim_add(pool, p, tenon__dim_constant(pool, 1));
  return tenon__dim_valid(pool, above) ? tenon__dim_less(pool, q, above) : TENON_DIM_INVALID;
}

tenon_dim_t tenon__dim_equals(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b) {
  const tenon_dim_t zero = tenon__dim_constant(pool, 0);
  if (a.id == zero.id || b.id == zero.id) {
    const tenon_dim_t order = negated_order(pool, a.id == zero.id ? b : a);
    if (tenon__dim_valid(pool, order)) {
      return order;
    }
  }
  const tenon__dim_node_t* x = tenon__dim_node(pool, a.id);
  const tenon__dim_node_t* y = tenon__dim_node(pool, b.id);
  if (a.id == b.id || (x->min == x->max && y->min == y->max && x->min == y->min)) {
    return tenon__dim_constant(pool, 1);
  }
  if (x->max < y->min || y->max < x->min) {
    return tenon__dim_constant(pool, 0);
  }
  tenon__sum_t variable;
  int64_t constant = 0;
  if (!difference(pool, a, b, &variable, &constant)) {
    return compare_raw(pool, TENON_OPCODE_EQ, a, b);
  }
  const int64_t divisor = take_divisor(&variable);
  if (variable.term_count == 0 || constant % divisor != 0) {
    return tenon__dim_constant(pool, variable.term_count == 0 && constant == 0 ? 1 : 0);
  }
  int64_t target = -constant / divisor;
  tenon__sum_t above = variable;
  tenon__sum_add_constant(&above, -target - 1);
  tenon__sum_t below = tenon__sum_negated(&variable);
  tenon__sum_add_constant(&below, target - 1);
  if (tenon__sum_never_negative(pool, &above) || tenon__sum_never_negative(pool, &below)) {
    return tenon__dim_constant(pool, 0);
  }
  tenon__sum_sort(&variable);
  if (variable.terms[0].coefficient < 0 && target != INT64_MIN) {
    variable = tenon__sum_negated(&variable);
    target = -target;
  }
  return compare_with(pool, TENON_OPCODE_EQ, &variable, target);
}

tenon_dim_t tenon__dim_less(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b) {
  const tenon__dim_node_t* x = tenon__dim_node(pool, a.id);
  const tenon__dim_node_t* y = tenon__dim_node(pool, b.id);
  if (a.id == b.id || x->min >= y->max) {
    return tenon__dim_constant(pool, 0);
  }
  if (x->max < y->min) {
    return tenon__dim_constant(pool, 1);
  }
  if (tenon__dim_never_above(pool, b, a)) {
    return tenon__dim_constant(pool, 0);
  }
  tenon__sum_t variable;
  int64_t constant = 0;
  if (!difference(pool, a, b, &variable, &constant)) {
    return compare_raw(pool, TENON_OPCODE_LT, a, b);
  }
  /* variable + constant < 0; proved when -variable - constant - 1 is never negative. */
  tenon__sum_t margin = tenon__sum_negated(&variable);
  tenon__sum_add_constant(&margin, -constant);
  tenon__sum_add_constant(&margin, -1);
  if (tenon__sum_never_negative(pool, &margin)) {
    return tenon__dim_constant(pool, 1);
  }
  const int64_t divisor = take_divisor(&variable);
  /* d v < -c is v < ceil(-c / d). */
  const int64_t bound = -tenon__floor_div_int64(constant, divisor);
  tenon__sum_sort(&variable);
  if (variable.terms[0].coefficient > 0 || bound == INT64_MIN) {
    return compare_with(pool, TENON_OPCODE_LT, &variable, bound);
  }
  /* -v < b is -b < v. */
  margin = tenon__sum_negated(&variable);
  const tenon_dim_t low = tenon__dim_constant(pool, -bound);
  return tenon__dim_pair(pool, TENON_OPCODE_LT, low, tenon__sum_write(pool, &margin));
}
