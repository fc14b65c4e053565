/* Sums and products: operands are read as sums of terms, calculated, and written in canonical form. */
#include "core/dimension/dimension_arithmetic.h"

#include "core/dimension/dimension_node.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_sum.h"

enum { DISTRIBUTE_TERMS = 16 };

static tenon_dim_t pair(tenon__dim_pool_t* pool, uint32_t opcode, tenon_dim_t a, tenon_dim_t b) {
  return a.id < b.id ? tenon__dim_pair(pool, opcode, a, b) : tenon__dim_pair(pool, opcode, b, a);
}

static tenon_dim_t add_scaled(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b,
                              int64_t factor) {
  tenon__sum_t sum;
  tenon__sum_t other;
  if (!tenon__dim_valid(pool, a) || !tenon__dim_valid(pool, b)) {
    return TENON_DIM_INVALID;
  }
  tenon__sum_read(pool, a, &sum);
  tenon__sum_read(pool, b, &other);
  tenon__sum_add_scaled(&sum, &other, factor);
  if (!sum.failed) {
    tenon__sum_join_remainders(pool, &sum);
    return tenon__sum_write(pool, &sum);
  }
  if (sum.overflowed) {
    return TENON_DIM_INVALID;
  }
  /* Too many terms for a flat sum: a sum of sums. */
  if (factor == -1) {
    b = tenon__dim_multiply(pool, tenon__dim_constant(pool, -1), b);
  }
  return pair(pool, TENON_OPCODE_ADD, a, b);
}

static tenon__sum_t atom_sum(tenon_dim_t dim) {
  return (tenon__sum_t){.term_count = 1,
                        .terms = {{.coefficient = 1, .factor_count = 1, .factors = {dim.id}}}};
}

tenon_dim_t tenon__dim_multiply(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b) {
  tenon__sum_t x;
  tenon__sum_t y;
  tenon__sum_t product;
  if (!tenon__dim_valid(pool, a) || !tenon__dim_valid(pool, b)) {
    return TENON_DIM_INVALID;
  }
  tenon__sum_read(pool, a, &x);
  tenon__sum_read(pool, b, &y);
  if (x.term_count > 1 && y.term_count > 1 && x.term_count * y.term_count > DISTRIBUTE_TERMS) {
    x = atom_sum(a);
    y = atom_sum(b);
  }
  tenon__sum_multiply(&x, &y, &product);
  if (!product.failed) {
    tenon__sum_join_remainders(pool, &product);
    return tenon__sum_write(pool, &product);
  }
  return product.overflowed ? TENON_DIM_INVALID : pair(pool, TENON_OPCODE_MUL, a, b);
}

tenon_dim_t tenon__dim_add(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b) {
  return add_scaled(pool, a, b, 1);
}

tenon_dim_t tenon__dim_subtract(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b) {
  return add_scaled(pool, a, b, -1);
}
