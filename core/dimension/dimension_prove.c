/* Proving that a sum is never negative. Interval arithmetic first; then what pulls the sum down is
 * replaced by what it cannot exceed: a symbol by its bound, min(a, b) by a or by b, floor(a / n) by
 * a / n, and likewise from the other side. Every such step leaves a smaller sum, so a proof for it
 * is a proof. */
#include "core/dimension/dimension_prove.h"

#include "core/dimension/dimension_node.h"

enum { PROOF_DEPTH = 5, PROOF_BUDGET = 48 };

typedef struct proof_t {
  const tenon__dim_pool_t* pool;
  uint32_t budget; /* sums that may still be looked at */
} proof_t;

static bool never_negative(proof_t* proof, const tenon__sum_t* sum, uint32_t depth);

/* 1 when never negative, -1 when never positive, 0 when neither is sure. */
static int sign_of(const tenon__dim_pool_t* pool, const tenon__term_t* term) {
  tenon__sum_t sum = {.term_count = 1, .terms = {*term}};
  int64_t low = 0;
  int64_t high = 0;
  tenon__sum_range(pool, &sum, &low, &high);
  if (low >= 0) {
    return 1;
  }
  return high <= 0 ? -1 : 0;
}

/* The sum with `cofactor` * `replacement` in the place of term `at`, proved. */
static bool proved_with(proof_t* proof, const tenon__sum_t* sum, uint32_t at,
                        const tenon__term_t* cofactor, const tenon__sum_t* replacement,
                        uint32_t depth) {
  if (proof->budget == 0) {
    return false;
  }
  --proof->budget;
  const tenon__sum_t single = {.term_count = 1, .terms = {*cofactor}};
  tenon__sum_t product;
  tenon__sum_multiply(&single, replacement, &product);
  tenon__sum_t rest = *sum;
  rest.terms[at] = rest.terms[--rest.term_count];
  tenon__sum_add_scaled(&rest, &product, 1);
  tenon__sum_join_remainders(proof->pool, &rest);
  return !rest.failed && !rest.overflowed && never_negative(proof, &rest, depth - 1);
}

static bool proved_with_dim(proof_t* proof, const tenon__sum_t* sum, uint32_t at,
                            const tenon__term_t* cofactor, tenon_dim_t replacement,
                            uint32_t depth) {
  tenon__sum_t value;
  tenon__sum_read(proof->pool, replacement, &value);
  return proved_with(proof, sum, at, cofactor, &value, depth);
}

/* cofactor * floor(a / n) with a constant n that divides the cofactor: between (a - n + 1) / n and
 * a / n. */
static bool proved_with_quotient(proof_t* proof, const tenon__sum_t* sum, uint32_t at,
                                 const tenon__term_t* cofactor, const tenon__dim_node_t* quotient,
                                 uint32_t depth) {
  tenon__sum_t divisor;
  tenon__sum_read(proof->pool, quotient->operands[1], &divisor);
  const tenon__dim_node_t* n = tenon__dim_node(proof->pool, quotient->operands[1].id);
  tenon__term_t scaled;
  if (n->min < 1 || divisor.term_count != 1 ||
      !tenon__term_divide(cofactor, &divisor.terms[0], &scaled)) {
    return false;
  }
  tenon__sum_t numerator;
  tenon__sum_read(proof->pool, quotient->operands[0], &numerator);
  if (sign_of(proof->pool, cofactor) > 0) {
    tenon__sum_add_scaled(&numerator, &divisor, -1);
    tenon__sum_add_constant(&numerator, 1);
  }
  return !numerator.failed && !numerator.overflowed &&
         proved_with(proof, sum, at, &scaled, &numerator, depth);
}

/* Term `at` holds an operation as a factor: bounds of that operation by its operands. */
static bool proved_by_operation(proof_t* proof, const tenon__sum_t* sum, uint32_t at,
                                const tenon__term_t* cofactor, const tenon__dim_node_t* node,
                                uint32_t depth) {
  const int sign = sign_of(proof->pool, cofactor);
  const bool bounded = (node->opcode == TENON_OPCODE_MAX && sign > 0) ||
                       (node->opcode == TENON_OPCODE_MIN && sign < 0);
  const uint32_t bound_count = bounded ? node->operand_count : 0;
  for (uint32_t i = 0; i < bound_count; ++i) {
    if (proved_with_dim(proof, sum, at, cofactor, node->operands[i], depth)) {
      return true;
    }
  }
  const bool both = node->opcode == TENON_OPCODE_SELECT ||
                    (node->opcode == TENON_OPCODE_MAX && sign < 0) ||
                    (node->opcode == TENON_OPCODE_MIN && sign > 0);
  if (both) {
    const uint32_t first = node->opcode == TENON_OPCODE_SELECT ? 1 : 0;
    for (uint32_t i = first; i < node->operand_count; ++i) {
      if (!proved_with_dim(proof, sum, at, cofactor, node->operands[i], depth)) {
        return false;
      }
    }
    return true;
  }
  if (node->opcode == TENON_OPCODE_FLOOR_DIV && sign != 0) {
    return proved_with_quotient(proof, sum, at, cofactor, node, depth);
  }
  if (node->opcode == TENON_OPCODE_MOD && sign < 0) {
    const tenon__dim_node_t* divisor = tenon__dim_node(proof->pool, node->operands[1].id);
    const tenon__dim_node_t* numerator = tenon__dim_node(proof->pool, node->operands[0].id);
    tenon__sum_t most;
    tenon__sum_read(proof->pool, node->operands[1], &most);
    tenon__sum_add_constant(&most, -1);
    return divisor->min >= 0 &&
           (proved_with(proof, sum, at, cofactor, &most, depth) ||
            (numerator->min >= 0 &&
             proved_with_dim(proof, sum, at, cofactor, node->operands[0], depth)));
  }
  return false;
}

static bool proved_by_factor(proof_t* proof, const tenon__sum_t* sum, uint32_t at, uint32_t factor,
                             uint32_t depth) {
  const tenon__dim_node_t* node = tenon__dim_node(proof->pool, sum->terms[at].factors[factor]);
  const tenon__term_t cofactor = tenon__term_without(&sum->terms[at], factor);
  if (node->kind == TENON_DIM_SYMBOL) {
    const tenon_dim_t bound = proof->pool->symbols[node->index]->bound;
    return tenon__dim_valid(proof->pool, bound) && sign_of(proof->pool, &cofactor) < 0 &&
           proved_with_dim(proof, sum, at, &cofactor, bound, depth);
  }
  return node->kind == TENON_DIM_OPERATION &&
         proved_by_operation(proof, sum, at, &cofactor, node, depth);
}

static bool never_negative(proof_t* proof, const tenon__sum_t* sum, uint32_t depth) {
  int64_t low = 0;
  int64_t high = 0;
  tenon__sum_range(proof->pool, sum, &low, &high);
  if (low >= 0) {
    return true;
  }
  if (depth == 0 || high < 0) {
    return false;
  }
  for (uint32_t i = 0; i < sum->term_count; ++i) {
    for (uint32_t k = 0; k < sum->terms[i].factor_count; ++k) {
      if (proved_by_factor(proof, sum, i, k, depth)) {
        return true;
      }
    }
  }
  return false;
}

bool tenon__sum_never_negative(const tenon__dim_pool_t* pool, const tenon__sum_t* sum) {
  if (sum->failed || sum->overflowed) {
    return false;
  }
  proof_t proof = {.pool = pool, .budget = PROOF_BUDGET};
  return never_negative(&proof, sum, PROOF_DEPTH);
}

bool tenon__dim_never_above(const tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b) {
  if (a.id == b.id) {
    return true;
  }
  const tenon__dim_node_t* low = tenon__dim_node(pool, a.id);
  const tenon__dim_node_t* high = tenon__dim_node(pool, b.id);
  if (low->max <= high->min) {
    return true;
  }
  if (low->min > high->max) {
    return false;
  }
  tenon__sum_t sum;
  tenon__sum_t other;
  tenon__sum_read(pool, b, &sum);
  tenon__sum_read(pool, a, &other);
  tenon__sum_add_scaled(&sum, &other, -1);
  tenon__sum_join_remainders(pool, &sum);
  return tenon__sum_never_negative(pool, &sum);
}
