/* Conditional nodes in a stream that is being captured, and the kernels that set them. */
#pragma once

#include "small_chain.cuh"

struct capture_t {
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* after = nullptr;
  const cudaGraphEdgeData* edges = nullptr;
  size_t count = 0;
  explicit capture_t(cudaStream_t s) {
    cudaStreamCaptureStatus status;
    CHECK(cudaStreamGetCaptureInfo(s, &status, nullptr, &graph, &after, &edges, &count));
  }
};

/* `reset`: the value is applied whenever the graph is launched. */
inline cudaGraphConditionalHandle condition_handle(cudaStream_t s, unsigned value, bool reset) {
  cudaGraphConditionalHandle handle;
  CHECK(cudaGraphConditionalHandleCreate(&handle, capture_t(s).graph, value,
                                         reset ? cudaGraphCondAssignDefault : 0));
  return handle;
}

/* A node behind what the stream holds; returns its bodies, still empty. */
inline std::vector<cudaGraph_t> condition_node(cudaStream_t s, cudaGraphConditionalHandle handle,
                                               cudaGraphConditionalNodeType type, unsigned ways) {
  const capture_t at(s);
  cudaGraphNodeParams parameters = {};
  parameters.type = cudaGraphNodeTypeConditional;
  parameters.conditional.handle = handle;
  parameters.conditional.type = type;
  parameters.conditional.size = ways;
  cudaGraphNode_t node;
  CHECK(cudaGraphAddNode(&node, at.graph, at.after, at.edges, at.count, &parameters));
  CHECK(
      cudaStreamUpdateCaptureDependencies(s, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
  return {parameters.conditional.phGraph_out, parameters.conditional.phGraph_out + ways};
}

template <class Record>
cudaError_t record_body(cudaGraph_t body, Record record) {
  cudaStream_t s;
  cudaGraph_t same;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCaptureToGraph(s, body, nullptr, nullptr, 0,
                                      cudaStreamCaptureModeThreadLocal));
  record(s);
  const cudaError_t status = cudaStreamEndCapture(s, &same);
  CHECK(cudaStreamDestroy(s));
  return status;
}

inline void add_child(cudaStream_t s, cudaGraph_t child) {
  const capture_t at(s);
  cudaGraphNode_t node;
  CHECK(cudaGraphAddChildGraphNode(&node, at.graph, at.after, at.count, child));
  CHECK(
      cudaStreamUpdateCaptureDependencies(s, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
}

/* A condition out of device memory, by a kernel of its own. */
static __global__ void set_from(cudaGraphConditionalHandle handle, const unsigned* value) {
  cudaGraphSetConditional(handle, *value);
}
/* The same kernel without a handle: what is left is the launch. */
static __global__ void read_only(const unsigned* value, unsigned* out) {
  *out = *value;
}
/* A trip count: on while fewer than `*limit` rounds are behind. */
static __global__ void count_round(cudaGraphConditionalHandle handle, unsigned* round,
                                   const unsigned* limit) {
  const unsigned r = *round + 1;
  *round = r;
  cudaGraphSetConditional(handle, r < *limit);
}
static __global__ void add(unsigned* counter, unsigned value) {
  *counter += value;
}
/* Body and condition in one kernel of many blocks: the last block to finish sets the handle. */
static __global__ void work_and_count(cudaGraphConditionalHandle handle, unsigned* round,
                                      const unsigned* limit, unsigned* arrived) {
  __threadfence();
  if (threadIdx.x == 0 && atomicAdd(arrived, 1) == gridDim.x - 1) {
    *arrived = 0;
    const unsigned r = *round + 1;
    *round = r;
    cudaGraphSetConditional(handle, r < *limit);
  }
}

static unsigned *value, *counter, *sink;

inline void put(unsigned* to, unsigned v) {
  CHECK(cudaMemcpy(to, &v, 4, cudaMemcpyHostToDevice));
}
inline unsigned get(const unsigned* from) {
  unsigned v;
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(&v, from, 4, cudaMemcpyDeviceToHost));
  return v;
}

inline void conditional_setup() {
  small_chain_setup();
  value = device_new<unsigned>(1);
  counter = device_new<unsigned>(1);
  sink = device_new<unsigned>(1);
  put(value, 1);
}
