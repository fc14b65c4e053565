/* 3x3 convolutions of ResNet-50 as implicit products with wgmma: which tiles win where, what the
 * bulk copy engine's im2col mode gives over copies of 16 bytes, how far it is to the limit, beside
 * all that cuDNN proposes.
 *
 *   convolution_tiles [batch] [seconds for each of cuDNN's graphs]
 *   convolution_tiles --check      for the sanitizers */
#include "convolution.cuh"
#include "convolution_tiles.cuh"

#include <cudaTypedefs.h>

#include <cstring>

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

static const layer_t three_by_three[] = {
    {"64>64 @56", 64, 64, 56, 3, 1, false, 0},      {"128>128 @28", 128, 128, 28, 3, 1, false, 0},
    {"256>256 @14", 256, 256, 14, 3, 1, false, 0},  {"512>512 @7", 512, 512, 7, 3, 1, false, 0},
    {"128>128 @56/2", 128, 128, 56, 3, 2, false, 0}, {"256>256 @28/2", 256, 256, 28, 3, 2, false, 0},
    {"512>512 @14/2", 512, 512, 14, 3, 2, false, 0},
    {"256>256 @14 + residual", 256, 256, 14, 3, 1, true, 0}};

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

struct own_t {
  convolution_data_t<half>& d;
  std::vector<half*> packed;
  double* sums = device_new<double>(2);

  explicit own_t(convolution_data_t<half>& d) : d(d) {
    const size_t n = (size_t)d.layer.in * d.layer.out * 9;
    for (half* w : d.w) {
      packed.push_back(device_new<half>(n));
      pack_tile_weights<<<(unsigned)((n + 255) / 256), 256>>>(packed.back(), w, (int)d.layer.out,
                                                              (int)d.layer.in);
    }
    CHECK(cudaDeviceSynchronize());
  }
  own_t(const own_t&) = delete;
  own_t& operator=(const own_t&) = delete;
  ~own_t() {
    for (half* w : packed) {
      cudaFree(w);
    }
    cudaFree(sums);
  }
  tile_arguments_t arguments(const choice_t& c) const {
    tile_arguments_t a = {};
    a.input = window_map(d, c.instance->rows);
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
  double error(const choice_t& c) const;
};

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

double own_t::error(const choice_t& c) const {
  CHECK(cudaMemset(d.y, 0xff, d.outputs * 2));
  CHECK(cudaMemset(sums, 0, 16));
  CHECK(cudaDeviceSynchronize());
  enqueue(c, arguments(c), true, nullptr);
  wait_or_die(nullptr, c.name().c_str());
  add_differences<<<264, 256>>>(d.y, d.expected, d.outputs, sums);
  double host[2];
  CHECK(cudaMemcpy(host, sums, 16, cudaMemcpyDeviceToHost));
  return std::sqrt(host[0] / host[1]);
}

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

static void print_library(convolution_data_t<half>& d, form_t form, double seconds) {
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

static void one_layer(const layer_t& layer, int64_t batch, double seconds) {
  convolution_data_t<half> d(layer, batch);
  own_t own(d);
  const int rows = (int)(d.outputs / (size_t)layer.out);
  const double flops = 2.0 * (double)d.outputs * (double)layer.in * 9,
               bytes = 2.0 * ((double)batch * layer.in * layer.extent * layer.extent +
                              (double)layer.in * layer.out * 9 +
                              (double)d.outputs * (layer.residual ? 2 : 1));
  printf("CONVOLUTION %s, batch %ld: %.2f us at 800 TFLOP/s, %.2f us at 3.0 TB/s\n", layer.name,
         (long)batch, flops / 800e6, bytes / 3e6);
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
    print_library(d, RESIDUAL_FIRST, seconds);
    print_library(d, layer.residual ? BIAS_FIRST : RELU_AS_MAXIMUM, seconds);
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
