/*
 * Sums of products, used to compute the canonical form of a dimension.
 *
 * An *atom* is a node that is neither a constant nor a sum nor a product of the canonical form. A
 * *term* is a coefficient times atoms; a *sum* is a list of terms with different atoms. Nodes are
 * converted to sums, and results are written back as nodes. Expressions that exceed these small
 * fixed structures stay one atom: correct, but less simplified.
 */
#ifndef TENON_CORE_DIMENSION_DIMENSION_SUM_H_
#define TENON_CORE_DIMENSION_DIMENSION_SUM_H_

#include "core/dimension/dimension.h"

enum { TENON__SUM_TERMS = 24, TENON__TERM_FACTORS = 12 };

/* 3*n*n*m is coefficient 3 with factors [m, n, n] in order of ids; no factors: a constant. */
typedef struct tenon__term_t {
  int64_t coefficient;
  uint32_t factor_count;
  uint32_t factors[TENON__TERM_FACTORS]; /* ids of atoms, sorted */
} tenon__term_t;

/* About 1.5 KiB, on the stack. If `failed` or `overflowed` is set, the terms are invalid. Both
 * flags propagate through all operations, so a caller checks them at the end. */
typedef struct tenon__sum_t {
  bool failed;     /* too large for this structure */
  bool overflowed; /* beyond int64 */
  uint32_t term_count;
  tenon__term_t terms[TENON__SUM_TERMS];
} tenon__sum_t;

void tenon__sum_clear(tenon__sum_t* out_sum);
/* A constant, an atom, a product or a sum as a list of terms; the dimension must be valid. */
void tenon__sum_read(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon__sum_t* out_sum);
/* Adds a term, combined with a term of the same factors. Terms that become 0 are removed. */
void tenon__sum_add_term(tenon__sum_t* sum, const tenon__term_t* term);
void tenon__sum_add_constant(tenon__sum_t* sum, int64_t value);
/* sum += factor * other */
void tenon__sum_add_scaled(tenon__sum_t* sum, const tenon__sum_t* other, int64_t factor);
/* Multiplies each term with each other. Fails beyond the limits above. The product must not be an
 * operand. */
void tenon__sum_multiply(const tenon__sum_t* a, const tenon__sum_t* b, tenon__sum_t* out_product);
/* Replaces x%n + n*(x/n) by x, so that an index that is split into row and column and recombined is
 * recognised. */
void tenon__sum_join_remainders(const tenon__dim_pool_t* pool, tenon__sum_t* sum);
/* Sorts the sum and writes it as a node: a single term as a product, a constant or an atom, the
 * empty sum as 0. Returns INVALID if the sum has overflowed. The sum must not have failed. */
tenon_dim_t tenon__sum_write(tenon__dim_pool_t* pool, tenon__sum_t* sum);
int64_t tenon__sum_constant(const tenon__sum_t* sum); /* the term without factors */
bool tenon__sum_is_constant(const tenon__sum_t* sum);
/* Computes saturated bounds by interval arithmetic. */
void tenon__sum_range(const tenon__dim_pool_t* pool, const tenon__sum_t* sum, int64_t* out_min,
                      int64_t* out_max);
/* Divides a term by another exactly, factors and coefficient. Returns false if there is a
 * remainder. For example, 6*n*m by 2*n is 3*m; by 4*n it is impossible. */
bool tenon__term_divide(const tenon__term_t* a, const tenon__term_t* b,
                        tenon__term_t* out_quotient);
/* Sorts terms by degree, then ids; the constant is last. */
void tenon__sum_sort(tenon__sum_t* sum);
/* Returns the greatest common divisor of `a` and the magnitude of `b`. */
uint64_t tenon__greatest_divisor(uint64_t a, int64_t b);
/* Returns the term without its factor number `at`. */
tenon__term_t tenon__term_without(const tenon__term_t* term, uint32_t at);
/* 0 - sum */
tenon__sum_t tenon__sum_negated(const tenon__sum_t* sum);

#endif
