/* The convolutions of the experiments: shapes, data in NHWC, a float64 reference, the operation
 * graph with bias, residual and ReLU. */
#pragma once

#include "operation_graph.cuh"

struct layer_t {
  const char* name;
  int64_t in, out, extent, window, stride;
  bool residual;
  double own_us; /* an own kernel in a chain of dependent launches, measured before on an H200 */
  int64_t output_extent() const {
    return (extent + 2 * (window / 2) - window) / stride + 1;
  }
};

/* The six most frequent layers of ResNet-50. */
static const layer_t layers[] = {{"1x1 1024>256 @14", 1024, 256, 14, 1, 1, false, 2.15},
                                 {"3x3 256>256 @14", 256, 256, 14, 3, 1, false, 3.31},
                                 {"1x1 256>1024 @14 + residual", 256, 1024, 14, 1, 1, true, 2.36},
                                 {"1x1 512>128 @28", 512, 128, 28, 1, 1, false, 1.97},
                                 {"3x3 128>128 @28", 128, 128, 28, 3, 1, false, 2.95},
                                 {"1x1 128>512 @28 + residual", 128, 512, 28, 1, 1, true, 2.41}};

template <class T>
__device__ double as_double(T v) {
  return (double)v;
}
template <>
__device__ inline double as_double(half v) {
  return (double)__half2float(v);
}

/* One thread an output. */
template <class T>
static __global__ void convolution_reference(const T* x, const T* w, const T* bias,
                                             const T* residual, double* y, int in, int extent,
                                             int out, int output_extent, int window, int stride,
                                             int relu, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const int k = i % out, column = i / out % output_extent,
            row = i / out / output_extent % output_extent;
  const size_t image = i / out / output_extent / output_extent;
  double sum = bias ? as_double(bias[k]) : 0;
  for (int r = 0; r < window; r++) {
    for (int q = 0; q < window; q++) {
      const int iy = row * stride + r - window / 2, ix = column * stride + q - window / 2;
      if (iy < 0 || ix < 0 || iy >= extent || ix >= extent) {
        continue;
      }
      const T* xp = x + ((image * extent + iy) * extent + ix) * in;
      const T* wp = w + (((size_t)k * window + r) * window + q) * in;
      for (int c = 0; c < in; c++) {
        sum += as_double(xp[c]) * as_double(wp[c]);
      }
    }
  }
  if (residual) {
    sum += as_double(residual[i]);
  }
  y[i] = relu && sum < 0 ? 0 : sum;
}

template <class T>
struct convolution_data_t {
  enum { COPIES = 12 };
  layer_t layer;
  int64_t batch;
  extents_t xe, we, be, ye;
  size_t outputs;
  T *x, *w[COPIES], *bias, *residual, *y;
  double* expected;

  convolution_data_t(const layer_t& layer, int64_t batch) : layer(layer), batch(batch) {
    const int64_t e = layer.output_extent();
    xe = {batch, layer.in, layer.extent, layer.extent};
    we = {layer.out, layer.in, layer.window, layer.window};
    be = {1, layer.out, 1, 1};
    ye = {batch, layer.out, e, e};
    outputs = (size_t)(batch * layer.out * e * e);
    const size_t weights = (size_t)(layer.out * layer.in * layer.window * layer.window);
    x = random((size_t)(batch * layer.in * layer.extent * layer.extent), 1, 1);
    for (int i = 0; i < COPIES; i++) {
      w[i] = random(weights, sqrtf(3.f / (float)(layer.in * layer.window * layer.window)), 10 + i);
    }
    bias = random((size_t)layer.out, 0.5f, 2);
    residual = random(outputs, 1, 3);
    y = device_new<T>(outputs);
    expected = device_new<double>(outputs);
    reference(true, layer.residual);
  }
  convolution_data_t(const convolution_data_t&) = delete;
  convolution_data_t& operator=(const convolution_data_t&) = delete;
  ~convolution_data_t() {
    for (T* p : w) {
      cudaFree(p);
    }
    cudaFree(x);
    cudaFree(bias);
    cudaFree(residual);
    cudaFree(y);
    cudaFree(expected);
  }
  static half* random_of(half*, size_t n, float scale, unsigned seed) {
    return random_half(n, scale, seed);
  }
  static float* random_of(float*, size_t n, float scale, unsigned seed) {
    return random_float(n, 0, scale, seed);
  }
  static T* random(size_t n, float scale, unsigned seed) {
    return random_of((T*)nullptr, n, scale, seed);
  }
  void reference(bool bias_and_relu, bool with_residual) {
    convolution_reference<T><<<(unsigned)((outputs + 127) / 128), 128>>>(
        x, w[0], bias_and_relu ? bias : nullptr, with_residual ? residual : nullptr, expected,
        (int)layer.in, (int)layer.extent, (int)layer.out, (int)layer.output_extent(),
        (int)layer.window, (int)layer.stride, bias_and_relu, outputs);
    CHECK(cudaDeviceSynchronize());
  }
  static cudnnDataType_t dtype() {
    return sizeof(T) == 2 ? CUDNN_DATA_HALF : CUDNN_DATA_FLOAT;
  }
};

/* How relu(convolution(x, w) + bias (+ residual)) is written down as an operation graph. Only the
 * first does cuDNN know by heart; for the others it compiles a kernel. */
enum form_t { RESIDUAL_FIRST, BIAS_FIRST, RELU_AS_MAXIMUM };
static const char* const form_names[] = {"residual first", "bias first", "ReLU as maximum with 0"};

/* The weights are the second name. */
template <class T>
cudnnStatus_t residual_graph(dnn_graph_t& g, convolution_data_t<T>& d, form_t form) {
  static float zero = 0;
  const cudnnDataType_t type = d.dtype();
  dnn_t value = g.between(d.ye);
  dnn_t x = g.nhwc(type, d.xe, d.x), w = g.nhwc(type, d.we, d.w[0]);
  cudnnStatus_t status = g.convolution(x, w, value, d.layer.stride, d.layer.window / 2);
  auto add = [&](dnn_t other) {
    dnn_t sum = g.between(d.ye);
    if (status == CUDNN_STATUS_SUCCESS) {
      status = g.pointwise(CUDNN_POINTWISE_ADD, value, other, sum);
    }
    value = sum;
  };
  for (bool residual : {form == RESIDUAL_FIRST, form != RESIDUAL_FIRST}) {
    if (!residual) {
      add(g.nhwc(type, d.be, d.bias));
    } else if (d.layer.residual) {
      add(g.nhwc(type, d.ye, d.residual));
    }
  }
  if (status != CUDNN_STATUS_SUCCESS) {
    return status;
  }
  const extents_t one = {1, 1, 1, 1};
  dnn_t bound =
      form == RELU_AS_MAXIMUM ? g.tensor(CUDNN_DATA_FLOAT, one, one, &zero, true) : nullptr;
  status = g.pointwise(bound ? CUDNN_POINTWISE_MAX : CUDNN_POINTWISE_RELU_FWD, value, bound,
                       g.nhwc(type, d.ye, d.y));
  return status == CUDNN_STATUS_SUCCESS ? g.finish() : status;
}

/* Packs of one plan, with other weights each, for a chain. */
struct rotation_t {
  std::vector<dnn_t> packs;
  template <class T>
  rotation_t(dnn_plan_t& plan, const dnn_graph_t& g, const convolution_data_t<T>& d) {
    for (T* w : d.w) {
      std::vector<void*> pointers = g.pointers;
      pointers[1] = w;
      dnn_t keep = plan.pack;
      plan.pack = nullptr;
      plan.bind(g.names, pointers);
      packs.push_back(plan.pack);
      plan.pack = keep;
    }
  }
  ~rotation_t() {
    for (dnn_t p : packs) {
      cudnnBackendDestroyDescriptor(p);
    }
  }
};

/* What one plan took to build and takes in a chain. */
struct plan_result_t {
  dnn_engine_t engine;
  double build_ms, error;
  spread_t us; /* a step; NaN: refused or wrong */
  int64_t workspace;
};

template <class T>
plan_result_t measure_plan(cudnnHandle_t handle, dnn_graph_t& g, convolution_data_t<T>& d,
                           dnn_t configuration, double limit) {
  plan_result_t r = {engine_of(g, configuration), NAN, NAN, {NAN, NAN, NAN}, -1};
  dnn_plan_t plan;
  const double begin = now_us();
  const cudnnStatus_t status = plan.build(handle, configuration);
  r.build_ms = (now_us() - begin) / 1e3;
  if (status != CUDNN_STATUS_SUCCESS) {
    return r;
  }
  plan.bind(g.names, g.pointers);
  r.workspace = plan.workspace_bytes;
  CHECK(cudaMemset(d.y, 0xff, d.outputs * sizeof(T)));
  CHECK_DNN(cudnnSetStream(handle, nullptr));
  if (cudnnBackendExecute(handle, plan.plan, plan.pack) != CUDNN_STATUS_SUCCESS) {
    return r;
  }
  CHECK(cudaDeviceSynchronize());
  r.error = relative_error(d.y, d.expected, d.outputs);
  if (!(r.error < limit)) {
    return r;
  }
  rotation_t rotation(plan, g, d);
  r.us = step_time(
      [&](cudaStream_t s, int i) {
        CHECK_DNN(cudnnSetStream(handle, s));
        CHECK_DNN(
            cudnnBackendExecute(handle, plan.plan, rotation.packs[i % rotation.packs.size()]));
      },
      9, 10, 34);
  return r;
}
