/* Outputs that take over the memory of an input. */
#include "core/plan/in_place.h"

#include "core/dimension/dimension_pool.h"
#include "core/plan/place.h"
#include "core/tensor/layout.h"

/* Does axis d of the input run along axis d of the output, for all of them? */
static bool is_identity_access(const tenon__dim_pool_t* pool, const struct tenon_region_t* region,
                               uint32_t input, uint32_t output) {
  const tenon__region_input_t* in = &region->inputs[input];
  const tenon__region_output_t* out = &region->outputs[output];
  if (!in->aligned) {
    return !out->aligned;
  }
  uint32_t space_rank = 0;
  (void)tenon__region_space(region, in->space, &space_rank);
  if (in->access.rank != space_rank || (out->aligned && out->axis_count != space_rank)) {
    return false;
  }
  for (uint32_t d = 0; d < space_rank; ++d) {
    const uint32_t axis = out->aligned ? out->axes[d] : d;
    const tenon__dim_view_t coordinate = tenon__dim_get(pool, in->access.coordinates[d]);
    const tenon__symbol_t* symbol =
        coordinate.kind == TENON_DIM_SYMBOL ? tenon__symbol_get(pool, coordinate.index) : NULL;
    if (symbol == NULL || symbol->kind != TENON_SYMBOL_COORDINATE || symbol->a != axis) {
      return false;
    }
  }
  return true;
}

/* A state may become what it is to be where it lies. */
static bool are_of_one_state(const tenon__place_t* read, const tenon__place_t* update) {
  return read->storage == TENON_STORAGE_STATE && read->index == update->index &&
         (update->storage == TENON_STORAGE_NEXT || update->storage == TENON_STORAGE_STATE);
}

bool tenon__fits_in_place(const tenon__plan_t* plan, uint32_t graph, const tenon__step_t* step,
                          uint32_t input, uint32_t output) {
  const tenon__schedule_t* schedule = &plan->schedules[graph];
  const tenon__graph_t* g = plan->network->graphs[graph];
  const tenon__place_t* a = &schedule->places[step->inputs[input]];
  const tenon__place_t* b = &schedule->places[step->outputs[output]];
  const tenon__value_node_t* x = &g->values[a->value];
  const tenon__value_node_t* y = &g->values[b->value];
  const bool are_planned = a->storage == TENON_STORAGE_ARENA && b->storage == TENON_STORAGE_ARENA;
  return (are_planned || are_of_one_state(a, b)) && a->space == b->space &&
         tenon__dtype_bits(tenon__place_dtype(g, a)) ==
             tenon__dtype_bits(tenon__place_dtype(g, b)) &&
         tenon__type_same_shape(&x->type, &y->type) && a->size_bytes == b->size_bytes &&
         tenon__orders_equal(x->type.rank, a->order, b->order) &&
         is_identity_access(plan->network->pool, step->region, input, output);
}
