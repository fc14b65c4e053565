/* The units of a covering that make and that read a value. */
#ifndef TENON_CORE_LAYOUT_READERS_H_
#define TENON_CORE_LAYOUT_READERS_H_

#include "core/base/lists.h"
#include "core/fusion/unit.h"

/* For each value of the graph the units that read it, as often as they do, in their order; in the
 * arena. Contents are no readers. OUT_OF_MEMORY only. */
tenon_status_t tenon__units_readers(const tenon__graph_t* graph, const tenon__units_t* units,
                                    tenon__arena_t* arena, tenon__lists_t* out_readers);
/* For each value of the graph the unit that is a region and makes it, or TENON_NONE; in the arena.
 * OUT_OF_MEMORY only. */
tenon_status_t tenon__units_makers(const tenon__graph_t* graph, const tenon__units_t* units,
                                   tenon__arena_t* arena, uint32_t** out_maker_of);

#endif
