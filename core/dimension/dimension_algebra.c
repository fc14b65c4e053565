/* Operations on dimensions: each reads its operands as sums, calculates, and writes the canonical
 * form. */
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_compare.h"
#include "core/dimension/dimension_divide.h"

#include "core/base/allocator.h"
#include "core/dimension/dimension_node.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_sum.h"

enum { SUBSTITUTE_DEPTH = 512, AFFINE_DEPTH = 16 };

static tenon_dim_t negate_condition(tenon__dim_pool_t* pool, tenon_dim_t condition) {
  return tenon__dim_valid(pool, condition)
             ? tenon__dim_equals(pool, condition, tenon__dim_constant(pool, 0))
             : condition;
}

tenon_dim_t tenon__dim_combine(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a,
                               tenon_dim_t b) {
  if (!tenon__dim_valid(pool, a) || !tenon__dim_valid(pool, b)) {
    return TENON_DIM_INVALID;
  }
  switch (opcode) {
    case TENON_OPCODE_ADD:
      return tenon__dim_add(pool, a, b);
    case TENON_OPCODE_SUB:
      return tenon__dim_subtract(pool, a, b);
    case TENON_OPCODE_MUL:
      return tenon__dim_multiply(pool, a, b);
    case TENON_OPCODE_FLOOR_DIV:
      return tenon__dim_floor_div(pool, a, b);
    case TENON_OPCODE_MOD:
      return tenon__dim_mod(pool, a, b);
    case TENON_OPCODE_MIN:
    case TENON_OPCODE_MAX:
      return tenon__dim_extremum(pool, opcode, a, b);
    case TENON_OPCODE_EQ:
      return tenon__dim_equals(pool, a, b);
    case TENON_OPCODE_NE:
      return negate_condition(pool, tenon__dim_equals(pool, a, b));
    case TENON_OPCODE_LT:
      return tenon__dim_less(pool, a, b);
    case TENON_OPCODE_GT:
      return tenon__dim_less(pool, b, a);
    case TENON_OPCODE_LE:
      return negate_condition(pool, tenon__dim_less(pool, b, a));
    case TENON_OPCODE_GE:
      return negate_condition(pool, tenon__dim_less(pool, a, b));
    default:
      return TENON_DIM_INVALID;
  }
}

/* Is `condition` the node variable == constant? */
static bool read_equality(const tenon__dim_pool_t* pool, tenon_dim_t condition,
                          tenon_dim_t* out_variable, int64_t* out_constant) {
  const tenon__dim_node_t* node = tenon__dim_node(pool, condition.id);
  if (node->kind != TENON_DIM_OPERATION || node->opcode != TENON_OPCODE_EQ) {
    return false;
  }
  const tenon__dim_node_t* right = tenon__dim_node(pool, node->operands[1].id);
  *out_variable = node->operands[0];
  *out_constant = right->value;
  return right->kind == TENON_DIM_CONSTANT;
}

/* Under `condition`, which says what an atom or an extent is, is `b` the same as `a`? Then the
 * choice between them is `b` always: (s == 1 ? 1 : s), (s == 1 ? 0 : coordinate below s). */
static bool same_under(tenon__dim_pool_t* pool, tenon_dim_t condition, tenon_dim_t a,
                       tenon_dim_t b) {
  tenon_dim_t variable = TENON_DIM_INVALID;
  int64_t constant = 0;
  if (!read_equality(pool, condition, &variable, &constant)) {
    return false;
  }
  const tenon__dim_node_t* node = tenon__dim_node(pool, b.id);
  if (node->kind == TENON_DIM_SYMBOL) {
    const tenon__symbol_t* symbol = pool->symbols[node->index];
    int64_t low = 0;
    if (symbol->min == 0 && tenon__dim_valid(pool, symbol->bound) &&
        tenon__dim_known(pool, a, &low) && low == 0) {
      const tenon_dim_t last_is_zero =
          tenon__dim_equals(pool, symbol->bound, tenon__dim_constant(pool, 0));
      return last_is_zero.id == condition.id;
    }
  }
  node = tenon__dim_node(pool, variable.id);
  if (node->kind == TENON_DIM_OPERATION &&
      (node->opcode == TENON_OPCODE_ADD || node->opcode == TENON_OPCODE_MUL)) {
    return false;
  }
  tenon__sum_t sum;
  tenon__sum_t replaced;
  tenon__sum_read(pool, b, &sum);
  tenon__sum_clear(&replaced);
  for (uint32_t i = 0; i < sum.term_count; ++i) {
    tenon__term_t term = {.coefficient = sum.terms[i].coefficient};
    for (uint32_t k = 0; k < sum.terms[i].factor_count; ++k) {
      if (sum.terms[i].factors[k] != variable.id) {
        term.factors[term.factor_count++] = sum.terms[i].factors[k];
      } else if (!tenon__multiply_int64(term.coefficient, constant, &term.coefficient)) {
        return false;
      }
    }
    tenon__sum_add_term(&replaced, &term);
  }
  return !replaced.failed && !replaced.overflowed && tenon__sum_write(pool, &replaced).id == a.id;
}

tenon_dim_t tenon__dim_select(tenon__dim_pool_t* pool, tenon_dim_t condition, tenon_dim_t a,
                              tenon_dim_t b) {
  if (!tenon__dim_valid(pool, condition) || !tenon__dim_valid(pool, a) ||
      !tenon__dim_valid(pool, b)) {
    return TENON_DIM_INVALID;
  }
  const tenon__dim_node_t* node = tenon__dim_node(pool, condition.id);
  if (a.id == b.id || node->min > 0 || node->max < 0) {
    return a;
  }
  if (node->min == 0 && node->max == 0) {
    return b;
  }
  tenon_dim_t inner = TENON_DIM_INVALID;
  int64_t constant = 0;
  if (read_equality(pool, condition, &inner, &constant) && constant == 0) {
    const tenon__dim_node_t* flag = tenon__dim_node(pool, inner.id);
    if (flag->min == 0 && flag->max == 1) { /* !c ? a : b */
      return tenon__dim_select(pool, inner, b, a);
    }
  }
  const tenon__dim_node_t* yes = tenon__dim_node(pool, a.id);
  const tenon__dim_node_t* no = tenon__dim_node(pool, b.id);
  const bool flag = node->min == 0 && node->max == 1;
  const bool numbers = yes->kind == TENON_DIM_CONSTANT && no->kind == TENON_DIM_CONSTANT;
  if (flag && numbers && yes->value == 1 && no->value == 0) {
    return condition;
  }
  if (flag && numbers && yes->value == 0 && no->value == 1) {
    return negate_condition(pool, condition);
  }
  if (same_under(pool, condition, a, b)) {
    return b;
  }
  const tenon_dim_t operands[3] = {condition, a, b};
  return tenon__dim_operation(pool, TENON_OPCODE_SELECT, operands, 3);
}

tenon_dim_t tenon__dim_element(tenon__dim_pool_t* pool, uint32_t input,
                               const tenon_dim_t* coordinates, uint32_t coordinate_count) {
  for (uint32_t i = 0; i < coordinate_count; ++i) {
    if (!tenon__dim_valid(pool, coordinates[i])) {
      return TENON_DIM_INVALID;
    }
  }
  if (coordinate_count > TENON__DIM_OPERANDS) {
    return TENON_DIM_INVALID;
  }
  const tenon__dim_node_t node = {.kind = TENON_DIM_ELEMENT,
                                  .index = input,
                                  .operand_count = coordinate_count,
                                  .operands = coordinates};
  return tenon__dim_intern(pool, &node);
}

/* The number of the coordinate that a node is, TENON_NONE for what is none. */
static uint32_t coordinate_of(const tenon__dim_pool_t* pool, uint32_t id) {
  const tenon__dim_node_t* node = tenon__dim_node(pool, id);
  if (node->kind != TENON_DIM_SYMBOL ||
      pool->symbols[node->index]->kind != TENON_SYMBOL_COORDINATE) {
    return TENON_NONE;
  }
  return pool->symbols[node->index]->a;
}

static bool is_free(const tenon__dim_pool_t* pool, uint32_t id) {
  const uint32_t bits = (1u << TENON_SYMBOL_COORDINATE) | TENON__DIM_MENTIONS_ELEMENT;
  return (tenon__dim_node(pool, id)->mentions & bits) == 0;
}

typedef struct affine_t {
  tenon__dim_pool_t* pool;
  uint32_t axis_count;
  tenon_dim_t base;
  tenon_dim_t* coefficients;
} affine_t;

static bool add_affine(affine_t* affine, tenon_dim_t dim, tenon_dim_t scale, uint32_t depth);

/* scale * (condition ? a : b) with a condition free of coordinates: condition ? scale : 0 for a,
 * and so on. */
static bool add_affine_choice(affine_t* affine, const tenon_dim_t operands[3], tenon_dim_t scale,
                              uint32_t depth) {
  tenon__dim_pool_t* pool = affine->pool;
  if (!is_free(pool, operands[0].id)) {
    return false;
  }
  const tenon_dim_t zero = tenon__dim_constant(pool, 0);
  return add_affine(affine, operands[1], tenon__dim_select(pool, operands[0], scale, zero),
                    depth + 1) &&
         add_affine(affine, operands[2], tenon__dim_select(pool, operands[0], zero, scale),
                    depth + 1);
}

/* One factor of the term that is not free of coordinates; what else there is scales it. */
static bool add_affine_term(affine_t* affine, const tenon__term_t* term, tenon_dim_t scale,
                            uint32_t depth) {
  tenon__dim_pool_t* pool = affine->pool;
  uint32_t bound = TENON_NONE;
  tenon_dim_t factor =
      tenon__dim_multiply(pool, scale, tenon__dim_constant(pool, term->coefficient));
  for (uint32_t i = 0; i < term->factor_count; ++i) {
    if (is_free(pool, term->factors[i])) {
      factor = tenon__dim_multiply(pool, factor, (tenon_dim_t){term->factors[i]});
    } else if (bound != TENON_NONE) {
      return false;
    } else {
      bound = term->factors[i];
    }
  }
  if (bound == TENON_NONE) {
    affine->base = tenon__dim_add(pool, affine->base, factor);
    return true;
  }
  const uint32_t axis = coordinate_of(pool, bound);
  if (axis != TENON_NONE) {
    if (axis >= affine->axis_count) {
      return false;
    }
    affine->coefficients[axis] = tenon__dim_add(pool, affine->coefficients[axis], factor);
    return true;
  }
  const tenon__dim_node_t* node = tenon__dim_node(pool, bound);
  if (node->kind != TENON_DIM_OPERATION || depth >= AFFINE_DEPTH) {
    return false;
  }
  if (node->opcode == TENON_OPCODE_SELECT) {
    return add_affine_choice(affine, node->operands, factor, depth);
  }
  return node->opcode == TENON_OPCODE_ADD &&
         add_affine(affine, (tenon_dim_t){bound}, factor, depth + 1);
}

static bool add_affine(affine_t* affine, tenon_dim_t dim, tenon_dim_t scale, uint32_t depth) {
  tenon__sum_t sum;
  tenon__sum_read(affine->pool, dim, &sum);
  const tenon__dim_node_t* node = tenon__dim_node(affine->pool, dim.id);
  if (node->kind == TENON_DIM_OPERATION && node->opcode == TENON_OPCODE_ADD &&
      sum.term_count == 1 && sum.terms[0].factor_count == 1 && sum.terms[0].factors[0] == dim.id) {
    return false; /* a sum that does not fit */
  }
  for (uint32_t i = 0; i < sum.term_count; ++i) {
    if (!add_affine_term(affine, &sum.terms[i], scale, depth)) {
      return false;
    }
  }
  return true;
}

bool tenon__dim_affine(tenon__dim_pool_t* pool, tenon_dim_t dim, uint32_t axis_count,
                       tenon_dim_t* out_base, tenon_dim_t* out_coefficients) {
  if (!tenon__dim_valid(pool, dim)) {
    return false;
  }
  const tenon_dim_t zero = tenon__dim_constant(pool, 0);
  affine_t affine = {
      .pool = pool, .axis_count = axis_count, .base = zero, .coefficients = out_coefficients};
  for (uint32_t i = 0; i < axis_count; ++i) {
    out_coefficients[i] = zero;
  }
  if (!add_affine(&affine, dim, tenon__dim_constant(pool, 1), 0)) {
    return false;
  }
  *out_base = affine.base;
  bool valid = tenon__dim_valid(pool, affine.base);
  for (uint32_t i = 0; i < axis_count; ++i) {
    valid = valid && tenon__dim_valid(pool, out_coefficients[i]);
  }
  return valid;
}

/* Builds again, on other operands, the node `id`. */
static tenon_dim_t rebuild(tenon__dim_pool_t* pool, uint32_t id, const tenon_dim_t* operands) {
  const tenon__dim_node_t* node = tenon__dim_node(pool, id);
  const uint32_t opcode = node->opcode;
  const uint32_t count = node->operand_count;
  if (opcode == TENON_OPCODE_SELECT) {
    return tenon__dim_select(pool, operands[0], operands[1], operands[2]);
  }
  tenon_dim_t result = operands[0];
  for (uint32_t i = 1; i < count; ++i) {
    result = tenon__dim_combine(pool, opcode, result, operands[i]);
  }
  return result;
}

typedef struct substitution_t {
  tenon__dim_pool_t* pool;
  const tenon_dim_t* replacements;
  uint32_t count;
  const uint32_t* inputs;
} substitution_t;

static tenon_dim_t substitute(const substitution_t* by, tenon_dim_t dim, uint32_t depth) {
  tenon__dim_pool_t* pool = by->pool;
  if (!tenon__dim_valid(pool, dim) || is_free(pool, dim.id)) {
    return dim;
  }
  const uint32_t axis = coordinate_of(pool, dim.id);
  if (axis != TENON_NONE) {
    return axis < by->count ? by->replacements[axis] : dim;
  }
  if (depth >= SUBSTITUTE_DEPTH) {
    return TENON_DIM_INVALID;
  }
  if (pool->memo[dim.id].id != 0) {
    return (tenon_dim_t){pool->memo[dim.id].id - 1};
  }
  tenon_dim_t operands[TENON__DIM_OPERANDS] = {TENON_DIM_INVALID, TENON_DIM_INVALID,
                                               TENON_DIM_INVALID};
  const tenon__dim_node_t node = *tenon__dim_node(pool, dim.id);
  for (uint32_t i = 0; i < node.operand_count; ++i) {
    operands[i] = substitute(by, node.operands[i], depth + 1);
    if (!tenon__dim_valid(pool, operands[i])) {
      return TENON_DIM_INVALID;
    }
  }
  const tenon_dim_t result =
      node.kind == TENON_DIM_ELEMENT
          ? tenon__dim_element(pool, by->inputs == NULL ? node.index : by->inputs[node.index],
                               operands, node.operand_count)
          : rebuild(pool, dim.id, operands);
  if (tenon__dim_valid(pool, result)) {
    pool->memo[dim.id].id = result.id + 1;
  }
  return result;
}

tenon_dim_t tenon__dim_substitute(tenon__dim_pool_t* pool, tenon_dim_t dim,
                                  const tenon_dim_t* replacements, uint32_t count,
                                  const uint32_t* inputs) {
  if (!tenon__dim_valid(pool, dim) || is_free(pool, dim.id)) {
    return dim;
  }
  const size_t needed = (size_t)dim.id + 1;
  if (!TENON_GROW(pool->allocator, pool->memo, pool->memo_capacity, needed)) {
    pool->failed = true;
    return TENON_DIM_INVALID;
  }
  for (size_t i = 0; i < needed; ++i) {
    pool->memo[i].id = 0;
  }
  const substitution_t by = {
      .pool = pool, .replacements = replacements, .count = count, .inputs = inputs};
  return substitute(&by, dim, 0);
}

bool tenon__dim_linear(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon_dim_t symbol,
                       int64_t* out_factor, int64_t* out_base) {
  tenon__sum_t sum;
  int64_t factor = 0;
  if (!tenon__dim_valid(pool, dim)) {
    return false;
  }
  tenon__sum_read(pool, dim, &sum);
  for (uint32_t i = 0; i < sum.term_count; ++i) {
    const tenon__term_t* term = &sum.terms[i];
    if (term->factor_count == 1 && term->factors[0] == symbol.id) {
      factor = term->coefficient;
    } else if (term->factor_count != 0) {
      return false;
    }
  }
  *out_factor = factor;
  *out_base = tenon__sum_constant(&sum);
  return true;
}

tenon_dim_t tenon__dim_coordinate(tenon__dim_pool_t* pool, uint32_t axis, tenon_dim_t extent) {
  if (!tenon__dim_valid(pool, extent)) {
    return TENON_DIM_INVALID;
  }
  if (tenon__dim_equal(extent, tenon__dim_constant(pool, 1))) {
    return tenon__dim_constant(pool, 0);
  }
  const tenon_dim_t last = tenon__dim_add(pool, extent, tenon__dim_constant(pool, -1));
  const tenon__symbol_t symbol = {
      .kind = TENON_SYMBOL_COORDINATE, .a = axis, .min = 0, .max = INT64_MAX, .bound = last};
  return tenon__dim_valid(pool, last) ? tenon__dim_symbol(pool, &symbol) : TENON_DIM_INVALID;
}
