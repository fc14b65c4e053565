/* The tiles of the own 3x3 convolutions as choices: which fit a layer, how one is launched, timed
 * and checked. */
#pragma once

#include <cudaTypedefs.h>

#include "convolution_packed.cuh"

typedef void (*tile_kernel_t)(tile_arguments_t);

struct tile_instance_t {
  int groups, height, n8, split, source, rows, stage_bytes;
  int (*shared_bytes)(int stages);
  tile_kernel_t kernel;
};

template <int GROUPS, int HEIGHT, int N8, int SPLIT>
static void add_instances(std::vector<tile_instance_t>& to) {
  typedef tile_t<GROUPS, HEIGHT, N8, SPLIT> t;
  to.push_back({GROUPS, HEIGHT, N8, SPLIT, WINDOW_COPIES, t::ROWS, t::STAGE_BYTES, t::shared_bytes,
                convolve<GROUPS, HEIGHT, N8, SPLIT, WINDOW_COPIES>});
  to.push_back({GROUPS, HEIGHT, N8, SPLIT, SMALL_COPIES, t::ROWS, t::STAGE_BYTES, t::shared_bytes,
                convolve<GROUPS, HEIGHT, N8, SPLIT, SMALL_COPIES>});
}

/* The tiles that this program compiles: whoever includes this fills it once. */
static std::vector<tile_instance_t>& instances() {
  static std::vector<tile_instance_t> all;
  return all;
}
static void prepare_instances() {
  for (const tile_instance_t& i : instances()) {
    CHECK(cudaFuncSetAttribute(i.kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    CHECK(cudaFuncSetAttribute(i.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  }
}

struct choice_t {
  const tile_instance_t* instance;
  int stages, release_late;
  spread_t us;
  std::string name() const {
    char text[120];
    snprintf(text, sizeof text, "%3dx%-3d (%d groups) split %d, %s, %d stages, release %s",
             instance->rows, instance->n8 * 8, instance->groups, instance->split,
             instance->source == WINDOW_COPIES ? "im2col" : "16 bytes", stages,
             release_late ? "late" : "early");
    return text;
  }
};

static CUtensorMap window_map(const convolution_data_t<half>& d, int rows) {
  static PFN_cuTensorMapEncodeIm2col_v12000 encode = nullptr;
  if (!encode) {
    cudaDriverEntryPointQueryResult result;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", (void**)&encode, 12000,
                                           cudaEnableDefault, &result));
  }
  CUtensorMap map;
  const cuuint64_t c = d.layer.in, e = d.layer.extent, n = d.batch;
  const cuuint64_t extents[4] = {c, e, e, n}, strides[3] = {c * 2, e * c * 2, e * e * c * 2};
  const int lower[2] = {-1, -1}, upper[2] = {-1, -1}; /* -padding; padding - (window - 1) */
  const cuuint32_t stride = (cuuint32_t)d.layer.stride, steps[4] = {1, stride, stride, 1};
  const CUresult status =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, d.x, extents, strides, lower, upper, 64,
             (cuuint32_t)rows, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    printf("FAILED window map of %d rows: %d\n", rows, (int)status);
    _exit(2);
  }
  return map;
}

struct own_t : packed_convolution_t {
  using packed_convolution_t::packed_convolution_t;
  tile_arguments_t arguments(const choice_t& c) const {
    tile_arguments_t a = plain_arguments();
    a.input = window_map(d, c.instance->rows);
    a.stages = c.stages;
    a.release_late = c.release_late;
    return a;
  }
  void enqueue(const choice_t& c, const tile_arguments_t& a, bool dependent, cudaStream_t s) const {
    const tile_instance_t& i = *c.instance;
    CHECK(launch(i.kernel, dim3(i.split, a.columns / (8 * i.n8), (a.rows + i.rows - 1) / i.rows),
                 i.groups * 128 + (i.source == WINDOW_COPIES ? 32 : 128), i.shared_bytes(c.stages),
                 dim3(i.split), dependent, s, a));
  }
  spread_t time(const choice_t& c, tile_arguments_t a, bool dependent = true, int count = 9) const {
    return step_time(
        [&](cudaStream_t s, int i) {
          a.weights = packed[i % packed.size()];
          enqueue(c, a, dependent, s);
        },
        count, 10, 34);
  }
  double error(const choice_t& c) const {
    return error_of(c.name().c_str(), [&] { enqueue(c, arguments(c), true, nullptr); });
  }
};

static std::vector<choice_t> choices(const layer_t& layer, int rows, bool few) {
  std::vector<choice_t> all;
  const int window_blocks = 9 * (int)layer.in / 64;
  for (const tile_instance_t& i : instances()) {
    const int blocks = (int)(layer.out / (8 * i.n8)) * ((rows + i.rows - 1) / i.rows) * i.split;
    if (layer.out % (8 * i.n8) || (blocks < 24 && !few) ||
        (i.split > 1 && (blocks > 300 || i.split > window_blocks))) {
      continue;
    }
    const int count = (window_blocks + i.split - 1) / i.split;
    int last = 0;
    for (int budget : {75000, 115000, 232448}) { /* three, two, one block a multiprocessor */
      const int stages =
          std::min({count, (budget - i.shared_bytes(0)) / i.stage_bytes, (int)TILE_STAGES_MAX});
      if (stages == last || (stages < count && stages < TILE_LAG + 2) ||
          (few && budget != 115000)) {
        continue;
      }
      last = stages;
      for (int late : {0, 1}) {
        if (!few || late) {
          all.push_back({&i, stages, late, {NAN, NAN, NAN}});
        }
      }
    }
  }
  return all;
}
