/*
 * What convolutions take: for the page of figures, no test.
 *
 *   device_measure_convolutions DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so
 *                               [BATCH [all|best [FIRST [f16|tf32 [NAME]]]]]
 *
 * ResNet-50's layers and some of MobileNet's, f16 with bias and ReLU, where the network has one
 * with a residual, or f32 in tf32 (depthwise in f32); from the 31st on those of few channels, which
 * are for large batches, with SiLU or bounds; then U-Net's: the fastest tactic of the plugin, or
 * each. NAME restricts them to those whose names contain it, 3x3 say. A chain runs over the same
 * tensors again and again, so small ones are in the cache.
 */
#include <string.h>

#include "convolution_case.h"
#include "measure_chain.h"

typedef struct layer_t {
  int64_t channels;
  int64_t outputs;
  int64_t extent; /* of x */
  int64_t kernel;
  int64_t stride;
  int64_t groups;
  int64_t times; /* in the network */
  convolution_slot_t slot;
} layer_t;

static const layer_t layers[] = {
    {3, 64, 224, 7, 2, 1, 1, SLOT_BIAS_RELU},
    {64, 64, 56, 1, 1, 1, 1, SLOT_BIAS_RELU},
    {64, 64, 56, 3, 1, 1, 3, SLOT_BIAS_RELU},
    {64, 256, 56, 1, 1, 1, 1, SLOT_BIAS_RELU},
    {64, 256, 56, 1, 1, 1, 3, SLOT_RESIDUAL_BIAS_RELU},
    {256, 64, 56, 1, 1, 1, 2, SLOT_BIAS_RELU},
    {256, 128, 56, 1, 1, 1, 1, SLOT_BIAS_RELU},
    {128, 128, 56, 3, 2, 1, 1, SLOT_BIAS_RELU},
    {256, 512, 56, 1, 2, 1, 1, SLOT_BIAS_RELU},
    {128, 512, 28, 1, 1, 1, 4, SLOT_RESIDUAL_BIAS_RELU},
    {512, 128, 28, 1, 1, 1, 3, SLOT_BIAS_RELU},
    {128, 128, 28, 3, 1, 1, 3, SLOT_BIAS_RELU},
    {512, 256, 28, 1, 1, 1, 1, SLOT_BIAS_RELU},
    {256, 256, 28, 3, 2, 1, 1, SLOT_BIAS_RELU},
    {512, 1024, 28, 1, 2, 1, 1, SLOT_BIAS_RELU},
    {256, 1024, 14, 1, 1, 1, 6, SLOT_RESIDUAL_BIAS_RELU},
    {1024, 256, 14, 1, 1, 1, 5, SLOT_BIAS_RELU},
    {256, 256, 14, 3, 1, 1, 5, SLOT_BIAS_RELU},
    {1024, 512, 14, 1, 1, 1, 1, SLOT_BIAS_RELU},
    {512, 512, 14, 3, 2, 1, 1, SLOT_BIAS_RELU},
    {1024, 2048, 14, 1, 2, 1, 1, SLOT_BIAS_RELU},
    {512, 2048, 7, 1, 1, 1, 3, SLOT_RESIDUAL_BIAS_RELU},
    {2048, 512, 7, 1, 1, 1, 2, SLOT_BIAS_RELU},
    {512, 512, 7, 3, 1, 1, 2, SLOT_BIAS_RELU},
    {32, 32, 112, 3, 1, 32, 0, SLOT_BIAS_RELU},
    {96, 96, 112, 3, 2, 96, 0, SLOT_BIAS_RELU},
    {192, 192, 28, 3, 1, 192, 0, SLOT_BIAS_RELU},
    {384, 384, 14, 3, 1, 384, 0, SLOT_BIAS_RELU},
    {960, 960, 7, 3, 1, 960, 0, SLOT_BIAS_RELU},
    {72, 72, 56, 5, 2, 72, 0, SLOT_BIAS_RELU},
    {672, 672, 14, 5, 1, 672, 0, SLOT_BIAS_RELU},
    /* EfficientNet-B0's and MobileNet-v2's of few channels: number 31, and so on. */
    {16, 96, 112, 1, 1, 1, 0, SLOT_SWISH},
    {24, 144, 56, 1, 1, 1, 0, SLOT_SWISH},
    {40, 240, 28, 1, 1, 1, 0, SLOT_SWISH},
    {80, 480, 14, 1, 1, 1, 0, SLOT_SWISH},
    {112, 672, 14, 1, 1, 1, 0, SLOT_SWISH},
    {16, 96, 112, 1, 1, 1, 0, SLOT_BOUNDS},
    {24, 144, 56, 1, 1, 1, 0, SLOT_BOUNDS},
    {32, 192, 28, 1, 1, 1, 0, SLOT_BOUNDS},
    {64, 384, 14, 1, 1, 1, 0, SLOT_BOUNDS},
    {96, 576, 14, 1, 1, 1, 0, SLOT_BOUNDS},
    {32, 16, 112, 1, 1, 1, 0, SLOT_NOTHING},
    {96, 24, 56, 1, 1, 1, 0, SLOT_NOTHING},
    {144, 24, 56, 1, 1, 1, 0, SLOT_RESIDUAL},
    {144, 40, 28, 1, 1, 1, 0, SLOT_NOTHING},
    /* U-Net's of 256 x 256: number 45, and so on. */
    {32, 32, 256, 3, 1, 1, 0, SLOT_BIAS_RELU},
    {64, 32, 256, 3, 1, 1, 0, SLOT_BIAS_RELU},
    {32, 64, 128, 3, 1, 1, 0, SLOT_BIAS_RELU},
    {64, 64, 128, 3, 1, 1, 0, SLOT_BIAS_RELU},
    {128, 64, 128, 3, 1, 1, 0, SLOT_BIAS_RELU},
    {64, 128, 64, 3, 1, 1, 0, SLOT_BIAS_RELU},
    {128, 128, 64, 3, 1, 1, 0, SLOT_BIAS_RELU},
    {256, 128, 64, 3, 1, 1, 0, SLOT_BIAS_RELU},
    {256, 256, 32, 3, 1, 1, 0, SLOT_BIAS_RELU},
    {512, 256, 32, 3, 1, 1, 0, SLOT_BIAS_RELU},
    {256, 512, 16, 3, 1, 1, 0, SLOT_BIAS_RELU},
    {512, 512, 16, 3, 1, 1, 0, SLOT_BIAS_RELU}};

typedef struct timed_t {
  double seconds;
  int launches;
} timed_t;

static void use(const kernel_life_t* life, void* user) {
  timed_t* timed = user;
  timed->seconds = measure_step(life, timed->launches / 5, timed->launches);
}

static tenon_dtype_t dtype = TENON_DTYPE_FLOAT16;

static convolution_case_t case_of(const layer_t* layer, int64_t batch) {
  static const char* const behind[SLOT_BOUNDS + 1] = {[SLOT_RESIDUAL_BIAS_RELU] = " + residual",
                                                      [SLOT_RESIDUAL] = " + residual",
                                                      [SLOT_SWISH] = " SiLU",
                                                      [SLOT_BOUNDS] = " clip"};
  const int64_t pad = (layer->kernel - 1) / 2;
  const bool adds = layer->slot == SLOT_BIAS_RELU || layer->slot == SLOT_RESIDUAL_BIAS_RELU;
  convolution_case_t c = {.dtype = dtype,
                          .spatial = 2,
                          .batch = batch,
                          .channels = layer->channels,
                          .outputs = layer->outputs,
                          .groups = layer->groups,
                          .extent = {layer->extent, layer->extent},
                          .kernel = {layer->kernel, layer->kernel},
                          .stride = {layer->stride, layer->stride},
                          .dilation = {1, 1},
                          .pads = {pad, pad, pad, pad},
                          .auto_pad = "explicit",
                          .has_bias = !adds,
                          .slot = layer->slot,
                          .is_constant = true,
                          .is_unjudged = true,
                          .seed = 2};
  (void)snprintf(c.name, sizeof(c.name), "%lldx%lld/%lld %lld>%lld @%lld%s%s",
                 (long long)layer->kernel, (long long)layer->kernel, (long long)layer->stride,
                 (long long)layer->channels, (long long)layer->outputs, (long long)layer->extent,
                 layer->groups > 1 ? " depthwise" : "",
                 behind[layer->slot] == NULL ? "" : behind[layer->slot]);
  return c;
}

/* Seconds of the fastest; 0: none runs. */
static double measure(const layer_t* layer, int64_t batch, bool is_loud) {
  static made_t made;
  static char best_name[96];
  const convolution_case_t c = case_of(layer, batch);
  double best = 0;
  const tenon_kernel_t* kernel = NULL;
  tenon_refusal_t refusal;
  (void)convolution_make(&c, &made);
  for (uint32_t nth = 0; (kernel = kernel_find_nth(&made.fake, nth)) != NULL; nth++) {
    const uint32_t count =
        kernel_takes(kernel, &made.fake, &refusal) ? kernel_take_tactic(kernel, &made.fake, 0) : 0;
    for (uint32_t k = 0; k < count; k++) {
      timed_t timed = {.launches = batch > 1 ? 20 : 100};
      (void)kernel_take_tactic(kernel, &made.fake, k);
      if (convolution_narrows(&made.fake.tactic) ||
          convolution_lend(&made, kernel, use, &timed) != TENON_OK) {
        continue;
      }
      if (is_loud) {
        (void)printf("    %7.2f  %5.2f  %s\n", timed.seconds * 1e6,
                     made.fake.tactic.estimate_seconds * 1e6, made.fake.tactic.name);
      }
      if (best == 0 || timed.seconds < best) {
        best = timed.seconds;
        (void)snprintf(best_name, sizeof(best_name), "%s", made.fake.tactic.name);
      }
    }
  }
  (void)printf("%-36s %lld x %7.2f  %s\n", c.name, (long long)layer->times, best * 1e6,
               best == 0 ? "nobody" : best_name);
  (void)fflush(stdout);
  fake_done(&made.fake);
  return best;
}

int main(int argument_count, char** arguments) {
  if (argument_count < 4) {
    (void)fprintf(stderr, "device_measure_convolutions DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so\n");
    return OPENED_FAILED;
  }
  const int status = opened_start(&kernel_device, arguments[1], arguments[2], 0);
  if (status != 0) {
    return status;
  }
  if (!opened_start_plugin(arguments[3], &kernel_plugin, &kernel_plugin_state)) {
    return OPENED_FAILED;
  }
  const int64_t batch = argument_count > 4 ? strtoll(arguments[4], NULL, 10) : 1;
  double all = 0;
  kernel_is_quiet = true;
  const bool is_loud = argument_count > 5 && strcmp(arguments[5], "all") == 0;
  const size_t first = argument_count > 6 ? strtoul(arguments[6], NULL, 10) : 0;
  if (argument_count > 7 && strcmp(arguments[7], "tf32") == 0) {
    dtype = TENON_DTYPE_FLOAT32;
  }
  const char* name = argument_count > 8 ? arguments[8] : "";
  for (size_t k = first; k < sizeof(layers) / sizeof(*layers); k++) {
    const convolution_case_t c = case_of(&layers[k], batch);
    if (strstr(c.name, name) == NULL) {
      continue;
    }
    all += (double)layers[k].times * measure(&layers[k], batch, is_loud);
  }
  (void)printf("ResNet-50's convolutions: %.1f us\n", all * 1e6);
  kernel_free_scratch();
  opened_stop(&kernel_device);
  opened_stop_plugin(kernel_plugin, kernel_plugin_state);
  return 0;
}
