/* Extents of inputs become symbols. Requirements and sizes are then checked, and static steps are
 * bound again. Nothing happens if no extent has changed. */
#include "core/context/propagate.h"

#include "core/base/status.h"
#include "core/context/context_state.h"
#include "core/dimension/dimension_text.h"
#include "core/frame/data_dependent.h"
#include "core/frame/requirements.h"
#include "core/plan/place.h"

static const tenon__graph_t* main_graph(const tenon__context_t* context) {
  return context->run.engine->plan->network->graphs[0];
}

/* Symbols that several inputs share, and constants, must agree. */
static tenon_status_t check_agreement(tenon__context_t* context, uint32_t input) {
  const tenon__graph_t* g = main_graph(context);
  const tenon__value_node_t* value = &g->values[g->inputs[input]];
  const tenon__dim_pool_t* pool = context->run.engine->plan->network->pool;
  const uint32_t rank = value->type.kind == TENON_ARGUMENT_TENSOR ? value->type.rank : 0;
  for (uint32_t d = 0; d < rank; ++d) {
    const int64_t given = context->run.input_dims[input][d];
    int64_t extent = 0;
    if (tenon__extents_get(&context->run.extents, value->type.dims[d], &extent) &&
        extent != given) {
      return tenon__fail(context->run.engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                         "input '%s': axis %u (%s) is %lld, but %lld elsewhere", value->name, d,
                         tenon__dim_text(pool, value->type.dims[d], &context->run.arena),
                         (long long)given, (long long)extent);
    }
  }
  return TENON_OK;
}

static tenon_status_t learn_inputs(tenon__context_t* context) {
  const tenon__graph_t* g = main_graph(context);
  bool changed = false;
  memset(context->run.extents.symbol_known, 0, context->run.extents.symbol_count);
  for (uint32_t k = 0; k < g->input_count; ++k) {
    const tenon__value_node_t* value = &g->values[g->inputs[k]];
    const tenon_status_t status =
        value->type.kind != TENON_ARGUMENT_TENSOR
            ? TENON_OK
            : tenon__run_learn_shape(&context->run, 0, g->inputs[k], value->type.rank,
                                     context->run.input_dims[k], &changed);
    if (status != TENON_OK) {
      return status;
    }
  }
  tenon__extents_update(&context->run.extents);
  for (uint32_t k = 0; k < g->input_count; ++k) {
    TENON_TRY(check_agreement(context, k));
  }
  for (uint32_t f = 0; f < context->run.engine->plan->schedule_count; ++f) {
    context->run.frames[f].is_bound = false;
  }
  return TENON_OK;
}

/* Does what this run puts into the arena fit where the plan put it? */
static tenon_status_t check_sizes(tenon__context_t* context) {
  const tenon__plan_t* plan = context->run.engine->plan;
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    for (uint32_t p = 0; p < plan->schedules[g].place_count; ++p) {
      const tenon__place_t* place = &plan->schedules[g].places[p];
      uint64_t bytes = 0;
      if (place->storage == TENON_STORAGE_ARENA &&
          tenon__place_bytes(plan->network, g, place, &context->run.extents, &bytes) &&
          bytes > place->size_bytes) {
        return tenon__fail(context->run.engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                           "value '%s' needs %llu bytes for these inputs, the plan has %llu; "
                           "build with a wider profile",
                           plan->network->graphs[g]->values[place->value].name,
                           (unsigned long long)bytes, (unsigned long long)place->size_bytes);
      }
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__context_propagate_shapes(tenon__context_t* context) {
  if (!context->shapes_changed) {
    return TENON_OK;
  }
  TENON_TRY(learn_inputs(context));
  tenon_status_t status = tenon__frame_check(&context->run.frames[0]);
  if (status == TENON_OK) {
    status = check_sizes(context);
  }
  context->shapes_changed = status != TENON_OK;
  return status;
}
