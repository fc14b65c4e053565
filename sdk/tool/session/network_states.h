/* Inputs that stay in the context (--state): states of the network, as the library makes them. */
#ifndef TOOL_SESSION_NETWORK_STATES_H_
#define TOOL_SESSION_NETWORK_STATES_H_

#include "tenon/tenon.h"
#include "text/options.h"

/* What the texts INPUT=OUTPUT say (the last '=' divides); one * in each stands for the same text,
 * in all inputs that it fits. A misuse for another form, and where no input fits; the library's
 * status, with its words, where an input and an output do not go together. */
tenon_status_t tool_network_make_states(tenon_network_t* network, const tool_list_t* texts);

#endif
