/*
 * Attention by cuDNN: which is taken, and in what ways it can be computed. Products in f16 or bf16,
 * sums and softmax in f32. What networks keep in f32 is taken by tactics that ask for narrower q, k
 * and v. Of what cuDNN proposes the first is used, which is compiled when it is bound: for
 * attention later ones were seen to take up to 14 times as long.
 */
#include "attention.h"

#include <stdio.h>
#include <string.h>

#include "kernels.h"

enum { ALIGNMENT = 16 };

/* ---- Proposing and matching ---- */

static uint32_t propose(void* state, const tenon_region_t* graph, const tenon_region_table_t* table,
                        uint32_t seed, uint32_t* out_nodes, uint32_t capacity) {
  const tenon__cudnn_region_t whole = {graph, table};
  tenon__cudnn_attention_t attention;
  tenon_refusal_t refusal;
  (void)state;
  if (!tenon__cudnn_attention_read(whole, seed, &attention, &refusal) ||
      attention.node_count > capacity) {
    return 0;
  }
  memcpy(out_nodes, attention.nodes, attention.node_count * sizeof(*out_nodes));
  return attention.node_count;
}

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon__cudnn_region_t region = {handle, table};
  tenon__cudnn_attention_t attention;
  if (!tenon__cudnn_attention_read(region, 0, &attention, out_refusal)) {
    return 0;
  }
  if (attention.node_count != table->node_count(handle)) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_OPERATOR, "nodes beside the attention");
  }
  if (table->output_count(handle) != 1 ||
      table->input_count(handle) > TENON_CUDNN_ATTENTION_INPUTS) {
    return tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_OTHER,
                               "a value in between is read by others");
  }
  tenon__cudnn_state_t* cudnn = state;
  return tenon__cudnn_open(cudnn, NULL) == TENON_OK
             ? 1
             : tenon__cudnn_refuse(out_refusal, TENON_REFUSAL_LIBRARY, cudnn->why);
}

/* ---- Tactics ---- */

/* [batch, heads, tokens, features] with the heads of a token beside one another. */
static const tenon_layout_t* rows_of_all_heads(void) {
  static const uint32_t order[] = {0, 2, 1, 3};
  static const tenon_layout_t layout = {
      .size = sizeof(tenon_layout_t), .name = "rows of all heads", .order = order, .rank = 4};
  return &layout;
}

/* Of features, then keys, where each key's features lie together. */
static const tenon_layout_t* rows_of_keys(uint32_t rank, bool by_heads) {
  static const uint32_t orders[][4] = {{1, 0}, {0, 2, 1}, {0, 1, 3, 2}, {0, 3, 1, 2}};
#define LAYOUT(number, axes)                                                           \
  {                                                                                    \
    .size = sizeof(tenon_layout_t), .name = "keys in rows", .order = orders[(number)], \
    .rank = (axes)                                                                     \
  }
  static const tenon_layout_t layouts[] = {LAYOUT(0, 2), LAYOUT(1, 3), LAYOUT(2, 4), LAYOUT(3, 4)};
#undef LAYOUT
  return &layouts[rank - 2 + (by_heads ? 1 : 0)];
}

typedef struct emitter_t {
  const tenon__cudnn_attention_t* attention;
  tenon_emit_t* emit;
  tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*);
} emitter_t;

/* q, k and v may lie anyhow: slices of one packed tensor are read where they are. But who asks for
 * no order is timed with rows, and in rows of k^T the keys lie together, which has to be turned
 * first. So there are tactics that ask for k's rows, and one that does not. */
static void read_rules(const emitter_t* e, tenon__cudnn_attention_choice_t choice,
                       tenon_argument_rule_t* rules, tenon_argument_rule_t* out_output) {
  const tenon__cudnn_attention_t* a = e->attention;
  const bool by_heads = choice.by_heads != 0;
  const tenon_argument_rule_t any = {.kind = TENON_LAYOUT_ANY,
                                     .flags = TENON_RULE_STRIDED,
                                     .dtype = choice.narrow,
                                     .alignment = ALIGNMENT};
  for (uint32_t k = 0; k < TENON_CUDNN_ATTENTION_INPUTS; k++) { /* numbers, which are known */
    rules[k] = (tenon_argument_rule_t){.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
  }
  rules[a->q->input] = rules[a->v->input] = rules[a->kt->input] = any;
  if (choice.any_keys == 0) {
    rules[a->kt->input].kind = TENON_LAYOUT_EXACT;
    rules[a->kt->input].layout = rows_of_keys(a->rank, by_heads);
  }
  *out_output =
      (tenon_argument_rule_t){.kind = by_heads ? TENON_LAYOUT_EXACT : TENON_LAYOUT_ROW_MAJOR,
                              .layout = by_heads ? rows_of_all_heads() : NULL,
                              .dtype = choice.narrow,
                              .alignment = ALIGNMENT};
}

/* At the optimum, as it was on an H100: 12 heads x 128 tokens x 64 in 4.8 us, 32 times as many in
 * 10, 32 x 12 heads x 197 tokens in 25.5. What cuDNN makes of one image is always as slow. */
static double estimate_of(const tenon__cudnn_attention_t* a) {
  static const double least = 4.7e-6;
  static const double operations_a_second = 150e12;
  const int64_t features = a->q->dims_opt[a->rank - 1] + a->v->dims_opt[a->rank - 1];
  const double scores =
      (double)tenon__cudnn_count(a->q->dims_opt, a->rank - 1) * (double)a->v->dims_opt[a->rank - 2];
  const double seconds = 2 * scores * (double)features / operations_a_second;
  return seconds > least ? seconds : least;
}

static tenon_status_t emit_one(const emitter_t* e, tenon__cudnn_attention_choice_t choice) {
  const bool is_half = choice.narrow == TENON_DTYPE_FLOAT16;
  const bool is_rounded = choice.narrow != TENON_DTYPE_UNDEFINED;
  const tenon_numerics_t numerics = {.size = sizeof(numerics),
                                     .reassociates = 1,
                                     .product_mantissa_bits = !is_rounded ? 0
                                                              : is_half   ? 10
                                                                          : 7,
                                     .product_exponent_bits = !is_rounded ? 0
                                                              : is_half   ? 5
                                                                          : 8};
  tenon_argument_rule_t rules[TENON_CUDNN_ATTENTION_INPUTS];
  tenon_argument_rule_t output;
  char name[96];
  read_rules(e, choice, rules, &output);
  (void)snprintf(name, sizeof(name), "%s%s%s", choice.by_heads != 0 ? "rows of all heads" : "rows",
                 choice.any_keys != 0 ? ", keys as they lie" : "",
                 !is_rounded ? ""
                 : is_half   ? ", f16"
                             : ", bf16");
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = name,
                                 .configuration = &choice,
                                 .configuration_size = sizeof(choice),
                                 .inputs = rules,
                                 .outputs = &output,
                                 .numerics = &numerics,
                                 .scratch_bytes = tenon__cudnn_attention_rows(e->attention, 3),
                                 .estimate_seconds = estimate_of(e->attention),
                                 .flags = TENON_TACTIC_RECORDABLE,
                                 .launches = 1};
  return e->add(e->emit, &tactic);
}

/* Of one type: both orders of the result, with keys both ways. */
static tenon_status_t emit_type(const emitter_t* e, tenon_dtype_t narrow) {
  tenon_status_t status = TENON_OK;
  for (uint32_t way = 0; status == TENON_OK && way < (e->attention->rank == 4 ? 4 : 2); way++) {
    status = emit_one(e, (tenon__cudnn_attention_choice_t){
                             .by_heads = way / 2 != 0, .any_keys = way % 2 != 0, .narrow = narrow});
  }
  return status;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon__cudnn_region_t region = {handle, table};
  tenon__cudnn_attention_t attention;
  tenon_refusal_t refusal;
  (void)state;
  if (!tenon__cudnn_attention_read(region, 0, &attention, &refusal)) {
    return TENON_OK;
  }
  const emitter_t e = {&attention, emit, add};
  if (attention.q->dtype != TENON_DTYPE_FLOAT32) {
    return emit_type(&e, TENON_DTYPE_UNDEFINED);
  }
  const tenon_status_t status = emit_type(&e, TENON_DTYPE_FLOAT16);
  return status == TENON_OK ? emit_type(&e, TENON_DTYPE_BFLOAT16) : status;
}

/* ---- Preparing ---- */

/* What a plan says of the tactic, and the region, are as they were. */
static bool read_tactic(const tenon_prepare_t* call, tenon__cudnn_attending_t* a) {
  const tenon__cudnn_region_t region = {call->region, call->table};
  tenon_refusal_t refusal;
  if (call->tactic->configuration_size != sizeof(a->choice) ||
      !tenon__cudnn_attention_read(region, 0, &a->attention, &refusal)) {
    return false;
  }
  memcpy(&a->choice, call->tactic->configuration, sizeof(a->choice));
  const tenon_dtype_t dtype = a->attention.q->dtype;
  const bool is_wide = dtype == TENON_DTYPE_FLOAT32;
  (void)tenon__cudnn_type_of(is_wide ? a->choice.narrow : dtype, &a->type);
  return is_wide == (a->choice.narrow != TENON_DTYPE_UNDEFINED) &&
         tenon__cudnn_may_narrow(dtype, a->choice.narrow);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  tenon__cudnn_attending_t* a = call->host->allocate(call->preparation, sizeof(*a));
  if (a == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (!read_tactic(call, a)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  a->state = call->state;
  const tenon_status_t status = tenon__cudnn_device_find(a->state, call, &a->device);
  if (status == TENON_OK) {
    *out_instance = a;
  }
  return status;
}

static const tenon_kernel_t kernels[] = {{
    .size = sizeof(tenon_kernel_t),
    .name = "attention",
    .device = "cuda",
    .validity = tenon__cudnn_validity,
    .version = 1,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = tenon__cudnn_attention_bind,
    .enqueue = tenon__cudnn_attention_enqueue,
    .unbind = tenon__cudnn_attention_unbind,
    .propose = propose,
}};
const tenon_offering_t tenon__cudnn_attentions = TENON_OFFERING_OF("kernel/1", kernels);
