/* One block of MobileNet-v2 at 14x14 and 7x7 as one launch and as three, each in a chain of itself
 * with other weights for each, checked against float64.
 *
 *   inverted_residual [--check] */
#include <cstring>

#include "inverted_residual.cuh"
#include "measure.cuh"

enum { LAYERS = 12 };
struct weights_t {
  half *expand, *expand_raw, *depthwise, *project, *project_raw;
  float *expand_bias, *depthwise_bias, *project_bias;
};
struct shape_t {
  const char* name;
  int extent, channels, expanded;
};

static __global__ void plain_pointwise(const half* x, const half* w, const float* bias,
                                       const half* residual, half* y, int columns, int channels) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, pixel = blockIdx.y;
  if (column >= columns) {
    return;
  }
  double s = bias[column];
  for (int c = 0; c < channels; c++) {
    s += (double)__half2float(x[pixel * channels + c]) *
         (double)__half2float(w[column * channels + c]);
  }
  s = residual ? s + (double)__half2float(residual[pixel * columns + column])
               : fmin(fmax(s, 0.0), 6.0);
  y[pixel * columns + column] = __double2half(s);
}
static __global__ void plain_depthwise(const half* x, const half* w, const float* bias, half* y,
                                       int extent, int channels) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, pixel = blockIdx.y;
  if (c >= channels) {
    return;
  }
  double s = bias[c];
  for (int t = 0; t < 9; t++) {
    const int row = pixel / extent + t / 3 - 1, column = pixel % extent + t % 3 - 1;
    if (row >= 0 && row < extent && column >= 0 && column < extent) {
      s += (double)__half2float(x[(row * extent + column) * channels + c]) *
           (double)__half2float(w[t * channels + c]);
    }
  }
  y[pixel * channels + c] = __double2half(fmin(fmax(s, 0.0), 6.0));
}

struct data_t {
  shape_t shape;
  weights_t weights[LAYERS];
  half *x, *expanded, *filtered, *expected;
  size_t size;
};
static data_t make_data(const shape_t& s) {
  data_t d = {s};
  const size_t pixels = (size_t)s.extent * s.extent, pointwise = (size_t)s.channels * s.expanded;
  d.size = pixels * s.channels;
  d.x = random_half(d.size, 1.5f, 1);
  d.expanded = device_new<half>(pixels * s.expanded);
  d.filtered = device_new<half>(pixels * s.expanded);
  d.expected = device_new<half>(d.size);
  for (int l = 0; l < LAYERS; l++) {
    weights_t& w = d.weights[l];
    w.expand_raw = random_half(pointwise, 2.f * sqrtf(3.f / s.channels), 10 + l);
    w.project_raw = random_half(pointwise, sqrtf(3.f / s.expanded), 30 + l);
    w.depthwise = random_half(9 * s.expanded, 0.6f, 50 + l);
    w.expand_bias = random_float(s.expanded, 0.3f, 0.3f, 70 + l);
    w.depthwise_bias = random_float(s.expanded, 0.3f, 0.3f, 90 + l);
    w.project_bias = random_float(s.channels, 0, 0.3f, 110 + l);
    w.expand = device_new<half>(pointwise);
    w.project = device_new<half>(pointwise);
    pack_tiles<<<(pointwise + 255) / 256, 256>>>(w.expand, w.expand_raw, s.expanded, s.channels);
    pack_tiles<<<(pointwise + 255) / 256, 256>>>(w.project, w.project_raw, s.channels, s.expanded);
  }
  const weights_t& w = d.weights[0];
  plain_pointwise<<<dim3((s.expanded + 127) / 128, pixels), 128>>>(
      d.x, w.expand_raw, w.expand_bias, nullptr, d.expanded, s.expanded, s.channels);
  plain_depthwise<<<dim3((s.expanded + 127) / 128, pixels), 128>>>(
      d.expanded, w.depthwise, w.depthwise_bias, d.filtered, s.extent, s.expanded);
  plain_pointwise<<<dim3((s.channels + 127) / 128, pixels), 128>>>(
      d.filtered, w.project_raw, w.project_bias, d.x, d.expected, s.channels, s.expanded);
  CHECK(cudaDeviceSynchronize());
  return d;
}

/* Enqueues layer `l` from `x` to `y`. */
typedef std::function<void(cudaStream_t, bool dependent, int l, const half* x, half* y)> enqueue_t;

static bool only_check;
static int wrong, release_late;
static void examine(const data_t& d, const char* name, const enqueue_t& enqueue) {
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  half* y = device_new<half>(d.size);
  CHECK(
      cudaMemset(d.expanded, 0xff, (size_t)d.shape.extent * d.shape.extent * d.shape.expanded * 2));
  CHECK(
      cudaMemset(d.filtered, 0xff, (size_t)d.shape.extent * d.shape.extent * d.shape.expanded * 2));
  enqueue(s, true, 0, d.x, y);
  CHECK(cudaGetLastError());
  wait_or_die(s, name);
  const double error = relative_error(y, d.expected, d.size);
  wrong += !(error < 1.5e-3); /* two roundings to fp16 on the way */
  if (only_check) {
    printf("BLOCK %s, %s: error %.1e%s\n", d.shape.name, name, error,
           error < 1.5e-3 ? "" : " WRONG");
  } else {
    half* z = device_new<half>(d.size); /* the chain goes from y to z and back */
    auto time = [&](bool dependent, int late) {
      release_late = late;
      return step_time(
          [&](cudaStream_t q, int i) {
            enqueue(q, dependent, i % LAYERS, i & 1 ? z : y, i & 1 ? y : z);
          },
          21);
    };
    const spread_t early = time(true, 0), late = time(true, 1), plain = time(false, 0);
    printf(
        "BLOCK %s, %s: error %.1e%s, releasing early %.2f us (%.2f-%.2f), late %.2f (%.2f-%.2f), "
        "plain edges %.2f\n",
        d.shape.name, name, error, error < 1.5e-3 ? "" : " WRONG", early.median, early.low,
        early.high, late.median, late.low, late.high, plain.median);
    CHECK(cudaFree(z));
  }
  CHECK(cudaFree(y));
  CHECK(cudaStreamDestroy(s));
}

template <int EXTENT, int CHANNELS, int EXPANDED, int ROWS, int SHARES>
static void examine_fused(const data_t& d) {
  typedef fused_block_t<EXTENT, CHANNELS, EXPANDED, ROWS, SHARES> f;
  auto kernel = fused_block<EXTENT, CHANNELS, EXPANDED, ROWS, SHARES>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
  char name[100];
  snprintf(name, sizeof name, "one launch, %d rows, %d shares, %d blocks, %d KB", ROWS, SHARES,
           SHARES * ((EXTENT + ROWS - 1) / ROWS), f::SIZE >> 10);
  examine(d, name, [&](cudaStream_t s, bool dependent, int l, const half* x, half* y) {
    const weights_t& w = d.weights[l];
    const block_arguments_t a = {
        x, w.expand,    w.depthwise, w.project, w.expand_bias, w.depthwise_bias, w.project_bias,
        y, release_late};
    CHECK(launch(kernel, dim3(SHARES, (EXTENT + ROWS - 1) / ROWS), f::THREADS, f::SIZE,
                 dim3(SHARES), dependent, s, a));
  });
}

template <int TILES, int STEPS, int WARPS_K, int WARPS_N>
static void enqueue_pointwise(cudaStream_t s, bool dependent, const pointwise_arguments_t& a) {
  const int channels = STEPS * WARPS_K * 16;
  const size_t shared = TILES * 16 * (channels * 2 + 16) + (WARPS_K - 1) * WARPS_N * TILES * 1024;
  auto kernel = pointwise<TILES, STEPS, WARPS_K, WARPS_N>;
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
  CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
  CHECK(launch(kernel, dim3((a.pixels + TILES * 16 - 1) / (TILES * 16), a.columns / (WARPS_N * 16)),
               WARPS_K * WARPS_N * 32, shared, dim3(1), dependent, s, a));
}
/* E: expand, P: project; steps, warps over the sum, warps over columns. */
template <int TILES, int E_STEPS, int E_WARPS_N, int P_STEPS, int P_WARPS_K>
static void examine_three(const data_t& d) {
  char name[100];
  snprintf(name, sizeof name, "three launches, %d pixels, projection over %d warps", TILES * 16,
           P_WARPS_K);
  CHECK(cudaFuncSetAttribute(depthwise, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
  examine(d, name, [&](cudaStream_t s, bool dependent, int l, const half* x, half* y) {
    const weights_t& w = d.weights[l];
    const int pixels = d.shape.extent * d.shape.extent, expanded = d.shape.expanded;
    enqueue_pointwise<TILES, E_STEPS, 1, E_WARPS_N>(
        s, dependent,
        {x, w.expand, nullptr, w.expand_bias, d.expanded, pixels, expanded, release_late});
    CHECK(launch(depthwise, dim3((pixels * expanded / 8 + 127) / 128), 128, 0, dim3(1), dependent,
                 s, (const half*)d.expanded, (const half*)w.depthwise,
                 (const float*)w.depthwise_bias, d.filtered, d.shape.extent, expanded,
                 (int)release_late));
    enqueue_pointwise<TILES, P_STEPS, P_WARPS_K, 1>(
        s, dependent,
        {d.filtered, w.project, x, w.project_bias, y, pixels, d.shape.channels, release_late});
  });
}

int main(int argc, char** argv) {
  print_device();
  only_check = argc > 1 && !strcmp(argv[1], "--check");
  {
    const data_t d = make_data({"64>384>64 @14", 14, 64, 384});
    examine_three<1, 4, 4, 3, 8>(d);
    examine_three<2, 4, 4, 3, 8>(d);
    examine_three<2, 4, 8, 6, 4>(d);
    examine_fused<14, 64, 384, 1, 8>(d);
    examine_fused<14, 64, 384, 2, 8>(d);
    examine_fused<14, 64, 384, 1, 4>(d);
    examine_fused<14, 64, 384, 2, 4>(d);
    examine_fused<14, 64, 384, 2, 6>(d);
    examine_fused<14, 64, 384, 4, 8>(d);
  }
  {
    const data_t d = make_data({"160>960>160 @7", 7, 160, 960});
    examine_three<1, 10, 4, 6, 10>(d);
    examine_three<2, 10, 4, 6, 10>(d);
    examine_three<1, 10, 4, 10, 6>(d);
    examine_fused<7, 160, 960, 1, 6>(d);
    examine_fused<7, 160, 960, 2, 6>(d);
    examine_fused<7, 160, 960, 4, 6>(d);
    examine_fused<7, 160, 960, 7, 6>(d);
    examine_fused<7, 160, 960, 2, 5>(d);
    examine_fused<7, 160, 960, 2, 4>(d);
  }
  return wrong != 0;
}
