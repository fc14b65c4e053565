/* Finds claims: several operators' nodes that one kernel would compute at once. */
#ifndef TENON_CORE_CHOICE_CLAIMS_H_
#define TENON_CORE_CHOICE_CLAIMS_H_

#include "core/choice/grouping.h"

/* Finds all claims. After each operator has a group. */
tenon_status_t tenon__claims_find(grouping_t* grouping);

#endif
