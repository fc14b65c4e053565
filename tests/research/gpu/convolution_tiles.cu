/* 3x3 convolutions of ResNet-50 as implicit products with wgmma: which tiles win where, what the
 * bulk copy engine's im2col mode gives over copies of 16 bytes, how far it is to the limit, beside
 * all that cuDNN proposes.
 *
 *   convolution_tiles [batch] [seconds for each of cuDNN's graphs]
 *   convolution_tiles --check      for the sanitizers */
#include <cstring>

#include "convolution_choices.cuh"

static void add_all_instances() {
  std::vector<tile_instance_t>& all = instances();
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
  prepare_instances();
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
      } parts[] = {{"products", 1},
                   {"input", 2},
                   {"weights", 4},
                   {"input and weights", 6},
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
  add_all_instances();
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
