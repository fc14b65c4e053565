/* Additional outputs by the names of tensors, for looking at what is inside; outputs that become
 * states. */
#include <string.h>

#include "core/base/nearest.h"
#include "core/network/input_state.h"
#include "sdk/library/library.h"

static tenon_status_t fail_unknown_value(const tenon_network_t* network, const char* name) {
  const tenon__graph_t* graph = network->network->graphs[0];
  char message[TENON_NEAREST_BYTES];
  tenon__nearest_t nearest = {0};
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    const tenon__value_node_t* value = &graph->values[v];
    if (value->alive && value->producer != TENON_NONE) {
      tenon__nearest_offer(&nearest, value->name, tenon__likeness(value->name, name));
    }
  }
  return tenon__fail(&network->registry->sink, TENON_ERROR_NOT_FOUND,
                     "the network has no tensor called '%s'%s", name,
                     tenon__nearest_text(&nearest, message));
}

tenon_status_t tenon_network_mark_output(tenon_network_t* network, const char* name) {
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  TENON_TRY(tenon__need(&network->registry->sink, __func__, "name", name != NULL));
  tenon__graph_t* graph = network->network->graphs[0];
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    if (graph->output_names[i] != NULL && strcmp(graph->output_names[i], name) == 0) {
      return TENON_OK;
    }
  }
  uint32_t value = 0;
  while (value < graph->value_count &&
         (!graph->values[value].alive || strcmp(graph->values[value].name, name) != 0)) {
    ++value;
  }
  if (value == graph->value_count) {
    return fail_unknown_value(network, name);
  }
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    if (graph->outputs[i] == value) {
      return TENON_OK;
    }
  }
  return tenon__graph_add_output(network->network, 0, value, NULL) == TENON_OK
             ? TENON_OK
             : tenon__fail_memory(&network->registry->sink);
}

tenon_status_t tenon_network_clear_outputs(tenon_network_t* network) {
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  tenon__graph_t* graph = network->network->graphs[0];
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    graph->values[graph->outputs[i]].flags &= ~(uint32_t)TENON_VALUE_IS_OUTPUT;
  }
  graph->output_count = 0;
  return TENON_OK;
}

/* ---- States ---- */

static tenon_status_t fail_unknown(const tenon_network_t* network, const char* what,
                                   const char* name, const tenon__nearest_t* nearest) {
  char message[TENON_NEAREST_BYTES];
  return tenon__fail(&network->registry->sink, TENON_ERROR_NOT_FOUND, "there is no %s '%s'%s", what,
                     name, tenon__nearest_text(nearest, message));
}

static tenon_status_t find_input(const tenon_network_t* network, const char* name,
                                 uint32_t* out_index) {
  const tenon__graph_t* graph = network->network->graphs[0];
  tenon__nearest_t nearest = {0};
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    const char* own = graph->values[graph->inputs[i]].name;
    *out_index = i;
    if (strcmp(own, name) == 0) {
      return TENON_OK;
    }
    tenon__nearest_offer(&nearest, own, tenon__likeness(own, name));
  }
  return fail_unknown(network, "input", name, &nearest);
}

static tenon_status_t find_output(const tenon_network_t* network, const char* name,
                                  uint32_t* out_index) {
  const tenon__graph_t* graph = network->network->graphs[0];
  tenon__nearest_t nearest = {0};
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    const char* own = graph->output_names[i];
    *out_index = i;
    if (strcmp(own, name) == 0) {
      return TENON_OK;
    }
    tenon__nearest_offer(&nearest, own, tenon__likeness(own, name));
  }
  return fail_unknown(network, "output", name, &nearest);
}

tenon_status_t tenon_network_make_state(tenon_network_t* network, const char* input,
                                        const char* output) {
  uint32_t from = 0;
  uint32_t to = 0;
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  TENON_TRY(tenon__need(&network->registry->sink, __func__, "input", input != NULL));
  TENON_TRY(tenon__need(&network->registry->sink, __func__, "output", output != NULL));
  TENON_TRY(find_input(network, input, &from));
  TENON_TRY(find_output(network, output, &to));
  return tenon__network_make_state(network->network, from, to, &network->registry->sink);
}
