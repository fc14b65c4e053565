/* The units of a covering that write and that read a value. */
#ifndef TENON_CORE_LAYOUT_READERS_H_
#define TENON_CORE_LAYOUT_READERS_H_

#include "core/base/lists.h"
#include "core/fusion/unit.h"

/* Lists for each value of the graph the units that read it, once for each use, in their order, in
 * the arena. Units that use only its contents are not listed. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__units_readers(const tenon__graph_t* graph, const tenon__units_t* units,
                                    tenon__arena_t* arena, tenon__lists_t* out_readers);
/* Finds for each value of the graph the region unit that writes it, or TENON_NONE; in the arena.
 * Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__units_makers(const tenon__graph_t* graph, const tenon__units_t* units,
                                   tenon__arena_t* arena, uint32_t** out_maker_of);

#endif
