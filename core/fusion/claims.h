/* Finds claims (multi-node matches): several operators' nodes that one kernel can compute at
 * once. */
#ifndef TENON_CORE_FUSION_CLAIMS_H_
#define TENON_CORE_FUSION_CLAIMS_H_

#include "core/fusion/grouping.h"

/* Finds all claims, after each operator has a group: by pattern, by proposal of a kernel's
 * function, or by name if an operator with an expression has its own kernel. At most 4096 in a
 * graph, with a warning beyond. Patterns that do not parse have been reported and are skipped. */
tenon_status_t tenon__claims_find(grouping_t* grouping);

#endif
