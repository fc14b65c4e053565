/* The devices of the registry's plugins, a sentence for each: what works, and why the others do
 * not. */
#ifndef TOOL_SESSION_DEVICES_H_
#define TOOL_SESSION_DEVICES_H_

#include <stdbool.h>

#include "tenon/tenon.h"

/* Opens each of them. `tell` gets a sentence without a line's end. Returns whether any works. */
bool tool_devices_tell(tenon_registry_t* registry, void (*tell)(const char* sentence));

#endif
