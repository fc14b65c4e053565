/* What the experiments share: checked calls, chains of launches captured into a graph and timed by
 * events, random data, errors against a reference. Every figure is a median with the 10th and 90th
 * percentile. */
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

/* A failed call ends the program at once: an experiment that goes on after an error measures
 * nothing. */
#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t check_status = (call);                                                       \
    if (check_status != cudaSuccess) {                                                       \
      printf("%s:%d %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(check_status)); \
      fflush(stdout);                                                                        \
      _exit(2);                                                                              \
    }                                                                                        \
  } while (0)

struct spread_t {
  double median, low, high; /* 10th and 90th percentile */
};

inline spread_t spread_of(std::vector<double> values) {
  if (values.empty()) {
    return {NAN, NAN, NAN};
  }
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return {values[n / 2], values[n / 10], values[n * 9 / 10]};
}

inline double now_us() {
  using namespace std::chrono;
  return duration<double, std::micro>(steady_clock::now().time_since_epoch()).count();
}

/* Microseconds of host time of `work`, called `count` times after `warm` calls. */
template <class Work>
spread_t host_time(Work work, int count, int warm = 3) {
  std::vector<double> times;
  for (int i = 0; i < warm + count; i++) {
    const double begin = now_us();
    work();
    if (i >= warm) {
      times.push_back(now_us() - begin);
    }
  }
  return spread_of(times);
}

/* Waits without blocking for ever: a hung kernel must not take the machine with it. */
inline void wait_or_die(cudaStream_t stream, const char* what) {
  const double begin = now_us();
  for (;;) {
    const cudaError_t status = cudaStreamQuery(stream);
    if (status == cudaSuccess) {
      return;
    }
    if (status != cudaErrorNotReady || now_us() - begin > 30e6) {
      printf("FAILED %s: %s\n", what,
             status == cudaErrorNotReady ? "hangs" : cudaGetErrorString(status));
      fflush(stdout);
      _exit(3);
    }
  }
}

/* A captured graph with its stream and two events. */
struct graph_t {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;

  template <class Record>
  explicit graph_t(Record record) {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    record(stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    make_executable();
  }
  void make_executable() {
    if (exec) {
      CHECK(cudaGraphExecDestroy(exec));
    } else {
      CHECK(cudaEventCreate(&begin));
      CHECK(cudaEventCreate(&end));
    }
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphUpload(exec, stream));
  }
  graph_t(const graph_t&) = delete;
  graph_t& operator=(const graph_t&) = delete;
  ~graph_t() {
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    cudaStreamDestroy(stream);
  }
  void run(const char* what = "graph") {
    CHECK(cudaGraphLaunch(exec, stream));
    wait_or_die(stream, what);
  }
  /* Microseconds by events; with `evict`, that many bytes are written before each replay. */
  spread_t time(int count, void* evict = nullptr, size_t evict_bytes = 0) {
    for (int i = 0; i < 3; i++) {
      run();
    }
    std::vector<double> times;
    for (int i = 0; i < count; i++) {
      if (evict) {
        CHECK(cudaMemsetAsync(evict, i, evict_bytes, stream));
      }
      CHECK(cudaEventRecord(begin, stream));
      CHECK(cudaGraphLaunch(exec, stream));
      CHECK(cudaEventRecord(end, stream));
      CHECK(cudaEventSynchronize(end));
      float ms = 0;
      CHECK(cudaEventElapsedTime(&ms, begin, end));
      times.push_back(ms * 1e3);
    }
    return spread_of(times);
  }
};

/* Microseconds of one step inside a chain: `step(stream, i)` records step i; the difference of a
 * long chain and a short one, so that the launch of the graph does not count. */
template <class Step>
spread_t step_time(Step step, int count = 15, int shorter = 20, int longer = 60) {
  auto chain = [&](int n) {
    graph_t graph([&](cudaStream_t stream) {
      for (int i = 0; i < n; i++) {
        step(stream, i);
      }
    });
    return graph.time(count);
  };
  const spread_t a = chain(shorter), b = chain(longer);
  const double n = longer - shorter;
  return {(b.median - a.median) / n, (b.low - a.median) / n, (b.high - a.median) / n};
}

/* Launches a kernel with a cluster and, if `dependent`, programmatic stream serialization. */
template <class... Parameter, class... Argument>
cudaError_t launch(void (*kernel)(Parameter...), dim3 grid, int threads, size_t shared,
                   dim3 cluster, bool dependent, cudaStream_t stream, Argument&&... argument) {
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attribute[2];
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = attribute;
  if (cluster.x * cluster.y * cluster.z > 1) {
    attribute[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attribute[config.numAttrs].val.clusterDim.x = cluster.x;
    attribute[config.numAttrs].val.clusterDim.y = cluster.y;
    attribute[config.numAttrs++].val.clusterDim.z = cluster.z;
  }
  if (dependent) {
    attribute[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  return cudaLaunchKernelEx(&config, kernel, std::forward<Argument>(argument)...);
}

/* Uniform in [-scale, scale), the same for the same seed. */
static __global__ void fill_half(half* out, size_t n, float scale, unsigned seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x) {
    unsigned h = (unsigned)i * 2654435761u + seed * 0x9E3779B9u;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    out[i] = __float2half((((h ^ h >> 16) >> 8) * (2.f / 16777216) - 1) * scale);
  }
}
static __global__ void fill_float(float* out, size_t n, float middle, float scale, unsigned seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x) {
    unsigned h = (unsigned)i * 2654435761u + seed * 0x9E3779B9u;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    out[i] = middle + (((h ^ h >> 16) >> 8) * (2.f / 16777216) - 1) * scale;
  }
}

/* Device memory that is poisoned, so that what nobody wrote is seen. */
template <class T>
T* device_new(size_t n) {
  void* p = nullptr;
  CHECK(cudaMalloc(&p, n * sizeof(T)));
  CHECK(cudaMemset(p, 0xff, n * sizeof(T)));
  return (T*)p;
}
inline half* random_half(size_t n, float scale, unsigned seed) {
  half* p = device_new<half>(n);
  fill_half<<<256, 256>>>(p, n, scale, seed);
  CHECK(cudaGetLastError());
  return p;
}
inline float* random_float(size_t n, float middle, float scale, unsigned seed) {
  float* p = device_new<float>(n);
  fill_float<<<64, 256>>>(p, n, middle, scale, seed);
  CHECK(cudaGetLastError());
  return p;
}

template <class T>
T* random_of(size_t n, float scale, unsigned seed) {
  if constexpr (sizeof(T) == 2) {
    return random_half(n, scale, seed);
  } else {
    return random_float(n, 0, scale, seed);
  }
}

/* What a copy of so many bytes on the device reads and writes in a microsecond. */
inline double rate_of_copy(void* to, const void* from, size_t bytes) {
  const spread_t t =
      step_time([&](cudaStream_t s,
                    int) { CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, s)); },
                9, 4, 12);
  printf("COPY %.0f bytes a microsecond read and written\n", 2 * (double)bytes / t.median);
  return 2 * (double)bytes / t.median;
}

/* |a - b| / |b| over n values on the device, in float64; NaN never passes. */
template <class A, class B>
double relative_error(const A* a, const B* b, size_t n) {
  std::vector<A> left(n);
  std::vector<B> right(n);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(left.data(), a, n * sizeof(A), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(right.data(), b, n * sizeof(B), cudaMemcpyDeviceToHost));
  double difference = 0, size = 0;
  for (size_t i = 0; i < n; i++) {
    const double x = (double)(float)left[i], y = (double)(float)right[i];
    difference += (x - y) * (x - y);
    size += y * y;
  }
  return size > 0 ? std::sqrt(difference / size) : INFINITY;
}

inline void print_device() {
  cudaDeviceProp properties;
  int driver = 0, runtime = 0;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaRuntimeGetVersion(&runtime));
  setvbuf(stdout, nullptr, _IOLBF, 0);
  printf("DEVICE %s, %d multiprocessors, L2 %d MB, driver %d, runtime %d\n", properties.name,
         properties.multiProcessorCount, properties.l2CacheSize >> 20, driver, runtime);
}
