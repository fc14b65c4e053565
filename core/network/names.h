/* Names and numbers of values, shared by the files of this room. */
#ifndef TENON_CORE_NETWORK_NAMES_H_
#define TENON_CORE_NETWORK_NAMES_H_

#include "core/network/network.h"

/* `name`, or `name` with a suffix, which was not in the map before; in the network's arena. NULL
 * when memory is out. */
const char* tenon__name_unique(tenon__network_t* network, tenon__string_map_t* names,
                               const char* name);
/* A number for a value that may not be there yet (value TENON_NONE). */
tenon_status_t tenon__number_reserve(tenon__network_t* network, uint32_t graph, uint32_t value,
                                     uint32_t axis, uint32_t* out_number);

#endif
