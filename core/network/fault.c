/* Graphs are judged from inner to outer ones. A branch with a fault is emptied, and the fault is
 * kept. */
#include "core/network/fault.h"

#include "core/base/status.h"
#include "core/network/control.h"
#include "core/network/verify_rules.h"

/* ---- Judging ---- */

/* A choice that certainly takes a branch which cannot run. */
static tenon_status_t judge_choice(const tenon__network_t* network, uint32_t graph, uint32_t index,
                                   const tenon_sink_t* sink) {
  const tenon__node_t* node = &network->graphs[graph]->nodes[index];
  tenon__control_layout_t layout;
  TENON_TRY(tenon__control_layout_of(network, graph, index, sink, &layout));
  const uint32_t taken = tenon__control_taken(network, graph, &layout, node->inputs);
  const tenon__graph_t* branch = taken == TENON_NONE ? NULL : network->graphs[node->bodies[taken]];
  return branch == NULL || branch->fault == NULL
             ? TENON_OK
             : tenon__fail(sink, branch->fault_status,
                           "%s '%s' takes its branch '%s', which cannot run: %s", node->op->name,
                           node->name, branch->name, branch->fault);
}

/* The first fault of a graph's nodes. Outside branches the network is verified as a whole. */
static tenon_status_t judge_graph(const tenon__network_t* network, uint32_t graph,
                                  const tenon_sink_t* sink) {
  const tenon__graph_t* tables = network->graphs[graph];
  const bool is_branch = tenon__graph_branch(network, graph) != TENON_NONE;
  tenon_status_t status = TENON_OK;
  for (uint32_t n = 0; n < tables->node_count && status == TENON_OK; ++n) {
    if (tables->nodes[n].alive && tenon__node_is_choice(&tables->nodes[n])) {
      status = judge_choice(network, graph, n, sink);
    } else if (tables->nodes[n].alive && is_branch) {
      status = tenon__node_verify(network, graph, n, sink);
    }
  }
  return status;
}

tenon_status_t tenon__network_judge(tenon__network_t* network, const tenon_sink_t* sink) {
  for (uint32_t g = network->graph_count; g-- > 0;) {
    tenon__keeping_sink_t kept;
    tenon__keeping_sink_initialize(&kept);
    const bool can_run = tenon__graph_can_run(network, g);
    const tenon_status_t status = can_run ? judge_graph(network, g, &kept.sink) : TENON_OK;
    if (status == TENON_ERROR_OUT_OF_MEMORY || status == TENON_ERROR_INTERNAL) {
      /* No fault of the branch. Of memory nothing was said. */
      return kept.message[0] == '\0' ? status : tenon__fail(sink, status, "%s", kept.message);
    }
    if (status != TENON_OK) {
      TENON_TRY(tenon__network_fail_in(network, g, status, kept.message, sink));
    }
    if (!can_run) {
      tenon__graph_empty(network, g);
    }
  }
  return TENON_OK;
}

void tenon__network_warn_of_faults(const tenon__network_t* network, const tenon_sink_t* sink) {
  for (uint32_t g = 1; g < network->graph_count; ++g) {
    const tenon__graph_t* body = network->graphs[g];
    const tenon__node_t* choice = body->fault == NULL ? NULL : tenon__graph_owner(network, g);
    tenon__control_layout_t layout;
    const bool may_be_taken =
        choice != NULL && tenon__graph_can_run(network, body->parent) && choice->alive &&
        tenon__control_layout_of(network, body->parent, body->owner, NULL, &layout) == TENON_OK &&
        tenon__control_taken(network, body->parent, &layout, choice->inputs) == TENON_NONE;
    if (may_be_taken) {
      tenon__report(sink, TENON_SEVERITY_WARNING,
                    "'%s': its branch '%s' cannot run, and a run that takes it fails: %s",
                    choice->name, body->name, body->fault);
    }
  }
}

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
