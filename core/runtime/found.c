/* Extents that only a run finds: of values that the graph's own steps make, and numbers that views
 * of values show. */
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
