/*
 * Schedules of a plan from outside. Steps pass to kernels the values that their regions speak of;
 * bodies form a tree; memory of bodies and workspaces lies within what is allocated for them. Who
 * writes and reads it: memory_check.c.
 */
#include "core/plan_file/schedule_check.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/plan/place.h"
#include "core/plan_file/control_check.h"
#include "core/plan_file/memory_check.h"
#include "core/plan_file/place_check.h"
#include "core/region/region_finish.h"
#include "core/region/retype.h"
#include "core/tensor/layout.h"

#define ALIGNMENT_BYTES 64u
#define MOST_NESTING 64u

typedef struct checker_t {
  tenon__plan_t* plan;
  uint32_t graph_index;
  const tenon__graph_t* graph;
  tenon__schedule_t* schedule;
  const tenon_sink_t* sink;
  uint8_t* is_computed; /* nodes: seen by a kernel */
  uint32_t* parents;    /* for each graph of the network: whose body it is, TENON_NONE */
} checker_t;

static tenon_status_t broken(const checker_t* c, const tenon__step_t* step, const char* what) {
  return tenon__fail(c->sink, TENON_ERROR_INVALID_DATA, "the plan is broken: in '%s', step '%s' %s",
                     c->graph->name, step->name, what);
}

/* ---- Arguments ---- */

/* The place holds the value, or both are absent. */
static bool holds(const checker_t* c, uint32_t place, uint32_t value) {
  if (place == TENON_NONE || value == TENON_NONE) {
    return place == value;
  }
  return c->schedule->places[place].value == value;
}

/* Likewise, in the value's own type: control, contents, and the border of a graph. */
static bool holds_own(const checker_t* c, uint32_t place, uint32_t value) {
  return holds(c, place, value) &&
         (place == TENON_NONE || c->schedule->places[place].dtype == TENON_DTYPE_UNDEFINED);
}

/* ---- Kernels ---- */

/* In the type in which the region, or its tactic's rule, says that the kernel finds it. */
static bool dtype_fits(const checker_t* c, uint32_t place, tenon_dtype_t wanted) {
  return place == TENON_NONE || tenon__place_dtype(c->graph, &c->schedule->places[place]) == wanted;
}

static bool region_fits(const checker_t* c, const tenon__step_t* step) {
  const struct tenon_region_t* region = step->region;
  const tenon__step_tactic_t* tactic = &step->tactic;
  if (step->input_count != region->input_count || step->output_count != region->output_count) {
    return false;
  }
  for (uint32_t k = 0; k < step->input_count; ++k) {
    const tenon_argument_rule_t* rule = tenon__rule_at(tactic->input_rules, k);
    if (!holds(c, step->inputs[k], region->inputs[k].value) ||
        !dtype_fits(c, step->inputs[k], tenon__region_input_dtype(region, k, rule))) {
      return false;
    }
  }
  for (uint32_t k = 0; k < step->output_count; ++k) {
    const tenon_argument_rule_t* rule = tenon__rule_at(tactic->output_rules, k);
    if (!holds(c, step->outputs[k], region->outputs[k].value) ||
        !dtype_fits(c, step->outputs[k], tenon__region_output_dtype(region, k, rule))) {
      return false;
    }
  }
  return true;
}

/* What a step reads and writes lies in its device's memory, but for what a kernel reads on the
 * host. */
static bool lies_on(const checker_t* c, const tenon__step_t* step, uint32_t space) {
  const tenon_argument_rule_t* rules =
      step->kind == TENON_STEP_KERNEL ? step->tactic.input_rules : NULL;
  bool lies = true;
  for (uint32_t k = 0; k < step->input_count; ++k) {
    const uint32_t own = tenon__rule_is_host(tenon__rule_at(rules, k)) ? 0 : space;
    lies = lies &&
           (step->inputs[k] == TENON_NONE || c->schedule->places[step->inputs[k]].space == own);
  }
  for (uint32_t k = 0; k < step->output_count; ++k) {
    lies = lies &&
           (step->outputs[k] == TENON_NONE || c->schedule->places[step->outputs[k]].space == space);
  }
  return lies;
}

static bool part_fits(uint64_t offset, uint64_t size_bytes, uint64_t total_bytes) {
  return offset % ALIGNMENT_BYTES == 0 && offset <= total_bytes &&
         size_bytes <= total_bytes - offset;
}

static tenon_status_t check_kernel(const checker_t* c, const tenon__step_t* step) {
  const tenon__step_tactic_t* tactic = &step->tactic;
  const tenon__plan_device_t* device = &c->plan->devices[step->device];
  uint64_t scratch_bytes = 0;
  if (!region_fits(c, step)) {
    return broken(c, step, "has places for other arguments than its region's");
  }
  if (!tenon__tactic_scratch_bytes(tactic, c->plan->thread_count, &scratch_bytes) ||
      scratch_bytes > device->scratch_bytes ||
      !part_fits(step->zeroed_offset, tactic->zeroed_bytes, device->zeroed_bytes) ||
      !part_fits(step->persistent_offset, tactic->persistent_bytes, device->persistent_bytes)) {
    return broken(c, step, "needs more memory than there is");
  }
  for (uint32_t k = 0; k < step->region->node_count; ++k) {
    uint8_t* is_computed = &c->is_computed[step->region->nodes[k]];
    if (*is_computed != 0) {
      return broken(c, step, "computes what another step computes");
    }
    *is_computed = 1;
  }
  return TENON_OK;
}

/* ---- Contents ---- */

/* Whose contents are known: as many numbers as the tensor has elements. */
static bool contents_fit(const checker_t* c, uint32_t place) {
  const tenon__type_t* type = &c->graph->values[c->schedule->places[place].value].type;
  uint64_t count = 0;
  return type->dtype != TENON_DTYPE_STRING &&
         tenon__type_element_count(c->plan->network->pool, type, &count) &&
         count == type->content_count;
}

/* What shapes were made of is what the weights say. */
static bool weights_agree(const checker_t* c, const tenon__value_node_t* value) {
  const void* data =
      value->weights == TENON_NONE ? NULL : c->plan->network->weights[value->weights].data;
  if (data == NULL) {
    return true;
  }
  const tenon__type_t* type = &value->type;
  const tenon_dtype_t own = tenon__dtype_arithmetic(type->dtype);
  for (uint32_t k = 0; k < type->content_count; ++k) {
    int64_t known = 0;
    const tenon__scalar_t element = tenon__element_load(data, type->dtype, k);
    if (tenon__dim_known(c->plan->network->pool, type->contents[k], &known) &&
        tenon__scalar_cast(element, own, TENON_DTYPE_INT64).i != known) {
      return false;
    }
  }
  return true;
}

/* The run reads contents that shapes depend on, wherever they come from. */
static tenon_status_t check_all_contents(const checker_t* c) {
  for (uint32_t k = 0; k < c->schedule->place_count; ++k) {
    const tenon__value_node_t* value = &c->graph->values[c->schedule->places[k].value];
    if (value->type.contents != NULL && (!contents_fit(c, k) || !weights_agree(c, value))) {
      return tenon__fail(c->sink, TENON_ERROR_INVALID_DATA,
                         "the plan is broken: in '%s', '%s' has other elements than its contents "
                         "say",
                         c->graph->name, value->name);
    }
  }
  return TENON_OK;
}

static tenon_status_t check_contents(const checker_t* c, const tenon__step_t* step) {
  for (uint32_t k = 0; k < step->output_count; ++k) {
    const uint32_t place = step->outputs[k];
    if (place != TENON_NONE &&
        (c->graph->values[c->schedule->places[place].value].type.contents == NULL ||
         !contents_fit(c, place))) {
      return broken(c, step, "writes contents that are not known");
    }
  }
  return TENON_OK;
}

/* ---- Control ---- */

static uint32_t form_of(tenon__step_kind_t kind) {
  switch (kind) {
    case TENON_STEP_CHOOSE:
      return TENON_CONTROL_CHOOSE;
    case TENON_STEP_REPEAT:
      return TENON_CONTROL_REPEAT;
    case TENON_STEP_MAP:
      return TENON_CONTROL_MAP;
    case TENON_STEP_KERNEL:
    case TENON_STEP_CONTENTS:
    case TENON_STEP_COPY:
    default:
      return 0;
  }
}

static tenon_status_t check_control(const checker_t* c, const tenon__step_t* step) {
  const tenon__node_t* node = &c->graph->nodes[step->node];
  const uint32_t form = form_of(step->kind);
  /* Of an operator that is not here the plan says how it controls its bodies. */
  if (node->op == NULL || node->op->descriptor.control == NULL ||
      node->op->descriptor.control->form != form ||
      node->body_count != (form == TENON_CONTROL_CHOOSE ? 2u : 1u) ||
      node->input_count != step->input_count || node->output_count != step->output_count) {
    return broken(c, step, "is no such control node");
  }
  for (uint32_t k = 0; k < step->input_count; ++k) {
    if (!holds_own(c, step->inputs[k], node->inputs[k])) {
      return broken(c, step, "has places for other inputs than its node's");
    }
  }
  for (uint32_t k = 0; k < step->output_count; ++k) {
    if (!holds_own(c, step->outputs[k], node->outputs[k])) {
      return broken(c, step, "has places for other outputs than its node's");
    }
  }
  for (uint32_t k = 0; k < node->body_count; ++k) {
    const uint32_t body = node->bodies[k];
    if (body >= c->plan->schedule_count || body == 0 || c->parents[body] != TENON_NONE) {
      return broken(c, step, "has a body that is another's");
    }
    c->parents[body] = c->graph_index;
    for (uint32_t d = 0; d < c->plan->device_count; ++d) {
      if (!part_fits(step->body_offset[d], c->plan->schedules[body].memory_bytes[d],
                     c->schedule->memory_bytes[d])) {
        return broken(c, step, "has a body that does not fit into its memory");
      }
    }
  }
  return TENON_OK;
}

/* ---- Copies ---- */

/* A whole tensor, as it lies, between the host and the step's device. */
static tenon_status_t check_copy(const checker_t* c, const tenon__step_t* step) {
  if (step->device == 0 || step->input_count != 1 || step->output_count != 1 ||
      step->inputs[0] == TENON_NONE || step->outputs[0] == TENON_NONE) {
    return broken(c, step, "copies nothing");
  }
  const tenon__place_t* from = &c->schedule->places[step->inputs[0]];
  const tenon__place_t* to = &c->schedule->places[step->outputs[0]];
  const tenon__type_t* type = &c->graph->values[from->value].type;
  const bool crosses = (from->space == 0 && to->space == step->device) ||
                       (from->space == step->device && to->space == 0);
  const bool is_whole = from->storage != TENON_STORAGE_VIEW && from->storage != TENON_STORAGE_PART;
  return crosses && is_whole && from->value == to->value && from->dtype == to->dtype &&
                 tenon__type_is_plain(type) &&
                 tenon__orders_equal(type->rank, from->order, to->order)
             ? TENON_OK
             : broken(c, step, "copies what cannot be copied as it lies");
}

/* ---- One graph ---- */

static tenon_status_t check_ends(const checker_t* c) {
  const tenon__schedule_t* schedule = c->schedule;
  const tenon__storage_t wanted =
      c->graph_index == 0 ? TENON_STORAGE_INPUT : TENON_STORAGE_PARAMETER;
  bool fits = schedule->input_count == c->graph->input_count &&
              schedule->output_count == c->graph->output_count;
  for (uint32_t k = 0; fits && k < schedule->input_count; ++k) {
    const uint32_t place = schedule->inputs[k];
    fits = holds_own(c, place, c->graph->inputs[k]) && schedule->places[place].storage == wanted;
  }
  for (uint32_t k = 0; fits && k < schedule->output_count; ++k) {
    fits = holds_own(c, schedule->outputs[k], c->graph->outputs[k]) &&
           (c->graph_index != 0 || schedule->places[schedule->outputs[k]].space == 0);
  }
  return fits ? TENON_OK
              : tenon__fail(c->sink, TENON_ERROR_INVALID_DATA,
                            "the plan is broken: the inputs or outputs of '%s' have no places",
                            c->graph->name);
}

/* What is derived from a region for the profile. */
static tenon_status_t finish_regions(const checker_t* c) {
  for (uint32_t s = 0; s < c->schedule->step_count; ++s) {
    const tenon__step_t* step = &c->schedule->steps[s];
    if (step->kind == TENON_STEP_KERNEL) {
      struct tenon_region_t* region = (struct tenon_region_t*)step->region;
      TENON_TRY(tenon__region_finish(&c->plan->arena, &c->plan->profile, region));
    }
  }
  return TENON_OK;
}

static tenon_status_t check_step(const checker_t* c, const tenon__step_t* step) {
  if (step->kind == TENON_STEP_COPY) {
    return check_copy(c, step);
  }
  if ((!tenon__step_is_control(step) && !lies_on(c, step, step->device)) ||
      (step->kind != TENON_STEP_KERNEL && step->device != 0)) {
    return broken(c, step, "has places in the memory of another device");
  }
  switch (step->kind) {
    case TENON_STEP_KERNEL:
      return check_kernel(c, step);
    case TENON_STEP_CONTENTS:
      return check_contents(c, step);
    case TENON_STEP_CHOOSE:
    case TENON_STEP_REPEAT:
    case TENON_STEP_MAP:
    default:
      return check_control(c, step);
  }
}

static tenon_status_t check_graph(checker_t* c, tenon__arena_t* scratch) {
  c->is_computed = tenon__arena_allocate(scratch, c->graph->node_count, 1);
  TENON_TRY_MEMORY(c->is_computed != NULL);
  TENON_TRY(tenon__places_check(c->plan, c->graph_index, scratch, c->sink));
  TENON_TRY(check_all_contents(c));
  for (uint32_t s = 0; s < c->schedule->step_count; ++s) {
    TENON_TRY(check_step(c, &c->schedule->steps[s]));
  }
  TENON_TRY(check_ends(c));
  TENON_TRY(tenon__memory_check(c->plan, c->graph_index, scratch, c->sink));
  return finish_regions(c);
}

/* ---- All ---- */

static tenon_status_t check_nesting(const checker_t* c) {
  for (uint32_t g = 0; g < c->plan->schedule_count; ++g) {
    uint32_t depth = 0;
    for (uint32_t at = g; at != TENON_NONE; at = c->parents[at]) {
      if (++depth > MOST_NESTING) {
        return tenon__fail(c->sink, TENON_ERROR_INVALID_DATA,
                           "the plan is broken: bodies are nested more than %u deep, or in one "
                           "another",
                           MOST_NESTING);
      }
    }
  }
  return TENON_OK;
}

static bool same_extents(uint32_t rank, const int64_t* dims, uint32_t other_rank,
                         const int64_t* other_dims) {
  bool same = rank == other_rank;
  for (uint32_t k = 0; same && k < rank; ++k) {
    same = dims[k] == other_dims[k];
  }
  return same;
}

static bool is_like_state(const checker_t* c, uint32_t value, const tenon__state_node_t* state) {
  const tenon__value_node_t* v = &c->plan->network->graphs[0]->values[value];
  return v->alive && tenon__type_is_tensor_of(c->plan->network->pool, &v->type, state->dtype,
                                              state->rank, state->dims);
}

static bool begins_well(const tenon__network_t* network, const tenon__state_node_t* state) {
  const tenon__weights_t* initial =
      state->initial < network->weights_count ? &network->weights[state->initial] : NULL;
  return state->initial == TENON_NONE ||
         (initial != NULL && initial->data != NULL && initial->dtype == state->dtype &&
          same_extents(state->rank, state->dims, initial->rank, initial->dims));
}

static tenon_status_t check_states(const checker_t* c) {
  const tenon__network_t* network = c->plan->network;
  for (uint32_t k = 0; k < network->state_count; ++k) {
    const tenon__state_node_t* state = &network->states[k];
    const char* fault =
        !begins_well(network, state)         ? "begins with values that are not there"
        : state->dtype == TENON_DTYPE_STRING ? "is of strings"
        : !is_like_state(c, state->read, state) ||
                (state->update != TENON_NONE && !is_like_state(c, state->update, state))
            ? "is of another type than a value that reads or updates it"
            : NULL;
    if (fault != NULL) {
      return tenon__fail(c->sink, TENON_ERROR_INVALID_DATA, "the plan is broken: state '%s' %s",
                         state->name, fault);
    }
  }
  return TENON_OK;
}

static tenon_status_t check_all(checker_t* c, tenon__arena_t* scratch) {
  tenon__plan_t* plan = c->plan;
  c->parents = tenon__arena_allocate(scratch, plan->schedule_count, sizeof *c->parents);
  TENON_TRY_MEMORY(c->parents != NULL);
  TENON_TRY(check_states(c));
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    c->parents[g] = TENON_NONE;
  }
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    if (!tenon__graph_alive(plan->network, g)) {
      continue;
    }
    c->graph_index = g;
    c->graph = plan->network->graphs[g];
    c->schedule = &plan->schedules[g];
    TENON_TRY(check_graph(c, scratch));
  }
  TENON_TRY(check_nesting(c));
  TENON_TRY(tenon__control_check(plan, c->sink));
  return tenon__workspaces_check(plan, c->sink);
}

tenon_status_t tenon__schedules_check(tenon__plan_t* plan, const tenon_sink_t* sink) {
  tenon__arena_t scratch;
  tenon__arena_initialize(&scratch, plan->allocator);
  checker_t c = {.plan = plan, .sink = sink};
  const tenon_status_t status = check_all(&c, &scratch);
  tenon__arena_deinitialize(&scratch);
  return status;
}
