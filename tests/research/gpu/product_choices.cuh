/* The host's side of product128: which instances there are, what a configuration needs, how it is
 * launched. */
#pragma once

#include <cudaTypedefs.h>

#include "measure.cuh"
#include "product128.cuh"

typedef void (*product_kernel_t)(product_arguments_t);

struct product_instance_t {
  int warpgroups, columns, split, owners, mode;
  product_kernel_t kernel;
  product_layout_t (*layout)(int channels, int stages, int stage_blocks);
};

/* One way to make a product; the tuner tries them all. */
struct product_choice_t {
  int instance = -1, stages = 0, stage_blocks = 1, weight_sharing = 1, release_late = 0, pad = 0;
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
  const half* ahead = nullptr; /* weights of a later step, and their bytes */
  size_t ahead_bytes = 0;
};

#define PRODUCT_INSTANCE(warpgroups, columns, split, owners, mode) \
  {                                                                \
    warpgroups, columns, split, owners, mode,                      \
        product128<warpgroups, columns, split, owners, mode>,      \
        product_layout<warpgroups, columns, split, owners>         \
  }

inline const std::vector<product_instance_t>& product_instances() {
  static const std::vector<product_instance_t> instances = {
      PRODUCT_INSTANCE(1, 24, 1, 1, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(1, 32, 1, 1, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(1, 48, 1, 1, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(1, 64, 1, 1, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(1, 64, 2, 2, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(1, 96, 2, 2, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(2, 16, 1, 1, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(2, 24, 1, 1, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(2, 32, 1, 1, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(2, 32, 2, 2, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(2, 64, 2, 2, PRODUCT_NORMALISE),
      PRODUCT_INSTANCE(1, 16, 1, 1, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 24, 1, 1, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 32, 1, 1, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 16, 2, 2, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 32, 2, 2, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 32, 3, 2, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 32, 4, 4, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 48, 2, 2, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 48, 3, 3, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 48, 4, 3, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 48, 6, 6, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 64, 2, 2, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 64, 4, 4, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(1, 96, 6, 6, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(2, 16, 2, 2, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(2, 32, 2, 2, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(2, 32, 4, 4, PRODUCT_RESIDUAL),
      PRODUCT_INSTANCE(2, 48, 3, 3, PRODUCT_RESIDUAL),
  };
  return instances;
}

inline void product_setup() {
  for (const product_instance_t& instance : product_instances()) {
    CHECK(
        cudaFuncSetAttribute(instance.kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    CHECK(
        cudaFuncSetAttribute(instance.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  }
}

inline std::string product_name(const product_choice_t& choice) {
  const product_instance_t& instance = product_instances()[choice.instance];
  char text[160];
  snprintf(text, sizeof text, "%3dx%-2d split %d/%d, stages %d of %d, weights by %d, release %s%s",
           instance.warpgroups * 64, instance.columns, instance.split, instance.owners,
           choice.stages, choice.stage_blocks * 64, choice.weight_sharing,
           choice.release_late ? "late" : "early",
           choice.pad == 2 ? ", one a multiprocessor"
           : choice.pad    ? ", two a multiprocessor"
                           : "");
  return text;
}

/* How many row statistics a producer with this choice leaves. */
inline int product_statistics(const product_choice_t& choice, int columns) {
  const product_instance_t& instance = product_instances()[choice.instance];
  return columns / (instance.columns / instance.owners);
}

/* x as blocks of 64 channels, so that one copy brings several of them in the order of the ring. */
inline CUtensorMap product_input_map(const half* input, int channels, int rows, int blocks) {
  static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  if (!encode) {
    cudaDriverEntryPointQueryResult result;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000,
                                           cudaEnableDefault, &result));
  }
  CUtensorMap map;
  const cuuint64_t extents[3] = {64, PRODUCT_ROWS, (cuuint64_t)channels / 64},
                   strides[2] = {(cuuint64_t)channels * 2, 128};
  const cuuint32_t box[3] = {64, (cuuint32_t)rows, (cuuint32_t)blocks}, steps[3] = {1, 1, 1};
  const CUresult status =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 3, (void*)input, extents, strides, box, steps,
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
inline bool product_plan(const product_step_t& step, const product_choice_t& choice,
                         product_launch_t* out) {
  const product_instance_t& instance = product_instances()[choice.instance];
  const int blocks = step.channels / 64 / instance.split, tiles = step.columns / instance.columns;
  if (instance.mode != step.mode || step.columns % instance.columns ||
      step.channels % (64 * instance.split) || blocks > PRODUCT_CHUNK * PRODUCT_CHUNKS_MAX ||
      blocks % choice.stage_blocks || choice.stages * choice.stage_blocks > blocks ||
      choice.stages > PRODUCT_STAGES_MAX ||
      (choice.weight_sharing == 2 && instance.warpgroups == 2)) {
    return false;
  }
  out->cluster = dim3(instance.split, 1, choice.weight_sharing);
  out->shared = instance.layout(step.channels, choice.stages, choice.stage_blocks).size;
  if (out->cluster.x * out->cluster.z > 8 || out->shared > 232448) {
    return false;
  }
  out->shared = std::max(out->shared, choice.pad == 2 ? 116000 : choice.pad == 1 ? 77000 : 0);
  out->grid = dim3(instance.split, tiles, 2 / instance.warpgroups);
  out->threads = instance.warpgroups * 128 + 32 + PRODUCT_HELPERS;
  out->kernel = instance.kernel;
  product_arguments_t& a = out->arguments;
  a = {};
  if (step.input) {
    a.input =
        product_input_map(step.input, step.channels, instance.warpgroups * 64, choice.stage_blocks);
  }
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
  const size_t launched = (size_t)out->grid.x * out->grid.y * out->grid.z;
  a.ahead =
      step.ahead && step.ahead_bytes % (launched * 16) == 0 ? (const char*)step.ahead : nullptr;
  a.ahead_bytes = (unsigned)(step.ahead_bytes / launched);
  a.columns = step.columns;
  a.channels = step.channels;
  a.gelu = step.gelu;
  a.stages = choice.stages;
  a.stage_blocks = choice.stage_blocks;
  a.release_late = choice.release_late;
  a.weight_sharing = choice.weight_sharing;
  return true;
}

inline void product_enqueue(const product_launch_t& l, bool dependent, cudaStream_t stream) {
  CHECK(launch(l.kernel, l.grid, l.threads, l.shared, l.cluster, dependent, stream, l.arguments));
}

/* All choices that fit a step; `few` for a check alone. */
inline std::vector<product_choice_t> product_choices(const product_step_t& step, bool few) {
  std::vector<product_choice_t> all;
  const int count = (int)product_instances().size();
  for (int i = 0; i < count; i++) {
    const product_instance_t& instance = product_instances()[i];
    const int blocks = step.channels / 64 / instance.split;
    const int launched = step.columns / instance.columns * instance.split * 2 / instance.warpgroups;
    if (launched > 264 || launched < 40) {
      continue;
    }
    for (int stage_blocks : {1, 2, 3, 4}) {
      int last = 0;
      for (int budget : {115000, 232448}) { /* two blocks a multiprocessor, or one */
        const int fixed = instance.layout(step.channels, 0, 1).size,
                  stage = instance.warpgroups * 8192 * stage_blocks;
        const int stages =
            std::min({blocks / stage_blocks, (budget - fixed) / stage, (int)PRODUCT_STAGES_MAX});
        if (stages < 1 || stages == last || (stages == 1 && blocks > stage_blocks) ||
            (few && budget > 115000)) {
          continue;
        }
        last = stages;
        for (int weight_sharing : {1, 2}) {
          for (int late : {0, 1}) {
            const product_choice_t choice = {i, stages, stage_blocks, weight_sharing, late, 0, 0};
            product_launch_t launch = {};
            if (product_plan(step, choice, &launch)) {
              all.push_back(choice);
            }
          }
        }
      }
    }
  }
  return all;
}

/* Sum and sum of squares of each `width` columns of a row. */
static __global__ void partial_statistics(const half* x, int columns, int width, float2* out) {
  const int row = threadIdx.x, part = blockIdx.x;
  float2 s = {0, 0};
  for (int i = 0; i < width; i++) {
    const float v = __half2float(x[row * columns + part * width + i]);
    s.x += v;
    s.y += v * v;
  }
  out[part * PRODUCT_ROWS + row] = s;
}

static __global__ void weight_sums(const half* w, int channels, float* out) {
  double s = 0;
  for (int k = threadIdx.x; k < channels; k += 32) {
    s += (double)__half2float(w[(size_t)blockIdx.x * channels + k]);
  }
  for (int i = 16; i; i /= 2) {
    s += __shfl_xor_sync(~0u, s, i);
  }
  if (!threadIdx.x) {
    out[blockIdx.x] = (float)s;
  }
}
