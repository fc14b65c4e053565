/* Reasons for rejected coverings, for the report. */
#ifndef TENON_CORE_CHOICE_EXPLAIN_H_
#define TENON_CORE_CHOICE_EXPLAIN_H_

#include "core/choice/coverings.h"

/* Adds to the units' notes one line for each alternative that was not taken, with its kernels and
 * both times. Does nothing if the build keeps no refusals. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__covering_explain(grouping_t* grouping, const covering_t* covering);

#endif
