/*
 * Convolutions for small batches: what is taken, in what tiles, and their text. By tensor cores in
 * f16, bf16 or tf32, channels by themselves also in f32; sums in f32, any program in the slot. What
 * networks keep in f32 is taken too, by tactics that ask for narrower images, or for tf32.
 */
#include "convolution.h"

#include <stdio.h>
#include <string.h>

#include "helper/protocol.h"
#include "kernels.h"
#include "layouts.h"
#include "stream.h"
#include "texts.h"
#include "warpgroup.h"
#include "weights.h"

enum { INPUTS = 32, OLDEST_ARCHITECTURE = 80, NAME_CAPACITY = 96, STREAM_ALIGNMENT = 16 };

/* As what f32 is multiplied. */
static const char* const products[TENON_CUDA_PRODUCT_COUNT] = {"f16", "bf16", "f32", "tf32"};

/* ---- Matching ---- */

/* Multiplied in one type at least; false, and why not: of f32 in tf32, which asks for least. */
static bool is_taken(const tenon__cuda_problem_t* problem, const char** out_why) {
  static const uint8_t tried[] = {TENON_CUDA_PRODUCT_F16, TENON_CUDA_PRODUCT_BF16,
                                  TENON_CUDA_PRODUCT_F32, TENON_CUDA_PRODUCT_TF32};
  for (size_t k = 0; k < sizeof(tried); k++) {
    const tenon_dtype_t type =
        tenon__cuda_product_type((tenon__cuda_choice_t){.product = tried[k]});
    const char* why = NULL;
    if (tenon__cuda_kind_of(problem, tried[k], &why) != 0) {
      return true;
    }
    *out_why = type == problem->x->dtype ? why : *out_why;
  }
  return false;
}

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  tenon__cuda_problem_t problem;
  tenon__cuda_epilogue_t epilogue;
  const char* why = NULL;
  uint32_t reason = TENON_REFUSAL_SLOT;
  if (!tenon__cuda_problem_read(region, table, &problem, out_refusal)) {
    return 0;
  }
  if (!is_taken(&problem, &why)) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_SHAPE, why);
  }
  why = tenon__cuda_epilogue_make(&problem, problem.x->dtype, &epilogue, &reason);
  if (why != NULL || table->input_count(region) > INPUTS) {
    return tenon__cuda_refuse(out_refusal, reason, why == NULL ? "more than 32 inputs" : why);
  }
  return tenon__cuda_compiler_exists(state) ? 1
                                            : tenon__cuda_refuse(out_refusal, TENON_REFUSAL_LIBRARY,
                                                                 "CUDA's run-time compiler, NVRTC");
}

/* ---- Tactics ---- */

/* As what an empty slot stores. */
static tenon_dtype_t stored_type(tenon__cuda_choice_t choice) {
  return tenon__cuda_product_type(choice);
}

/* What is read at once. */
static uint32_t x_alignment(tenon__cuda_choice_t choice) {
  const uint32_t bytes =
      tenon__cuda_bytes(tenon__cuda_product_type(choice)) * tenon__cuda_choice_elements(choice);
  return choice.kind != TENON_CUDA_DEPTHWISE || bytes > 16 ? 16 : bytes;
}

/* Images and operands of their extents with channels innermost, of a stream without gaps; constants
 * are packed, or small. */
static void read_rules(const tenon__cuda_problem_t* p, tenon__cuda_choice_t choice,
                       tenon_argument_rule_t* rules, tenon_argument_rule_t* out_output) {
  const bool stream = choice.kind == TENON_CUDA_STREAMING;
  const tenon_argument_rule_t image = {
      .kind = p->is_product ? TENON_LAYOUT_ROW_MAJOR : TENON_LAYOUT_EXACT,
      .layout = p->is_product ? NULL : tenon__cuda_channels_last(p->y->rank),
      .alignment = stream ? STREAM_ALIGNMENT : 0,
      .flags = stream ? 0 : TENON_RULE_STRIDED};
  const tenon_argument_rule_t other = {.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
  const bool narrows = p->x->dtype != tenon__cuda_product_type(choice);
  for (uint32_t k = 0; k < p->table->input_count(p->region); k++) {
    const bool is_dense = tenon__cuda_operand_sort(p, k) == TENON_CUDA_OPERAND_DENSE;
    rules[k] = is_dense && k != p->w->input ? image : other;
  }
  if (choice.kind == TENON_CUDA_NARROW) {
    rules[p->x->input] = other;
  } else {
    rules[p->x->input] = image;
    rules[p->x->input].flags = 0;
    rules[p->x->input].dtype = narrows ? tenon__cuda_product_type(choice) : 0;
    rules[p->x->input].alignment = x_alignment(choice);
  }
  *out_output = image;
  out_output->dtype = narrows && p->program == NULL ? tenon__cuda_product_type(choice) : 0;
}

typedef struct emitter_t {
  const tenon__cuda_problem_t* problem;
  tenon_emit_t* emit;
  tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*);
} emitter_t;

static void write_name(tenon__cuda_choice_t choice, bool is_rounded, char out_name[NAME_CAPACITY]) {
  static const char* const kinds[] = {"", "pixels", "patch", "few channels"};
  const char* type = is_rounded ? products[choice.product] : "";
  const char* comma = is_rounded ? ", " : "";
  if (choice.kind == TENON_CUDA_DEPTHWISE) {
    (void)snprintf(out_name, NAME_CAPACITY, "depthwise, %u channels of %u x %u%s%s", choice.along,
                   choice.rows, choice.across, comma, type);
    return;
  }
  if (choice.kind == TENON_CUDA_STREAMING) {
    (void)snprintf(out_name, NAME_CAPACITY, "stream, %d x %d, %u steps, %u blocks of %u warps%s%s",
                   (int)tenon__cuda_choice_pixels(choice), (int)tenon__cuda_choice_outputs(choice),
                   choice.steps, choice.parts, choice.along, comma, type);
    return;
  }
  if (choice.kind == TENON_CUDA_WARPGROUP) {
    char how[32] = "repeated";
    if (!tenon__cuda_is_repeated(choice)) {
      (void)snprintf(how, sizeof(how), "%u blocks of the sum", choice.parts);
    }
    (void)snprintf(out_name, NAME_CAPACITY, "warpgroups, %d x %d, %s%s%s",
                   (int)tenon__cuda_choice_pixels(choice), (int)tenon__cuda_choice_outputs(choice),
                   how, comma, type);
    return;
  }
  (void)snprintf(out_name, NAME_CAPACITY, "%s, %d x %d, %u warps by %u of the sum, %u steps%s%s",
                 kinds[choice.kind], (int)tenon__cuda_choice_pixels(choice),
                 (int)tenon__cuda_choice_outputs(choice), choice.along, choice.parts, choice.steps,
                 comma, type);
}

static tenon_status_t emit_one(const emitter_t* e, tenon__cuda_choice_t choice, double seconds) {
  tenon_argument_rule_t rules[INPUTS];
  tenon_argument_rule_t output;
  char name[NAME_CAPACITY];
  const bool is_rounded =
      e->problem->x->dtype == TENON_DTYPE_FLOAT32 && choice.product != TENON_CUDA_PRODUCT_F32;
  const uint32_t mantissa = choice.product == TENON_CUDA_PRODUCT_BF16 ? 7 : 10;
  const uint32_t exponent = choice.product == TENON_CUDA_PRODUCT_F16 ? 5 : 8;
  const tenon_numerics_t numerics = {.size = sizeof(numerics),
                                     .reassociates = 1,
                                     .product_mantissa_bits = is_rounded ? mantissa : 0,
                                     .product_exponent_bits = is_rounded ? exponent : 0};
  read_rules(e->problem, choice, rules, &output);
  write_name(choice, is_rounded, name);
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = name,
      .configuration = &choice,
      .configuration_size = sizeof(choice),
      .inputs = rules,
      .outputs = &output,
      .numerics = &numerics,
      .estimate_seconds = seconds,
      .flags = TENON_TACTIC_RECORDABLE | TENON_TACTIC_RELEASES_EARLY,
      .launches = 1,
  };
  return e->add(e->emit, &tactic);
}

/* Emits the tiles, streams and warpgroups with the smallest estimates for one type of product. */
static tenon_status_t emit_all(const emitter_t* e, uint8_t product) {
  enum {
    MOST = TENON_CUDA_TILE_TACTICS + TENON_CUDA_STREAM_TACTICS + TENON_CUDA_WARPGROUP_TACTICS
  };
  tenon__cuda_choice_t choices[MOST];
  double seconds[MOST];
  const char* why = NULL;
  const uint8_t kind = (uint8_t)tenon__cuda_kind_of(e->problem, product, &why);
  if (kind == 0) {
    return TENON_OK;
  }
  uint32_t count = tenon__cuda_tiles_choose(e->problem, kind, product, choices, seconds);
  count += tenon__cuda_stream_choose(e->problem, product, choices + count, seconds + count);
  count += tenon__cuda_warpgroup_choose(e->problem, product, choices + count, seconds + count);
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; status == TENON_OK && k < count; k++) {
    status = emit_one(e, choices[k], seconds[k]);
  }
  return status;
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  tenon__cuda_problem_t problem;
  tenon_refusal_t refusal;
  (void)state;
  if (!tenon__cuda_problem_read(region, table, &problem, &refusal)) {
    return TENON_OK;
  }
  const emitter_t emitter = {&problem, emit, add};
  tenon_status_t status = TENON_OK;
  for (uint32_t each = 0; status == TENON_OK && each < TENON_CUDA_PRODUCT_COUNT; each++) {
    status = emit_all(&emitter, (uint8_t)each);
  }
  return status;
}

/* ---- Preparing ---- */

/* Of products of matrices. */
static void define_tile(const tenon__cuda_convolution_t* c, tenon__cuda_text_t* text) {
  const int64_t steps = tenon__cuda_steps_of(&c->problem, c->choice);
  const int64_t bytes = c->problem.channels * tenon__cuda_product_bytes(c->choice);
  const int64_t round = (int64_t)c->choice.parts * c->choice.steps;
  const bool direct = c->choice.kind == TENON_CUDA_DIRECT;
  const bool exact = steps % round == 0 && (!direct || bytes % 64 == 0);
  const tenon_dtype_t product = tenon__cuda_product_type(c->choice);
  const char* from = tenon__cuda_mnemonic(c->problem.x->dtype);
  tenon__cuda_text_add(text,
                       "#define MT %u\n#define NT %u\n#define WN %u\n#define WK %u\n"
                       "#define STEPS %u\n#define EXACT %d\n#define ONCE %d\n#define SPREAD %d\n",
                       c->choice.rows, c->choice.across, c->choice.along, c->choice.parts,
                       c->choice.steps, exact ? 1 : 0, steps <= round ? 1 : 0,
                       c->problem.is_spread ? 1 : 0);
  if (!direct) {
    tenon__cuda_text_add(text, "#define NARROW %d\n", c->choice.kind == TENON_CUDA_NARROW ? 1 : 0);
  }
  if (c->choice.kind == TENON_CUDA_NARROW && c->problem.x->dtype == product) {
    tenon__cuda_text_add(text, "#define STORED_X stored_%s\n#define NARROWED_X(x) (x)\n", from);
  } else if (c->choice.kind == TENON_CUDA_NARROW) {
    tenon__cuda_text_add(
        text, "#define STORED_X stored_%s\n#define NARROWED_X(x) store_%s(value_%s(x))\n", from,
        tenon__cuda_mnemonic(product), from);
  }
}

static void define_depthwise(const tenon__cuda_convolution_t* c, tenon__cuda_text_t* text) {
  const tenon__cuda_window_t* w = &c->problem.window;
  const char* from = tenon__cuda_mnemonic(tenon__cuda_product_type(c->choice));
  tenon__cuda_text_add(text,
                       "#define TY %u\n#define TX %u\n#define KY %d\n#define KX %d\n"
                       "#define SY %d\n#define SX %d\n#define DY %d\n#define DX %d\n"
                       "#define STORED_X stored_%s\n#define VALUE_X value_%s\n",
                       c->choice.rows, c->choice.across, (int)w->kernel[0], (int)w->kernel[1],
                       (int)w->stride[0], (int)w->stride[1], (int)w->dilation[0],
                       (int)w->dilation[1], from, from);
}

static void define_stream(const tenon__cuda_convolution_t* c, tenon__cuda_text_t* text) {
  const int64_t bytes = c->problem.channels * tenon__cuda_product_bytes(c->choice);
  tenon__cuda_text_add(text,
                       "#define MT %u\n#define NT %u\n#define STEPS %u\n#define EXACT %d\n"
                       "#define WARPS %u\n#define BLOCKS %u\n",
                       c->choice.rows, c->choice.across, c->choice.steps, bytes % 64 == 0 ? 1 : 0,
                       c->choice.along, c->choice.parts);
}

static void define_warpgroup(const tenon__cuda_convolution_t* c, tenon__cuda_text_t* text) {
  enum { PRODUCT = 32, PRODUCTS = TENON_CUDA_WARPGROUP_STEP / PRODUCT };
  const int64_t bytes = c->problem.channels * tenon__cuda_product_bytes(c->choice);
  const tenon__cuda_window_t* w = &c->problem.window;
  const int64_t taps = tenon__cuda_taps_of(&c->problem);
  const int64_t pieces = tenon__cuda_up(bytes, PRODUCT);
  tenon__cuda_text_add(text,
                       "#define GROUPS %u\n#define NT %u\n#define SPLIT %u\n#define STEPS %u\n"
                       "#define EXACT %d\n",
                       c->choice.rows / 4, c->choice.across, c->choice.parts, c->choice.steps,
                       bytes % TENON_CUDA_WARPGROUP_STEP == 0 ? 1 : 0);
  if (tenon__cuda_is_window(&c->problem)) {
    tenon__cuda_text_add(text,
                         "#define CHUNKS %d\n#define PRODUCTS %d\n#define KERNEL_Y %d\n"
                         "#define KERNEL_X %d\n#define STRIDE_Y %d\n#define STRIDE_X %d\n"
                         "#define DILATION_Y %d\n#define DILATION_X %d\n",
                         (int)(c->choice.steps / taps),
                         (int)(pieces < PRODUCTS ? pieces : PRODUCTS), (int)w->kernel[0],
                         (int)w->kernel[1], (int)w->stride[0], (int)w->stride[1],
                         (int)w->dilation[0], (int)w->dilation[1]);
  }
}

static void write_text(const tenon__cuda_convolution_t* c, tenon__cuda_text_t* text) {
  const bool warpgroup = c->choice.kind == TENON_CUDA_WARPGROUP;
  const bool depthwise = c->choice.kind == TENON_CUDA_DEPTHWISE;
  const bool stream = c->choice.kind == TENON_CUDA_STREAMING;
  tenon__cuda_epilogue_define(&c->epilogue, tenon__cuda_choice_elements(c->choice), text);
  tenon__cuda_text_add(text, "#define ADDS_BIAS %d\n#define BRAIN %d\n#define SINGLE %d\n",
                       c->problem.bias != NULL ? 1 : 0,
                       c->choice.product == TENON_CUDA_PRODUCT_BF16 ? 1 : 0,
                       c->choice.product == TENON_CUDA_PRODUCT_TF32 ? 1 : 0);
  if (depthwise) {
    define_depthwise(c, text);
  } else if (stream) {
    define_stream(c, text);
  } else if (warpgroup) {
    define_warpgroup(c, text);
  } else {
    define_tile(c, text);
  }
  tenon__cuda_text_copy(text, tenon__cuda_arithmetic_text);
  tenon__cuda_text_copy(text, tenon__cuda_matrix_text);
  tenon__cuda_text_copy(text, tenon__cuda_shape_text);
  tenon__cuda_text_copy(text, tenon__cuda_frame_text);
  tenon__cuda_text_copy(text, stream ? tenon__cuda_linear_text : tenon__cuda_slot_text);
  tenon__cuda_epilogue_write(&c->epilogue, text);
  if (c->choice.kind == TENON_CUDA_DIRECT || warpgroup) {
    tenon__cuda_text_copy(text, tenon__cuda_pixel_text);
  }
  if (warpgroup) {
    const bool window = tenon__cuda_is_window(&c->problem);
    tenon__cuda_text_copy(text, tenon__cuda_warpgroup_matrix_text);
    tenon__cuda_text_copy(text, window ? tenon__cuda_window_text : tenon__cuda_single_text);
    tenon__cuda_text_copy(text, tenon__cuda_outputs_text);
  } else if (!depthwise && !stream) {
    tenon__cuda_text_copy(text, tenon__cuda_tile_text);
  }
  tenon__cuda_text_copy(text, depthwise ? tenon__cuda_depthwise_text
                              : stream  ? tenon__cuda_stream_text
                              : warpgroup && tenon__cuda_is_repeated(c->choice)
                                  ? tenon__cuda_repeated_text
                              : warpgroup                           ? tenon__cuda_warpgroup_text
                              : c->choice.kind == TENON_CUDA_DIRECT ? tenon__cuda_direct_text
                                                                    : tenon__cuda_patch_text);
}

static tenon_status_t make_module(const tenon_prepare_t* call, tenon__cuda_convolution_t* c) {
  tenon__cuda_text_t text = {.allocator = c->device->state->allocator};
  const tenon__cuda_wanted_t wanted = {"convolve", &c->function};
  write_text(c, &text);
  tenon_status_t status = tenon__cuda_module_get(c->device, call, &text, &wanted, 1, &c->module);
  if (status == TENON_OK) {
    status = tenon__cuda_prefer_shared(c->device, c->function);
    if (status != TENON_OK) {
      tenon__cuda_module_release(c->device, c->module);
    }
  }
  return status;
}

/* Shared by all tiles of one kind. */
static tenon_status_t pack(const tenon_prepare_t* call, const tenon__cuda_convolution_t* c) {
  static const char* const formats[] = {"",
                                        "cuda.convolution.pixels/1",
                                        "cuda.convolution.patch/1",
                                        "cuda.convolution.narrow/1",
                                        "cuda.convolution.depthwise/1",
                                        "cuda.convolution.stream/1",
                                        "cuda.convolution.warpgroup/1"};
  const tenon__cuda_problem_t* p = &c->problem;
  const uint32_t sources[] = {
      call->table->node_input(call->region, 0, 1),
      p->bias == NULL ? TENON_NONE : call->table->node_input(call->region, 0, 2)};
  const tenon_packing_t packing = {
      .size = sizeof(packing),
      .format = c->choice.kind == TENON_CUDA_WARPGROUP && p->is_product ? "cuda.mat_mul.warpgroup/1"
                : p->is_product                                         ? "cuda.mat_mul/1"
                : p->is_spread ? "cuda.deconvolution.pixels/1"
                               : formats[c->choice.kind],
      .parameters = products[c->choice.kind == TENON_CUDA_DEPTHWISE ? TENON_CUDA_PRODUCT_F32
                                                                    : c->choice.product],
      .sources = sources,
      .source_count = p->bias == NULL ? 1 : 2,
      .size_bytes = tenon__cuda_packed_bytes(p, c->choice)};
  void* packed = NULL;
  int32_t ready = 0;
  const tenon_status_t status = call->host->pack(call->preparation, &packing, &packed, &ready);
  if (status != TENON_OK || ready != 0) {
    return status;
  }
  if (p->w->constant_data == NULL || (p->bias != NULL && p->bias->constant_data == NULL)) {
    return TENON_ERROR_INVALID_DATA;
  }
  memset(packed, 0, packing.size_bytes);
  tenon__cuda_weights_pack(p, c->choice, packed);
  return TENON_OK;
}

/* Does the problem's kind serve it still? */
static bool is_known(const tenon__cuda_convolution_t* c) {
  const char* why = NULL;
  return c->choice.kind == TENON_CUDA_STREAMING ? tenon__cuda_stream_knows(&c->problem, c->choice)
         : c->choice.kind == TENON_CUDA_WARPGROUP
             ? tenon__cuda_warpgroup_knows(&c->problem, c->choice)
             : c->choice.kind != 0 &&
                   c->choice.kind == tenon__cuda_kind_of(&c->problem, c->choice.product, &why);
}

/* Reads the tactic and its region. */
static tenon_status_t read_call(const tenon_prepare_t* call, tenon__cuda_convolution_t** out_c) {
  tenon_refusal_t refusal;
  uint32_t reason = 0;
  tenon_device_t* device = tenon__cuda_prepared_device(call);
  if (device == NULL) {
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon__cuda_convolution_t* c = call->host->allocate(call->preparation, sizeof(*c));
  if (c == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (call->tactic->configuration_size != sizeof(c->choice) ||
      !tenon__cuda_problem_read(call->region, call->table, &c->problem, &refusal)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  memcpy(&c->choice, call->tactic->configuration, sizeof(c->choice));
  if (!is_known(c) || tenon__cuda_epilogue_make(&c->problem, stored_type(c->choice), &c->epilogue,
                                                &reason) != NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const bool is_warpgroup = c->choice.kind == TENON_CUDA_WARPGROUP;
  const tenon_status_t status = tenon__cuda_check_architecture(
      call, device, is_warpgroup ? TENON_CUDA_HOPPER : OLDEST_ARCHITECTURE, is_warpgroup);
  if (status != TENON_OK) {
    return status;
  }
  if (c->choice.kind == TENON_CUDA_STREAMING) {
    tenon__cuda_epilogue_stream(&c->problem, &c->epilogue);
  }
  c->device = device;
  c->x = c->problem.x->input;
  c->bias_at = tenon__cuda_weights_bytes(&c->problem, c->choice);
  *out_c = c;
  return TENON_OK;
}

static void begin_prepare(const tenon_prepare_t* call) {
  tenon__cuda_convolution_t* c = NULL;
  if (read_call(call, &c) == TENON_OK && c != NULL) {
    tenon__cuda_text_t text = {.allocator = c->device->state->allocator};
    write_text(c, &text);
    tenon__cuda_module_begin(c->device, call, &text);
  }
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  tenon__cuda_convolution_t* c = NULL;
  tenon_status_t status = read_call(call, &c);
  if (status != TENON_OK || c == NULL) {
    return status;
  }
  status = pack(call, c);
  if (status == TENON_OK) {
    status = make_module(call, c);
  }
  if (status == TENON_OK) {
    *out_instance = c;
  }
  return status;
}

static void destroy(void* instance) {
  const tenon__cuda_convolution_t* c = instance;
  tenon__cuda_module_release(c->device, c->module);
}

static const char* const operators[] = {"standard.convolution/1", NULL};
static const char* const spread_operators[] = {"standard.deconvolution/1", NULL};
static const char* const product_operators[] = {"standard.mat_mul/1", NULL};
static const char* const attributes[] = {"strides", "dilations", "pads",
                                         "groups",  "auto_pad",  NULL};
static const char* const spread_attributes[] = {
    "strides", "dilations", "pads", "groups", "auto_pad", "output_padding", "output_shape", NULL};
static const tenon_slot_t slots[] = {{.size = sizeof(tenon_slot_t),
                                      .kind = TENON_SLOT_EPILOGUE,
                                      .max_operands = 16,
                                      .max_instructions = 256,
                                      .broadcasts = TENON_BROADCAST_SCALAR |
                                                    TENON_BROADCAST_CHANNEL | TENON_BROADCAST_ROW |
                                                    TENON_BROADCAST_FULL | TENON_BROADCAST_OTHER,
                                      .channel_axis = 1}};

#define KERNEL(kernel_name, identities, known_attributes, inputs)                                  \
  {                                                                                                \
    .size = sizeof(tenon_kernel_t), .name = (kernel_name), .device = "cuda",                       \
    .operators = (identities), .attributes = (known_attributes), .slots = TENON_LIST(slots),       \
    .version = 1, .input_limit = (inputs), .match = match, .tactics = tactics, .prepare = prepare, \
    .bind = tenon__cuda_convolution_bind, .enqueue = tenon__cuda_convolution_enqueue,              \
    .unbind = tenon__cuda_convolution_unbind, .destroy = destroy, .begin_prepare = begin_prepare   \
  }
const tenon_kernel_t tenon__cuda_convolution_kernel =
    KERNEL("tiled_convolution", operators, attributes, 3);
/* Windows that do not overlap: pixels too. */
const tenon_kernel_t tenon__cuda_deconvolution_kernel =
    KERNEL("tiled_deconvolution", spread_operators, spread_attributes, 3);
/* Of few rows, with a constant matrix: pixels, and nothing else. */
const tenon_kernel_t tenon__cuda_mat_mul_kernel =
    KERNEL("tiled_mat_mul", product_operators, NULL, 2);
