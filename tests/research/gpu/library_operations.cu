/* cuDNN's operations beside convolution: normalisation, pooling, transposed convolution; against
 * plain own kernels where they are short, else against the bytes. */
#include "operation_graph.cuh"

static cudnnHandle_t handle;

/* Times all proposals of a finished graph, prints the best. */
static void examine(const std::string& name, dnn_graph_t& g, cudnnStatus_t status, half* y,
                    const double* expected, size_t n, double bytes) {
  if (status != CUDNN_STATUS_SUCCESS) {
    printf("OPERATION %s: graph refused: %s\n", name.c_str(), dnn_words().c_str());
    return;
  }
  const double begin = now_us();
  const std::vector<dnn_t> all = g.proposals(CUDNN_HEUR_MODE_A);
  const double asked = (now_us() - begin) / 1e3;
  spread_t best = {INFINITY, NAN, NAN};
  dnn_engine_t engine;
  double error = NAN, built = NAN;
  size_t refused = 0, number = 0, wrong = 0, nodes = 0;
  for (size_t i = 0; i < all.size() && i < 8; i++) {
    dnn_plan_t plan;
    const double start = now_us();
    if (plan.build(handle, all[i]) != CUDNN_STATUS_SUCCESS) {
      refused++;
      continue;
    }
    const double took = (now_us() - start) / 1e3;
    plan.bind(g.names, g.pointers);
    CHECK(cudaMemset(y, 0xff, n * 2));
    CHECK_DNN(cudnnSetStream(handle, nullptr));
    if (cudnnBackendExecute(handle, plan.plan, plan.pack) != CUDNN_STATUS_SUCCESS) {
      refused++;
      continue;
    }
    const double e = relative_error(y, expected, n);
    if (!(e < 3e-3)) {
      wrong++;
      error = e;
      continue;
    }
    const spread_t t = step_time(
        [&](cudaStream_t s, int) {
          CHECK_DNN(cudnnSetStream(handle, s));
          CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack));
        },
        9, 10, 30);
    if (t.median < best.median) {
      graph_t one([&](cudaStream_t s) {
        CHECK_DNN(cudnnSetStream(handle, s));
        CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack));
      });
      CHECK(cudaGraphGetNodes(one.graph, nullptr, &nodes));
      best = t, engine = engine_of(g, all[i]), error = e, built = took, number = i;
    }
  }
  printf(
      "OPERATION %s: %zu proposals in %.1f ms, %zu refused, %zu wrong; best number %zu, engine %ld "
      "behavior %x, built "
      "in %.1f ms, %zu nodes: %.2f us (%.2f-%.2f), error %.1e; %.2f us at 3.0 TB/s%s%s\n",
      name.c_str(), all.size(), asked, refused, wrong, number, (long)engine.index, engine.behavior,
      built, nodes, best.median, best.low, best.high, error, bytes / 3.0e6, all.empty() ? "; " : "",
      all.empty() ? dnn_words().c_str() : "");
  fflush(stdout);
}

/* ---- normalisation ---- */

static __global__ void norm_reference(const half* x, const float* scale, const float* bias,
                                      double* y, int length, bool rms) {
  __shared__ double sum, square;
  if (threadIdx.x == 0) {
    sum = square = 0;
    for (int i = 0; i < length; i++) {
      sum += (double)__half2float(x[(size_t)blockIdx.x * length + i]);
    }
    const double mean = rms ? 0 : sum / length;
    for (int i = 0; i < length; i++) {
      const double v = (double)__half2float(x[(size_t)blockIdx.x * length + i]) - mean;
      square += v * v;
    }
  }
  __syncthreads();
  const double mean = rms ? 0 : sum / length, factor = 1 / sqrt(square / length + 1e-5);
  for (int i = threadIdx.x; i < length; i += blockDim.x) {
    y[(size_t)blockIdx.x * length + i] =
        ((double)__half2float(x[(size_t)blockIdx.x * length + i]) - mean) * factor * scale[i] +
        (rms ? 0 : bias[i]);
  }
}

static cudnnStatus_t norm(dnn_graph_t& g, cudnnBackendNormMode_t mode, dnn_t x, dnn_t scale,
                          dnn_t bias, dnn_t epsilon, dnn_t y) {
  dnn_t o = g.make(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
  dnn_one(o, CUDNN_ATTR_OPERATION_NORM_FWD_MODE, CUDNN_TYPE_NORM_MODE, mode);
  dnn_one(o, CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_TYPE_NORM_FWD_PHASE,
          CUDNN_NORM_FWD_INFERENCE);
  dnn_one(o, CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, x);
  dnn_one(o, CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, scale);
  if (bias) {
    dnn_one(o, CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, bias);
  }
  dnn_one(o, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, epsilon);
  dnn_one(o, CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, y);
  g.operations.push_back(o);
  return cudnnBackendFinalize(o);
}

static void normalisation() {
  static float epsilon = 1e-5f;
  const extents_t one = {1, 1, 1, 1};
  for (auto shape :
       {std::pair<int64_t, int64_t>{128, 768}, {6304, 768}, {4096, 4096}, {1536, 128}}) {
    const int64_t rows = shape.first, length = shape.second;
    const size_t n = (size_t)(rows * length);
    half *x = random_half(n, 2, 1), *y = device_new<half>(n);
    float *scale = random_float(length, 1, 0.5f, 2), *bias = random_float(length, 0, 0.5f, 3);
    double* expected = device_new<double>(n);
    for (auto mode : {CUDNN_LAYER_NORM, CUDNN_RMS_NORM}) {
      norm_reference<<<(unsigned)rows, 128>>>(x, scale, bias, expected, (int)length,
                                              mode == CUDNN_RMS_NORM);
      CHECK(cudaDeviceSynchronize());
      for (bool relu : {false, true}) {
        dnn_graph_t g(handle);
        const extents_t xe = {rows, length, 1, 1}, se = {1, length, 1, 1};
        dnn_t out = g.nhwc(CUDNN_DATA_HALF, xe, y);
        dnn_t middle = relu ? g.between(xe) : out;
        cudnnStatus_t status =
            norm(g, mode, g.nhwc(CUDNN_DATA_HALF, xe, x), g.nhwc(CUDNN_DATA_FLOAT, se, scale),
                 mode == CUDNN_LAYER_NORM ? g.nhwc(CUDNN_DATA_FLOAT, se, bias) : nullptr,
                 g.tensor(CUDNN_DATA_FLOAT, one, one, &epsilon, true), middle);
        if (relu &&
            status == CUDNN_STATUS_SUCCESS) { /* twice negated, so that the reference stays */
          dnn_t negated = g.between(xe);
          status = g.pointwise(CUDNN_POINTWISE_NEG, middle, nullptr, negated);
          if (status == CUDNN_STATUS_SUCCESS) {
            status = g.pointwise(CUDNN_POINTWISE_NEG, negated, nullptr, out);
          }
        }
        if (status == CUDNN_STATUS_SUCCESS) {
          status = g.finish();
        }
        examine(std::string(mode == CUDNN_LAYER_NORM ? "layer norm " : "RMS norm ") +
                    std::to_string(rows) + "x" + std::to_string(length) +
                    (relu ? " with two pointwise behind" : ""),
                g, status, y, expected, n, 4. * n);
      }
    }
    for (void* p : {(void*)x, (void*)y, (void*)scale, (void*)bias, (void*)expected}) {
      CHECK(cudaFree(p));
    }
  }
}

/* ---- pooling ---- */

struct pool_t {
  const char* name;
  cudnnResampleMode_t mode;
  int64_t channels, extent, window, stride, padding;
};
static __global__ void pool_reference(const half* x, double* y, pool_t p, int64_t out, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const int64_t c = i % p.channels, q = i / p.channels % out, r = i / p.channels / out % out,
                image = i / p.channels / out / out;
  double most = -1e300, sum = 0, count = 0;
  for (int64_t a = 0; a < p.window; a++) {
    for (int64_t b = 0; b < p.window; b++) {
      const int64_t h = r * p.stride + a - p.padding, w = q * p.stride + b - p.padding;
      if (h >= 0 && w >= 0 && h < p.extent && w < p.extent) {
        const double v =
            (double)__half2float(x[((image * p.extent + h) * p.extent + w) * p.channels + c]);
        most = fmax(most, v);
        sum += v;
        count++;
      }
    }
  }
  y[i] = p.mode == CUDNN_RESAMPLE_MAXPOOL ? most : sum / count;
}
/* A thread has eight channels of an output. */
static __global__ void own_maximum(const half* x, half* y, pool_t p, int out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x, pieces = (unsigned)p.channels / 8;
  if (i >= n) {
    return;
  }
  const int c = i % pieces, q = i / pieces % out, r = i / pieces / out % out,
            image = i / pieces / out / out;
  half2 most[4];
  for (int k = 0; k < 4; k++) {
    most[k] = __float2half2_rn(-65504.f);
  }
  for (int a = 0; a < p.window; a++) {
    for (int b = 0; b < p.window; b++) {
      const int h = r * (int)p.stride + a - (int)p.padding,
                w = q * (int)p.stride + b - (int)p.padding;
      if (h >= 0 && w >= 0 && h < p.extent && w < p.extent) {
        const uint4 v = *(
            const uint4*)(x + (((size_t)image * p.extent + h) * p.extent + w) * p.channels + c * 8);
        for (int k = 0; k < 4; k++) {
          most[k] = __hmax2(most[k], ((const half2*)&v)[k]);
        }
      }
    }
  }
  *(uint4*)(y + (size_t)i * 8) = *(uint4*)most;
}
/* The mean over an image: a block has eight channels times 8 pieces, the threads go over the
 * pixels. */
static __global__ void own_mean(const half* x, half* y, int channels, int pixels) {
  __shared__ float sums[16][65];
  const int piece = threadIdx.x % 8, first = threadIdx.x / 8, c = blockIdx.x * 64 + piece * 8;
  const half* from = x + (size_t)blockIdx.y * pixels * channels + c;
  float s[8] = {};
  for (int i = first; i < pixels; i += 16) {
    const uint4 v = *(const uint4*)(from + (size_t)i * channels);
    for (int k = 0; k < 8; k++) {
      s[k] += __half2float(((const half*)&v)[k]);
    }
  }
  for (int k = 0; k < 8; k++) {
    sums[first][piece * 8 + k] = s[k];
  }
  __syncthreads();
  if (threadIdx.x < 64) {
    float t = 0;
    for (int i = 0; i < 16; i++) {
      t += sums[i][threadIdx.x];
    }
    y[(size_t)blockIdx.y * channels + blockIdx.x * 64 + threadIdx.x] =
        __float2half(t / (float)pixels);
  }
}

static void pooling() {
  static const pool_t pools[] = {
      {"maximum 3x3/2 64 @112", CUDNN_RESAMPLE_MAXPOOL, 64, 112, 3, 2, 1},
      {"maximum 2x2/2 64 @224", CUDNN_RESAMPLE_MAXPOOL, 64, 224, 2, 2, 0},
      {"mean 2x2/2 256 @28", CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING, 256, 28, 2, 2, 0},
      {"mean 7x7 2048 @7", CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING, 2048, 7, 7, 7, 0}};
  for (int64_t batch : {1, 32}) {
    for (const pool_t& p : pools) {
      const int64_t out = (p.extent + 2 * p.padding - p.window) / p.stride + 1;
      const extents_t xe = {batch, p.channels, p.extent, p.extent},
                      ye = {batch, p.channels, out, out};
      const size_t inputs = (size_t)(batch * p.channels * p.extent * p.extent),
                   n = (size_t)(batch * p.channels * out * out);
      half *x = random_half(inputs, 2, 1), *y = device_new<half>(n);
      double* expected = device_new<double>(n);
      pool_reference<<<(unsigned)((n + 127) / 128), 128>>>(x, expected, p, out, n);
      CHECK(cudaDeviceSynchronize());
      {
        dnn_graph_t g(handle);
        dnn_t r = g.make(CUDNN_BACKEND_RESAMPLE_DESCRIPTOR);
        const int64_t strides[2] = {p.stride, p.stride};
        cudnnFraction_t window[2] = {{p.window, 1}, {p.window, 1}},
                        pad[2] = {{p.padding, 1}, {p.padding, 1}},
                        step[2] = {{strides[0], 1}, {strides[1], 1}};
        dnn_one(r, CUDNN_ATTR_RESAMPLE_MODE, CUDNN_TYPE_RESAMPLE_MODE, p.mode);
        dnn_one(r, CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
        dnn_one(r, CUDNN_ATTR_RESAMPLE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION,
                CUDNN_PROPAGATE_NAN);
        dnn_one(r, CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_TYPE_PADDING_MODE,
                p.mode == CUDNN_RESAMPLE_MAXPOOL ? CUDNN_NEG_INF_PAD : CUDNN_ZERO_PAD);
        dnn_one(r, CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, CUDNN_TYPE_INT64, (int64_t)2);
        CHECK_DNN(dnn_set(r, CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, CUDNN_TYPE_FRACTION, 2, window));
        CHECK_DNN(dnn_set(r, CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, CUDNN_TYPE_FRACTION, 2, pad));
        CHECK_DNN(dnn_set(r, CUDNN_ATTR_RESAMPLE_POST_PADDINGS, CUDNN_TYPE_FRACTION, 2, pad));
        CHECK_DNN(dnn_set(r, CUDNN_ATTR_RESAMPLE_STRIDES, CUDNN_TYPE_FRACTION, 2, step));
        cudnnStatus_t status = cudnnBackendFinalize(r);
        if (status == CUDNN_STATUS_SUCCESS) {
          dnn_t o = g.make(CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR);
          dnn_one(o, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                  g.nhwc(CUDNN_DATA_HALF, xe, x));
          dnn_one(o, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                  g.nhwc(CUDNN_DATA_HALF, ye, y));
          dnn_one(o, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, r);
          status = cudnnBackendFinalize(o);
          g.operations.push_back(o);
        }
        if (status == CUDNN_STATUS_SUCCESS) {
          status = g.finish();
        }
        examine(std::string("pooling, ") + p.name + " batch " + std::to_string(batch), g, status, y,
                expected, n, 2. * (inputs + n));
      }
      const bool maximum = p.mode == CUDNN_RESAMPLE_MAXPOOL;
      if (maximum || out == 1) {
        const unsigned pieces = (unsigned)(n / 8);
        auto step = [&](cudaStream_t s, int) {
          if (maximum) {
            own_maximum<<<(pieces + 255) / 256, 256, 0, s>>>(x, y, p, (int)out, pieces);
          } else {
            own_mean<<<dim3((unsigned)p.channels / 64, (unsigned)batch), 128, 0, s>>>(
                x, y, (int)p.channels, (int)(p.extent * p.extent));
          }
        };
        CHECK(cudaMemset(y, 0xff, n * 2));
        step(nullptr, 0);
        const double error = relative_error(y, expected, n);
        const spread_t t = step_time(step, 9, 10, 30);
        printf("  own kernel: %.2f us (%.2f-%.2f), error %.1e\n", t.median, t.low, t.high, error);
      }
      for (void* q : {(void*)x, (void*)y, (void*)expected}) {
        CHECK(cudaFree(q));
      }
    }
  }
}

/* ---- transposed convolution: the gradient of the data ---- */

struct transposed_t {
  const char* name;
  int64_t in, out, extent, window, stride, padding;
};
static __global__ void transposed_reference(const half* x, const half* w, double* y, transposed_t p,
                                            int64_t extent_out, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const int64_t c = i % p.out, q = i / p.out % extent_out, r = i / p.out / extent_out % extent_out,
                image = i / p.out / extent_out / extent_out;
  double sum = 0;
  for (int64_t a = 0; a < p.window; a++) {
    for (int64_t b = 0; b < p.window; b++) {
      const int64_t h = r + p.padding - a, v = q + p.padding - b;
      if (h < 0 || v < 0 || h % p.stride || v % p.stride || h / p.stride >= p.extent ||
          v / p.stride >= p.extent) {
        continue;
      }
      for (int64_t k = 0; k < p.in; k++) {
        sum += (double)__half2float(
                   x[((image * p.extent + h / p.stride) * p.extent + v / p.stride) * p.in + k]) *
               (double)__half2float(w[((k * p.window + a) * p.window + b) * p.out + c]);
      }
    }
  }
  y[i] = sum;
}

static void transposed() {
  static const transposed_t all[] = {{"4x4/2 256>128 @16", 256, 128, 16, 4, 2, 1},
                                     {"2x2/2 512>256 @32", 512, 256, 32, 2, 2, 0},
                                     {"2x2/2 128>64 @128", 128, 64, 128, 2, 2, 0},
                                     {"3x3/1 256>256 @14", 256, 256, 14, 3, 1, 1}};
  for (int64_t batch : {1, 32}) {
    for (const transposed_t& p : all) {
      const int64_t out = (p.extent - 1) * p.stride + p.window - 2 * p.padding;
      const extents_t xe = {batch, p.in, p.extent, p.extent},
                      we = {p.in, p.out, p.window, p.window}, ye = {batch, p.out, out, out};
      const size_t inputs = (size_t)(batch * p.in * p.extent * p.extent),
                   n = (size_t)(batch * p.out * out * out),
                   weights = (size_t)(p.in * p.out * p.window * p.window);
      half *x = random_half(inputs, 1, 1), *w = random_half(weights, 0.05f, 2),
           *y = device_new<half>(n);
      half* zero = device_new<half>((size_t)p.out);
      CHECK(cudaMemset(zero, 0, (size_t)p.out * 2));
      double* expected = device_new<double>(n);
      transposed_reference<<<(unsigned)((n + 127) / 128), 128>>>(x, w, expected, p, out, n);
      CHECK(cudaDeviceSynchronize());
      for (bool bias : {false, true}) {
        dnn_graph_t g(handle);
        dnn_t result = g.nhwc(CUDNN_DATA_HALF, ye, y), middle = bias ? g.between(ye) : result;
        cudnnStatus_t status =
            g.transposed(g.nhwc(CUDNN_DATA_HALF, xe, x), g.nhwc(CUDNN_DATA_HALF, we, w), middle,
                         p.stride, p.padding);
        if (bias && status == CUDNN_STATUS_SUCCESS) {
          status = g.pointwise(CUDNN_POINTWISE_ADD, middle,
                               g.nhwc(CUDNN_DATA_HALF, {1, p.out, 1, 1}, zero), result);
        }
        if (status == CUDNN_STATUS_SUCCESS) {
          status = g.finish();
        }
        examine(std::string("transposed convolution ") + p.name + " batch " +
                    std::to_string(batch) + (bias ? " + bias" : ""),
                g, status, y, expected, n, 2. * (inputs + n + weights));
      }
      for (void* q : {(void*)x, (void*)w, (void*)y, (void*)zero, (void*)expected}) {
        CHECK(cudaFree(q));
      }
    }
  }
}

int main() {
  print_device();
  CHECK_DNN(cudnnCreate(&handle));
  printf("CUDNN %zu\n", cudnnGetVersion());
  normalisation();
  pooling();
  transposed();
}
