/* Decides which of several candidates with one name is used, and refuses candidates whose required
 * plugins are not used. Called at the end of a scan, under the registry's mutex. */
#ifndef TENON_PLUGIN_REGISTRY_NAMES_H_
#define TENON_PLUGIN_REGISTRY_NAMES_H_

#include "plugin_registry/state.h"

/* Refuses candidates as SHADOWED or REQUIRES. A candidate that is loaded, or whose items an earlier
 * scan has declared, keeps its name. Of the others the newest version has the name; of equal
 * versions the first in `candidates`, which has the order of the search path. If it lacks a plugin
 * that it requires, the next one has the name. Returns false if memory is out. */
bool tenon__names_resolve(tenon__registry_t* registry, tenon__plugin_candidate_t* const* candidates,
                          size_t count);

#endif
