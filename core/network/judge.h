/*
 * The branches that cannot run, by the facts that are known. Passes learn more as they go: a
 * condition becomes a constant, an extent a number. So a build judges again after them, and a branch
 * that was sound may be found to break its rules.
 */
#ifndef TENON_CORE_NETWORK_JUDGE_H_
#define TENON_CORE_NETWORK_JUDGE_H_

#include "core/network/network.h"

/* Judges the branches by what is known now: what breaks its operators' rules fails, as does what
 * certainly takes a branch that cannot run. Those that cannot run, and what is no body any more,
 * are emptied. Inner graphs are judged before those that they lie in. Fails where what cannot run
 * is no branch: then no run could succeed; the fault's own status and words are given.
 * OUT_OF_MEMORY and INTERNAL are no fault of a branch and end it at once. Dead graphs are skipped
 * but emptied; running it again without a change finds nothing new. */
tenon_status_t tenon__network_judge(tenon__network_t* network, const tenon_sink_t* sink);
/* A warning for each branch that cannot run and may be taken. What is certainly not taken goes
 * without a word. */
void tenon__network_warn_of_faults(const tenon__network_t* network, const tenon_sink_t* sink);

#endif
