/* BERT-base's four products of 128 rows, each in a chain of itself with other weights for each
 * step: every choice of product128 checked against float64 and timed, cuBLASLt's best eight
 * algorithms in the same chain.
 *
 *   product128 [--check] [shape]       --check: few choices, no timing, for compute-sanitizer */
#include <cstring>

#include "library_product.cuh"
#include "product_choices.cuh"

enum { LAYERS = 12, LONG = 60, SHORT = 24 };

struct shape_t {
  const char* name;
  int columns, channels, mode, gelu;
};
static const shape_t shapes[] = {{"query, key, value", 2304, 768, PRODUCT_NORMALISE, 0},
                                 {"output", 768, 768, PRODUCT_RESIDUAL, 0},
                                 {"first of MLP", 3072, 768, PRODUCT_NORMALISE, 1},
                                 {"second of MLP", 768, 3072, PRODUCT_RESIDUAL, 0}};

/* The same formula in float64 from the same weights, one thread an output; moments over the row
 * itself. */
static __global__ void reference(product_step_t step, const half* raw_weights, double* out) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  const half* normalised = step.mode == PRODUCT_NORMALISE ? step.input : step.residual;
  const int width = step.mode == PRODUCT_NORMALISE ? step.channels : step.columns;
  double mean = 0, square = 0, sum = 0, weight_sum = 0;
  for (int i = 0; i < width; i++) {
    const double v = __half2float(normalised[row * width + i]);
    mean += v / width;
    square += v * v / width;
  }
  const double deviation = rsqrt(square - mean * mean + 1e-12);
  for (int k = 0; k < step.channels; k++) {
    const double w = __half2float(raw_weights[(size_t)column * step.channels + k]);
    sum += w * (double)__half2float(step.input[row * step.channels + k]);
    weight_sum += w;
  }
  if (step.mode == PRODUCT_NORMALISE) {
    sum = deviation * (sum - mean * weight_sum) + step.bias[column];
    if (step.gelu) {
      sum = 0.5 * sum * (1 + erf(sum * 0.70710678118654752));
    }
  } else {
    const double r = __half2float(step.residual[row * step.columns + column]);
    sum += step.bias[column] + (r - mean) * deviation * step.gamma[column] + step.beta[column];
  }
  out[row * step.columns + column] = sum;
}

struct data_t {
  half *raw[LAYERS], *packed[LAYERS];
  product_step_t step[LAYERS];
  double* expected;
  float2 *statistics_out, *statistics_expected;
};

static data_t make_data(const shape_t& shape) {
  data_t data;
  const size_t n = (size_t)shape.columns * shape.channels;
  const int width = 768;
  half* input = random_half((size_t)PRODUCT_ROWS * shape.channels, 1.7f, 7);
  half* residual = random_half((size_t)PRODUCT_ROWS * width, 1.7f, 8);
  half* output = device_new<half>((size_t)PRODUCT_ROWS * shape.columns);
  float2* statistics = device_new<float2>(48 * PRODUCT_ROWS);
  partial_statistics<<<48, PRODUCT_ROWS>>>(shape.mode == PRODUCT_NORMALISE ? input : residual,
                                           width, 16, statistics);
  data.statistics_out = device_new<float2>(192 * PRODUCT_ROWS);
  const float* bias = random_float(shape.columns, 0, 0.5f, 9);
  const float* gamma = random_float(shape.columns, 1, 0.3f, 10);
  const float* beta = random_float(shape.columns, 0, 0.3f, 11);
  for (int l = 0; l < LAYERS; l++) {
    data.raw[l] = random_half(n, 1.2f * sqrtf(3.f / shape.channels), 20 + l);
    data.packed[l] = device_new<half>(n);
    pack_product_weights<<<(n + 255) / 256, 256>>>(data.packed[l], data.raw[l], shape.columns,
                                                   shape.channels);
    float* sums = device_new<float>(shape.columns);
    weight_sums<<<shape.columns, 32>>>(data.raw[l], shape.channels, sums);
    product_step_t& step = data.step[l];
    step = {shape.columns, shape.channels, shape.mode, shape.gelu};
    step.input = input;
    step.weights = data.packed[l];
    step.bias = bias;
    step.weight_sums = sums;
    step.statistics_count = 48;
    step.output = output;
    if (shape.mode == PRODUCT_NORMALISE) {
      step.input_statistics = statistics;
    } else {
      step.residual = residual;
      step.residual_statistics = statistics;
      step.gamma = gamma;
      step.beta = beta;
      step.output_statistics = data.statistics_out;
    }
  }
  data.expected = device_new<double>((size_t)PRODUCT_ROWS * shape.columns);
  reference<<<dim3(shape.columns / 128, PRODUCT_ROWS), 128>>>(data.step[0], data.raw[0],
                                                              data.expected);
  CHECK(cudaDeviceSynchronize());
  return data;
}

/* Largest difference between the statistics that left and those of the output, relative to a row's
 * size. */
static double statistics_error(const data_t& data, const product_step_t& step, int parts) {
  std::vector<float2> got(parts * PRODUCT_ROWS);
  std::vector<double> y((size_t)PRODUCT_ROWS * step.columns);
  CHECK(cudaMemcpy(got.data(), data.statistics_out, got.size() * sizeof(float2),
                   cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(y.data(), data.expected, y.size() * 8, cudaMemcpyDeviceToHost));
  double worst = 0;
  for (int row = 0; row < PRODUCT_ROWS; row++) {
    double sum = 0, squares = 0, want_sum = 0, want = 0;
    for (int i = 0; i < parts; i++) {
      sum += got[i * PRODUCT_ROWS + row].x;
      squares += got[i * PRODUCT_ROWS + row].y;
    }
    for (int i = 0; i < step.columns; i++) {
      want_sum += y[(size_t)row * step.columns + i];
      want += y[(size_t)row * step.columns + i] * y[(size_t)row * step.columns + i];
    }
    const double error = std::max(fabs(squares / want - 1), fabs(sum - want_sum) / step.columns);
    worst = error <= worst ? worst : error;
  }
  return worst;
}

/* Step i of a chain; it brings the weights of the step `distance` behind it into L2. */
static product_launch_t launch_of(const data_t& data, const product_choice_t& choice, int i,
                                  int distance) {
  product_launch_t launch = {};
  product_step_t step = data.step[i % LAYERS];
  if (distance) {
    step.ahead = data.packed[(i + distance) % LAYERS];
    step.ahead_bytes = (size_t)step.columns * step.channels * 2;
  }
  product_plan(step, choice, &launch);
  return launch;
}

struct variant_t {
  bool dependent = true;
  void* evict = nullptr;
  bool late_weights = false;
  int skip = 0, distance = 0;
};

static spread_t chain(const data_t& data, const product_choice_t& choice, int length, int count,
                      const variant_t& v) {
  graph_t graph([&](cudaStream_t stream) {
    for (int i = 0; i < length; i++) {
      product_launch_t launch = launch_of(data, choice, i, v.distance);
      launch.arguments.late_weights = v.late_weights;
      launch.arguments.skip = v.skip;
      product_enqueue(launch, v.dependent, stream);
    }
  });
  return graph.time(count, v.evict, 256 << 20);
}

static spread_t one_of_chain(const data_t& data, const product_choice_t& choice,
                             const variant_t& v) {
  const spread_t a = chain(data, choice, SHORT, 31, v), b = chain(data, choice, LONG, 31, v);
  const double n = LONG - SHORT;
  return {(b.median - a.median) / n, (b.low - a.median) / n, (b.high - a.median) / n};
}

/* Where a block's time goes: medians over the blocks of step 6 to 20 of a chain. */
static void print_stamps(const data_t& data, const product_choice_t& choice, const char* what,
                         int skip, bool late_weights, int distance) {
  enum { STEPS = 24, BLOCKS = 272, STAMPS = PRODUCT_STAMPS };
  unsigned long long* stamps = device_new<unsigned long long>(STEPS * BLOCKS * STAMPS);
  CHECK(cudaMemset(stamps, 0, STEPS * BLOCKS * STAMPS * 8));
  {
    graph_t graph([&](cudaStream_t stream) {
      for (int i = 0; i < STEPS; i++) {
        product_launch_t launch = launch_of(data, choice, i, distance);
        launch.arguments.stamps = stamps + i * BLOCKS * STAMPS;
        launch.arguments.skip = skip;
        launch.arguments.late_weights = late_weights;
        product_enqueue(launch, true, stream);
      }
    });
    graph.time(3);
  }
  std::vector<unsigned long long> t(STEPS * BLOCKS * STAMPS);
  CHECK(cudaMemcpy(t.data(), stamps, t.size() * 8, cudaMemcpyDeviceToHost));
  std::vector<double> phase[6], spread, gap, whole, asked, added;
  unsigned long long previous_end = 0;
  for (int i = 6; i < 20; i++) {
    unsigned long long first_go = ~0ull, last_go = 0, end = 0;
    for (int b = 0; b < BLOCKS; b++) {
      const unsigned long long* s = &t[(i * BLOCKS + b) * STAMPS];
      if (!s[7]) {
        continue;
      }
      for (int k = 0; k < 6; k++) {
        phase[k].push_back((double)(s[k + 1] - s[k]));
      }
      asked.push_back((double)(s[9] - s[8]));
      added.push_back((double)(s[11] - s[10]));
      first_go = std::min(first_go, s[1]);
      last_go = std::max(last_go, s[1]);
      end = std::max(end, s[6]);
    }
    spread.push_back((double)(last_go - first_go));
    whole.push_back((double)(end - first_go));
    if (previous_end) {
      gap.push_back((double)first_go - (double)previous_end);
    }
    previous_end = end;
  }
  printf(
      "    %s, ns: start to go %.0f, first stage %.0f, products %.0f, exchange %.0f, moments %.0f, "
      "epilogue %.0f; go to all "
      "asked %.0f, statistics added %.0f | last end to first go %.0f, go spread %.0f, first go to "
      "last end %.0f\n",
      what, spread_of(phase[0]).median, spread_of(phase[1]).median, spread_of(phase[2]).median,
      spread_of(phase[3]).median, spread_of(phase[4]).median, spread_of(phase[5]).median,
      spread_of(asked).median, spread_of(added).median, spread_of(gap).median,
      spread_of(spread).median, spread_of(whole).median);
  CHECK(cudaFree(stamps));
}

/* A few values beside what they should be, for who looks for the mistake. */
static void print_samples(const product_step_t& step, const double* expected) {
  for (int row : {0, 1, 8, 16, 64, 127}) {
    for (int column : {0, 1, 2, 4, 8, 16, 33}) {
      half y;
      double want;
      CHECK(cudaMemcpy(&y, step.output + (size_t)row * step.columns + column, 2,
                       cudaMemcpyDeviceToHost));
      CHECK(cudaMemcpy(&want, expected + (size_t)row * step.columns + column, 8,
                       cudaMemcpyDeviceToHost));
      printf("  [%d][%d] %.3f/%.3f", row, column, (double)(float)y, want);
    }
    printf("\n");
  }
}

static void print_best(const data_t& data, const product_choice_t& choice, void* evict) {
  auto us = [&](const variant_t& v) { return one_of_chain(data, choice, v).median; };
  const spread_t t = one_of_chain(data, choice, {});
  printf(
      "  %s: %.2f us (%.2f-%.2f), plain edges %.2f, cold %.2f, weights after the wait %.2f; "
      "brought to L2 1, 2, 3 ahead "
      "%.2f %.2f %.2f; without products %.2f, input %.2f, moments %.2f, exchange %.2f, all %.2f\n",
      product_name(choice).c_str(), t.median, t.low, t.high, us({false}), us({true, evict}),
      us({true, nullptr, true}), us({true, nullptr, false, 0, 1}), us({true, nullptr, false, 0, 2}),
      us({true, nullptr, false, 0, 3}), us({true, nullptr, false, PRODUCT_SKIP_PRODUCTS}),
      us({true, nullptr, false, PRODUCT_SKIP_INPUT}),
      us({true, nullptr, false, PRODUCT_SKIP_MOMENTS}),
      us({true, nullptr, false, PRODUCT_SKIP_EXCHANGE}), us({true, nullptr, false, 15}));
  print_stamps(data, choice, "as it is", 0, false, 0);
  print_stamps(data, choice, "brought to L2 2 ahead", 0, false, 2);
  print_stamps(data, choice, "weights after the wait", 0, true, 0);
  print_stamps(data, choice, "without moments", PRODUCT_SKIP_MOMENTS, false, 0);
}

static void compare_with_library(const data_t& data, const shape_t& shape) {
  cublasLtHandle_t handle;
  CHECK_BLAS(cublasLtCreate(&handle));
  {
    const half* bias = random_half(shape.columns, 0.5f, 9);
    blas_product_t product(handle, PRODUCT_ROWS, shape.columns, shape.channels,
                           shape.gelu ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_BIAS, bias);
    std::vector<std::pair<double, std::string>> times;
    for (const cublasLtMatmulHeuristicResult_t& result : product.heuristics(8)) {
      const spread_t t = step_time([&](cudaStream_t stream, int i) {
        CHECK_BLAS(product.run(&result.algo, data.raw[i % LAYERS], data.step[0].input,
                               data.step[0].residual, data.step[0].output, stream));
      });
      times.push_back({t.median, algorithm_name(result.algo)});
    }
    std::sort(times.begin(), times.end());
    printf("  LIBRARY cuBLASLt %zu: best %.2f us (%s), of %zu, slowest %.2f\n",
           cublasLtGetVersion(), times[0].first, times[0].second.c_str(), times.size(),
           times.back().first);
  }
  cublasLtDestroy(handle);
}

static int run_shape(const shape_t& shape, bool only_check, void* evict) {
  const data_t data = make_data(shape);
  std::vector<product_choice_t> right;
  int wrong = 0;
  double worst = 0;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const size_t size = (size_t)PRODUCT_ROWS * shape.columns;
  for (product_choice_t choice : product_choices(data.step[0], only_check)) {
    product_launch_t launch = {};
    product_plan(data.step[0], choice, &launch);
    CHECK(cudaMemset(data.step[0].output, 0xff, size * 2));
    CHECK(cudaMemset(data.statistics_out, 0xff, 192 * PRODUCT_ROWS * sizeof(float2)));
    product_enqueue(launch, true, stream);
    wait_or_die(stream, product_name(choice).c_str());
    double error = relative_error(data.step[0].output, data.expected, size);
    if (shape.mode == PRODUCT_RESIDUAL) {
      const double e =
          statistics_error(data, data.step[0], product_statistics(choice, shape.columns));
      error = e < 1e-3 ? error : INFINITY;
    }
    if (!(error < 1e-3)) { /* fp16 output alone rounds by 2e-4 */
      printf("WRONG %s %s: %.2e\n", shape.name, product_name(choice).c_str(), error);
      if (wrong++ < 2) {
        print_samples(data.step[0], data.expected);
      }
      continue;
    }
    worst = std::max(worst, error);
    if (!only_check) {
      choice.us = chain(data, choice, 36, 9, {}).median / 36;
    }
    right.push_back(choice);
  }
  std::sort(right.begin(), right.end(),
            [](const product_choice_t& a, const product_choice_t& b) { return a.us < b.us; });
  printf(
      "SHAPE %s 128x%dx%d: %zu choices right (worst error %.1e), %d wrong; floor by bytes %.2f us "
      "at 4.3 TB/s, 3.0 TB/s %.2f\n",
      shape.name, shape.columns, shape.channels, right.size(), worst, wrong,
      shape.columns * 2.0 * shape.channels / 4.3e6, shape.columns * 2.0 * shape.channels / 3.0e6);
  if (!only_check && !right.empty()) {
    std::vector<int> seen; /* the best of each instance */
    for (const product_choice_t& choice : right) {
      if (!std::count(seen.begin(), seen.end(), choice.instance)) {
        seen.push_back(choice.instance);
        print_best(data, choice, evict);
      }
    }
    compare_with_library(data, shape);
  }
  CHECK(cudaStreamDestroy(stream));
  return wrong;
}

int main(int argc, char** argv) {
  print_device();
  product_setup();
  const bool only_check = argc > 1 && !strcmp(argv[1], "--check");
  const char* wanted = argc > 1 + only_check ? argv[1 + only_check] : "";
  void* evict = only_check ? nullptr : device_new<uint8_t>(256 << 20);
  int wrong = 0;
  for (const shape_t& shape : shapes) {
    if (strstr(shape.name, wanted)) {
      wrong += run_shape(shape, only_check, evict);
    }
  }
  return wrong != 0;
}
