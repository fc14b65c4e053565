/* Expressions before an operator that are fused into its kernel's slots. */
#ifndef TENON_CORE_FUSION_PROLOGUES_H_
#define TENON_CORE_FUSION_PROLOGUES_H_

#include "core/fusion/grouping.h"

/* Makes prologues, input by input: fuses expression nodes whose results are used only by the input,
 * as many as a kernel accepts and the alternatives permit, longest first. A chain ends at a value
 * with other readers, at a value that is not read element-wise, at a reduction, or at 16 nodes.
 * Called after the epilogues, which get expressions between two operators. New prologues are added
 * to the alternatives. */
tenon_status_t tenon__prologues_make(grouping_t* grouping);

#endif
