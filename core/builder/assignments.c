/* Names of nodes and values in the options, looked up in the network: devices of nodes, values that
 * keep their types, and the reasons for the report. */
#include "core/builder/assignments.h"

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
                             tenon__assignment_t* out_assignment, bool* out_is_there) {
  const char* equals = strrchr(line, '=');
  if (equals == NULL || equals == line || equals[1] == '\0') {
    return tenon__fail(b->options->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "'%s' assigns no node to a device; write \"NODE=DEVICE\"", line);
  }
  out_assignment->node = tenon__arena_copy_text(&b->plan->arena, line, (size_t)(equals - line));
  TENON_TRY_MEMORY(out_assignment->node != NULL);
  *out_is_there = has_node(b->plan->network, out_assignment->node);
  if (!*out_is_there && b->options->names_may_lack) {
    return TENON_OK;
  }
  if (!*out_is_there) {
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
    bool is_there = false;
    TENON_TRY(assign(b, lines[k], &assignments[b->tuning.assignment_count], &is_there));
    b->tuning.assignment_count += is_there ? 1 : 0;
  }
  b->tuning.assignments = assignments;
  return TENON_OK;
}

/* All values of that name: bodies of one operator may have names in common. */
static bool keep(const tenon__network_t* network, const char* name, uint8_t* const* marks) {
  bool is_there = false;
  for (uint32_t g = 0; g < network->graph_count; ++g) {
    const uint32_t count = tenon__graph_alive(network, g) ? network->graphs[g]->value_count : 0;
    for (uint32_t v = 0; v < count; ++v) {
      const tenon__value_node_t* value = &network->graphs[g]->values[v];
      if (value->alive && strcmp(value->name, name) == 0) {
        marks[g][v] = 1;
        is_there = true;
      }
    }
  }
  return is_there;
}

tenon_status_t tenon__building_keep_types(tenon__building_t* b) {
  const tenon__network_t* network = b->plan->network;
  tenon__arena_t* arena = &b->plan->arena;
  if (b->options->kept == NULL || b->options->kept[0] == NULL) {
    return TENON_OK;
  }
  uint8_t** marks = tenon__arena_allocate(arena, network->graph_count + 1u, sizeof *marks);
  TENON_TRY_MEMORY(marks != NULL);
  for (uint32_t g = 0; g < network->graph_count; ++g) {
    const uint32_t count = tenon__graph_alive(network, g) ? network->graphs[g]->value_count : 0;
    marks[g] = tenon__arena_allocate(arena, count + 1u, 1);
    TENON_TRY_MEMORY(marks[g] != NULL);
  }
  for (const char* const* name = b->options->kept; *name != NULL; ++name) {
    if (!keep(network, *name, marks) && !b->options->names_may_lack) {
      return tenon__fail(b->options->sink, TENON_ERROR_NOT_FOUND,
                         "there is no value '%s' to keep in its type: the optimised network has "
                         "none of that name",
                         *name);
    }
  }
  b->tuning.kept = (const uint8_t* const*)marks;
  return TENON_OK;
}

static const char* why_kept(const tenon__build_options_t* options, const char* name) {
  for (uint32_t k = 0; options->kept[k] != NULL; ++k) {
    if (strcmp(options->kept[k], name) == 0) {
      return options->kept_why == NULL ? "the build was told so" : options->kept_why[k];
    }
  }
  return NULL;
}

static tenon_status_t explain_step(tenon__building_t* b, const tenon__graph_t* g,
                                   tenon__step_t* step) {
  const struct tenon_region_t* region = step->region;
  for (uint32_t k = 0; k < region->output_count; ++k) {
    const uint32_t value = region->outputs[k].value;
    const char* name = value == TENON_NONE ? NULL : g->values[value].name;
    const char* why = name == NULL ? NULL : why_kept(b->options, name);
    if (why != NULL) {
      step->refusals = tenon__arena_format(&b->plan->arena, "%stypes: '%s' stays as it is: %s\n",
                                           step->refusals == NULL ? "" : step->refusals, name, why);
      TENON_TRY_MEMORY(step->refusals != NULL);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__building_explain_types(tenon__building_t* b) {
  const tenon__plan_t* plan = b->plan;
  if (b->options->kept == NULL || !b->options->tuning.keep_refusals) {
    return TENON_OK;
  }
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    for (uint32_t k = 0; k < plan->schedules[g].step_count; ++k) {
      tenon__step_t* step = &plan->schedules[g].steps[k];
      TENON_TRY(step->kind == TENON_STEP_KERNEL ? explain_step(b, plan->network->graphs[g], step)
                                                : TENON_OK);
    }
  }
  return TENON_OK;
}
