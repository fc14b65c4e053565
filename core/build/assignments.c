#include "core/build/assignments.h"

#include <string.h>

#include "core/base/status.h"
#include "core/plan/report.h"

static bool has_node(const tenon__network_t* network, const char* name) {
  bool is_there = false;
  for (uint32_t g = 0; g < network->graph_count && !is_there; ++g) {
    const uint32_t count = tenon__graph_alive(network, g) ? network->graphs[g]->node_count : 0;
    for (uint32_t k = 0; k < count; ++k) {
      const tenon__node_t* node = &network->graphs[g]->nodes[k];
      is_there = is_there || (node->alive && strcmp(node->name, name) == 0);
    }
  }
  return is_there;
}

/* "npu" is the first of the build's devices of that name, "npu:1" the one of that number. */
static tenon_status_t find_device(tenon__building_t* b, const char* text, uint32_t* out_device) {
  const tenon__plan_t* plan = b->plan;
  const char* all = "";
  for (uint32_t d = 0; d < plan->device_count; ++d) {
    const char* full = tenon__plan_device_text(plan, d, &b->plan->arena);
    TENON_TRY_MEMORY(full != NULL);
    if (strcmp(text, full) == 0 || strcmp(text, plan->devices[d].name) == 0) {
      *out_device = d;
      return TENON_OK;
    }
    all = tenon__arena_format(&b->plan->arena, "%s%s%s", all, d == 0 ? "" : ", ", full);
    TENON_TRY_MEMORY(all != NULL);
  }
  return tenon__fail(b->options->sink, TENON_ERROR_NOT_FOUND,
                     "the build is not for device '%s'; it is for: %s", text, all);
}

static tenon_status_t assign(tenon__building_t* b, const char* line,
                             tenon__assignment_t* out_assignment) {
  const char* equals = strrchr(line, '=');
  if (equals == NULL || equals == line || equals[1] == '\0') {
    return tenon__fail(b->options->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "'%s' assigns no node to a device; write \"NODE=DEVICE\"", line);
  }
  out_assignment->node = tenon__arena_copy_text(&b->plan->arena, line, (size_t)(equals - line));
  TENON_TRY_MEMORY(out_assignment->node != NULL);
  if (!has_node(b->plan->network, out_assignment->node)) {
    return tenon__fail(b->options->sink, TENON_ERROR_NOT_FOUND,
                       "there is no node '%s' to assign to '%s': the optimised network has none of "
                       "that name",
                       out_assignment->node, equals + 1);
  }
  return find_device(b, equals + 1, &out_assignment->device);
}

tenon_status_t tenon__building_assign_nodes(tenon__building_t* b) {
  const char* const* lines = b->options->node_devices;
  uint32_t count = 0;
  while (lines != NULL && lines[count] != NULL) {
    ++count;
  }
  tenon__assignment_t* assignments =
      tenon__arena_allocate(&b->plan->arena, count + 1u, sizeof *assignments);
  TENON_TRY_MEMORY(assignments != NULL);
  for (uint32_t k = 0; k < count; ++k) {
    TENON_TRY(assign(b, lines[k], &assignments[k]));
  }
  b->tuning.assignments = assignments;
  b->tuning.assignment_count = count;
  return TENON_OK;
}
