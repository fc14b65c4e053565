/*
 * Checks of branches. Passes may turn a condition into a constant, and an extent into a number. So a
 * build checks again after them, and a branch that was valid may become invalid.
 */
#ifndef TENON_CORE_NETWORK_JUDGE_H_
#define TENON_CORE_NETWORK_JUDGE_H_

#include "core/network/network.h"

/* Checks the branches with the present knowledge. A branch is invalid if it breaks its operators'
 * rules, or certainly takes an invalid branch. Invalid branches, and graphs that are not bodies any
 * more, are emptied. Inner graphs are checked before their enclosing graphs. Dead graphs are only
 * emptied. A second call without a change finds nothing. If the invalid graph is no branch, no run
 * could succeed, and the error's own status and message are returned. OUT_OF_MEMORY and INTERNAL
 * are returned at once. */
tenon_status_t tenon__network_judge(tenon__network_t* network, const tenon_sink_t* sink);
/* Sends a warning for each branch that cannot run and may be taken. Branches that are certainly not
 * taken get no warning. */
void tenon__network_warn_of_faults(const tenon__network_t* network, const tenon_sink_t* sink);

#endif
