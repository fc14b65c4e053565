/* Expressions after an operator that are fused into its kernel's slots. */
#ifndef TENON_CORE_FUSION_EPILOGUES_H_
#define TENON_CORE_FUSION_EPILOGUES_H_

#include "core/fusion/grouping.h"

/* Makes epilogues: fuses expression nodes after each operator, as many as a kernel accepts and the
 * alternatives permit, longest first. A chain ends if more values have other readers than kernels
 * have slots, if the space changes, or at 16 nodes. New epilogues are added to the alternatives. */
tenon_status_t tenon__epilogues_make(grouping_t* grouping);

#endif
