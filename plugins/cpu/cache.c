/*
 * standard.tensor_scatter/1: writes the new tokens of each sequence into its cache, in place if the
 * output has the memory of the cache.
 */
#include <stdio.h>

#include "closed.h"

typedef struct cache_t {
  tenon__cpu_closed_t closed;
  size_t element_bytes;
  int64_t axis;
  bool is_circular;
} cache_t;

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  return x->dtype == TENON_DTYPE_STRING || tenon__cpu_element_bytes(x->dtype) == 0
             ? tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL)
             : 1;
}

static double bytes_of(tenon__cpu_region_t region, uint32_t input) {
  const tenon_value_info_t* x = tenon__cpu_region_input(region, input);
  double bytes = (double)tenon__cpu_element_bytes(x->dtype);
  for (uint32_t k = 0; k < x->rank; k++) {
    bytes *= (double)x->dims_opt[k];
  }
  return bytes;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_argument_rule_t output = {.kind = TENON_LAYOUT_ROW_MAJOR, .in_place = 1};
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "rows",
                                 .outputs = &output,
                                 .estimate_seconds = 2e-7 + bytes_of(region, 0) / 1e10,
                                 .launches = 1};
  return add(emit, &tactic);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  cache_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const int64_t axis = tenon__cpu_region_int(region, "axis", -2);
  self->element_bytes = tenon__cpu_element_bytes(x->dtype);
  self->axis = axis < 0 ? axis + (int64_t)x->rank : axis;
  self->is_circular = strcmp(tenon__cpu_region_string(region, "mode"), "circular") == 0;
  *out_instance = self;
  return TENON_OK;
}

/* A row has all tokens of one index of the axes before that of the tokens. */
typedef struct job_t {
  const cache_t* self;
  const char* cache;
  const char* update;
  const int64_t* begins; /* one for each sequence; NULL: zeros */
  char* y;
  int64_t rows;         /* of one sequence */
  int64_t extent;       /* of the cache along the axis */
  int64_t steps;        /* new tokens */
  size_t element_bytes; /* of all axes after that of the tokens */
} job_t;

static void run_rows(void* user, int64_t begin, int64_t end, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  const size_t row = (size_t)job->extent * job->element_bytes;
  for (int64_t k = begin; k < end; k++) {
    char* y = job->y + (size_t)k * row;
    const char* update = job->update + (size_t)(k * job->steps) * job->element_bytes;
    const int64_t first = job->begins == NULL ? 0 : job->begins[k / job->rows];
    if (job->y != job->cache) {
      memcpy(y, job->cache + (size_t)k * row, row);
    }
    if (!job->self->is_circular) {
      memcpy(y + (size_t)first * job->element_bytes, update,
             (size_t)job->steps * job->element_bytes);
      continue;
    }
    for (int64_t step = 0; step < job->steps; step++) {
      memcpy(y + (size_t)((first + step) % job->extent) * job->element_bytes,
             update + (size_t)step * job->element_bytes, job->element_bytes);
    }
  }
}

/* Checks that the new tokens of each sequence fit the cache. A circular cache wraps. */
static tenon_status_t check_begins(const tenon_enqueue_t* call, const job_t* job, int64_t count) {
  const bool wraps = job->self->is_circular;
  const int64_t others = wraps ? 0 : job->steps - 1;
  if (job->steps == 0) {
    return TENON_OK;
  }
  for (int64_t k = 0; k < count; k++) {
    const int64_t first = job->begins == NULL ? 0 : job->begins[k];
    if (first < 0 || (!wraps && first > job->extent - 1 - others)) {
      return tenon__cpu_closed_fail(call, "position %lld is out of range for extent %lld",
                                    (long long)(first < 0 ? first : first + others),
                                    (long long)job->extent);
    }
  }
  return TENON_OK;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const cache_t* self = call->instance;
  const tenon_tensor_view_t* cache = tenon__cpu_closed_input(call, 0);
  const tenon_tensor_view_t* update = tenon__cpu_closed_input(call, 1);
  const tenon_tensor_view_t* begins = tenon__cpu_closed_input(call, 2);
  const uint32_t axis = (uint32_t)self->axis;
  const int64_t rows = tenon__cpu_closed_count(cache, 0, axis);
  const int64_t inner = tenon__cpu_closed_count(cache, axis + 1, cache->rank);
  job_t job = {.self = self,
               .cache = cache->data,
               .update = update->data,
               .begins = begins == NULL ? NULL : begins->data,
               .y = tenon__cpu_closed_output(call, 0)->data,
               .rows = cache->dims[0] == 0 ? 0 : rows / cache->dims[0],
               .extent = cache->dims[axis],
               .steps = update->dims[axis],
               .element_bytes = (size_t)inner * self->element_bytes};
  const tenon_status_t status = check_begins(call, &job, cache->dims[0]);
  if (status != TENON_OK || rows * inner * job.extent == 0) {
    return status;
  }
  const int64_t moved = job.y == job.cache ? job.steps : job.extent;
  tenon__cpu_closed_divide(call, rows, (double)moved * (double)job.element_bytes / 10, run_rows,
                           &job);
  return TENON_OK;
}

static const char* const operators[] = {"standard.tensor_scatter/1", NULL};
static const char* const attributes[] = {"axis", "mode", NULL};

const tenon_kernel_t tenon__cpu_cache_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "cache",
    .device = "cpu",
    .operators = operators,
    .attributes = attributes,
    .version = 1,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .enqueue = enqueue,
};
