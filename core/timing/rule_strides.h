/* Strides of an argument's rule. */
#ifndef TENON_CORE_TIMING_RULE_STRIDES_H_
#define TENON_CORE_TIMING_RULE_STRIDES_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Computes the strides, in elements, that a rule requires at the given extents. `followed` is the
 * view of the region's input to which FOLLOWS refers, or NULL. NULL, ROW_MAJOR and ANY, and FOLLOWS
 * without a contiguous tensor of the same rank, are row-major. EXACT is the layout's order, if
 * strides can express the layout. For example, dims [2, 3, 4] and order [0, 2, 1] give [12, 1, 3].
 * Returns false if strides alone cannot express the rule, or overflow. */
bool tenon__rule_strides(const tenon_argument_rule_t* rule, uint32_t rank, const int64_t* dims,
                         const tenon_tensor_view_t* followed, int64_t* out_strides);

#endif
