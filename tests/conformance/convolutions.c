/*
 * Runs convolutions and their transposes by the kernels of a plugin for a device of another one, or
 * of its own, and compares with plugins/reference.
 *
 *   device_convolutions DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so [RANDOM_CASES [FIRST [loud]]]
 *
 * Exits with 77 where there is no such device, or no library for the kernels.
 */
#include "convolution_case.h"

static uint32_t state = 1;
static uint32_t draw(uint32_t below) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % below;
}
static int64_t between(uint32_t low, uint32_t high) {
  return low + draw(high - low + 1);
}

/* A 3x3 convolution of planes, to be changed. */
static convolution_case_t plain(const char* name) {
  convolution_case_t c = {.dtype = TENON_DTYPE_FLOAT32,
                          .spatial = 2,
                          .batch = 2,
                          .channels = 8,
                          .outputs = 12,
                          .groups = 1,
                          .extent = {9, 11, 5},
                          .kernel = {3, 3, 3},
                          .stride = {1, 1, 1},
                          .dilation = {1, 1, 1},
                          .pads = {1, 1, 1, 1},
                          .auto_pad = "explicit",
                          .is_constant = convolution_is_own,
                          .seed = 1};
  (void)snprintf(c.name, sizeof(c.name), "%s", name);
  return c;
}

static void check_depthwise(void) {
  convolution_case_t c = plain("depthwise, bias, bounds");
  c.groups = c.channels = c.outputs = 16;
  c.has_bias = true;
  c.slot = convolution_is_own ? SLOT_BOUNDS : SLOT_CLIP;
  convolution_check(&c);
  c.dtype = TENON_DTYPE_FLOAT16; /* fewer tactics: it takes long */
  c.batch = 1;
  c.extent[0] = c.extent[1] = 187;
  (void)snprintf(c.name, sizeof(c.name), "depthwise, more pixels than are done at once");
  convolution_check(&c);
  c = plain("depthwise, padding alone");
  c.groups = c.channels = c.outputs = 16;
  c.extent[0] = 0;
  c.pads[0] = c.pads[2] = 2;
  c.has_bias = true;
  convolution_check(&c);
}

static void check_named(void) {
  convolution_case_t c = plain("3x3");
  convolution_check(&c);
  c = plain("one channel, one output");
  c.batch = c.channels = c.outputs = 1;
  convolution_check(&c);
  c = plain("padding behind alone, every second");
  c.pads[0] = c.pads[1] = 0;
  c.stride[0] = c.stride[1] = 2;
  c.extent[0] = c.extent[1] = 12;
  convolution_check(&c);
  c = plain("transposed, 4x4/2");
  c.kind = KIND_TRANSPOSED;
  c.kernel[0] = c.kernel[1] = 4;
  c.stride[0] = c.stride[1] = 2;
  convolution_check(&c);
  c = plain("transposed, as many as strides, one more");
  c.kind = KIND_TRANSPOSED;
  c.auto_pad = "same_upper";
  c.stride[0] = c.stride[1] = 2;
  c.grown[0] = c.grown[1] = 1;
  convolution_check(&c);
  c = plain("maximum");
  c.kind = KIND_MAX_POOL;
  c.outputs = c.channels;
  convolution_check(&c);
  c.kind = KIND_AVERAGE_POOL;
  (void)snprintf(c.name, sizeof(c.name), "average");
  convolution_check(&c);
  c = plain("values that are no numbers");
  c.not_numbers = true;
  c.slot = SLOT_BIAS_RELU;
  convolution_check(&c);
  c = plain("a batch of nothing");
  c.batch = 0;
  convolution_check(&c);
  for (int slot = SLOT_NOTHING; slot < SLOT_COUNT; slot++) {
    c = plain("");
    c.slot = (convolution_slot_t)slot;
    c.has_bias = slot % 2 != 0 || slot == SLOT_SIGMOID;
    (void)snprintf(c.name, sizeof(c.name), "slot %d", slot);
    convolution_check(&c);
  }
}

/* What they take in tf32: pieces of four channels, few of them at any width and stride. */
static void check_own_single(void) {
  static const struct {
    const char* name;
    int64_t channels;
    int64_t kernel[2];
    int64_t stride;
    int64_t dilation;
  } all[] = {{"own 1x1 of 300", 300, {1, 1}, 2, 1},      {"own 3x3 of 36", 36, {3, 3}, 1, 1},
             {"own 3x2 of 4, dilated", 4, {3, 2}, 1, 2}, {"own stem of 4", 4, {7, 7}, 2, 1},
             {"own stem of 3", 3, {2, 4}, 1, 1},         {"own stem of 1", 1, {1, 1}, 3, 1}};
  for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++) {
    convolution_case_t c = plain(all[k].name);
    c.is_constant = c.is_single = true;
    c.channels = all[k].channels;
    c.outputs = 40;
    c.has_bias = true;
    c.slot = k % 2 == 0 ? SLOT_RESIDUAL : SLOT_BOUNDS;
    c.extent[0] = 17;
    c.extent[1] = 23;
    for (uint32_t a = 0; a < 2; a++) {
      c.kernel[a] = all[k].kernel[a];
      c.stride[a] = all[k].stride;
      c.dilation[a] = all[k].dilation;
      c.pads[a] = c.pads[a + 2] = all[k].kernel[a] / 2;
    }
    convolution_check(&c);
  }
}

/* Transposed, windows that touch and do not overlap: each pixel becomes one. */
static void check_own_spread(void) {
  static const struct {
    const char* name;
    int64_t channels;
    int64_t outputs;
    int64_t kernel[2];
    uint32_t spatial;
    convolution_slot_t slot;
  } all[] = {{"own transposed, 2x2 of 64", 64, 32, {2, 2}, 2, SLOT_BIAS_RELU},
             {"own transposed, 3x2 of 24", 24, 20, {3, 2}, 2, SLOT_RESIDUAL},
             {"own transposed, 1x3 of 8", 8, 4, {1, 3}, 2, SLOT_NOTHING},
             {"own transposed, a line", 136, 72, {4, 1}, 1, SLOT_SWISH},
             {"own transposed, no whole piece", 12, 8, {2, 2}, 2, SLOT_NOTHING},
             {"own transposed, three outputs", 16, 3, {2, 2}, 2, SLOT_NOTHING}};
  static const tenon_dtype_t dtypes[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_FLOAT32,
                                         TENON_DTYPE_BFLOAT16};
  for (size_t k = 0; k < sizeof(all) / sizeof(*all); k++) {
    convolution_case_t c = plain(all[k].name);
    c.kind = KIND_TRANSPOSED;
    c.is_constant = true;
    c.dtype = dtypes[k % 3];
    c.spatial = all[k].spatial;
    c.channels = all[k].channels;
    c.outputs = all[k].outputs;
    c.slot = all[k].slot;
    c.has_bias = c.slot == SLOT_NOTHING;
    for (uint32_t a = 0; a < 2; a++) {
      c.kernel[a] = c.stride[a] = all[k].kernel[a];
    }
    memset(c.pads, 0, sizeof(c.pads));
    convolution_check(&c);
  }
}

/* What own kernels take: 1x1, windows with margins, few channels; sums in several rounds. */
static void check_own(void) {
  static const tenon_dtype_t dtypes[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16,
                                         TENON_DTYPE_FLOAT32};
  for (int kind = 0; kind < 5; kind++) {
    static const char* const names[] = {"own 1x1", "own 3x3", "own stem", "own 1x1 of 600",
                                        "own 5x3 of 24, dilated"};
    convolution_case_t c = plain(names[kind]);
    c.is_constant = true;
    c.dtype = dtypes[kind % 3];
    c.batch = 1 + kind % 2;
    c.channels = kind == 2 ? 3 : kind == 3 ? 600 : kind == 4 ? 24 : 64;
    c.outputs = kind == 1 ? 64 : kind == 3 ? 37 : 48;
    c.has_bias = kind % 2 == 1;
    c.slot = kind % 2 == 0 ? SLOT_RESIDUAL_BIAS_RELU : SLOT_SWISH;
    c.kernel[0] = c.kernel[1] = kind == 0 || kind == 3 ? 1 : kind == 2 ? 7 : 3;
    c.pads[0] = c.pads[1] = c.pads[2] = c.pads[3] = kind == 2 ? 3 : kind == 3 ? 0 : 1;
    if (kind == 2) {
      c.extent[0] = 19;
      c.stride[0] = c.stride[1] = 2;
    }
    if (kind == 4) {
      c.kernel[0] = 5;
      c.dilation[1] = 2;
    }
    convolution_check(&c);
  }
  convolution_case_t c = plain("own, values that are no numbers");
  c.is_constant = c.not_numbers = true;
  c.dtype = TENON_DTYPE_FLOAT16;
  c.channels = 3;
  c.slot = SLOT_BIAS_RELU;
  convolution_check(&c);
  c.channels = 40;
  convolution_check(&c);
  c.dtype = TENON_DTYPE_FLOAT32;
  c.is_single = true;
  convolution_check(&c);
  c.channels = 3;
  convolution_check(&c);
}

/* Many pixels of few channels: by a stream too, in each type, with what may stand behind it. */
static void check_own_stream(void) {
  static const struct {
    int64_t channels;
    int64_t outputs;
    tenon_dtype_t dtype;
    convolution_slot_t slot;
    bool has_bias;
    bool is_single;
    bool is_line;
  } all[] = {{16, 96, TENON_DTYPE_FLOAT16, SLOT_SWISH, true, false, false},
             {24, 40, TENON_DTYPE_BFLOAT16, SLOT_RESIDUAL, true, false, true},
             {40, 144, TENON_DTYPE_FLOAT16, SLOT_BOUNDS, true, false, false},
             {96, 24, TENON_DTYPE_FLOAT16, SLOT_RESIDUAL_BIAS_RELU, false, false, false},
             {144, 8, TENON_DTYPE_BFLOAT16, SLOT_SWISH, true, false, true},
             {32, 72, TENON_DTYPE_FLOAT32, SLOT_HALF_RESIDUAL, true, false, false},
             {20, 32, TENON_DTYPE_FLOAT32, SLOT_NOTHING, false, true, false}};
  /* Of 3 images, and prepared for up to 8 with 3 as the optimum and bound to 1 or to 8. */
  for (size_t k = 0; k < 2 * sizeof(all) / sizeof(*all); k++) {
    const size_t row = k / 2;
    const bool is_open = k % 2 != 0;
    convolution_case_t c = plain("");
    c.is_constant = true;
    c.wanted_tactics = "stream";
    c.dtype = all[row].dtype;
    c.is_single = all[row].is_single;
    c.batch = !is_open ? 3 : row % 2 == 0 ? 1 : 8;
    c.batch_opt = is_open ? 3 : 0;
    c.batch_max = is_open ? 8 : 0;
    c.channels = all[row].channels;
    c.outputs = all[row].outputs;
    c.has_bias = all[row].has_bias;
    c.slot = all[row].slot;
    c.spatial = all[row].is_line ? 1 : 2; /* 2139 pixels: the last tile is not whole */
    c.extent[0] = all[row].is_line ? 713 : 23;
    c.extent[1] = 31;
    c.kernel[0] = c.kernel[1] = 1;
    c.pads[0] = c.pads[1] = c.pads[2] = c.pads[3] = 0;
    (void)snprintf(c.name, sizeof(c.name), "own stream, %lld>%lld, %lld images",
                   (long long)c.channels, (long long)c.outputs, (long long)c.batch);
    convolution_check(&c);
  }
}

/* Windows of more than one pixel by warpgroups: sums of one block to eight, repeated tiles, strips
 * narrower than the image, every stride and dilation, channels that fill no chunk. */
#define REPEATED "warpgroups, 64 x 32, repeated"
#define BLOCKS(outputs, count) "warpgroups, 64 x " #outputs ", " #count " blocks of the sum"
enum { F32 = TENON_DTYPE_FLOAT32, F16 = TENON_DTYPE_FLOAT16, BF16 = TENON_DTYPE_BFLOAT16 };
typedef struct window_case_t {
  int64_t channels;
  int64_t outputs;
  int64_t extent[2];
  int64_t kernel[2];
  int64_t stride[2];
  int64_t dilation[2];
  int64_t pads[4];
  convolution_slot_t slot;
  int dtype;
  int64_t batch;
  const char* tactic; /* one of these must run; NULL: of any tile */
} window_case_t;
static const window_case_t window_cases[] = {
    {64, 64, {9, 70}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, SLOT_RESIDUAL_BIAS_RELU, F16, 2, NULL},
    {32, 40, {5, 300}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, SLOT_SWISH, BF16, 1, REPEATED},
    {456, 72, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, SLOT_BIAS_RELU, F16, 3, BLOCKS(64, 8)},
    {256, 32, {14, 14}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, SLOT_RESIDUAL, F16, 1, BLOCKS(32, 4)},
    {72, 64, {13, 17}, {5, 3}, {1, 2}, {2, 3}, {4, 0, 3, 5}, SLOT_HALF_RESIDUAL, BF16, 2, NULL},
    {128, 24, {11, 12}, {2, 4}, {3, 2}, {1, 1}, {0, 2, 1, 0}, SLOT_NOTHING, F16, 1, BLOCKS(32, 2)},
    {8, 48, {19, 6}, {1, 7}, {1, 1}, {1, 1}, {0, 3, 0, 3}, SLOT_CLIP, F16, 1, BLOCKS(32, 1)},
    {24, 64, {12, 12}, {3, 3}, {1, 1}, {2, 2}, {2, 2, 2, 2}, SLOT_RESIDUAL, F32, 1, NULL}};

static void check_own_windows(void) {
  for (size_t k = 0; k < sizeof(window_cases) / sizeof(*window_cases); k++) {
    const window_case_t* w = &window_cases[k];
    convolution_case_t c = plain("");
    c.is_constant = true;
    c.wanted_tactics = "warpgroups";
    c.dtype = (tenon_dtype_t)w->dtype;
    c.batch = w->batch;
    c.channels = w->channels;
    c.outputs = w->outputs;
    c.has_bias = k % 2 == 0;
    c.slot = w->slot;
    memcpy(c.extent, w->extent, sizeof(w->extent));
    memcpy(c.kernel, w->kernel, sizeof(w->kernel));
    memcpy(c.stride, w->stride, sizeof(w->stride));
    memcpy(c.dilation, w->dilation, sizeof(w->dilation));
    memcpy(c.pads, w->pads, sizeof(w->pads));
    (void)snprintf(c.name, sizeof(c.name), "own window %d, %lld>%lld", (int)k,
                   (long long)c.channels, (long long)c.outputs);
    convolution_check(&c);
    if (w->tactic != NULL) {
      c.wanted_tactics = w->tactic;
      convolution_check(&c);
    }
  }
}

static void draw_window(convolution_case_t* c) {
  const uint32_t taps = draw(4) == 0 ? 1 : 4;
  static const char* const paddings[] = {"explicit",   "explicit",   "explicit",
                                         "same_upper", "same_lower", "valid"};
  c->auto_pad = paddings[draw(6)];
  for (uint32_t a = 0; a < c->spatial; a++) {
    c->kernel[a] = between(1, taps);
    c->stride[a] = between(1, 3);
    c->dilation[a] = draw(4) == 0 ? 2 : 1;
    const int64_t reach = (c->kernel[a] - 1) * c->dilation[a] + 1;
    c->extent[a] = reach + between(0, c->spatial == 3 ? 5 : 12);
    const int64_t most = c->kind == KIND_TRANSPOSED ? reach : reach + 1;
    c->pads[a] = between(0, 2) % most;
    c->pads[a + c->spatial] = draw(2) == 0 ? c->pads[a] : between(0, 2) % most;
    c->grown[a] = c->kind == KIND_TRANSPOSED && c->stride[a] > 1 ? draw((uint32_t)c->stride[a]) : 0;
  }
}

static void make_pool(convolution_case_t* c) {
  if (c->kind >= KIND_MAX_POOL) {
    c->groups = 1;
    c->outputs = c->channels;
    c->has_bias = false;
    c->counts_padding = draw(2) == 0;
    c->rounds_up = draw(3) == 0;
  }
}

static void check_random(uint32_t number) {
  static const tenon_dtype_t dtypes[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32,
                                         TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16};
  static const char* const kinds[] = {"", " transposed", " maximum", " average"};
  static const char* const names[] = {"f32", "f32", "f16", "bf16"};
  state = number * 7919u + 13u;
  convolution_case_t c = plain("");
  const uint32_t type = draw(4);
  c.dtype = dtypes[type];
  c.kind = draw(2) == 0 ? KIND_PLAIN : (convolution_kind_t)draw(4);
  c.spatial = 1 + draw(3);
  c.batch = between(1, 3);
  c.groups = draw(3) == 0 ? between(2, 4) : 1;
  c.channels = c.groups * (draw(2) == 0 ? between(1, 5) : 8);
  c.outputs = c.groups * (draw(2) == 0 ? between(1, 5) : 8);
  if (draw(5) == 0) {
    c.groups = c.channels = c.outputs = between(2, 40);
  }
  c.has_bias = draw(2) == 0;
  c.slot = draw(3) == 0 ? SLOT_NOTHING : (convolution_slot_t)draw(SLOT_COUNT);
  c.slot = c.kind != KIND_PLAIN ? SLOT_NOTHING : c.slot;
  /* Two biases are no form that is known. */
  c.has_bias = c.has_bias && c.slot != SLOT_BIAS_RELU && c.slot != SLOT_RESIDUAL_BIAS_RELU;
  make_pool(&c);
  if (convolution_is_own) { /* what they take, three times of four */
    c.is_constant = draw(8) != 0;
    const bool is_pool = c.kind >= KIND_MAX_POOL;
    c.kind = is_pool ? c.kind : KIND_PLAIN;
    c.groups = is_pool ? 1 : c.groups;
    c.spatial = c.spatial == 3 && draw(4) != 0 ? 2 : c.spatial;
    const int64_t piece = c.dtype == TENON_DTYPE_FLOAT32 ? 4 : 8;
    c.channels = c.groups > 1 || draw(4) == 0 ? c.channels : piece * between(1, 12);
    c.outputs = is_pool ? c.channels : c.groups > 1 ? c.outputs : between(1, 100);
  }
  c.seed = number;
  draw_window(&c);
  (void)snprintf(c.name, sizeof(c.name), "case %u: %s%s %uD, %lld>%lld of %lld, %s, slot %d%s",
                 number, names[type], kinds[c.kind], c.spatial, (long long)c.channels,
                 (long long)c.outputs, (long long)c.groups, c.auto_pad, (int)c.slot,
                 c.has_bias ? ", bias" : "");
  convolution_check(&c);
}

static int open_all(char** arguments) {
  const int status = opened_start(&kernel_device, arguments[1], arguments[2], 0);
  if (status != 0) {
    return status;
  }
  return opened_start_plugin(arguments[3], &kernel_plugin, &kernel_plugin_state) ? 0
                                                                                 : OPENED_FAILED;
}

int main(int argument_count, char** arguments) {
  if (argument_count < 4) {
    (void)fprintf(stderr, "device_convolutions DEVICE_PLUGIN.so DEVICE KERNEL_PLUGIN.so [CASES]\n");
    return OPENED_FAILED;
  }
  const int status = open_all(arguments);
  if (status != 0) {
    return status;
  }
  const uint32_t cases = argument_count > 4 ? (uint32_t)strtoul(arguments[4], NULL, 10) : 100;
  const uint32_t first = argument_count > 5 ? (uint32_t)strtoul(arguments[5], NULL, 10) : 1;
  convolution_is_loud = argument_count > 6;
  convolution_is_own = strcmp(arguments[1], arguments[3]) == 0;
  if (convolution_is_own) {
    check_own();
    check_own_single();
    check_own_spread();
    check_own_stream();
    check_own_windows();
    convolution_tactics = 2;
  }
  check_named();
  check_depthwise();
  for (uint32_t number = first; number < first + cases; number++) {
    check_random(number);
  }
  kernel_free_scratch();
  opened_stop(&kernel_device);
  opened_stop_plugin(kernel_plugin, kernel_plugin_state);
  (void)printf("%d tactics ran, %d were refused, %d failed\n", kernel_runs, convolution_refused,
               kernel_failures);
  return kernel_failures == 0 && kernel_runs > 0 ? 0 : OPENED_FAILED;
}
