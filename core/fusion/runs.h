/* Expression fusion (runs): connected expressions that become one program. */
#ifndef TENON_CORE_FUSION_RUNS_H_
#define TENON_CORE_FUSION_RUNS_H_

#include "core/fusion/grouping.h"

/* Merges each expression with the groups that it reads, backwards, if one program over one space
 * can express both, repeated work does not cost more than it saves, and no step would depend on
 * itself. Values with other readers stay outputs. At most GROUP_MOST_NODES nodes. */
tenon_status_t tenon__runs_make(grouping_t* grouping);

#endif
