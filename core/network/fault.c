/* A fault of a graph, kept with it, and the nodes around the graph. */
#include "core/network/fault.h"

#include "core/base/status.h"
#include "core/network/control.h"

tenon_status_t tenon__graph_fail(tenon__network_t* network, uint32_t graph, tenon_status_t status,
                                 const char* message) {
  const char* copy = tenon__arena_copy_string(
      &network->arena, message[0] != '\0' ? message : tenon__status_text(status));
  TENON_TRY_MEMORY(copy != NULL);
  network->graphs[graph]->fault = copy;
  network->graphs[graph]->fault_status = status;
  return TENON_OK;
}

void tenon__graph_empty(tenon__network_t* network, uint32_t graph_index) {
  tenon__graph_t* graph = network->graphs[graph_index];
  for (uint32_t n = 0; n < graph->node_count; ++n) {
    graph->nodes[n].alive = false;
  }
  for (uint32_t v = 0; v < graph->value_count; ++v) {
    graph->values[v].flags &= ~(uint32_t)TENON_VALUE_IS_OUTPUT;
    graph->values[v].alive =
        graph->values[v].alive && (graph->values[v].flags & TENON_VALUE_IS_INPUT) != 0;
  }
  graph->output_count = 0;
}

const tenon__node_t* tenon__graph_owner(const tenon__network_t* network, uint32_t graph) {
  const tenon__graph_t* body = network->graphs[graph];
  return body->parent == TENON_NONE || body->owner == TENON_NONE
             ? NULL
             : &network->graphs[body->parent]->nodes[body->owner];
}

bool tenon__node_is_choice(const tenon__node_t* node) {
  return node != NULL && node->op != NULL && node->op->descriptor.control != NULL &&
         node->op->descriptor.control->form == TENON_CONTROL_CHOOSE && node->body_count == 2;
}

uint32_t tenon__graph_branch(const tenon__network_t* network, uint32_t graph) {
  while (graph != TENON_NONE && !tenon__node_is_choice(tenon__graph_owner(network, graph))) {
    graph = network->graphs[graph]->parent;
  }
  return graph;
}

/* "none of its branches can run: ...", of a choice both of whose branches failed; in the arena. */
static const char* choice_message(tenon__network_t* network, const tenon__node_t* choice) {
  const tenon__graph_t* a = network->graphs[choice->bodies[0]];
  const tenon__graph_t* b = network->graphs[choice->bodies[1]];
  return tenon__arena_format(&network->arena,
                             "%s '%s': none of its bodies can run: '%s': %s; '%s': %s",
                             choice->op->name, choice->name, a->name, a->fault, b->name, b->fault);
}

tenon_status_t tenon__network_fail_in(tenon__network_t* network, uint32_t graph,
                                      tenon_status_t status, const char* message,
                                      const tenon_sink_t* sink) {
  uint32_t branch = tenon__graph_branch(network, graph);
  while (branch != TENON_NONE && message != NULL) {
    const tenon__node_t* choice = tenon__graph_owner(network, branch);
    const uint32_t other = choice->bodies[choice->bodies[0] == branch ? 1 : 0];
    if (tenon__graph_fail(network, branch, status, message) != TENON_OK) {
      break;
    }
    tenon__graph_empty(network, branch);
    if (network->graphs[other]->fault == NULL) {
      return TENON_OK;
    }
    message = choice_message(network, choice);
    branch = tenon__graph_branch(network, network->graphs[branch]->parent);
  }
  return branch == TENON_NONE && message != NULL ? tenon__fail(sink, status, "%s", message)
                                                 : TENON_ERROR_OUT_OF_MEMORY;
}
