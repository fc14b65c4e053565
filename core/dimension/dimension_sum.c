/* Sums of products: reading nodes into them, calculating, writing them back in canonical order. */
#include "core/dimension/dimension_sum.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/dimension/dimension_node.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_range.h"

uint64_t tenon__greatest_divisor(uint64_t a, int64_t number) {
  uint64_t b = number < 0 ? UINT64_C(0) - (uint64_t)number : (uint64_t)number;
  while (b != 0) {
    const uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

tenon__term_t tenon__term_without(const tenon__term_t* term, uint32_t at) {
  tenon__term_t result = *term;
  for (uint32_t i = at + 1; i < result.factor_count; ++i) {
    result.factors[i - 1] = result.factors[i];
  }
  --result.factor_count;
  return result;
}

void tenon__sum_clear(tenon__sum_t* out_sum) {
  out_sum->failed = false;
  out_sum->overflowed = false;
  out_sum->term_count = 0;
}

static bool same_factors(const tenon__term_t* a, const tenon__term_t* b) {
  return a->factor_count == b->factor_count &&
         memcmp(a->factors, b->factors, a->factor_count * sizeof(a->factors[0])) == 0;
}

void tenon__sum_add_term(tenon__sum_t* sum, const tenon__term_t* term) {
  if (term->coefficient == 0) {
    return;
  }
  for (uint32_t i = 0; i < sum->term_count; ++i) {
    tenon__term_t* other = &sum->terms[i];
    if (!same_factors(other, term)) {
      continue;
    }
    if (!tenon__add_int64(other->coefficient, term->coefficient, &other->coefficient)) {
      sum->overflowed = true;
    } else if (other->coefficient == 0) {
      *other = sum->terms[--sum->term_count];
    }
    return;
  }
  if (sum->term_count == TENON__SUM_TERMS) {
    sum->failed = true;
    return;
  }
  sum->terms[sum->term_count++] = *term;
}

void tenon__sum_add_constant(tenon__sum_t* sum, int64_t value) {
  const tenon__term_t term = {.coefficient = value};
  tenon__sum_add_term(sum, &term);
}

void tenon__sum_add_scaled(tenon__sum_t* sum, const tenon__sum_t* other, int64_t factor) {
  sum->failed = sum->failed || other->failed;
  sum->overflowed = sum->overflowed || other->overflowed;
  for (uint32_t i = 0; i < other->term_count; ++i) {
    tenon__term_t term = other->terms[i];
    if (!tenon__multiply_int64(term.coefficient, factor, &term.coefficient)) {
      sum->overflowed = true;
      return;
    }
    tenon__sum_add_term(sum, &term);
  }
}

static void insert_factor(tenon__term_t* term, uint32_t id) {
  uint32_t at = term->factor_count++;
  for (; at > 0 && term->factors[at - 1] > id; --at) {
    term->factors[at] = term->factors[at - 1];
  }
  term->factors[at] = id;
}

/* A constant, an atom or a product of them as one term; a product too long is an atom. */
static void read_term(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon__term_t* out_term) {
  const tenon__dim_node_t* node = tenon__dim_node(pool, dim.id);
  memset(out_term, 0, sizeof(*out_term));
  out_term->coefficient = 1;
  if (node->kind == TENON_DIM_CONSTANT) {
    out_term->coefficient = node->value;
    return;
  }
  const bool product = node->kind == TENON_DIM_OPERATION && node->opcode == TENON_OPCODE_MUL;
  if (product && node->operand_count <= TENON__TERM_FACTORS) {
    bool fits = true;
    for (uint32_t i = 0; i < node->operand_count; ++i) {
      const tenon__dim_node_t* operand = tenon__dim_node(pool, node->operands[i].id);
      if (operand->kind != TENON_DIM_CONSTANT) {
        insert_factor(out_term, node->operands[i].id);
      } else {
        fits = fits &&
               tenon__multiply_int64(out_term->coefficient, operand->value, &out_term->coefficient);
      }
    }
    if (fits) {
      return;
    }
    memset(out_term, 0, sizeof(*out_term));
    out_term->coefficient = 1;
  }
  out_term->factor_count = 1;
  out_term->factors[0] = dim.id;
}

void tenon__sum_read(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon__sum_t* out_sum) {
  const tenon__dim_node_t* node = tenon__dim_node(pool, dim.id);
  tenon__term_t term;
  tenon__sum_clear(out_sum);
  const bool sum = node->kind == TENON_DIM_OPERATION && node->opcode == TENON_OPCODE_ADD;
  if (sum && node->operand_count <= TENON__SUM_TERMS) {
    for (uint32_t i = 0; i < node->operand_count; ++i) {
      read_term(pool, node->operands[i], &term);
      tenon__sum_add_term(out_sum, &term);
    }
    if (!out_sum->overflowed) {
      return;
    }
    tenon__sum_clear(out_sum);
  }
  if (sum) {
    term = (tenon__term_t){.coefficient = 1, .factor_count = 1, .factors = {dim.id}};
  } else {
    read_term(pool, dim, &term);
  }
  tenon__sum_add_term(out_sum, &term);
}

tenon__sum_t tenon__sum_negated(const tenon__sum_t* sum) {
  tenon__sum_t negated;
  tenon__sum_clear(&negated);
  tenon__sum_add_scaled(&negated, sum, -1);
  return negated;
}

void tenon__sum_multiply(const tenon__sum_t* a, const tenon__sum_t* b, tenon__sum_t* out_product) {
  tenon__sum_clear(out_product);
  out_product->failed = a->failed || b->failed;
  out_product->overflowed = a->overflowed || b->overflowed;
  for (uint32_t i = 0; i < a->term_count; ++i) {
    for (uint32_t j = 0; j < b->term_count; ++j) {
      tenon__term_t term = a->terms[i];
      if (!tenon__multiply_int64(term.coefficient, b->terms[j].coefficient, &term.coefficient)) {
        out_product->overflowed = true;
        return;
      }
      if (term.factor_count + b->terms[j].factor_count > TENON__TERM_FACTORS) {
        out_product->failed = true;
        return;
      }
      for (uint32_t k = 0; k < b->terms[j].factor_count; ++k) {
        insert_factor(&term, b->terms[j].factors[k]);
      }
      tenon__sum_add_term(out_product, &term);
    }
  }
}

bool tenon__term_divide(const tenon__term_t* a, const tenon__term_t* b,
                        tenon__term_t* out_quotient) {
  if (b->coefficient == 0 || (b->coefficient == -1 && a->coefficient == INT64_MIN) ||
      a->coefficient % b->coefficient != 0) {
    return false;
  }
  tenon__term_t quotient = {.coefficient = a->coefficient / b->coefficient};
  uint32_t taken = 0;
  for (uint32_t i = 0; i < a->factor_count; ++i) {
    if (taken < b->factor_count && a->factors[i] == b->factors[taken]) {
      ++taken;
    } else {
      quotient.factors[quotient.factor_count++] = a->factors[i];
    }
  }
  if (taken < b->factor_count) {
    return false;
  }
  *out_quotient = quotient;
  return true;
}

static int compare_terms(const tenon__term_t* a, const tenon__term_t* b) {
  if (a->factor_count != b->factor_count) {
    return a->factor_count > b->factor_count ? -1 : 1;
  }
  for (uint32_t i = 0; i < a->factor_count; ++i) {
    if (a->factors[i] != b->factors[i]) {
      return a->factors[i] < b->factors[i] ? -1 : 1;
    }
  }
  return 0;
}

void tenon__sum_sort(tenon__sum_t* sum) {
  for (uint32_t i = 1; i < sum->term_count; ++i) {
    const tenon__term_t term = sum->terms[i];
    uint32_t at = i;
    for (; at > 0 && compare_terms(&term, &sum->terms[at - 1]) < 0; --at) {
      sum->terms[at] = sum->terms[at - 1];
    }
    sum->terms[at] = term;
  }
}

/* Looks for the quotient that belongs to factor `at` of term `term`, a remainder; joins the two. */
static bool join_remainder(const tenon__dim_pool_t* pool, tenon__sum_t* sum, uint32_t term,
                           uint32_t at) {
  const tenon__dim_node_t* remainder = tenon__dim_node(pool, sum->terms[term].factors[at]);
  const tenon_dim_t quotient =
      tenon__dim_find(pool, TENON_OPCODE_FLOOR_DIV, remainder->operands, 2);
  tenon__sum_t divisor;
  tenon__sum_read(pool, remainder->operands[1], &divisor);
  if (!tenon__dim_valid(pool, quotient) || divisor.failed || divisor.term_count != 1) {
    return false;
  }
  const tenon__sum_t rest = {.term_count = 1,
                             .terms = {tenon__term_without(&sum->terms[term], at)}};
  tenon__sum_t wanted;
  tenon__sum_multiply(&rest, &divisor, &wanted);
  if (wanted.failed || wanted.overflowed || wanted.term_count != 1 ||
      wanted.terms[0].factor_count == TENON__TERM_FACTORS) {
    return false;
  }
  insert_factor(&wanted.terms[0], quotient.id);
  for (uint32_t i = 0; i < sum->term_count; ++i) {
    if (same_factors(&sum->terms[i], &wanted.terms[0]) &&
        sum->terms[i].coefficient == wanted.terms[0].coefficient) {
      tenon__sum_t numerator;
      tenon__sum_t joined;
      tenon__sum_read(pool, remainder->operands[0], &numerator);
      tenon__sum_multiply(&rest, &numerator, &joined);
      tenon__sum_t result = *sum;
      const tenon__term_t gone = sum->terms[term];
      tenon__term_t minus = gone;
      minus.coefficient = -gone.coefficient;
      tenon__sum_add_term(&result, &minus);
      minus = sum->terms[i];
      minus.coefficient = -minus.coefficient;
      tenon__sum_add_term(&result, &minus);
      tenon__sum_add_scaled(&result, &joined, 1);
      if (result.failed || result.overflowed) {
        return false;
      }
      *sum = result;
      return true;
    }
  }
  return false;
}

void tenon__sum_join_remainders(const tenon__dim_pool_t* pool, tenon__sum_t* sum) {
  for (uint32_t i = 0; i < sum->term_count && !sum->failed && !sum->overflowed; ++i) {
    for (uint32_t k = 0; k < sum->terms[i].factor_count; ++k) {
      const tenon__dim_node_t* node = tenon__dim_node(pool, sum->terms[i].factors[k]);
      if (node->kind == TENON_DIM_OPERATION && node->opcode == TENON_OPCODE_MOD &&
          sum->terms[i].coefficient != INT64_MIN && join_remainder(pool, sum, i, k)) {
        i = UINT32_MAX; /* the terms moved: begin again, with two of them less */
        break;
      }
    }
  }
}

static tenon_dim_t write_term(tenon__dim_pool_t* pool, const tenon__term_t* term) {
  tenon_dim_t operands[TENON__TERM_FACTORS + 1];
  uint32_t count = 0;
  if (term->coefficient != 1 || term->factor_count == 0) {
    operands[count++] = tenon__dim_constant(pool, term->coefficient);
  }
  for (uint32_t i = 0; i < term->factor_count; ++i) {
    operands[count++] = (tenon_dim_t){term->factors[i]};
  }
  return count == 1 ? operands[0] : tenon__dim_operation(pool, TENON_OPCODE_MUL, operands, count);
}

tenon_dim_t tenon__sum_write(tenon__dim_pool_t* pool, tenon__sum_t* sum) {
  if (sum->overflowed) {
    return TENON_DIM_INVALID;
  }
  tenon__sum_sort(sum);
  tenon_dim_t operands[TENON__SUM_TERMS];
  for (uint32_t i = 0; i < sum->term_count; ++i) {
    operands[i] = write_term(pool, &sum->terms[i]);
    if (!tenon__dim_valid(pool, operands[i])) {
      return TENON_DIM_INVALID;
    }
  }
  if (sum->term_count == 0) {
    return tenon__dim_constant(pool, 0);
  }
  return sum->term_count == 1
             ? operands[0]
             : tenon__dim_operation(pool, TENON_OPCODE_ADD, operands, sum->term_count);
}

int64_t tenon__sum_constant(const tenon__sum_t* sum) {
  for (uint32_t i = 0; i < sum->term_count; ++i) {
    if (sum->terms[i].factor_count == 0) {
      return sum->terms[i].coefficient;
    }
  }
  return 0;
}

bool tenon__sum_is_constant(const tenon__sum_t* sum) {
  return sum->term_count == 0 || (sum->term_count == 1 && sum->terms[0].factor_count == 0);
}

void tenon__sum_range(const tenon__dim_pool_t* pool, const tenon__sum_t* sum, int64_t* out_min,
                      int64_t* out_max) {
  tenon__bounds_t bounds = {0};
  for (uint32_t i = 0; i < sum->term_count; ++i) {
    const tenon__term_t* term = &sum->terms[i];
    int64_t low = term->coefficient;
    int64_t high = term->coefficient;
    for (uint32_t k = 0; k < term->factor_count; ++k) {
      const tenon__dim_node_t* factor = tenon__dim_node(pool, term->factors[k]);
      if (tenon__bounds_multiply(&low, &high, factor->min, factor->max)) {
        /* A product of the sum need not exist by itself, so its bounds may be truly beyond. */
        bounds.low_open = bounds.low_open || low == INT64_MIN;
        bounds.high_open = bounds.high_open || high == INT64_MAX;
      }
    }
    tenon__bounds_add(&bounds, low, high);
  }
  *out_min = bounds.low;
  *out_max = bounds.high;
}
