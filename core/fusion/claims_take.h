/* Makes groups of the claims that are taken. */
#ifndef TENON_CORE_FUSION_CLAIMS_TAKE_H_
#define TENON_CORE_FUSION_CLAIMS_TAKE_H_

#include "core/fusion/grouping.h"

/* Makes groups of claims whose classes are taken, in the classes' order of precedence. A claim
 * whose nodes are taken already, or whose step would depend on itself, is skipped. Cannot fail. */
void tenon__claims_take(grouping_t* grouping);

#endif
