/* Finds claims: several operators' nodes that one kernel would compute at once. */
#ifndef TENON_CORE_FUSION_CLAIMS_H_
#define TENON_CORE_FUSION_CLAIMS_H_

#include "core/fusion/grouping.h"

/* Finds all claims. After each operator has a group. By pattern, by proposal of a kernel's
 * function, or by name where an operator with an expression has a kernel of its own. At most 4096
 * in a graph, with a warning beyond. A pattern that does not parse was reported and is passed over.
 */
tenon_status_t tenon__claims_find(grouping_t* grouping);

#endif
