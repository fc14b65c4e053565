/* The host's side of product128: which instances there are, what a configuration needs, how it is launched. */
#pragma once

#include <cudaTypedefs.h>

#include "measure.h"
#include "product128.cuh"

typedef void (*product_kernel_t)(product_arguments_t);

struct product_instance_t {
  int warpgroups, columns, split, mode;
  product_kernel_t kernel;
  product_layout_t (*layout)(int channels, int stages);
};

/* One way to make a product; the tuner tries them all. */
struct product_choice_t {
  int instance = -1, stages = 0, sharing = 1, weight_sharing = 1, pad = 0;
  double us = 0;
};

/* Shapes and pointers of one product of the chain. */
struct product_step_t {
  int columns, channels, mode, gelu = 0;
  const half *input, *weights, *residual = nullptr;
  const float *bias, *weight_sums = nullptr, *gamma = nullptr, *beta = nullptr;
  const float2 *input_statistics = nullptr, *residual_statistics = nullptr;
  int statistics_count = 0;
  float2* output_statistics = nullptr;
  half* output;
};

#define PRODUCT_INSTANCE(warpgroups, columns, split, mode) \
  { warpgroups, columns, split, mode, product128<warpgroups, columns, split, mode>, product_layout<warpgroups, columns, split> }

inline const std::vector<product_instance_t>& product_instances() {
  static const std::vector<product_instance_t> instances = {
      PRODUCT_INSTANCE(1, 24, 1, PRODUCT_NORMALISE), PRODUCT_INSTANCE(1, 32, 1, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(1, 48, 1, PRODUCT_NORMALISE), PRODUCT_INSTANCE(1, 64, 1, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(1, 64, 2, PRODUCT_NORMALISE), PRODUCT_INSTANCE(1, 96, 2, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(2, 16, 1, PRODUCT_NORMALISE), PRODUCT_INSTANCE(2, 24, 1, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(2, 32, 1, PRODUCT_NORMALISE), PRODUCT_INSTANCE(2, 48, 1, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(2, 32, 2, PRODUCT_NORMALISE), PRODUCT_INSTANCE(2, 64, 2, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(1, 16, 1, PRODUCT_RESIDUAL),  PRODUCT_INSTANCE(1, 24, 1, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 32, 1, PRODUCT_RESIDUAL),  PRODUCT_INSTANCE(1, 16, 2, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 32, 2, PRODUCT_RESIDUAL),  PRODUCT_INSTANCE(1, 32, 4, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 48, 3, PRODUCT_RESIDUAL),  PRODUCT_INSTANCE(1, 48, 6, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 64, 2, PRODUCT_RESIDUAL),  PRODUCT_INSTANCE(1, 64, 4, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 96, 6, PRODUCT_RESIDUAL),  PRODUCT_INSTANCE(2, 16, 1, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(2, 16, 2, PRODUCT_RESIDUAL),  PRODUCT_INSTANCE(2, 32, 2, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(2, 32, 4, PRODUCT_RESIDUAL),  PRODUCT_INSTANCE(2, 48, 3, PRODUCT_RESIDUAL),
  };
  return instances;
}

inline void product_setup() {
  for (const product_instance_t& instance : product_instances()) {
    CHECK(cudaFuncSetAttribute(instance.kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    CHECK(cudaFuncSetAttribute(instance.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  }
}

inline std::string product_name(const product_choice_t& choice) {
  const product_instance_t& instance = product_instances()[choice.instance];
  char text[128];
  snprintf(text, sizeof text, "%3dx%-2d split %d stages %2d sharing %d weights %d pad %d", instance.warpgroups * 64,
           instance.columns, instance.split, choice.stages, choice.sharing, choice.weight_sharing, choice.pad);
  return text;
}

/* How many row statistics a producer with this choice leaves. */
inline int product_statistics(const product_choice_t& choice, int columns) {
  const product_instance_t& instance = product_instances()[choice.instance];
  return columns / (instance.columns / instance.split);
}

inline CUtensorMap product_input_map(const half* input, int channels, int rows) {
  static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  if (!encode) {
    cudaDriverEntryPointQueryResult result;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000, cudaEnableDefault, &result));
  }
  CUtensorMap map;
  const cuuint64_t extents[2] = {(cuuint64_t)channels, PRODUCT_ROWS}, strides[1] = {(cuuint64_t)channels * 2};
  const cuuint32_t box[2] = {64, (cuuint32_t)rows}, steps[2] = {1, 1};
  const CUresult status = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, (void*)input, extents, strides, box, steps,
                                 CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                 CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    printf("FAILED tensor map: %d\n", (int)status);
    _exit(2);
  }
  return map;
}

struct product_launch_t {
  product_arguments_t arguments;
  product_kernel_t kernel;
  dim3 grid, cluster;
  int threads, shared;
};

/* False: this choice does not fit the step. */
inline bool product_plan(const product_step_t& step, const product_choice_t& choice, product_launch_t* out) {
  const product_instance_t& instance = product_instances()[choice.instance];
  const int blocks = step.channels / 64 / instance.split, tiles = step.columns / instance.columns;
  if (instance.mode != step.mode || step.columns % instance.columns || step.channels % (64 * instance.split) ||
      blocks > PRODUCT_CHUNK * PRODUCT_CHUNKS_MAX || choice.stages > blocks || choice.stages > PRODUCT_STAGES_MAX ||
      tiles % choice.sharing || (choice.weight_sharing == 2 && instance.warpgroups == 2)) {
    return false;
  }
  out->cluster = dim3(instance.split, choice.sharing, choice.weight_sharing);
  if (out->cluster.x * out->cluster.y * out->cluster.z > 8) {
    return false;
  }
  out->shared = instance.layout(step.channels, choice.stages).size;
  if (out->shared > 232448) {
    return false;
  }
  out->shared = std::max(out->shared, choice.pad == 2 ? 116000 : choice.pad == 1 ? 77000 : 0);
  out->grid = dim3(instance.split, tiles, 2 / instance.warpgroups);
  out->threads = instance.warpgroups * 128 + 32 + PRODUCT_HELPERS;
  out->kernel = instance.kernel;
  product_arguments_t& a = out->arguments;
  a = {};
  a.input = product_input_map(step.input, step.channels, instance.warpgroups * 64 / choice.sharing);
  a.weights = step.weights;
  a.bias = step.bias;
  a.weight_sums = step.weight_sums;
  a.gamma = step.gamma;
  a.beta = step.beta;
  a.residual = step.residual;
  a.input_statistics = step.input_statistics;
  a.residual_statistics = step.residual_statistics;
  a.statistics_count = step.statistics_count;
  a.output_statistics = step.output_statistics;
  a.output = step.output;
  a.columns = step.columns;
  a.channels = step.channels;
  a.gelu = step.gelu;
  a.stages = choice.stages;
  a.sharing = choice.sharing;
  a.weight_sharing = choice.weight_sharing;
  return true;
}

inline void product_enqueue(const product_launch_t& l, bool dependent, cudaStream_t stream) {
  CHECK(launch(l.kernel, l.grid, l.threads, l.shared, l.cluster, dependent, stream, l.arguments));
}
