/* Expressions behind an operator that go into its kernel's slots. */
#ifndef TENON_CORE_FUSION_EPILOGUES_H_
#define TENON_CORE_FUSION_EPILOGUES_H_

#include "core/fusion/grouping.h"

/* Operators' epilogues: absorbs expression nodes behind each operator, as many as a kernel takes
 * and the alternatives permit. Longest first; a chain ends where more values are read by others
 * than kernels have slots for, where the space changes, or at 16 nodes. New ones are added to the
 * alternatives. */
tenon_status_t tenon__epilogues_make(grouping_t* grouping);

#endif
