/* Replacement of memory nodes in a captured graph by kernel nodes with the same dependencies. */
#include "memory_nodes.h"

enum {
  THREADS = 256,
  EDGE_LIMIT = 16,       /* of a node: more than streams of a recording */
  SIZE_LIMIT = 64 << 10, /* bytes: more are a kernel of the driver's own; rows are blocks in y */
};
static const uint64_t unit_bytes[TENON_CUDA_PIECE_UNITS] = {16, 4, 1};

/* A piece of work, and its kernel. */
typedef struct work_t {
  tenon__cuda_piece_t piece;
  uint32_t row_count;
  CUfunction kernel; /* NULL: there is none for it */
} work_t;

/* ---- Which kernel ---- */

/* Of the largest units of which all that is asked for is a multiple. */
static void choose(const CUfunction kernels[TENON_CUDA_PIECE_UNITS], uint64_t row_bytes,
                   uint64_t multiples, work_t* work) {
  uint32_t k = 0;
  while (multiples % unit_bytes[k] != 0) {
    k++;
  }
  const bool fits =
      row_bytes > 0 && row_bytes <= SIZE_LIMIT && work->row_count <= SIZE_LIMIT / row_bytes;
  work->piece.unit_count = row_bytes / unit_bytes[k];
  work->kernel = fits ? kernels[k] : NULL;
}

static CUresult set_work(const tenon_device_t* device, const tenon__cuda_memory_code_t* code,
                         CUgraphNode node, work_t* out_work) {
  CUDA_MEMSET_NODE_PARAMS asked = {0};
  const CUresult result = device->driver->cuGraphMemsetNodeGetParams(node, &asked);
  if (result != CUDA_SUCCESS || asked.height == 0 || asked.height >= SIZE_LIMIT) {
    return result;
  }
  const uint64_t row_bytes = asked.width * asked.elementSize;
  const uint64_t step = asked.height > 1 ? asked.pitch : 0;
  const uint32_t word = asked.elementSize == 1   ? (asked.value & 0xFFu) * 0x01010101u
                        : asked.elementSize == 2 ? (asked.value & 0xFFFFu) * 0x00010001u
                                                 : asked.value;
  *out_work =
      (work_t){.piece = {.target = asked.dst, .source = asked.dst, .row_bytes = step, .word = word},
               .row_count = (uint32_t)asked.height};
  choose(code->set, row_bytes, asked.dst | row_bytes | step, out_work);
  const bool is_one_byte = word == (word & 0xFFu) * 0x01010101u;
  if (out_work->kernel == code->set[TENON_CUDA_PIECE_UNITS - 1] && !is_one_byte) {
    out_work->kernel = NULL;
  }
  return CUDA_SUCCESS;
}

/* Memory of this device, and not of the host nor of another. */
static bool is_ours(const tenon_device_t* device, CUdeviceptr address) {
  CUmemorytype type = (CUmemorytype)0;
  int ordinal = -1;
  return device->driver->cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) ==
             CUDA_SUCCESS &&
         type == CU_MEMORYTYPE_DEVICE &&
         device->driver->cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                               address) == CUDA_SUCCESS &&
         ordinal == device->handle;
}

static bool is_on_device(CUmemorytype type) {
  return type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED;
}

static CUresult copy_work(const tenon_device_t* device, const tenon__cuda_memory_code_t* code,
                          CUgraphNode node, work_t* out_work) {
  CUDA_MEMCPY3D asked = {0};
  const CUresult result = device->driver->cuGraphMemcpyNodeGetParams(node, &asked);
  const bool is_row = asked.Height <= 1 && asked.Depth <= 1 && asked.srcXInBytes == 0 &&
                      asked.srcY == 0 && asked.srcZ == 0 && asked.dstXInBytes == 0 &&
                      asked.dstY == 0 && asked.dstZ == 0;
  if (result != CUDA_SUCCESS || !is_row || !is_on_device(asked.srcMemoryType) ||
      !is_on_device(asked.dstMemoryType) || !is_ours(device, asked.srcDevice) ||
      !is_ours(device, asked.dstDevice)) {
    return result;
  }
  *out_work =
      (work_t){.piece = {.target = asked.dstDevice, .source = asked.srcDevice}, .row_count = 1};
  choose(code->copy, asked.WidthInBytes, asked.dstDevice | asked.srcDevice | asked.WidthInBytes,
         out_work);
  return CUDA_SUCCESS;
}

/* ---- In the graph ---- */

/* What a node waits for, and what waits for it. */
typedef struct edges_t {
  CUgraphNode before[EDGE_LIMIT];
  CUgraphNode after[EDGE_LIMIT];
  size_t before_count;
  size_t after_count;
  bool known; /* false: there are more, or other ones than that it be done */
} edges_t;

static void find_edges(const tenon_device_t* device, CUgraphNode node, edges_t* out_edges) {
  const tenon__cuda_driver_t* driver = device->driver;
  size_t before = 0;
  size_t after = 0;
  *out_edges = (edges_t){.known = false};
  if (driver->cuGraphNodeGetDependencies_v2(node, NULL, NULL, &before) != CUDA_SUCCESS ||
      driver->cuGraphNodeGetDependentNodes_v2(node, NULL, NULL, &after) != CUDA_SUCCESS ||
      before > EDGE_LIMIT || after > EDGE_LIMIT) {
    return;
  }
  out_edges->before_count = before;
  out_edges->after_count = after;
  out_edges->known = (before == 0 || driver->cuGraphNodeGetDependencies_v2(
                                         node, out_edges->before, NULL, &before) == CUDA_SUCCESS) &&
                     (after == 0 || driver->cuGraphNodeGetDependentNodes_v2(
                                        node, out_edges->after, NULL, &after) == CUDA_SUCCESS);
}

static tenon_status_t replace(tenon_device_t* device, CUgraph graph, CUgraphNode node,
                              work_t* work) {
  edges_t edges;
  CUgraphNode froms[EDGE_LIMIT];
  CUgraphNode made = NULL;
  void* parameters[] = {&work->piece};
  const CUDA_KERNEL_NODE_PARAMS asked = {
      .func = work->kernel,
      .gridDimX = (unsigned)((work->piece.unit_count + THREADS - 1) / THREADS),
      .gridDimY = work->row_count,
      .gridDimZ = 1,
      .blockDimX = THREADS,
      .blockDimY = 1,
      .blockDimZ = 1,
      .kernelParams = parameters};
  find_edges(device, node, &edges);
  if (!edges.known) {
    return TENON_OK;
  }
  tenon_status_t status = TENON_CUDA_CALL(device, cuGraphAddKernelNode_v2, &made, graph,
                                          edges.before, edges.before_count, &asked);
  for (size_t k = 0; k < edges.after_count; k++) {
    froms[k] = made;
  }
  if (status == TENON_OK && edges.after_count > 0) {
    status = TENON_CUDA_CALL(device, cuGraphAddDependencies_v2, graph, froms, edges.after, NULL,
                             edges.after_count);
  }
  return status == TENON_OK ? TENON_CUDA_CALL(device, cuGraphDestroyNode, node) : status;
}

static tenon_status_t visit(tenon_device_t* device, CUgraph graph, CUgraphNode node) {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  work_t work = {.kernel = NULL};
  tenon_status_t status = TENON_CUDA_CALL(device, cuGraphNodeGetType, node, &type);
  const bool sets = type == CU_GRAPH_NODE_TYPE_MEMSET;
  if (status != TENON_OK || (!sets && type != CU_GRAPH_NODE_TYPE_MEMCPY)) {
    return status;
  }
  const tenon__cuda_memory_code_t* code = tenon__cuda_memory_code(device);
  if (code == NULL) {
    return TENON_OK;
  }
  status = tenon__cuda_check(
      device, sets ? set_work(device, code, node, &work) : copy_work(device, code, node, &work),
      sets ? "cuGraphMemsetNodeGetParams" : "cuGraphMemcpyNodeGetParams");
  return status == TENON_OK && work.kernel != NULL ? replace(device, graph, node, &work) : status;
}

tenon_status_t tenon__cuda_memory_nodes(tenon_device_t* device, CUgraph graph) {
  const tenon_allocator_t* allocator = &device->state->allocator;
  size_t count = 0;
  tenon_status_t status = TENON_CUDA_CALL(device, cuGraphGetNodes, graph, NULL, &count);
  if (status != TENON_OK || count == 0) {
    return status;
  }
  const size_t size_bytes = count * sizeof(CUgraphNode);
  CUgraphNode* nodes = allocator->resize(allocator->user, NULL, 0, size_bytes);
  if (nodes == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  status = TENON_CUDA_CALL(device, cuGraphGetNodes, graph, nodes, &count);
  for (size_t k = 0; k < count && status == TENON_OK; k++) {
    status = visit(device, graph, nodes[k]);
  }
  (void)allocator->resize(allocator->user, nodes, size_bytes, 0);
  return status;
}
