/* Evaluation of dimensions for values of symbols. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_EVALUATE_H_
#define TENON_CORE_DIMENSION_DIMENSION_EVALUATE_H_

#include "core/dimension/dimension.h"

/* Computes the values of all dimensions from those of the symbols. `symbol_values[i]` is used if
 * symbol_known[i] != 0; a symbol whose range is one number always has that number. out_values and
 * out_known have tenon__dim_pool_count entries. A dimension is unknown if it depends on an unknown
 * symbol, divides by zero or overflows. Allocates nothing; one pass, linear in the pool. The
 * runtime calls it when extents become known. */
void tenon__dim_pool_evaluate(const tenon__dim_pool_t* pool, const int64_t* symbol_values,
                              const uint8_t* symbol_known, int64_t* out_values, uint8_t* out_known);
/* One point of an iteration space. `values` and `known` are results of tenon__dim_pool_evaluate
 * (known NULL: only constants are known). `element` returns an integer element of the node's input;
 * NULL: elements are unknown. */
typedef struct tenon__dim_point_t {
  const int64_t* values;
  const uint8_t* known;
  const int64_t* coordinates;
  uint32_t coordinate_count;
  bool (*element)(void* user, uint32_t input, const int64_t* coordinates, uint32_t count,
                  int64_t* out_value);
  void* user;
} tenon__dim_point_t;
/* Evaluates one expression at a point. Allocates nothing. Returns false if it is unknown, or needs
 * more than 100000 steps, because plans are untrusted. */
bool tenon__dim_value_at(const tenon__dim_pool_t* pool, tenon_dim_t dim,
                         const tenon__dim_point_t* point, int64_t* out_value);
/* tenon__dim_affine in numbers: dim = base + sum(coefficients[j] * coordinate j), for j below the
 * point's coordinate_count (at most 64). The point's coordinates and elements are not used. Only
 * one factor of a product may vary. Allocates nothing. If it returns false, outputs are invalid. */
bool tenon__dim_affine_at(const tenon__dim_pool_t* pool, tenon_dim_t dim,
                          const tenon__dim_point_t* point, int64_t* out_base,
                          int64_t* out_coefficients);

#endif
