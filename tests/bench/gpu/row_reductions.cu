/* Which shape of a generated row kernel is fastest: softmax, layer and RMS normalisation with what
 * stands in front of them and behind them, for rows of every length. The text is compiled at run time,
 * with the row's length as a constant, as a code generator would.
 *
 *   row_reductions [seconds for each case]
 *   row_reductions --check       every shape of kernel once, small; for the sanitizers */
#include <cstring>
#include <map>

#include "generated.cuh"

/* THREADS work on one row, ROWS rows in a block, CLUSTER blocks on one row; each thread keeps PER
 * accesses of VECTOR elements. KEEP 0: in registers; 1: in shared memory; 2: nowhere, the row is read
 * again. KIND 0: softmax(x * scale + mask); 1: layer norm of x + r, with scale and bias and a GELU by
 * sigmoid; 2: RMS norm of x + r with scale, and the sum as a second output. */
static const char* const row_text = R"(
#define SPAN (THREADS * VECTOR)
#define WARPS (THREADS / 32)
typedef pack<T, VECTOR> pack_t;
struct pair { float a, b; };
#if KIND == 0
__device__ inline pair merge(pair p, pair q) {
  float m = fmaxf(p.a, q.a);
  return {m, p.b * __expf(p.a - m) + q.b * __expf(q.a - m)};
}
#define NEUTRAL pair{-1e30f, 0.f}
#else
__device__ inline pair merge(pair p, pair q) { return {p.a + q.a, p.b + q.b}; }
#define NEUTRAL pair{0.f, 0.f}
#endif
__device__ inline unsigned cluster_rank() { unsigned r; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ inline void cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
__device__ inline void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ inline pair total(pair p) {
#pragma unroll
  for (int o = (THREADS < 32 ? THREADS : 32) / 2; o; o /= 2) {
    pair q = {__shfl_xor_sync(~0u, p.a, o), __shfl_xor_sync(~0u, p.b, o)};
    p = merge(p, q);
  }
#if THREADS > 32
  __shared__ pair partial[ROWS][WARPS];
  int in_row = threadIdx.x % THREADS, row = threadIdx.x / THREADS;
  if (in_row % 32 == 0) partial[row][in_row / 32] = p;
  __syncthreads();
  p = NEUTRAL;
  if (in_row % 32 < WARPS) p = partial[row][in_row % 32];
#pragma unroll
  for (int o = 16; o; o /= 2) {
    pair q = {__shfl_xor_sync(~0u, p.a, o), __shfl_xor_sync(~0u, p.b, o)};
    p = merge(p, q);
  }
#endif
#if CLUSTER > 1
  __shared__ pair of_block[CLUSTER];
  unsigned me = cluster_rank();
  cluster_wait(); /* all have begun */
  if (threadIdx.x < CLUSTER) {
    unsigned address = (unsigned)__cvta_generic_to_shared(&of_block[me]), mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(threadIdx.x));
    asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" :: "r"(mapped), "f"(p.a), "f"(p.b) : "memory");
  }
  cluster_arrive();
  cluster_wait();
  p = of_block[0];
#pragma unroll
  for (int i = 1; i < CLUSTER; i++) p = merge(p, of_block[i]);
#endif
  return p;
}
/* What stands in front: one value of the row. */
#if KIND == 0
#define OTHER(i, n) (n)
__device__ inline float before(float x, float other) { return x * 0.125f + other; }
#else
__device__ inline float before(float x, float other) { return x + other; }
#endif
/* Elements c to c + VECTOR of a row; with SHIFT the accesses are aligned and the first and last of a row
 * are in part outside it. `single`: this operand is not aligned with the row. */
__device__ inline bool inside(int c) { return !SHIFT || (c >= 0 && c + VECTOR <= LENGTH); }
__device__ inline pack_t get(const T* p, int c, bool single) {
  if (!single && inside(c)) return *(const pack_t*)(p + c);
  pack_t v;
#pragma unroll
  for (int k = 0; k < VECTOR; k++) v.v[k] = c + k >= 0 && c + k < LENGTH ? p[c + k] : T{};
  return v;
}
__device__ inline void put(T* p, int c, const pack_t& v) {
  if (inside(c)) {
    *(pack_t*)(p + c) = v;
    return;
  }
#pragma unroll
  for (int k = 0; k < VECTOR; k++)
    if (c + k >= 0 && c + k < LENGTH) p[c + k] = v.v[k];
}
__device__ inline void values(const T* x, const T* other, int c, float* t) {
  pack_t a = get(x, c, false), b = get(other, c, SHIFT && KIND == 0);
#pragma unroll
  for (int k = 0; k < VECTOR; k++) {
    t[k] = before(load(a.v[k]), load(b.v[k]));
    if (SHIFT && (c + k < 0 || c + k >= LENGTH)) t[k] = KIND == 0 ? -1e30f : 0.f;
  }
}
extern "C" __global__ void __launch_bounds__(THREADS * ROWS)
    generated(const T* x, const T* other, const T* scale, const T* bias, T* y, T* second, unsigned rows) {
#if CLUSTER > 1
  cluster_arrive();
  unsigned row = blockIdx.x / CLUSTER, part = cluster_rank();
#else
  unsigned row = blockIdx.x * ROWS + threadIdx.x / THREADS, part = 0;
#endif
  unsigned lane = threadIdx.x % THREADS;
  wait_for_predecessor();
  release_dependents();
  bool live = row < rows;
  row = live ? row : rows - 1;
  const T* xr = x + (size_t)row * LENGTH;
#if KIND == 0
  const T* mr = other; /* one mask for all rows */
#else
  const T* mr = other + (size_t)row * LENGTH;
#endif
#if SHIFT
  const int shift = (unsigned)((size_t)row * LENGTH % VECTOR);
#else
  const int shift = 0;
#endif
  pair p = NEUTRAL;
#if KEEP == 0
  float v[PER][VECTOR];
#elif KEEP == 1
  extern __shared__ float kept[];
  float* mine = kept + (threadIdx.x / THREADS) * (PER * SPAN);
#endif
#if KEEP != 0
#pragma unroll 4
#else
#pragma unroll
#endif
  for (int j = 0; j < PER; j++) {
    int c = ((part * PER + j) * THREADS + lane) * VECTOR - shift;
    if (c < LENGTH) {
      float t[VECTOR];
      values(xr, mr, c, t);
#if KIND == 0
      float most = t[0];
#pragma unroll
      for (int k = 1; k < VECTOR; k++) most = fmaxf(most, t[k]);
#if KEEP == 0
      p.a = fmaxf(p.a, most);
#else
      float sum = 0;
      most = fmaxf(most, p.a);
#pragma unroll
      for (int k = 0; k < VECTOR; k++) sum += __expf(t[k] - most);
      p = {most, p.b * __expf(p.a - most) + sum};
#endif
#else
#pragma unroll
      for (int k = 0; k < VECTOR; k++) { p.a += t[k]; p.b += t[k] * t[k]; }
#endif
#pragma unroll
      for (int k = 0; k < VECTOR; k++) {
#if KEEP == 0
        v[j][k] = t[k];
#elif KEEP == 1
        mine[(j * VECTOR + k) * THREADS + lane] = t[k];
#endif
      }
    }
#if KEEP == 0
    else {
#pragma unroll
      for (int k = 0; k < VECTOR; k++) v[j][k] = KIND == 0 ? -1e30f : 0.f;
    }
#endif
  }
#if KIND == 0 && KEEP == 0
  /* the exponentials are kept: one each; the sum belongs to the thread's own maximum */
#pragma unroll
  for (int j = 0; j < PER; j++)
#pragma unroll
    for (int k = 0; k < VECTOR; k++) { v[j][k] = __expf(v[j][k] - p.a); p.b += v[j][k]; }
  float own = p.a;
#endif
  p = total(p);
#if KIND == 0 && KEEP == 0
  float factor = __expf(own - p.a) / p.b;
#elif KIND == 0
  float factor = 1.f / p.b;
#elif KIND == 1
  float mean = p.a / LENGTH, factor = rsqrtf(fmaxf(p.b / LENGTH - mean * mean, 0.f) + 1e-5f);
#else
  float mean = 0.f, factor = rsqrtf(p.b / LENGTH + 1e-5f);
#endif
#if KEEP != 0
#pragma unroll 4
#else
#pragma unroll
#endif
  for (int j = 0; j < PER; j++) {
    int c = ((part * PER + j) * THREADS + lane) * VECTOR - shift;
    if (c < LENGTH && live) {
      pack_t out, sum;
#if KIND != 0
      pack_t s = get(scale, c, SHIFT);
#endif
#if KIND == 1
      pack_t b = get(bias, c, SHIFT);
#endif
#if KEEP == 2
      float again[VECTOR];
      values(xr, mr, c, again);
#endif
#pragma unroll
      for (int k = 0; k < VECTOR; k++) {
#if KEEP == 0
        float t = v[j][k];
#elif KEEP == 1
        float t = mine[(j * VECTOR + k) * THREADS + lane];
#else
        float t = again[k];
#endif
#if KIND == 0
#if KEEP != 0
        t = __expf(t - p.a);
#endif
        out.v[k] = convert<T>::store(t * factor);
#elif KIND == 1
        t = (t - mean) * factor * load(s.v[k]) + load(b.v[k]);
        out.v[k] = convert<T>::store(__fdividef(t, 1.f + __expf(-1.702f * t)));
#else
        sum.v[k] = convert<T>::store(t);
        out.v[k] = convert<T>::store(t * factor * load(s.v[k]));
#endif
      }
      put(y + (size_t)row * LENGTH, c, out);
#if KIND == 2
      put(second + (size_t)row * LENGTH, c, sum);
#endif
    }
  }
}
)";

static const char* const kind_names[] = {"softmax", "layer norm", "RMS norm"};
static const char* const keep_names[] = {"registers", "shared", "read again"};

struct choice_t {
  int threads, rows, cluster, per, vector, keep;
  bool shift;
  generated_t generated;
  spread_t plain = {NAN, NAN, NAN}, dependent = {NAN, NAN, NAN};
  double error = NAN;
  int shared(int) const {
    return keep == 1 ? threads * rows * per * vector * 4 : 0;
  }
  std::string name() const {
    char t[120];
    snprintf(t, sizeof t, "%d threads x %d rows%s, %d x %d elements%s, %s", threads, rows,
             cluster > 1 ? (" x cluster " + std::to_string(cluster)).c_str() : "", per, vector,
             shift ? " shifted" : "",
             keep_names[keep]);
    return t;
  }
};

struct case_t {
  int rows, length;
};

/* Everything a generator might reasonably offer for a length; `element` bytes. */
static std::vector<choice_t> choices(const case_t& c, int element) {
  std::vector<choice_t> all;
  const int widest = 16 / element;
  for (int vector : {widest, widest / 2, 1}) {
    const bool shift = c.length % vector;
    if ((shift && vector != widest) || (vector == widest / 2 && c.length % widest == 0 && c.length > 1024)) {
      continue;
    }
    if (vector == 1 && c.length % widest == 0 && c.length != 768) {
      continue; /* once is enough to know what single accesses cost */
    }
    for (int cluster : {1, 2, 4, 8}) {
      for (int threads : {4, 8, 16, 32, 64, 128, 256, 512, 1024}) {
        const int span = threads * vector * cluster;
        const int per = (c.length + (shift ? vector - 1 : 0) + span - 1) / span;
        if ((cluster > 1 && (threads < 128 || c.length < 2048)) || (per == 1 && span >= 2 * c.length)) {
          continue;
        }
        for (int keep : {0, 1, 2}) {
          const bool fits = keep == 0   ? per * vector <= 64 && threads * per * vector <= 32768
                            : keep == 1 ? per * vector <= 256 && threads >= 128 && per > 1
                                        : threads >= 128 && per > 1 && cluster == 1;
          if (!fits) {
            continue;
          }
          for (int rows : {1, 2, 4, 8, 16, 32}) {
            const int block = threads * rows;
            const bool sensible = threads >= 256 ? rows == 1
                                                 : block == 128 || block == 256 ||
                                                       (threads == 64 && rows == 1) ||
                                                       (threads == 32 && rows == 2);
            if (!sensible || (cluster > 1 && rows > 1)) {
              continue;
            }
            choice_t choice = {threads, rows, cluster, per, vector, keep, shift};
            if (choice.shared(0) <= 200 << 10) {
              all.push_back(choice);
            }
          }
        }
      }
    }
  }
  return all;
}

template <class T>
static __global__ void row_reference(const T* x, const T* other, const T* scale, const T* bias,
                                     double* y, int length, int kind) {
  __shared__ double shared[256];
  const size_t row = blockIdx.x;
  auto value = [&](int c) {
    const double v = (double)(float)x[row * length + c];
    return kind == 0 ? v * 0.125 + (double)(float)other[c] : v + (double)(float)other[row * length + c];
  };
  auto reduce = [&](double v, bool maximum) {
    __syncthreads();
    shared[threadIdx.x] = v;
    __syncthreads();
    for (int o = 128; o; o /= 2) {
      if (threadIdx.x < o) {
        const double w = shared[threadIdx.x + o];
        shared[threadIdx.x] = maximum ? fmax(shared[threadIdx.x], w) : shared[threadIdx.x] + w;
      }
      __syncthreads();
    }
    return shared[0];
  };
  double most = -1e300, sum = 0, square = 0;
  for (int c = threadIdx.x; c < length; c += 256) {
    most = fmax(most, value(c));
    sum += value(c);
  }
  most = reduce(most, true);
  const double mean = kind == 1 ? reduce(sum, false) / length : 0;
  sum = 0;
  for (int c = threadIdx.x; c < length; c += 256) {
    sum += exp(value(c) - most);
    square += (value(c) - mean) * (value(c) - mean);
  }
  sum = reduce(sum, false);
  square = reduce(square, false);
  for (int c = threadIdx.x; c < length; c += 256) {
    double t = value(c);
    if (kind == 0) {
      t = exp(t - most) / sum;
    } else {
      t = (t - mean) / sqrt(square / length + 1e-5) * (double)(float)scale[c];
      if (kind == 1) {
        t += (double)(float)bias[c];
        t = t / (1 + exp(-1.702 * t));
      }
    }
    y[row * length + c] = t;
  }
}

static half* random_of(half*, size_t n, float scale, unsigned seed) {
  return random_half(n, scale, seed);
}
static float* random_of(float*, size_t n, float scale, unsigned seed) {
  return random_float(n, 0, scale, seed);
}

static double copy_rate; /* bytes a microsecond, read and written, far beyond the L2 */

template <class T>
static void one_case(const case_t& c, int kind, double seconds, bool check) {
  const size_t n = (size_t)c.rows * c.length;
  /* sets in turn, so that large cases do not live in the L2 */
  const size_t bytes = n * sizeof(T);
  const int sets = (int)std::min<size_t>(12, std::max<size_t>(2, (160 << 20) / bytes + 1));
  std::vector<T*> x, other, y, second;
  for (int i = 0; i < sets; i++) {
    x.push_back(random_of((T*)nullptr, n, 4, 1 + i));
    other.push_back(random_of((T*)nullptr, kind == 0 ? c.length : n, 1, 100 + i));
    y.push_back(device_new<T>(n));
    second.push_back(device_new<T>(n));
  }
  T *scale = random_of((T*)nullptr, c.length, 1, 7), *bias = random_of((T*)nullptr, c.length, 1, 8);
  double* expected = device_new<double>(n);
  row_reference<T><<<c.rows, 256>>>(x[0], other[0], scale, bias, expected, c.length, kind);
  CHECK(cudaDeviceSynchronize());
  std::vector<choice_t> all = choices(c, sizeof(T));
  for (choice_t& a : all) {
    auto number = [](int v) { return std::to_string(v); };
    a.generated.text = with_macros({{"T", sizeof(T) == 2 ? "half" : "float"},
                                    {"KIND", number(kind)},
                                    {"KEEP", number(a.keep)},
                                    {"THREADS", number(a.threads)},
                                    {"ROWS", number(a.rows)},
                                    {"CLUSTER", number(a.cluster)},
                                    {"PER", number(a.per)},
                                    {"VECTOR", number(a.vector)},
                                    {"SHIFT", number(a.shift)},
                                    {"LENGTH", number(c.length)}},
                                   row_text);
  }
  const double compiled = compile_all(all);
  const double begin = now_us();
  size_t wrong = 0, tried = 0;
  unsigned rows = (unsigned)c.rows;
  for (choice_t& a : all) {
    if (now_us() - begin > seconds * 1e6 || !a.generated.load(a.shared(0))) {
      continue;
    }
    tried++;
    auto step = [&](bool dependent) {
      return [&, dependent](cudaStream_t s, int i) {
        i %= sets;
        void* arguments[] = {&x[i], &other[i], &scale, &bias, &y[i], &second[i], &rows};
        const unsigned blocks =
            a.cluster > 1 ? rows * a.cluster : (rows + a.rows - 1) / a.rows;
        a.generated.launch(dim3(blocks), dim3(a.threads * a.rows), a.shared(0), a.cluster, dependent,
                           s, arguments);
      };
    };
    CHECK(cudaMemset(y[0], 0xff, bytes));
    step(false)(nullptr, 0);
    CHECK(cudaDeviceSynchronize());
    a.error = relative_error(y[0], expected, n);
    if (!(a.error < (sizeof(T) == 2 ? 2e-3 : 1e-5))) {
      wrong++;
      printf("  WRONG %s: %.1e\n", a.name().c_str(), a.error);
    } else if (!check) {
      const int few = n > 4 << 20 ? 1 : 2;
      a.plain = step_time(step(false), 7, 4 * few, 12 * few);
      a.dependent = step_time(step(true), 7, 4 * few, 12 * few);
    }
    a.generated.unload();
  }
  const int reads = kind == 0 ? 1 : 2, writes = kind == 2 ? 2 : 1;
  const double moved = (double)bytes * (reads + writes), floor = moved / copy_rate;
  printf("ROWS %s %dx%d %s: %zu of %zu kernels (compiled in %.0f ms), %zu wrong; %.2f MB, %.2f us at "
         "the rate of a copy\n",
         kind_names[kind], c.rows, c.length, sizeof(T) == 2 ? "fp16" : "fp32", tried, all.size(),
         compiled, wrong, moved / 1e6, floor);
  std::vector<choice_t*> order;
  for (choice_t& a : all) {
    if (!std::isnan(a.plain.median)) {
      order.push_back(&a);
    }
  }
  std::sort(order.begin(), order.end(),
            [](choice_t* p, choice_t* q) { return p->plain.median < q->plain.median; });
  auto line = [&](const char* what, const choice_t& a) {
    printf("  %s %s: %.2f us (%.2f-%.2f), dependent %.2f, %.0f %% of a copy, %d registers%s, error "
           "%.1e\n",
           what, a.name().c_str(), a.plain.median, a.plain.low, a.plain.high, a.dependent.median,
           100 * floor / a.plain.median, a.generated.registers, a.generated.spilled ? " SPILLED" : "",
           a.error);
  };
  for (size_t i = 0; i < order.size() && i < 3; i++) {
    line(i ? "then" : "best", *order[i]);
  }
  /* the best of each way */
  std::map<std::string, choice_t*> ways;
  for (choice_t* a : order) {
    const std::string way = std::string(a->cluster > 1         ? "cluster"
                                        : a->threads < 32      ? "part of a warp"
                                        : a->threads == 32     ? "warp"
                                        : a->threads * 1 <= 128 ? "block up to 128"
                                                               : "block") +
                            ", " + keep_names[a->keep] + ", " + std::to_string(a->vector);
    ways.emplace(way, a);
  }
  for (const auto& w : ways) {
    if (w.second != order[0]) {
      line("way", *w.second);
    }
  }
  fflush(stdout);
  for (const auto& list : {x, other, y, second}) {
    for (T* p : list) {
      CHECK(cudaFree(p));
    }
  }
  for (void* p : {(void*)scale, (void*)bias, (void*)expected}) {
    CHECK(cudaFree(p));
  }
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  const double seconds = argc > 1 && !check ? atof(argv[1]) : 4;
  print_device();
  const size_t large = (size_t)128 << 20;
  uint8_t *a = device_new<uint8_t>(large), *b = device_new<uint8_t>(large);
  const spread_t t = step_time(
      [&](cudaStream_t s, int) { CHECK(cudaMemcpyAsync(a, b, large, cudaMemcpyDeviceToDevice, s)); },
      9, 2, 6);
  copy_rate = 2 * (double)large / t.median;
  printf("COPY %.0f bytes a microsecond read and written\n", copy_rate);
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
  if (check) {
    for (int kind : {0, 1, 2}) {
      one_case<half>({3, 768}, kind, 60, true);
      one_case<float>({3, 197}, kind, 60, true);
      one_case<half>({2, 4096}, kind, 60, true);
    }
    return 0;
  }
  for (const case_t& c : {case_t{128, 768}, case_t{1536, 128}, case_t{6304, 768}, case_t{1, 50257},
                          case_t{4096, 4096}, case_t{75648, 197}, case_t{32, 1000}, case_t{128, 50257},
                          case_t{512, 1024}, case_t{1, 4096}, case_t{64, 16384}, case_t{65536, 64}}) {
    const bool probabilities = c.length == 50257 || c.length == 1000;
    for (int kind : {0, 1, 2}) {
      if (kind > 0 && probabilities) {
        continue;
      }
      one_case<half>(c, kind, seconds, false);
      if (kind < 2) {
        one_case<float>(c, kind, seconds, false);
      }
    }
  }
}
