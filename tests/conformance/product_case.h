/* A product of matrices as a test case: operands and slot by random numbers, and the expected
 * result by plugins/reference in f64. */
#ifndef TESTS_CONFORMANCE_PRODUCT_CASE_H_
#define TESTS_CONFORMANCE_PRODUCT_CASE_H_

#include "kernel_case.h"

/* The factors of a product, and the operations of the slot. */
typedef struct product_t {
  tenon_dtype_t dtype;
  uint32_t a_rank;
  uint32_t b_rank;
  uint32_t y_rank;
  int64_t a[FAKE_RANK];
  int64_t b[FAKE_RANK];
  int64_t y[FAKE_RANK];
  double scale;
  bool has_bias;
  bool has_residual;
  bool has_relu;
  bool has_gelu;  /* by tanh */
  bool is_shared; /* the residual has extent 1 along the first axis */
  bool has_fractions;
  bool is_plain;  /* all tensors are row-major */
  bool is_own;    /* the matrix is constant */
  bool is_turned; /* the residual's first two axes are exchanged in memory */
} product_t;

/* Sets the seed of the random numbers that cases and shapes draw. */
void product_seed(uint32_t seed);
/* Returns a random number below `below`. */
uint32_t product_draw(uint32_t below);

/* Adds an input of the product. `depth_axis` is the axis of the sum. */
void product_make_factor(kernel_case_t* c, const product_t* p, uint32_t rank, const int64_t* dims,
                         uint32_t depth_axis);
/* Runs all tactics of the kernel and compares them with the reference. */
void product_check(const product_t* p, const char* name);

#endif
