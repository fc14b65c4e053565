/*
 * Attention as one step: what is proposed and taken, in what tiles, and the text. Products in f16,
 * bf16 or tf32, sums and softmax in f32. What networks keep in f32 is taken too, by tactics that
 * ask for narrower q, k and v, or for tf32; what the scores are changed by stays in its own type.
 */
#include "attention.h"

#include <stdio.h>
#include <string.h>

#include "kernels.h"
#include "texts.h"

enum { INPUTS = 40, OLDEST_ARCHITECTURE = 80, NAME_CAPACITY = 96 };

/* ---- Proposing and matching ---- */

static uint32_t propose(void* state, const tenon_region_t* graph, const tenon_region_table_t* table,
                        uint32_t seed, uint32_t* out_nodes, uint32_t capacity) {
  tenon__cuda_attention_t attention;
  tenon_refusal_t refusal;
  (void)state;
  if (!tenon__cuda_attention_read(graph, table, seed, &attention, &refusal) ||
      attention.node_count > capacity) {
    return 0;
  }
  memcpy(out_nodes, attention.nodes, attention.node_count * sizeof(*out_nodes));
  return attention.node_count;
}

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  tenon__cuda_attention_t attention;
  tenon__cuda_scores_t scores;
  uint32_t reason = 0;
  if (!tenon__cuda_attention_read(region, table, 0, &attention, out_refusal)) {
    return 0;
  }
  if (attention.node_count != table->node_count(region)) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_OPERATOR, "nodes beside the attention");
  }
  if (table->output_count(region) != 1 || table->input_count(region) > INPUTS) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_OTHER,
                              "a value in between is read by others, or there are too many inputs");
  }
  const char* why = tenon__cuda_scores_make(&attention, &scores, &reason);
  if (why != NULL) {
    return tenon__cuda_refuse(out_refusal, reason, why);
  }
  return tenon__cuda_compiler_exists(state) ? 1
                                            : tenon__cuda_refuse(out_refusal, TENON_REFUSAL_LIBRARY,
                                                                 "CUDA's run-time compiler, NVRTC");
}

/* ---- Tactics ---- */

/* As what q, k, v and the result are stored. */
static tenon_dtype_t stored_type(uint8_t product) {
  return product == TENON_CUDA_ATTENTION_F16    ? TENON_DTYPE_FLOAT16
         : product == TENON_CUDA_ATTENTION_BF16 ? TENON_DTYPE_BFLOAT16
                                                : TENON_DTYPE_FLOAT32;
}

/* Products in the type that there is, or in less than f32, which the build may not permit. */
static tenon_numerics_t numerics_of(uint8_t product, bool is_rounded) {
  const uint32_t mantissa = product == TENON_CUDA_ATTENTION_BF16 ? 7 : 10;
  const uint32_t exponent = product == TENON_CUDA_ATTENTION_F16 ? 5 : 8;
  return (tenon_numerics_t){.size = sizeof(tenon_numerics_t),
                            .reassociates = 1,
                            .product_mantissa_bits = is_rounded ? mantissa : 0,
                            .product_exponent_bits = is_rounded ? exponent : 0};
}

/* [batch, heads, queries, features] with the heads of a query beside one another. */
static const tenon_layout_t* rows_of_all_heads(void) {
  static const uint32_t order[] = {0, 2, 1, 3};
  static const tenon_layout_t layout = {
      .size = sizeof(tenon_layout_t), .name = "rows of all heads", .order = order, .rank = 4};
  return &layout;
}

typedef struct emitter_t {
  const tenon__cuda_attention_t* attention;
  tenon_emit_t* emit;
  tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*);
} emitter_t;

static tenon_status_t emit_one(const emitter_t* e, tenon__cuda_attention_choice_t choice,
                               double seconds) {
  const tenon__cuda_attention_t* a = e->attention;
  static const char* const products[] = {"f16", "bf16", "tf32"};
  const tenon_dtype_t type = stored_type(choice.product);
  const bool is_rounded = a->q->dtype == TENON_DTYPE_FLOAT32;
  const bool narrows = a->q->dtype != type;
  tenon_argument_rule_t rules[INPUTS];
  char name[NAME_CAPACITY];
  for (uint32_t k = 0; k < INPUTS; k++) {
    rules[k] = (tenon_argument_rule_t){.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
  }
  rules[a->q->input].dtype = rules[a->kt->input].dtype = rules[a->v->input].dtype =
      narrows ? type : (tenon_dtype_t)TENON_DTYPE_UNDEFINED;
  const tenon_argument_rule_t output = {
      .kind = choice.by_heads != 0 ? TENON_LAYOUT_EXACT : TENON_LAYOUT_ROW_MAJOR,
      .layout = choice.by_heads != 0 ? rows_of_all_heads() : NULL,
      .flags = TENON_RULE_STRIDED,
      .dtype = narrows ? type : (tenon_dtype_t)TENON_DTYPE_UNDEFINED};
  const tenon_numerics_t numerics = numerics_of(choice.product, is_rounded);
  (void)snprintf(name, sizeof(name), "%u x %u queries, %u keys by %u warps%s%s%s%s%s", choice.rows,
                 16U * choice.tiles, 16U * choice.groups, choice.parts,
                 choice.staged != 0 ? ", staged" : "", choice.exchanged != 0 ? ", exchanged" : "",
                 choice.by_heads != 0 ? ", rows of all heads" : "", is_rounded ? ", " : "",
                 is_rounded ? products[choice.product] : "");
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

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  tenon__cuda_attention_t attention;
  tenon_refusal_t refusal;
  tenon__cuda_attention_choice_t choices[TENON_CUDA_ATTENTION_TACTICS];
  double seconds[TENON_CUDA_ATTENTION_TACTICS];
  (void)state;
  if (!tenon__cuda_attention_read(region, table, 0, &attention, &refusal)) {
    return TENON_OK;
  }
  const emitter_t emitter = {&attention, emit, add};
  const tenon_dtype_t dtype = attention.q->dtype;
  tenon_status_t status = TENON_OK;
  for (uint32_t variant = 0; variant < 2 * TENON_CUDA_ATTENTION_PRODUCTS; variant++) {
    const uint8_t product = (uint8_t)(variant / 2);
    const bool by_heads = variant % 2 == 1;
    if ((dtype != TENON_DTYPE_FLOAT32 && dtype != stored_type(product)) ||
        (by_heads && attention.rank != 4)) {
      continue;
    }
    const uint32_t count = tenon__cuda_attention_choose(&attention, product, choices, seconds);
    for (uint32_t k = 0; status == TENON_OK && k < count; k++) {
      choices[k].by_heads = by_heads ? 1 : 0;
      status = emit_one(&emitter, choices[k], seconds[k]);
    }
  }
  return status;
}

/* ---- Preparing ---- */

static void write_text(const tenon__cuda_attending_t* a, tenon__cuda_text_t* text) {
  const tenon__cuda_attention_choice_t c = a->choice;
  tenon__cuda_scores_define(&a->scores, text);
  tenon__cuda_text_add(text,
                       "#define BRAIN %d\n#define SINGLE %d\n#define D %u\n#define E %u\n"
                       "#define QUERY_WARPS %u\n#define KEY_WARPS %u\n"
                       "#define TILES %u\n#define GROUPS %u\n#define STAGED %u\n"
                       "#define EXCHANGED %u\n#define ONCE %d\n"
                       "#define HOPELESS %u\n",
                       c.product == TENON_CUDA_ATTENTION_BF16 ? 1 : 0,
                       c.product == TENON_CUDA_ATTENTION_TF32 ? 1 : 0, a->attention.features,
                       a->attention.results, c.rows, c.parts, c.tiles, c.groups, c.staged,
                       c.exchanged, tenon__cuda_attention_is_once(&a->attention, c) ? 1 : 0,
                       (unsigned)a->attention.hopeless);
  tenon__cuda_text_copy(text, tenon__cuda_arithmetic_text);
  tenon__cuda_text_copy(text, tenon__cuda_matrix_text);
  tenon__cuda_text_copy(text, tenon__cuda_attention_shape_text);
  tenon__cuda_text_copy(text, tenon__cuda_frame_text);
  tenon__cuda_text_copy(text, tenon__cuda_attention_scores_text);
  tenon__cuda_scores_write(&a->scores, text);
  tenon__cuda_text_copy(text, tenon__cuda_attention_elements_text);
  tenon__cuda_text_copy(text, tenon__cuda_attention_warp_text);
  tenon__cuda_text_copy(text, tenon__cuda_attention_results_text);
  tenon__cuda_text_copy(text, c.exchanged != 0 ? tenon__cuda_attention_exchanged_text
                                               : tenon__cuda_attention_attend_text);
}

static tenon_status_t make_module(const tenon_prepare_t* call, tenon__cuda_attending_t* a) {
  tenon__cuda_text_t text = {.allocator = a->device->state->allocator};
  const tenon__cuda_wanted_t wanted[] = {{"attend", &a->wide}, {"attend_any", &a->any}};
  write_text(a, &text);
  tenon_status_t status = tenon__cuda_module_get(a->device, call, &text, wanted, 2, &a->module);
  if (status != TENON_OK) {
    return status;
  }
  status = tenon__cuda_prefer_shared(a->device, a->wide);
  status = status == TENON_OK ? tenon__cuda_prefer_shared(a->device, a->any) : status;
  if (status != TENON_OK) {
    tenon__cuda_module_release(a->device, a->module);
  }
  return status;
}

/* What a plan says of the tactic, and the region, are as they were. */
static bool read_tactic(const tenon_prepare_t* call, tenon__cuda_attending_t* a) {
  tenon_refusal_t refusal;
  uint32_t reason = 0;
  if (call->tactic->configuration_size != sizeof(a->choice) ||
      !tenon__cuda_attention_read(call->region, call->table, 0, &a->attention, &refusal)) {
    return false;
  }
  memcpy(&a->choice, call->tactic->configuration, sizeof(a->choice));
  const tenon_dtype_t dtype = a->attention.q->dtype;
  return tenon__cuda_attention_knows(a->choice) &&
         (dtype == TENON_DTYPE_FLOAT32 || dtype == stored_type(a->choice.product)) &&
         tenon__cuda_scores_make(&a->attention, &a->scores, &reason) == NULL;
}

static tenon_status_t read_call(const tenon_prepare_t* call, tenon__cuda_attending_t** out_a) {
  tenon_device_t* device = tenon__cuda_prepared_device(call);
  if (device == NULL) {
    return TENON_ERROR_UNSUPPORTED;
  }
  const tenon_status_t status =
      tenon__cuda_check_architecture(call, device, OLDEST_ARCHITECTURE, false);
  if (status != TENON_OK) {
    return status;
  }
  tenon__cuda_attending_t* a = call->host->allocate(call->preparation, sizeof(*a));
  if (a == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (!read_tactic(call, a)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  a->device = device;
  const uint32_t shared = tenon__cuda_attention_shared(&a->attention, a->choice);
  if ((int64_t)shared > device->shared_bytes) {
    return tenon__cuda_fail(call->host->sink == NULL ? NULL : call->host->sink(call->preparation),
                            TENON_ERROR_UNSUPPORTED,
                            "%u bytes of shared memory, of which a block of this GPU has %d",
                            shared, (int)device->shared_bytes);
  }
  *out_a = a;
  return TENON_OK;
}

static void begin_prepare(const tenon_prepare_t* call) {
  tenon__cuda_attending_t* a = NULL;
  if (read_call(call, &a) == TENON_OK && a != NULL) {
    tenon__cuda_text_t text = {.allocator = a->device->state->allocator};
    write_text(a, &text);
    tenon__cuda_module_begin(a->device, call, &text);
  }
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  tenon__cuda_attending_t* a = NULL;
  tenon_status_t status = read_call(call, &a);
  if (status != TENON_OK || a == NULL) {
    return status;
  }
  status = make_module(call, a);
  if (status == TENON_OK) {
    *out_instance = a;
  }
  return status;
}

static void destroy(void* instance) {
  const tenon__cuda_attending_t* a = instance;
  tenon__cuda_module_release(a->device, a->module);
}

const tenon_kernel_t tenon__cuda_attention_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "fused_attention",
    .device = "cuda",
    .version = 2,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = tenon__cuda_attention_bind,
    .enqueue = tenon__cuda_attention_enqueue,
    .destroy = destroy,
    .propose = propose,
    .begin_prepare = begin_prepare,
};
