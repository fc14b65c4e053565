/* A generated elementwise kernel, relu(x * s + b) + r: bandwidth by elements a thread, forms of
 * broadcasting and how their indices are computed, transposed input, small tensors. Compiled at run
 * time, shapes as constants where it is said.
 *
 *   elementwise
 *   elementwise --check        each text once on small data; for the sanitizers */
#include <cstring>

#include "generated.cuh"

/* FORM of s and b: 0 scalar, 1 last axis (LAST), 2 a middle axis (i / LAST % MIDDLE), 3 first axes
 * (i / LAST), 4 dense, 5 any: four axes with strides, 6 any, for each element.
 * INDEX: 0 constants, 1 division by a parameter, 2 multiplication by a parameter, 3 division in 64
 * bits. */
static const char* const elementwise_text = R"(
struct axes { unsigned extent[4], stride[4], magic[4], shift[4]; };
typedef pack<T, VECTOR> pack_t;
#if INDEX == 3
typedef unsigned long long index_t;
#else
typedef unsigned index_t;
#endif
#if INDEX == 0
#define QUOTIENT(i, k, constant) ((i) / (constant))
#define EXTENT(k, constant) (constant)
#elif INDEX == 2
#define QUOTIENT(i, k, constant) ((__umulhi((i), a.magic[k]) + (i)) >> a.shift[k])
#define EXTENT(k, constant) a.extent[k]
#else
#define QUOTIENT(i, k, constant) ((i) / (index_t)a.extent[k])
#define EXTENT(k, constant) a.extent[k]
#endif
/* extents 3: LAST, 2: MIDDLE, 1: OUTER */
__device__ inline index_t place(index_t i, const axes& a) {
#if FORM == 0
  return 0;
#elif FORM == 1
  return i - QUOTIENT(i, 3, LAST) * EXTENT(3, LAST);
#elif FORM == 2
  index_t q = QUOTIENT(i, 3, LAST);
  return q - QUOTIENT(q, 2, MIDDLE) * EXTENT(2, MIDDLE);
#elif FORM == 3
  return QUOTIENT(i, 3, LAST);
#elif FORM == 4
  return i;
#else
  index_t q3 = QUOTIENT(i, 3, LAST), c3 = i - q3 * EXTENT(3, LAST);
  index_t q2 = QUOTIENT(q3, 2, MIDDLE), c2 = q3 - q2 * EXTENT(2, MIDDLE);
  index_t q1 = QUOTIENT(q2, 1, OUTER), c1 = q2 - q1 * EXTENT(1, OUTER);
#if INDEX == 0
  return c3 * STRIDE3 + c2 * STRIDE2 + c1 * STRIDE1 + q1 * STRIDE0;
#else
  return c3 * a.stride[3] + c2 * a.stride[2] + c1 * a.stride[1] + q1 * a.stride[0];
#endif
#endif
}
__device__ __noinline__ float heavy(float t) { return 0.5f * t * (1.f + erff(t * 0.70710678f)); }
__device__ inline float expression(float x, float s, float b, float r) {
#if HEAVY
  return heavy(x * s + b) + r;
#else
  return fmaxf(x * s + b, 0.f) + r;
#endif
}
extern "C" __global__ void __launch_bounds__(THREADS)
    generated(const T* x, const T* s, const T* b, const T* r, T* y, index_t n, const __grid_constant__ axes a) {
#if DEPENDENT
  wait_for_predecessor();
  release_dependents();
#endif
#if PERSISTENT
  for (index_t first = (index_t)blockIdx.x * (THREADS * UNROLL * VECTOR); first < n;
       first += (index_t)gridDim.x * (THREADS * UNROLL * VECTOR))
#else
  const index_t first = (index_t)blockIdx.x * (THREADS * UNROLL * VECTOR);
#endif
  {
    pack_t vx[UNROLL], vr[UNROLL];
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      index_t i = first + (u * THREADS + threadIdx.x) * VECTOR;
      if (i < n) {
        vx[u] = *(const pack_t*)(x + i);
        vr[u] = *(const pack_t*)(r + i);
      }
    }
#pragma unroll
    for (int u = 0; u < UNROLL; u++) {
      index_t i = first + (u * THREADS + threadIdx.x) * VECTOR;
      if (i < n) {
        pack_t out;
#if FORM == 1 || FORM == 4 || FORM == 6 || (FORM == 5 && STRIDE3 == 1)
#if EACH || FORM == 6
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
          index_t p = place(i + k, a);
          out.v[k] = convert<T>::store(expression(load(vx[u].v[k]), load(s[p]), load(b[p]), load(vr[u].v[k])));
        }
#else
        index_t p = place(i, a);
        pack_t vs = *(const pack_t*)(s + p), vb = *(const pack_t*)(b + p);
#pragma unroll
        for (int k = 0; k < VECTOR; k++)
          out.v[k] = convert<T>::store(expression(load(vx[u].v[k]), load(vs.v[k]), load(vb.v[k]), load(vr[u].v[k])));
#endif
#elif EACH
#pragma unroll
        for (int k = 0; k < VECTOR; k++) {
          index_t p = place(i + k, a);
          out.v[k] = convert<T>::store(expression(load(vx[u].v[k]), load(s[p]), load(b[p]), load(vr[u].v[k])));
        }
#else
        index_t p = place(i, a);
        float os = load(s[p]), ob = load(b[p]);
#pragma unroll
        for (int k = 0; k < VECTOR; k++)
          out.v[k] = convert<T>::store(expression(load(vx[u].v[k]), os, ob, load(vr[u].v[k])));
#endif
        *(pack_t*)(y + i) = out;
      }
    }
  }
}
)";

/* y[b][c][r] = relu(x[b][r][c] * s[..] + b[..]): WAY 0 gathers, 1 scatters, 2 tiles of 32x32 through
 * shared memory, 3 tiles of 64x64 with accesses of IN and OUT elements. CHANNEL: the axis of s and b in
 * the input, 1 rows or 2 columns. */
static const char* const transpose_text = R"(
__device__ inline T apply(T v, const T* s, const T* b, unsigned row, unsigned column) {
  const unsigned c = CHANNEL == 1 ? row : column;
  return convert<T>::store(fmaxf(load(v) * load(s[c]) + load(b[c]), 0.f));
}
extern "C" __global__ void __launch_bounds__(256)
    generated(const T* x, const T* s, const T* b, T* y) {
  x += (size_t)blockIdx.z * ROWS * COLUMNS;
  y += (size_t)blockIdx.z * ROWS * COLUMNS;
#if WAY == 0
  unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < ROWS * COLUMNS) {
    unsigned column = i / ROWS, row = i - column * ROWS;
    y[i] = apply(x[row * COLUMNS + column], s, b, row, column);
  }
#elif WAY == 1
  unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < ROWS * COLUMNS) {
    unsigned row = i / COLUMNS, column = i - row * COLUMNS;
    y[column * ROWS + row] = apply(x[i], s, b, row, column);
  }
#elif WAY == 2
  __shared__ T tile[32][33];
  unsigned tx = threadIdx.x % 32, ty = threadIdx.x / 32, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    unsigned row = r0 + ty + j * 8, column = c0 + tx;
    if (row < ROWS && column < COLUMNS) tile[ty + j * 8][tx] = apply(x[row * COLUMNS + column], s, b, row, column);
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 4; j++) {
    unsigned column = c0 + ty + j * 8, row = r0 + tx;
    if (row < ROWS && column < COLUMNS) y[column * ROWS + row] = tile[tx][ty + j * 8];
  }
#else
  enum { PAD = 4 / sizeof(T) };
  __shared__ T tile[64][64 + PAD];
  unsigned r0 = blockIdx.y * 64, c0 = blockIdx.x * 64;
#pragma unroll
  for (int j = 0; j < 64 * 64 / IN / 256; j++) {
    unsigned t = j * 256 + threadIdx.x, tr = t / (64 / IN), tc = t % (64 / IN) * IN;
    unsigned row = r0 + tr, column = c0 + tc;
    if (row < ROWS && column < COLUMNS) {
      pack<T, IN> v = *(const pack<T, IN>*)(x + row * COLUMNS + column);
#pragma unroll
      for (int k = 0; k < IN; k++) tile[tr][tc + k] = apply(v.v[k], s, b, row, column + k);
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < 64 * 64 / OUT / 256; j++) {
    unsigned t = j * 256 + threadIdx.x, tc = t / (64 / OUT), tr = t % (64 / OUT) * OUT;
    unsigned row = r0 + tr, column = c0 + tc;
    if (row < ROWS && column < COLUMNS) {
      pack<T, OUT> v;
#pragma unroll
      for (int k = 0; k < OUT; k++) v.v[k] = tile[tr + k][tc];
      *(pack<T, OUT>*)(y + column * ROWS + row) = v;
    }
  }
#endif
}
)";

struct axes_t {
  unsigned extent[4], stride[4], magic[4], shift[4];
};
/* floor(i / d) = (high(i * magic) + i) >> shift for i below 2^31 */
static void multiplier(unsigned d, unsigned* magic, unsigned* shift) {
  unsigned p = 0;
  while ((1u << p) < d) {
    p++;
  }
  *magic = (unsigned)(((1ull << 32) * ((1ull << p) - d)) / d + 1);
  *shift = p;
}

struct kernel_t {
  std::string what;
  int form = 0, index = 0, vector = 8, unroll = 1, threads = 256, persistent = 0, heavy = 0, each = 0,
      dependent = 0;
  bool single = false; /* fp32 */
  axes_t axes = {{1, 1, 1, 1}, {0, 0, 0, 0}, {}, {}};
  unsigned n = 0;
  generated_t generated;
  spread_t time = {NAN, NAN, NAN};
  double error = NAN;

  void write() {
    auto number = [](long v) { return std::to_string(v); };
    for (int k = 0; k < 4; k++) {
      multiplier(axes.extent[k], &axes.magic[k], &axes.shift[k]);
    }
    generated.text = with_macros(
        {{"T", single ? "float" : "half"},
         {"FORM", number(form)},
         {"INDEX", number(index)},
         {"VECTOR", number(vector)},
         {"UNROLL", number(unroll)},
         {"THREADS", number(threads)},
         {"PERSISTENT", number(persistent)},
         {"HEAVY", number(heavy)},
         {"EACH", number(each)},
         {"DEPENDENT", number(dependent)},
         {"LAST", number(axes.extent[3]) + "u"},
         {"MIDDLE", number(axes.extent[2]) + "u"},
         {"OUTER", number(axes.extent[1]) + "u"},
         {"STRIDE3", number(axes.stride[3])},
         {"STRIDE2", number(axes.stride[2])},
         {"STRIDE1", number(axes.stride[1])},
         {"STRIDE0", number(axes.stride[0])}},
        elementwise_text);
  }
  unsigned place(unsigned i) const {
    const unsigned c3 = i % axes.extent[3], q3 = i / axes.extent[3], c2 = q3 % axes.extent[2],
                   q2 = q3 / axes.extent[2], c1 = q2 % axes.extent[1], c0 = q2 / axes.extent[1];
    return form == 0   ? 0
           : form == 1 ? c3
           : form == 2 ? c2
           : form == 3 ? q3
           : form == 4 ? i
                       : c3 * axes.stride[3] + c2 * axes.stride[2] + c1 * axes.stride[1] +
                             c0 * axes.stride[0];
  }
};

enum { LARGE = 1 << 26 }; /* elements of the large arrays in fp16 */
static half *x, *s, *b, *r, *y;
static double copy_rate;

template <class T>
static __global__ void sample(const T* from, unsigned step, unsigned count, double* to) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    to[i] = (double)(float)from[(size_t)i * step];
  }
}
/* Every `step`th element, on the host. */
static std::vector<double> samples(const kernel_t& k, const half* from, unsigned step, unsigned n) {
  const unsigned count = (n + step - 1) / step;
  std::vector<double> host(count);
  double* device = device_new<double>(count);
  if (k.single) {
    sample<<<(count + 255) / 256, 256>>>((const float*)from, step, count, device);
  } else {
    sample<<<(count + 255) / 256, 256>>>(from, step, count, device);
  }
  CHECK(cudaMemcpy(host.data(), device, count * 8, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device));
  return host;
}

/* Compared with float64 at 20000 places or so, the last element among them. */
static double error_of(const kernel_t& k) {
  unsigned step = std::max(1u, k.n / 20000), most = 0;
  while ((k.n - 1) % step) {
    step--;
  }
  for (unsigned i = 0; i < k.n; i += step) {
    most = std::max(most, k.place(i));
  }
  CHECK(cudaDeviceSynchronize());
  const unsigned operand_step = k.form == 4 ? step : 1;
  const std::vector<double> hx = samples(k, x, step, k.n), hr = samples(k, r, step, k.n),
                            hy = samples(k, y, step, k.n), hs = samples(k, s, operand_step, most + 1),
                            hb = samples(k, b, operand_step, most + 1);
  double difference = 0, sum = 0;
  for (size_t i = 0; i < hx.size(); i++) {
    const unsigned p = k.place((unsigned)i * step) / operand_step;
    const double t = hx[i] * hs[p] + hb[p];
    const double e = (k.heavy ? 0.5 * t * (1 + erf(t * 0.70710678118654752)) : t > 0 ? t : 0) + hr[i];
    difference += (e - hy[i]) * (e - hy[i]);
    sum += e * e;
  }
  return std::sqrt(difference / sum);
}

static void measure(kernel_t& k, bool check) {
  if (!k.generated.load()) {
    printf("  REFUSED %s\n", k.what.c_str());
    return;
  }
  int processors = 0;
  CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  const unsigned each = k.threads * k.unroll * k.vector, blocks = (k.n + each - 1) / each;
  const unsigned grid =
      k.persistent ? std::min(blocks, (unsigned)(processors * k.persistent)) : blocks;
  auto step = [&](cudaStream_t stream, int i) {
    /* other places in turn */
    const size_t room = LARGE / (k.single ? 2 : 1), sets = std::min<size_t>(8, room / k.n);
    const size_t at = i % sets * (k.n / 8 * 8) * (k.single ? 2 : 1);
    half *px = x + at, *pr = r + at, *py = y + at;
    unsigned n32 = k.n;
    unsigned long long n64 = k.n;
    void* arguments[] = {&px, &s, &b, &pr, &py, k.index == 3 ? (void*)&n64 : (void*)&n32,
                         (void*)&k.axes};
    k.generated.launch(dim3(grid), dim3(k.threads), 0, 1, k.dependent, stream, arguments);
  };
  CHECK(cudaMemset(y, 0xff, (size_t)k.n * (k.single ? 4 : 2)));
  step(nullptr, 0);
  k.error = error_of(k);
  if (!(k.error < (k.single ? 1e-6 : 1e-3))) {
    printf("  WRONG %s: %.1e\n", k.what.c_str(), k.error);
  } else if (!check) {
    const bool large = k.n > 4 << 20;
    k.time = step_time(step, large ? 7 : 11, large ? 2 : 16, large ? 8 : 48);
  }
  k.generated.unload();
}

static void print(const kernel_t& k) {
  const double operands = k.form == 4 ? 5 : 3;
  const double moved = operands * (k.single ? 4. : 2.) * k.n;
  printf("  %s: %.2f us (%.2f-%.2f), %.0f %% of a copy, %d registers%s, error %.1e\n", k.what.c_str(),
         k.time.median, k.time.low, k.time.high, 100 * moved / copy_rate / k.time.median,
         k.generated.registers, k.generated.spilled ? " SPILLED" : "", k.error);
}

static void run_all(const char* title, std::vector<kernel_t>& all, size_t show, bool check) {
  for (kernel_t& k : all) {
    k.write();
  }
  const double ms = compile_all(all);
  for (kernel_t& k : all) {
    measure(k, check);
  }
  printf("ELEMENTWISE %s: %zu kernels, compiled in %.0f ms\n", title, all.size(), ms);
  std::vector<kernel_t*> order;
  for (kernel_t& k : all) {
    order.push_back(&k);
  }
  if (show < all.size()) {
    std::sort(order.begin(), order.end(),
              [](kernel_t* p, kernel_t* q) { return p->time.median < q->time.median; });
  }
  for (size_t i = 0; i < order.size(); i++) {
    if (i < show || i + 2 >= order.size()) {
      print(*order[i]);
    }
  }
  fflush(stdout);
}

static void shapes_of_kernel(bool check) {
  for (bool single : {false, true}) {
    for (unsigned n : {check ? 100000u : (unsigned)LARGE / 2, 1u << 20}) {
      std::vector<kernel_t> all;
      for (int vector : {1, 2, 4, 8}) {
        if (single && vector == 8) {
          continue;
        }
        for (int unroll : {1, 2, 4, 8}) {
          for (int threads : {128, 256, 512}) {
            for (int persistent : {0, 2, 8}) {
              if ((unroll * vector > 32) || persistent * threads > 2048) {
                continue;
              }
              kernel_t k;
              k.vector = vector, k.unroll = unroll, k.threads = threads, k.persistent = persistent;
              k.single = single, k.n = n;
              k.what = std::to_string(vector) + " x " + std::to_string(unroll) + " elements, " +
                       std::to_string(threads) + " threads" +
                       (persistent ? ", " + std::to_string(persistent) + " blocks a multiprocessor" : "");
              all.push_back(std::move(k));
            }
          }
        }
      }
      run_all((std::string("shapes of kernel, ") + (single ? "fp32, " : "fp16, ") + std::to_string(n))
                  .c_str(),
              all, 8, check);
      if (check) {
        break;
      }
      /* what an access is worth, all else at its best */
      for (int vector : {1, 2, 4, 8}) {
        const kernel_t *best = nullptr, *simple = nullptr;
        for (const kernel_t& k : all) {
          if (k.vector == vector && (!best || k.time.median < best->time.median)) {
            best = &k;
          }
          if (k.vector == vector && k.unroll == 1 && k.threads == 256 && !k.persistent) {
            simple = &k;
          }
        }
        if (best) {
          printf("  accesses of %d: best %s %.2f us; one access a thread, 256 threads %.2f us\n", vector,
                 best->what.c_str(), best->time.median, simple->time.median);
        }
      }
    }
  }
}

static void forms(bool check) {
  static const char* const form_names[] = {"scalar",     "last axis", "middle axis",
                                           "first axes", "dense",     "any of four axes",
                                           "any of four axes, each element"};
  static const char* const index_names[] = {"constants", "division", "multiplier", "64-bit division"};
  struct shape_t {
    const char* name;
    unsigned extent[4];
  };
  const shape_t shapes[] = {{"32x197x768", {1, 32, 197, 768}},
                            {"32x64x56x56 channels first", {1, 32, 64, 3136}},
                            {"32x512x7x7 channels first", {1, 32, 512, 49}},
                            {"32x56x56x100 channels last", {1, 32, 3136, 100}}};
  for (const shape_t& shape : shapes) {
    std::vector<kernel_t> all;
    for (int form : {0, 1, 2, 3, 4, 5, 6}) {
      for (int index : {0, 1, 2, 3}) {
        if ((form == 0 || form == 4) && index) {
          continue;
        }
        kernel_t k;
        k.form = form, k.index = index;
        std::copy(shape.extent, shape.extent + 4, k.axes.extent);
        /* in form 5 and 6 the operand is the middle axis with the last: [MIDDLE][LAST] */
        k.axes.stride[3] = 1;
        k.axes.stride[2] = shape.extent[3];
        k.n = shape.extent[0] * shape.extent[1] * shape.extent[2] * shape.extent[3];
        if (check) {
          k.axes.extent[1] = 2;
          k.n = 2 * shape.extent[2] * shape.extent[3];
        }
        k.vector = 8;
        k.each = form && form != 4 && shape.extent[3] % 8 != 0;
        k.what = std::string(form_names[form]) + ", " + index_names[index] +
                 (k.each ? ", index for each element" : "");
        all.push_back(std::move(k));
      }
    }
    run_all(shape.name, all, 100, check);
  }
  std::vector<kernel_t> all;
  for (int heavy : {0, 1}) {
    for (bool single : {false, true}) {
      kernel_t k;
      k.heavy = heavy, k.single = single, k.vector = single ? 4 : 8, k.n = check ? 4096 : LARGE / 2;
      k.form = 1, k.axes.extent[3] = 768;
      k.n = k.n / 768 * 768;
      k.what = std::string(heavy ? "GELU by erf" : "ReLU") + (single ? ", fp32" : ", fp16");
      all.push_back(std::move(k));
    }
  }
  run_all("arithmetic", all, 100, check);
}

static void small(bool check) {
  std::vector<kernel_t> all;
  for (unsigned n = 1 << 10; n <= (check ? 1u << 12 : 1u << 22); n *= 4) {
    for (int dependent : {0, 1}) {
      for (int vector : {1, 2, 8}) {
        for (int threads : {64, 128, 256, 1024}) {
          if (n < (unsigned)(vector * 64) || (vector == 1 && n > 1 << 18)) {
            continue;
          }
          kernel_t k;
          k.n = n, k.vector = vector, k.threads = threads, k.dependent = dependent;
          k.form = 1, k.axes.extent[3] = 512;
          k.what = std::to_string(n) + (dependent ? " dependent, " : " plain, ") +
                   std::to_string(vector) + " elements, " + std::to_string(threads) + " threads";
          all.push_back(std::move(k));
        }
      }
    }
  }
  run_all("small tensors", all, 1000, check);
}

struct transpose_t {
  std::string what;
  generated_t generated;
  int way, in, out;
};

static void transposes(bool check) {
  struct shape_t {
    unsigned batch, rows, columns;
    const char* name;
  };
  const shape_t shapes[] = {{1, 3136, 64, "1x56x56x64 to channels first"},
                            {1, 64, 3136, "1x64x56x56 to channels last"},
                            {1, 196, 256, "1x14x14x256 to channels first"},
                            {1, 2048, 49, "1x2048x7x7 to channels last"},
                            {1, 3, 50176, "1x3x224x224 to channels last"},
                            {32, 3136, 64, "32x56x56x64 to channels first"},
                            {32, 64, 12544, "32x64x112x112 to channels last"},
                            {32, 196, 256, "32x14x14x256 to channels first"},
                            {32, 2048, 49, "32x2048x7x7 to channels last"},
                            {32, 3, 50176, "32x3x224x224 to channels last"},
                            {1, 4096, 4096, "4096x4096"}};
  for (const shape_t& shape : shapes) {
    for (bool single : {false, true}) {
      if (check && shape.batch > 1) {
        continue;
      }
      const int widest = single ? 4 : 8;
      std::vector<transpose_t> all;
      auto offer = [&](int way, int in, int out, const char* name) {
        if (shape.columns % in || shape.rows % out) {
          return;
        }
        transpose_t t;
        t.way = way, t.in = in, t.out = out;
        t.what = name;
        auto number = [](unsigned v) { return std::to_string(v); };
        t.generated.text = with_macros({{"T", single ? "float" : "half"},
                                        {"WAY", number(way)},
                                        {"IN", number(in)},
                                        {"OUT", number(out)},
                                        {"ROWS", number(shape.rows) + "u"},
                                        {"COLUMNS", number(shape.columns) + "u"},
                                        {"CHANNEL", number(shape.rows < shape.columns ? 1 : 2)}},
                                       transpose_text);
        all.push_back(std::move(t));
      };
      offer(0, 1, 1, "gather");
      offer(1, 1, 1, "scatter");
      offer(2, 1, 1, "tiles of 32");
      offer(3, 1, 1, "tiles of 64, single elements");
      offer(3, widest, 1, "tiles of 64, 16 bytes in");
      offer(3, 1, widest, "tiles of 64, 16 bytes out");
      offer(3, widest, widest, "tiles of 64, 16 bytes in and out");
      offer(3, widest / 2, widest / 2, "tiles of 64, 8 bytes in and out");
      compile_all(all);
      const size_t n = (size_t)shape.batch * shape.rows * shape.columns;
      const size_t bytes = n * (single ? 4 : 2);
      printf("TRANSPOSE %s %s, %.2f us at the rate of a copy:", shape.name, single ? "fp32" : "fp16",
             2 * (double)bytes / copy_rate);
      std::vector<uint8_t> first;
      for (transpose_t& t : all) {
        if (!t.generated.load()) {
          continue;
        }
        const unsigned tile = t.way == 2 ? 32 : 64;
        const dim3 grid =
            t.way < 2 ? dim3((shape.rows * shape.columns + 255) / 256, 1, shape.batch)
                      : dim3((shape.columns + tile - 1) / tile, (shape.rows + tile - 1) / tile, shape.batch);
        auto step = [&](cudaStream_t stream, int i) {
          const size_t room = (size_t)LARGE * 2;
          const size_t at = bytes * 8 <= room ? i % 8 * bytes : 0;
          uint8_t *px = (uint8_t*)x + at, *py = (uint8_t*)y + at;
          void* arguments[] = {&px, &s, &b, &py};
          t.generated.launch(grid, dim3(256), 0, 1, false, stream, arguments);
        };
        CHECK(cudaMemset(y, 0xff, bytes));
        step(nullptr, 0);
        std::vector<uint8_t> got(bytes);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(got.data(), y, bytes, cudaMemcpyDeviceToHost));
        if (first.empty()) {
          first = got;
        }
        const bool same = first == got;
        const bool large = bytes > 4 << 20;
        const spread_t time = check ? spread_t{NAN, NAN, NAN}
                                    : step_time(step, 9, large ? 2 : 16, large ? 10 : 48);
        printf(" %s %.2f (%.2f-%.2f)%s;", t.what.c_str(), time.median, time.low, time.high,
               same ? "" : " WRONG");
        t.generated.unload();
      }
      printf("\n");
    }
  }
}

int main(int argc, char** argv) {
  const bool check = argc > 1 && !strcmp(argv[1], "--check");
  print_device();
  /* read in pairs as fp32 these are numbers below 2 as well */
  x = random_half(LARGE, 2, 1);
  r = random_half(LARGE, 2, 2);
  y = device_new<half>(LARGE);
  s = random_half(LARGE, 2, 3);
  b = random_half(LARGE, 2, 4);
  CHECK(cudaDeviceSynchronize());
  const size_t bytes = (size_t)LARGE * 2;
  const spread_t t = step_time(
      [&](cudaStream_t q, int) { CHECK(cudaMemcpyAsync(y, x, bytes, cudaMemcpyDeviceToDevice, q)); }, 9,
      4, 12);
  copy_rate = 2 * (double)bytes / t.median;
  printf("COPY %.0f bytes a microsecond read and written\n", copy_rate);
  shapes_of_kernel(check);
  forms(check);
  small(check);
  transposes(check);
}
