/* What a rule for an argument means in strides. */
#ifndef TENON_CORE_TIMING_RULE_STRIDES_H_
#define TENON_CORE_TIMING_RULE_STRIDES_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Strides that a rule asks for, at the given extents; `followed`: the view of the region's input
 * that FOLLOWS refers to, or NULL. False: the rule cannot be met by strides alone. In elements.
 * NULL, ROW_MAJOR and ANY, and FOLLOWS without a dense tensor of the same rank to follow, are rows;
 * EXACT is the layout's order, if strides say everything of it. For dims [2, 3, 4] the order [0, 2,
 * 1] gives [12, 1, 3]. Overflow: false. */
bool tenon__rule_strides(const tenon_argument_rule_t* rule, uint32_t rank, const int64_t* dims,
                         const tenon_tensor_view_t* followed, int64_t* out_strides);

#endif
