/* Resizing and concatenation as kernels compiled for their shapes: how far from the bytes' time,
 * where the taps come from, one launch against one a piece.
 *
 *   moves --check      for the sanitizers */
#include <cstring>

#include "generated.cuh"

/* A thread has EACH times V neighbours of the output: channels in NHWC, columns in NCHW. TAPS: 0
 * from a table, 1 computed in fp32, 2 in double. */
static const char* const resize_text = R"(
typedef pack<T, V> pack_t;
enum { INNER = NHWC ? C : OUT_W };
__device__ inline void taps(int at, int in, int out, const int* firsts, const float* weights,
                            int* first, float* weight) {
#if TAPS == 0
  *first = firsts[at];
  *weight = weights[at];
#else
#if TAPS == 1
  typedef float number_t;
#else
  typedef double number_t;
#endif
#if LINEAR
  const number_t place = ((number_t)at + (number_t)0.5) * ((number_t)in / (number_t)out) - (number_t)0.5;
#else
  const number_t place = (number_t)at * ((number_t)in / (number_t)out);
#endif
  const number_t below = floor(place);
  *first = (int)below;
  *weight = (float)(place - below);
#endif
}
__device__ inline int inside(int at, int extent) { return min(max(at, 0), extent - 1); }
__device__ inline void one_access(unsigned e, const T* __restrict__ x, T* __restrict__ y,
                                  const int* __restrict__ firsts,
                                  const float* __restrict__ weights) {
  pack_t result;
#if NHWC
  const int c = e % C, ox = e / C % OUT_W, oy = e / (C * OUT_W) % OUT_H, image = e / (C * OUT_W * OUT_H);
  const T* from = x + (size_t)image * IN_H * IN_W * C + c;
#define PIXEL(row, column) ((row) * IN_W + (column)) * C
#else
  const int ox = e % OUT_W, oy = e / OUT_W % OUT_H, plane = e / (OUT_W * OUT_H);
  const T* from = x + (size_t)plane * IN_H * IN_W;
#define PIXEL(row, column) (row) * IN_W + (column)
#endif
  int fy, fx;
  float wy, wx;
  taps(oy, IN_H, OUT_H, firsts, weights, &fy, &wy);
#if LINEAR
  const int y0 = inside(fy, IN_H), y1 = inside(fy + 1, IN_H);
#else
  const int y0 = inside(fy, IN_H);
#endif
#if NHWC
  taps(ox, IN_W, OUT_W, firsts + OUT_H, weights + OUT_H, &fx, &wx);
#if LINEAR
  const int x0 = inside(fx, IN_W), x1 = inside(fx + 1, IN_W);
  const pack_t a = *(const pack_t*)(from + PIXEL(y0, x0)), b = *(const pack_t*)(from + PIXEL(y0, x1)),
               d = *(const pack_t*)(from + PIXEL(y1, x0)), f = *(const pack_t*)(from + PIXEL(y1, x1));
#pragma unroll
  for (int k = 0; k < V; k++) {
    const float upper = load(a.v[k]) + (load(b.v[k]) - load(a.v[k])) * wx,
                lower = load(d.v[k]) + (load(f.v[k]) - load(d.v[k])) * wx;
    result.v[k] = convert<T>::store(upper + (lower - upper) * wy);
  }
#else
  result = *(const pack_t*)(from + PIXEL(y0, inside(fx, IN_W)));
#endif
#else
#pragma unroll
  for (int k = 0; k < V; k++) {
    taps(ox + k, IN_W, OUT_W, firsts + OUT_H, weights + OUT_H, &fx, &wx);
#if LINEAR
    const int x0 = inside(fx, IN_W), x1 = inside(fx + 1, IN_W);
    const float a = load(from[PIXEL(y0, x0)]), b = load(from[PIXEL(y0, x1)]),
                d = load(from[PIXEL(y1, x0)]), f = load(from[PIXEL(y1, x1)]);
    const float upper = a + (b - a) * wx, lower = d + (f - d) * wx;
    result.v[k] = convert<T>::store(upper + (lower - upper) * wy);
#else
    result.v[k] = from[PIXEL(y0, inside(fx, IN_W))];
#endif
  }
#endif
  *(pack_t*)(y + e) = result;
}
extern "C" __global__ void __launch_bounds__(THREADS)
    generated(const T* __restrict__ x, T* __restrict__ y, const int* __restrict__ firsts,
              const float* __restrict__ weights) {
  const unsigned first = blockIdx.x * THREADS * EACH + threadIdx.x;
  wait_for_predecessor();
#if RELEASE
  release_dependents();
#endif
#pragma unroll
  for (int i = 0; i < EACH; i++) {
    if (first + i * THREADS < COUNT / V) {
      one_access((first + i * THREADS) * V, x, y, firsts, weights);
    }
  }
}
)";

/* PIECES tensors of C0, C1... channels behind one another; PIECE < 0: all of them by one launch. */
static const char* const concat_text = R"(
typedef pack<half, V> pack_t;
__device__ const int widths[PIECES] = {WIDTHS};
struct pieces_t { const half* x[PIECES]; };
extern "C" __global__ void __launch_bounds__(THREADS)
    generated(const pieces_t p, half* __restrict__ y) {
  const unsigned t = blockIdx.x * THREADS + threadIdx.x;
  wait_for_predecessor();
#if RELEASE
  release_dependents();
#endif
  if (t >= PIXELS * MOVED / V) {
    return;
  }
  const unsigned c = t % (MOVED / V) * V, pixel = t / (MOVED / V);
#if PIECE >= 0
  *(pack_t*)(y + (size_t)pixel * C + BEFORE + c) = *(const pack_t*)(p.x[PIECE] + (size_t)pixel * MOVED + c);
#else
  constexpr int width[PIECES] = {WIDTHS};
  int before = 0;
#pragma unroll
  for (int i = 0; i < PIECES; i++) {
    if (c >= before && c < before + width[i]) {
      *(pack_t*)(y + (size_t)pixel * C + c) =
          *(const pack_t*)(p.x[i] + (size_t)pixel * width[i] + (c - before));
    }
    before += width[i];
  }
#endif
}
)";

static std::string number(long long n) {
  return std::to_string(n);
}

/* Dependents may come early where all threads fit at once, in blocks of 128. */
static std::string release(size_t threads) {
  return threads <= (size_t)132 * 1536 ? "1" : "0";
}

struct resize_t {
  int batch, channels, in, out;
  bool linear, nhwc, is_half;
  size_t inputs() const {
    return (size_t)batch * channels * in * in;
  }
  size_t outputs() const {
    return (size_t)batch * channels * out * out;
  }
};

/* In exact arithmetic where it matters: the nearest place below at * in / out is an integer
 * division. */
static int first_of(const resize_t& r, int at, double* weight) {
  if (!r.linear) {
    *weight = 0;
    return (int)((long long)at * r.in / r.out);
  }
  const double place = (at + 0.5) * ((double)r.in / r.out) - 0.5, below = std::floor(place);
  *weight = place - below;
  return (int)below;
}

template <class T>
static double error_of(const resize_t& r, const T* x, const T* y) {
  std::vector<T> from(r.inputs()), got(r.outputs());
  CHECK(cudaMemcpy(from.data(), x, from.size() * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got.data(), y, got.size() * sizeof(T), cudaMemcpyDeviceToHost));
  auto at = [&](int image, int c, int row, int column) {
    row = std::min(std::max(row, 0), r.in - 1);
    column = std::min(std::max(column, 0), r.in - 1);
    const size_t i = r.nhwc ? (((size_t)image * r.in + row) * r.in + column) * r.channels + c
                            : (((size_t)image * r.channels + c) * r.in + row) * r.in + column;
    return (double)(float)from[i];
  };
  double difference = 0, size = 0;
  for (size_t i = 0; i < got.size(); i++) {
    const int e = r.out;
    const int c = r.nhwc ? (int)(i % r.channels) : (int)(i / ((size_t)e * e) % r.channels),
              column = r.nhwc ? (int)(i / r.channels % e) : (int)(i % e),
              row = r.nhwc ? (int)(i / r.channels / e % e) : (int)(i / e % e),
              image = (int)(i / ((size_t)e * e * r.channels));
    double wy, wx;
    const int fy = first_of(r, row, &wy), fx = first_of(r, column, &wx);
    double v = at(image, c, fy, fx);
    if (r.linear) {
      v = (v * (1 - wx) + at(image, c, fy, fx + 1) * wx) * (1 - wy) +
          (at(image, c, fy + 1, fx) * (1 - wx) + at(image, c, fy + 1, fx + 1) * wx) * wy;
    }
    const double d = (double)(float)got[i] - v;
    difference += d * d;
    size += v * v;
  }
  return std::sqrt(difference / size);
}

struct item_t {
  int vector, taps, threads, each;
  generated_t generated;
};

template <class T>
static void resize(const resize_t& r, bool few) {
  T *x = nullptr, *y = device_new<T>(r.outputs());
  if constexpr (sizeof(T) == 2) {
    x = random_half(r.inputs(), 1, 1);
  } else {
    x = random_float(r.inputs(), 0, 1, 1);
  }
  std::vector<int> firsts;
  std::vector<float> weights;
  for (int axis = 0; axis < 2; axis++) {
    for (int i = 0; i < r.out; i++) {
      double w;
      firsts.push_back(first_of(r, i, &w));
      weights.push_back((float)w);
    }
  }
  int* device_firsts = device_new<int>(firsts.size());
  float* device_weights = device_new<float>(weights.size());
  CHECK(cudaMemcpy(device_firsts, firsts.data(), firsts.size() * 4, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_weights, weights.data(), weights.size() * 4, cudaMemcpyHostToDevice));
  std::vector<item_t> all;
  for (int vector : {1, 2, 4, 8}) {
    const struct {
      int taps, threads, each;
    } shapes[] = {{0, 128, 1}, {1, 128, 1}, {2, 128, 1}, {0, 512, 1}, {0, 128, 4}, {0, 128, 8}};
    for (const auto& shape : shapes) {
      if ((r.nhwc ? r.channels : r.out) % vector || vector * sizeof(T) > 16) {
        continue;
      }
      all.push_back({vector, shape.taps, shape.threads, shape.each, {}});
      all.back().generated.text = with_macros({{"size_t", "unsigned long long"},
                                               {"T", r.is_half ? "half" : "float"},
                                               {"V", number(vector)},
                                               {"NHWC", number(r.nhwc)},
                                               {"LINEAR", number(r.linear)},
                                               {"TAPS", number(shape.taps)},
                                               {"THREADS", number(shape.threads)},
                                               {"EACH", number(shape.each)},
                                               {"RELEASE", release(r.outputs() / vector)},
                                               {"C", number(r.channels)},
                                               {"IN_H", number(r.in)},
                                               {"IN_W", number(r.in)},
                                               {"OUT_H", number(r.out)},
                                               {"OUT_W", number(r.out)},
                                               {"COUNT", number((long long)r.outputs()) + "u"}},
                                              resize_text);
    }
  }
  compile_all(all);
  printf("RESIZE %s %s %s, batch %d, %d channels, %d to %d; bytes %.2f us:",
         r.linear ? "linear" : "nearest", r.nhwc ? "NHWC" : "NCHW", r.is_half ? "fp16" : "fp32",
         r.batch, r.channels, r.in, r.out, (double)(r.inputs() + r.outputs()) * sizeof(T) / 2.98e6);
  static const char* const names[] = {"table", "fp32", "double"};
  for (item_t& i : all) {
    if (!i.generated.load()) {
      continue;
    }
    void* arguments[] = {&x, &y, &device_firsts, &device_weights};
    const size_t whole = (size_t)i.vector * i.threads * i.each;
    const unsigned blocks = (unsigned)((r.outputs() + whole - 1) / whole);
    auto run = [&](cudaStream_t s, int) {
      i.generated.launch(dim3(blocks), dim3((unsigned)i.threads), 0, 1, true, s, arguments);
    };
    CHECK(cudaMemset(y, 0xff, r.outputs() * sizeof(T)));
    run(nullptr, 0);
    wait_or_die(nullptr, "resize");
    const double error = r.outputs() < 3000000 ? error_of(r, x, y) : 0;
    const spread_t us = few ? spread_t{0, 0, 0} : step_time(run, 7, 10, 30);
    const bool plain = i.threads == 128 && i.each == 1;
    printf("%s %d by %s", i.taps == 0 && plain ? "\n   " : ",", i.vector, names[i.taps]);
    if (!plain) {
      printf(", %d threads of %d", i.threads, i.each);
    }
    printf(" %.2f%s", us.median, error < (r.is_half ? 5e-4 : 2e-6) ? "" : " WRONG");
    i.generated.unload();
  }
  printf("\n");
  for (void* p : {(void*)x, (void*)y, (void*)device_firsts, (void*)device_weights}) {
    CHECK(cudaFree(p));
  }
}

/* NHWC, fp16 */
static void concatenate(int batch, int extent, const std::vector<int>& widths, bool few) {
  const size_t pixels = (size_t)batch * extent * extent;
  int channels = 0, divisor = 8;
  std::string list;
  std::vector<half*> x;
  for (int w : widths) {
    x.push_back(random_half(pixels * w, 1, 1u + (unsigned)channels));
    channels += w;
    list += number(w) + ",";
    while (w % divisor) {
      divisor /= 2;
    }
  }
  half* y = device_new<half>(pixels * channels);
  std::vector<item_t> all; /* `taps`: the piece, or -1 */
  int before = 0;
  for (int piece = -1; piece < (int)widths.size(); piece++) {
    const int moved = piece < 0 ? channels : widths[piece];
    all.push_back({divisor, piece, 128, 1, {}});
    all.back().generated.text = with_macros({{"size_t", "unsigned long long"},
                                             {"V", number(divisor)},
                                             {"PIECES", number((long long)widths.size())},
                                             {"PIECE", number(piece)},
                                             {"WIDTHS", list},
                                             {"THREADS", "128"},
                                             {"RELEASE", release(pixels * moved / divisor)},
                                             {"C", number(channels)},
                                             {"MOVED", number(moved)},
                                             {"BEFORE", number(before)},
                                             {"PIXELS", number((long long)pixels) + "u"}},
                                            concat_text);
    before += piece < 0 ? 0 : moved;
  }
  compile_all(all);
  for (item_t& i : all) {
    if (!i.generated.load()) {
      return;
    }
  }
  auto run = [&](const item_t& i, cudaStream_t s) {
    void* arguments[] = {x.data(), &y};
    const size_t moved = i.taps < 0 ? channels : widths[i.taps];
    i.generated.launch(dim3((unsigned)((pixels * moved / i.vector + 127) / 128)), dim3(128), 0, 1,
                       true, s, arguments);
  };
  auto one = [&](cudaStream_t s, int) { run(all[0], s); };
  auto each = [&](cudaStream_t s, int) {
    for (size_t i = 1; i < all.size(); i++) {
      run(all[i], s);
    }
  };
  auto copies = [&](cudaStream_t s, int) {
    size_t at = 0;
    for (size_t i = 0; i < widths.size(); i++) {
      CHECK(cudaMemcpy2DAsync(y + at, (size_t)channels * 2, x[i], (size_t)widths[i] * 2,
                              (size_t)widths[i] * 2, pixels, cudaMemcpyDeviceToDevice, s));
      at += widths[i];
    }
  };
  auto wrong = [&](auto move) {
    CHECK(cudaMemset(y, 0xff, pixels * channels * 2));
    move((cudaStream_t) nullptr, 0);
    wait_or_die(nullptr, "concatenation");
    std::vector<uint16_t> got(pixels * channels), from;
    CHECK(cudaMemcpy(got.data(), y, got.size() * 2, cudaMemcpyDeviceToHost));
    size_t bad = 0, at = 0;
    for (size_t i = 0; i < widths.size(); i++) {
      from.resize(pixels * widths[i]);
      CHECK(cudaMemcpy(from.data(), x[i], from.size() * 2, cudaMemcpyDeviceToHost));
      for (size_t k = 0; k < from.size(); k++) {
        bad += from[k] != got[k / widths[i] * channels + at + k % widths[i]];
      }
      at += widths[i];
    }
    return bad;
  };
  printf("CONCAT batch %d, @%d, %s accesses of %d; bytes %.2f us", batch, extent, list.c_str(),
         divisor, (double)pixels * channels * 4 / 2.98e6);
  auto show = [&](const char* name, auto move) {
    const size_t bad = wrong(move);
    const spread_t us = few ? spread_t{0, 0, 0} : step_time(move, 9, 5, 20);
    printf(", %s %.2f (%.2f-%.2f)%s", name, us.median, us.low, us.high, bad ? " WRONG" : "");
  };
  show("one launch", one);
  show("one a piece", each);
  show("copy nodes", copies);
  printf("\n");
  for (item_t& i : all) {
    i.generated.unload();
  }
  for (half* p : x) {
    CHECK(cudaFree(p));
  }
  CHECK(cudaFree(y));
}

int main(int argc, char** argv) {
  print_device();
  if (argc > 1 && !strcmp(argv[1], "--check")) {
    resize<half>({2, 24, 9, 20, true, true, true}, true);
    resize<float>({2, 3, 9, 20, true, false, false}, true);
    resize<half>({1, 3, 14, 25, false, false, true}, true);
    concatenate(2, 5, {8, 16, 24}, true);
    concatenate(1, 7, {20, 15, 10}, true);
    return 0;
  }
  for (int batch : {1, 32}) {
    for (bool nhwc : {true, false}) {
      resize<half>({batch, 64, 56, 112, true, nhwc, true}, false);
      resize<half>({batch, 64, 56, 112, false, nhwc, true}, false);
      resize<half>({batch, 64, 56, 100, true, nhwc, true}, false);
      resize<half>({batch, 64, 56, 100, false, nhwc, true}, false);
    }
  }
  resize<half>({1, 19, 65, 513, true, true, true}, false);
  resize<half>({1, 19, 65, 513, true, false, true}, false);
  resize<float>({1, 19, 65, 513, true, false, false}, false);
  for (int batch : {1, 32}) {
    concatenate(batch, 55, {64, 64}, false);
    concatenate(batch, 28, {64, 128, 32, 32}, false);
    concatenate(batch, 14, {24, 24, 24, 24, 24, 24, 24, 24}, false);
    concatenate(batch, 28, {50, 30, 20}, false);
    concatenate(batch, 28, {51, 33, 15}, false);
  }
}
