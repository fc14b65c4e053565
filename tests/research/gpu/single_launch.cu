/*
 * What a run of one small kernel costs where runs follow one another: as a graph, with and without
 * an event behind each, and as a launch, plain and dependent; beside them a graph of eight.
 *
 *   single_launch
 */
#include "measure.cuh"

enum { THREADS = 256, GRAPH_OF_MANY = 8, WARM = 5, ROUNDS = 40 };

/* BYTES: of the parameters. */
template <int BYTES>
struct parameters_t {
  float4* to;
  const float4* from;
  int count;
  int release;
  char rest[BYTES - 24];
};
template <int BYTES>
static __global__ void __launch_bounds__(THREADS)
    copy(const __grid_constant__ parameters_t<BYTES> p) {
  if (p.release) {
    asm volatile("griddepcontrol.launch_dependents;");
  }
  asm volatile("griddepcontrol.wait;" ::: "memory");
  const int k = blockIdx.x * THREADS + threadIdx.x;
  if (k < p.count) {
    p.to[k] = p.from[k];
  }
}

enum way_t { GRAPH, GRAPH_AND_EVENT, LAUNCH, DEPENDENT, DEPENDENT_AND_EVENT, MANY, WAYS };
static const char* const names[WAYS] = {"a graph",   "a graph, an event",   "a launch",
                                        "dependent", "dependent, an event", "a graph of 8, each"};

struct scene_t {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  cudaGraphExec_t one, many;
  cudaLaunchConfig_t plain, dependent;
  const void* kernel;
  void** arguments;
};

static cudaGraphExec_t record(const scene_t& s, int count) {
  cudaGraph_t graph;
  cudaGraphExec_t made;
  CHECK(cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeThreadLocal));
  for (int k = 0; k < count; ++k) {
    CHECK(cudaLaunchKernelExC(&s.dependent, s.kernel, s.arguments));
  }
  CHECK(cudaStreamEndCapture(s.stream, &graph));
  CHECK(cudaGraphInstantiate(&made, graph, 0));
  CHECK(cudaGraphUpload(made, s.stream));
  return made;
}

static void run(const scene_t& s, way_t way) {
  switch (way) {
    case GRAPH:
    case GRAPH_AND_EVENT:
      CHECK(cudaGraphLaunch(s.one, s.stream));
      break;
    case MANY:
      CHECK(cudaGraphLaunch(s.many, s.stream));
      break;
    default:
      CHECK(cudaLaunchKernelExC(way == LAUNCH ? &s.plain : &s.dependent, s.kernel, s.arguments));
      break;
  }
  if (way == GRAPH_AND_EVENT || way == DEPENDENT_AND_EVENT) {
    CHECK(cudaEventRecord(s.end, s.stream));
  }
}

static void measure(const scene_t& s, way_t way, int row, const char* title) {
  std::vector<double> device, host;
  for (int round = 0; round < WARM + ROUNDS; ++round) {
    CHECK(cudaStreamSynchronize(s.stream));
    CHECK(cudaEventRecord(s.begin, s.stream));
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < row; ++k) {
      run(s, way);
    }
    const std::chrono::duration<double, std::micro> asked =
        std::chrono::steady_clock::now() - begin;
    if (way != GRAPH_AND_EVENT && way != DEPENDENT_AND_EVENT) {
      CHECK(cudaEventRecord(s.end, s.stream));
    }
    CHECK(cudaEventSynchronize(s.end));
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, s.begin, s.end));
    const double kernels = row * (way == MANY ? GRAPH_OF_MANY : 1);
    if (round >= WARM) {
      device.push_back(milliseconds * 1e3 / kernels);
      host.push_back(asked.count() / kernels);
    }
  }
  const spread_t spread = spread_of(device);
  printf("%s, %d in a row, %-20s device %5.2f (%.2f-%.2f) host %5.2f\n", title, row, names[way],
         spread.median, spread.low, spread.high, spread_of(host).median);
}

template <int BYTES>
static void compare(int blocks, int row, float4* to, const float4* from) {
  parameters_t<BYTES> p = {to, from, blocks * THREADS, 1, {}};
  void* arguments[] = {&p};
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  scene_t s = {};
  CHECK(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&s.begin));
  CHECK(cudaEventCreate(&s.end));
  s.plain.gridDim = dim3(blocks);
  s.plain.blockDim = dim3(THREADS);
  s.plain.stream = s.stream;
  s.dependent = s.plain;
  s.dependent.attrs = &attribute;
  s.dependent.numAttrs = 1;
  s.kernel = (const void*)copy<BYTES>;
  s.arguments = arguments;
  s.one = record(s, 1);
  s.many = record(s, GRAPH_OF_MANY);
  const std::string title =
      std::to_string(BYTES) + " bytes of parameters, " + std::to_string(blocks) + " blocks";
  for (int way = GRAPH; way < WAYS; ++way) {
    measure(s, (way_t)way, row, title.c_str());
  }
}

int main() {
  float4 *to, *from;
  CHECK(cudaMalloc(&to, 64 << 20));
  CHECK(cudaMalloc(&from, 64 << 20));
  CHECK(cudaMemset(from, 1, 64 << 20));
  for (const int row : {10, 32}) {
    for (const int blocks : {1, 132, 528}) {
      compare<64>(blocks, row, to, from);
    }
  }
  compare<1024>(132, 32, to, from);
  compare<3584>(132, 32, to, from);
  return 0;
}
