/* Runs: expressions that read one another and become one program. */
#ifndef TENON_CORE_CHOICE_RUNS_H_
#define TENON_CORE_CHOICE_RUNS_H_

#include "core/choice/grouping.h"

/* Runs of expressions. */
tenon_status_t tenon__runs_make(grouping_t* grouping);

#endif
