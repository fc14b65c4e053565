/* Graphs are judged from inner to outer ones. A branch with a fault is emptied, and the fault is
 * kept. */
#include "core/network/judge.h"

#include "core/base/status.h"
#include "core/network/control.h"
#include "core/network/fault.h"
#include "core/network/verify_rules.h"

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
