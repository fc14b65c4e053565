/* Questions about the policy of a build, texts for its report, and the order of candidates. */
#include "core/timing/tuning.h"

#include <string.h>

#include "core/base/file.h"
#include "core/catalog/exclude.h"

void tenon__tuning_begin(tenon__tuning_t* tuning) {
  tenon__string_map_initialize(&tuning->known, tuning->allocator);
  tenon__string_map_initialize(&tuning->expected, tuning->allocator);
}

void tenon__tuning_end(tenon__tuning_t* tuning) {
  tenon__string_map_deinitialize(&tuning->known);
  tenon__string_map_deinitialize(&tuning->expected);
}

/* Does the build's policy leave the kernel out? */
bool tenon__tuning_excludes(const tenon__tuning_t* tuning, const tenon__kernel_entry_t* entry) {
  return tenon__is_excluded(tuning->options.exclude, entry->owner->plugin, entry->kernel.name) ||
         (tuning->options.reference_only && (entry->kernel.flags & TENON_KERNEL_REFERENCE) == 0);
}

bool tenon__tuning_may_measure(const tenon__tuning_t* tuning) {
  return !tuning->options.no_measuring &&
         (tuning->deadline <= 0 || tenon__seconds() <= tuning->deadline);
}

bool tenon__candidates_consider(const tenon__tuning_t* tuning, const tenon__kernel_entry_t* entry) {
  bool runs = tuning->device_count == 1 && tenon__tuning_runs_on(tuning, entry, 0);
  for (uint32_t d = 1; d < tuning->device_count && !runs; ++d) {
    runs = tenon__tuning_runs_on(tuning, entry, d);
  }
  return runs && !tenon__tuning_excludes(tuning, entry);
}

tenon__memory_t tenon__tuning_memory(const tenon__tuning_t* tuning, uint32_t device) {
  return device == 0 ? tenon__memory_host(tuning->allocator)
                     : (tenon__memory_t){tuning->allocator, &tuning->devices[device],
                                         tuning->streams[device]};
}

bool tenon__tuning_runs_on(const tenon__tuning_t* tuning, const tenon__kernel_entry_t* entry,
                           uint32_t device) {
  return entry->kernel.device == NULL ||
         strcmp(entry->kernel.device, tuning->devices[device].source.descriptor->name) == 0;
}

bool tenon__tuning_runs_somewhere(const tenon__tuning_t* tuning,
                                  const tenon__kernel_entry_t* entry) {
  bool runs = false;
  for (uint32_t d = 0; d < tuning->device_count && !runs; ++d) {
    runs = tenon__tuning_runs_on(tuning, entry, d);
  }
  return runs;
}

tenon__kernel_binding_t tenon__tuning_binding(const tenon__tuning_t* tuning,
                                              const struct tenon_region_t* region,
                                              const tenon__kernel_entry_t* entry) {
  return (tenon__kernel_binding_t){.kernel = &entry->kernel,
                                   .state = entry->owner->state,
                                   .plugin = entry->owner->plugin,
                                   .known = tenon__known_values_of(entry->owner->built),
                                   .device = &tuning->devices[region->device]};
}

const char* tenon__region_text(const tenon__tuning_t* tuning, const struct tenon_region_t* region) {
  const tenon__graph_t* g = region->network->graphs[region->graph];
  const char* name = "a copy";
  if (region->covered_count > 0) {
    const tenon__node_t* node = &g->nodes[region->covered[0]];
    name = tenon__arena_format(tuning->arena, "node '%s' (%s)", node->name,
                               node->op == NULL ? "expression" : node->op->name);
  }
  return name == NULL ? "a node" : name;
}

uint32_t tenon__permitted_types(uint32_t permits,
                                tenon_dtype_t out_types[TENON_NARROW_TYPE_LIMIT]) {
  uint32_t count = 0;
  if ((permits & TENON__PERMIT_BF16) != 0) {
    out_types[count++] = TENON_DTYPE_BFLOAT16;
  }
  if ((permits & TENON__PERMIT_F16) != 0) {
    out_types[count++] = TENON_DTYPE_FLOAT16;
  }
  return count;
}

const char* tenon__time_text(const tenon__tuning_t* tuning, tenon__time_t time) {
  switch (time.figure) {
    case TENON_FIGURE_MEASURED:
      return tenon__arena_format(tuning->arena, "measured %.4g us", time.seconds * 1e6);
    case TENON_FIGURE_ESTIMATED:
      return tenon__arena_format(tuning->arena, "estimated %.4g us", time.seconds * 1e6);
    case TENON_FIGURE_NONE:
    default:
      return "neither measured nor estimated";
  }
}

/* Insertion keeps the order of equals: catalogue order, so that what has no figure is chosen the
 * same each time. */
void tenon__candidates_sort(tenon__candidate_t* items, uint32_t count) {
  for (uint32_t k = 1; k < count; ++k) {
    const tenon__candidate_t item = items[k];
    uint32_t at = k;
    while (at > 0 && tenon__time_compare(items[at - 1].time, item.time) > 0) {
      items[at] = items[at - 1];
      --at;
    }
    items[at] = item;
  }
}
