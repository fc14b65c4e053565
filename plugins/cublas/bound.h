/* What bind makes of the shapes at hand, for bind and enqueue. */
#ifndef PLUGINS_CUBLAS_BOUND_H_
#define PLUGINS_CUBLAS_BOUND_H_

#include "constants.h"

/* An algorithm, and what of addresses it relies on. */
typedef struct tenon__cublas_algorithm_t {
  cublasLtMatmulAlgo_t algorithm;
  uint32_t alignment; /* bytes; 0: there is none */
} tenon__cublas_algorithm_t;

/* A number in the type in which the library scales. */
typedef union tenon__cublas_factor_t {
  float single;
  double whole;
} tenon__cublas_factor_t;

/* What bind makes: a context's own. */
typedef struct tenon__cublas_bound_t {
  const tenon__cublas_instance_t* instance;
  tenon__cublas_geometry_t geometry;
  cublasLtMatmulDesc_t operation;
  cublasLtMatmulDesc_t partial; /* without what is done at the end of a sum; NULL: no such calls */
  cublasLtMatrixLayout_t layouts[TENON_CUBLAS_OPERANDS];
  tenon__cublas_algorithm_t aligned; /* the tactic's, for addresses as they usually are */
  tenon__cublas_algorithm_t anyhow;  /* for addresses of elements, wherever they stand */
  tenon__cublas_factor_t scale;
  tenon__cublas_factor_t residual;
  tenon__cublas_factor_t one;
  bool sums_nothing;
  const void* packed[TENON_CUBLAS_OPERANDS]; /* NULL: what the call gives */
} tenon__cublas_bound_t;

#endif
