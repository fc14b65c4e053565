/* Expressions before an operator that go into its kernel's slots. */
#ifndef TENON_CORE_FUSION_PROLOGUES_H_
#define TENON_CORE_FUSION_PROLOGUES_H_

#include "core/fusion/grouping.h"

/* Operators' prologues, input by input: absorbs expression nodes that lead to the input and to
 * nothing else, as many as a kernel takes and the alternatives permit. Longest first; a chain ends
 * where a value is read by others too, where it is not read at the point itself, at a reduction, or
 * at 16 nodes. Comes after the epilogues, which have what stands between two operators. New ones
 * are added to the alternatives. */
tenon_status_t tenon__prologues_make(grouping_t* grouping);

#endif
