/*
 * Convolutions and their transposes: which are taken, and in what ways they can be computed. No
 * device is there when tactics are named, so a tactic says only "the k-th of what cuDNN proposes";
 * bind finds out what that is, and refuses it where there are fewer.
 */
#include "convolution.h"

#include <stdio.h>
#include <string.h>

#include "constants.h"
#include "kernels.h"

/* How many of cuDNN's proposals are tried. One that is compiled takes up to a second. */
enum { EXACT_PROPOSALS = 6, PROPOSALS = 4, ADDED_PROPOSALS = 2, CHAIN_PROPOSALS = 1 };

static bool is_transposed(tenon__cudnn_region_t region) {
  return strcmp(region.table->node_operator(region.handle, 0), "standard.deconvolution/1") == 0;
}

int64_t tenon__cudnn_alignment_of(tenon__cudnn_choice_t choice) {
  return choice.exact != 0 ? (int64_t)sizeof(float) : 16;
}

bool tenon__cudnn_has_taps(tenon__cudnn_region_t region) {
  const tenon_value_info_t* w = tenon__cudnn_operand(region, 1);
  return tenon__cudnn_count(w->dims_max + 2, w->rank - 2) > 1;
}

/* ---- Matching ---- */

static const char* window_refusal(tenon__cudnn_region_t region, uint32_t spatial) {
  for (uint32_t k = 0; k < 2 * spatial; k++) {
    if (tenon__cudnn_number_of(region, "pads", k, 0) < 0) {
      return "negative padding";
    }
  }
  for (uint32_t k = 0; k < spatial; k++) {
    const int64_t grown = tenon__cudnn_number_of(region, "output_padding", k, 0);
    if (grown < 0 || (grown > 0 && grown >= tenon__cudnn_number_of(region, "strides", k, 1))) {
      return "output_padding as large as the stride";
    }
  }
  return NULL;
}

static uint32_t bias_of(tenon__cudnn_region_t region) {
  const tenon_value_info_t* bias = tenon__cudnn_operand(region, 2);
  return bias == NULL ? TENON_NONE : bias->input;
}

static bool same_types(tenon__cudnn_region_t region, tenon_dtype_t dtype) {
  bool same = true;
  for (uint32_t k = 0; k < region.table->input_count(region.handle); k++) {
    const tenon_value_info_t* value = tenon__cudnn_argument(region, k);
    same = same && (value == NULL || value->dtype == dtype);
  }
  const tenon_value_info_t* y =
      region.table->value(region.handle, region.table->output(region.handle, 0));
  return same && y != NULL && y->dtype == dtype;
}

static bool slot_fits(tenon__cudnn_region_t region, const tenon_program_t* program) {
  tenon__cudnn_known_t known;
  if (program == NULL || tenon__cudnn_known_read(region, program, bias_of(region), &known)) {
    return true;
  }
  for (uint32_t k = 0; k < program->operand_count; k++) {
    if (program->operands[k].kind == TENON_OPERAND_ARGUMENT &&
        tenon__cudnn_lie_of(region, &program->operands[k]) == TENON_CUDNN_LIE_OTHER) {
      return false;
    }
  }
  return tenon__cudnn_chain_fits(program);
}

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cudnn_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cudnn_operand(region, 0);
  const tenon_value_info_t* w = tenon__cudnn_operand(region, 1);
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  if (!tenon__cudnn_type_of(x->dtype, &type) || w->dtype != x->dtype) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (x->rank < 3 || x->rank > 5) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  if (tenon__cudnn_may_lack_pixels(x)) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_SHAPE, "perhaps no pixels");
  }
  if (!tenon__cudnn_is_fixed(w)) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "weights");
  }
  if (tenon__cudnn_count(w->dims_max, w->rank) == 0) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_SHAPE, "weights without elements");
  }
  const char* why = window_refusal(region, x->rank - 2);
  if (why != NULL) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, why);
  }
  const tenon_program_t* program = table->slot_program(handle, 0);
  if (!slot_fits(region, program)) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_SLOT, "no operation of cuDNN's");
  }
  if (!same_types(region, x->dtype) || table->input_count(handle) > TENON_CUDNN_INPUTS) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_SLOT, "operands of another type");
  }
  tenon__cudnn_state_t* cudnn = state;
  return tenon__cudnn_open(cudnn, NULL) == TENON_OK
             ? 1
             : tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_LIBRARY, cudnn->why);
}

/* ---- Tactics ---- */

typedef struct emitter_t {
  tenon__cudnn_region_t region;
  tenon_emit_t* emit;
  tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*);
  uint32_t x;
  uint64_t zeroed_bytes;
  uint64_t turned_bytes; /* of weights with their channels innermost, unless they are constants */
  bool is_wide;          /* elements of 32 bits */
  bool may_narrow;       /* and weights that can be had in others */
} emitter_t;

/* Images, and what of the slot has their extents, in the tactic's order; all else in rows; in the
 * tactic's type all that is not packed. */
static void read_rules(const emitter_t* e, tenon__cudnn_choice_t choice,
                       tenon_argument_rule_t* rules, tenon_argument_rule_t* out_output) {
  const tenon_value_info_t* y = tenon__cudnn_result(e->region, 0);
  const tenon_argument_rule_t packed = {0};
  const tenon_argument_rule_t other = {.alignment = (uint32_t)tenon__cudnn_alignment_of(choice),
                                       .dtype = choice.narrow};
  *out_output = other;
  if (choice.channels_last != 0) {
    out_output->kind = TENON_LAYOUT_EXACT;
    out_output->layout = tenon__cudnn_channels_last(y->rank);
  }
  for (uint32_t k = 0; k < e->region.table->input_count(e->region.handle); k++) {
    const tenon_value_info_t* value = tenon__cudnn_argument(e->region, k);
    bool full = value != NULL && value->rank == y->rank;
    for (uint32_t axis = 0; full && axis < y->rank; axis++) {
      full = value->dims_max[axis] == y->dims_max[axis];
    }
    const tenon_value_info_t* w = tenon__cudnn_operand(e->region, 1);
    const bool is_image = k == e->x || (full && k != w->input);
    rules[k] = tenon__cudnn_is_packed(e->region, choice, k) ? packed
               : is_image                                   ? *out_output
                                                            : other;
  }
}

/* In what operands are multiplied. */
static tenon_numerics_t numerics_of(const emitter_t* e, tenon__cudnn_choice_t choice) {
  const bool bf16 = choice.narrow == TENON_DTYPE_BFLOAT16;
  const bool is_rounded = e->is_wide && choice.exact == 0; /* tf32 and f16 have as many bits */
  return (tenon_numerics_t){.size = sizeof(tenon_numerics_t),
                            .reassociates = 1,
                            .product_mantissa_bits = !is_rounded ? 0
                                                     : bf16      ? 7
                                                                 : 10,
                            .product_exponent_bits = !is_rounded                            ? 0
                                                     : choice.narrow == TENON_DTYPE_FLOAT16 ? 5
                                                                                            : 8};
}

static const char* type_name(const emitter_t* e, tenon__cudnn_choice_t choice) {
  return choice.narrow == TENON_DTYPE_FLOAT16    ? ", f16"
         : choice.narrow == TENON_DTYPE_BFLOAT16 ? ", bf16"
         : e->is_wide && choice.exact == 0       ? ", tf32"
                                                 : "";
}

static tenon_status_t emit_some(const emitter_t* e, tenon__cudnn_choice_t choice, uint32_t count) {
  static const char* const forms[] = {"alone", "bias added", "known form",
                                      "operation by operation"};
  tenon_argument_rule_t rules[TENON_CUDNN_INPUTS];
  tenon_argument_rule_t output;
  tenon_status_t status = TENON_OK;
  const tenon_numerics_t numerics = numerics_of(e, choice);
  read_rules(e, choice, rules, &output);
  for (uint32_t k = 0; status == TENON_OK && k < count; k++) {
    char name[96];
    choice.index = (uint8_t)k;
    (void)snprintf(name, sizeof(name), "%s, %s%s, proposal %u", forms[choice.form],
                   choice.channels_last != 0 ? "channels last" : "planes", type_name(e, choice), k);
    const tenon_tactic_t tactic = {
        .size = sizeof(tactic),
        .name = name,
        .configuration = &choice,
        .configuration_size = sizeof(choice),
        .inputs = rules,
        .outputs = &output,
        .numerics = &numerics,
        .scratch_bytes = TENON_CUDNN_WORKSPACE,
        .zeroed_bytes = choice.form == TENON_CUDNN_FORM_KNOWN ? e->zeroed_bytes : 0,
        .persistent_bytes = choice.channels_last != 0 ? e->turned_bytes : 0,
        .flags = TENON_TACTIC_RECORDABLE,
        .launches = choice.form == TENON_CUDNN_FORM_ADDED ? 2 : 1,
    };
    status = e->add(e->emit, &tactic);
  }
  return status;
}

/* A region in f32 in narrower types: channels last, as tensor cores want them. */
static tenon_status_t emit_narrow(const emitter_t* e, tenon__cudnn_choice_t choice,
                                  uint32_t count) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16};
  tenon_status_t status = TENON_OK;
  choice.channels_last = 1;
  for (size_t k = 0; status == TENON_OK && k < sizeof(types) / sizeof(*types); k++) {
    choice.narrow = types[k];
    status = emit_some(e, choice, count);
  }
  return status;
}

/* fp32 as it is: in planes, which its engines read best. Tensor cores: in both orders, but engines
 * that are compiled take channels last alone. */
static tenon_status_t emit_form(const emitter_t* e, tenon__cudnn_form_t form) {
  const bool chain = form == TENON_CUDNN_FORM_CHAIN;
  const bool added = form == TENON_CUDNN_FORM_ADDED;
  tenon__cudnn_choice_t choice = {.form = (uint8_t)form, .exact = 1};
  tenon_status_t status = TENON_OK;
  if (e->is_wide && !chain) {
    status = emit_some(e, choice, added ? ADDED_PROPOSALS : EXACT_PROPOSALS);
  }
  const uint32_t count = chain ? CHAIN_PROPOSALS : added ? ADDED_PROPOSALS : PROPOSALS;
  choice.exact = 0;
  for (uint8_t last = chain ? 1 : 0; status == TENON_OK && last < 2; last++) {
    choice.channels_last = last;
    status = emit_some(e, choice, count);
  }
  return status == TENON_OK && e->may_narrow ? emit_narrow(e, choice, count) : status;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon__cudnn_region_t region = {handle, table};
  const tenon_program_t* program = table->slot_program(handle, 0);
  const tenon_value_info_t* x = tenon__cudnn_operand(region, 0);
  const tenon_value_info_t* y = tenon__cudnn_result(region, 0);
  const uint32_t bias = bias_of(region);
  emitter_t e = {.region = region,
                 .emit = emit,
                 .add = add,
                 .x = x->input,
                 .is_wide = x->dtype == TENON_DTYPE_FLOAT32};
  tenon__cudnn_known_t known;
  (void)state;
  const tenon_value_info_t* w = tenon__cudnn_operand(region, 1);
  const bool is_constant = (w->flags & TENON_VALUE_CONSTANT) != 0;
  e.may_narrow = e.is_wide && is_constant;
  if (tenon__cudnn_has_taps(region) && !is_constant) {
    e.turned_bytes = (uint64_t)tenon__cudnn_count(w->dims_max, w->rank) * (e.is_wide ? 4 : 2);
  }
  if (program == NULL && bias == TENON_NONE) {
    return emit_form(&e, TENON_CUDNN_FORM_ALONE);
  }
  tenon_status_t status = TENON_OK;
  if (!is_transposed(region) && tenon__cudnn_known_read(region, program, bias, &known)) {
    e.zeroed_bytes = known.bias == TENON_NONE ? (uint64_t)y->dims_max[1] * sizeof(float) : 0;
    status = emit_form(&e, TENON_CUDNN_FORM_KNOWN);
  }
  if (status == TENON_OK && program == NULL) {
    status = emit_form(&e, TENON_CUDNN_FORM_ADDED);
  }
  if (status == TENON_OK && program != NULL && tenon__cudnn_chain_fits(program)) {
    status = emit_form(&e, TENON_CUDNN_FORM_CHAIN);
  }
  return status;
}

/* ---- Preparing ---- */

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cudnn_region_t region = {call->region, call->table};
  const tenon_value_info_t* x = tenon__cudnn_operand(region, 0);
  const tenon_value_info_t* w = tenon__cudnn_operand(region, 1);
  tenon__cudnn_convolution_t* c = call->host->allocate(call->preparation, sizeof(*c));
  if (c == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (call->tactic->configuration_size != sizeof(c->choice) ||
      call->table->input_count(call->region) > TENON_CUDNN_INPUTS) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  memcpy(&c->choice, call->tactic->configuration, sizeof(c->choice));
  if (!tenon__cudnn_may_narrow(x->dtype, c->choice.narrow)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  c->state = call->state;
  c->region = region;
  c->program = call->table->slot_program(call->region, 0);
  c->transposed = is_transposed(region);
  c->fixed = tenon__cudnn_is_fixed(x);
  c->turns = c->choice.channels_last != 0 && tenon__cudnn_has_taps(region) &&
             (w->flags & TENON_VALUE_CONSTANT) == 0;
  c->x = x->input;
  c->w = w->input;
  c->bias = bias_of(region);
  (void)tenon__cudnn_type_of(
      c->choice.narrow != TENON_DTYPE_UNDEFINED ? c->choice.narrow : x->dtype, &c->type);
  tenon__cudnn_window_read(region, x->rank - 2, w->dims_max + 2, &c->window);
  if (!tenon__cudnn_known_read(region, c->program, c->bias, &c->known) &&
      c->choice.form == TENON_CUDNN_FORM_KNOWN) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon_status_t status = tenon__cudnn_pack_constants(call, c);
  if (status == TENON_OK) {
    status = tenon__cudnn_device_find(c->state, call, &c->device);
  }
  if (status == TENON_OK) {
    *out_instance = c;
  }
  return status;
}

static const char* const plain[] = {"standard.convolution/1", NULL};
static const char* const transposed[] = {"standard.deconvolution/1", NULL};
static const char* const plain_attributes[] = {"strides", "dilations", "pads",
                                               "groups",  "auto_pad",  NULL};
static const char* const transposed_attributes[] = {
    "strides", "dilations", "pads", "groups", "auto_pad", "output_padding", "output_shape", NULL};
static const tenon_slot_t slots[] = {{
    .size = sizeof(tenon_slot_t),
    .kind = TENON_SLOT_EPILOGUE,
    .max_operands = 8,
    .max_instructions = 40,
    .broadcasts = TENON_BROADCAST_SCALAR | TENON_BROADCAST_CHANNEL | TENON_BROADCAST_FULL,
    .channel_axis = 1,
}};

#define CONVOLUTION(kernel_name, identities, known_attributes, slots_of_it)                 \
  {                                                                                         \
    .size = sizeof(tenon_kernel_t), .name = (kernel_name), .device = "cuda",                \
    .validity = tenon__cudnn_validity, .operators = (identities),                           \
    .attributes = (known_attributes), .slots = {slots, (slots_of_it), sizeof(*slots)},      \
    .version = 2, .input_limit = 3, .match = match, .tactics = tactics, .prepare = prepare, \
    .bind = tenon__cudnn_convolution_bind, .enqueue = tenon__cudnn_convolution_enqueue,     \
    .unbind = tenon__cudnn_convolution_unbind                                               \
  }
static const tenon_kernel_t kernels[] = {
    CONVOLUTION("convolution", plain, plain_attributes, 1),
    CONVOLUTION("deconvolution", transposed, transposed_attributes, 0)};
const tenon_offering_t tenon__cudnn_convolutions = TENON_OFFERING_OF("kernel/1", kernels);
