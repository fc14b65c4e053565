/* Which branches cannot run, by what is known now. */
#ifndef TENON_CORE_NETWORK_JUDGE_H_
#define TENON_CORE_NETWORK_JUDGE_H_

#include "core/network/network.h"

/* Judges the branches by what is known now: what breaks its operators' rules fails, as does what
 * certainly takes a branch that cannot run. Those that cannot run, and what is no body any more,
 * are emptied. */
tenon_status_t tenon__network_judge(tenon__network_t* network, const tenon_sink_t* sink);
/* A warning for each branch that cannot run and may be taken. */
void tenon__network_warn_of_faults(const tenon__network_t* network, const tenon_sink_t* sink);

#endif
