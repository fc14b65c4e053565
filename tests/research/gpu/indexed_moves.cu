/* Gather, embeddings with what follows them, scatter: which threads take what, and how updates that
 * meet at one place are brought together.
 *
 *   indexed_moves
 *   indexed_moves --check      for the sanitizers */
#include <cstring>

#include "hopper.cuh"
#include "measure.cuh"

enum { SETS = 8 };

template <class T, int N>
struct alignas(sizeof(T) * N) pack_t {
  T v[N];
};

static __device__ __forceinline__ void begin(bool release) {
  wait_for_predecessor();
  if (release) {
    release_dependents();
  }
}

/* An index outside is told and taken as 0. */
template <class INDEX>
static __device__ __forceinline__ int64_t inside(INDEX i, int64_t rows, int* fault) {
  const int64_t place = i < 0 ? i + rows : i;
  if (place < 0 || place >= rows) {
    *fault = 1;
    return 0;
  }
  return place;
}

/* ---- rows: y[i] = x[index[i]], rows of `width` elements, V an access ---- */
enum mapping_t { LINEAR, WARP_A_ROW, BLOCK_A_ROW };
template <int V, class INDEX, mapping_t MAPPING>
static __global__ void __launch_bounds__(128)
    gather_rows(const half* x, const INDEX* index, half* y, int width, int rows, int count,
                bool release, int* fault) {
  typedef pack_t<half, V> p;
  const int packs = width / V;
  begin(release);
  if constexpr (MAPPING == LINEAR) {
    const unsigned t = blockIdx.x * 128 + threadIdx.x, i = t / packs, c = t % packs;
    if (i < count) {
      ((p*)y)[t] = ((const p*)x)[inside(index[i], rows, fault) * packs + c];
    }
  } else {
    constexpr int THREADS = MAPPING == WARP_A_ROW ? 32 : 128;
    const int i = (blockIdx.x * 128 + threadIdx.x) / THREADS, lane = threadIdx.x % THREADS;
    if (i < count) {
      const int64_t row = inside(index[i], rows, fault);
      for (int c = lane; c < packs; c += THREADS) {
        ((p*)y)[(int64_t)i * packs + c] = ((const p*)x)[row * packs + c];
      }
    }
  }
}

/* y[r][j] = x[r][index[j]]: V places of a row a thread. */
template <int V>
static __global__ void __launch_bounds__(128)
    gather_columns(const half* x, const int64_t* index, half* y, int rows, int width, int count,
                   bool release, int* fault) {
  const unsigned t = blockIdx.x * 128 + threadIdx.x, packs = count / V, j = t % packs * V,
                 r = t / packs;
  begin(release);
  if (r < rows) {
    pack_t<half, V> out;
#pragma unroll
    for (int k = 0; k < V; k++) {
      out.v[k] = x[(int64_t)r * width + inside(index[j + k], width, fault)];
    }
    *(pack_t<half, V>*)(y + (int64_t)r * count + j) = out;
  }
}

struct rows_t {
  int rows, width, count;
};
template <class INDEX>
struct gather_data_t {
  rows_t shape;
  half *x, *y[SETS];
  INDEX* index[SETS];
  int* fault;
  std::vector<INDEX> host_index;
  explicit gather_data_t(const rows_t& s) : shape(s) {
    x = random_half((size_t)s.rows * s.width, 1, 1);
    fault = device_new<int>(1);
    CHECK(cudaMemset(fault, 0, 4));
    for (int i = 0; i < SETS; i++) {
      y[i] = device_new<half>((size_t)s.count * s.width);
      index[i] = device_new<INDEX>((size_t)s.count);
      host_index.clear();
      unsigned h = 77u + (unsigned)(SETS - i);
      for (int k = 0; k < s.count; k++) {
        h = h * 1664525u + 1013904223u;
        const int row = (int)((h >> 8) % (unsigned)s.rows);
        host_index.push_back((INDEX)(k % 5 == 3 ? row - s.rows : row));
      }
      CHECK(cudaMemcpy(index[i], host_index.data(), host_index.size() * sizeof(INDEX),
                       cudaMemcpyHostToDevice));
    }
  }
  gather_data_t(const gather_data_t&) = delete;
  gather_data_t& operator=(const gather_data_t&) = delete;
  ~gather_data_t() {
    cudaFree(x);
    cudaFree(fault);
    for (int i = 0; i < SETS; i++) {
      cudaFree(y[i]);
      cudaFree(index[i]);
    }
  }
  /* of the last set, whose indices the host has */
  bool right() const {
    const size_t n = (size_t)shape.count * shape.width;
    std::vector<uint16_t> got(n), from((size_t)shape.rows * shape.width);
    int told = 0;
    CHECK(cudaMemcpy(got.data(), y[SETS - 1], n * 2, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(from.data(), x, from.size() * 2, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&told, fault, 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < shape.count; i++) {
      const int64_t row = host_index[i] < 0 ? host_index[i] + shape.rows : host_index[i];
      if (memcmp(&got[(size_t)i * shape.width], &from[(size_t)row * shape.width],
                 (size_t)shape.width * 2) != 0) {
        return false;
      }
    }
    return told == 0;
  }
};

template <int V, class INDEX, mapping_t MAPPING>
static void gather_line(const char* what, const gather_data_t<INDEX>& d, bool check) {
  if (d.shape.width % V) {
    return;
  }
  const int64_t threads = MAPPING == LINEAR       ? (int64_t)d.shape.count * (d.shape.width / V)
                          : MAPPING == WARP_A_ROW ? (int64_t)d.shape.count * 32
                                                  : (int64_t)d.shape.count * 128;
  auto step = [&](cudaStream_t s, int i) {
    CHECK(launch(gather_rows<V, INDEX, MAPPING>, dim3((unsigned)((threads + 127) / 128)), 128, 0,
                 dim3(1), true, s, (const half*)d.x, (const INDEX*)d.index[i % SETS], d.y[i % SETS],
                 d.shape.width, d.shape.rows, d.shape.count, threads <= 132 * 1536, d.fault));
  };
  CHECK(cudaMemset(d.y[SETS - 1], 0xff, (size_t)d.shape.count * d.shape.width * 2));
  step(nullptr, SETS - 1);
  wait_or_die(nullptr, what);
  const bool right = d.right();
  const spread_t us = check ? spread_t{0, 0, 0} : step_time(step, 11, 16, 48);
  printf(" %s by %d%s %.2f (%.2f-%.2f)%s,", what, V, sizeof(INDEX) == 4 ? " int32" : "", us.median,
         us.low, us.high, right ? "" : " WRONG");
}

static void gathers(const rows_t& s, bool check) {
  printf("GATHER %d rows of %d out of %d; bytes %.2f us:", s.count, s.width, s.rows,
         (double)s.count * (s.width * 4 + 8) / 2.98e6);
  {
    gather_data_t<int64_t> d(s);
    gather_line<8, int64_t, LINEAR>("linear", d, check);
    gather_line<4, int64_t, LINEAR>("linear", d, check);
    gather_line<2, int64_t, LINEAR>("linear", d, check);
    gather_line<1, int64_t, LINEAR>("linear", d, check);
    gather_line<8, int64_t, WARP_A_ROW>("warp a row", d, check);
    gather_line<8, int64_t, BLOCK_A_ROW>("block a row", d, check);
  }
  gather_data_t<int32_t> d(s);
  gather_line<8, int32_t, LINEAR>("linear", d, check);
  printf("\n");
}

template <int V>
static void column_line(const gather_data_t<int64_t>& d, int rows, half* x, half* y, bool check) {
  const int width = d.shape.rows, count = d.shape.count;
  auto step = [&](cudaStream_t s, int) {
    const size_t threads = (size_t)rows * (count / V);
    CHECK(launch(gather_columns<V>, dim3((unsigned)((threads + 127) / 128)), 128, 0, dim3(1), true,
                 s, (const half*)x, (const int64_t*)d.index[SETS - 1], y, rows, width, count,
                 threads <= 132 * 1536, d.fault));
  };
  CHECK(cudaMemset(y, 0xff, (size_t)rows * count * 2));
  step(nullptr, 0);
  wait_or_die(nullptr, "columns");
  std::vector<uint16_t> got((size_t)rows * count), from((size_t)rows * width);
  CHECK(cudaMemcpy(got.data(), y, got.size() * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(from.data(), x, from.size() * 2, cudaMemcpyDeviceToHost));
  size_t wrong = 0;
  for (size_t i = 0; i < got.size(); i++) {
    const int64_t at = d.host_index[i % (size_t)count];
    wrong += got[i] != from[i / (size_t)count * (size_t)width + (size_t)(at < 0 ? at + width : at)];
  }
  const spread_t us = check ? spread_t{0, 0, 0} : step_time(step, 11, 16, 48);
  printf(" %d a thread %.2f (%.2f-%.2f)%s,", V, us.median, us.low, us.high, wrong ? " WRONG" : "");
}
static void columns(int rows, int width, int count, bool check) {
  gather_data_t<int64_t> d({width, 1, count});
  half *x = random_half((size_t)rows * width, 1, 3), *y = device_new<half>((size_t)rows * count);
  printf("GATHER %d of %d columns, %d rows; bytes of the result %.2f us:", count, width, rows,
         (double)rows * count * 4 / 2.98e6);
  column_line<1>(d, rows, x, y, check);
  column_line<2>(d, rows, x, y, check);
  column_line<4>(d, rows, x, y, check);
  column_line<8>(d, rows, x, y, check);
  printf("\n");
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
}

/* ---- word + position + type, then layer norm: BERT's first step ---- */
enum { HIDDEN = 768 };
template <int THREADS, int V, bool NORM>
static __global__ void __launch_bounds__(THREADS)
    embed(const half* words, const half* positions, const half* types, const int64_t* ids,
          const int64_t* kinds, const half* scale, const half* bias, half* y, int tokens,
          int* fault) {
  constexpr int PER = HIDDEN / THREADS / V;
  typedef pack_t<half, V> p;
  const int token = blockIdx.x, at = token % tokens;
  p s[PER], b[PER], position[PER];
#pragma unroll
  for (int j = 0; j < PER; j++) { /* nothing of these depends on the ids */
    const int c = (j * THREADS + threadIdx.x) * V;
    position[j] = *(const p*)(positions + (int64_t)at * HIDDEN + c);
    s[j] = *(const p*)(scale + c);
    b[j] = *(const p*)(bias + c);
  }
  begin(true);
  const half *word = words + inside(ids[token], 30522, fault) * HIDDEN,
             *type = types + inside(kinds[token], 2, fault) * HIDDEN;
  float v[PER][V], sum = 0, square = 0;
#pragma unroll
  for (int j = 0; j < PER; j++) {
    const int c = (j * THREADS + threadIdx.x) * V;
    const p w = *(const p*)(word + c), t = *(const p*)(type + c);
#pragma unroll
    for (int k = 0; k < V; k++) {
      v[j][k] = __half2float(w.v[k]) + __half2float(position[j].v[k]) + __half2float(t.v[k]);
      sum += v[j][k];
      square += v[j][k] * v[j][k];
    }
  }
  float mean = 0, factor = 1;
  if constexpr (NORM) {
    __shared__ float2 partial[THREADS / 32];
#pragma unroll
    for (int o = 16; o; o /= 2) {
      sum += __shfl_xor_sync(~0u, sum, o);
      square += __shfl_xor_sync(~0u, square, o);
    }
    if constexpr (THREADS > 32) {
      if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = make_float2(sum, square);
      }
      __syncthreads();
      sum = square = 0;
#pragma unroll
      for (int i = 0; i < THREADS / 32; i++) {
        sum += partial[i].x;
        square += partial[i].y;
      }
    }
    mean = sum / HIDDEN;
    factor = rsqrtf(fmaxf(square / HIDDEN - mean * mean, 0.f) + 1e-12f);
  }
#pragma unroll
  for (int j = 0; j < PER; j++) {
    const int c = (j * THREADS + threadIdx.x) * V;
    p out;
#pragma unroll
    for (int k = 0; k < V; k++) {
      out.v[k] = __float2half(NORM ? (v[j][k] - mean) * factor * __half2float(s[j].v[k]) +
                                         __half2float(b[j].v[k])
                                   : v[j][k]);
    }
    *(p*)(y + (int64_t)token * HIDDEN + c) = out;
  }
}
/* a = (a + b), where one launch for each gather made them; then the norm of a sum alone */
static __global__ void __launch_bounds__(128) add(half* a, const half* b, size_t packs) {
  const size_t i = blockIdx.x * (size_t)128 + threadIdx.x;
  begin(true);
  if (i < packs) {
    uint4 u = ((uint4*)a)[i], w = ((const uint4*)b)[i];
    for (int k = 0; k < 4; k++) {
      ((half2*)&u)[k] = __hadd2(((half2*)&u)[k], ((half2*)&w)[k]);
    }
    ((uint4*)a)[i] = u;
  }
}

static void embeddings(int tokens, int images, bool check) {
  const int n = tokens * images;
  half *words = random_half((size_t)30522 * HIDDEN, 1, 1),
       *positions = random_half((size_t)512 * HIDDEN, 1, 2),
       *types = random_half((size_t)2 * HIDDEN, 1, 3), *scale = random_half(HIDDEN, 1, 4),
       *bias = random_half(HIDDEN, 1, 5), *y = device_new<half>((size_t)n * HIDDEN),
       *z = device_new<half>((size_t)n * HIDDEN);
  gather_data_t<int64_t> ids({30522, 1, n}), kinds({2, 1, n});
  const int64_t *i = ids.index[SETS - 1], *k = kinds.index[SETS - 1];
  std::vector<half> w((size_t)30522 * HIDDEN), p((size_t)512 * HIDDEN), t(2 * HIDDEN), hs(HIDDEN),
      hb(HIDDEN), got((size_t)n * HIDDEN);
  CHECK(cudaMemcpy(w.data(), words, w.size() * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(p.data(), positions, p.size() * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(t.data(), types, t.size() * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(hs.data(), scale, hs.size() * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(hb.data(), bias, hb.size() * 2, cudaMemcpyDeviceToHost));
  printf("EMBEDDING %d sequences of %d tokens, bytes %.2f us:", images, tokens,
         (double)n * HIDDEN * 4 / 2.98e6);
  auto show = [&](const char* what, auto step, bool norm) {
    CHECK(cudaMemset(y, 0xff, got.size() * 2));
    step((cudaStream_t) nullptr, 0);
    wait_or_die(nullptr, "embedding");
    CHECK(cudaMemcpy(got.data(), y, got.size() * 2, cudaMemcpyDeviceToHost));
    double difference = 0, size = 0;
    for (int row = 0; row < n; row++) {
      const int64_t id =
                        ids.host_index[row] < 0 ? ids.host_index[row] + 30522 : ids.host_index[row],
                    kind = kinds.host_index[row] < 0 ? kinds.host_index[row] + 2
                                                     : kinds.host_index[row];
      double v[HIDDEN], mean = 0, variance = 0;
      for (int c = 0; c < HIDDEN; c++) {
        v[c] = (double)(float)w[(size_t)id * HIDDEN + c] +
               (double)(float)p[(size_t)(row % tokens) * HIDDEN + c] +
               (double)(float)t[(size_t)kind * HIDDEN + c];
        mean += v[c] / HIDDEN;
      }
      for (double e : v) {
        variance += (e - mean) * (e - mean) / HIDDEN;
      }
      for (int c = 0; c < HIDDEN; c++) {
        const double e = norm ? (v[c] - mean) / std::sqrt(variance + 1e-12) * (double)(float)hs[c] +
                                    (double)(float)hb[c]
                              : v[c],
                     d = e - (double)(float)got[(size_t)row * HIDDEN + c];
        difference += d * d;
        size += e * e;
      }
    }
    const spread_t us = check ? spread_t{0, 0, 0} : step_time(step, 11, 16, 48);
    printf(" %s %.2f (%.2f-%.2f)%s,", what, us.median, us.low, us.high,
           std::sqrt(difference / size) < 1e-3 ? "" : " WRONG");
  };
#define EMBED(threads, v, norm)                                                            \
  [&](cudaStream_t s, int) {                                                               \
    CHECK(launch(embed<threads, v, norm>, dim3((unsigned)n), threads, 0, dim3(1), true, s, \
                 (const half*)words, (const half*)positions, (const half*)types, i, k,     \
                 (const half*)scale, (const half*)bias, y, tokens, ids.fault));            \
  }
  show("sum alone, 96 x 8", EMBED(96, 8, false), false);
  show("with norm, 32 x 24", EMBED(32, 8, true), true);
  show("with norm, 96 x 8", EMBED(96, 8, true), true);
  show("with norm, 192 x 4", EMBED(192, 4, true), true);
  show("with norm, 384 x 2", EMBED(384, 2, true), true);
  auto apart = [&](cudaStream_t s, int) {
    const size_t packs = (size_t)n * HIDDEN / 8;
    const unsigned blocks = (unsigned)((packs + 127) / 128);
    CHECK(launch(gather_rows<8, int64_t, LINEAR>, dim3(blocks), 128, 0, dim3(1), true, s,
                 (const half*)words, i, y, (int)HIDDEN, 30522, n, packs <= 132 * 1536, ids.fault));
    CHECK(launch(gather_rows<8, int64_t, LINEAR>, dim3(blocks), 128, 0, dim3(1), true, s,
                 (const half*)types, k, z, (int)HIDDEN, 2, n, packs <= 132 * 1536, ids.fault));
    CHECK(launch(add, dim3(blocks), 128, 0, dim3(1), true, s, y, (const half*)z, packs));
    for (int image = 0; image < images; image++) {
      CHECK(launch(add, dim3((blocks + images - 1) / images), 128, 0, dim3(1), true, s,
                   y + (size_t)image * tokens * HIDDEN, (const half*)positions, packs / images));
    }
  };
  if (images == 1) {
    show("two gathers and two sums", apart, false);
  }
  printf("\n");
  for (half* q : {words, positions, types, scale, bias, y, z}) {
    CHECK(cudaFree(q));
  }
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  if (check) {
    gathers({50, 24, 20}, true);
    columns(6, 40, 16, true);
    embeddings(8, 2, true);
    return 0;
  }
  gathers({30522, 768, 128}, false);
  gathers({30522, 768, 4096}, false);
  gathers({30522, 768, 32768}, false);
  gathers({100000, 128, 32768}, false);
  gathers({100000, 16, 262144}, false);
  gathers({100000, 1, 1 << 20}, false);
  columns(4096, 1000, 256, false);
  columns(4096, 1000, 64, false);
  embeddings(128, 1, false);
  embeddings(128, 32, false);
}
