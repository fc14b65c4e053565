/* Tuning in place: kernels exchanged inside an instantiated graph. What may change and what stays
 * behind, what each way costs, whether the changed graph is as fast as a new one, how many replays
 * a decision takes, and what coordinate descent gains over each layer's own best. The chain is made
 * of ResNet-50's sixteen 3x3 convolutions with dependent launches.
 *
 *   exchange_nodes --check      for the sanitizers */
#include <cooperative_groups.h>

#include <cstring>
#include <memory>

#include "convolution_choices.cuh"

/* ---- What of a node may change ---- */

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

/* ---- The chain ---- */

/* The layer of each step: ResNet-50's 3x3 convolutions without stride. */
static const int layer_of[] = {0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3};
enum { STEPS = sizeof layer_of / sizeof layer_of[0], LAYERS = 4 };

/* The same kernel with its cluster compiled into it. */
template <int GROUPS, int HEIGHT, int N8, int SPLIT, int SOURCE>
static __global__ void __cluster_dims__(SPLIT)
    __launch_bounds__(GROUPS * 128 + (SOURCE == WINDOW_COPIES ? 32 : 128))
        convolve_fixed(const __grid_constant__ tile_arguments_t p) {
  convolve_tile<GROUPS, HEIGHT, N8, SPLIT, SOURCE>(p);
}
static std::vector<std::pair<tile_kernel_t, tile_kernel_t>> fixed_kernels;
static tile_kernel_t fixed_kernel(const tile_instance_t& t) {
  for (const auto& pair : fixed_kernels) {
    if (pair.first == t.kernel) {
      return pair.second;
    }
  }
  return nullptr;
}
template <int GROUPS, int HEIGHT, int N8, int SPLIT>
static void add_both() {
  add_instances<GROUPS, HEIGHT, N8, SPLIT>(instances());
  fixed_kernels.emplace_back(convolve<GROUPS, HEIGHT, N8, SPLIT, WINDOW_COPIES>,
                             convolve_fixed<GROUPS, HEIGHT, N8, SPLIT, WINDOW_COPIES>);
  fixed_kernels.emplace_back(convolve<GROUPS, HEIGHT, N8, SPLIT, SMALL_COPIES>,
                             convolve_fixed<GROUPS, HEIGHT, N8, SPLIT, SMALL_COPIES>);
}

struct network_t {
  std::vector<std::unique_ptr<convolution_data_t<half>>> data;
  std::vector<std::unique_ptr<own_t>> own;
  std::vector<choice_t> all[LAYERS];
  half* y[STEPS];
  int chosen[STEPS] = {};
  bool compiled_clusters = true;
  tile_arguments_t arguments[STEPS];

  explicit network_t(bool few) {
    for (int l = 0; l < LAYERS; l++) {
      data.emplace_back(new convolution_data_t<half>(three_by_three[l], 1));
      own.emplace_back(new own_t(*data[l]));
      all[l] =
          choices(three_by_three[l], (int)(data[l]->outputs / (size_t)data[l]->layer.out), few);
    }
    for (int i = 0; i < STEPS; i++) {
      y[i] = device_new<half>(data[layer_of[i]]->outputs);
    }
  }
  /* Right ones first by their time alone; wrong ones are left out. */
  void measure_alone() {
    for (int l = 0; l < LAYERS; l++) {
      std::vector<choice_t> right;
      for (choice_t c : all[l]) {
        if (own[l]->error(c) < 1e-3) {
          c.us = own[l]->time(c, own[l]->arguments(c), true, 5);
          right.push_back(c);
        }
      }
      std::sort(right.begin(), right.end(),
                [](const choice_t& a, const choice_t& b) { return a.us.median < b.us.median; });
      printf("ALONE %s: %zu of %zu choices right, best %s %.2f us\n", three_by_three[l].name,
             right.size(), all[l].size(), right[0].name().c_str(), right[0].us.median);
      all[l] = right;
    }
  }
  const choice_t& choice(int i) const {
    return all[layer_of[i]][chosen[i]];
  }
  void prepare(int i) {
    arguments[i] = own[layer_of[i]]->arguments(choice(i));
    arguments[i].weights = own[layer_of[i]]->packed[i % 12];
    arguments[i].y = y[i];
  }
  void capture(chain_graph_t& g) {
    g.capture(STEPS, [&](cudaStream_t s, int i) {
      prepare(i);
      const tile_instance_t& t = *choice(i).instance;
      void* slot[1];
      const cudaKernelNodeParams p = parameters(i, slot);
      CHECK(launch((void (*)(tile_arguments_t))p.func, p.gridDim, (int)p.blockDim.x,
                   p.sharedMemBytes, dim3(compiled_clusters ? 1 : t.split), true, s, arguments[i]));
    });
  }
  cudaKernelNodeParams parameters(int i, void** slot) {
    prepare(i);
    const tile_instance_t& t = *choice(i).instance;
    const tile_arguments_t& a = arguments[i];
    slot[0] = &arguments[i];
    cudaKernelNodeParams p = node_parameters(
        (void*)(compiled_clusters ? fixed_kernel(t) : t.kernel), t.split,
        t.groups * 128 + (t.source ? 128 : 32), slot, (size_t)t.shared_bytes(choice(i).stages));
    p.gridDim.y = (unsigned)(a.columns / (8 * t.n8));
    p.gridDim.z = (unsigned)((a.rows + t.rows - 1) / t.rows);
    return p;
  }
  /* Exchanges step i's kernel in the executable. Clusters that belong to the kernels go with its
   * parameters; else the node is changed in the graph and the executable made anew. */
  void exchange(chain_graph_t& g, int i, int to) {
    chosen[i] = to;
    void* slot[1];
    const cudaKernelNodeParams p = parameters(i, slot);
    if (compiled_clusters) {
      CHECK(cudaGraphExecKernelNodeSetParams(g.exec, g.nodes[i], &p));
      return;
    }
    cudaKernelNodeAttrValue value = {}, one = {};
    value.clusterDim = {(unsigned)choice(i).instance->split, 1, 1};
    one.clusterDim = {1, 1, 1}; /* a grid and a cluster must fit each other at every moment */
    CHECK(cudaGraphKernelNodeSetAttribute(g.nodes[i], cudaLaunchAttributeClusterDimension, &one));
    CHECK(cudaGraphKernelNodeSetParams(g.nodes[i], &p));
    CHECK(cudaGraphKernelNodeSetAttribute(g.nodes[i], cudaLaunchAttributeClusterDimension, &value));
    g.instantiate();
  }
  std::vector<uint64_t> outputs() const {
    std::vector<uint64_t> sums;
    for (int i = 0; i < STEPS; i++) {
      std::vector<uint16_t> host(data[layer_of[i]]->outputs);
      CHECK(cudaMemcpy(host.data(), y[i], host.size() * 2, cudaMemcpyDeviceToHost));
      uint64_t h = 1469598103934665603u;
      for (uint16_t v : host) {
        h = (h ^ v) * 1099511628211u;
      }
      sums.push_back(h);
      CHECK(cudaMemset(y[i], 0xff, host.size() * 2));
    }
    return sums;
  }
};

/* ---- Right, and as fast as a new graph ---- */

static void compare_with_new(network_t& n, int rounds, bool timed) {
  unsigned seed = 7;
  chain_graph_t changed, fresh;
  n.capture(changed);
  changed.instantiate();
  int wrong = 0;
  std::vector<double> exchange_us, again_us, new_us, ratios;
  for (int r = 0; r < rounds; r++) {
    for (int i = 0; i < STEPS; i++) {
      seed = seed * 1664525u + 1013904223u;
      const int to = (int)(seed >> 8) % (int)n.all[layer_of[i]].size();
      const double begin = now_us();
      n.exchange(changed, i, to);
      exchange_us.push_back(now_us() - begin);
    }
    double begin = now_us();
    n.capture(fresh);
    const double captured = now_us() - begin;
    fresh.instantiate();
    new_us.push_back(now_us() - begin);
    begin = now_us();
    cudaGraphExecUpdateResultInfo info = {};
    CHECK(cudaGraphExecUpdate(fresh.exec, fresh.graph, &info));
    again_us.push_back(captured + now_us() - begin);
    changed.once();
    const std::vector<uint64_t> a = n.outputs();
    fresh.once();
    wrong += a != n.outputs();
    if (timed) {
      std::vector<double> x, y;
      for (int k = 0; k < 41; k++) {
        x.push_back(changed.once());
        y.push_back(fresh.once());
      }
      ratios.push_back(spread_of(x).median / spread_of(y).median);
    }
  }
  const spread_t e = spread_of(exchange_us), w = spread_of(new_us), c = spread_of(again_us),
                 q = spread_of(ratios);
  printf(
      "EXCHANGE clusters %s, %d rounds of %d steps: %d wrong; host us an exchange %.2f "
      "(%.2f-%.2f), "
      "captured again and updated %.1f, captured and instantiated %.0f (%.0f-%.0f); time against a "
      "new graph %.4f (%.4f-%.4f)\n",
      n.compiled_clusters ? "compiled" : "by attribute", rounds, (int)STEPS, wrong, e.median, e.low,
      e.high, c.median, w.median, w.low, w.high, q.median, q.low, q.high);
}

/* How well n replays tell two graphs apart: the spread of a median of n, of the difference of two
 * that take turns, and of n replays between one pair of events. */
static void resolution(chain_graph_t& a, chain_graph_t& b) {
  const int total = 1500;
  std::vector<double> x, y;
  for (int i = 0; i < total; i++) {
    x.push_back(a.once());
    y.push_back(b.once());
  }
  const spread_t one = spread_of(x), other = spread_of(y);
  printf("REPLAY one %.2f us (%.2f-%.2f), other %.2f (%.2f-%.2f)\n", one.median, one.low, one.high,
         other.median, other.low, other.high);
  for (int n : {1, 3, 5, 9, 15, 31}) {
    std::vector<double> medians, differences, least;
    for (int i = 0; i + n <= total; i += n) {
      const std::vector<double> u(x.begin() + i, x.begin() + i + n),
          v(y.begin() + i, y.begin() + i + n);
      medians.push_back(spread_of(u).median);
      least.push_back(*std::min_element(u.begin(), u.end()));
      differences.push_back(spread_of(u).median - spread_of(v).median);
    }
    const spread_t m = spread_of(medians), d = spread_of(differences), l = spread_of(least);
    printf(
        "  %2d replays: median %.2f-%.2f, least %.2f-%.2f, difference by turns %.2f (%.2f to "
        "%.2f)\n",
        n, m.low, m.high, l.low, l.high, d.median, d.low, d.high);
  }
  for (int n : {5, 20}) {
    std::vector<double> means;
    for (int i = 0; i < 100; i++) {
      CHECK(cudaEventRecord(a.begin, a.stream));
      for (int k = 0; k < n; k++) {
        CHECK(cudaGraphLaunch(a.exec, a.stream));
      }
      CHECK(cudaEventRecord(a.end, a.stream));
      wait_or_die(a.stream, "replays");
      float ms = 0;
      CHECK(cudaEventElapsedTime(&ms, a.begin, a.end));
      means.push_back(ms * 1e3 / n);
    }
    const spread_t m = spread_of(means);
    printf("  %2d replays between one pair of events: %.2f (%.2f-%.2f)\n", n, m.median, m.low,
           m.high);
  }
}

/* ---- Coordinate descent ---- */

/* Exchanges each step's kernel for each of the `width` best alone, and keeps what makes the whole
 * chain faster by more than `margin`. */
static void descend(network_t& n, int width, int replays, int sweeps, bool by_layer) {
  for (int& c : n.chosen) {
    c = 0;
  }
  chain_graph_t g;
  n.capture(g);
  g.instantiate();
  const double margin = 0.05;
  const double first = g.time(101).median, begin = now_us();
  int tried = 0, kept = 0;
  double now = g.time(31).median;
  for (int sweep = 0; sweep < sweeps; sweep++) {
    const int kept_before = kept;
    for (int i = 0; i < STEPS; i++) {
      if (by_layer && i > 0 && layer_of[i] == layer_of[i - 1]) {
        continue;
      }
      auto set = [&](int to) {
        for (int k = i; k < STEPS && (k == i || (by_layer && layer_of[k] == layer_of[i])); k++) {
          n.exchange(g, k, to);
        }
      };
      const int count = std::min(width, (int)n.all[layer_of[i]].size());
      for (int to = 0; to < count; to++) {
        const int before = n.chosen[i];
        if (to == before) {
          continue;
        }
        set(to);
        tried++;
        double t = g.time(replays).median;
        if (t < now - margin) { /* again, by turns with what it replaces */
          set(before);
          const double old = g.time(4 * replays).median;
          set(to);
          t = g.time(4 * replays).median;
          if (t < old - margin) {
            now = t;
            kept++;
            continue;
          }
          now = old;
        }
        set(before);
      }
    }
    if (kept == kept_before) {
      break;
    }
  }
  const double seconds = (now_us() - begin) / 1e6;
  const spread_t last = g.time(101);
  chain_graph_t fresh;
  n.capture(fresh);
  fresh.instantiate();
  printf(
      "DESCENT %s, %d best of each, %d replays: %.2f us, after %d tries in %.2f s and %d exchanges "
      "%.2f (%.2f-%.2f), as a new graph %.2f\n",
      by_layer ? "a choice a shape" : "a choice a step", width, replays, first, tried, seconds,
      kept, last.median, last.low, last.high, fresh.time(101).median);
}

int main(int argc, char** argv) {
  print_device();
  add_both<1, 1, 4, 2>();
  add_both<1, 1, 4, 4>();
  add_both<1, 1, 4, 6>();
  add_both<1, 1, 4, 8>();
  add_both<1, 1, 8, 1>();
  add_both<1, 1, 8, 2>();
  add_both<1, 1, 8, 4>();
  add_both<1, 1, 8, 6>();
  add_both<1, 1, 8, 8>();
  add_both<2, 1, 8, 2>();
  add_both<1, 1, 4, 1>();
  prepare_instances();
  for (const auto& pair : fixed_kernels) {
    CHECK(cudaFuncSetAttribute(pair.second, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    CHECK(cudaFuncSetAttribute(pair.second, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  }
  const bool few = argc > 1 && !strcmp(argv[1], "--check");
  probe("captured without a cluster", probe_plain, 1);
  probe("captured with clusters of 2 by attribute", probe_plain, 2);
  probe("captured compiled for clusters of 2", probe_compiled<2>, 1);
  network_t n(few);
  if (few) {
    compare_with_new(n, 2, false);
    return 0;
  }
  n.measure_alone();
  for (bool compiled : {false, true}) {
    n.compiled_clusters = compiled;
    compare_with_new(n, 12, true);
  }
  for (int& c : n.chosen) {
    c = 0;
  }
  chain_graph_t a, b;
  n.capture(a);
  a.instantiate();
  n.chosen[8] = 1;
  n.capture(b);
  b.instantiate();
  resolution(a, b);
  descend(n, 8, 5, 3, false);
  descend(n, 24, 5, 3, false);
  descend(n, 24, 15, 3, false);
  descend(n, 24, 5, 3, true);
  descend(n, 100, 5, 3, false);
}
