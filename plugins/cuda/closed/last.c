/*
 * Pools and resizes where channels lie innermost, in f32, f16 and bf16; values of f32 also kept in
 * the narrower two, where the build permits that: between convolutions that want them so, no value
 * is converted for them. What this does not take the row of the same operator does.
 */
#include <string.h>

#include "../analysis.h"
#include "../layouts.h"
#include "last.h"

#include "../texts.h"
#include "rows.h"

enum { PIECE_BYTES = 16, LAST_RANK = 4 };

/* Of the tactic: in which type it reads and writes. */
typedef struct choice_t {
  uint32_t dtype;
} choice_t;

static void bind_pieces(tenon__closed_work_t* work) {
  tenon__closed_bind_windows(work);
  work->launches[0].threads /= PIECE_BYTES / (int64_t)tenon__cuda_bytes(work->in[0].dtype);
}

static const tenon__closed_row_t rows[] = {{.name = "max_pool",
                                            .text = tenon__cuda_closed_pool_text,
                                            .attributes = LIST(POOL, "storage_order"),
                                            .kernels = LIST("pool_last"),
                                            .bind = bind_pieces},
                                           {.name = "average_pool",
                                            .text = tenon__cuda_closed_pool_text,
                                            .attributes = LIST(POOL, "count_include_pad"),
                                            .kernels = LIST("pool_last"),
                                            .bind = bind_pieces,
                                            .flags = TENON_CLOSED_SUMS},
                                           {.name = "resize",
                                            .text = tenon__cuda_closed_resize_text,
                                            .building_blocks = RESIZE_LAST_DEFINITIONS,
                                            .attributes = LIST(RESIZE),
                                            .kernels = LIST("resize"),
                                            .knows = tenon__closed_knows_scales,
                                            .bind = tenon__closed_bind_resize_last}};

static const tenon__closed_row_t* find_row(const char* op) {
  return strcmp(op, "standard.max_pool/1") == 0       ? &rows[0]
         : strcmp(op, "standard.average_pool/1") == 0 ? &rows[1]
         : strcmp(op, "standard.resize/1") == 0       ? &rows[2]
                                                      : NULL;
}

static bool read_work(const tenon_region_t* region, const tenon_region_table_t* table,
                      tenon__closed_work_t* out_work) {
  memset(out_work, 0, sizeof(*out_work));
  out_work->row = find_row(table->node_operator(region, 0));
  out_work->region = region;
  out_work->table = table;
  return out_work->row != NULL && tenon__closed_read_region(out_work) == NULL;
}

static bool is_narrow(tenon_dtype_t dtype) {
  return dtype == TENON_DTYPE_FLOAT16 || dtype == TENON_DTYPE_BFLOAT16;
}
static bool fits_pieces(const tenon__closed_work_t* work, tenon_dtype_t dtype) {
  return work->in[0].dims[1] * (int64_t)tenon__cuda_bytes(dtype) % PIECE_BYTES == 0;
}

static int32_t match_data(tenon__cuda_state_t* state, const tenon_region_t* region,
                          const tenon_region_table_t* table, bool is_known,
                          tenon_refusal_t* out_refusal) {
  tenon__closed_work_t work;
  const tenon_value_info_t* x = table->value(region, table->node_input(region, 0, 0));
  if (!read_work(region, table, &work) || x->rank != LAST_RANK) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_RANK, "other than two spatial axes");
  }
  if (x->dims_min[1] != x->dims_max[1]) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "the number of channels");
  }
  if (work.in[0].dtype != TENON_DTYPE_FLOAT32 && !is_narrow(work.in[0].dtype)) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (!work.out[0].present || work.out[1].present) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_OTHER, "places");
  }
  if (!fits_pieces(&work, work.in[0].dtype)) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_OTHER,
                              "channels that are no multiple of 16 bytes");
  }
  const char* why = tenon__closed_refuse_data(&work, is_known);
  if (why != NULL) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_OTHER, why);
  }
  return tenon__cuda_compiler_exists(state) ? 1
                                            : tenon__cuda_refuse(out_refusal, TENON_REFUSAL_LIBRARY,
                                                                 "CUDA's run-time compiler, NVRTC");
}
static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  return match_data(state, region, table, false, out_refusal);
}
static int32_t match_known(void* state, const tenon_region_t* region,
                           const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  return match_data(state, region, table, true, out_refusal);
}

/* A launch, and what has to be read and written. */
static double seconds_of(const tenon__closed_work_t* work, tenon_dtype_t dtype) {
  const double elements = (double)work->in[0].count + (double)work->out[0].count;
  return 1.4e-6 + elements * (double)tenon__cuda_bytes(dtype) / 2.4e12;
}

static tenon_status_t emit_one(const tenon__closed_work_t* work, tenon_dtype_t dtype,
                               tenon_emit_t* emit,
                               tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const bool is_rounded = dtype != work->in[0].dtype;
  const bool is_brain = dtype == TENON_DTYPE_BFLOAT16;
  const tenon_numerics_t numerics = {.size = sizeof(numerics),
                                     .reassociates = 1,
                                     .product_mantissa_bits = !is_rounded ? 0
                                                              : is_brain  ? 7
                                                                          : 10,
                                     .product_exponent_bits = !is_rounded ? 0
                                                              : is_brain  ? 8
                                                                          : 5};
  const choice_t choice = {dtype};
  /* Of x, then of y and the places that are absent, or of a resize's sizes, scales and region. */
  const tenon_argument_rule_t rules[4] = {
      {.kind = TENON_LAYOUT_EXACT,
       .layout = tenon__cuda_channels_last(LAST_RANK),
       .dtype = is_rounded ? dtype : (tenon_dtype_t)TENON_DTYPE_UNDEFINED,
       .alignment = PIECE_BYTES},
      {0}};
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = dtype == TENON_DTYPE_FLOAT16    ? "channels last, f16"
              : dtype == TENON_DTYPE_BFLOAT16 ? "channels last, bf16"
                                              : "channels last",
      .configuration = &choice,
      .configuration_size = sizeof(choice),
      .inputs = rules,
      .outputs = rules,
      .numerics = &numerics,
      .estimate_seconds = seconds_of(work, dtype),
      .flags = TENON_TACTIC_RECORDABLE | TENON_TACTIC_RELEASES_EARLY,
      .launches = 1,
  };
  return add(emit, &tactic);
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  static const tenon_dtype_t narrow[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16};
  tenon__closed_work_t work;
  (void)state;
  if (!read_work(region, table, &work)) {
    return TENON_OK;
  }
  tenon_status_t status = emit_one(&work, work.in[0].dtype, emit, add);
  const uint32_t count = work.in[0].dtype == TENON_DTYPE_FLOAT32 ? 2 : 0;
  for (uint32_t k = 0; k < count && status == TENON_OK; k++) {
    status = fits_pieces(&work, narrow[k]) ? emit_one(&work, narrow[k], emit, add) : TENON_OK;
  }
  return status;
}

/* ---- Preparing ---- */

static tenon_status_t read_call(const tenon_prepare_t* call,
                                tenon__closed_instance_t** out_instance) {
  choice_t choice;
  tenon_device_t* device = tenon__cuda_prepared_device(call);
  if (device == NULL) {
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon__closed_instance_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (call->tactic->configuration_size != sizeof(choice) ||
      !read_work(call->region, call->table, &instance->work)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  memcpy(&choice, call->tactic->configuration, sizeof(choice));
  tenon__closed_work_t* work = &instance->work;
  const bool is_known = choice.dtype == work->in[0].dtype ||
                        (work->in[0].dtype == TENON_DTYPE_FLOAT32 && is_narrow(choice.dtype));
  if (!is_known || !fits_pieces(work, choice.dtype)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  work->in[0].dtype = choice.dtype;
  work->out[0].dtype = choice.dtype;
  instance->device = device;
  *out_instance = instance;
  return TENON_OK;
}

static void begin_prepare(const tenon_prepare_t* call) {
  tenon__closed_instance_t* instance = NULL;
  if (read_call(call, &instance) == TENON_OK) {
    tenon__closed_begin(call, instance);
  }
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  tenon__closed_instance_t* instance = NULL;
  const tenon_status_t status = read_call(call, &instance);
  return status == TENON_OK ? tenon__closed_finish(call, instance, out_instance) : status;
}

static tenon_status_t prepare_known(const tenon_prepare_t* call, void** out_instance) {
  tenon__closed_instance_t* instance = NULL;
  const tenon_status_t status = read_call(call, &instance);
  return status == TENON_OK ? tenon__closed_finish_known(call, instance, out_instance) : status;
}

/* A descriptor for each list of attributes and of faults. */
#define OFFERED(kernel_name, end, kernel_operators, kernel_attributes, kernel_faults)      \
  {                                                                                        \
    .size = sizeof(tenon_kernel_t), .name = (kernel_name), .device = "cuda",               \
    .operators = (kernel_operators), .attributes = (kernel_attributes), .version = 1,      \
    .match = match##end, .tactics = tactics, .begin_prepare = begin_prepare,               \
    .prepare = prepare##end, .bind = tenon__closed_bind, .enqueue = tenon__closed_enqueue, \
    .destroy = tenon__closed_destroy, .faults = (kernel_faults)                            \
  }

static const tenon_kernel_t kernels[] = {
    OFFERED("pool", , LIST("standard.max_pool/1", "standard.average_pool/1"),
            LIST(POOL, "storage_order", "count_include_pad"), NULL),
    OFFERED("resize_last", , LIST("standard.resize/1"), LIST(RESIZE), RESIZE_FAULTS),
    OFFERED("resize_last_known", _known, LIST("standard.resize/1"), LIST(RESIZE), NULL)};
const tenon_offering_t tenon__cuda_last_kernels = TENON_OFFERING_OF("kernel/1", kernels);
