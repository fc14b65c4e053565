/*
 * standard.dynamic_quantize_linear/1 of whole tensors. Threads find the extremes of parts and then
 * quantise parts. If an element is NaN, the scale is NaN, as the operator defines it.
 */
#include "closed.h"

typedef struct range_t {
  float low;
  float high;
  bool has_nan;
  char padding[52]; /* each thread writes its own cache line */
} range_t;

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  return tenon__cpu_region_int(region, "keepdims", 0) == 0
             ? 1
             : tenon__cpu_refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, "keepdims");
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  *out_instance = tenon__cpu_closed_create(call, sizeof(tenon__cpu_closed_t));
  return *out_instance == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  (void)instance;
  *out_bound = host->allocate(binding, host->thread_count(binding) * sizeof(range_t));
  return *out_bound == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

typedef struct job_t {
  const tenon__cpu_elements_t* elements;
  range_t* ranges;
  const float* x;
  uint8_t* y;
  float scale;
  float zero;
} job_t;

static void find_range(void* user, int64_t begin, int64_t end, uint32_t thread) {
  const job_t* job = user;
  range_t* range = &job->ranges[thread];
  const bool has_nan =
      job->elements->range(job->x + begin, (size_t)(end - begin), &range->low, &range->high);
  range->has_nan = range->has_nan || has_nan;
}

static void quantize(void* user, int64_t begin, int64_t end, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  job->elements->quantize[0](job->y + begin, job->x + begin, job->scale, job->zero,
                             (size_t)(end - begin));
}

/* Returns the extremes of 0 and all threads' ranges, or NaN if a thread found one. */
static range_t join_ranges(const range_t* ranges, uint32_t count) {
  range_t all = {0};
  for (uint32_t k = 0; k < count; k++) {
    all.low = ranges[k].low < all.low ? ranges[k].low : all.low;
    all.high = ranges[k].high > all.high ? ranges[k].high : all.high;
    all.has_nan = all.has_nan || ranges[k].has_nan;
  }
  all.low = all.has_nan ? NAN : all.low;
  all.high = all.has_nan ? NAN : all.high;
  return all;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const tenon__cpu_closed_t* self = call->instance;
  range_t* ranges = call->bound;
  const tenon_tensor_view_t* x = tenon__cpu_closed_input(call, 0);
  const tenon_tensor_view_t* outputs[3];
  const int64_t count = tenon__cpu_closed_count(x, 0, x->rank);
  const uint32_t threads = call->host->thread_count(call->run);
  job_t job = {.elements = self->isa->elements, .ranges = ranges, .x = x->data};
  for (uint32_t k = 0; k < 3; k++) {
    outputs[k] = tenon__cpu_closed_output(call, k);
  }
  memset(ranges, 0, threads * sizeof(*ranges));
  tenon__cpu_closed_divide(call, count, 0.2, find_range, &job);
  const range_t range = join_ranges(ranges, threads);
  job.scale = (range.high == range.low ? 1.0F : range.high - range.low) / 255.0F;
  const float zero = -range.low / job.scale;
  job.zero = nearbyintf(zero < 0.0F ? 0.0F : zero > 255.0F ? 255.0F : zero);
  if (outputs[0] != NULL) {
    job.y = outputs[0]->data;
    tenon__cpu_closed_divide(call, count, 0.3, quantize, &job);
  }
  if (outputs[1] != NULL) {
    *(float*)outputs[1]->data = job.scale;
  }
  if (outputs[2] != NULL) {
    *(uint8_t*)outputs[2]->data = isnan(job.zero) ? 0 : (uint8_t)job.zero;
  }
  return TENON_OK;
}

static const char* const operators[] = {"standard.dynamic_quantize_linear/1", NULL};
static const char* const attributes[] = {"keepdims", NULL};
TENON_CPU_CLOSED(dynamic_quantize, "dynamic_quantize", operators, attributes, match, prepare, bind,
                 enqueue);
