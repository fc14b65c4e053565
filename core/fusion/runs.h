/* Runs: expressions that read one another and become one program. */
#ifndef TENON_CORE_FUSION_RUNS_H_
#define TENON_CORE_FUSION_RUNS_H_

#include "core/fusion/grouping.h"

/* Each expression takes in the groups that it reads, backwards, where one program over one space
 * can say both, no work is repeated that costs more than it saves, and no step would wait for
 * itself. Values that others read too stay outputs. At most GROUP_MOST_NODES nodes. */
tenon_status_t tenon__runs_make(grouping_t* grouping);

#endif
