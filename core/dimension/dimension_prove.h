/* Proofs for all values of symbols: true is certain, false means that no proof was found. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_PROVE_H_
#define TENON_CORE_DIMENSION_DIMENSION_PROVE_H_

#include "core/dimension/dimension.h"
#include "core/dimension/dimension_sum.h"

/* Returns true if a <= b for all values of the symbols; false if not, or if undecided. It examines
 * the difference as a sum of terms, because ranges alone cannot show that n <= 2*n for n >= 0. */
bool tenon__dim_never_above(const tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);

/* Same for intermediate sums that are no nodes yet. */
bool tenon__sum_never_negative(const tenon__dim_pool_t* pool, const tenon__sum_t* sum);

#endif
