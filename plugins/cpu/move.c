/* The move kernel: boxes of elements copied from one place to another, and a fill where no box is.
 */
#include <string.h>

#include "copy.h"
#include "kernels.h"

enum { LEAST_BYTES = 65536, CHUNKS_PER_THREAD = 4 };

typedef struct piece_t {
  tenon__cpu_copy_t copy;
  uint32_t input;
  int64_t in_offset; /* bytes */
  int64_t out_offset;
  int64_t tasks_before;
} piece_t;

typedef struct bound_t {
  const tenon__cpu_isa_t* isa;
  uint32_t piece_count;
  piece_t* pieces;
  int64_t tasks;
  int64_t bytes;
  bool fills;
  uint32_t fill_argument;
  tenon__cpu_copy_t fill;
  size_t element_bytes;
} bound_t;

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  if (table->output_count(region) != 1 || table->input_count(region) > TENON_CPU_MAX_RULES) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_OTHER, "one output, few inputs");
  }
  const tenon_value_info_t* output = table->value(region, table->output(region, 0));
  if (output->dtype == TENON_DTYPE_STRING || tenon__cpu_element_bytes(output->dtype) == 0) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, "elements of whole bytes");
  }
  return 1;
}

/* Read and written at the speed of elements that lie out of order; rows take less. */
static double estimate(const tenon_value_info_t* output) {
  double bytes = (double)tenon__cpu_element_bytes(output->dtype);
  for (uint32_t k = 0; k < output->rank; k++) {
    bytes *= (double)output->dims_opt[k];
  }
  return 2e-7 + 2 * bytes / 3e9;
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  (void)state;
  tenon_argument_rule_t rules[TENON_CPU_MAX_RULES];
  for (size_t k = 0; k < TENON_CPU_MAX_RULES; k++) {
    rules[k] = (tenon_argument_rule_t){.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
  }
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = "copies",
      .inputs = rules,
      .outputs = rules,
      .estimate_seconds = estimate(table->value(region, table->output(region, 0))),
      .launches = 1};
  return add(emit, &tactic);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_state_t* cpu = call->state;
  /* The instance is one pointer. NOLINTNEXTLINE(bugprone-sizeof-expression) */
  const tenon__cpu_isa_t** instance = call->host->allocate(call->preparation, sizeof(*instance));
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *instance = cpu->isa;
  *out_instance = (void*)instance;
  return TENON_OK;
}

static bool plan_piece(const tenon_move_t* move, const tenon_move_piece_t* source,
                       const tenon_tensor_view_t* out, size_t bytes, piece_t* out_piece) {
  out_piece->input = source->input;
  out_piece->in_offset = source->offset * (int64_t)bytes;
  out_piece->out_offset = 0;
  for (uint32_t k = 0; k < move->rank; k++) {
    out_piece->out_offset += source->begin[k] * out->strides[k] * (int64_t)bytes;
  }
  return tenon__cpu_copy_plan(move->rank, source->extent, out->strides, source->strides, bytes,
                              &out_piece->copy);
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  static const int64_t still[64] = {0};
  if (host->output(binding, 0)->kind != TENON_ARGUMENT_TENSOR) {
    return TENON_ERROR_UNSUPPORTED; /* a move finds no extents */
  }
  const tenon_move_t* move = host->move(binding);
  const tenon_tensor_view_t* out = &host->output(binding, 0)->tensor;
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (move == NULL || bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->isa = *(const tenon__cpu_isa_t**)instance;
  bound->element_bytes = tenon__cpu_element_bytes(out->dtype);
  bound->pieces = host->allocate(binding, (move->piece_count + 1U) * sizeof(piece_t));
  if (bound->pieces == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->fills = move->covers_output == 0;
  bound->fill_argument = move->fill_argument;
  bool plans = move->rank <= 64 &&
               (!bound->fills || tenon__cpu_copy_plan(out->rank, out->dims, out->strides, still,
                                                      bound->element_bytes, &bound->fill));
  for (uint32_t k = 0; plans && k < move->piece_count; k++) {
    piece_t* piece = &bound->pieces[bound->piece_count];
    plans = plan_piece(move, &move->pieces[k], out, bound->element_bytes, piece);
    if (piece->copy.tasks > 0) {
      piece->tasks_before = bound->tasks;
      bound->tasks += piece->copy.tasks;
      bound->bytes += piece->copy.tasks * piece->copy.rows_per_task *
                      (int64_t)(piece->copy.inner.columns * bound->element_bytes);
      bound->piece_count += 1;
    }
  }
  *out_bound = bound;
  return plans ? TENON_OK : TENON_ERROR_UNSUPPORTED;
}

typedef struct job_t {
  const bound_t* bound;
  const tenon_argument_t* inputs;
  char* output;
  uint32_t chunks;
} job_t;

static void run_chunk(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  const bound_t* bound = job->bound;
  const int64_t begin = bound->tasks * index / job->chunks;
  const int64_t end = bound->tasks * (index + 1) / job->chunks;
  for (uint32_t k = 0; k < bound->piece_count; k++) {
    const piece_t* piece = &bound->pieces[k];
    const int64_t first = begin - piece->tasks_before;
    const int64_t last = end - piece->tasks_before;
    if (last > 0 && first < piece->copy.tasks) {
      tenon__cpu_copy_run(bound->isa->elements, &piece->copy, job->output + piece->out_offset,
                          (const char*)job->inputs[piece->input].tensor.data + piece->in_offset,
                          first > 0 ? first : 0,
                          last < piece->copy.tasks ? last : piece->copy.tasks);
    }
  }
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  static const uint64_t zero[2] = {0, 0};
  const bound_t* bound = call->bound;
  job_t job = {bound, call->inputs, call->outputs[0].tensor.data, 1};
  if (bound->fills && bound->fill.tasks > 0) {
    const void* value = bound->fill_argument == TENON_NONE
                            ? (const void*)zero
                            : call->inputs[bound->fill_argument].tensor.data;
    tenon__cpu_copy_run(bound->isa->elements, &bound->fill, job.output, value, 0,
                        bound->fill.tasks);
  }
  const uint32_t threads = call->host->thread_count(call->run);
  int64_t chunks = threads > 1 ? (int64_t)threads * CHUNKS_PER_THREAD : 1;
  chunks = chunks > bound->tasks ? bound->tasks : chunks;
  chunks = chunks > bound->bytes / LEAST_BYTES ? bound->bytes / LEAST_BYTES : chunks;
  job.chunks = chunks < 1 ? 1 : (uint32_t)chunks;
  tenon__cpu_parallel(call, job.chunks, run_chunk, &job);
  return TENON_OK;
}

const tenon_kernel_t tenon__cpu_move_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "moves",
    .device = "cpu",
    .version = 1,
    .flags = TENON_KERNEL_MOVES,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = enqueue,
};
