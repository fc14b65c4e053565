/* Additional outputs by the names of tensors, for looking at what is inside. */
#include <stdio.h>
#include <string.h>

#include "sdk/library/library.h"

/* Letters that stand at the same place from the front and from the back. */
static size_t likeness(const char* a, const char* b) {
  const size_t length_a = strlen(a);
  const size_t length_b = strlen(b);
  const size_t shorter = length_a < length_b ? length_a : length_b;
  size_t front = 0;
  size_t back = 0;
  while (front < shorter && a[front] == b[front]) {
    ++front;
  }
  while (back < shorter - front && a[length_a - 1 - back] == b[length_b - 1 - back]) {
    ++back;
  }
  return front + back;
}

enum { NEAREST_COUNT = 3 };

/* Up to three names like `name`, the likest first; "" where there are no more. */
static void find_nearest(const tenon__graph_t* graph, const char* name,
                         const char* out_names[NEAREST_COUNT]) {
  size_t scores[NEAREST_COUNT] = {0};
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    const tenon__value_node_t* value = &graph->values[v];
    const bool counts = value->alive && value->producer != TENON_NONE;
    size_t score = counts ? likeness(value->name, name) : 0;
    const char* candidate = value->name;
    for (int i = 0; i < NEAREST_COUNT; ++i) { /* insertion */
      if (score > scores[i]) {
        const size_t old_score = scores[i];
        const char* old = out_names[i];
        scores[i] = score;
        out_names[i] = candidate;
        score = old_score;
        candidate = old;
      }
    }
  }
}

static tenon_status_t fail_unknown_value(const tenon_network_t* network, const char* name) {
  const char* nearest[NEAREST_COUNT] = {"", "", ""};
  char words[512] = "";
  size_t used = 0;
  find_nearest(network->network->graphs[0], name, nearest);
  for (int i = 0; i < NEAREST_COUNT && nearest[i][0] != '\0' && used < sizeof(words); ++i) {
    used += (size_t)snprintf(words + used, sizeof(words) - used, "%s'%.120s'",
                             i == 0 ? "; near it: " : ", ", nearest[i]);
  }
  return tenon__fail(&network->registry->sink, TENON_ERROR_NOT_FOUND,
                     "the network has no tensor called '%s'%s", name, words);
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
