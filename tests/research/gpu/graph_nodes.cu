/*
 * What launching a graph costs the host: by the nodes that are no kernels among 60 kernels, and by
 * what happens to the processor's caches while it waits.
 *
 *   graph_nodes
 */
#include "measure.cuh"

enum { KERNELS = 60, ROW = 16, LINES = 256 };

static __global__ void spin(unsigned* out, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
  out[0] = (unsigned)cycles;
}
static __global__ void set(unsigned* out) {
  out[threadIdx.x] = 0;
}

enum kind_t { NOTHING, SET_FEW, SET_MANY, COPY, KERNEL, BRANCH };
static const char* const names[] = {"nothing",      "4 bytes set",         "64 KB set",
                                    "64 KB copied", "4 bytes by a kernel", "a branch"};

struct scene_t {
  unsigned* out;
  char* from;
  char* to;
  cudaStream_t side;
  cudaEvent_t fork, join;
};

static void other(const scene_t& s, kind_t kind, cudaStream_t stream) {
  switch (kind) {
    case SET_FEW:
      CHECK(cudaMemsetAsync(s.to, 0, 4, stream));
      break;
    case SET_MANY:
      CHECK(cudaMemsetAsync(s.to, 0, 64 << 10, stream));
      break;
    case COPY:
      CHECK(cudaMemcpyAsync(s.to, s.from, 64 << 10, cudaMemcpyDeviceToDevice, stream));
      break;
    case KERNEL:
      set<<<1, 1, 0, stream>>>((unsigned*)s.to);
      break;
    case BRANCH:
      CHECK(cudaEventRecord(s.fork, stream));
      CHECK(cudaStreamWaitEvent(s.side, s.fork, 0));
      set<<<1, 1, 0, s.side>>>((unsigned*)s.to);
      CHECK(cudaEventRecord(s.join, s.side));
      break;
    default:
      break;
  }
}

/* 60 kernels with `count` other nodes in front of as many of them. */
static void record(const scene_t& s, kind_t kind, int count, long long cycles,
                   cudaStream_t stream) {
  for (int k = 0; k < KERNELS; k++) {
    const bool has = count > 0 && k % (KERNELS / count) == 0 && k / (KERNELS / count) < count;
    if (has) {
      other(s, kind, stream);
    }
    spin<<<1, 1, 0, stream>>>(s.out, cycles);
    if (has && kind == BRANCH) {
      CHECK(cudaStreamWaitEvent(stream, s.join, 0));
    }
  }
}

/* Of the host, to launch, with a wait in front of each `row` of launches. */
static spread_t launches(graph_t& graph, int row) {
  std::vector<double> times;
  for (int k = 0; k < (row > 1 ? 10 * row : 60); k++) {
    if (k % row == 0) {
      CHECK(cudaStreamSynchronize(graph.stream));
    }
    const double begin = now_us();
    CHECK(cudaGraphLaunch(graph.exec, graph.stream));
    times.push_back(now_us() - begin);
  }
  CHECK(cudaStreamSynchronize(graph.stream));
  return spread_of(times);
}

static void nodes(const scene_t& s) {
  printf("NODES among %d kernels: launched after a wait; in a row; on the device\n", KERNELS);
  for (int kind = NOTHING; kind <= BRANCH; kind++) {
    for (int count : {1, 6, 12, 30, 60}) {
      if (kind == NOTHING && count > 1) {
        continue;
      }
      graph_t graph([&](cudaStream_t stream) {
        record(s, (kind_t)kind, kind == NOTHING ? 0 : count, 4000, stream);
      });
      graph.run();
      const spread_t wait = launches(graph, 1), row = launches(graph, ROW), device = graph.time(15);
      printf("%-20s %2d: %6.2f (%.2f-%.2f); %6.2f (%.2f-%.2f); %.1f\n", names[kind],
             kind == NOTHING ? 0 : count, wait.median, wait.low, wait.high, row.median, row.low,
             row.high, device.median);
    }
  }
}

/* ---- Caches ---- */

static volatile long lines[LINES * 8];

static double read_lines() {
  const double begin = now_us();
  long sum = 0;
  for (int k = 0; k < LINES; k++) {
    sum += lines[k * 37 % LINES * 8];
  }
  lines[0] = sum;
  return now_us() - begin;
}

/* Lines that were read just before a wait are read again behind it, and then the graph is launched.
 */
static void caches(const scene_t& s) {
  printf("CACHES: %d lines hot, after a wait; the launch after it\n", LINES);
  for (long long cycles : {2000LL, 20000LL, 100000LL, 400000LL}) {
    graph_t graph([&](cudaStream_t stream) { record(s, NOTHING, 0, cycles, stream); });
    graph.run();
    const double run_us = graph.time(5).median;
    std::vector<double> hot, cold, launch;
    for (int k = 0; k < 60; k++) {
      read_lines();
      hot.push_back(read_lines());
      CHECK(cudaGraphLaunch(graph.exec, graph.stream));
      CHECK(cudaStreamSynchronize(graph.stream));
      cold.push_back(read_lines());
      const double begin = now_us();
      CHECK(cudaGraphLaunch(graph.exec, graph.stream));
      launch.push_back(now_us() - begin);
      CHECK(cudaStreamSynchronize(graph.stream));
    }
    const spread_t a = spread_of(hot), b = spread_of(cold), c = spread_of(launch);
    printf("a run of %6.0f: %.2f (%.2f-%.2f), %.2f (%.2f-%.2f); %.2f (%.2f-%.2f)\n", run_us,
           a.median, a.low, a.high, b.median, b.low, b.high, c.median, c.low, c.high);
  }
}

int main() {
  print_device();
  scene_t s;
  s.out = device_new<unsigned>(1);
  s.from = device_new<char>(64 << 10);
  s.to = device_new<char>(64 << 10);
  CHECK(cudaStreamCreateWithFlags(&s.side, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&s.fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&s.join, cudaEventDisableTiming));
  nodes(s);
  for (int round = 0; round < 3; round++) {
    caches(s);
  }
  return 0;
}
