/* Which clusters a kernel node of an instantiated graph lets itself be given, and a captured chain
 * whose nodes are known in order. */
#pragma once

#include <cooperative_groups.h>

#include "hopper.cuh"
#include "measure.cuh"

static __global__ void probe_plain(unsigned* out, unsigned mark) {
  wait_for_predecessor();
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    out[0] = cooperative_groups::this_cluster().num_blocks();
    out[1] = blockDim.x;
    out[2] = gridDim.x;
    out[3] = mark;
  }
}
template <int CLUSTER>
static __global__ void __cluster_dims__(CLUSTER) probe_compiled(unsigned* out, unsigned mark) {
  wait_for_predecessor();
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    out[0] = cooperative_groups::this_cluster().num_blocks();
    out[1] = blockDim.x;
    out[2] = gridDim.x;
    out[3] = mark + 1000;
  }
}

/* A captured chain whose nodes are known in order. */
struct chain_graph_t {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  std::vector<cudaGraphNode_t> nodes;

  chain_graph_t() {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
  }
  chain_graph_t(const chain_graph_t&) = delete;
  chain_graph_t& operator=(const chain_graph_t&) = delete;
  ~chain_graph_t() {
    if (exec) {
      cudaGraphExecDestroy(exec);
    }
    if (graph) {
      cudaGraphDestroy(graph);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaStreamDestroy(stream);
  }
  /* `step(stream, i)` records one kernel. */
  template <class Step>
  void capture(int count, Step step) {
    if (graph) {
      CHECK(cudaGraphDestroy(graph));
    }
    nodes.clear();
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < count; i++) {
      step(stream, i);
      cudaStreamCaptureStatus status;
      const cudaGraphNode_t* last = nullptr;
      size_t lasts = 0;
      CHECK(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &last, nullptr, &lasts));
      nodes.push_back(last[0]);
    }
    CHECK(cudaStreamEndCapture(stream, &graph));
  }
  void instantiate() {
    if (exec) {
      CHECK(cudaGraphExecDestroy(exec));
    }
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphUpload(exec, stream));
  }
  double once() {
    CHECK(cudaEventRecord(begin, stream));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaEventRecord(end, stream));
    wait_or_die(stream, "chain");
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    return ms * 1e3;
  }
  spread_t time(int count) {
    once();
    std::vector<double> times;
    for (int i = 0; i < count; i++) {
      times.push_back(once());
    }
    return spread_of(times);
  }
};

static cudaKernelNodeParams node_parameters(void* kernel, int grid, int threads, void** arguments,
                                            size_t shared = 0) {
  cudaKernelNodeParams p = {};
  p.func = kernel;
  p.gridDim = dim3((unsigned)grid);
  p.blockDim = dim3((unsigned)threads);
  p.sharedMemBytes = (unsigned)shared;
  p.kernelParams = arguments;
  return p;
}

typedef void (*probe_t)(unsigned*, unsigned);

/* What a node that was captured with `kernel` and a cluster lets itself be changed to. */
static void probe(const char* name, probe_t kernel, int captured_cluster) {
  unsigned *out = device_new<unsigned>(4), mark = 1;
  chain_graph_t g;
  g.capture(2, [&](cudaStream_t s, int) {
    CHECK(launch(kernel, dim3(8), 64, 0, dim3(captured_cluster), true, s, out, mark));
  });
  g.instantiate();
  auto show = [&](const char* what, cudaError_t status) {
    unsigned host[4] = {};
    if (status == cudaSuccess) {
      CHECK(cudaGraphLaunch(g.exec, g.stream));
      wait_or_die(g.stream, what);
      CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    } else {
      cudaGetLastError();
    }
    printf("PROBE %s, %s: %s, clusters of %u, %u threads, %u blocks, mark %u\n", name, what,
           cudaGetErrorName(status), host[0], host[1], host[2], host[3]);
  };
  void* arguments[] = {&out, &mark};
  auto set = [&](const char* what, probe_t other, int threads) {
    mark++;
    cudaKernelNodeParams p = node_parameters((void*)other, 12, threads, arguments);
    show(what, cudaGraphExecKernelNodeSetParams(g.exec, g.nodes[1], &p));
  };
  show("as captured", cudaSuccess);
  set("in the executable 12 blocks of 128", kernel, 128);
  set("in the executable a kernel compiled for clusters of 4", probe_compiled<4>, 160);
  set("in the executable a kernel compiled for clusters of 2", probe_compiled<2>, 192);
  set("in the executable a kernel compiled for clusters of 1", probe_compiled<1>, 224);
  set("in the executable one without", probe_plain, 256);
  mark++;
  cudaKernelNodeParams p = node_parameters((void*)probe_plain, 12, 96, arguments);
  cudaError_t status = cudaGraphKernelNodeSetParams(g.nodes[1], &p);
  cudaKernelNodeAttrValue value = {};
  value.clusterDim = {6, 1, 1};
  if (status == cudaSuccess) {
    status =
        cudaGraphKernelNodeSetAttribute(g.nodes[1], cudaLaunchAttributeClusterDimension, &value);
  }
  cudaGraphExecUpdateResultInfo info = {};
  if (status == cudaSuccess) {
    status = cudaGraphExecUpdate(g.exec, g.graph, &info);
  }
  show("in the graph clusters of 6, executable updated", status);
  g.instantiate();
  show("the same graph instantiated", cudaSuccess);
  /* captured again with other clusters, executable updated */
  chain_graph_t other;
  other.capture(2, [&](cudaStream_t s, int) {
    CHECK(launch(probe_plain, dim3(12), 64, 0, dim3(3), true, s, out, 99u));
  });
  show("captured again with clusters of 3, executable updated",
       cudaGraphExecUpdate(g.exec, other.graph, &info));
  CHECK(cudaFree(out));
}
