/* Scatter: rows written or added at places given by indices. What a copy in front costs, what
 * deciding between updates of one place costs, atomics of several widths, and a sum whose order
 * does not change from run to run.
 *
 *   scatter
 *   scatter --check      for the sanitizers */
#include <cstring>

#include "hopper.cuh"
#include "measure.cuh"

struct scatter_t {
  int rows, width, updates;
  bool meet; /* updates may have the same place */
};

static __device__ __forceinline__ void begin(bool release) {
  wait_for_predecessor();
  if (release) {
    release_dependents();
  }
}

/* ---- writing: fp16, 16 bytes an access ---- */
static __global__ void __launch_bounds__(128)
    copy_rows(const uint4* x, uint4* y, size_t packs, bool release) {
  const size_t i = blockIdx.x * (size_t)128 + threadIdx.x;
  begin(release);
  if (i < packs) {
    y[i] = x[i];
  }
}
static __global__ void __launch_bounds__(128)
    write_rows(const uint4* from, const int64_t* index, uint4* y, int packs, int updates,
               bool release) {
  const unsigned t = blockIdx.x * 128 + threadIdx.x, i = t / packs, c = t % packs;
  begin(release);
  if (i < updates) {
    y[index[i] * packs + c] = from[t];
  }
}
/* The last update of each row, or -1; clears the marks of the next run, which are other ones. */
static __global__ void __launch_bounds__(128)
    mark(const int64_t* index, int* last, int* next, int updates, int rows, bool release) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  begin(release);
  if (i < updates) {
    atomicMax(last + index[i], i);
  }
  if (i < rows) {
    next[i] = -1;
  }
}
/* Every row from x or from its last update. */
static __global__ void __launch_bounds__(128)
    choose_rows(const uint4* x, const uint4* from, const int* last, uint4* y, int packs, int rows,
                bool release) {
  const unsigned t = blockIdx.x * 128 + threadIdx.x, row = t / packs, c = t % packs;
  begin(release);
  if (row < rows) {
    const int u = last[row];
    y[t] = u >= 0 ? from[(size_t)u * packs + c] : x[t];
  }
}
/* Only the updates that count, into a tensor that is already there. */
static __global__ void __launch_bounds__(128)
    write_last(const uint4* from, const int64_t* index, const int* last, uint4* y, int packs,
               int updates, bool release) {
  const unsigned t = blockIdx.x * 128 + threadIdx.x, i = t / packs, c = t % packs;
  begin(release);
  if (i < updates && last[index[i]] == (int)i) {
    y[index[i] * packs + c] = from[t];
  }
}

struct data_t {
  scatter_t s;
  int64_t* index;
  std::vector<int64_t> host;
  explicit data_t(const scatter_t& s) : s(s), index(device_new<int64_t>((size_t)s.updates)) {
    unsigned h = 99;
    for (int i = 0; i < s.updates; i++) {
      h = h * 1664525u + 1013904223u;
      host.push_back(s.meet ? (h >> 8) % (unsigned)s.rows
                            : (int64_t)(((uint64_t)i * 7919 + 13) % (unsigned)s.rows));
    }
    CHECK(cudaMemcpy(index, host.data(), host.size() * 8, cudaMemcpyHostToDevice));
  }
  data_t(const data_t&) = delete;
  data_t& operator=(const data_t&) = delete;
  ~data_t() {
    cudaFree(index);
  }
};
static unsigned blocks_of(size_t threads) {
  return (unsigned)((threads + 127) / 128);
}
static bool early(size_t threads) {
  return threads <= (size_t)132 * 1536;
}

static void writes(const scatter_t& s, bool check) {
  data_t d(s);
  const int packs = s.width / 8;
  const size_t n = (size_t)s.rows * s.width, all = n / 8, moved = (size_t)s.updates * packs;
  half *x = random_half(n, 1, 1), *from = random_half((size_t)s.updates * s.width, 1, 2),
       *y = device_new<half>(n);
  int* last = device_new<int>(2 * (size_t)s.rows); /* -1 everywhere */
  std::vector<uint16_t> expected(n), updates((size_t)s.updates * s.width), got(n);
  CHECK(cudaMemcpy(expected.data(), x, n * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(updates.data(), from, updates.size() * 2, cudaMemcpyDeviceToHost));
  for (int i = 0; i < s.updates; i++) {
    memcpy(&expected[(size_t)d.host[i] * s.width], &updates[(size_t)i * s.width],
           (size_t)s.width * 2);
  }
  printf("WRITE %d rows of %d into %d%s; bytes with copy %.2f us, without %.2f:", s.updates,
         s.width, s.rows, s.meet ? ", places meet" : "",
         (double)(n + (size_t)s.updates * s.width) * 4 / 2.98e6,
         (double)s.updates * s.width * 4 / 2.98e6);
  auto show = [&](const char* what, auto step, bool ordered) {
    CHECK(cudaMemset(y, 0xff, n * 2));
    CHECK(cudaMemset(last, 0xff, (size_t)s.rows * 8));
    CHECK(cudaDeviceSynchronize());
    if (!strncmp(what, "in place", 8)) {
      CHECK(cudaMemcpy(y, x, n * 2, cudaMemcpyDeviceToDevice));
    }
    step((cudaStream_t) nullptr, 0);
    wait_or_die(nullptr, what);
    CHECK(cudaMemcpy(got.data(), y, n * 2, cudaMemcpyDeviceToHost));
    const bool right = got == expected;
    const spread_t us = check ? spread_t{0, 0, 0} : step_time(step, 11, 8, 24);
    printf(" %s %.2f (%.2f-%.2f)%s,", what, us.median, us.low, us.high,
           right     ? ""
           : ordered ? " WRONG"
                     : " (another order)");
  };
  auto write = [&](cudaStream_t q) {
    CHECK(launch(write_rows, dim3(blocks_of(moved)), 128, 0, dim3(1), true, q, (const uint4*)from,
                 (const int64_t*)d.index, (uint4*)y, packs, s.updates, early(moved)));
  };
  /* two sets of marks in turn: chains and their replays have an even number of steps */
  auto mark_all = [&](cudaStream_t q, int i) {
    const size_t threads = (size_t)std::max(s.updates, s.rows);
    CHECK(launch(mark, dim3(blocks_of(threads)), 128, 0, dim3(1), true, q, (const int64_t*)d.index,
                 last + (i & 1) * s.rows, last + (1 - (i & 1)) * s.rows, s.updates, s.rows,
                 early(threads)));
  };
  show(
      "in place", [&](cudaStream_t q, int) { write(q); }, !s.meet);
  show(
      "copy node, then rows",
      [&](cudaStream_t q, int) {
        CHECK(cudaMemcpyAsync(y, x, n * 2, cudaMemcpyDeviceToDevice, q));
        write(q);
      },
      !s.meet);
  show(
      "copy kernel, then rows",
      [&](cudaStream_t q, int) {
        CHECK(launch(copy_rows, dim3(blocks_of(all)), 128, 0, dim3(1), true, q, (const uint4*)x,
                     (uint4*)y, all, early(all)));
        write(q);
      },
      !s.meet);
  show(
      "marks, then every row chosen",
      [&](cudaStream_t q, int i) {
        mark_all(q, i);
        CHECK(launch(choose_rows, dim3(blocks_of(all)), 128, 0, dim3(1), true, q, (const uint4*)x,
                     (const uint4*)from, (const int*)last + (i & 1) * s.rows, (uint4*)y, packs,
                     s.rows, early(all)));
      },
      true);
  show(
      "in place, marks, then the last",
      [&](cudaStream_t q, int i) {
        mark_all(q, i);
        CHECK(launch(write_last, dim3(blocks_of(moved)), 128, 0, dim3(1), true, q,
                     (const uint4*)from, (const int64_t*)d.index,
                     (const int*)last + (i & 1) * s.rows, (uint4*)y, packs, s.updates,
                     early(moved)));
      },
      true);
  printf("\n");
  for (void* p : {(void*)x, (void*)from, (void*)y, (void*)last}) {
    CHECK(cudaFree(p));
  }
}

/* ---- adding, fp32 or fp16 ---- */
template <class T, int V>
static __device__ __forceinline__ void add_at(T* to, const T (&v)[V]) {
  if constexpr (sizeof(T) == 4 && V == 4) {
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(v[0]), "f"(v[1]),
                 "f"(v[2]), "f"(v[3])
                 : "memory");
  } else if constexpr (sizeof(T) == 4 && V == 2) {
    asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(v[0]), "f"(v[1])
                 : "memory");
  } else if constexpr (sizeof(T) == 4) {
    atomicAdd(to, v[0]);
  } else if constexpr (V == 8) {
    const uint32_t* w = (const uint32_t*)v;
    asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(w[0]),
                 "r"(w[1]), "r"(w[2]), "r"(w[3])
                 : "memory");
  } else if constexpr (V == 2) {
    atomicAdd((half2*)to, *(const half2*)v);
  } else {
    atomicAdd(to, v[0]);
  }
}
template <class T, int V>
static __global__ void __launch_bounds__(128)
    add_rows(const T* from, const int64_t* index, T* y, int width, int updates) {
  struct alignas(sizeof(T) * V) pack_t {
    T v[V];
  };
  const unsigned packs = width / V, t = blockIdx.x * 128 + threadIdx.x, i = t / packs,
                 c = t % packs * V;
  begin(false);
  if (i < updates) {
    const pack_t p = *(const pack_t*)(from + (size_t)t * V);
    add_at<T, V>(y + index[i] * width + c, p.v);
  }
}
/* A fixed order without atomics on values: the updates in the order of their places, `first` where
 * those of each row begin; a group of threads adds a row's updates up. */
template <class T, int V>
static __global__ void __launch_bounds__(128)
    add_segments(const T* from, const int* order, const int* first, T* y, int width, int rows) {
  struct alignas(sizeof(T) * V) pack_t {
    T v[V];
  };
  const unsigned packs = width / V, t = blockIdx.x * 128 + threadIdx.x, row = t / packs,
                 c = t % packs * V;
  begin(false);
  if (row < rows) {
    float sum[V];
    pack_t p = *(const pack_t*)(y + (size_t)row * width + c);
#pragma unroll
    for (int k = 0; k < V; k++) {
      sum[k] = (float)p.v[k];
    }
    const int end = first[row + 1];
    for (int i = first[row]; i < end; i++) {
      p = *(const pack_t*)(from + (size_t)order[i] * width + c);
#pragma unroll
      for (int k = 0; k < V; k++) {
        sum[k] += (float)p.v[k];
      }
    }
#pragma unroll
    for (int k = 0; k < V; k++) {
      p.v[k] = (T)sum[k];
    }
    *(pack_t*)(y + (size_t)row * width + c) = p;
  }
}

template <class T>
static void sums(const scatter_t& s, bool check) {
  data_t d(s);
  const size_t n = (size_t)s.rows * s.width, m = (size_t)s.updates * s.width;
  const float scale = sizeof(T) == 2 ? 0.01f : 1;
  T *from = random_of<T>(m, scale, 2), *y = device_new<T>(n);
  std::vector<T> updates(m), got(n);
  std::vector<double> expected(n, 0);
  CHECK(cudaMemcpy(updates.data(), from, m * sizeof(T), cudaMemcpyDeviceToHost));
  std::vector<int> order((size_t)s.updates), first((size_t)s.rows + 1, 0);
  for (int i = 0; i < s.updates; i++) {
    first[(size_t)d.host[i] + 1]++;
    for (int c = 0; c < s.width; c++) {
      expected[(size_t)d.host[i] * s.width + c] += (double)(float)updates[(size_t)i * s.width + c];
    }
  }
  for (int r = 0; r < s.rows; r++) {
    first[r + 1] += first[r];
  }
  std::vector<int> next(first.begin(), first.end() - 1);
  for (int i = 0; i < s.updates; i++) {
    order[next[d.host[i]]++] = i;
  }
  int *device_order = device_new<int>(order.size()), *device_first = device_new<int>(first.size());
  CHECK(cudaMemcpy(device_order, order.data(), order.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_first, first.data(), first.size() * 4, cudaMemcpyHostToDevice));
  printf("ADD %s, %d rows of %d into %d%s; bytes %.2f us:", sizeof(T) == 2 ? "fp16" : "fp32",
         s.updates, s.width, s.rows, s.meet ? ", places meet" : "",
         (double)(m + 2 * std::min(n, m)) * sizeof(T) / 2.98e6);
  auto show = [&](const char* what, auto step) {
    CHECK(cudaMemset(y, 0, n * sizeof(T)));
    CHECK(cudaDeviceSynchronize());
    step((cudaStream_t) nullptr, 0);
    wait_or_die(nullptr, what);
    CHECK(cudaMemcpy(got.data(), y, n * sizeof(T), cudaMemcpyDeviceToHost));
    double difference = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
      const double e = expected[i] - (double)(float)got[i];
      difference += e * e;
      size += expected[i] * expected[i];
    }
    const double error = std::sqrt(difference / size);
    CHECK(cudaMemset(y, 0, n * sizeof(T)));
    const spread_t us = check ? spread_t{0, 0, 0} : step_time(step, 11, 8, 24);
    printf(" %s %.2f (%.2f-%.2f), error %.0e%s,", what, us.median, us.low, us.high, error,
           error < (sizeof(T) == 2 ? 2e-2 : 1e-5) ? "" : " WRONG");
  };
#define ADD_ROWS(v)                                                                  \
  [&](cudaStream_t q, int) {                                                         \
    CHECK(launch(add_rows<T, v>, dim3(blocks_of(m / (v))), 128, 0, dim3(1), true, q, \
                 (const T*)from, (const int64_t*)d.index, y, s.width, s.updates));   \
  }
  show("single", ADD_ROWS(1));
  show("2 at once", ADD_ROWS(2));
  constexpr int MOST = 16 / (int)sizeof(T);
  show("16 bytes at once", ADD_ROWS(MOST));
  show("sorted, a fixed order", [&](cudaStream_t q, int) {
    CHECK(launch(add_segments<T, MOST>, dim3(blocks_of(n / MOST)), 128, 0, dim3(1), true, q,
                 (const T*)from, (const int*)device_order, (const int*)device_first, y, s.width,
                 s.rows));
  });
  printf("\n");
  for (void* p : {(void*)from, (void*)y, (void*)device_order, (void*)device_first}) {
    CHECK(cudaFree(p));
  }
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  if (check) {
    writes({40, 16, 20, false}, true);
    writes({40, 16, 60, true}, true);
    sums<float>({30, 16, 100, true}, true);
    sums<half>({30, 16, 100, true}, true);
    return 0;
  }
  for (bool meet : {false, true}) {
    writes({1024, 768, 128, meet}, false);
    writes({32768, 256, 4096, meet}, false);
    writes({32768, 256, 16384, meet}, false);
    writes({12 * 1024, 64, 12, meet}, false);
  }
  sums<float>({32768, 128, 16384, false}, false);
  sums<half>({32768, 128, 16384, false}, false);
  for (int rows : {16, 4096, 32768}) {
    sums<float>({rows, 128, 32768, true}, false);
    sums<half>({rows, 128, 32768, true}, false);
  }
  sums<float>({1 << 20, 4, 1 << 18, true}, false);
}
