/* Conditional nodes in a stream that is being captured. */
#pragma once

#include "measure.cuh"

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
  CHECK(cudaStreamUpdateCaptureDependencies(s, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
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
  CHECK(cudaStreamUpdateCaptureDependencies(s, &node, nullptr, 1, cudaStreamSetCaptureDependencies));
}
