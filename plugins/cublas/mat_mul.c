/*
 * Matrix products: batched, broadcast, in any layout. What is taken, and with which tactics: the
 * proposals of cuBLASLt's heuristic, by number. A build has no device when it asks for tactics, so
 * the heuristic is asked at bind, for the extents and strides at hand: it answers the same for the
 * same library, device and shapes, which is why times and plans hold for one version of it.
 */
#include "mat_mul.h"

#include <stdio.h>
#include <string.h>

#include "constants.h"

/* ---- What is taken ---- */

static const tenon__cublas_type_t types[] = {
    {TENON_DTYPE_FLOAT32, CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F, 4},
    {TENON_DTYPE_FLOAT16, CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2},
    {TENON_DTYPE_BFLOAT16, CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F, 2},
    {TENON_DTYPE_FLOAT64, CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F, 8},
};

static const tenon__cublas_type_t* find_type(tenon_dtype_t dtype) {
  for (size_t k = 0; k < sizeof(types) / sizeof(*types); k++) {
    if (types[k].dtype == dtype) {
      return &types[k];
    }
  }
  return NULL;
}

static const tenon_value_info_t* input_value(const tenon_region_t* region,
                                             const tenon_region_table_t* table, uint32_t index) {
  return table->value(region, table->node_input(region, 0, index));
}

static int32_t refuse(tenon_refusal_t* out_refusal, uint32_t reason, const char* detail) {
  *out_refusal = (tenon_refusal_t){.reason = reason, .detail = detail};
  return 0;
}

/* Bytes of zeros for sums over nothing; false where they have no bound. */
static bool zeroed_bytes(const tenon_value_info_t* a, const tenon_value_info_t* b,
                         uint32_t element_bytes, uint64_t* out_bytes) {
  const int64_t rows = a->rank > 1 ? a->dims_max[a->rank - 2] : 1;
  const int64_t columns = b->rank > 1 ? b->dims_max[b->rank - 1] : 1;
  *out_bytes = 0;
  if (a->dims_min[a->rank - 1] != 0) {
    return true;
  }
  *out_bytes = (uint64_t)(rows > columns ? rows : columns) * element_bytes;
  return rows >= 0 && columns >= 0;
}

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon_value_info_t* a = input_value(region, table, 0);
  const tenon_value_info_t* b = input_value(region, table, 1);
  const tenon_value_info_t* y = table->value(region, table->output(region, 0));
  const tenon_program_t* program = table->slot_program(region, 0);
  const tenon__cublas_type_t* type = find_type(a->dtype);
  tenon__cublas_epilogue_t epilogue;
  const char* why = NULL;
  uint64_t bytes = 0;
  if (type == NULL || b->dtype != a->dtype || y->dtype != a->dtype ||
      table->input_count(region) > TENON_CUBLAS_ARGUMENTS) {
    return refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (a->rank == 0 || b->rank == 0 || a->rank > TENON_CUBLAS_RANK || b->rank > TENON_CUBLAS_RANK) {
    return refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  if (program != NULL && a->dtype == TENON_DTYPE_FLOAT64) {
    return refuse(out_refusal, TENON_REFUSAL_SLOT, "f64 has no epilogues");
  }
  if (!tenon__cublas_epilogue_recognise(program, y, b->rank > 1, &epilogue, &why)) {
    return refuse(out_refusal, TENON_REFUSAL_SLOT, why);
  }
  if (!zeroed_bytes(a, b, type->bytes, &bytes)) {
    return refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "a sum over nothing has no bound");
  }
  return tenon__cublas_is_there(state)
             ? 1
             : refuse(out_refusal, TENON_REFUSAL_LIBRARY, "libcublasLt.so.13 or libcublasLt.so.12");
}

/* ---- Tactics ---- */

/* Roughly a GPU of the day, so that where nothing can be measured proposals keep their order. */
static double estimate(const tenon_value_info_t* a, const tenon_value_info_t* y, bool is_wide,
                       uint32_t rank_of_proposal) {
  const double rate = is_wide ? 4e13 : 3e14;
  double work = 2.0 * (double)a->dims_opt[a->rank - 1];
  for (uint32_t k = 0; k < y->rank; k++) {
    work *= (double)y->dims_opt[k];
  }
  return (work / rate + 4e-6) * (1.0 + 0.01 * rank_of_proposal);
}

typedef struct emitter_t {
  tenon_emit_t* emit;
  tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*);
  const tenon_region_t* region;
  const tenon_region_table_t* table;
  const tenon_value_info_t* a;
  const tenon_value_info_t* y;
  uint64_t zeroed_bytes;
  bool has_residual;
} emitter_t;

/* The operands lie anywhere, but what is multiplied by one matrix for all batches: in rows it is
 * one product, in another order as many as there are batches, which takes two or three times as
 * long. In the tactic's type all that is not packed. */
static void read_rules(const emitter_t* e, tenon_dtype_t narrow, tenon_argument_rule_t* rules) {
  const uint32_t count = e->table->input_count(e->region);
  const bool is_one = e->a->rank > 2 && input_value(e->region, e->table, 1)->rank <= 2;
  for (uint32_t k = 0; k < count; k++) {
    const tenon_value_info_t* value = e->table->value(e->region, e->table->input(e->region, k));
    const bool is_packed = tenon__cublas_is_packed(value, narrow);
    const bool in_rows = k > 1 || (k == 0 && is_one);
    rules[k] = in_rows
                   ? (tenon_argument_rule_t){.kind = TENON_LAYOUT_ROW_MAJOR}
                   : (tenon_argument_rule_t){.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
    rules[k].dtype = is_packed ? (tenon_dtype_t)TENON_DTYPE_UNDEFINED : narrow;
  }
}

static tenon_numerics_t numerics_of(const emitter_t* e, tenon__cublas_choice_t choice) {
  const bool is_rounded = choice.is_tf32 != 0 || choice.narrow != TENON_DTYPE_UNDEFINED;
  const bool bf16 = choice.narrow == TENON_DTYPE_BFLOAT16;
  return (tenon_numerics_t){.size = sizeof(tenon_numerics_t),
                            .product_mantissa_bits = !is_rounded ? 0
                                                     : bf16      ? 7
                                                                 : 10,
                            .product_exponent_bits = !is_rounded                            ? 0
                                                     : choice.narrow == TENON_DTYPE_FLOAT16 ? 5
                                                                                            : 8,
                            .accumulator_dtype = e->a->dtype == TENON_DTYPE_FLOAT64
                                                     ? TENON_DTYPE_FLOAT64
                                                     : TENON_DTYPE_FLOAT32,
                            .reassociates = 1};
}

static const char* type_name(tenon__cublas_choice_t choice) {
  return choice.narrow == TENON_DTYPE_FLOAT16    ? "f16, "
         : choice.narrow == TENON_DTYPE_BFLOAT16 ? "bf16, "
         : choice.is_tf32 != 0                   ? "tf32, "
                                                 : "";
}

static tenon_status_t add_proposal(const emitter_t* e, tenon__cublas_choice_t choice,
                                   const tenon_layout_t* layout) {
  tenon_argument_rule_t inputs[TENON_CUBLAS_ARGUMENTS];
  const tenon_argument_rule_t output = {
      .kind = layout == NULL ? TENON_LAYOUT_ROW_MAJOR : TENON_LAYOUT_EXACT,
      .layout = layout,
      .flags = e->has_residual ? 0 : TENON_RULE_STRIDED,
      .dtype = choice.narrow};
  const tenon_numerics_t numerics = numerics_of(e, choice);
  const bool is_wide = choice.is_tf32 == 0 && choice.narrow == TENON_DTYPE_UNDEFINED &&
                       (e->a->dtype == TENON_DTYPE_FLOAT32 || e->a->dtype == TENON_DTYPE_FLOAT64);
  char name[96];
  read_rules(e, choice.narrow, inputs);
  (void)snprintf(name, sizeof(name), "%sproposal %u%s%s", type_name(choice), choice.proposal,
                 choice.has_workspace != 0 ? "" : ", no workspace",
                 layout == NULL ? "" : ", rows of all heads");
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = name,
      .configuration = &choice,
      .configuration_size = sizeof(choice),
      .inputs = inputs,
      .outputs = &output,
      .numerics = &numerics,
      .scratch_bytes =
          choice.has_workspace == 0 ? 0 : TENON_CUBLAS_WORKSPACE + TENON_CUBLAS_WORKSPACE_ALIGNMENT,
      .zeroed_bytes = e->zeroed_bytes,
      .estimate_seconds =
          estimate(e->a, e->y, is_wide, choice.proposal * 2U + (choice.has_workspace != 0 ? 0 : 1)),
      .flags = TENON_TACTIC_RECORDABLE};
  return e->add(e->emit, &tactic);
}

/* A residual and the result must lie alike (mat_mul_run.c says why): both in rows. */
static bool has_residual(const tenon_region_t* region, const tenon_region_table_t* table) {
  const tenon_value_info_t* y = table->value(region, table->output(region, 0));
  tenon__cublas_epilogue_t epilogue;
  const char* why = NULL;
  return tenon__cublas_epilogue_recognise(table->slot_program(region, 0), y,
                                          input_value(region, table, 1)->rank > 1, &epilogue,
                                          &why) &&
         epilogue.residual != TENON_NONE;
}

/* Each proposal, with and without workspace: cuBLASLt's order is not that of the times, and the
 * answers with workspace are not always the faster ones. */
static tenon_status_t add_proposals(const emitter_t* e, tenon__cublas_choice_t choice,
                                    const tenon_layout_t* layout) {
  tenon_status_t status = TENON_OK;
  for (uint16_t k = 0; status == TENON_OK && k < TENON_CUBLAS_PROPOSALS; k++) {
    choice.proposal = k;
    choice.has_workspace = 1;
    status = add_proposal(e, choice, layout);
    choice.has_workspace = 0;
    if (status == TENON_OK && k < TENON_CUBLAS_PROPOSALS / 2) {
      status = add_proposal(e, choice, layout);
    }
  }
  return status;
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  static const uint32_t heads[] = {0, 2, 1, 3};
  static const tenon__cublas_choice_t rounded[] = {
      {.is_tf32 = 1}, {.narrow = TENON_DTYPE_FLOAT16}, {.narrow = TENON_DTYPE_BFLOAT16}};
  static const tenon_layout_t all_heads = {
      .size = sizeof(tenon_layout_t), .name = "rows of all heads", .order = heads, .rank = 4};
  (void)state;
  static const tenon__cublas_choice_t own = {0};
  emitter_t emitter = {.emit = emit,
                       .add = add,
                       .region = region,
                       .table = table,
                       .a = input_value(region, table, 0),
                       .y = table->value(region, table->output(region, 0)),
                       .has_residual = has_residual(region, table)};
  const tenon__cublas_type_t* type = find_type(emitter.a->dtype);
  (void)zeroed_bytes(emitter.a, input_value(region, table, 1), type->bytes, &emitter.zeroed_bytes);
  const bool may_turn = emitter.y->rank == 4 && !emitter.has_residual;
  tenon_status_t status = add_proposals(&emitter, own, NULL);
  if (status == TENON_OK && may_turn) {
    status = add_proposals(&emitter, own, &all_heads);
  }
  if (type->dtype != TENON_DTYPE_FLOAT32) {
    return status;
  }
  for (size_t k = 0; k < sizeof(rounded) / sizeof(*rounded) && status == TENON_OK; k++) {
    status = add_proposals(&emitter, rounded[k], NULL);
    if (status == TENON_OK && may_turn && rounded[k].is_tf32 == 0) {
      status = add_proposals(&emitter, rounded[k], &all_heads);
    }
  }
  return status;
}

/* ---- Preparing ---- */

static bool may_narrow(tenon_dtype_t dtype, tenon_dtype_t narrow) {
  return narrow == TENON_DTYPE_UNDEFINED ||
         (dtype == TENON_DTYPE_FLOAT32 &&
          (narrow == TENON_DTYPE_FLOAT16 || narrow == TENON_DTYPE_BFLOAT16));
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon_region_table_t* table = call->table;
  const tenon_value_info_t* a = input_value(call->region, table, 0);
  const tenon_value_info_t* b = input_value(call->region, table, 1);
  const tenon_value_info_t* y = table->value(call->region, table->output(call->region, 0));
  const tenon_sink_t* sink = call->host->sink(call->preparation);
  const tenon_cuda_native_t* native = call->host->service(call->preparation, TENON_CUDA_NATIVE);
  const char* why = NULL;
  if (native == NULL || native->size < sizeof(*native)) {
    return tenon__cublas_fail(sink, TENON_ERROR_UNSUPPORTED, "the device has no %s, or an old one",
                              TENON_CUDA_NATIVE);
  }
  tenon__cublas_instance_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (call->tactic->configuration_size != sizeof(self->choice)) { /* a plan may say so */
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  memcpy(&self->choice, call->tactic->configuration, sizeof(self->choice));
  if (!may_narrow(a->dtype, self->choice.narrow)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  self->state = call->state;
  self->type =
      *find_type(self->choice.narrow != TENON_DTYPE_UNDEFINED ? self->choice.narrow : a->dtype);
  if (self->choice.is_tf32 != 0) {
    self->type.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
  }
  self->a = a->input;
  self->b = b->input;
  self->optimum[0] = a;
  self->optimum[1] = b;
  if (!tenon__cublas_epilogue_recognise(table->slot_program(call->region, 0), y, b->rank > 1,
                                        &self->epilogue, &why)) {
    return tenon__cublas_fail(sink, TENON_ERROR_UNSUPPORTED, "%s", why);
  }
  tenon_status_t status = tenon__cublas_pack(call, self);
  if (status == TENON_OK) {
    status = tenon__cublas_handle_of(self->state, native, sink, &self->handle);
  }
  if (status == TENON_OK) { /* what fails is not destroyed */
    *out_instance = self;
  }
  return status;
}

static const char* const operators[] = {"standard.mat_mul/1", NULL};
/* A bias lies along the last axis, whichever that is: by the slot's classes, anything. */
static const tenon_slot_t slots[] = {{
    .size = sizeof(tenon_slot_t),
    .kind = TENON_SLOT_EPILOGUE,
    .index = 0,
    .max_operands = 2,
    .broadcasts = TENON_BROADCAST_CHANNEL | TENON_BROADCAST_FULL | TENON_BROADCAST_OTHER,
    .channel_axis = 1,
}};

const tenon_kernel_t tenon__cublas_mat_mul_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "mat_mul",
    .device = "cuda",
    .operators = operators,
    .slots = TENON_LIST(slots),
    .version = 3,
    .input_limit = 2,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = tenon__cublas_bind,
    .enqueue = tenon__cublas_enqueue,
    .unbind = tenon__cublas_unbind,
    .validity = tenon__cublas_validity,
};
