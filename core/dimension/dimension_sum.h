/*
 * Sums of products, in which the canonical form of a dimension is computed.
 *
 * An *atom* is a node that is neither a constant nor a sum nor a product of the canonical form. A
 * *term* is a coefficient times atoms; a *sum* is a list of terms, no two alike. Nodes are read
 * into sums, sums are calculated with, and written back as nodes. What does not fit these small
 * fixed structures stays one atom: still right, less simplified.
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

/* About 1.5 KiB, on the stack. Once `failed` or `overflowed` is set the terms mean nothing; both
 * stick through every operation, so a caller asks at the end. */
typedef struct tenon__sum_t {
  bool failed;     /* too large for this structure */
  bool overflowed; /* beyond int64 */
  uint32_t term_count;
  tenon__term_t terms[TENON__SUM_TERMS];
} tenon__sum_t;

void tenon__sum_clear(tenon__sum_t* out_sum);
/* A constant, an atom, a product or a sum as a list of terms; the dimension must be valid. */
void tenon__sum_read(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon__sum_t* out_sum);
/* Joins it with a term of the same factors; what comes out as 0 goes. */
void tenon__sum_add_term(tenon__sum_t* sum, const tenon__term_t* term);
void tenon__sum_add_constant(tenon__sum_t* sum, int64_t value);
/* sum += factor * other */
void tenon__sum_add_scaled(tenon__sum_t* sum, const tenon__sum_t* other, int64_t factor);
/* Every term with every other. Fails beyond the limits above; the product must be neither operand.
 */
void tenon__sum_multiply(const tenon__sum_t* a, const tenon__sum_t* b, tenon__sum_t* out_product);
/* x%n + n*(x/n) becomes x. So that splitting an index into row and column and putting it together
 * again is seen to be the index. */
void tenon__sum_join_remainders(const tenon__dim_pool_t* pool, tenon__sum_t* sum);
/* INVALID when the sum overflowed; the sum must not have failed. Sorts the sum. A single term
 * becomes a product, a constant or an atom, the empty sum 0. */
tenon_dim_t tenon__sum_write(tenon__dim_pool_t* pool, tenon__sum_t* sum);
int64_t tenon__sum_constant(const tenon__sum_t* sum); /* the term without factors */
bool tenon__sum_is_constant(const tenon__sum_t* sum);
/* Bounds by interval arithmetic, saturated. */
void tenon__sum_range(const tenon__dim_pool_t* pool, const tenon__sum_t* sum, int64_t* out_min,
                      int64_t* out_max);
/* Divides a term by another exactly, factors and coefficient: false when it does not go. 6*n*m by
 * 2*n is 3*m; by 4*n it does not go. */
bool tenon__term_divide(const tenon__term_t* a, const tenon__term_t* b,
                        tenon__term_t* out_quotient);
/* Terms in their order: degree, then ids; the constant last. */
void tenon__sum_sort(tenon__sum_t* sum);
/* Of `a` and the magnitude of `b`. */
uint64_t tenon__greatest_divisor(uint64_t a, int64_t b);
/* The term without its factor number `at`. */
tenon__term_t tenon__term_without(const tenon__term_t* term, uint32_t at);
/* 0 - sum */
tenon__sum_t tenon__sum_negated(const tenon__sum_t* sum);

#endif
