/* Extents that only a run finds: of values that the graph's own steps make, and numbers that views
 * of values show. A value may have taken the place of another whose extents nobody knew: symbols
 * that were made for those follow from its shape. */
#include "core/base/status.h"
#include "core/runtime/frame.h"

static bool is_found_in(const tenon__network_t* network, uint32_t graph, uint32_t symbol) {
  const tenon__symbol_t* s = tenon__symbol_get(network->pool, symbol);
  if (s->kind != TENON_SYMBOL_EXTENT || s->a >= network->number_count) {
    return false;
  }
  const tenon__number_t* number = &network->numbers[s->a];
  /* A parameter's extents come from outside, before the steps run. */
  return number->graph == graph && number->value != TENON_NONE &&
         (network->graphs[graph]->values[number->value].flags & TENON_VALUE_IS_INPUT) == 0;
}

static bool is_sizing_view(const tenon__frame_t* frame, uint32_t place) {
  const tenon__engine_t* engine = frame->context->engine;
  const tenon__value_node_t* value =
      &engine->plan->network->graphs[frame->graph]->values[frame->schedule->places[place].value];
  return frame->schedule->places[place].storage == TENON_STORAGE_VIEW &&
         value->number != TENON_NONE && value->contents != NULL &&
         engine->reads_contents[value->number] != 0;
}

static tenon_status_t list_views(tenon__frame_t* frame) {
  const uint32_t place_count = frame->schedule->place_count;
  uint32_t count = 0;
  for (uint32_t p = 0; p < place_count; ++p) {
    count += is_sizing_view(frame, p) ? 1 : 0;
  }
  frame->sizing = tenon__arena_allocate(&frame->context->arena, count + 1u, sizeof *frame->sizing);
  if (frame->sizing == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t p = 0; p < place_count; ++p) {
    if (is_sizing_view(frame, p)) {
      frame->sizing[frame->sizing_count++] = p;
    }
  }
  return TENON_OK;
}

static bool is_output_of(const tenon__frame_t* frame, const tenon__step_t* step, uint32_t graph,
                         uint32_t value) {
  for (uint32_t k = 0; graph == frame->graph && k < step->output_count; ++k) {
    if (step->outputs[k] != TENON_NONE &&
        frame->schedule->places[step->outputs[k]].value == value) {
      return true;
    }
  }
  return false;
}

/* Is everything unknown in the dimension an extent of an output of the step? */
static bool is_found_by(const tenon__frame_t* frame, const tenon__step_t* step, tenon_dim_t dim) {
  const tenon__network_t* network = frame->context->engine->plan->network;
  int64_t extent = 0;
  if (tenon__extents_get(&frame->context->extents, dim, &extent)) {
    return true;
  }
  const tenon__dim_view_t view = tenon__dim_get(network->pool, dim);
  if (view.kind == TENON_DIM_SYMBOL) {
    const tenon__symbol_t* symbol = tenon__symbol_get(network->pool, view.index);
    uint32_t graph = 0;
    uint32_t value = 0;
    uint32_t axis = 0;
    return symbol->kind == TENON_SYMBOL_EXTENT &&
           tenon__symbol_source(network, symbol, &graph, &value, &axis) &&
           is_output_of(frame, step, graph, value);
  }
  bool is_open = false; /* else the expression has no value: a division by zero */
  for (uint32_t k = 0; k < view.operand_count; ++k) {
    is_open = is_open || !tenon__extents_get(&frame->context->extents, view.operands[k], &extent);
    if (!is_found_by(frame, step, view.operands[k])) {
      return false;
    }
  }
  return is_open;
}

bool tenon__frame_finds(const tenon__frame_t* frame, const tenon__step_t* step,
                        const tenon__value_node_t* value) {
  bool found = true;
  for (uint32_t d = 0; found && value->rank != TENON_NONE && d < value->rank; ++d) {
    found = is_found_by(frame, step, value->dims[d]);
  }
  return found;
}

/* Does the found symbol stand for an extent that the value's shape says otherwise? */
static bool follows(const tenon__frame_t* frame, uint32_t symbol,
                    tenon__following_t* out_following) {
  const tenon__network_t* network = frame->context->engine->plan->network;
  uint32_t graph = 0;
  uint32_t value = 0;
  uint32_t axis = 0;
  if (!tenon__symbol_source(network, tenon__symbol_get(network->pool, symbol), &graph, &value,
                            &axis)) {
    return false;
  }
  const tenon__value_node_t* node = &network->graphs[graph]->values[value];
  if (!node->alive || node->rank == TENON_NONE || axis >= node->rank) {
    return false;
  }
  const tenon__dim_view_t dim = tenon__dim_get(network->pool, node->dims[axis]);
  *out_following = (tenon__following_t){symbol, value, node->dims[axis]};
  return dim.kind != TENON_DIM_SYMBOL || dim.index != symbol;
}

static tenon_status_t list_following(tenon__frame_t* frame) {
  tenon__following_t following;
  uint32_t count = 0;
  for (uint32_t k = 0; k < frame->found_count; ++k) {
    count += follows(frame, frame->found[k], &following) ? 1 : 0;
  }
  frame->following =
      tenon__arena_allocate(&frame->context->arena, count + 1u, sizeof *frame->following);
  if (frame->following == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < frame->found_count; ++k) {
    if (follows(frame, frame->found[k], &following)) {
      frame->following[frame->following_count++] = following;
    }
  }
  return TENON_OK;
}

void tenon__frame_follow(tenon__frame_t* frame, uint32_t value, bool* inout_changed) {
  tenon__extents_t* extents = &frame->context->extents;
  for (uint32_t k = 0; k < frame->following_count; ++k) {
    const tenon__following_t* following = &frame->following[k];
    int64_t extent = 0;
    if (following->value == value && tenon__extents_get(extents, following->dim, &extent)) {
      tenon__extents_set(extents, following->symbol, extent);
      *inout_changed = true;
    }
  }
}

tenon_status_t tenon__frame_list_found(tenon__frame_t* frame) {
  const tenon__network_t* network = frame->context->engine->plan->network;
  const uint32_t symbol_count = tenon__symbol_count(network->pool);
  uint32_t count = 0;
  for (uint32_t k = 0; k < symbol_count; ++k) {
    count += is_found_in(network, frame->graph, k) ? 1 : 0;
  }
  frame->found = tenon__arena_allocate(&frame->context->arena, count + 1u, sizeof *frame->found);
  if (frame->found == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < symbol_count; ++k) {
    if (is_found_in(network, frame->graph, k)) {
      frame->found[frame->found_count++] = k;
    }
  }
  TENON_TRY(list_following(frame));
  return list_views(frame);
}

void tenon__frame_forget_found(tenon__frame_t* frame) {
  tenon__extents_t* extents = &frame->context->extents;
  bool changed = false;
  for (uint32_t k = 0; k < frame->found_count; ++k) {
    changed = changed || extents->symbol_known[frame->found[k]] != 0;
    extents->symbol_known[frame->found[k]] = 0;
  }
  if (changed) {
    tenon__extents_update(extents);
  }
}
