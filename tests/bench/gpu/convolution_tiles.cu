/* 3x3 convolutions of ResNet-50 as implicit products with wgmma: which tiles win where, what the
 * bulk copy engine's im2col mode gives over copies of 16 bytes, how far it is to the limit, beside
 * all that cuDNN proposes.
 *
 *   convolution_tiles [batch] [seconds for each of cuDNN's graphs]
 *   convolution_tiles --check      for the sanitizers */
#include <cudaTypedefs.h>

#include <cstring>

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

static const std::vector<tile_instance_t>& instances() {
  static std::vector<tile_instance_t> all;
  if (all.empty()) {
    add_instances<1, 1, 4, 1>(all);
    add_instances<1, 1, 4, 2>(all);
    add_instances<1, 1, 4, 4>(all);
    add_instances<1, 1, 4, 6>(all);
    add_instances<1, 1, 4, 8>(all);
    add_instances<1, 1, 8, 1>(all);
    add_instances<1, 1, 8, 2>(all);
    add_instances<1, 1, 8, 3>(all);
    add_instances<1, 1, 8, 4>(all);
    add_instances<1, 1, 8, 6>(all);
    add_instances<1, 1, 8, 8>(all);
    add_instances<1, 1, 16, 1>(all);
    add_instances<1, 1, 16, 8>(all);
    add_instances<1, 1, 32, 1>(all);
    add_instances<2, 1, 4, 2>(all);
    add_instances<2, 1, 4, 4>(all);
    add_instances<2, 1, 4, 8>(all);
    add_instances<2, 1, 8, 1>(all);
    add_instances<2, 1, 8, 2>(all);
    add_instances<2, 1, 8, 4>(all);
    add_instances<2, 1, 16, 1>(all);
    add_instances<2, 1, 16, 2>(all);
    add_instances<2, 1, 32, 1>(all);
    add_instances<2, 2, 8, 1>(all);
    add_instances<2, 2, 16, 1>(all);
    add_instances<3, 1, 8, 1>(all);
    add_instances<3, 1, 16, 1>(all);
    for (const tile_instance_t& i : all) {
      CHECK(cudaFuncSetAttribute(i.kernel, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
      CHECK(cudaFuncSetAttribute(i.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
    }
  }
  return all;
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
    CHECK(launch(i.kernel,
                 dim3(i.split, a.columns / (8 * i.n8), (a.rows + i.rows - 1) / i.rows),
                 i.groups * 128 + (i.source == WINDOW_COPIES ? 32 : 128), i.shared_bytes(c.stages),
                 dim3(i.split), dependent, s, a));
  }
  spread_t time(const choice_t& c, tile_arguments_t a, bool dependent = true,
                int count = 9) const {
    return step_time(
        [&](cudaStream_t s, int i) {
          a.weights = packed[i % packed.size()];
          enqueue(c, a, dependent, s);
        },
        count, 10, 34);
  }
  double error(const choice_t& c) const {
    return error_of(c.name().c_str(),
                    [&] { enqueue(c, arguments(c), true, nullptr); });
  }
};

static std::vector<choice_t> choices(const layer_t& layer, int rows, bool few) {
  std::vector<choice_t> all;
  const int window_blocks = 9 * (int)layer.in / 64;
  for (const tile_instance_t& i : instances()) {
    const int blocks =
        (int)(layer.out / (8 * i.n8)) * ((rows + i.rows - 1) / i.rows) * i.split;
    if (layer.out % (8 * i.n8) || (blocks < 24 && !few) ||
        (i.split > 1 && (blocks > 300 || i.split > window_blocks))) {
      continue;
    }
    const int count = (window_blocks + i.split - 1) / i.split;
    int last = 0;
    for (int budget : {75000, 115000, 232448}) { /* three, two, one block a multiprocessor */
      const int stages = std::min(
          {count, (budget - i.shared_bytes(0)) / i.stage_bytes, (int)TILE_STAGES_MAX});
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

static cudnnHandle_t handle;

static void one_layer(const layer_t& layer, int64_t batch, double seconds) {
  convolution_data_t<half> d(layer, batch);
  own_t own(d);
  const int rows = (int)(d.outputs / (size_t)layer.out);
  print_limits(d);
  std::vector<choice_t> all = choices(layer, rows, false);
  double worst = 0;
  for (choice_t& c : all) {
    const double error = own.error(c);
    if (!(error < 1e-3)) {
      printf("  WRONG %s: error %.1e\n", c.name().c_str(), error);
      continue;
    }
    worst = std::max(worst, error);
    c.us = own.time(c, own.arguments(c));
  }
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const choice_t& c) { return std::isnan(c.us.median); }),
            all.end());
  std::sort(all.begin(), all.end(),
            [](const choice_t& a, const choice_t& b) { return a.us.median < b.us.median; });
  printf("  %zu choices right, largest error %.1e\n", all.size(), worst);
  /* the best again, and the parts of the best of each source */
  int printed = 0, of_source[2] = {0, 0};
  for (const choice_t& c : all) {
    const bool first = of_source[c.instance->source]++ == 0;
    if (printed < 6 || first) {
      const spread_t a = own.time(c, own.arguments(c), true, 31),
                     b = own.time(c, own.arguments(c), true, 31);
      printf("  %s: %.2f (%.2f-%.2f), again %.2f (%.2f-%.2f)\n", c.name().c_str(), a.median, a.low,
             a.high, b.median, b.low, b.high);
      printed++;
    }
    if (first) {
      tile_arguments_t p = own.arguments(c);
      printf("    plain edges %.2f,", own.time(c, p, false).median);
      p.late_weights = 1;
      printf(" weights after the wait %.2f,", own.time(c, p).median);
      p.late_weights = 0;
      const struct {
        const char* name;
        int skip;
      } parts[] = {{"products", 1}, {"input", 2}, {"weights", 4}, {"input and weights", 6},
                   {"all three", 7}};
      printf(" without");
      for (const auto& part : parts) {
        p.skip = part.skip;
        printf(" %s %.2f,", part.name, own.time(c, p).median);
      }
      printf("\n");
    }
  }
  if (seconds > 0) {
    print_library(handle, d, RESIDUAL_FIRST, seconds);
    print_library(handle, d, layer.residual ? BIAS_FIRST : RELU_AS_MAXIMUM, seconds);
  }
}

/* Each instance once on small layers with rows that end within a tile. */
static void check() {
  const layer_t small[] = {{"128>256 @7", 128, 256, 7, 3, 1, true, 0},
                           {"64>256 @14/2", 64, 256, 14, 3, 2, false, 0}};
  for (const layer_t& layer : small) {
    convolution_data_t<half> d(layer, 3);
    own_t own(d);
    double worst = 0;
    int count = 0;
    for (const choice_t& c : choices(layer, (int)(d.outputs / (size_t)layer.out), true)) {
      const double error = own.error(c);
      worst = error > worst || std::isnan(error) ? error : worst;
      count++;
    }
    printf("CHECK %s, batch 3: %d choices, largest error %.1e\n", layer.name, count, worst);
  }
}

int main(int argc, char** argv) {
  print_device();
  if (argc > 1 && !strcmp(argv[1], "--check")) {
    check();
    return 0;
  }
  CHECK_DNN(cudnnCreate(&handle));
  printf("CUDNN %zu\n", cudnnGetVersion());
  const double seconds = argc > 2 ? atof(argv[2]) : 6;
  for (int64_t batch : {1, 32}) {
    if (argc > 1 && atoi(argv[1]) != batch && atoi(argv[1]) > 0) {
      continue;
    }
    for (const layer_t& layer : three_by_three) {
      one_layer(layer, batch, seconds);
    }
  }
}
