/* Activation memory from pools: taken inside a captured graph or around it, shared by contexts that
 * do not run at once, given back; what each costs the host and the device, and how much memory
 * stays.
 *
 *   memory_pools
 *   memory_pools --check      for the sanitizers */
#include <cstring>
#include <memory>
#include <thread>

#include "measure.cuh"

/* Adds `value` to each word that `from` has, or sets it. */
static __global__ void step_kernel(const unsigned* from, unsigned* to, size_t words,
                                   unsigned value) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words;
       i += (size_t)gridDim.x * blockDim.x) {
    to[i] = (from ? from[i] : 0) + value;
  }
}
static void enqueue(cudaStream_t s, const unsigned* from, unsigned* to, size_t words,
                    unsigned value) {
  step_kernel<<<112, 128, 0, s>>>(from, to, words, value);
  CHECK(cudaGetLastError());
}

struct amounts_t {
  double used, reserved, used_most, reserved_most; /* MB */
};
static double megabytes(uint64_t bytes) {
  return (double)bytes / (1 << 20);
}
static amounts_t of_graphs() {
  uint64_t v[4];
  static const cudaGraphMemAttributeType names[] = {
      cudaGraphMemAttrUsedMemCurrent, cudaGraphMemAttrReservedMemCurrent,
      cudaGraphMemAttrUsedMemHigh, cudaGraphMemAttrReservedMemHigh};
  for (int i = 0; i < 4; i++) {
    CHECK(cudaDeviceGetGraphMemAttribute(0, names[i], &v[i]));
  }
  return {megabytes(v[0]), megabytes(v[1]), megabytes(v[2]), megabytes(v[3])};
}
static amounts_t of_pool(cudaMemPool_t pool) {
  uint64_t v[4];
  static const cudaMemPoolAttr names[] = {
      cudaMemPoolAttrUsedMemCurrent, cudaMemPoolAttrReservedMemCurrent, cudaMemPoolAttrUsedMemHigh,
      cudaMemPoolAttrReservedMemHigh};
  for (int i = 0; i < 4; i++) {
    CHECK(cudaMemPoolGetAttribute(pool, names[i], &v[i]));
  }
  return {megabytes(v[0]), megabytes(v[1]), megabytes(v[2]), megabytes(v[3])};
}
static std::string text(const amounts_t& a) {
  char t[120];
  snprintf(t, sizeof t, "used %.1f MB, reserved %.1f (at most %.1f, %.1f)", a.used, a.reserved,
           a.used_most, a.reserved_most);
  return t;
}

enum place_t { ARENA, EACH_LAYER, ONE_FOR_ALL };
static const char* const place_names[] = {"fixed arena", "taken by each layer in the graph",
                                          "taken once in the graph"};

/* A context: a graph of `layers` steps over buffers of `bytes`, its result in `out`. */
struct context_t {
  std::unique_ptr<graph_t> graph;
  unsigned *arena = nullptr, *out;
  size_t words;
  int layers;
  double capture_us = 0;
  context_t(place_t place, int layers, size_t bytes, unsigned seed)
      : out(device_new<unsigned>(bytes / 4)), words(bytes / 4), layers(layers) {
    if (place == ARENA) {
      arena = device_new<unsigned>(2 * words);
    }
    const double begin = now_us();
    graph.reset(new graph_t([&](cudaStream_t s) {
      if (place == ONE_FOR_ALL) {
        void* p;
        CHECK(cudaMallocAsync(&p, 8 * words, s));
        record(s, (unsigned*)p, seed);
        CHECK(cudaFreeAsync(p, s));
      } else if (place == ARENA) {
        record(s, arena, seed);
      } else {
        unsigned* last = nullptr;
        for (int i = 0; i < layers; i++) {
          unsigned* next = out;
          if (i + 1 < layers) {
            CHECK(cudaMallocAsync((void**)&next, 4 * words, s));
          }
          enqueue(s, last, next, words, i == 0 ? seed : 1);
          if (last) {
            CHECK(cudaFreeAsync(last, s));
          }
          last = next;
        }
      }
    }));
    capture_us = now_us() - begin;
  }
  void record(cudaStream_t s, unsigned* two, unsigned seed) const {
    for (int i = 0; i < layers; i++) {
      enqueue(s, i == 0 ? nullptr : two + (size_t)((i - 1) & 1) * words,
              i + 1 == layers ? out : two + (size_t)(i & 1) * words, words, i == 0 ? seed : 1);
    }
  }
  context_t(const context_t&) = delete;
  context_t& operator=(const context_t&) = delete;
  ~context_t() {
    graph.reset();
    cudaFree(arena);
    cudaFree(out);
  }
  void launch() const {
    CHECK(cudaGraphLaunch(graph->exec, graph->stream));
  }
  bool right(unsigned seed) const {
    std::vector<unsigned> host(words);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host.data(), out, 4 * words, cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(out, 0xff, 4 * words));
    return std::all_of(host.begin(), host.end(),
                       [&](unsigned v) { return v == seed + (unsigned)layers - 1; });
  }
};

/* One graph: what allocation inside it costs. */
static void inside(size_t bytes, bool check) {
  for (place_t place : {ARENA, EACH_LAYER, ONE_FOR_ALL}) {
    context_t c(place, check ? 5 : 50, bytes, 7);
    std::vector<double> host, whole;
    const double before = now_us();
    c.launch();
    wait_or_die(c.graph->stream, "first");
    const double first = now_us() - before;
    for (int i = 0; i < (check ? 2 : 60); i++) {
      const double begin = now_us();
      c.launch();
      host.push_back(now_us() - begin);
      wait_or_die(c.graph->stream, "graph");
      whole.push_back(now_us() - begin);
    }
    const spread_t h = spread_of(host), w = spread_of(whole),
                   device = c.graph->time(check ? 1 : 21);
    printf(
        "INSIDE %d layers of %zu KB, %s: captured and instantiated %.0f us, first run %.0f, launch "
        "%.1f "
        "(%.1f-%.1f), to the end %.1f (%.1f-%.1f), by events %.1f (%.1f-%.1f)%s; %s\n",
        c.layers, bytes >> 10, place_names[place], c.capture_us, first, h.median, h.low, h.high,
        w.median, w.low, w.high, device.median, device.low, device.high, c.right(7) ? "" : " WRONG",
        text(of_graphs()).c_str());
  }
  const amounts_t before = of_graphs();
  const double begin = now_us();
  CHECK(cudaDeviceGraphMemTrim(0));
  printf("TRIM %.0f us; before %s; behind %s\n", now_us() - begin, text(before).c_str(),
         text(of_graphs()).c_str());
}

/* Several contexts whose graphs take their memory themselves: how much stays, what a launch costs.
 */
static void together(place_t place, int count, size_t bytes, bool one_stream, bool check) {
  size_t before = 0, all = 0, behind = 0;
  CHECK(cudaDeviceGraphMemTrim(0));
  uint64_t zero = 0;
  CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &zero));
  CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrReservedMemHigh, &zero));
  CHECK(cudaMemGetInfo(&before, &all));
  std::vector<std::unique_ptr<context_t>> contexts;
  for (int i = 0; i < count; i++) {
    contexts.emplace_back(new context_t(place, check ? 5 : 20, bytes, 100u * (unsigned)i));
  }
  cudaStream_t shared = contexts[0]->graph->stream;
  auto stream_of = [&](int i) { return one_stream ? shared : contexts[(size_t)i]->graph->stream; };
  bool right = true;
  /* in turn: each waits for the one before */
  std::vector<double> host;
  for (int round = 0; round < (check ? 2 : 12); round++) {
    for (int i = 0; i < count; i++) {
      const double begin = now_us();
      CHECK(cudaGraphLaunch(contexts[(size_t)i]->graph->exec, stream_of(i)));
      if (round > 1) {
        host.push_back(now_us() - begin);
      }
      wait_or_die(stream_of(i), "in turn");
    }
  }
  for (int i = 0; i < count; i++) {
    right = right && contexts[(size_t)i]->right(100u * (unsigned)i);
  }
  CHECK(cudaMemGetInfo(&behind, &all));
  const spread_t turn = spread_of(host);
  const amounts_t in_turn = of_graphs();
  const double taken = megabytes(before > behind ? before - behind : 0);
  /* all queued at once */
  host.clear();
  std::vector<double> whole;
  for (int round = 0; round < (check ? 2 : 20); round++) {
    const double begin = now_us();
    for (int i = 0; i < count; i++) {
      const double start = now_us();
      CHECK(cudaGraphLaunch(contexts[(size_t)i]->graph->exec, stream_of(i)));
      if (round > 1) {
        host.push_back(now_us() - start);
      }
    }
    CHECK(cudaDeviceSynchronize());
    if (round > 1) {
      whole.push_back(now_us() - begin);
    }
  }
  for (int i = 0; i < count; i++) {
    right = right && contexts[(size_t)i]->right(100u * (unsigned)i);
  }
  const spread_t queue = spread_of(host), all_of_them = spread_of(whole);
  printf(
      "TOGETHER %d contexts of %.0f MB, %s, %s: taken %.0f MB, in turn launch %.1f (%.1f-%.1f), "
      "%s; all "
      "queued launch %.1f (%.1f-%.1f), a round %.0f (%.0f-%.0f), %s%s\n",
      count, megabytes(2 * bytes), place_names[place], one_stream ? "one stream" : "a stream each",
      taken, turn.median, turn.low, turn.high, text(in_turn).c_str(), queue.median, queue.low,
      queue.high, all_of_them.median, all_of_them.low, all_of_them.high, text(of_graphs()).c_str(),
      right ? "" : " WRONG");
}

/* Stream-ordered memory around work that is not captured. */
static void around(size_t bytes, bool check) {
  const int count = check ? 3 : 60;
  for (const char* form : {"default pool", "default pool that keeps", "own pool that keeps"}) {
    cudaMemPool_t pool;
    double created = 0;
    const bool own = form[0] == 'o';
    if (own) {
      cudaMemPoolProps properties = {};
      properties.allocType = cudaMemAllocationTypePinned;
      properties.location.type = cudaMemLocationTypeDevice;
      properties.location.id = 0;
      const double begin = now_us();
      CHECK(cudaMemPoolCreate(&pool, &properties));
      created = now_us() - begin;
    } else {
      CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    }
    uint64_t keep = strstr(form, "keeps") ? UINT64_MAX : 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    cudaStream_t s;
    CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    std::vector<double> take, give, whole;
    double first = 0;
    for (int i = 0; i < count; i++) {
      void* p;
      const double begin = now_us();
      CHECK(cudaMallocFromPoolAsync(&p, bytes, pool, s));
      const double taken = now_us();
      enqueue(s, nullptr, (unsigned*)p, std::min<size_t>(bytes / 4, 4096), 1);
      const double queued = now_us();
      CHECK(cudaFreeAsync(p, s));
      const double given = now_us();
      CHECK(cudaStreamSynchronize(s));
      if (i == 0) {
        first = taken - begin;
      } else {
        take.push_back(taken - begin);
        give.push_back(given - queued);
        whole.push_back(now_us() - begin);
      }
    }
    const amounts_t kept = of_pool(pool);
    const double trim = now_us();
    CHECK(cudaMemPoolTrimTo(pool, 0));
    const double trimmed = now_us() - trim;
    printf(
        "AROUND %zu KB, %s (created in %.0f us): first %.1f us, take %.1f, give %.1f, with a "
        "kernel and a "
        "synchronisation %.1f (%.1f-%.1f); kept %.1f MB, trimmed in %.0f us\n",
        bytes >> 10, form, created, first, spread_of(take).median, spread_of(give).median,
        spread_of(whole).median, spread_of(whole).low, spread_of(whole).high, kept.reserved,
        trimmed);
    CHECK(cudaStreamDestroy(s));
    if (own) {
      CHECK(cudaMemPoolDestroy(pool));
    }
  }
}

/* Threads that take and give, each with its stream: one pool, or a pool each. */
static void threads(int count, bool own, bool check) {
  std::vector<cudaMemPool_t> pools;
  for (int i = 0; i < (own ? count : 1); i++) {
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t pool;
    CHECK(cudaMemPoolCreate(&pool, &properties));
    uint64_t keep = UINT64_MAX;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    pools.push_back(pool);
  }
  std::vector<std::vector<double>> times((size_t)count);
  std::vector<std::thread> workers;
  for (int t = 0; t < count; t++) {
    workers.emplace_back([&, t] {
      cudaStream_t s;
      CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
      unsigned h = 5u + (unsigned)t;
      for (int i = 0; i < (check ? 5 : 300); i++) {
        h = h * 1664525u + 1013904223u;
        const size_t bytes = ((size_t)(h >> 24) + 16) << 16; /* 1 to 17 MB */
        void* p;
        const double begin = now_us();
        CHECK(cudaMallocFromPoolAsync(&p, bytes, pools[own ? (size_t)t : 0], s));
        enqueue(s, nullptr, (unsigned*)p, 4096, 1);
        CHECK(cudaFreeAsync(p, s));
        times[(size_t)t].push_back(now_us() - begin);
        if (i % 8 == 7) {
          CHECK(cudaStreamSynchronize(s));
        }
      }
      CHECK(cudaStreamSynchronize(s));
      CHECK(cudaStreamDestroy(s));
    });
  }
  for (std::thread& w : workers) {
    w.join();
  }
  std::vector<double> all;
  for (const auto& list : times) {
    all.insert(all.end(), list.begin() + (std::ptrdiff_t)list.size() / 5, list.end());
  }
  double reserved = 0;
  for (cudaMemPool_t p : pools) {
    reserved += of_pool(p).reserved_most;
    CHECK(cudaMemPoolDestroy(p));
  }
  const spread_t us = spread_of(all);
  printf(
      "THREADS %d, %s: take, kernel and give %.1f us (%.1f-%.1f), largest need %.0f MB, reserved "
      "at most "
      "%.0f MB\n",
      count, own ? "a pool each" : "one pool", us.median, us.low, us.high, count * 16.9, reserved);
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  inside(check ? 4096 : 64 << 10, check);
  if (!check) {
    inside(1 << 20, false);
    inside(16 << 20, false);
  }
  for (place_t place : {ARENA, EACH_LAYER, ONE_FOR_ALL}) {
    for (int count : {1, 2, 4, 8}) {
      if (check && count != 2) {
        continue;
      }
      together(place, count, check ? 8192 : 16 << 20, false, check);
      together(place, count, check ? 8192 : 16 << 20, true, check);
      if (!check) {
        together(place, count, 256 << 10, false, check);
      }
    }
  }
  for (size_t bytes : {(size_t)64 << 10, (size_t)16 << 20, (size_t)512 << 20}) {
    around(check ? 4096 : bytes, check);
  }
  for (int count : {1, 2, 4, 8}) {
    threads(count, false, check);
    threads(count, true, check);
  }
}
