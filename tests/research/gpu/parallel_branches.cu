/* When independent branches of a graph should run on streams of their own, in one launch together,
 * or in a row: what a fork and a join cost, branches of unequal length, and a recurrent layer (one
 * launch that meets at a barrier in every step) beside a chain of small ones.
 *
 *   parallel_branches
 *   parallel_branches --check      for the sanitizers */
#include <cstring>

#include "hopper.cuh"
#include "measure.cuh"

enum { MOST = 8, PLACES = 1024 };
struct layer_t {
  const uint4* weights;
  const uint4* x;
  uint4* y;
};
struct layers_t {
  layer_t of[MOST];
};

/* Like a layer of ResNet-50 at batch 1: 16 KB of weights a block before the wait, 16 KB of
 * activations after it, some arithmetic. Blocks are divided among the layers of one launch. */
static __global__ void __launch_bounds__(128)
    together(const __grid_constant__ layers_t all, int blocks_each, int rounds) {
  const layer_t& l = all.of[blockIdx.x / blocks_each];
  const int block = blockIdx.x % blocks_each;
  uint4 w[8], a[8];
#pragma unroll
  for (int i = 0; i < 8; i++) {
    w[i] = __ldg(l.weights + (block * 8 + i) * 128 + threadIdx.x);
  }
  wait_for_predecessor();
  release_dependents();
#pragma unroll
  for (int i = 0; i < 8; i++) {
    a[i] = __ldcg(l.x + i * 128 + threadIdx.x);
  }
  unsigned s[8];
#pragma unroll
  for (int i = 0; i < 8; i++) {
    s[i] = w[i].x ^ a[i].y;
  }
  for (int r = 0; r < rounds; r++) {
#pragma unroll
    for (int i = 0; i < 8; i++) {
      s[i] = s[i] * (w[i].z | 1) + a[i].w;
      s[i] = s[i] * (w[i].y | 1) + a[i].x;
    }
  }
  if (block < 8) { /* all of y is written, and depends on all of x */
    unsigned sum = a[0].x;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      sum = sum * 31 + s[i];
    }
    for (int i = block; i < 8; i += min(blocks_each, 8)) {
      l.y[i * 128 + threadIdx.x] = make_uint4(sum, s[1] ^ s[2], s[3] + s[4], s[5] ^ s[6] ^ s[7]);
    }
  }
}

static uint4* weights;
enum { WEIGHTS = 264 * 8 * 128 };

/* A fork into branches of these lengths and a join. */
struct shape_t {
  std::vector<int> lengths;
  int blocks, rounds;
};
enum way_t { IN_A_ROW, STREAMS, ONE_LAUNCH };

struct branches_t {
  shape_t shape;
  uint4* memory; /* the trunk's two places, then two for each branch */
  std::vector<cudaStream_t> streams;
  std::vector<cudaEvent_t> events;
  explicit branches_t(const shape_t& shape)
      : shape(shape), memory(device_new<uint4>(PLACES * 2 * (MOST + 1))) {
    for (size_t i = 0; i <= shape.lengths.size(); i++) {
      cudaStream_t s;
      cudaEvent_t e;
      CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
      CHECK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
      streams.push_back(s);
      events.push_back(e);
    }
  }
  branches_t(const branches_t&) = delete;
  branches_t& operator=(const branches_t&) = delete;
  ~branches_t() {
    for (cudaStream_t s : streams) {
      cudaStreamDestroy(s);
    }
    for (cudaEvent_t e : events) {
      cudaEventDestroy(e);
    }
    cudaFree(memory);
  }
  uint4* place(size_t branch, int i) const { /* branch 0 is the trunk */
    return memory + (branch * 2 + (size_t)(i & 1)) * PLACES;
  }
  layer_t layer_of(size_t branch, int i) const {
    const uint4* w = weights + (size_t)((i * MOST + (int)branch) % 12) * WEIGHTS;
    return {w, i == 0 ? place(0, 1) : place(branch + 1, i - 1), place(branch + 1, i)};
  }
  void enqueue(cudaStream_t s, const layers_t& l, int count, bool dependent) const {
    CHECK(launch(together, dim3((unsigned)(shape.blocks * count)), 128, 0, dim3(1), dependent, s, l,
                 shape.blocks, shape.rounds));
  }
  /* The trunk, the branches, the join (which reads the last branch's result). */
  void step(cudaStream_t s, way_t way, bool dependent) const {
    const size_t n = shape.lengths.size();
    layers_t trunk = {};
    trunk.of[0] = {weights, place(0, 0), place(0, 1)};
    enqueue(s, trunk, 1, dependent);
    if (way == ONE_LAUNCH) {
      const int longest = *std::max_element(shape.lengths.begin(), shape.lengths.end());
      for (int i = 0; i < longest; i++) {
        layers_t level = {};
        int count = 0;
        for (size_t b = 0; b < n; b++) {
          if (i < shape.lengths[b]) {
            level.of[count++] = layer_of(b, i);
          }
        }
        enqueue(s, level, count, dependent);
      }
    } else {
      if (way == STREAMS) {
        CHECK(cudaEventRecord(events[n], s));
      }
      for (size_t b = 0; b < n; b++) {
        cudaStream_t q = way == STREAMS && b > 0 ? streams[b] : s;
        if (q != s) {
          CHECK(cudaStreamWaitEvent(q, events[n], 0));
        }
        for (int i = 0; i < shape.lengths[b]; i++) {
          layers_t one = {};
          one.of[0] = layer_of(b, i);
          enqueue(q, one, 1, dependent);
        }
        if (q != s) {
          CHECK(cudaEventRecord(events[b], q));
        }
      }
      for (size_t b = 1; way == STREAMS && b < n; b++) {
        CHECK(cudaStreamWaitEvent(s, events[b], 0));
      }
    }
    layers_t join = {};
    join.of[0] = {weights + WEIGHTS, place(n, shape.lengths[n - 1] - 1), place(0, 0)};
    enqueue(s, join, 1, dependent);
  }
  /* What five steps leave in memory. */
  std::vector<uint32_t> result(way_t way, bool dependent) {
    CHECK(cudaMemset(memory, 1, PLACES * 2 * (MOST + 1) * sizeof(uint4)));
    graph_t graph([&](cudaStream_t s) {
      for (int i = 0; i < 5; i++) {
        step(s, way, dependent);
      }
    });
    graph.run("branches");
    std::vector<uint32_t> host(PLACES * 2 * (MOST + 1) * 4);
    CHECK(cudaMemcpy(host.data(), memory, host.size() * 4, cudaMemcpyDeviceToHost));
    return host;
  }
};

static void branches(const shape_t& shape, bool check) {
  branches_t b(shape);
  std::string lengths;
  for (int l : shape.lengths) {
    lengths += std::to_string(l) + " ";
  }
  printf("BRANCHES of %slayers, %d blocks, %d rounds:", lengths.c_str(), shape.blocks,
         shape.rounds);
  const std::vector<uint32_t> expected = b.result(IN_A_ROW, false);
  for (bool dependent : {false, true}) {
    static const char* const names[] = {"in a row", "streams", "one launch a level"};
    printf(" %s:", dependent ? "dependent" : "plain");
    for (way_t way : {IN_A_ROW, STREAMS, ONE_LAUNCH}) {
      const bool right = b.result(way, dependent) == expected;
      spread_t us = {0, 0, 0};
      if (!check) {
        us = step_time([&](cudaStream_t s, int) { b.step(s, way, dependent); }, 15, 4, 16);
      }
      printf(" %s %.2f (%.2f-%.2f)%s,", names[way], us.median, us.low, us.high,
             right ? "" : " WRONG");
    }
  }
  printf("\n");
}

/* ---- a launch that stays for all its steps ---- */

static __global__ void prepare(unsigned* counter) {
  *counter = 0;
}
/* In each round a block takes its neighbour's value of the last round and adds one. */
static __global__ void __launch_bounds__(256)
    rounds_with_barriers(unsigned* counter, unsigned* state, int rounds, int work) {
  const unsigned n = gridDim.x, me = blockIdx.x;
  for (int r = 0; r < rounds; r++) {
    unsigned v = r == 0 ? 0 : __ldcg(state + (r & 1) * n + (me + 1) % n);
    float f = (float)threadIdx.x;
    for (int k = 0; k < work; k++) {
      f = fmaf(f, 1.0001f, 0.5f);
    }
    if (threadIdx.x == 0) {
      state[((r + 1) & 1) * n + me] = v + 1 + (f < 0 ? 1 : 0);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
      unsigned seen;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
      } while (seen < (unsigned)(r + 1) * n);
    }
    __syncthreads();
  }
}

static void recurrent_beside(int blocks, int layer_blocks, int layers, bool check) {
  const shape_t shape = {{1}, layer_blocks, 30};
  branches_t chain(shape);
  CHECK(cudaMemset(chain.memory, 1, PLACES * 2 * (MOST + 1) * sizeof(uint4)));
  unsigned *counter = device_new<unsigned>(1), *state = device_new<unsigned>(2 * 264);
  const int rounds = check ? 10 : 100, work = 100;
  auto recurrent = [&](cudaStream_t s) {
    prepare<<<1, 1, 0, s>>>(counter);
    CHECK(cudaGetLastError());
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute;
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(256);
    config.stream = s;
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, rounds_with_barriers, counter, state, rounds, work));
  };
  auto small = [&](cudaStream_t s) {
    for (int i = 0; i < layers; i++) {
      layers_t one = {};
      one.of[0] = {weights + (size_t)(i % 12) * WEIGHTS, chain.place(0, i), chain.place(0, i + 1)};
      chain.enqueue(s, one, 1, true);
    }
  };
  auto both = [&](cudaStream_t s, bool recurrent_first, bool at_once) {
    cudaStream_t other = at_once ? chain.streams[0] : s;
    if (at_once) {
      CHECK(cudaEventRecord(chain.events[0], s));
      CHECK(cudaStreamWaitEvent(other, chain.events[0], 0));
    }
    if (recurrent_first) {
      recurrent(other);
      small(s);
    } else {
      small(s);
      recurrent(other);
    }
    if (at_once) {
      CHECK(cudaEventRecord(chain.events[1], other));
      CHECK(cudaStreamWaitEvent(s, chain.events[1], 0));
    }
  };
  auto time = [&](auto record) {
    graph_t graph(record);
    graph.run("recurrent");
    return check ? 0 : graph.time(15).median;
  };
  const double alone = time([&](cudaStream_t s) { recurrent(s); }),
               chain_alone = time([&](cudaStream_t s) { small(s); }),
               row = time([&](cudaStream_t s) { both(s, true, false); }),
               first = time([&](cudaStream_t s) { both(s, true, true); }),
               last = time([&](cudaStream_t s) { both(s, false, true); });
  std::vector<unsigned> host((size_t)blocks);
  CHECK(cudaMemcpy(host.data(), state + (size_t)(rounds & 1) * (size_t)blocks, host.size() * 4,
                   cudaMemcpyDeviceToHost));
  const bool right =
      std::all_of(host.begin(), host.end(), [&](unsigned v) { return v == (unsigned)rounds; });
  printf(
      "BESIDE %d rounds of %d blocks %.1f, %d layers of %d blocks %.1f, in a row %.1f, at once: "
      "rounds "
      "captured first %.1f, layers first %.1f%s\n",
      rounds, blocks, alone, layers, layer_blocks, chain_alone, row, first, last,
      right ? "" : " WRONG");
  CHECK(cudaFree(counter));
  CHECK(cudaFree(state));
}

/* What launching a graph costs the host, by its forks. */
static void host_costs() {
  for (const std::vector<int>& lengths :
       {std::vector<int>{8}, std::vector<int>{4, 4}, std::vector<int>{2, 2, 2, 2},
        std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1}}) {
    branches_t b({lengths, 8, 0});
    for (way_t way : {IN_A_ROW, STREAMS}) {
      graph_t graph([&](cudaStream_t s) {
        for (int i = 0; i < 5; i++) {
          b.step(s, way, true);
        }
      });
      graph.run();
      std::vector<double> times;
      for (int i = 0; i < 60; i++) {
        const double begin = now_us();
        CHECK(cudaGraphLaunch(graph.exec, graph.stream));
        times.push_back(now_us() - begin);
        wait_or_die(graph.stream, "host");
      }
      const spread_t us = spread_of(times);
      printf("LAUNCH of five times 8 layers in %zu branches, %s: host %.2f (%.2f-%.2f)\n",
             lengths.size(), way == STREAMS ? "streams" : "in a row", us.median, us.low, us.high);
    }
  }
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  weights = (uint4*)random_half((size_t)12 * WEIGHTS * 8, 0.5f, 1);
  CHECK(cudaDeviceSynchronize());
  if (check) {
    branches({{1, 2, 2, 2}, 6, 3}, true);
    recurrent_beside(8, 20, 6, true);
    return 0;
  }
  /* what a fork and a join cost: tiny layers */
  for (int n : {1, 2, 3, 4, 6, 8}) {
    branches({std::vector<int>((size_t)n, 1), 8, 0}, false);
  }
  /* by blocks and arithmetic: 30 rounds of two products are a layer of ResNet-50 */
  for (int rounds : {30, 300}) {
    for (int blocks : {14, 28, 56, 112, 224}) {
      for (const std::vector<int>& lengths :
           {std::vector<int>{1, 1}, std::vector<int>{2, 2}, std::vector<int>{1, 2, 2, 2},
            std::vector<int>{1, 4}}) {
        branches({lengths, blocks, rounds}, false);
      }
    }
  }
  for (int blocks : {16, 32, 64, 128}) {
    for (int layer_blocks : {56, 112, 224}) {
      recurrent_beside(blocks, layer_blocks, 60, false);
    }
  }
  host_costs();
}
