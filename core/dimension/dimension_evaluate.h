/* Dimensions as numbers, once symbols have values. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_EVALUATE_H_
#define TENON_CORE_DIMENSION_DIMENSION_EVALUATE_H_

#include "core/dimension/dimension.h"

/* Values of all dimensions from those of the symbols. `symbol_values[i]` counts when
 * symbol_known[i] != 0; a symbol whose range is one number is that number in any case. out_values
 * and out_known have tenon__dim_pool_count entries; what depends on an unknown symbol, divides by
 * zero or overflows is unknown. Allocates nothing. One pass, linear in the pool: the runtime calls
 * it when it has learned extents. */
void tenon__dim_pool_evaluate(const tenon__dim_pool_t* pool, const int64_t* symbol_values,
                              const uint8_t* symbol_known, int64_t* out_values, uint8_t* out_known);
/* One expression at one point of an iteration space. `values` and `known` as
 * tenon__dim_pool_evaluate leaves them (known NULL: only constants count). `element` gives an
 * integer element of the node's input, NULL: elements are unknown. Allocates nothing. */
typedef struct tenon__dim_point_t {
  const int64_t* values;
  const uint8_t* known;
  const int64_t* coordinates;
  uint32_t coordinate_count;
  bool (*element)(void* user, uint32_t input, const int64_t* coordinates, uint32_t count,
                  int64_t* out_value);
  void* user;
} tenon__dim_point_t;
/* False when it is not known, or walks beyond 100000 steps: a plan may come from anybody. */
bool tenon__dim_value_at(const tenon__dim_pool_t* pool, tenon_dim_t dim,
                         const tenon__dim_point_t* point, int64_t* out_value);
/* tenon__dim_affine in numbers: dim = base + sum(coefficients[j] * coordinate j), j below the
 * point's coordinate_count (at most 64), whose coordinates and elements are not asked for.
 * Allocates nothing. A product may vary in one factor alone. What is written is void when it is
 * false. */
bool tenon__dim_affine_at(const tenon__dim_pool_t* pool, tenon_dim_t dim,
                          const tenon__dim_point_t* point, int64_t* out_base,
                          int64_t* out_coefficients);

#endif
