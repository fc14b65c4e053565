/* A device for each node: an assignment of the application, else the first device with a kernel for
 * it, else the host. Views and moves follow their sources and readers. */
#include "core/fusion/devices.h"

#include <string.h>

#include "core/base/status.h"
#include "core/candidate/candidates.h"
#include "core/fusion/units.h"
#include "core/region/region_finish.h"

/* Is everything that the node reads and makes plain numbers, and none of it what shapes wait for?
 * The reference, by which others are judged, is the host's. */
static bool may_leave_host(const grouping_t* grouping, const tenon__node_t* node) {
  bool may = node->body_count == 0 && !grouping->tuning->options.reference_only &&
             !tenon__node_is_contents(grouping->tuning->network, grouping->g, node);
  TENON_EACH_INPUT(k, node) {
    may = may && tenon__type_is_plain(&grouping->g->values[node->inputs[k]].type);
  }
  TENON_EACH_OUTPUT(k, node) {
    const uint32_t value = node->outputs[k];
    may = may && tenon__type_is_plain(&grouping->g->values[value].type) && !grouping->sizing[value];
  }
  return may;
}

static bool is_view(const grouping_t* grouping, const tenon__node_t* node) {
  bool is_view = node->maps != NULL;
  TENON_EACH_OUTPUT(k, node) {
    is_view = is_view && tenon__index_map_is_view(grouping->tuning->network->pool, &node->maps[k]);
  }
  return is_view;
}

/* ---- Who can ---- */

static tenon_status_t ask(grouping_t* grouping, struct tenon_region_t* region, uint32_t device,
                          bool* out_takes) {
  const tenon__candidates_t* found = NULL;
  region->device = device;
  TENON_TRY(tenon__region_finish(grouping->arena, grouping->tuning->profile, region));
  if (grouping->expects) {
    return tenon__candidates_expect(grouping->tuning, region);
  }
  TENON_TRY(tenon__candidates_find(grouping->tuning, region, NULL, &found));
  *out_takes = found->count > 0;
  return TENON_OK;
}

static tenon_status_t ask_about_move(grouping_t* grouping, uint32_t node, uint32_t device,
                                     bool* out_takes) {
  const tenon__node_t* n = &grouping->g->nodes[node];
  *out_takes = true;
  TENON_EACH_OUTPUT(k, n) {
    struct tenon_region_t region;
    bool takes = true;
    if (grouping->needed[n->outputs[k]]) {
      TENON_TRY(tenon__region_of_move(grouping->arena, grouping->tuning->network, grouping->graph,
                                      node, k, &region));
      TENON_TRY(ask(grouping, &region, device, &takes));
    }
    *out_takes = *out_takes && takes;
  }
  return TENON_OK;
}

/* Alone: what it becomes together with others is asked when that is chosen. */
static tenon_status_t ask_about(grouping_t* grouping, uint32_t node, uint32_t device,
                                bool* out_takes) {
  const tenon__node_t* n = &grouping->g->nodes[node];
  const bool is_box = n->maps != NULL && n->maps[0].kind != TENON_MAP_GENERAL;
  const tenon__expression_t* expression = NULL;
  uint32_t values[GROUP_MOST_NODES];
  struct tenon_region_t* region = tenon__arena_allocate(grouping->arena, 1, sizeof *region);
  TENON_TRY_MEMORY(region != NULL);
  *out_takes = false;
  if (is_box) {
    return ask_about_move(grouping, node, device, out_takes);
  }
  if (n->expression == NULL && n->maps == NULL) {
    TENON_TRY(tenon__region_of_node(grouping->arena, grouping->tuning->network, grouping->graph,
                                    node, region));
    return ask(grouping, region, device, out_takes);
  }
  TENON_TRY(tenon__grouping_expression(grouping, node, &expression));
  if (expression == NULL || tenon__node_values(n, values) > GROUP_MOST_NODES) {
    return TENON_OK;
  }
  TENON_TRY(tenon__units_expression_region(grouping, expression, values, &node, 1, &region));
  return ask(grouping, region, device, out_takes);
}

/* A kernel that names the operator computes the node as it is, with all of its inputs. */
static bool can_be_named(const grouping_t* grouping, const tenon__node_t* node) {
  bool can = node->op != NULL && (node->expression != NULL || node->maps != NULL);
  TENON_EACH_INPUT(k, node) {
    can = can && grouping->needed[node->inputs[k]];
  }
  return can;
}

/* Of an operator with an expression or a map that no kernel on the device computes. */
static tenon_status_t ask_by_name(grouping_t* grouping, uint32_t node, uint32_t device) {
  struct tenon_region_t region;
  if (!can_be_named(grouping, &grouping->g->nodes[node])) {
    return TENON_OK;
  }
  TENON_TRY(tenon__region_of_node(grouping->arena, grouping->tuning->network, grouping->graph, node,
                                  &region));
  return ask(grouping, &region, device, &grouping->by_name[node]);
}

static tenon_status_t ask_on(grouping_t* grouping, uint32_t node, uint32_t device,
                             bool* out_takes) {
  TENON_TRY(ask_about(grouping, node, device, out_takes));
  if (!*out_takes) {
    TENON_TRY(ask_by_name(grouping, node, device));
    *out_takes = grouping->by_name[node];
  }
  return TENON_OK;
}

/* TENON_NONE: wherever it can be. */
static uint32_t assigned_device(const tenon__tuning_t* tuning, const tenon__node_t* node) {
  for (uint32_t k = 0; k < tuning->assignment_count; ++k) {
    if (strcmp(tuning->assignments[k].node, node->name) == 0) {
      return tuning->assignments[k].device;
    }
  }
  return TENON_NONE;
}

static tenon_status_t place_assigned(grouping_t* grouping, uint32_t node, uint32_t device) {
  const tenon__node_t* n = &grouping->g->nodes[node];
  bool takes = device == 0; /* what the host lacks is told of all nodes alike */
  grouping->device_of[node] = device;
  if (device != 0 && may_leave_host(grouping, n)) {
    TENON_TRY(ask_on(grouping, node, device, &takes));
  }
  return takes ? TENON_OK
               : tenon__fail(grouping->tuning->sink, TENON_ERROR_UNSUPPORTED,
                             "node '%s' is assigned to device '%s:%u', which has no kernel for it",
                             n->name, grouping->tuning->devices[device].source.descriptor->name,
                             grouping->tuning->devices[device].source.index);
}

static tenon_status_t place_node(grouping_t* grouping, uint32_t node) {
  const uint32_t assigned = assigned_device(grouping->tuning, &grouping->g->nodes[node]);
  bool takes = false;
  grouping->device_of[node] = 0;
  if (assigned != TENON_NONE) {
    return place_assigned(grouping, node, assigned);
  }
  if (!may_leave_host(grouping, &grouping->g->nodes[node])) {
    return TENON_OK;
  }
  for (uint32_t d = 1; d < grouping->tuning->device_count && !takes; ++d) {
    TENON_TRY(ask_on(grouping, node, d, &takes));
    grouping->device_of[node] = takes ? d : 0;
  }
  return TENON_OK;
}

/* ---- Views ---- */

/* Where the first reader that is no view works; TENON_NONE if there is no such reader. A reader on
 * another device than the host is preferred. */
static uint32_t reader_device(const grouping_t* grouping, uint32_t value, uint32_t depth) {
  enum { MOST_DEPTH = 16 };
  const uint32_t* users = tenon__lists_get(&grouping->uses, value);
  uint32_t device = TENON_NONE;
  for (uint32_t k = 0; k < tenon__lists_count(&grouping->uses, value); ++k) {
    const tenon__node_t* user = &grouping->g->nodes[users[k]];
    uint32_t own = TENON_NONE;
    if (!is_view(grouping, user)) {
      own = grouping->device_of[users[k]];
    } else if (depth >= MOST_DEPTH) {
      own = 0;
    } else if (user->outputs[0] != TENON_NONE) {
      own = reader_device(grouping, user->outputs[0], depth + 1);
    }
    device = device == TENON_NONE || (device == 0 && own != TENON_NONE) ? own : device;
  }
  return device;
}

/* A view of an input that no kernel reads is an output, and one step moves it there. The first
 * device that can do so does, for an application that has the tensors there. */
static tenon_status_t place_moved(grouping_t* grouping, uint32_t node, uint32_t* out_device) {
  bool takes = false;
  *out_device = 0;
  for (uint32_t d = 1; d < grouping->tuning->device_count && !takes; ++d) {
    TENON_TRY(ask_about_move(grouping, node, d, &takes));
    *out_device = takes ? d : 0;
  }
  return TENON_OK;
}

/* A view is stored where its source is. If the source is an input, or an output of a body, the view
 * is stored where it is read. */
static tenon_status_t place_view(grouping_t* grouping, uint32_t node) {
  const tenon__node_t* n = &grouping->g->nodes[node];
  const uint32_t source = n->inputs[n->maps[0].sources[0].input];
  const uint32_t producer = grouping->g->values[source].producer;
  const bool is_given = producer == TENON_NONE || grouping->g->nodes[producer].body_count > 0;
  uint32_t device = 0;
  if (may_leave_host(grouping, n) && !is_given) {
    device = grouping->device_of[producer];
  } else if (may_leave_host(grouping, n) && n->outputs[0] != TENON_NONE) {
    device = reader_device(grouping, n->outputs[0], 0);
    if (device == TENON_NONE && grouping->graph == 0 && producer == TENON_NONE) {
      TENON_TRY(place_moved(grouping, node, &device));
    }
  }
  grouping->device_of[node] = device == TENON_NONE ? 0 : device;
  return TENON_OK;
}

static bool is_placed_by_asking(const grouping_t* grouping, uint32_t node) {
  const tenon__node_t* n = &grouping->g->nodes[node];
  return tenon__grouping_is_needed(grouping, n) && !is_view(grouping, n);
}

/* What takes long for any node is begun before the first is waited for. */
static tenon_status_t expect_nodes(grouping_t* grouping) {
  tenon_status_t status = TENON_OK;
  grouping->expects = true;
  for (uint32_t p = 0; p < grouping->order_count && status == TENON_OK; ++p) {
    const uint32_t node = grouping->order[p];
    const tenon__node_t* n = &grouping->g->nodes[node];
    bool takes = false;
    if (is_placed_by_asking(grouping, node) && may_leave_host(grouping, n) &&
        assigned_device(grouping->tuning, n) == TENON_NONE) {
      status = ask_about(grouping, node, 1, &takes);
    }
  }
  grouping->expects = false;
  return status;
}

tenon_status_t tenon__grouping_place_nodes(grouping_t* grouping) {
  const uint32_t count = grouping->tuning->device_count > 1 ? grouping->order_count : 0;
  if (count > 0 && tenon__tuning_may_measure(grouping->tuning)) {
    TENON_TRY(expect_nodes(grouping));
  }
  for (uint32_t p = 0; p < count; ++p) {
    const bool is_made = is_placed_by_asking(grouping, grouping->order[p]);
    TENON_TRY(is_made ? place_node(grouping, grouping->order[p]) : TENON_OK);
  }
  for (uint32_t p = 0; p < count; ++p) {
    const tenon__node_t* node = &grouping->g->nodes[grouping->order[p]];
    if (tenon__grouping_is_needed(grouping, node) && is_view(grouping, node)) {
      TENON_TRY(place_view(grouping, grouping->order[p]));
    }
    TENON_EACH_OUTPUT(k, node) {
      grouping->conversions.device_of[node->outputs[k]] = grouping->device_of[grouping->order[p]];
    }
  }
  return TENON_OK;
}
