/* Places at their bound: at first all that could be, then without those that a step cannot make or
 * read so, until every step agrees. */
#include "core/plan/bounded.h"

#include "core/dimension/dimension_pool.h"
#include "core/plan/place.h"
#include "core/tensor/layout.h"

typedef struct bounding_t {
  const tenon__plan_t* plan;
  uint32_t graph;
  const tenon__graph_t* g;
  const tenon__dim_pool_t* pool;
  tenon__schedule_t* schedule;
} bounding_t;

static const tenon__type_t* type_of(const bounding_t* b, uint32_t place) {
  return &b->g->values[b->schedule->places[place].value].type;
}

/* ---- Extents ---- */

bool tenon__dim_has_bound(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon_dim_t* out_bound) {
  const tenon__dim_view_t view = tenon__dim_get(pool, dim);
  const tenon__symbol_t* symbol =
      view.kind == TENON_DIM_SYMBOL ? tenon__symbol_get(pool, view.index) : NULL;
  if (symbol == NULL || symbol->kind != TENON_SYMBOL_EXTENT || symbol->bound.id == TENON_NONE ||
      tenon__dims_are_dynamic(pool, 1, &symbol->bound)) {
    return false;
  }
  *out_bound = symbol->bound;
  return true;
}

/* Known at the bounds: each extent is known before the run, or has a bound. */
static bool are_bounded(const bounding_t* b, uint32_t rank, const tenon_dim_t* dims) {
  bool bounded = true;
  for (uint32_t d = 0; d < rank && bounded; ++d) {
    tenon_dim_t bound;
    int64_t most = 0;
    bounded = tenon__extents_bound(&b->plan->profile.max, dims[d], &most) &&
              (!tenon__dims_are_dynamic(b->pool, 1, &dims[d]) ||
               tenon__dim_has_bound(b->pool, dims[d], &bound));
  }
  return bounded;
}

/* ---- Places ---- */

static bool is_base(const bounding_t* b, uint32_t place) {
  for (uint32_t p = 0; p < b->schedule->place_count; ++p) {
    const tenon__place_t* other = &b->schedule->places[p];
    if ((other->storage == TENON_STORAGE_VIEW || other->storage == TENON_STORAGE_PART) &&
        other->base == place) {
      return true;
    }
  }
  return false;
}

/* Numbers of which shapes are made are the host's to look at. */
static bool could_be(const bounding_t* b, uint32_t place) {
  const tenon__place_t* p = &b->schedule->places[place];
  const tenon__type_t* type = type_of(b, place);
  return p->storage == TENON_STORAGE_GROWING && p->is_dynamic && p->space != 0 &&
         p->order == NULL && p->dtype == TENON_DTYPE_UNDEFINED && tenon__type_is_plain(type) &&
         type->contents == NULL && are_bounded(b, type->rank, type->dims) && !is_base(b, place);
}

static uint32_t count_writers(const bounding_t* b, uint32_t place) {
  uint32_t count = 0;
  for (uint32_t s = 0; s < b->schedule->step_count; ++s) {
    const tenon__step_t* step = &b->schedule->steps[s];
    for (uint32_t k = 0; k < step->output_count; ++k) {
      count += step->outputs[k] == place ? 1u : 0u;
    }
  }
  return count;
}

static bool is_dynamic(const bounding_t* b, uint32_t place) {
  return place != TENON_NONE && b->schedule->places[place].is_dynamic;
}

static bool is_at_bound(const bounding_t* b, uint32_t place) {
  return place != TENON_NONE && b->schedule->places[place].at_bound;
}

/* ---- Steps ---- */

static bool takes_extents(const tenon_argument_rule_t* rules, uint32_t k) {
  return rules != NULL && (rules[k].flags & TENON_RULE_EXTENTS) != 0;
}

/* Is axis d of the argument axis d of the space, so that its extents are the space's? */
static bool is_whole_input(const bounding_t* b, const struct tenon_region_t* region, uint32_t k) {
  const tenon__region_input_t* in = &region->inputs[k];
  uint32_t rank = 0;
  if (!in->aligned) {
    return true;
  }
  (void)tenon__region_space(region, in->space, &rank);
  bool is_whole = in->access.rank == rank;
  for (uint32_t d = 0; d < rank && is_whole; ++d) {
    const tenon__dim_view_t at = tenon__dim_get(b->pool, in->access.coordinates[d]);
    const tenon__symbol_t* symbol =
        at.kind == TENON_DIM_SYMBOL ? tenon__symbol_get(b->pool, at.index) : NULL;
    is_whole = symbol != NULL && symbol->kind == TENON_SYMBOL_COORDINATE && symbol->a == d;
  }
  return is_whole;
}

/* Does `coordinate` walk along an axis of the space whose extent only the run finds? */
static bool walks_found(const bounding_t* b, tenon_dim_t coordinate, const tenon_dim_t* space,
                        uint32_t rank) {
  const uint64_t axes = tenon__dim_coordinate_axes(b->pool, coordinate);
  bool walks = false;
  for (uint32_t axis = 0; axis < rank && !walks; ++axis) {
    walks = (axes >> axis & 1) != 0 && tenon__dims_are_dynamic(b->pool, 1, &space[axis]);
  }
  return walks;
}

/* Are all found extents of the space extents of the input too? An input that only has to be as long
 * as what is found is shorter than the bound. */
static bool reaches_bound(const bounding_t* b, const tenon__step_t* step, uint32_t k) {
  const tenon__region_input_t* in = &step->region->inputs[k];
  uint32_t rank = 0;
  if (step->inputs[k] == TENON_NONE || !in->aligned) {
    return true;
  }
  const tenon_dim_t* space = tenon__region_space(step->region, in->space, &rank);
  const tenon__type_t* type = type_of(b, step->inputs[k]);
  bool reaches = true;
  for (uint32_t d = 0; d < in->access.rank && reaches; ++d) {
    const tenon_dim_t at = in->access.coordinates[d];
    if (walks_found(b, at, space, rank)) {
      const tenon__dim_view_t view = tenon__dim_get(b->pool, at);
      reaches = view.kind == TENON_DIM_SYMBOL && type->rank == in->access.rank &&
                type->dims[d].id == space[tenon__symbol_get(b->pool, view.index)->a].id;
    }
  }
  return reaches;
}

static bool is_whole_output(const struct tenon_region_t* region, uint32_t k) {
  const tenon__region_output_t* out = &region->outputs[k];
  uint32_t rank = 0;
  if (!out->aligned) {
    return true;
  }
  (void)tenon__region_space(region, TENON_SPACE_PROGRAM, &rank);
  bool is_whole = out->axis_count == rank;
  for (uint32_t d = 0; d < rank && is_whole; ++d) {
    is_whole = out->axes[d] == d;
  }
  return is_whole;
}

static bool space_is_bounded(const bounding_t* b, const tenon__expression_t* expression) {
  return are_bounded(b, expression->program.rank, expression->space);
}

static bool region_is_bounded(const bounding_t* b, const struct tenon_region_t* region) {
  bool bounded = (region->expression == NULL || space_is_bounded(b, region->expression)) &&
                 (region->map == NULL || !tenon__map_is_dynamic(b->pool, region->map));
  for (uint32_t k = 0; k < region->slot_count && bounded; ++k) {
    bounded = space_is_bounded(b, &region->slots[k].expression);
  }
  for (uint32_t k = 0; k < region->input_count && bounded; ++k) {
    const tenon__access_t* access = &region->inputs[k].access;
    bounded = !region->inputs[k].aligned ||
              !tenon__dims_are_dynamic(b->pool, access->rank, access->coordinates);
  }
  return bounded;
}

/* Of the extents of an output: does the kernel find it, or is it that of an input at its bound? */
static bool can_tell(const bounding_t* b, const tenon__step_t* step, tenon_dim_t dim) {
  const tenon__network_t* network = b->plan->network;
  uint32_t graph = 0;
  uint32_t value = 0;
  uint32_t axis = 0;
  if (!tenon__dims_are_dynamic(b->pool, 1, &dim)) {
    return true;
  }
  const tenon__symbol_t* symbol = tenon__symbol_get(b->pool, tenon__dim_get(b->pool, dim).index);
  const bool has_source = tenon__symbol_source(network, symbol, &graph, &value, &axis);
  for (uint32_t k = 0; k < step->output_count; ++k) {
    if (has_source && graph == b->graph && step->outputs[k] != TENON_NONE &&
        b->schedule->places[step->outputs[k]].value == value) {
      return true;
    }
  }
  for (uint32_t k = 0; k < step->input_count; ++k) {
    const tenon__type_t* type =
        is_at_bound(b, step->inputs[k]) ? type_of(b, step->inputs[k]) : NULL;
    const uint32_t rank = type == NULL ? 0 : type->rank;
    for (uint32_t d = 0; d < rank; ++d) {
      if (type->dims[d].id == dim.id) {
        return true;
      }
    }
  }
  return false;
}

static bool can_tell_all(const bounding_t* b, const tenon__step_t* step, uint32_t place) {
  const tenon__type_t* type = type_of(b, place);
  bool can = true;
  for (uint32_t d = 0; d < type->rank && can; ++d) {
    can = can_tell(b, step, type->dims[d]);
  }
  return can;
}

/* Can it be bound at the bounds of what is found, and called before the host knows that? */
static bool fits(const bounding_t* b, const tenon__step_t* step) {
  bool any = false;
  bool fits = step->kind == TENON_STEP_KERNEL && step->device != 0 && step->region != NULL &&
              step->input_count == step->region->input_count &&
              step->output_count == step->region->output_count;
  fits = fits && region_is_bounded(b, step->region);
  for (uint32_t k = 0; k < step->input_count && fits; ++k) {
    any = any || is_at_bound(b, step->inputs[k]);
    fits = reaches_bound(b, step, k) &&
           (!is_dynamic(b, step->inputs[k]) ||
            (is_at_bound(b, step->inputs[k]) && takes_extents(step->tactic.input_rules, k) &&
             is_whole_input(b, step->region, k)));
  }
  for (uint32_t k = 0; k < step->output_count && fits; ++k) {
    any = any || is_at_bound(b, step->outputs[k]);
    fits = !is_dynamic(b, step->outputs[k]) ||
           (is_at_bound(b, step->outputs[k]) && takes_extents(step->tactic.output_rules, k) &&
            is_whole_output(step->region, k) && can_tell_all(b, step, step->outputs[k]));
  }
  return fits && any;
}

/* Once the host knows its extents it is a tensor with the strides of its bound: rows where nothing
 * but the first extent was found. */
static bool is_readable(const bounding_t* b, const tenon__step_t* step, uint32_t k) {
  const tenon__type_t* type = type_of(b, step->inputs[k]);
  if (step->kind != TENON_STEP_KERNEL || step->region == NULL || k >= step->region->input_count) {
    return step->kind == TENON_STEP_COPY;
  }
  const tenon_argument_rule_t* rules = step->tactic.input_rules;
  return type->rank == 0 || step->region->inputs[k].aligned ||
         tenon__rule_is_strided(tenon__rule_at(rules, k)) ||
         !tenon__dims_are_dynamic(b->pool, type->rank - 1, type->dims + 1);
}

/* Takes out what the step cannot make or read; true when that was something. */
static bool take_out(const bounding_t* b, const tenon__step_t* step) {
  bool changed = false;
  if (fits(b, step)) {
    return false;
  }
  for (uint32_t k = 0; k < step->output_count; ++k) {
    if (is_at_bound(b, step->outputs[k])) {
      b->schedule->places[step->outputs[k]].at_bound = false;
      changed = true;
    }
  }
  for (uint32_t k = 0; k < step->input_count; ++k) {
    if (is_at_bound(b, step->inputs[k]) && !is_readable(b, step, k)) {
      b->schedule->places[step->inputs[k]].at_bound = false;
      changed = true;
    }
  }
  return changed;
}

/* ---- A whole schedule ---- */

void tenon__schedule_bound(const tenon__plan_t* plan, uint32_t graph,
                           tenon__schedule_t* inout_schedule) {
  const bounding_t b = {.plan = plan,
                        .graph = graph,
                        .g = plan->network->graphs[graph],
                        .pool = plan->network->pool,
                        .schedule = inout_schedule};
  bool changed = false;
  for (uint32_t p = 0; p < inout_schedule->place_count; ++p) {
    inout_schedule->places[p].at_bound = could_be(&b, p) && count_writers(&b, p) == 1;
    changed = changed || inout_schedule->places[p].at_bound;
  }
  while (changed) { /* from behind: what a step cannot read concerns those before it */
    changed = false;
    for (uint32_t s = inout_schedule->step_count; s-- > 0;) {
      changed = take_out(&b, &inout_schedule->steps[s]) || changed;
    }
  }
  for (uint32_t s = 0; s < inout_schedule->step_count; ++s) {
    tenon__step_t* step = &inout_schedule->steps[s];
    step->at_bound = fits(&b, step);
    step->is_dynamic = step->is_dynamic && !step->at_bound;
  }
  for (uint32_t p = 0; p < inout_schedule->place_count; ++p) {
    tenon__place_t* place = &inout_schedule->places[p];
    place->storage = place->at_bound ? TENON_STORAGE_ARENA : place->storage;
  }
}

uint64_t tenon__plan_extent_words(const tenon__plan_t* plan, uint32_t device) {
  uint64_t words = 0;
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    for (uint32_t p = 0; p < plan->schedules[g].place_count; ++p) {
      const tenon__place_t* place = &plan->schedules[g].places[p];
      words += place->at_bound && place->space == device
                   ? plan->network->graphs[g]->values[place->value].type.rank
                   : 0;
    }
  }
  return words;
}
