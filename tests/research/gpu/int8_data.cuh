/* A convolution of eight-bit integers with its data, the host's notion of its result, and the same
 * layer in fp16. */
#pragma once

#include "operation_graph.cuh"

#define RESIDUAL_SCALE 0.37f

struct layer_t {
  int in, out, extent, window, stride, batch;
  int output() const {
    return (extent + 2 * (window / 2) - window) / stride + 1;
  }
  size_t inputs() const {
    return (size_t)batch * extent * extent * in;
  }
  size_t outputs() const {
    return (size_t)batch * output() * output() * out;
  }
  size_t filters() const {
    return (size_t)out * window * window * in;
  }
};

/* How results compare: with exact sums, the scale in fp32, then rounded to the nearest (ties to
 * even) or cut. */
struct agreement_t {
  size_t count = 0, nearest = 0, cut = 0, near_one = 0;
  double error = NAN; /* of fp16 and fp32 results */
  bool right() const {
    return count ? near_one == count : error < 2e-3;
  }
  std::string text() const {
    char t[160];
    if (count) {
      snprintf(t, sizeof t, "equal %.4f %% to nearest, %.2f %% to cut, within one %.4f %%",
               100. * nearest / count, 100. * cut / count, 100. * near_one / count);
    } else {
      snprintf(t, sizeof t, "error %.1e", error);
    }
    return t;
  }
};

struct result_t {
  spread_t best = {NAN, NAN, NAN}, first = {NAN, NAN, NAN};
  dnn_engine_t engine;
  agreement_t agreement, worst_agreement;
  size_t proposals = 0, tried = 0, refused = 0, wrong = 0;
  double build_ms = 0;
  std::string words;
};

/* x as NHWC, w as [out][row][column][in]. */
template <class T, class S>
static __global__ void exact_sums(const T* x, const T* w, S* y, layer_t l, int extent, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const int k = i % l.out, q = i / l.out % extent, r = i / l.out / extent % extent;
  const size_t image = i / l.out / extent / extent;
  S sum = 0;
  for (int a = 0; a < l.window; a++) {
    for (int b = 0; b < l.window; b++) {
      const int h = r * l.stride + a - l.window / 2, v = q * l.stride + b - l.window / 2;
      if (h >= 0 && v >= 0 && h < l.extent && v < l.extent) {
        const T *from = x + ((image * l.extent + h) * l.extent + v) * l.in,
                *with = w + ((size_t)(k * l.window + a) * l.window + b) * l.in;
        for (int c = 0; c < l.in; c++) {
          if constexpr (sizeof(T) == 1) {
            sum += (S)from[c] * (S)with[c];
          } else {
            sum += (S)(float)from[c] * (S)(float)with[c];
          }
        }
      }
    }
  }
  y[i] = sum;
}

struct int8_data_t {
  cudnnHandle_t handle;
  layer_t layer;
  int8_t *x, *w, *residual;
  float *scales, *bias, one_scale;
  half *half_x, *half_w, *half_bias;
  void* y; /* four bytes an element */
  std::vector<int> sums;
  std::vector<float> host_scales, host_bias;
  std::vector<int8_t> host_residual, host_x, host_w;
  std::vector<double> half_sums;
  std::vector<half> host_half_bias;

  static int8_t* whole_numbers(size_t n, unsigned seed, std::vector<int8_t>& host) {
    host.resize(n);
    unsigned h = seed * 2654435761u + 1;
    for (int8_t& v : host) {
      h = h * 1664525u + 1013904223u;
      v = (int8_t)((int)(h >> 16) % 255 - 127);
    }
    int8_t* p = device_new<int8_t>(n);
    CHECK(cudaMemcpy(p, host.data(), n, cudaMemcpyHostToDevice));
    return p;
  }
  int8_data_t(cudnnHandle_t handle, const layer_t& l) : handle(handle), layer(l) {
    const size_t n = l.outputs();
    x = whole_numbers(l.inputs(), 1, host_x);
    w = whole_numbers(l.filters(), 2, host_w);
    residual = whole_numbers(n, 3, host_residual);
    /* so that results have a deviation of 60 */
    one_scale = 60.f / (73.f * 73.f * std::sqrt((float)(l.window * l.window * l.in)));
    for (int k = 0; k < l.out; k++) {
      host_scales.push_back(one_scale * (0.5f + (float)(k * 37 % 101) / 100.f));
      host_bias.push_back((float)(k * 53 % 41) - 20.25f);
    }
    scales = device_new<float>(host_scales.size());
    bias = device_new<float>(host_bias.size());
    CHECK(cudaMemcpy(scales, host_scales.data(), host_scales.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(bias, host_bias.data(), host_bias.size() * 4, cudaMemcpyHostToDevice));
    y = device_new<uint32_t>(n);
    int* device_sums = device_new<int>(n);
    exact_sums<<<(unsigned)((n + 127) / 128), 128>>>(x, w, device_sums, l, l.output(), n);
    CHECK(cudaGetLastError());
    sums.resize(n);
    CHECK(cudaMemcpy(sums.data(), device_sums, n * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device_sums));
    half_x = random_half(l.inputs(), 1, 4);
    half_w = random_half(l.filters(), std::sqrt(3.f / (float)(l.window * l.window * l.in)), 5);
    half_bias = random_half((size_t)l.out, 0.5f, 6);
    double* device_half_sums = device_new<double>(n);
    exact_sums<<<(unsigned)((n + 127) / 128), 128>>>(half_x, half_w, device_half_sums, l,
                                                     l.output(), n);
    CHECK(cudaGetLastError());
    half_sums.resize(n);
    host_half_bias.resize((size_t)l.out);
    CHECK(cudaMemcpy(half_sums.data(), device_half_sums, n * 8, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(host_half_bias.data(), half_bias, host_half_bias.size() * 2,
                     cudaMemcpyDeviceToHost));
    CHECK(cudaFree(device_half_sums));
  }
  int8_data_t(const int8_data_t&) = delete;
  int8_data_t& operator=(const int8_data_t&) = delete;
  ~int8_data_t() {
    for (void* p : {(void*)x, (void*)w, (void*)residual, (void*)scales, (void*)bias, (void*)half_x,
                    (void*)half_w, (void*)half_bias, y}) {
      cudaFree(p);
    }
  }
  void poison() const {
    CHECK(cudaMemset(y, 0x55, layer.outputs() * 4));
  }
  /* Of large results every 13th is looked at. */
  size_t sampled() const {
    return layer.outputs() > 2 << 20 ? 13 : 1;
  }
  /* What form's result is before it is rounded; forms as in int8_convolutions. */
  double value(int form, size_t i) const {
    const size_t k = i % (size_t)layer.out;
    const double sum = sums[i];
    if (form == 0) {
      return sum;
    }
    double v =
        form == 1 ? sum * (double)one_scale : sum * (double)host_scales[k] + (double)host_bias[k];
    if (form == 5) {
      v += host_residual[i] * (double)RESIDUAL_SCALE;
    }
    return std::max(v, 0.0);
  }
  agreement_t agreement(int form) const {
    const size_t n = layer.outputs();
    agreement_t a;
    if (form == 3 || form == 4) {
      std::vector<half> halves(form == 3 ? n : 0);
      std::vector<float> floats(form == 4 ? n : 0);
      CHECK(cudaMemcpy(form == 3 ? (void*)halves.data() : (void*)floats.data(), y,
                       n * (form == 3 ? 2 : 4), cudaMemcpyDeviceToHost));
      double difference = 0, size = 0;
      for (size_t i = 0; i < n; i += sampled()) {
        const double e = value(form, i),
                     got = form == 3 ? (double)(float)halves[i] : (double)floats[i];
        difference += (e - got) * (e - got);
        size += e * e;
      }
      a.error = std::sqrt(difference / size);
      return a;
    }
    std::vector<int> got(n);
    if (form == 0) {
      CHECK(cudaMemcpy(got.data(), y, n * 4, cudaMemcpyDeviceToHost));
    } else {
      std::vector<int8_t> bytes(n);
      CHECK(cudaMemcpy(bytes.data(), y, n, cudaMemcpyDeviceToHost));
      std::copy(bytes.begin(), bytes.end(), got.begin());
    }
    for (size_t i = 0; i < n; i += sampled()) {
      a.count++;
      const double v = form == 0 ? value(form, i) : std::min(value(form, i), 127.0);
      a.nearest += got[i] == (int)std::nearbyint(v);
      a.cut += got[i] == (int)v;
      a.near_one += std::fabs(got[i] - v) <= (form == 0 ? 0 : 1);
    }
    return a;
  }
  agreement_t agreement_half() const {
    const size_t n = layer.outputs();
    std::vector<half> got(n);
    CHECK(cudaMemcpy(got.data(), y, n * 2, cudaMemcpyDeviceToHost));
    double difference = 0, size = 0;
    for (size_t i = 0; i < n; i += sampled()) {
      const double e =
          std::max(half_sums[i] + (double)(float)host_half_bias[i % (size_t)layer.out], 0.0);
      difference += (e - (double)(float)got[i]) * (e - (double)(float)got[i]);
      size += e * e;
    }
    agreement_t a;
    a.error = std::sqrt(difference / size);
    return a;
  }
};
