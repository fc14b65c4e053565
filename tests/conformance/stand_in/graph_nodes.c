/*
 * Graphs of the stand-in, as nodes with dependencies. What is asked of a graph here is to put
 * another node into the place of one: nothing else is taken.
 */
#include <stdlib.h>
#include <string.h>

#include "streams.h"

enum { NODES = 32 };

/* Nodes, each once. */
typedef struct nodes_t {
  stand_in_work_t* all[NODES];
  size_t count;
} nodes_t;

/* A node that was made, and is to be put in the place of another one. */
static _Thread_local struct {
  stand_in_list_t* graph;
  stand_in_work_t work;
  nodes_t before;
  nodes_t after;
} made;

static bool has(const nodes_t* nodes, const stand_in_work_t* work) {
  bool found = false;
  for (size_t k = 0; k < nodes->count; k++) {
    found = found || nodes->all[k] == work;
  }
  return found;
}
static void add(nodes_t* nodes, stand_in_work_t* work) {
  if (!has(nodes, work) && nodes->count < NODES) {
    nodes->all[nodes->count++] = work;
  }
}
static bool are_the_same(const nodes_t* a, const nodes_t* b) {
  bool same = a->count == b->count;
  for (size_t k = 0; k < a->count; k++) {
    same = same && has(b, a->all[k]);
  }
  return same;
}

/* What comes directly before an entry: on its lane, and what that waited for since. */
static void find_before(const stand_in_list_t* graph, const stand_in_work_t* entry,
                        nodes_t* nodes) {
  nodes_t found = {.count = 0};
  for (stand_in_work_t* work = graph->first; work != entry; work = work->next) {
    if (work->lane == entry->lane && !stand_in_waits(work)) {
      found = (nodes_t){.all = {work}, .count = 1};
    } else if (work->lane == entry->lane && work->after != NULL) {
      if (stand_in_waits(work->after)) {
        find_before(graph, work->after, &found);
      } else {
        add(&found, work->after);
      }
    }
  }
  if (entry->after != NULL) { /* it waits itself */
    if (stand_in_waits(entry->after)) {
      find_before(graph, entry->after, &found);
    } else {
      add(&found, entry->after);
    }
  }
  for (size_t k = 0; k < found.count; k++) {
    add(nodes, found.all[k]);
  }
}
static void find_after(const stand_in_list_t* graph, const stand_in_work_t* node, nodes_t* nodes) {
  for (stand_in_work_t* work = graph->first; work != NULL; work = work->next) {
    nodes_t before = {.count = 0};
    if (!stand_in_waits(work)) {
      find_before(graph, work, &before);
    }
    if (has(&before, node)) {
      add(nodes, work);
    }
  }
}

static CUresult give(const nodes_t* nodes, CUgraphNode* out_nodes, size_t* count) {
  for (size_t k = 0; k < nodes->count && out_nodes != NULL; k++) {
    out_nodes[k] = (CUgraphNode)nodes->all[k];
  }
  *count = nodes->count;
  return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  stand_in_called(__func__);
  size_t found = 0;
  for (stand_in_work_t* work = ((stand_in_list_t*)graph)->first; work != NULL; work = work->next) {
    if (!stand_in_waits(work)) {
      work->graph = (stand_in_list_t*)graph;
      if (nodes != NULL) {
        nodes[found] = (CUgraphNode)work;
      }
      found++;
    }
  }
  *count = found;
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  stand_in_called(__func__);
  const stand_in_work_t* work = (const stand_in_work_t*)node;
  *type = work->kernel != NULL || work->call != NULL ? CU_GRAPH_NODE_TYPE_KERNEL
          : work->source != NULL                     ? CU_GRAPH_NODE_TYPE_MEMCPY
                                                     : CU_GRAPH_NODE_TYPE_MEMSET;
  return CUDA_SUCCESS;
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* out) {
  stand_in_called(__func__);
  const stand_in_work_t* work = (const stand_in_work_t*)node;
  *out = (CUDA_MEMSET_NODE_PARAMS){.dst = (CUdeviceptr)(uintptr_t)work->target,
                                   .pitch = work->pitch,
                                   .value = work->value,
                                   .elementSize = work->element,
                                   .width = work->size / work->element,
                                   .height = work->height > 0 ? work->height : 1};
  return CUDA_SUCCESS;
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* out) {
  stand_in_called(__func__);
  const stand_in_work_t* work = (const stand_in_work_t*)node;
  *out = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
                         .dstMemoryType = CU_MEMORYTYPE_UNIFIED,
                         .srcDevice = (CUdeviceptr)(uintptr_t)work->source,
                         .dstDevice = (CUdeviceptr)(uintptr_t)work->target,
                         .WidthInBytes = work->size,
                         .Height = 1,
                         .Depth = 1};
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                    size_t* count) {
  stand_in_called(__func__);
  const stand_in_work_t* work = (const stand_in_work_t*)node;
  nodes_t found = {.count = 0};
  (void)data;
  find_before(work->graph, work, &found);
  return give(&found, nodes, count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                      size_t* count) {
  stand_in_called(__func__);
  const stand_in_work_t* work = (const stand_in_work_t*)node;
  nodes_t found = {.count = 0};
  (void)data;
  find_after(work->graph, work, &found);
  return give(&found, nodes, count);
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before,
                              size_t count, const CUDA_KERNEL_NODE_PARAMS* asked) {
  stand_in_called(__func__);
  const stand_in_kernel_t* kernel = (const stand_in_kernel_t*)asked->func;
  if (made.graph != NULL || kernel == NULL || asked->gridDimX == 0 || asked->gridDimY == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  made.graph = (stand_in_list_t*)graph;
  made.before.count = made.after.count = 0;
  for (size_t k = 0; k < count; k++) {
    add(&made.before, (stand_in_work_t*)before[k]);
  }
  made.work = (stand_in_work_t){.kernel = kernel,
                                .config = {.gridDimX = asked->gridDimX,
                                           .gridDimY = asked->gridDimY,
                                           .gridDimZ = asked->gridDimZ,
                                           .blockDimX = asked->blockDimX,
                                           .blockDimY = asked->blockDimY,
                                           .blockDimZ = asked->blockDimZ,
                                           .sharedMemBytes = asked->sharedMemBytes},
                                .parameter_bytes = kernel->parameter_bytes};
  made.work.parameters = aligned_alloc(64, (kernel->parameter_bytes + 63) / 64 * 64);
  memcpy(made.work.parameters, asked->kernelParams[0], kernel->parameter_bytes);
  *node = (CUgraphNode)&made.work;
  return CUDA_SUCCESS;
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                const CUgraphEdgeData* data, size_t count) {
  stand_in_called(__func__);
  (void)graph, (void)data;
  for (size_t k = 0; k < count; k++) {
    if (from[k] != (CUgraphNode)&made.work) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    add(&made.after, (stand_in_work_t*)to[k]);
  }
  return CUDA_SUCCESS;
}
/* Only where what was made has all dependencies of the node that goes. */
CUresult cuGraphDestroyNode(CUgraphNode node) {
  stand_in_called(__func__);
  stand_in_work_t* work = (stand_in_work_t*)node;
  nodes_t before = {.count = 0};
  nodes_t after = {.count = 0};
  find_before(work->graph, work, &before);
  find_after(work->graph, work, &after);
  if (made.graph != work->graph || !are_the_same(&made.before, &before) ||
      !are_the_same(&made.after, &after)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  work->kernel = made.work.kernel;
  work->config = made.work.config;
  work->parameters = made.work.parameters;
  work->parameter_bytes = made.work.parameter_bytes;
  work->target = NULL;
  work->source = NULL;
  made.graph = NULL;
  return CUDA_SUCCESS;
}
