/* Proofs over all values that symbols may take: true is certain, false only means that no proof was
 * found. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_PROVE_H_
#define TENON_CORE_DIMENSION_DIMENSION_PROVE_H_

#include "core/dimension/dimension.h"
#include "core/dimension/dimension_sum.h"

/* a <= b for all values of the symbols? False also when it cannot be told. It looks at the
 * difference as a sum of terms: ranges alone cannot see that n <= 2*n for n >= 0. */
bool tenon__dim_never_above(const tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);

/* For sums that are being calculated with and are no nodes yet. */
bool tenon__sum_never_negative(const tenon__dim_pool_t* pool, const tenon__sum_t* sum);

#endif
