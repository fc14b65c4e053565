/* A network whose extent only the run finds: a kernel finds rows, one gathers them, layers work on
 * them. Who says how large the grids are: the most there could be, a loop, the host, a choice among
 * graphs on the device, or a kernel that changes the nodes behind it.
 *
 *   open_extents --check      for the sanitizers */
#include <cstring>
#include <memory>

#include "conditional.cuh"

enum { CHANNELS = 256, THREADS = 128, ROWS = THREADS * 8 / CHANNELS, MOST_LAYERS = 16 };

/* Stands for what finds places: their number and the places themselves; `wanted` says how many. */
static __global__ void __launch_bounds__(1024)
    find(const int* wanted, int most, int* count, int* places) {
  wait_for_predecessor();
  const int n = *(volatile const int*)wanted;
  for (int i = blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) {
    places[i] = (int)((long long)i * 7919 % most);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *count = n;
  }
  release_dependents();
}
/* A thread has eight elements; with LOOP a block goes on until no row is left. With places, row r
 * comes from there. y = relu(x * 0.75 + 0.125). */
template <bool LOOP>
static __global__ void __launch_bounds__(1024)
    rows_layer(const half* x, half* y, const int* places, const int* count, int known) {
  wait_for_predecessor();
  release_dependents();
  const int n = count ? *(volatile const int*)count : known;
  const int c = threadIdx.x * 8 % CHANNELS;
  const int first = (int)(blockIdx.x * blockDim.x + threadIdx.x) * 8 / CHANNELS;
  for (int r = first; r < n; r += (int)(gridDim.x * blockDim.x) * 8 / CHANNELS) {
    const size_t from = (size_t)(places ? places[r] : r) * CHANNELS + c;
    const uint4 in = __ldcg((const uint4*)(x + from));
    const uint32_t words[4] = {in.x, in.y, in.z, in.w};
    uint32_t out[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const float2 f = unpack_half(words[i]);
      out[i] = pack_half(fmaxf(f.x * 0.75f + 0.125f, 0.f), fmaxf(f.y * 0.75f + 0.125f, 0.f));
    }
    *(uint4*)(y + (size_t)r * CHANNELS + c) = make_uint4(out[0], out[1], out[2], out[3]);
    if (!LOOP) {
      break;
    }
  }
}
/* Grids for what was found, of all nodes in one call or in a call each. */
static __global__ void resize(const int* count, const cudaGraphDeviceNode_t* nodes, int node_count,
                              bool together) {
  const unsigned blocks = max(1, (*(volatile const int*)count + ROWS - 1) / ROWS);
  if (!together) {
    for (int i = threadIdx.x; i < node_count; i += blockDim.x) {
      cudaGraphKernelNodeSetGridDim(nodes[i], dim3(blocks));
    }
  } else if (threadIdx.x == 0) {
    alignas(cudaGraphKernelNodeUpdate) char
        space[(MOST_LAYERS + 1) * sizeof(cudaGraphKernelNodeUpdate)];
    cudaGraphKernelNodeUpdate* const updates = (cudaGraphKernelNodeUpdate*)space;
    for (int i = 0; i < node_count; i++) {
      updates[i].node = nodes[i];
      updates[i].field = cudaGraphKernelNodeFieldGridDim;
      updates[i].updateData.gridDim = dim3(blocks);
    }
    cudaGraphKernelNodeUpdatesApply(updates, (size_t)node_count);
  }
}
static __global__ void disable(const int* count, const cudaGraphDeviceNode_t* nodes,
                               int node_count) {
  const bool some = *(volatile const int*)count > 0;
  for (int i = threadIdx.x; i < node_count; i += blockDim.x) {
    cudaGraphKernelNodeSetEnabled(nodes[i], some);
  }
}
enum { BUCKETS = 4 };
static __host__ __device__ inline int bucket_rows(int most, int bucket) {
  return bucket == 0 ? most / 256 : bucket == 1 ? most / 32 : bucket == 2 ? most / 4 : most;
}
static __global__ void choose(cudaGraphConditionalHandle handle, const int* count, int most) {
  unsigned b = 0;
  while (*count > bucket_rows(most, (int)b)) {
    b++;
  }
  cudaGraphSetConditional(handle, b);
}

struct problem_t {
  int most, layers;
  half *x, *y[2];
  int *wanted, *count, *places, *pinned;
  bool check;

  problem_t(int most, int layers, bool check) : most(most), layers(layers), check(check) {
    const size_t n = (size_t)most * CHANNELS;
    x = random_half(n, 1, 1);
    y[0] = device_new<half>(n);
    y[1] = device_new<half>(n);
    wanted = device_new<int>(1);
    count = device_new<int>(1);
    places = device_new<int>((size_t)most);
    CHECK(cudaHostAlloc((void**)&pinned, 64, 0));
  }
  problem_t(const problem_t&) = delete;
  problem_t& operator=(const problem_t&) = delete;
  ~problem_t() {
    for (void* p :
         {(void*)x, (void*)y[0], (void*)y[1], (void*)wanted, (void*)count, (void*)places}) {
      cudaFree(p);
    }
    cudaFreeHost(pinned);
  }
  void record_find(cudaStream_t s, bool dependent) const {
    CHECK(launch(find, dim3(8), 1024, 0, dim3(1), dependent, s, (const int*)wanted, most, count,
                 places));
  }
  /* Gather and layers, for `rows` rows; known -1: the device's number counts. */
  template <class Launch>
  void record_rows(Launch launch_one) const {
    for (int l = 0; l <= layers; l++) {
      launch_one(l ? y[1 - l % 2] : x, y[l % 2], l ? nullptr : places);
    }
  }
  void record_rows(cudaStream_t s, int rows, int known, bool dependent) const {
    record_rows([&](const half* from, half* to, const int* at) {
      CHECK(launch(rows_layer<false>, dim3((unsigned)std::max(1, (rows + ROWS - 1) / ROWS)),
                   THREADS, 0, dim3(1), dependent, s, from, to, at,
                   (const int*)(known >= 0 ? nullptr : count), known));
    });
  }
  /* Whether rows are right and nothing is written behind them. */
  bool right(int found) const {
    std::vector<half> hx((size_t)most * CHANNELS), hy(hx.size());
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(hx.data(), x, hx.size() * 2, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(hy.data(), y[layers % 2], hy.size() * 2, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < hy.size(); i += check ? 1 : 37) { /* of the large ones a part */
      const size_t r = i / CHANNELS;
      if (r >= (size_t)found) {
        if (*(const uint16_t*)&hy[i] != 0xffff) {
          return false;
        }
        continue;
      }
      half v = hx[r * 7919 % (size_t)most * CHANNELS + i % CHANNELS];
      for (int l = 0; l <= layers; l++) {
        v = __float2half(std::max((float)v * 0.75f + 0.125f, 0.f));
      }
      if (std::fabs((float)v - (float)hy[i]) > 2e-3f) { /* an fp16 step below 2, joined or not */
        return false;
      }
    }
    return true;
  }
  void want(int n) const {
    CHECK(cudaMemcpy(wanted, &n, 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(count, 0xff, 4));
    CHECK(cudaMemset(y[0], 0xff, (size_t)most * CHANNELS * 2));
    CHECK(cudaMemset(y[1], 0xff, (size_t)most * CHANNELS * 2));
    CHECK(cudaDeviceSynchronize());
  }
};

static const int fractions[] = {0, 256, 10, 1}; /* found: none, one of so many */

/* `once` runs the whole; `device` is the graph if it is one. */
template <class Once>
static void show(const problem_t& p, const char* name, graph_t* device, Once once) {
  printf("  %s:", name);
  for (int f : fractions) {
    const int found = f ? p.most / f : 0;
    p.want(found);
    once(found);
    const bool right = p.right(found);
    printf(" %d: ", found);
    if (!p.check) {
      const spread_t end = host_time([&] { once(found); }, 31);
      if (device) {
        printf("%.1f, ", device->time(15).median);
      }
      printf("to the end %.1f (%.1f-%.1f)", end.median, end.low, end.high);
    }
    printf("%s;", right ? "" : " WRONG");
  }
  printf("\n");
}

static void one_graph(const problem_t& p, const char* name,
                      void (*record)(const problem_t&, cudaStream_t)) {
  graph_t g([&](cudaStream_t s) { record(p, s); });
  show(p, name, &g, [&](int) { g.run(name); });
}

/* The host reads the number, then launches what fits. */
static void by_host(const problem_t& p) {
  graph_t first([&](cudaStream_t s) {
    p.record_find(s, false);
    CHECK(cudaMemcpyAsync(p.pinned, p.count, 4, cudaMemcpyDeviceToHost, s));
  });
  std::vector<std::unique_ptr<graph_t>> buckets;
  for (int b = 0; b < BUCKETS; b++) {
    buckets.emplace_back(
        new graph_t([&](cudaStream_t s) { p.record_rows(s, bucket_rows(p.most, b), -1, true); }));
  }
  show(p, "host reads, graph of a bucket", nullptr, [&](int) {
    first.run("first");
    int b = 0;
    while (*(volatile int*)p.pinned > bucket_rows(p.most, b)) {
      b++;
    }
    CHECK(cudaGraphLaunch(buckets[(size_t)b]->exec, first.stream));
    wait_or_die(first.stream, "bucket");
  });
  graph_t exact([&](cudaStream_t s) { p.record_rows(s, p.most, -1, true); });
  size_t node_count = 0;
  CHECK(cudaGraphGetNodes(exact.graph, nullptr, &node_count));
  std::vector<cudaGraphNode_t> nodes(node_count);
  CHECK(cudaGraphGetNodes(exact.graph, nodes.data(), &node_count));
  std::vector<cudaKernelNodeParams> known(node_count);
  for (size_t i = 0; i < node_count; i++) {
    CHECK(cudaGraphKernelNodeGetParams(nodes[i], &known[i]));
  }
  show(p, "host reads, sets each node", nullptr, [&](int) {
    first.run("first");
    const int n = *(volatile int*)p.pinned;
    for (size_t i = 0; i < node_count; i++) {
      cudaKernelNodeParams changed = known[i];
      changed.gridDim = dim3((unsigned)std::max(1, (n + ROWS - 1) / ROWS));
      CHECK(cudaGraphExecKernelNodeSetParams(exact.exec, nodes[i], &changed));
    }
    CHECK(cudaGraphLaunch(exact.exec, first.stream));
    wait_or_die(first.stream, "exact");
  });
  show(p, "host reads, launches singly", nullptr, [&](int) {
    first.run("first");
    const int n = *(volatile int*)p.pinned;
    p.record_rows(first.stream, n, -1, true);
    wait_or_die(first.stream, "singly");
  });
}

/* A graph whose kernels behind the first may be changed by a kernel in it. */
static void by_device(const problem_t& p, int way, bool dependent) {
  cudaGraphDeviceNode_t* nodes = device_new<cudaGraphDeviceNode_t>(MOST_LAYERS + 1);
  std::vector<cudaGraphDeviceNode_t> handles;
  cudaError_t refused = cudaSuccess;
  static const char* const names[] = {"nodes resized, a call each", "nodes resized, one call",
                                      "nodes for the most, disabled if none"};
  const std::string name = std::string(names[way]) + (dependent ? ", dependent" : "");
  auto record = [&](cudaStream_t s) {
    p.record_find(s, false);
    if (way == 2) {
      disable<<<1, 32, 0, s>>>(p.count, nodes, p.layers + 1);
    } else {
      resize<<<1, 32, 0, s>>>(p.count, nodes, p.layers + 1, way == 1);
    }
    p.record_rows([&](const half* from, half* to, const int* at) {
      cudaLaunchConfig_t config = {};
      cudaLaunchAttribute attribute[2] = {};
      config.gridDim = dim3((unsigned)((p.most + ROWS - 1) / ROWS));
      config.blockDim = dim3(THREADS);
      config.stream = s;
      config.attrs = attribute;
      attribute[0].id = cudaLaunchAttributeDeviceUpdatableKernelNode;
      attribute[0].val.deviceUpdatableKernelNode.deviceUpdatable = 1;
      attribute[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attribute[1].val.programmaticStreamSerializationAllowed = 1;
      config.numAttrs = dependent ? 2 : 1;
      const cudaError_t status =
          cudaLaunchKernelEx(&config, rows_layer<false>, from, to, at, (const int*)p.count, 0);
      refused = refused == cudaSuccess ? status : refused;
      handles.push_back(attribute[0].val.deviceUpdatableKernelNode.devNode);
    });
  };
  cudaStream_t s;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  record(s);
  cudaError_t status = cudaStreamEndCapture(s, &graph);
  status = refused != cudaSuccess ? refused : status;
  if (status == cudaSuccess) {
    status = cudaGraphInstantiate(&exec, graph, 0);
  }
  if (status != cudaSuccess) {
    printf("  %s: refused: %s\n", name.c_str(), cudaGetErrorString(status));
    cudaGetLastError();
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaFree(nodes));
    return;
  }
  CHECK(cudaGraphUpload(exec, s));
  CHECK(cudaMemcpy(nodes, handles.data(), handles.size() * sizeof handles[0],
                   cudaMemcpyHostToDevice));
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::vector<double> device;
  show(p, name.c_str(), nullptr, [&](int) {
    CHECK(cudaEventRecord(begin, s));
    CHECK(cudaGraphLaunch(exec, s));
    CHECK(cudaEventRecord(end, s));
    wait_or_die(s, "device updates");
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    device.push_back(ms * 1e3);
  });
  const size_t each = device.size() / 4;
  printf("    device alone:");
  for (size_t i = 0; i < 4 && each > 4; i++) {
    printf(" %.1f", spread_of({device.begin() + (long)(i * each + 4),
                               device.begin() + (long)((i + 1) * each)})
                        .median);
  }
  cudaGraphExec_t second;
  const cudaError_t again = cudaGraphInstantiate(&second, graph, 0);
  printf("; instantiated again: %s\n", cudaGetErrorString(again));
  cudaGetLastError();
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(s));
  CHECK(cudaFree(nodes));
}

static void by_switch(const problem_t& p) {
  graph_t g([&](cudaStream_t s) {
    p.record_find(s, false);
    const cudaGraphConditionalHandle handle = condition_handle(s, 0, true);
    choose<<<1, 1, 0, s>>>(handle, p.count, p.most);
    const std::vector<cudaGraph_t> bodies =
        condition_node(s, handle, cudaGraphCondTypeSwitch, BUCKETS);
    for (int b = 0; b < BUCKETS; b++) {
      CHECK(record_body(bodies[(size_t)b], [&](cudaStream_t inner) {
        p.record_rows(inner, bucket_rows(p.most, b), -1, true);
      }));
    }
  });
  show(p, "switch among four grids", &g, [&](int) { g.run("switch"); });
}

static void measure(int most, int layers, bool check) {
  problem_t p(most, layers, check);
  printf("EXTENTS at most %d rows of %d, gather and %d layers; all: bytes %.1f us\n", most,
         CHANNELS, layers, (double)most * CHANNELS * 4 * (layers + 1) / 2.98e6);
  printf("  known beforehand:");
  for (int f : fractions) {
    const int found = f ? most / f : 0;
    p.want(found);
    graph_t g([&](cudaStream_t s) {
      p.record_find(s, true);
      p.record_rows(s, found, found, true);
    });
    const spread_t end = host_time([&] { g.run("known"); }, check ? 1 : 31);
    printf(" %d: %.1f, to the end %.1f (%.1f-%.1f);", found, g.time(check ? 1 : 15).median,
           end.median, end.low, end.high);
  }
  printf("\n");
  one_graph(p, "grid for the most", [](const problem_t& q, cudaStream_t s) {
    q.record_find(s, false);
    q.record_rows(s, q.most, -1, false);
  });
  one_graph(p, "grid for the most, dependent", [](const problem_t& q, cudaStream_t s) {
    q.record_find(s, true);
    q.record_rows(s, q.most, -1, true);
  });
  const int shapes[][2] = {{132, 128}, {132, 256}, {132, 512}, {264, 256}, {528, 128}};
  for (const auto& shape : shapes) {
    const int blocks = shape[0], threads = shape[1];
    for (bool dependent : {false, true}) {
      graph_t g([&](cudaStream_t s) {
        p.record_find(s, dependent);
        p.record_rows([&](const half* from, half* to, const int* at) {
          CHECK(launch(rows_layer<true>, dim3((unsigned)blocks), threads, 0, dim3(1), dependent, s,
                       from, to, at, (const int*)p.count, 0));
        });
      });
      const std::string name = std::to_string(blocks) + " blocks of " + std::to_string(threads) +
                               ", a loop" + (dependent ? ", dependent" : "");
      show(p, name.c_str(), &g, [&](int) { g.run("loop"); });
    }
  }
  by_switch(p);
  for (bool dependent : {false, true}) {
    for (int way = 0; way < 3; way++) {
      by_device(p, way, dependent);
    }
  }
  by_host(p);
}

int main(int argc, char** argv) {
  print_device();
  conditional_setup();
  if (argc > 1 && !strcmp(argv[1], "--check")) {
    measure(515, 3, true);
    return 0;
  }
  for (int most : {2560, 25600}) {
    for (int layers : {1, 4, 16}) {
      measure(most, layers, false);
    }
  }
}
