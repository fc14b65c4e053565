/* Two GPUs in one process: copies between them, order across them by events, inside one graph and
 * between graphs, what two threads that launch at once cost each other.
 *
 *   two_gpus */
#include <atomic>
#include <thread>

#include "small_chain.cuh"

static void print(const char* what, spread_t t) {
  printf("%s: %.2f us (%.2f-%.2f)\n", what, t.median, t.low, t.high);
}

struct side_t {
  int device;
  cudaStream_t stream;
  uint4* weights_of;
  chain_t* chain;
  cudaEvent_t begin, end, silent;
};
static side_t sides[2];
enum { LARGEST = 256 << 20 };
static uint8_t* memory[2];

static void set_up() {
  for (int d = 0; d < 2; d++) {
    side_t& s = sides[d];
    s.device = d;
    CHECK(cudaSetDevice(d));
    CHECK(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&s.begin));
    CHECK(cudaEventCreate(&s.end));
    CHECK(cudaEventCreateWithFlags(&s.silent, cudaEventDisableTiming));
    small_chain_setup();
    s.weights_of = weights;
    s.chain = new chain_t;
    memory[d] = device_new<uint8_t>(LARGEST);
    CHECK(cudaMemset(memory[d], d + 1, LARGEST));
    CHECK(cudaDeviceSynchronize());
  }
  CHECK(cudaSetDevice(0));
}
static void enqueue(int d, cudaStream_t s, int length, bool dependent) {
  CHECK(cudaSetDevice(d));
  weights = sides[d].weights_of;
  sides[d].chain->enqueue(s, length, dependent);
}

static __global__ void fetch(const uint4* from, uint4* to, size_t n) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x) {
    to[i] = from[i];
  }
}

static spread_t copy_time(int d, size_t bytes, int way) {
  side_t& s = sides[d];
  CHECK(cudaSetDevice(d));
  std::vector<double> times;
  const int many = bytes > 1 << 20 ? 4 : 20;
  for (int i = 0; i < 12; i++) {
    CHECK(cudaEventRecord(s.begin, s.stream));
    for (int k = 0; k < many; k++) {
      if (way == 0) { /* push: the stream is the source's */
        CHECK(cudaMemcpyPeerAsync(memory[1 - d], 1 - d, memory[d], d, bytes, s.stream));
      } else if (way == 1) { /* pull: the destination's */
        CHECK(cudaMemcpyPeerAsync(memory[d], d, memory[1 - d], 1 - d, bytes, s.stream));
      } else if (way == 2) {
        CHECK(cudaMemcpyAsync(memory[1 - d], memory[d], bytes, cudaMemcpyDefault, s.stream));
      } else if (way == 3) {
        fetch<<<264, 512, 0, s.stream>>>((const uint4*)memory[1 - d], (uint4*)memory[d],
                                         bytes / 16);
      } else {
        fetch<<<264, 512, 0, s.stream>>>((const uint4*)memory[d], (uint4*)memory[1 - d],
                                         bytes / 16);
      }
    }
    CHECK(cudaEventRecord(s.end, s.stream));
    CHECK(cudaEventSynchronize(s.end));
    float ms;
    CHECK(cudaEventElapsedTime(&ms, s.begin, s.end));
    if (i > 1) {
      times.push_back(ms * 1e3 / many);
    }
  }
  return spread_of(times);
}

static void copies(bool peer) {
  static const char* const ways[] = {"push", "pull", "cudaMemcpyAsync default", "kernel reads",
                                     "kernel writes"};
  for (size_t bytes :
       {(size_t)4 << 10, (size_t)64 << 10, (size_t)1 << 20, (size_t)16 << 20, (size_t)LARGEST}) {
    printf("COPY %zu KB, %s:", bytes >> 10, peer ? "peer access on" : "peer access off");
    for (int way = 0; way < (peer ? 5 : 3); way++) {
      const spread_t t = copy_time(0, bytes, way);
      printf(" %s %.2f us (%.2f-%.2f), %.1f GB/s;", ways[way], t.median, t.low, t.high,
             (double)bytes / t.median / 1e3);
    }
    printf("\n");
  }
}

/* A layer on one device, then one on the other, `hops` times: by events between streams, and as one
 * graph over both. */
static void hops() {
  auto ping = [&](cudaStream_t a, cudaStream_t b, int count, std::vector<cudaEvent_t>& events) {
    for (int i = 0; i < count; i++) {
      const int d = i & 1;
      enqueue(d, d ? b : a, 1, false);
      CHECK(cudaEventRecord(events[i], d ? b : a));
      CHECK(cudaStreamWaitEvent(d ? a : b, events[i], 0));
    }
  };
  std::vector<cudaEvent_t> events(64);
  for (int i = 0; i < 64; i++) {
    CHECK(cudaSetDevice(i & 1));
    CHECK(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
  }
  cudaStream_t a = sides[0].stream, b = sides[1].stream;
  auto by_events = [&](int count) {
    return host_time(
        [&] {
          ping(a, b, count, events);
          CHECK(cudaStreamSynchronize(a));
          CHECK(cudaStreamSynchronize(b));
        },
        60, 10);
  };
  const spread_t few = by_events(8), more = by_events(48);
  printf("HOP by events between streams: %.2f us each, a layer included\n",
         (more.median - few.median) / 40);
  auto one_graph = [&](int count) {
    CHECK(cudaSetDevice(0));
    cudaStream_t q, r;
    CHECK(cudaStreamCreateWithFlags(&q, cudaStreamNonBlocking));
    CHECK(cudaSetDevice(1));
    CHECK(cudaStreamCreateWithFlags(&r, cudaStreamNonBlocking));
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamBeginCapture(q, cudaStreamCaptureModeThreadLocal));
    ping(q, r, count, events); /* an even count ends with a wait of q */
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamEndCapture(q, &graph));
    const double begin = now_us();
    CHECK(cudaSetDevice(0));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    const double made = now_us() - begin;
    std::vector<double> host, end;
    for (int i = 0; i < 70; i++) {
      const double t = now_us();
      CHECK(cudaGraphLaunch(exec, q));
      const double returned = now_us();
      CHECK(cudaStreamSynchronize(q));
      if (i >= 10) {
        host.push_back(returned - t);
        end.push_back(now_us() - t);
      }
    }
    printf(
        "HOP one graph over both devices, %d layers: instantiate %.0f us, launch returns after "
        "%.2f us, to "
        "the end %.1f (%.1f-%.1f)\n",
        count, made, spread_of(host).median, spread_of(end).median, spread_of(end).low,
        spread_of(end).high);
    return spread_of(end).median;
  };
  const double short_graph = one_graph(8), long_graph = one_graph(48);
  printf("HOP inside one graph: %.2f us each, a layer included\n", (long_graph - short_graph) / 40);
  /* the second device's graph waits for the first's */
  auto graph_on = [&](int d, int length) {
    CHECK(cudaSetDevice(d));
    return new graph_t([&](cudaStream_t s) { enqueue(d, s, length, true); });
  };
  graph_t *g = graph_on(0, 50), *h = graph_on(1, 50);
  auto run = [&](bool both, bool in_order) {
    return host_time(
        [&] {
          CHECK(cudaSetDevice(0));
          CHECK(cudaGraphLaunch(g->exec, a));
          if (both) {
            if (in_order) {
              CHECK(cudaEventRecord(sides[0].silent, a));
              CHECK(cudaStreamWaitEvent(b, sides[0].silent, 0));
            }
            CHECK(cudaSetDevice(1));
            CHECK(cudaGraphLaunch(h->exec, b));
            CHECK(cudaStreamSynchronize(b));
          }
          CHECK(cudaStreamSynchronize(a));
        },
        200, 20);
  };
  print("GRAPHS of 50 layers, one device, to the end", run(false, false));
  print("GRAPHS both devices, at once, one thread, to the end", run(true, false));
  print("GRAPHS second waits for the first by an event, to the end", run(true, true));
  const cudaError_t elsewhere = cudaGraphLaunch(g->exec, b);
  CHECK(cudaDeviceSynchronize());
  printf("GRAPH of device 0 launched into a stream of device 1: %s\n", cudaGetErrorName(elsewhere));
  cudaGetLastError();
  CHECK(cudaSetDevice(1));
  print("GRAPH launch with the other device current", host_time(
                                                          [&] {
                                                            CHECK(cudaGraphLaunch(g->exec, a));
                                                            CHECK(cudaStreamSynchronize(a));
                                                          },
                                                          100));
  print("SET DEVICE back and forth, each", [] {
    spread_t t = host_time(
        [] {
          for (int i = 0; i < 100; i++) {
            CHECK(cudaSetDevice(i & 1));
          }
        },
        50);
    return spread_t{t.median / 100, t.low / 100, t.high / 100};
  }());
}

/* Thread 0 launches and waits; others do something meanwhile. */
static void interference() {
  struct task_t {
    const char* name;
    int kind; /* 0 nothing, 1 graphs, 2 single launches, 3 memory from the pool, 4 cudaMalloc, 5
                 capture and instantiate, 6 pinned memory */
    int device;
  };
  const task_t tasks[] = {{"nothing", 0, 1},
                          {"graphs on the other device", 1, 1},
                          {"graphs on the same device", 1, 0},
                          {"single launches on the other device", 2, 1},
                          {"single launches on the same device", 2, 0},
                          {"pool memory on the other device", 3, 1},
                          {"cudaMalloc and cudaFree on the other device", 4, 1},
                          {"cudaMalloc and cudaFree on the same device", 4, 0},
                          {"capture and instantiation on the other device", 5, 1},
                          {"capture and instantiation on the same device", 5, 0},
                          {"pinning and unpinning", 6, 1}};
  CHECK(cudaSetDevice(0));
  weights = sides[0].weights_of;
  chain_t mine;
  graph_t graph([&](cudaStream_t s) { mine.enqueue(s, 50, true); });
  for (const task_t& task : tasks) {
    std::atomic<bool> stop{false};
    std::atomic<int> turns{0};
    CHECK(cudaSetDevice(task.device));
    weights = sides[task.device].weights_of;
    chain_t theirs;
    std::thread other([&] {
      CHECK(cudaSetDevice(task.device));
      if (task.kind == 0) {
        return;
      }
      cudaStream_t s;
      CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
      graph_t own([&](cudaStream_t q) { theirs.enqueue(q, 50, true); });
      while (!stop) {
        if (task.kind == 1) {
          CHECK(cudaGraphLaunch(own.exec, s));
        } else if (task.kind == 2) {
          theirs.enqueue(s, 50, true);
        } else if (task.kind == 3) {
          void* p;
          CHECK(cudaMallocAsync(&p, 1 << 20, s));
          CHECK(cudaFreeAsync(p, s));
        } else if (task.kind == 4) {
          void* p;
          CHECK(cudaMalloc(&p, 16 << 20));
          CHECK(cudaFree(p));
        } else if (task.kind == 5) {
          graph_t fresh([&](cudaStream_t q) { theirs.enqueue(q, 50, true); });
        } else {
          void* p;
          CHECK(cudaMallocHost(&p, 1 << 20));
          CHECK(cudaFreeHost(p));
        }
        CHECK(cudaStreamSynchronize(s));
        turns++;
      }
    });
    usleep(50000);
    CHECK(cudaSetDevice(0));
    std::vector<double> host, end;
    turns = 0;
    const double start = now_us();
    for (int i = 0; i < 1500; i++) {
      const double begin = now_us();
      CHECK(cudaGraphLaunch(graph.exec, sides[0].stream));
      const double returned = now_us();
      CHECK(cudaStreamSynchronize(sides[0].stream));
      host.push_back(returned - begin);
      end.push_back(now_us() - begin);
    }
    const double rate = turns / ((now_us() - start) / 1e6);
    stop = true;
    other.join();
    std::sort(host.begin(), host.end());
    const spread_t h = spread_of(host), e = spread_of(end);
    printf(
        "BESIDE %s (%.0f a second): launch returns after %.2f us (%.2f-%.2f, 99th percentile "
        "%.1f), to the end "
        "%.1f (%.1f-%.1f)\n",
        task.name, rate, h.median, h.low, h.high, host[host.size() * 99 / 100], e.median, e.low,
        e.high);
  }
}

/* Engines a second, a thread each. */
static void throughput() {
  for (int threads : {1, 2, 4, 8}) {
    for (int devices : {1, 2}) {
      if (devices > threads) {
        continue;
      }
      std::vector<std::thread> workers;
      std::atomic<int> ready{0};
      std::atomic<bool> go{false}, stop{false};
      std::atomic<long> done{0};
      std::vector<chain_t*> chains;
      std::vector<graph_t*> graphs;
      for (int t = 0; t < threads; t++) {
        CHECK(cudaSetDevice(t % devices));
        weights = sides[t % devices].weights_of;
        chain_t* c = new chain_t;
        chains.push_back(c);
        graphs.push_back(new graph_t([&](cudaStream_t s) { c->enqueue(s, 50, true); }));
        CHECK(cudaStreamSynchronize(graphs.back()->stream));
      }
      for (int t = 0; t < threads; t++) {
        workers.emplace_back([&, t] {
          CHECK(cudaSetDevice(t % devices));
          ready++;
          while (!go) {
          }
          while (!stop) {
            CHECK(cudaGraphLaunch(graphs[t]->exec, graphs[t]->stream));
            CHECK(cudaStreamSynchronize(graphs[t]->stream));
            done++;
          }
        });
      }
      while (ready < threads) {
      }
      go = true;
      usleep(100000);
      const long before = done;
      const double begin = now_us();
      usleep(500000);
      const long after = done;
      const double seconds = (now_us() - begin) / 1e6;
      stop = true;
      for (std::thread& w : workers) {
        w.join();
      }
      printf("THROUGHPUT %d threads, %d devices: %.0f chains of 50 a second\n", threads, devices,
             (double)(after - before) / seconds);
    }
  }
}

int main() {
  print_device();
  int count = 0, can = 0;
  CHECK(cudaGetDeviceCount(&count));
  if (count < 2) {
    printf("left out: %d device\n", count);
    return 0;
  }
  set_up();
  CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
  printf("PEER access %d", can);
  for (auto a : {cudaDevP2PAttrPerformanceRank, cudaDevP2PAttrAccessSupported,
                 cudaDevP2PAttrNativeAtomicSupported, cudaDevP2PAttrCudaArrayAccessSupported}) {
    int v = 0;
    CHECK(cudaDeviceGetP2PAttribute(&v, a, 0, 1));
    printf(", attribute %d: %d", (int)a, v);
  }
  printf("\n");
  copies(false);
  if (can) {
    const double begin = now_us();
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK(cudaSetDevice(1));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
    printf("PEER switching on %.1f ms\n", (now_us() - begin) / 1e3);
    copies(true);
    /* is what arrives right? */
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemset(memory[0], 7, 4096));
    CHECK(cudaMemcpyPeer(memory[1], 1, memory[0], 0, 4096));
    uint8_t byte = 0;
    CHECK(cudaMemcpy(&byte, memory[1] + 4095, 1, cudaMemcpyDeviceToHost));
    printf("PEER copy %s\n", byte == 7 ? "right" : "WRONG");
  }
  hops();
  interference();
  throughput();
}
