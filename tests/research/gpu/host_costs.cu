/* What the host pays: launching and changing graphs, copies inside and outside of them, events,
 * synchronisation, stream-ordered memory. */
#include <cstring>

#include "small_chain.cuh"

static void print(const char* what, spread_t t) {
  printf("HOST %s: %.2f us (%.2f-%.2f)\n", what, t.median, t.low, t.high);
}

/* Host time until a launch returns, on an idle stream, behind another, and until the result is
 * there; the gap is what lies between the last kernel of one replay and the first of the next. */
static void print_launches(graph_t& g, const chain_t& chain, int nodes) {
  std::vector<double> idle, busy, run, period;
  for (int i = 0; i < 60; i++) {
    const double begin = now_us();
    CHECK(cudaGraphLaunch(g.exec, g.stream));
    const double returned = now_us();
    CHECK(cudaStreamSynchronize(g.stream));
    if (i >= 10) {
      idle.push_back(returned - begin);
      run.push_back(now_us() - begin);
    }
  }
  for (int i = 0; i < 60; i++) {
    CHECK(cudaGraphLaunch(g.exec, g.stream));
    const double begin = now_us();
    CHECK(cudaGraphLaunch(g.exec, g.stream));
    busy.push_back(now_us() - begin);
    CHECK(cudaStreamSynchronize(g.stream));
  }
  auto many = [&](int n) {
    CHECK(cudaEventRecord(g.begin, g.stream));
    for (int i = 0; i < n; i++) {
      CHECK(cudaGraphLaunch(g.exec, g.stream));
    }
    CHECK(cudaEventRecord(g.end, g.stream));
    CHECK(cudaEventSynchronize(g.end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, g.begin, g.end));
    return ms * 1e3;
  };
  many(5);
  for (int i = 0; i < 9; i++) {
    period.push_back((many(40) - many(10)) / 30);
  }
  unsigned long long t[4];
  CHECK(cudaMemcpy(t, chain.stamps, sizeof t, cudaMemcpyDeviceToHost));
  const double inside = (double)(t[nodes > 1 ? 3 : 1] - t[0]) / 1e3;
  const spread_t returns = spread_of(idle);
  printf(
      "  launch returns after %.2f us (%.2f-%.2f), behind another %.2f; launch to synchronised "
      "%.1f; period back to back %.2f, first start to last end %.2f: gap %.2f us\n",
      returns.median, returns.low, returns.high, spread_of(busy).median, spread_of(run).median,
      spread_of(period).median, inside, spread_of(period).median - inside);
}

/* What it costs to change all of a graph, or one node. */
static void print_changes(graph_t& g, const graph_t& other) {
  cudaGraphExecUpdateResultInfo info;
  bool turn = false;
  auto update = [&] {
    CHECK(cudaGraphExecUpdate(g.exec, (turn = !turn) ? other.graph : g.graph, &info));
  };
  auto launch = [&] { CHECK(cudaGraphLaunch(g.exec, g.stream)); };
  size_t count = 0;
  CHECK(cudaGraphGetNodes(g.graph, nullptr, &count));
  std::vector<cudaGraphNode_t> node(count);
  CHECK(cudaGraphGetNodes(g.graph, node.data(), &count));
  cudaKernelNodeParams parameters;
  CHECK(cudaGraphKernelNodeGetParams(node[0], &parameters));
  auto set = [&] { CHECK(cudaGraphExecKernelNodeSetParams(g.exec, node[0], &parameters)); };
  auto both = [&](auto change) { return [&, change] { change(), launch(); }; };
  const spread_t all = host_time(update, 20), all_launched = host_time(both(update), 20);
  CHECK(cudaStreamSynchronize(g.stream));
  const spread_t one = host_time(set, 50), one_launched = host_time(both(set), 50);
  CHECK(cudaStreamSynchronize(g.stream));
  printf(
      "  executable update %.1f us, with launch %.1f; one node's parameters %.2f, with launch "
      "%.2f\n",
      all.median, all_launched.median, one.median, one_launched.median);
}

static void graph_launches() {
  for (int nodes : {1, 50, 100, 500}) {
    for (bool dependent : {false, true}) {
      chain_t chain, second;
      const double begin = now_us();
      graph_t graph([&](cudaStream_t s) { chain.enqueue(s, nodes, dependent, true); });
      CHECK(cudaStreamSynchronize(graph.stream));
      const double made = now_us() - begin;
      graph_t other([&](cudaStream_t s) { second.enqueue(s, nodes, dependent, true); });
      const double start = now_us();
      graph.make_executable();
      const double instantiated = now_us() - start;
      CHECK(cudaStreamSynchronize(graph.stream));
      printf(
          "GRAPH %d nodes, %s: stream, capture, instantiation and upload %.0f us, instantiation "
          "again %.0f\n",
          nodes, dependent ? "dependent" : "plain", made, instantiated);
      print_launches(graph, chain, nodes);
      print_changes(graph, other);
    }
  }
}

/* 600 KB in, 4 KB out, around 50 layers. */
static void copies() {
  chain_t chain;
  const size_t in = 600 << 10, out = 4096;
  void *host_in, *host_out, *pageable_in = malloc(in), *pageable_out = malloc(out);
  uint8_t *device_in = device_new<uint8_t>(in), *device_out = device_new<uint8_t>(out);
  CHECK(cudaMallocHost(&host_in, in));
  CHECK(cudaMallocHost(&host_out, out));
  memset(host_in, 1, in);
  memset(pageable_in, 1, in);
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  auto body = [&](cudaStream_t q) { chain.enqueue(q, 50, true); };
  auto both = [&](cudaStream_t q, const void* from, void* to) {
    CHECK(cudaMemcpyAsync(device_in, from, in, cudaMemcpyHostToDevice, q));
    body(q);
    CHECK(cudaMemcpyAsync(to, device_out, out, cudaMemcpyDeviceToHost, q));
  };
  graph_t inside([&](cudaStream_t q) { both(q, host_in, host_out); });
  graph_t bare(body);
  auto report = [&](const char* name, auto work) {
    std::vector<double> returns, total;
    for (int i = 0; i < 110; i++) {
      const double begin = now_us();
      work();
      const double returned = now_us();
      CHECK(cudaStreamSynchronize(s));
      if (i >= 10) {
        returns.push_back(returned - begin);
        total.push_back(now_us() - begin);
      }
    }
    printf("COPIES %s: host %.2f us (%.2f-%.2f), to the end %.1f (%.1f-%.1f)\n", name,
           spread_of(returns).median, spread_of(returns).low, spread_of(returns).high,
           spread_of(total).median, spread_of(total).low, spread_of(total).high);
  };
  report("none, graph of 50 layers", [&] { CHECK(cudaGraphLaunch(bare.exec, s)); });
  report("pinned, inside the graph", [&] { CHECK(cudaGraphLaunch(inside.exec, s)); });
  report("pinned, outside", [&] {
    CHECK(cudaMemcpyAsync(device_in, host_in, in, cudaMemcpyHostToDevice, s));
    CHECK(cudaGraphLaunch(bare.exec, s));
    CHECK(cudaMemcpyAsync(host_out, device_out, out, cudaMemcpyDeviceToHost, s));
  });
  report("pageable, outside", [&] {
    CHECK(cudaMemcpyAsync(device_in, pageable_in, in, cudaMemcpyHostToDevice, s));
    CHECK(cudaGraphLaunch(bare.exec, s));
    CHECK(cudaMemcpyAsync(pageable_out, device_out, out, cudaMemcpyDeviceToHost, s));
  });
  report("memcpy into pinned staging, inside the graph", [&] {
    memcpy(host_in, pageable_in, in);
    CHECK(cudaGraphLaunch(inside.exec, s));
  });
  report("only the input, pinned, stream",
         [&] { CHECK(cudaMemcpyAsync(device_in, host_in, in, cudaMemcpyHostToDevice, s)); });
  report("only the output, pinned, stream",
         [&] { CHECK(cudaMemcpyAsync(host_out, device_out, out, cudaMemcpyDeviceToHost, s)); });
  report("50 layers launched without a graph", [&] { body(s); });
  report("50 layers without a graph, plain", [&] { chain.enqueue(s, 50, false); });
  /* a copy node's address changed */
  size_t count = 0;
  CHECK(cudaGraphGetNodes(inside.graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  CHECK(cudaGraphGetNodes(inside.graph, nodes.data(), &count));
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type;
    CHECK(cudaGraphNodeGetType(node, &type));
    if (type == cudaGraphNodeTypeMemcpy) {
      print("new address for a copy node, with launch",
            host_time(
                [&] {
                  CHECK(cudaGraphExecMemcpyNodeSetParams1D(inside.exec, node, device_in, host_in,
                                                           in, cudaMemcpyHostToDevice));
                  CHECK(cudaGraphLaunch(inside.exec, s));
                },
                50));
      break;
    }
  }
  CHECK(cudaStreamSynchronize(s));
}

static __global__ void raise_flag(volatile int* flag, int value) {
  __threadfence_system();
  *flag = value;
}

static void events() {
  cudaStream_t s;
  cudaEvent_t a, b, silent;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  CHECK(cudaEventCreateWithFlags(&silent, cudaEventDisableTiming));
  print("event record", host_time([&] { CHECK(cudaEventRecord(a, s)); }, 300));
  CHECK(cudaStreamSynchronize(s));
  print("event record without timing", host_time([&] { CHECK(cudaEventRecord(silent, s)); }, 300));
  CHECK(cudaStreamSynchronize(s));
  print("event query, done", host_time([&] { CHECK(cudaEventQuery(a)); }, 300));
  CHECK(cudaEventRecord(b, s));
  CHECK(cudaEventSynchronize(b));
  print("event elapsed", host_time(
                             [&] {
                               float ms;
                               CHECK(cudaEventElapsedTime(&ms, a, b));
                             },
                             300));
  print("event synchronize, done", host_time([&] { CHECK(cudaEventSynchronize(b)); }, 300));
  print("stream wait event", host_time([&] { CHECK(cudaStreamWaitEvent(s, silent, 0)); }, 300));
  print("stream synchronize, idle", host_time([&] { CHECK(cudaStreamSynchronize(s)); }, 300));
  print("event create and destroy", host_time(
                                        [&] {
                                          cudaEvent_t e;
                                          CHECK(cudaEventCreate(&e));
                                          CHECK(cudaEventDestroy(e));
                                        },
                                        100));
  print("set device", host_time([&] { CHECK(cudaSetDevice(0)); }, 300));
  CHECK(cudaStreamDestroy(s));
}

static void memory() {
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (size_t size : {(size_t)4096, (size_t)16 << 20}) {
    void* p;
    const spread_t pooled = host_time(
        [&] {
          CHECK(cudaMallocAsync(&p, size, s));
          CHECK(cudaFreeAsync(p, s));
        },
        100);
    CHECK(cudaStreamSynchronize(s));
    const spread_t synchronised = host_time(
        [&] {
          CHECK(cudaMallocAsync(&p, size, s));
          CHECK(cudaFreeAsync(p, s));
          CHECK(cudaStreamSynchronize(s));
        },
        50);
    cudaMemPool_t pool;
    uint64_t keep = ~0ull, nothing = 0;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    const spread_t kept = host_time(
        [&] {
          CHECK(cudaMallocAsync(&p, size, s));
          CHECK(cudaFreeAsync(p, s));
          CHECK(cudaStreamSynchronize(s));
        },
        50);
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &nothing));
    const spread_t plain = host_time(
        [&] {
          CHECK(cudaMalloc(&p, size));
          CHECK(cudaFree(p));
        },
        30);
    const spread_t pinned = host_time(
        [&] {
          CHECK(cudaMallocHost(&p, size));
          CHECK(cudaFreeHost(p));
        },
        10);
    printf(
        "MEMORY %zu KB, take and give: stream-ordered %.2f us, with synchronisation (pool gives "
        "back) %.2f, "
        "(pool keeps) %.2f, cudaMalloc %.1f, pinned %.1f\n",
        size >> 10, pooled.median, synchronised.median, kept.median, plain.median, pinned.median);
  }
  CHECK(cudaStreamDestroy(s));
}

/* How soon the host knows that a graph is done. */
static void notice() {
  cudaStream_t s;
  cudaEvent_t silent;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&silent, cudaEventDisableTiming));
  chain_t chain;
  graph_t graph([&](cudaStream_t q) { chain.enqueue(q, 50, true); });
  volatile int* flag;
  CHECK(cudaHostAlloc((void**)&flag, 64, cudaHostAllocMapped));
  int* device_flag;
  CHECK(cudaHostGetDevicePointer((void**)&device_flag, (void*)flag, 0));
  cudaEvent_t blocking;
  CHECK(cudaEventCreateWithFlags(&blocking, cudaEventBlockingSync | cudaEventDisableTiming));
  const spread_t device = graph.time(51);
  print("50 layers by device events", device);
  print("50 layers, stream synchronize", host_time(
                                             [&] {
                                               CHECK(cudaGraphLaunch(graph.exec, s));
                                               CHECK(cudaStreamSynchronize(s));
                                             },
                                             100));
  print("50 layers, event query in a loop",
        host_time(
            [&] {
              CHECK(cudaGraphLaunch(graph.exec, s));
              CHECK(cudaEventRecord(silent, s));
              while (cudaEventQuery(silent) == cudaErrorNotReady) {
              }
            },
            100));
  print("50 layers, blocking event", host_time(
                                         [&] {
                                           CHECK(cudaGraphLaunch(graph.exec, s));
                                           CHECK(cudaEventRecord(blocking, s));
                                           CHECK(cudaEventSynchronize(blocking));
                                         },
                                         100));
  int value = 0;
  *flag = 0;
  print("50 layers, flag in host memory", host_time(
                                              [&] {
                                                CHECK(cudaGraphLaunch(graph.exec, s));
                                                raise_flag<<<1, 1, 0, s>>>(device_flag, ++value);
                                                while (*flag != value) {
                                                }
                                              },
                                              100));
  CHECK(cudaStreamSynchronize(s));
}

int main() {
  print_device();
  small_chain_setup();
  graph_launches();
  copies();
  events();
  memory();
  notice();
}
