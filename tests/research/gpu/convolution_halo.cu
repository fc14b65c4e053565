/* 3x3 convolutions of stride 1 whose input is brought once for all nine taps, beside cuDNN; whether
 * the products may start at any row of a swizzled tile.
 *
 *   convolution_halo [seconds for each of cuDNN's graphs]
 *   convolution_halo --check      for the sanitizers */
#include <cudaTypedefs.h>

#include <cstring>

#include "convolution_halo.cuh"
#include "convolution_packed.cuh"

typedef void (*halo_kernel_t)(halo_arguments_t);

struct halo_instance_t {
  int groups, height, n8;
  halo_kernel_t kernel;
};
#define HALO(groups, height, n8) \
  { groups, height, n8, convolve_halo<groups, height, n8> }
static const halo_instance_t instances[] = {
    HALO(1, 1, 8), HALO(1, 1, 16), HALO(2, 1, 8), HALO(2, 1, 16), HALO(2, 2, 8),  HALO(2, 2, 16),
    HALO(4, 1, 8), HALO(4, 1, 16), HALO(1, 2, 8), HALO(1, 2, 16), HALO(2, 1, 32), HALO(1, 1, 32)};

struct halo_choice_t {
  const halo_instance_t* instance;
  int tile_rows, images, slots, stages, resident, blocks, late, shared;
  spread_t us;
  std::string name() const {
    char text[160];
    snprintf(
        text, sizeof text,
        "%dx%d (%d groups), %d rows of %d images, %d boxes, %d stages%s, %d blocks, release %s",
        instance->groups * instance->height * 64, instance->n8 * 8, instance->groups, tile_rows,
        images, slots, stages, resident ? " that stay" : "", blocks, late ? "late" : "early");
    return text;
  }
};

static CUtensorMap box_map(const convolution_data_t<half>& d, int rows, int images) {
  static PFN_cuTensorMapEncodeTiled_v12000 encode = nullptr;
  if (!encode) {
    cudaDriverEntryPointQueryResult result;
    CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void**)&encode, 12000,
                                           cudaEnableDefault, &result));
  }
  CUtensorMap map;
  const cuuint64_t c = d.layer.in, e = d.layer.extent, n = d.batch;
  const cuuint64_t extents[4] = {c, e, e, n}, strides[3] = {c * 2, e * c * 2, e * e * c * 2};
  const cuuint32_t box[4] = {64, (cuuint32_t)e + 2, (cuuint32_t)rows, (cuuint32_t)images},
                   steps[4] = {1, 1, 1, 1};
  const CUresult status =
      encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 4, d.x, extents, strides, box, steps,
             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (status != CUDA_SUCCESS) {
    printf("FAILED box map: %d\n", (int)status);
    _exit(2);
  }
  return map;
}

struct halo_t : packed_convolution_t {
  using packed_convolution_t::packed_convolution_t;

  int box_bytes(int tile_rows) const {
    return (tile_rows + 2) * ((int)d.layer.extent + 2) * 128;
  }
  int tiles(const halo_choice_t& c) const {
    const int rows = ((int)d.layer.extent + c.tile_rows - 1) / c.tile_rows;
    return c.images > 1 ? ((int)d.batch + c.images - 1) / c.images : rows * (int)d.batch;
  }
  halo_arguments_t arguments(const halo_choice_t& c, int skip) const {
    halo_arguments_t a = {};
    a.boxes = box_map(d, c.tile_rows + 2, c.images);
    a.tile = plain_arguments();
    a.tile.stages = c.stages;
    a.tile.release_late = c.late;
    a.tile.skip = skip;
    a.tile_rows = c.tile_rows;
    a.images = c.images;
    a.tiles = tiles(c);
    a.tiles_an_image = c.images > 1 ? 1 : ((int)d.layer.extent + c.tile_rows - 1) / c.tile_rows;
    a.slots = c.slots;
    a.slot_bytes = (box_bytes(c.tile_rows) * c.images + 1023) / 1024 * 1024;
    a.resident = c.resident;
    return a;
  }
  void enqueue(const halo_choice_t& c, const halo_arguments_t& a, cudaStream_t s) const {
    CHECK(launch(c.instance->kernel, dim3(c.blocks, (unsigned)d.layer.out / (8 * c.instance->n8)),
                 c.instance->groups * 128 + 64, c.shared, dim3(1), true, s, a));
  }
  double error(const halo_choice_t& c, int skip) const {
    return error_of(c.name().c_str(), [&] { enqueue(c, arguments(c, skip), nullptr); });
  }
  spread_t time(const halo_choice_t& c, int count = 9) const {
    halo_arguments_t a = arguments(c, 0);
    return step_time(
        [&](cudaStream_t s, int i) {
          a.tile.weights = packed[i % packed.size()];
          enqueue(c, a, s);
        },
        count, 10, 34);
  }
  /* All that fit; `few`: one of each instance. */
  std::vector<halo_choice_t> choices(bool few) const {
    std::vector<halo_choice_t> all;
    const int extent = (int)d.layer.extent, wide = extent + 2, steps = 9 * (int)d.layer.in / 64;
    for (const halo_instance_t& i : instances) {
      const int height = i.groups * i.height;
      if (d.layer.out % (8 * i.n8)) {
        continue;
      }
      int tile_rows = std::min(extent, (height * 64 + 2) / wide), images = 1;
      if (extent * wide - 2 <= 64) {
        tile_rows = extent;
        images = height;
      }
      if (tile_rows < 1) {
        continue;
      }
      tile_rows = (extent + (extent + tile_rows - 1) / tile_rows - 1) /
                  ((extent + tile_rows - 1) / tile_rows); /* alike */
      const int slot = (box_bytes(tile_rows) * images + 1023) / 1024 * 1024;
      for (int budget : {115000, 232448}) {
        for (int slots : {1, 2, 3}) {
          if (slots == 1 && d.layer.in > 64) {
            continue; /* a box is given back when the next one is there */
          }
          const int room = (budget - 2048 - slots * slot) / (i.n8 * 1024),
                    stages = std::min({room, steps, (int)HALO_STAGES_MAX});
          if (stages < 3 || (few && (budget != 115000 || slots != 2))) {
            continue;
          }
          halo_choice_t c = {&i, tile_rows, images, slots, stages, stages == steps, 0, 0, 0, {}};
          c.shared = 2048 + slots * slot + stages * i.n8 * 1024;
          const int columns = (int)d.layer.out / (8 * i.n8), count = tiles(c),
                    fit = std::max(1, 132 * (c.shared <= 115000 ? 2 : 1) / columns);
          std::vector<int> blocks = {count};
          if (fit < count) {
            blocks.push_back(fit);
          }
          for (int b : blocks) {
            for (int late : {0, 1}) {
              if (!few || late) {
                c.blocks = b;
                c.late = late;
                all.push_back(c);
              }
            }
          }
        }
      }
    }
    return all;
  }
};

static cudnnHandle_t handle;

static void one_layer(const layer_t& layer, int64_t batch, double seconds) {
  convolution_data_t<half> d(layer, batch);
  halo_t own(d);
  print_limits(d);
  std::vector<halo_choice_t> all;
  double worst = 0;
  int wrong = 0;
  for (halo_choice_t& c : own.choices(false)) {
    const double error = own.error(c, 0);
    if (!(error < 1e-3)) {
      if (wrong++ < 3) {
        printf("  WRONG %s: error %.1e\n", c.name().c_str(), error);
      }
      continue;
    }
    worst = std::max(worst, error);
    c.us = own.time(c);
    all.push_back(c);
  }
  std::sort(all.begin(), all.end(), [](const halo_choice_t& a, const halo_choice_t& b) {
    return a.us.median < b.us.median;
  });
  printf("  %zu choices right, %d wrong, largest error %.1e\n", all.size(), wrong, worst);
  for (size_t i = 0; i < all.size() && i < 5; i++) {
    const spread_t a = own.time(all[i], 31), b = own.time(all[i], 31);
    printf("  %s: %.2f (%.2f-%.2f), again %.2f (%.2f-%.2f)\n", all[i].name().c_str(), a.median,
           a.low, a.high, b.median, b.low, b.high);
  }
  if (seconds > 0) {
    print_library(handle, d, RESIDUAL_FIRST, seconds);
    print_library(handle, d, layer.residual ? BIAS_FIRST : RELU_AS_MAXIMUM, seconds);
  }
}

/* Each instance once, with and without the base offset of the products' descriptors. */
static void check() {
  const layer_t small[] = {{"128>256 @7", 128, 256, 7, 3, 1, true, 0},
                           {"64>256 @14", 64, 256, 14, 3, 1, false, 0}};
  for (const layer_t& layer : small) {
    convolution_data_t<half> d(layer, 3);
    halo_t own(d);
    for (int skip : {0, (int)HALO_USE_BASE_OFFSET}) {
      double worst = 0;
      const std::vector<halo_choice_t> all = own.choices(true);
      for (const halo_choice_t& c : all) {
        const double error = own.error(c, skip);
        worst = error > worst || std::isnan(error) ? error : worst;
      }
      printf("CHECK %s, batch 3, %s: %zu choices, largest error %.1e\n", layer.name,
             skip ? "base offset" : "no base offset", all.size(), worst);
    }
  }
}

int main(int argc, char** argv) {
  print_device();
  for (const halo_instance_t& i : instances) {
    CHECK(cudaFuncSetAttribute(i.kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    CHECK(cudaFuncSetAttribute(i.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  }
  check();
  if (argc > 1 && !strcmp(argv[1], "--check")) {
    return 0;
  }
  CHECK_DNN(cudnnCreate(&handle));
  printf("CUDNN %zu\n", cudnnGetVersion());
  for (const layer_t& layer : three_by_three) {
    if (layer.stride == 1) {
      one_layer(layer, 32, argc > 1 ? atof(argv[1]) : 6);
    }
  }
}
