/* Depthwise convolutions in fp16, NHWC, with bias and a clamp, compiled at run time with the shape
 * as constants: how many channels and outputs a thread should have, beside all that cuDNN proposes.
 *
 *   depthwise --check      for the sanitizers */
#include <cstring>

#include "generated.cuh"
#include "operation_graph.cuh"

/* A thread has V channels of TH x TW outputs; its weights come before the wait, the input's rows
 * one after the other, each pixel once. */
static const char* const text = R"(
typedef pack<half, V> pack_t;
enum { TX = (OUT + TW - 1) / TW, TY = (OUT + TH - 1) / TH, WIDE = (TW - 1) * S + K };
extern "C" __global__ void __launch_bounds__(THREADS)
    generated(const half* __restrict__ x, const half* __restrict__ w, const half* __restrict__ bias,
              half* __restrict__ y, int late) {
  const unsigned t = blockIdx.x * THREADS + threadIdx.x;
  const unsigned c = t % (C / V) * V, tx = t / (C / V) % TX, ty = t / (C / V * TX) % TY,
                 image = t / (C / V * TX * TY);
  pack_t weights[K * K];
#pragma unroll
  for (int i = 0; i < K * K; i++) {
    weights[i] = *(const pack_t*)(w + i * C + c);
  }
  const pack_t b = *(const pack_t*)(bias + c);
  if (!late) release_dependents();
  wait_for_predecessor();
  if (late) release_dependents();
  if (image >= N) {
    return;
  }
#if K * K * V <= 72
  float factors[K * K][V];
#pragma unroll
  for (int i = 0; i < K * K * V; i++) {
    factors[i / V][i % V] = load(weights[i / V].v[i % V]);
  }
#define FACTOR(i, k) factors[i][k]
#else
#define FACTOR(i, k) load(weights[i].v[k])
#endif
  float sum[TH][TW][V];
#pragma unroll
  for (int i = 0; i < TH * TW * V; i++) {
    sum[i / V / TW][i / V % TW][i % V] = load(b.v[i % V]);
  }
  const half* from = x + (size_t)image * EXTENT * EXTENT * C + c;
#pragma unroll
  for (int r = 0; r < (TH - 1) * S + K; r++) {
    const int iy = (int)(ty * TH * S) + r - K / 2;
    pack_t row[WIDE];
#pragma unroll
    for (int q = 0; q < WIDE; q++) {
      const int ix = (int)(tx * TW * S) + q - K / 2;
      if (iy >= 0 && iy < EXTENT && ix >= 0 && ix < EXTENT) {
        row[q] = *(const pack_t*)(from + (iy * EXTENT + ix) * C);
      } else {
#pragma unroll
        for (int k = 0; k < V; k++) row[q].v[k].bits = 0;
      }
    }
#pragma unroll
    for (int q = 0; q < WIDE; q++) {
#pragma unroll
      for (int k = 0; k < V; k++) {
        const float value = load(row[q].v[k]);
#pragma unroll
        for (int a = 0; a < TH; a++) {
#pragma unroll
          for (int e = 0; e < TW; e++) {
            const int dy = r - a * S, dx = q - e * S;
            if (dy >= 0 && dy < K && dx >= 0 && dx < K) {
              sum[a][e][k] = fmaf(value, FACTOR(dy * K + dx, k), sum[a][e][k]);
            }
          }
        }
      }
    }
  }
#pragma unroll
  for (int a = 0; a < TH; a++) {
#pragma unroll
    for (int e = 0; e < TW; e++) {
      const unsigned oy = ty * TH + a, ox = tx * TW + e;
      if (oy < OUT && ox < OUT) {
        pack_t out;
#pragma unroll
        for (int k = 0; k < V; k++) {
          out.v[k] = convert<half>::store(fminf(fmaxf(sum[a][e][k], 0.f), 6.f));
        }
        *(pack_t*)(y + (((size_t)image * OUT + oy) * OUT + ox) * C + c) = out;
      }
    }
  }
}
)";

struct depthwise_t {
  int channels, extent, window, stride, batch;
  int out() const {
    return (extent - 1) / stride + 1;
  }
  size_t inputs() const {
    return (size_t)batch * extent * extent * channels;
  }
  size_t outputs() const {
    return (size_t)batch * out() * out() * channels;
  }
  std::string name() const {
    char s[80];
    snprintf(s, sizeof s, "%dx%d/%d %d @%d batch %d", window, window, stride, channels, extent,
             batch);
    return s;
  }
};

/* w as [window][window][channels] */
static __global__ void reference(const half* x, const half* w, const half* bias, double* y,
                                 depthwise_t d, int out, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const int c = i % d.channels, ox = i / d.channels % out, oy = i / d.channels / out % out;
  const size_t image = i / d.channels / out / out;
  double sum = (double)__half2float(bias[c]);
  for (int r = 0; r < d.window; r++) {
    for (int q = 0; q < d.window; q++) {
      const int iy = oy * d.stride + r - d.window / 2, ix = ox * d.stride + q - d.window / 2;
      if (iy >= 0 && ix >= 0 && iy < d.extent && ix < d.extent) {
        sum += (double)__half2float(x[((image * d.extent + iy) * d.extent + ix) * d.channels + c]) *
               (double)__half2float(w[(r * d.window + q) * d.channels + c]);
      }
    }
  }
  y[i] = fmin(fmax(sum, 0.0), 6.0);
}

struct data_t {
  depthwise_t d;
  half *x, *w, *bias, *y;
  double* expected;
  explicit data_t(const depthwise_t& d)
      : d(d),
        x(random_half(d.inputs(), 1, 1)),
        w(random_half((size_t)d.window * d.window * d.channels, 1, 2)),
        bias(random_half((size_t)d.channels, 1, 3)),
        y(device_new<half>(d.outputs())),
        expected(device_new<double>(d.outputs())) {
    reference<<<(unsigned)((d.outputs() + 127) / 128), 128>>>(x, w, bias, expected, d, d.out(),
                                                              d.outputs());
    CHECK(cudaDeviceSynchronize());
  }
  data_t(const data_t&) = delete;
  data_t& operator=(const data_t&) = delete;
  ~data_t() {
    for (void* p : {(void*)x, (void*)w, (void*)bias, (void*)y, (void*)expected}) {
      cudaFree(p);
    }
  }
  void poison() const {
    CHECK(cudaMemset(y, 0xff, d.outputs() * 2));
  }
  double error() const {
    return relative_error(y, expected, d.outputs());
  }
};

struct variant_t {
  int vector, high, wide, threads, late;
  generated_t generated;
  spread_t us = {NAN, NAN, NAN};
  double error = NAN;
  unsigned blocks(const depthwise_t& d) const {
    const int64_t tiles = (int64_t)((d.out() + high - 1) / high) * ((d.out() + wide - 1) / wide);
    const int64_t count = tiles * d.batch * (d.channels / vector);
    return (unsigned)((count + threads - 1) / threads);
  }
  void enqueue(const data_t& data, bool dependent, int late, cudaStream_t s) const {
    half *x = data.x, *w = data.w, *bias = data.bias, *y = data.y;
    void* arguments[] = {&x, &w, &bias, &y, &late};
    generated.launch(dim3(blocks(data.d)), dim3(threads), 0, 1, dependent, s, arguments);
  }
  spread_t time(const data_t& data, bool dependent, int late, int count) const {
    return step_time([&](cudaStream_t s, int) { enqueue(data, dependent, late, s); }, count, 10,
                     data.d.batch > 1 ? 30 : 50);
  }
};

static std::vector<variant_t> variants(const depthwise_t& d, bool few) {
  static const int tiles[][2] = {{1, 1}, {1, 2}, {1, 4}, {2, 2}, {2, 4},
                                 {4, 2}, {4, 4}, {7, 1}, {1, 7}};
  std::vector<variant_t> all;
  for (int v : {2, 4, 8}) {
    for (const int* t : tiles) {
      if (t[0] > d.out() || t[1] > d.out() || d.channels % v || v * t[0] * t[1] > 64 ||
          (d.window == 5 && v * t[0] * t[1] > 32)) {
        continue;
      }
      for (int threads : {64, 128, 256}) {
        if (few && threads != 128) {
          continue;
        }
        all.push_back({v, t[0], t[1], threads, 1, {}, {NAN, NAN, NAN}, NAN});
        auto number = [](int n) { return std::to_string(n); };
        all.back().generated.text = with_macros({{"V", number(v)},
                                                 {"TH", number(t[0])},
                                                 {"TW", number(t[1])},
                                                 {"THREADS", number(threads)},
                                                 {"K", number(d.window)},
                                                 {"S", number(d.stride)},
                                                 {"C", number(d.channels)},
                                                 {"EXTENT", number(d.extent)},
                                                 {"OUT", number(d.out())},
                                                 {"N", number(d.batch)},
                                                 {"size_t", "unsigned long long"}},
                                                text);
      }
    }
  }
  return all;
}

static void own(const data_t& data, bool few) {
  std::vector<variant_t> all = variants(data.d, few);
  const double ms = compile_all(all);
  double worst = 0;
  std::vector<double> compile;
  for (variant_t& v : all) {
    if (!v.generated.load()) {
      continue;
    }
    compile.push_back(v.generated.ms);
    data.poison();
    v.enqueue(data, true, 1, nullptr);
    wait_or_die(nullptr, "depthwise");
    v.error = data.error();
    worst = v.error < 2e-3 ? std::max(worst, v.error) : INFINITY;
    if (v.error < 2e-3 && !few) {
      v.us = v.time(data, true, 1, 7);
    }
  }
  const double bytes = 2. * (double)(data.d.inputs() + data.d.outputs());
  printf(
      "DEPTHWISE %s: %zu variants, largest error %.1e, compiled in %.0f ms (%.0f each); bytes %.2f "
      "us\n",
      data.d.name().c_str(), all.size(), worst, ms, spread_of(compile).median, bytes / 2.98e6);
  if (few) {
    return;
  }
  std::sort(all.begin(), all.end(), [](const variant_t& a, const variant_t& b) {
    return (std::isnan(a.us.median) ? INFINITY : a.us.median) <
           (std::isnan(b.us.median) ? INFINITY : b.us.median);
  });
  for (size_t i = 0; i < all.size() && i < 4; i++) {
    const variant_t& v = all[i];
    const spread_t again = v.time(data, true, 1, 21), early = v.time(data, true, 0, 9),
                   plain = v.time(data, false, 1, 9);
    printf(
        "  %d channels, %dx%d, %d threads, %u blocks: %.2f, again %.2f (%.2f-%.2f), released at "
        "the "
        "start %.2f, plain edges %.2f; %d registers, %d spilled, cubin %zu\n",
        v.vector, v.high, v.wide, v.threads, v.blocks(data.d), v.us.median, again.median, again.low,
        again.high, early.median, plain.median, v.generated.registers, v.generated.spilled,
        v.generated.code.size());
  }
  for (const auto& fixed : {std::make_pair(1, 1), std::make_pair(2, 2), std::make_pair(2, 4)}) {
    for (int vector : {2, 4, 8}) {
      for (const variant_t& v : all) {
        if (v.vector == vector && v.high == fixed.first && v.wide == fixed.second &&
            v.threads == 128) {
          printf("  [%d channels, %dx%d: %.2f]", vector, v.high, v.wide, v.us.median);
        }
      }
    }
  }
  printf("\n");
  for (variant_t& v : all) {
    v.generated.unload();
  }
}

/* What cuDNN proposes for the same, with bias and ReLU where it takes them. */
static void library(cudnnHandle_t handle, const data_t& data, bool fused, double seconds) {
  const depthwise_t& d = data.d;
  const extents_t xe = {d.batch, d.channels, d.extent, d.extent},
                  we = {d.channels, 1, d.window, d.window}, be = {1, d.channels, 1, 1},
                  ye = {d.batch, d.channels, d.out(), d.out()};
  dnn_graph_t g(handle);
  dnn_t y = g.nhwc(CUDNN_DATA_HALF, ye, data.y), sum = g.between(ye), value = g.between(ye);
  cudnnStatus_t status =
      g.convolution(g.nhwc(CUDNN_DATA_HALF, xe, data.x), g.nhwc(CUDNN_DATA_HALF, we, data.w),
                    fused ? value : y, d.stride, d.window / 2);
  if (fused && status == CUDNN_STATUS_SUCCESS) {
    status = g.pointwise(CUDNN_POINTWISE_ADD, value, g.nhwc(CUDNN_DATA_HALF, be, data.bias), sum);
  }
  if (fused && status == CUDNN_STATUS_SUCCESS) {
    status = g.pointwise(CUDNN_POINTWISE_RELU_FWD, sum, nullptr, y);
  }
  if (status == CUDNN_STATUS_SUCCESS) {
    status = g.finish();
  }
  if (status != CUDNN_STATUS_SUCCESS) {
    printf("  cuDNN refuses: %s\n", dnn_words().c_str());
    return;
  }
  const std::vector<dnn_t> found = g.proposals(CUDNN_HEUR_MODE_A);
  const double begin = now_us();
  spread_t best = {NAN, NAN, NAN}, first = best;
  int64_t engine = -1;
  size_t tried = 0, refused = 0;
  for (; tried < found.size() && now_us() - begin < seconds * 1e6; tried++) {
    dnn_plan_t plan;
    if (plan.build(handle, found[tried]) != CUDNN_STATUS_SUCCESS) {
      refused++;
      continue;
    }
    plan.bind(g.names, g.pointers);
    CHECK_DNN(cudnnSetStream(handle, nullptr));
    if (cudnnBackendExecute(handle, plan.plan, plan.pack) != CUDNN_STATUS_SUCCESS) {
      refused++;
      continue;
    }
    wait_or_die(nullptr, "cudnn");
    const spread_t us = step_time(
        [&](cudaStream_t s, int) {
          CHECK_DNN(cudnnSetStream(handle, s));
          CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack));
        },
        7, 6, 18);
    if (std::isnan(first.median)) {
      first = us;
    }
    if (!(us.median >= best.median)) {
      best = us;
      engine = engine_of(g, found[tried]).index;
    }
  }
  printf(
      "  cuDNN%s: %zu of %zu proposals, %zu refused, first %.2f, best %.2f (%.2f-%.2f), engine "
      "%ld\n",
      fused ? " with bias and ReLU" : " alone", tried, found.size(), refused, first.median,
      best.median, best.low, best.high, (long)engine);
}

int main(int argc, char** argv) {
  print_device();
  if (argc > 1 && !strcmp(argv[1], "--check")) {
    for (const depthwise_t& d : {depthwise_t{24, 9, 3, 1, 3}, depthwise_t{40, 11, 3, 2, 2},
                                 depthwise_t{16, 8, 5, 1, 2}, depthwise_t{24, 13, 5, 2, 3}}) {
      own(data_t(d), true);
    }
    return 0;
  }
  cudnnHandle_t handle;
  CHECK_DNN(cudnnCreate(&handle));
  printf("CUDNN %zu\n", cudnnGetVersion());
  static const depthwise_t layers[] = {{32, 112, 3, 1, 1}, {96, 112, 3, 2, 1}, {144, 56, 3, 1, 1},
                                       {192, 28, 3, 1, 1}, {384, 14, 3, 1, 1}, {576, 14, 3, 2, 1},
                                       {960, 7, 3, 1, 1},  {72, 56, 5, 2, 1},  {120, 28, 5, 1, 1},
                                       {672, 14, 5, 1, 1}, {960, 7, 5, 1, 1}};
  for (int batch : {1, 32}) {
    for (depthwise_t d : layers) {
      d.batch = batch;
      data_t data(d);
      own(data, false);
      library(handle, data, false, 1.0);
      library(handle, data, true, 1.5);
    }
  }
}
