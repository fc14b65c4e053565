/*
 * Verification by the operators' own rules: each node's inference is repeated in scratch memory,
 * and known extents, ranks and element types must come out the same. Extents that are found when
 * running keep the symbols that they have.
 */
#include "core/network/verify_rules.h"

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/infer.h"
#include "core/network/node.h"
#include "core/network/order.h"

/* Known extents must be the same ones; symbols may have been replaced by better ones, and the run
 * sees whether they are: kernels count on their operator's rules. */
static bool same_type(tenon__dim_pool_t* pool, const tenon__type_t* inferred,
                      const tenon__type_t* type) {
  if (inferred->rank == TENON_NONE || type->rank == TENON_NONE) {
    return tenon__type_same_elements(inferred, type);
  }
  if (!tenon__type_agrees(pool, inferred, type)) {
    return false;
  }
  const uint32_t open_count = tenon__dim_pool_collects(pool) ? type->rank : 0;
  for (uint32_t i = 0; i < open_count; ++i) {
    if (tenon__dim_equal(inferred->dims[i], type->dims[i])) {
      continue;
    }
    const tenon_dim_t same =
        tenon__dim_combine(pool, TENON_OPCODE_EQ, inferred->dims[i], type->dims[i]);
    int64_t is_same = 0;
    if (tenon__dim_known(pool, same, &is_same) && is_same == 0) {
      return false;
    }
    tenon__dim_require(pool, same, "its outputs have not the extents that its rules give");
  }
  return true;
}

static tenon_status_t verify_semantics(tenon__node_work_t* work, const tenon__graph_t* graph,
                                       const tenon__node_t* node) {
  tenon__inference_t* inference = &work->inference;
  tenon__node_work_load(work, node);
  inference->existing = node;
  TENON_TRY(tenon__infer_bind(inference));
  TENON_TRY(tenon__infer_node(inference));
  TENON_EACH_OUTPUT(i, node) {
    const tenon__type_t* inferred = &inference->outputs[i].type;
    const tenon__value_node_t* value = &graph->values[node->outputs[i]];
    if (inferred->rank != value->type.rank && inferred->rank != TENON_NONE &&
        value->type.rank != TENON_NONE) {
      return tenon__fail(inference->sink, TENON_ERROR_UNSUPPORTED,
                         "the extents of this build give its output '%s' rank %u, and the network "
                         "was made with rank %u: fix the extents in the model, or build for others",
                         value->name, inferred->rank, value->type.rank);
    }
    if (!same_type(inference->network->pool, inferred, &value->type)) {
      return tenon__fail(inference->sink, TENON_ERROR_INTERNAL,
                         "its output '%s' is not of the type that the operator's rules give",
                         value->name);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__node_verify(const tenon__network_t* network, uint32_t graph, uint32_t index,
                                  const tenon_sink_t* sink) {
  const tenon__node_t* node = &network->graphs[graph]->nodes[index];
  /* What has bodies was checked with them; what a reader did not find says nothing to check. */
  if (node->op == NULL || node->op->is_missing || node->op->descriptor.control != NULL) {
    return TENON_OK;
  }
  /* Inference adds dimensions to the pool, which is no change that anyone can see. Results that
   * would go into the network's arena go into a copy of its header, whose blocks are freed here. */
  tenon__network_t shadow = *network;
  tenon__arena_initialize(&shadow.arena, network->allocator);
  tenon__node_work_t work;
  tenon_status_t status = tenon__node_work_begin(&work, &shadow, graph, node->op, node->name, sink);
  if (status == TENON_OK) {
    status = verify_semantics(&work, network->graphs[graph], node);
    tenon__node_work_end(&work);
  }
  tenon__arena_deinitialize(&shadow.arena);
  return status;
}

bool tenon__node_requires(const tenon__network_t* network, uint32_t graph, uint32_t index) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, network->allocator);
  tenon__requirements_t requirements = {.arena = &arena, .graph = graph, .node = index};
  tenon__dim_pool_set_requirements(network->pool, &requirements);
  const tenon_status_t status = tenon__node_verify(network, graph, index, NULL);
  tenon__dim_pool_set_requirements(network->pool, NULL);
  tenon__arena_deinitialize(&arena);
  return status != TENON_OK || requirements.failed || requirements.count > 0;
}

static tenon_status_t verify_graph(const tenon__network_t* network, uint32_t graph,
                                   tenon__requirements_t* requirements, tenon__arena_t* arena,
                                   const tenon_sink_t* sink) {
  const uint32_t* order = NULL;
  uint32_t count = 0;
  TENON_TRY(tenon__graph_order(network, graph, arena, sink, &order, &count));
  for (uint32_t i = 0; i < count; ++i) {
    if (requirements != NULL) {
      requirements->graph = graph;
      requirements->node = order[i];
    }
    TENON_TRY(tenon__node_verify(network, graph, order[i], sink));
  }
  return TENON_OK;
}

tenon_status_t tenon__network_verify_for_run(const tenon__network_t* network,
                                             tenon__requirements_t* inout_requirements,
                                             const tenon_sink_t* sink) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, network->allocator);
  tenon__dim_pool_set_requirements(network->pool, inout_requirements);
  tenon_status_t status = tenon__network_verify_structure(network, TENON_ERROR_INTERNAL, sink);
  for (uint32_t g = 0; status == TENON_OK && g < network->graph_count; ++g) {
    if (tenon__graph_can_run(network, g)) {
      status = verify_graph(network, g, inout_requirements, &arena, sink);
    }
  }
  tenon__dim_pool_set_requirements(network->pool, NULL);
  tenon__arena_deinitialize(&arena);
  TENON_TRY(status);
  TENON_TRY_MEMORY((inout_requirements == NULL || !inout_requirements->failed) &&
                   !tenon__dim_pool_failed(network->pool));
  return TENON_OK;
}

tenon_status_t tenon__network_verify(const tenon__network_t* network, const tenon_sink_t* sink) {
  return tenon__network_verify_for_run(network, NULL, sink);
}
