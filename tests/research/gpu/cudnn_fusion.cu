/* Which operation graphs does cuDNN take: pointwise chains behind and before a convolution, behind
 * a product, alone; each one's proposals, time to build, speed in a chain, and error against
 * float64. */
#include "convolution.cuh"

static cudnnHandle_t handle;
static const layer_t layer = {"3x3 256>256 @14", 256, 256, 14, 3, 1, true, 0};
static convolution_data_t<half>* data;
static half *second, *plane, *scale; /* like the output; one value a pixel; one a channel */
static half* side;
static float constant[4] = {3.f, 6.f, 0.f, 1.f / 6.f};

struct values_t { /* of one output, for the reference */
  double c, bias, residual, second, plane, scale;
};
typedef double (*reference_t)(const values_t&);

struct chain_t {
  dnn_graph_t& g;
  dnn_t value;
  bool refused = false;
  dnn_t like() {
    return g.between(data->ye);
  }
  dnn_t number(int i) {
    const extents_t one = {1, 1, 1, 1};
    return g.tensor(CUDNN_DATA_FLOAT, one, one, &constant[i], true);
  }
  dnn_t bias() {
    return g.nhwc(CUDNN_DATA_HALF, data->be, data->bias);
  }
  dnn_t scales() {
    return g.nhwc(CUDNN_DATA_HALF, data->be, scale);
  }
  dnn_t residual() {
    return g.nhwc(CUDNN_DATA_HALF, data->ye, data->residual);
  }
  dnn_t other() {
    return g.nhwc(CUDNN_DATA_HALF, data->ye, second);
  }
  dnn_t pixels() {
    return g.nhwc(CUDNN_DATA_HALF, {1, 1, layer.extent, layer.extent}, plane);
  }
  dnn_t output() {
    return g.nhwc(CUDNN_DATA_HALF, data->ye, data->y);
  }
  dnn_t put(cudnnPointwiseMode_t mode, dnn_t x, dnn_t b, dnn_t y = nullptr,
            dnn_t condition = nullptr) {
    y = y ? y : like();
    const cudnnStatus_t status = g.pointwise(mode, x, b, y, condition);
    if (status != CUDNN_STATUS_SUCCESS && !refused) {
      printf("  operation %d refused: %s\n", mode, dnn_words().c_str());
      refused = true;
    }
    return value = y;
  }
  dnn_t one(cudnnPointwiseMode_t mode, dnn_t y = nullptr) {
    return put(mode, value, nullptr, y);
  }
  dnn_t two(cudnnPointwiseMode_t mode, dnn_t b, dnn_t y = nullptr) {
    return put(mode, value, b, y);
  }
  void last() {
    one(CUDNN_POINTWISE_RELU_FWD, output());
  }
};

static double relu(double v) {
  return v > 0 ? v : 0;
}
static double gelu(double v) {
  return 0.5 * v * (1 + erf(v / sqrt(2.0)));
}

struct case_t {
  const char* name;
  void (*build)(chain_t&);
  reference_t reference;
  int start; /* 0: behind the convolution, 1: pointwise alone, 2: the case makes everything */
};

static const case_t cases[] = {
    {"bias, ReLU",
     [](chain_t& k) {
       k.two(CUDNN_POINTWISE_ADD, k.bias());
       k.last();
     },
     [](const values_t& v) { return relu(v.c + v.bias); }, 0},
    {"bias, ReLU as maximum with 0",
     [](chain_t& k) {
       k.two(CUDNN_POINTWISE_ADD, k.bias());
       k.two(CUDNN_POINTWISE_MAX, k.number(2), k.output());
     },
     [](const values_t& v) { return relu(v.c + v.bias); }, 0},
    {"bias, swish",
     [](chain_t& k) {
       k.two(CUDNN_POINTWISE_ADD, k.bias());
       k.one(CUDNN_POINTWISE_SWISH_FWD, k.output());
     },
     [](const values_t& v) { return (v.c + v.bias) / (1 + exp(-(v.c + v.bias))); }, 0},
    {"bias, gelu",
     [](chain_t& k) {
       k.two(CUDNN_POINTWISE_ADD, k.bias());
       k.one(CUDNN_POINTWISE_GELU_FWD, k.output());
     },
     [](const values_t& v) { return gelu(v.c + v.bias); }, 0},
    {"bias, gelu by tanh",
     [](chain_t& k) {
       k.two(CUDNN_POINTWISE_ADD, k.bias());
       k.one(CUDNN_POINTWISE_GELU_APPROX_TANH_FWD, k.output());
     },
     [](const values_t& v) { return gelu(v.c + v.bias); }, 0},
    {"bias, sigmoid times itself (two readers)",
     [](chain_t& k) {
       dnn_t t = k.two(CUDNN_POINTWISE_ADD, k.bias());
       k.one(CUDNN_POINTWISE_SIGMOID_FWD);
       k.two(CUDNN_POINTWISE_MUL, t, k.output());
     },
     [](const values_t& v) { return (v.c + v.bias) / (1 + exp(-(v.c + v.bias))); }, 0},
    {"bias, hard swish by five operations",
     [](chain_t& k) {
       dnn_t t = k.two(CUDNN_POINTWISE_ADD, k.bias());
       k.two(CUDNN_POINTWISE_ADD, k.number(0));
       k.two(CUDNN_POINTWISE_MIN, k.number(1));
       k.two(CUDNN_POINTWISE_MAX, k.number(2));
       k.two(CUDNN_POINTWISE_MUL, t);
       k.two(CUDNN_POINTWISE_MUL, k.number(3), k.output());
     },
     [](const values_t& v) {
       const double t = v.c + v.bias;
       return t * std::max(std::min(t + 3, 6.0), 0.0) / 6;
     },
     0},
    {"chain of 6: bias, scale, tanh, residual, abs, sqrt",
     [](chain_t& k) {
       k.two(CUDNN_POINTWISE_ADD, k.bias());
       k.two(CUDNN_POINTWISE_MUL, k.scales());
       k.one(CUDNN_POINTWISE_TANH_FWD);
       k.two(CUDNN_POINTWISE_ADD, k.residual());
       k.one(CUDNN_POINTWISE_ABS);
       k.one(CUDNN_POINTWISE_SQRT, k.output());
     },
     [](const values_t& v) { return sqrt(fabs(tanh((v.c + v.bias) * v.scale) + v.residual)); }, 0},
    {"chain of 12",
     [](chain_t& k) {
       k.two(CUDNN_POINTWISE_ADD, k.bias());
       for (int i = 0; i < 5; i++) {
         k.one(CUDNN_POINTWISE_TANH_FWD);
         k.two(CUDNN_POINTWISE_ADD, k.residual());
       }
       k.last();
     },
     [](const values_t& v) {
       double t = v.c + v.bias;
       for (int i = 0; i < 5; i++) {
         t = tanh(t) + v.residual;
       }
       return relu(t);
     },
     0},
    {"two residuals",
     [](chain_t& k) {
       k.two(CUDNN_POINTWISE_ADD, k.residual());
       k.two(CUDNN_POINTWISE_ADD, k.other());
       k.last();
     },
     [](const values_t& v) { return relu(v.c + v.residual + v.second); }, 0},
    {"one value a pixel",
     [](chain_t& k) {
       k.two(CUDNN_POINTWISE_MUL, k.pixels());
       k.last();
     },
     [](const values_t& v) { return relu(v.c * v.plane); }, 0},
    {"sin, erf, pow of residual",
     [](chain_t& k) {
       k.one(CUDNN_POINTWISE_SIN);
       k.one(CUDNN_POINTWISE_ERF);
       k.two(CUDNN_POINTWISE_ADD, k.residual());
       k.one(CUDNN_POINTWISE_EXP, k.output());
     },
     [](const values_t& v) { return exp(erf(sin(v.c)) + v.residual); }, 0},
    {"selection: c > residual ? c : second",
     [](chain_t& k) {
       dnn_t c = k.value, flag = k.g.between(data->ye, CUDNN_DATA_BOOLEAN);
       k.put(CUDNN_POINTWISE_CMP_GT, c, k.residual(), flag);
       k.put(CUDNN_POINTWISE_BINARY_SELECT, c, k.other(), k.output(), flag);
     },
     [](const values_t& v) { return v.c > v.residual ? v.c : v.second; }, 0},
    {"second output before the ReLU",
     [](chain_t& k) {
       k.two(CUDNN_POINTWISE_ADD, k.bias(), k.g.nhwc(CUDNN_DATA_HALF, data->ye, side));
       k.last();
     },
     [](const values_t& v) { return relu(v.c + v.bias); }, 0},
    {"sum of the image behind ReLU, both leave",
     [](chain_t& k) {
       k.two(CUDNN_POINTWISE_ADD, k.bias());
       k.last();
       k.refused |=
           k.g.reduction(CUDNN_REDUCE_TENSOR_ADD, k.value,
                         k.g.nhwc(CUDNN_DATA_FLOAT, data->be, side)) != CUDNN_STATUS_SUCCESS;
     },
     [](const values_t& v) { return relu(v.c + v.bias); }, 0},
    {"pointwise alone: residual + second, gelu",
     [](chain_t& k) {
       k.put(CUDNN_POINTWISE_ADD, k.residual(), k.other());
       k.one(CUDNN_POINTWISE_GELU_FWD, k.output());
     },
     [](const values_t& v) { return gelu(v.residual + v.second); }, 1},
    {"pointwise alone: residual * scale + bias, tanh, * pixel",
     [](chain_t& k) {
       k.put(CUDNN_POINTWISE_MUL, k.residual(), k.scales());
       k.two(CUDNN_POINTWISE_ADD, k.bias());
       k.one(CUDNN_POINTWISE_TANH_FWD);
       k.two(CUDNN_POINTWISE_MUL, k.pixels(), k.output());
     },
     [](const values_t& v) { return tanh(v.residual * v.scale + v.bias) * v.plane; }, 1},
    {"before the convolution: identity of scale (prologue), bias and ReLU behind it",
     [](chain_t& k) {
       dnn_t x = k.g.nhwc(CUDNN_DATA_HALF, data->xe, data->x),
             w = k.g.nhwc(CUDNN_DATA_HALF, data->we, data->w[0]);
       dnn_t abs = k.g.between(data->xe, CUDNN_DATA_HALF),
             sign = k.g.between(data->xe, CUDNN_DATA_HALF), c = k.like();
       k.put(CUDNN_POINTWISE_NEG, x, nullptr, abs);
       k.put(CUDNN_POINTWISE_NEG, abs, nullptr, sign);
       k.refused |= k.g.convolution(sign, w, c, 1, 1) != CUDNN_STATUS_SUCCESS;
       k.value = c;
       k.two(CUDNN_POINTWISE_ADD, k.bias());
       k.last();
     },
     [](const values_t& v) { return relu(v.c + v.bias); }, 2},
    {"product 196x256x256, bias, gelu, residual",
     [](chain_t& k) {
       const int64_t m = 196, n = 256;
       dnn_t a =
           k.g.tensor(CUDNN_DATA_HALF, {1, m, n, 0}, {m * n, n, 1, 0}, data->residual, false, 3);
       dnn_t b = k.g.tensor(CUDNN_DATA_HALF, {1, n, n, 0}, {n * n, 1, n, 0}, data->w[0], false, 3);
       auto mid = [&] {
         return k.g.tensor(CUDNN_DATA_FLOAT, {1, m, n, 0}, {m * n, n, 1, 0}, nullptr, false, 3);
       };
       dnn_t c = mid();
       k.refused |= k.g.product(a, b, c) != CUDNN_STATUS_SUCCESS;
       k.put(CUDNN_POINTWISE_ADD, c,
             k.g.tensor(CUDNN_DATA_HALF, {1, 1, n, 0}, {n, n, 1, 0}, data->bias, false, 3), mid());
       k.one(CUDNN_POINTWISE_GELU_FWD, mid());
       k.two(CUDNN_POINTWISE_ADD,
             k.g.tensor(CUDNN_DATA_HALF, {1, m, n, 0}, {m * n, n, 1, 0}, second, false, 3),
             k.g.tensor(CUDNN_DATA_HALF, {1, m, n, 0}, {m * n, n, 1, 0}, data->y, false, 3));
     },
     nullptr, 2},
    {"softmax over channels by max, sub, exp, sum, div",
     [](chain_t& k) {
       dnn_t x = k.residual();
       const extents_t pixel = {1, 1, layer.extent, layer.extent};
       dnn_t max = k.g.between(pixel), sum = k.g.between(pixel);
       k.refused |= k.g.reduction(CUDNN_REDUCE_TENSOR_MAX, x, max) != CUDNN_STATUS_SUCCESS;
       k.put(CUDNN_POINTWISE_SUB, x, max);
       dnn_t e = k.one(CUDNN_POINTWISE_EXP);
       k.refused |= k.g.reduction(CUDNN_REDUCE_TENSOR_ADD, e, sum) != CUDNN_STATUS_SUCCESS;
       k.put(CUDNN_POINTWISE_DIV, e, sum, k.output());
     },
     nullptr, 2},
};

/* What the case of the product wants: residual[196][256] by the first 256 * 256 weights. */
static void want_product(const std::vector<half>& residual, const std::vector<half>& bias,
                         const std::vector<half>& other, std::vector<double>& want) {
  std::vector<half> w(256 * 256);
  CHECK(cudaMemcpy(w.data(), data->w[0], w.size() * 2, cudaMemcpyDeviceToHost));
  for (int m = 0; m < 196; m++) {
    for (int n = 0; n < 256; n++) {
      double s = (double)(float)bias[n];
      for (int k = 0; k < 256; k++) {
        s += (double)(float)residual[m * 256 + k] * (double)(float)w[n * 256 + k];
      }
      want[m * 256 + n] = gelu(s) + (double)(float)other[m * 256 + n];
    }
  }
}

static double error_of(reference_t reference) {
  const size_t n = data->outputs, channels = (size_t)layer.out;
  auto copy = [](const half* from, size_t count) {
    std::vector<half> v(count);
    CHECK(cudaMemcpy(v.data(), from, count * 2, cudaMemcpyDeviceToHost));
    return v;
  };
  std::vector<double> c(n);
  CHECK(cudaMemcpy(c.data(), data->expected, n * 8, cudaMemcpyDeviceToHost));
  const std::vector<half> y = copy(data->y, n), bias = copy(data->bias, channels),
                          residual = copy(data->residual, n), other = copy(second, n),
                          pixels = copy(plane, n / channels), scales = copy(scale, channels);
  double difference = 0, size = 0;
  std::vector<double> product(n);
  if (!reference) {
    want_product(residual, bias, other, product);
  }
  for (size_t i = 0; i < n; i++) {
    const values_t v = {c[i],
                        (double)(float)bias[i % channels],
                        (double)(float)residual[i],
                        (double)(float)other[i],
                        (double)(float)pixels[i / channels],
                        (double)(float)scales[i % channels]};
    const double want = reference ? reference(v) : product[i], got = (double)(float)y[i];
    difference += (got - want) * (got - want);
    size += want * want;
  }
  return sqrt(difference / size);
}

static void try_case(const case_t& c) {
  dnn_graph_t g(handle);
  chain_t chain = {g, nullptr};
  if (c.start == 0) {
    dnn_t x = g.nhwc(CUDNN_DATA_HALF, data->xe, data->x),
          w = g.nhwc(CUDNN_DATA_HALF, data->we, data->w[0]);
    chain.value = chain.like();
    CHECK_DNN(g.convolution(x, w, chain.value, 1, 1));
  }
  c.build(chain);
  if (chain.refused || g.finish() != CUDNN_STATUS_SUCCESS) {
    printf("FUSION %s: graph refused: %s\n", c.name, dnn_words().c_str());
    return;
  }
  cudnnStatus_t status;
  const double t0 = now_us();
  std::vector<dnn_t> found = g.proposals(CUDNN_HEUR_MODE_A, &status);
  const double heuristics = (now_us() - t0) / 1e3;
  const size_t from_a = found.size();
  if (found.empty()) {
    found = g.proposals(CUDNN_HEUR_MODE_FALLBACK);
  }
  double best = INFINITY, build = NAN, best_error = NAN;
  int built = 0, wrong = 0;
  dnn_engine_t best_engine;
  std::string words;
  const double begin = now_us();
  for (size_t i = 0; i < found.size() && built < 5 && now_us() - begin < 4e6; i++) {
    dnn_plan_t plan;
    const double t = now_us();
    if (plan.build(handle, found[i]) != CUDNN_STATUS_SUCCESS) {
      words = dnn_words();
      continue;
    }
    build = std::isnan(build) ? (now_us() - t) / 1e3 : build;
    built++;
    plan.bind(g.names, g.pointers);
    CHECK(cudaMemset(data->y, 0xff, data->outputs * 2));
    CHECK_DNN(cudnnSetStream(handle, nullptr));
    if (cudnnBackendExecute(handle, plan.plan, plan.pack) != CUDNN_STATUS_SUCCESS) {
      words = dnn_words();
      continue;
    }
    CHECK(cudaDeviceSynchronize());
    const double error = error_of(c.reference);
    wrong += !(error < 2e-3);
    const double us = step_time(
                          [&](cudaStream_t s, int) {
                            CHECK_DNN(cudnnSetStream(handle, s));
                            CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack));
                          },
                          9, 10, 34)
                          .median;
    if (us < best) {
      best = us;
      best_error = error;
      best_engine = engine_of(g, found[i]);
    }
  }
  printf(
      "FUSION %s: %zu operations, heuristics %.1f ms, %zu proposals by A (%zu in all), first plan "
      "%.0f ms, %d built, %d "
      "beyond 2e-3; best %.2f us, engine %ld behavior %x, error %.1e%s%s\n",
      c.name, g.operations.size(), heuristics, from_a, found.size(), build, built, wrong, best,
      (long)best_engine.index, best_engine.behavior, best_error, built ? "" : ": ",
      built ? "" : (found.empty() ? dnn_words() : words).c_str());
}

/* Convolutions that need more than the ordinary: depthwise, few channels, NCHW. */
static void try_shapes() {
  const struct {
    const char* name;
    int64_t batch, in, out, extent, window, stride, groups;
    bool nchw;
  } shapes[] = {{"depthwise 3x3 384 @14", 1, 384, 384, 14, 3, 1, 384, false},
                {"depthwise 3x3 384 @14 batch 32", 32, 384, 384, 14, 3, 1, 384, false},
                {"grouped 3x3 256 @14, 32 groups", 1, 256, 256, 14, 3, 1, 32, false},
                {"stem 7x7/2 3>64 @224", 1, 3, 64, 224, 7, 2, 1, false},
                {"stem 7x7/2 4>64 @224", 1, 4, 64, 224, 7, 2, 1, false},
                {"3x3 256>256 @14 NCHW", 1, 256, 256, 14, 3, 1, 1, true},
                {"1x1 255>100 @13, odd channels", 1, 255, 100, 13, 1, 1, 1, false}};
  half* x = random_half(32 * 384 * 14 * 14, 1, 1);
  half* w = random_half(256 * 256 * 9, 0.05f, 2);
  half* b = random_half(1024, 1, 3);
  half* y = device_new<half>(32 * 384 * 14 * 14);
  for (const auto& s : shapes) {
    const int64_t e = (s.extent + 2 * (s.window / 2) - s.window) / s.stride + 1;
    const extents_t xe = {s.batch, s.in, s.extent, s.extent},
                    we = {s.out, s.in / s.groups, s.window, s.window}, be = {1, s.out, 1, 1},
                    ye = {s.batch, s.out, e, e};
    auto strides = [&](const extents_t& v) {
      return s.nchw ? extents_t{v[1] * v[2] * v[3], v[2] * v[3], v[3], 1} : channels_last(v);
    };
    dnn_graph_t g(handle);
    const int64_t alignment = s.in % 8 || s.out % 8 ? 2 : 16;
    auto real = [&](const extents_t& v, half* p) {
      return g.tensor(CUDNN_DATA_HALF, v, strides(v), p, false, 4, alignment);
    };
    auto middle = [&] { return g.tensor(CUDNN_DATA_FLOAT, ye, strides(ye), nullptr); };
    dnn_t c = middle(), sum = middle();
    if (g.convolution(real(xe, x), real(we, w), c, s.stride, s.window / 2) !=
            CUDNN_STATUS_SUCCESS ||
        g.pointwise(CUDNN_POINTWISE_ADD, c, real(be, b), sum) != CUDNN_STATUS_SUCCESS ||
        g.pointwise(CUDNN_POINTWISE_RELU_FWD, sum, nullptr, real(ye, y)) != CUDNN_STATUS_SUCCESS ||
        g.finish() != CUDNN_STATUS_SUCCESS) {
      printf("CONVOLUTION %s: refused: %s\n", s.name, dnn_words().c_str());
      continue;
    }
    std::vector<dnn_t> found = g.proposals(CUDNN_HEUR_MODE_A);
    const size_t from_a = found.size();
    for (dnn_t d : g.proposals(CUDNN_HEUR_MODE_FALLBACK)) {
      found.push_back(d);
    }
    double best = INFINITY, first = NAN;
    long engine = -1;
    int built = 0;
    const double begin = now_us();
    for (size_t i = 0; i < found.size() && built < 6 && now_us() - begin < 5e6; i++) {
      dnn_plan_t plan;
      if (plan.build(handle, found[i]) != CUDNN_STATUS_SUCCESS) {
        continue;
      }
      plan.bind(g.names, g.pointers);
      CHECK_DNN(cudnnSetStream(handle, nullptr));
      if (cudnnBackendExecute(handle, plan.plan, plan.pack) != CUDNN_STATUS_SUCCESS) {
        continue;
      }
      built++;
      const double us = step_time(
                            [&](cudaStream_t stream, int) {
                              CHECK_DNN(cudnnSetStream(handle, stream));
                              CHECK_DNN(cudnnBackendExecute(handle, plan.plan, plan.pack));
                            },
                            9, 10, 34)
                            .median;
      first = std::isnan(first) ? us : first;
      if (us < best) {
        best = us;
        engine = (long)engine_of(g, found[i]).index;
      }
    }
    printf("CONVOLUTION %s: %zu by A, %zu in all, %d ran; first %.2f us, best %.2f (engine %ld)\n",
           s.name, from_a, found.size(), built, first, best, engine);
  }
}

int main() {
  print_device();
  CHECK_DNN(cudnnCreate(&handle));
  convolution_data_t<half> owned(layer, 1);
  data = &owned;
  data->reference(false, false);
  second = random_half(data->outputs, 1, 21);
  plane = random_half(14 * 14, 1, 22);
  scale = random_half((size_t)layer.out, 1, 23);
  side = device_new<half>(data->outputs * 2);
  for (const case_t& c : cases) {
    try_case(c);
  }
  try_shapes();
}
