/* The same convolution through cuDNN's older interface, which knows channels in vectors of 4 and
 * 32: x as [image][channel / V][row][column][V], one scale, bias and ReLU, int8 as result. */
#pragma once

#include <cudnn_cnn.h>

#include "int8_data.cuh"

/* [outer][pixels][channels] as [outer][channels / vector][pixels][vector], or back. */
static std::vector<int8_t> in_vectors(const std::vector<int8_t>& from, size_t pixels,
                                      size_t channels, size_t vector, bool back) {
  std::vector<int8_t> to(from.size());
  for (size_t i = 0; i < from.size(); i++) {
    const size_t c = i % channels, p = i / channels % pixels, outer = i / channels / pixels;
    const size_t at =
        ((outer * (channels / vector) + c / vector) * pixels + p) * vector + c % vector;
    (back ? to[i] : to[at]) = back ? from[at] : from[i];
  }
  return to;
}

/* Vector 1: NHWC. */
static void legacy(const int8_data_t& d, int vector) {
  const layer_t& l = d.layer;
  const cudnnDataType_t type = vector == 1   ? CUDNN_DATA_INT8
                               : vector == 4 ? CUDNN_DATA_INT8x4
                                             : CUDNN_DATA_INT8x32;
  const cudnnTensorFormat_t format = vector == 1 ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW_VECT_C;
  cudnnTensorDescriptor_t x, y, bias;
  cudnnFilterDescriptor_t w;
  cudnnConvolutionDescriptor_t convolution;
  cudnnActivationDescriptor_t activation;
  CHECK_DNN(cudnnCreateTensorDescriptor(&x));
  CHECK_DNN(cudnnCreateTensorDescriptor(&y));
  CHECK_DNN(cudnnCreateTensorDescriptor(&bias));
  CHECK_DNN(cudnnCreateFilterDescriptor(&w));
  CHECK_DNN(cudnnCreateConvolutionDescriptor(&convolution));
  CHECK_DNN(cudnnCreateActivationDescriptor(&activation));
  CHECK_DNN(cudnnSetTensor4dDescriptor(x, format, type, l.batch, l.in, l.extent, l.extent));
  CHECK_DNN(cudnnSetTensor4dDescriptor(y, format, type, l.batch, l.out, l.output(), l.output()));
  CHECK_DNN(cudnnSetTensor4dDescriptor(bias, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, l.out, 1, 1));
  CHECK_DNN(cudnnSetFilter4dDescriptor(w, type, format, l.out, l.in, l.window, l.window));
  CHECK_DNN(cudnnSetConvolution2dDescriptor(convolution, l.window / 2, l.window / 2, l.stride,
                                            l.stride, 1, 1, CUDNN_CROSS_CORRELATION,
                                            CUDNN_DATA_INT32));
  CHECK_DNN(cudnnSetConvolutionMathType(convolution, CUDNN_TENSOR_OP_MATH));
  CHECK_DNN(
      cudnnSetActivationDescriptor(activation, CUDNN_ACTIVATION_RELU, CUDNN_PROPAGATE_NAN, 0));
  int8_t *px = device_new<int8_t>(l.inputs()), *pw = device_new<int8_t>(l.filters()),
         *ordered = device_new<int8_t>(l.filters());
  float* ordered_bias = device_new<float>((size_t)l.out);
  const size_t pixels = (size_t)l.extent * l.extent, taps = (size_t)l.window * l.window;
  const std::vector<int8_t> hx = vector == 1 ? d.host_x
                                             : in_vectors(d.host_x, pixels, (size_t)l.in,
                                                          (size_t)vector, false),
                            hw = vector == 1 ? d.host_w
                                             : in_vectors(d.host_w, taps, (size_t)l.in,
                                                          (size_t)vector, false);
  CHECK(cudaMemcpy(px, hx.data(), hx.size(), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(pw, hw.data(), hw.size(), cudaMemcpyHostToDevice));
  CHECK_DNN(cudnnSetStream(d.handle, nullptr));
  const float* used_bias = d.bias;
  const int8_t* filter = pw;
  if (vector == 32) {
    CHECK_DNN(cudnnSetConvolutionReorderType(convolution, CUDNN_NO_REORDER));
    const cudnnStatus_t status = cudnnReorderFilterAndBias(d.handle, w, CUDNN_DEFAULT_REORDER, pw,
                                                           ordered, 1, d.bias, ordered_bias);
    if (status == CUDNN_STATUS_SUCCESS) {
      filter = ordered;
      used_bias = ordered_bias;
    } else {
      printf("  older interface, int8x32: no reordering (%s)\n", cudnnGetErrorString(status));
    }
  }
  const float one = d.one_scale, zero = 0;
  const cudnnConvolutionFwdAlgo_t algorithm = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  size_t bytes = 0;
  cudnnStatus_t status =
      cudnnGetConvolutionForwardWorkspaceSize(d.handle, x, w, convolution, y, algorithm, &bytes);
  uint8_t* workspace = device_new<uint8_t>(bytes + 16);
  auto run = [&](cudaStream_t s) {
    CHECK_DNN(cudnnSetStream(d.handle, s));
    return cudnnConvolutionBiasActivationForward(d.handle, &one, x, px, w, filter, convolution,
                                                 algorithm, workspace, bytes, &zero, y, d.y, bias,
                                                 used_bias, activation, y, d.y);
  };
  d.poison();
  if (status == CUDNN_STATUS_SUCCESS) {
    status = run(nullptr);
  }
  if (status != CUDNN_STATUS_SUCCESS) {
    printf("  older interface, int8x%d: refused: %s\n", vector, cudnnGetErrorString(status));
  } else {
    wait_or_die(nullptr, "older interface");
    std::vector<int8_t> got(l.outputs());
    CHECK(cudaMemcpy(got.data(), d.y, got.size(), cudaMemcpyDeviceToHost));
    if (vector > 1) {
      got = in_vectors(got, (size_t)l.output() * l.output(), (size_t)l.out, (size_t)vector, true);
    }
    agreement_t a;
    for (size_t i = 0; i < got.size(); i += d.sampled()) {
      const double v = std::min(
          std::max(d.sums[i] * (double)one + (double)d.host_bias[i % (size_t)l.out], 0.0), 127.0);
      a.count++;
      a.nearest += got[i] == (int)std::nearbyint(v);
      a.cut += got[i] == (int)v;
      a.near_one += std::fabs(got[i] - v) <= 1;
    }
    const spread_t us = step_time([&](cudaStream_t s, int) { CHECK_DNN(run(s)); },
                                  vector == 32 ? 3 : 7, vector == 1 ? 6 : 2,
                                  vector == 32  ? 3
                                  : vector == 4 ? 6
                                  : l.batch > 1 ? 18
                                                : 30);
    printf("  older interface, int8x%d: %.2f (%.2f-%.2f), workspace %zu; %s%s\n", vector, us.median,
           us.low, us.high, bytes, a.text().c_str(), a.right() ? "" : " WRONG");
  }
  for (void* p : {(void*)px, (void*)pw, (void*)ordered, (void*)ordered_bias, (void*)workspace}) {
    CHECK(cudaFree(p));
  }
  cudnnDestroyTensorDescriptor(x);
  cudnnDestroyTensorDescriptor(y);
  cudnnDestroyTensorDescriptor(bias);
  cudnnDestroyFilterDescriptor(w);
  cudnnDestroyConvolutionDescriptor(convolution);
  cudnnDestroyActivationDescriptor(activation);
}
