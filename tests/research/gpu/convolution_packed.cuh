/* What the own 3x3 convolutions have in common on the host: the layers, packed weights, the error
 * of an output, the limits, and what cuDNN takes beside them. */
#pragma once

#include "convolution.cuh"
#include "convolution_tiles.cuh"

/* ResNet-50's, and one with a residual as ResNet-18 has. */
static const layer_t three_by_three[] = {{"64>64 @56", 64, 64, 56, 3, 1, false, 0},
                                         {"128>128 @28", 128, 128, 28, 3, 1, false, 0},
                                         {"256>256 @14", 256, 256, 14, 3, 1, false, 0},
                                         {"512>512 @7", 512, 512, 7, 3, 1, false, 0},
                                         {"128>128 @56/2", 128, 128, 56, 3, 2, false, 0},
                                         {"256>256 @28/2", 256, 256, 28, 3, 2, false, 0},
                                         {"512>512 @14/2", 512, 512, 14, 3, 2, false, 0},
                                         {"256>256 @14 + residual", 256, 256, 14, 3, 1, true, 0}};

/* sums[0] += (y - expected)^2, sums[1] += expected^2 */
static __global__ void add_differences(const half* y, const double* expected, size_t n,
                                       double* sums) {
  double difference = 0, size = 0;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
       i += (size_t)gridDim.x * blockDim.x) {
    const double e = (double)__half2float(y[i]) - expected[i];
    difference += e * e;
    size += expected[i] * expected[i];
  }
  for (int i = 16; i; i /= 2) {
    difference += __shfl_xor_sync(~0u, difference, i);
    size += __shfl_xor_sync(~0u, size, i);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(sums, difference);
    atomicAdd(sums + 1, size);
  }
}

struct packed_convolution_t {
  convolution_data_t<half>& d;
  std::vector<half*> packed;
  double* sums = device_new<double>(2);

  explicit packed_convolution_t(convolution_data_t<half>& d) : d(d) {
    const size_t n = (size_t)d.layer.in * d.layer.out * 9;
    for (half* w : d.w) {
      packed.push_back(device_new<half>(n));
      pack_tile_weights<<<(unsigned)((n + 255) / 256), 256>>>(packed.back(), w, (int)d.layer.out,
                                                              (int)d.layer.in);
    }
    CHECK(cudaDeviceSynchronize());
  }
  packed_convolution_t(const packed_convolution_t&) = delete;
  packed_convolution_t& operator=(const packed_convolution_t&) = delete;
  ~packed_convolution_t() {
    for (half* w : packed) {
      cudaFree(w);
    }
    cudaFree(sums);
  }
  /* All but the map of the input, the stages and where dependents are released. */
  tile_arguments_t plain_arguments() const {
    tile_arguments_t a = {};
    a.x = d.x;
    a.weights = packed[0];
    a.bias = d.bias;
    a.residual = d.layer.residual ? d.residual : nullptr;
    a.y = d.y;
    a.channels = (int)d.layer.in;
    a.extent = (int)d.layer.extent;
    a.output_extent = (int)d.layer.output_extent();
    a.stride = (int)d.layer.stride;
    a.columns = (int)d.layer.out;
    a.rows = (int)(d.outputs / (size_t)d.layer.out);
    return a;
  }
  /* Of what `run` leaves in a poisoned output; NaN where something was not written. */
  template <class Run>
  double error_of(const char* name, Run run) const {
    CHECK(cudaMemset(d.y, 0xff, d.outputs * 2));
    CHECK(cudaMemset(sums, 0, 16));
    CHECK(cudaDeviceSynchronize());
    run();
    wait_or_die(nullptr, name);
    add_differences<<<264, 256>>>(d.y, d.expected, d.outputs, sums);
    double host[2];
    CHECK(cudaMemcpy(host, sums, 16, cudaMemcpyDeviceToHost));
    return std::sqrt(host[0] / host[1]);
  }
};

inline void print_limits(const convolution_data_t<half>& d) {
  const double flops = 2.0 * (double)d.outputs * (double)d.layer.in * 9,
               bytes = 2.0 * ((double)d.batch * d.layer.in * d.layer.extent * d.layer.extent +
                              (double)d.layer.in * d.layer.out * 9 +
                              (double)d.outputs * (d.layer.residual ? 2 : 1));
  printf("CONVOLUTION %s, batch %ld: %.2f us at 800 TFLOP/s, %.2f us at 3.0 TB/s\n", d.layer.name,
         (long)d.batch, flops / 800e6, bytes / 3e6);
}

inline void print_library(cudnnHandle_t handle, convolution_data_t<half>& d, form_t form,
                          double seconds) {
  dnn_graph_t g(handle);
  if (residual_graph(g, d, form) != CUDNN_STATUS_SUCCESS) {
    printf("  cuDNN, %s: refused\n", form_names[form]);
    return;
  }
  std::vector<plan_result_t> results;
  const std::vector<dnn_t> found = g.proposals(CUDNN_HEUR_MODE_A);
  const double begin = now_us();
  size_t best = 0, wrong = 0;
  for (size_t i = 0; i < found.size() && now_us() - begin < seconds * 1e6; i++) {
    results.push_back(measure_plan(handle, g, d, found[i], 2e-3));
    wrong += results[i].workspace >= 0 && !(results[i].error < 2e-3);
    if (!(results[i].us.median >= results[best].us.median) && !std::isnan(results[i].us.median)) {
      best = i;
    }
  }
  if (!results.empty()) {
    printf(
        "  cuDNN, %s: %zu of %zu proposals, %zu wrong; first %.2f, best %.2f (%.2f-%.2f), engine "
        "%ld\n",
        form_names[form], results.size(), found.size(), wrong, results[0].us.median,
        results[best].us.median, results[best].us.low, results[best].us.high,
        (long)results[best].engine.index);
  }
}
