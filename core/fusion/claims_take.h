/* Turns the claims that are taken into groups. */
#ifndef TENON_CORE_FUSION_CLAIMS_TAKE_H_
#define TENON_CORE_FUSION_CLAIMS_TAKE_H_

#include "core/fusion/grouping.h"

/* Makes groups of those whose classes are taken. In the classes' order of precedence; a claim whose
 * nodes are taken already, or whose step would wait for itself, is passed over. Cannot fail. */
void tenon__claims_take(grouping_t* grouping);

#endif
