/* Why the other coverings were not chosen, for the report. */
#ifndef TENON_CORE_CHOICE_EXPLAIN_H_
#define TENON_CORE_CHOICE_EXPLAIN_H_

#include "core/choice/coverings.h"

/* Adds, to the units' notes, which alternatives were not taken and why. Nothing where the build
 * keeps no refusals. Lines name kernels and both times. OUT_OF_MEMORY only. */
tenon_status_t tenon__covering_explain(grouping_t* grouping, const covering_t* covering);

#endif
