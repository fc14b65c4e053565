/* Lists of units by the values that they read, and the maker of each value, in one pass over the
 * units. */
#include "core/layout/readers.h"

#include <string.h>

#include "core/base/status.h"

static void visit_reads(const tenon__graph_t* graph, const tenon__units_t* units,
                        void (*visit)(tenon__lists_t*, uint32_t, uint32_t),
                        tenon__lists_t* readers) {
  for (uint32_t u = 0; u < units->count; ++u) {
    const tenon__unit_t* unit = &units->items[u];
    const tenon__node_t* node = &graph->nodes[unit->node];
    const bool is_region = unit->kind == TENON_UNIT_REGION;
    const uint32_t count = is_region                           ? unit->chosen.region->input_count
                           : unit->kind == TENON_UNIT_CONTENTS ? 0
                                                               : node->input_count;
    for (uint32_t k = 0; k < count; ++k) {
      const uint32_t value = is_region ? unit->chosen.region->inputs[k].value : node->inputs[k];
      if (value != TENON_NONE) {
        visit(readers, value, u);
      }
    }
  }
}

static void announce_read(tenon__lists_t* readers, uint32_t value, uint32_t unit) {
  (void)unit;
  tenon__lists_announce(readers, value);
}

static void add_read(tenon__lists_t* readers, uint32_t value, uint32_t unit) {
  tenon__lists_add(readers, value, unit);
}

tenon_status_t tenon__units_readers(const tenon__graph_t* graph, const tenon__units_t* units,
                                    tenon__arena_t* arena, tenon__lists_t* out_readers) {
  TENON_TRY_MEMORY(tenon__lists_begin(out_readers, graph->value_count, arena));
  visit_reads(graph, units, announce_read, out_readers);
  TENON_TRY_MEMORY(tenon__lists_lay_out(out_readers, arena));
  visit_reads(graph, units, add_read, out_readers);
  return TENON_OK;
}

tenon_status_t tenon__units_makers(const tenon__graph_t* graph, const tenon__units_t* units,
                                   tenon__arena_t* arena, uint32_t** out_maker_of) {
  const size_t count = graph->value_count + 1u;
  uint32_t* maker_of = tenon__arena_allocate(arena, count, sizeof *maker_of);
  TENON_TRY_MEMORY(maker_of != NULL);
  memset(maker_of, 0xff, count * sizeof *maker_of);
  for (uint32_t u = 0; u < units->count; ++u) {
    const tenon__unit_t* unit = &units->items[u];
    if (unit->kind == TENON_UNIT_REGION) {
      TENON_EACH_REGION_OUTPUT(k, unit->chosen.region) {
        maker_of[unit->chosen.region->outputs[k].value] = u;
      }
    }
  }
  *out_maker_of = maker_of;
  return TENON_OK;
}
