/* The devices of the registry's plugins, a sentence for each: what works, and why the others do
 * not. */
#ifndef TOOL_SESSION_DEVICES_H_
#define TOOL_SESSION_DEVICES_H_

#include <stdbool.h>

#include "tenon/tenon.h"

/* Opens each of them. `tell` gets a sentence without a line's end. Returns whether any works. */
bool tool_devices_tell(tenon_registry_t* registry, void (*tell)(const char* sentence));

/* The devices of a plan as the build named them, or "cpu" if all of its steps run on the host. */
const char* tool_devices_used(const tenon_engine_t* engine, const tenon_engine_info_t* info);

#endif
