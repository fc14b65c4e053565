/* The correspondence between a control node and its bodies. */
#include "core/network/control.h"

#include "core/base/status.h"
#include "core/operator/attribute.h"

/* NULL: the form names none. */
static const tenon__scope_attribute_t* find(const tenon__control_request_t* request,
                                            const char* name) {
  return name == NULL ? NULL
                      : tenon__attribute_find(request->attributes, request->attribute_count, name);
}

/* An INT attribute as a count within `limit`; false when it is not. */
static bool count_of(const tenon__control_request_t* request, const char* name, uint32_t limit,
                     uint32_t* out_count) {
  const tenon__scope_attribute_t* attribute = find(request, name);
  const int64_t value = attribute == NULL ? 0 : attribute->integer;
  *out_count = (uint32_t)value;
  return value >= 0 && value <= (int64_t)limit;
}

/* The first body that can run: it says what all give. NULL: none can. */
static const tenon__graph_t* sound_body(const tenon__network_t* network,
                                        const tenon__control_request_t* request) {
  for (uint32_t i = 0; i < request->body_count; ++i) {
    if (network->graphs[request->bodies[i]]->fault == NULL) {
      return network->graphs[request->bodies[i]];
    }
  }
  return NULL;
}

/* One that cannot run gives nothing; only a choice does without it. */
static tenon_status_t check_fault(const tenon__network_t* network,
                                  const tenon__control_request_t* request,
                                  const tenon_sink_t* sink) {
  const tenon__graph_t* first = network->graphs[request->bodies[0]];
  if (sound_body(network, request) != NULL) {
    return TENON_OK;
  }
  return request->body_count == 1
             ? tenon__fail(sink, first->fault_status, "its body '%s' cannot run: %s", first->name,
                           first->fault)
             : tenon__fail(sink, first->fault_status,
                           "none of its bodies can run: '%s': %s; '%s': %s", first->name,
                           first->fault, network->graphs[request->bodies[1]]->name,
                           network->graphs[request->bodies[1]]->fault);
}

static tenon_status_t check_body(const tenon__control_layout_t* layout, const tenon__graph_t* body,
                                 const tenon__graph_t* sound, const tenon_sink_t* sink) {
  const uint32_t expected = layout->first_parameter + layout->carried_count +
                            layout->scanned_count + layout->captured_count;
  if (body->input_count != expected) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                       "body '%s' takes %u parameters, the node passes %u", body->name,
                       body->input_count, expected);
  }
  const bool gives_enough = body->output_count >= layout->first_result + layout->carried_count &&
                            body->output_count == sound->output_count;
  if (body->fault == NULL && !gives_enough) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "body '%s' gives %u results", body->name,
                       body->output_count);
  }
  return TENON_OK;
}

static tenon_status_t check_bodies(const tenon__network_t* network,
                                   const tenon__control_request_t* request,
                                   const tenon__control_layout_t* layout,
                                   const tenon_sink_t* sink) {
  const uint32_t* bodies = request->bodies;
  if (request->body_count != layout->body_count) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "needs %u bodies, has %u",
                       layout->body_count, request->body_count);
  }
  for (uint32_t i = 0; i < request->body_count; ++i) {
    if (bodies[i] >= network->graph_count || network->graphs[bodies[i]]->parent != request->graph ||
        (i > 0 && bodies[i] == bodies[0])) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                         "body %u is no graph inside this one, or is used twice", i);
    }
  }
  TENON_TRY(check_fault(network, request, sink));
  const tenon__graph_t* sound = sound_body(network, request);
  for (uint32_t i = 0; i < request->body_count; ++i) {
    TENON_TRY(check_body(layout, network->graphs[bodies[i]], sound, sink));
  }
  return TENON_OK;
}

/* What stands before the values: a condition, or trip count and condition. */
static tenon_status_t set_fixed(const tenon__control_request_t* request,
                                tenon__control_layout_t* layout, const tenon_sink_t* sink) {
  const tenon_control_t* control = request->op->descriptor.control;
  uint32_t fixed = 0;
  if (control->form == TENON_CONTROL_CHOOSE) {
    fixed = 1;
    layout->condition_input = 0;
    if (request->input_count == 0 || request->inputs[0] == TENON_NONE) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "its condition is missing");
    }
  } else if (control->form == TENON_CONTROL_REPEAT) {
    fixed = 2;
    layout->passes_iteration = control->passes_iteration != 0;
    layout->first_parameter = layout->passes_iteration ? 2 : 0;
    layout->first_result = layout->passes_iteration ? 1 : 0;
    if (request->input_count > 0 && request->inputs[0] != TENON_NONE) {
      layout->trip_count_input = 0;
    }
    if (request->input_count > 1 && request->inputs[1] != TENON_NONE) {
      layout->condition_input = 1;
    }
  }
  layout->first_value = request->input_count < fixed ? request->input_count : fixed;
  return TENON_OK;
}

tenon_status_t tenon__control_layout(const tenon__network_t* network,
                                     const tenon__control_request_t* request,
                                     const tenon_sink_t* sink,
                                     tenon__control_layout_t* out_layout) {
  const tenon_control_t* control = request->op->descriptor.control;
  tenon__control_layout_t layout = {.form = control->form,
                                    .body_count = control->form == TENON_CONTROL_CHOOSE ? 2 : 1,
                                    .trip_count_input = TENON_NONE,
                                    .condition_input = TENON_NONE};
  TENON_TRY(set_fixed(request, &layout, sink));
  const tenon__scope_attribute_t* axes = find(request, control->axes_attribute);
  const uint32_t left = request->input_count - layout.first_value;
  const bool carries = control->form == TENON_CONTROL_REPEAT;
  const bool scans = control->form != TENON_CONTROL_CHOOSE;
  if ((carries && !count_of(request, control->carried_attribute, left, &layout.carried_count)) ||
      (scans && !count_of(request, control->scanned_attribute, left - layout.carried_count,
                          &layout.scanned_count))) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                       "its %u values do not hold the carried and scanned ones it declares", left);
  }
  if (control->form == TENON_CONTROL_MAP && layout.scanned_count == 0) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "it has no value to cut into slices");
  }
  layout.captured_count = left - layout.carried_count - layout.scanned_count;
  if (axes != NULL) {
    layout.axes = axes->integers;
    layout.axis_count = axes->count;
  }
  TENON_TRY(check_bodies(network, request, &layout, sink));
  layout.output_count = sound_body(network, request)->output_count - layout.first_result;
  layout.collected_count = scans ? layout.output_count - layout.carried_count : 0;
  *out_layout = layout;
  return TENON_OK;
}

tenon_status_t tenon__control_layout_of(const tenon__network_t* network, uint32_t graph,
                                        uint32_t node_index, const tenon_sink_t* sink,
                                        tenon__control_layout_t* out_layout) {
  const tenon__node_t* node = &network->graphs[graph]->nodes[node_index];
  const tenon__control_request_t request = {
      graph,        node->op,         node->attribute_count, node->attributes, node->input_count,
      node->inputs, node->body_count, node->bodies};
  return tenon__control_layout(network, &request, sink, out_layout);
}

uint32_t tenon__control_axis(const tenon__control_layout_t* layout, uint32_t index, uint32_t rank) {
  int64_t axis = index < layout->axis_count ? layout->axes[index] : 0;
  axis = axis < 0 ? axis + (int64_t)rank : axis;
  return axis >= 0 && axis < (int64_t)rank ? (uint32_t)axis : TENON_NONE;
}

uint32_t tenon__control_taken(const tenon__network_t* network, uint32_t graph,
                              const tenon__control_layout_t* layout, const uint32_t* inputs) {
  int64_t known = 0;
  if (layout->form != TENON_CONTROL_CHOOSE ||
      !tenon__type_known(network->pool,
                         &network->graphs[graph]->values[inputs[layout->condition_input]].type,
                         &known)) {
    return TENON_NONE;
  }
  return known != 0 ? 0 : 1;
}
