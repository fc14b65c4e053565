/* Writing where indices say: scatter_nd and scatter_elements, on dense tensors, in place where the
 * input's memory may be taken. Updates of one place follow the order of the indices, so that the
 * last one stays. */
#include <stdio.h>
#include <string.h>

#include "kernels.h"

enum { MOST_AXES = 8 };

typedef enum reduction_t { NONE, ADD, MUL, MAX, MIN } reduction_t;

typedef struct scatter_t {
  reduction_t reduction;
  size_t element_bytes;
  uint32_t axis; /* scatter_elements */
  bool by_element;
} scatter_t;

static const char* const reduction_names[] = {"none", "add", "mul", "max", "min"};

static int32_t find_reduction(tenon__cpu_region_t region) {
  const char* name = tenon__cpu_region_string(region, "reduction");
  for (int32_t k = 0; k < 5; k++) {
    if (strcmp(name, reduction_names[k]) == 0) {
      return k;
    }
  }
  return -1;
}

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const tenon_value_info_t* indices = tenon__cpu_region_input(region, 1);
  const int32_t reduction = find_reduction(region);
  if (x->dtype == TENON_DTYPE_STRING || tenon__cpu_element_bytes(x->dtype) == 0 ||
      indices->dtype != TENON_DTYPE_INT64) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  if (reduction < 0 || (reduction > 0 && x->dtype != TENON_DTYPE_FLOAT32)) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, "a reduction of other than floats");
  }
  if (x->rank == 0 || x->rank > MOST_AXES || indices->rank == 0) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
  }
  return 1;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const tenon_argument_rule_t output = {.kind = TENON_LAYOUT_ROW_MAJOR, .in_place = 1};
  double bytes = (double)tenon__cpu_element_bytes(x->dtype);
  for (uint32_t k = 0; k < x->rank; k++) {
    bytes *= (double)x->dims_opt[k];
  }
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "slices",
                                 .outputs = &output,
                                 .estimate_seconds = 2e-7 + bytes / 5e9,
                                 .launches = 1};
  return add(emit, &tactic);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_region_t region = {call->region, call->table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  scatter_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const int64_t axis = tenon__cpu_region_int(region, "axis", 0);
  self->reduction = (reduction_t)find_reduction(region);
  self->element_bytes = tenon__cpu_element_bytes(x->dtype);
  self->by_element =
      strstr(call->table->node_operator(call->region, 0), "scatter_elements") != NULL;
  self->axis = (uint32_t)(axis < 0 ? axis + (int64_t)x->rank : axis);
  *out_instance = self;
  return TENON_OK;
}

static void combine(const scatter_t* self, char* to, const char* from, int64_t count) {
  float* y = (float*)(void*)to;
  const float* u = (const float*)(const void*)from;
  switch (self->reduction) {
    case ADD:
      for (int64_t k = 0; k < count; k++) {
        y[k] += u[k];
      }
      break;
    case MUL:
      for (int64_t k = 0; k < count; k++) {
        y[k] *= u[k];
      }
      break;
    case MAX:
      for (int64_t k = 0; k < count; k++) {
        y[k] = u[k] > y[k] || u[k] != u[k] ? u[k] : y[k];
      }
      break;
    case MIN:
      for (int64_t k = 0; k < count; k++) {
        y[k] = u[k] < y[k] || u[k] != u[k] ? u[k] : y[k];
      }
      break;
    default:
      memcpy(to, from, (size_t)count * self->element_bytes);
      break;
  }
}

static int64_t product(const tenon_tensor_view_t* view, uint32_t begin, uint32_t end) {
  int64_t count = 1;
  for (uint32_t k = begin; k < end; k++) {
    count *= view->dims[k];
  }
  return count;
}

static tenon_status_t out_of_range(const tenon_enqueue_t* call, int64_t index, int64_t extent) {
  char message[96];
  (void)snprintf(message, sizeof(message), "index %lld is out of range for extent %lld",
                 (long long)index, (long long)extent);
  return call->host->fail(call->run, TENON_ERROR_INVALID_DATA, message);
}

typedef struct job_t {
  const scatter_t* self;
  const tenon_enqueue_t* call;
  const tenon_tensor_view_t* indices;
  const tenon_tensor_view_t* updates;
  const tenon_tensor_view_t* y;
} job_t;

static tenon_status_t misfit(const job_t* job) {
  char message[128];
  (void)snprintf(message, sizeof(message), "%lld updates do not fit %lld indices and their extents",
                 (long long)product(job->updates, 0, job->updates->rank),
                 (long long)product(job->indices, 0, job->indices->rank));
  return job->call->host->fail(job->call->run, TENON_ERROR_INVALID_DATA, message);
}

static tenon_status_t scatter_slices(const job_t* job) {
  const tenon_tensor_view_t* y = job->y;
  const int64_t* at = job->indices->data;
  const int64_t axes = job->indices->dims[job->indices->rank - 1];
  if (axes > (int64_t)y->rank) {
    return misfit(job);
  }
  const uint32_t depth = (uint32_t)axes;
  const int64_t slices = product(job->indices, 0, job->indices->rank - 1);
  const int64_t length = product(y, depth, y->rank);
  if (product(job->updates, 0, job->updates->rank) != slices * length) {
    return misfit(job);
  }
  if (slices * length == 0) {
    return TENON_OK;
  }
  const size_t bytes = (size_t)length * job->self->element_bytes;
  const char* from = job->updates->data;
  for (int64_t slice = 0; slice < slices; slice++, at += depth, from += bytes) {
    int64_t target = 0;
    for (uint32_t k = 0; k < depth; k++) {
      const int64_t index = at[k] + (at[k] < 0 ? y->dims[k] : 0);
      if (index < 0 || index >= y->dims[k]) {
        return out_of_range(job->call, at[k], y->dims[k]);
      }
      target = target * y->dims[k] + index;
    }
    combine(job->self, (char*)y->data + (size_t)target * bytes, from, length);
  }
  return TENON_OK;
}

/* A line of updates along the last axis. Update j goes to element index * stride + j * step of y. */
typedef struct line_t {
  const int64_t* indices;
  const char* updates;
  char* y;
  int64_t count;
  int64_t extent; /* of y along the axis */
  int64_t stride; /* of y along the axis */
  int64_t step;
} line_t;

/* Returns the element of y that update j changes, or -1 if its index is out of range. */
static inline int64_t target_of(const line_t* line, int64_t j) {
  const int64_t given = line->indices[j];
  const int64_t index = given + (given < 0 ? line->extent : 0);
  return index < 0 || index >= line->extent ? -1 : index * line->stride + j * line->step;
}

/* These functions return the first j whose index is out of range, or count.
 * The macro argument is part of a type. NOLINTBEGIN(bugprone-macro-parentheses) */
#define STORE_LINE(bits)                                                            \
  static int64_t store_line_##bits(const line_t* line) {                            \
    uint##bits##_t* y = (uint##bits##_t*)(void*)line->y;                            \
    const uint##bits##_t* from = (const uint##bits##_t*)(const void*)line->updates; \
    int64_t j = 0;                                                                  \
    for (; j < line->count; j++) {                                                  \
      const int64_t target = target_of(line, j);                                    \
      if (target < 0) {                                                             \
        break;                                                                      \
      }                                                                             \
      y[target] = from[j];                                                          \
    }                                                                               \
    return j;                                                                       \
  }
/* NOLINTEND(bugprone-macro-parentheses) */
STORE_LINE(8)
STORE_LINE(16)
STORE_LINE(32)
STORE_LINE(64)

static int64_t combine_line(const scatter_t* self, const line_t* line) {
  const int64_t size = (int64_t)self->element_bytes;
  int64_t j = 0;
  for (; j < line->count; j++) {
    const int64_t target = target_of(line, j);
    if (target < 0) {
      break;
    }
    combine(self, line->y + target * size, line->updates + j * size, 1);
  }
  return j;
}

static int64_t scatter_line(const scatter_t* self, const line_t* line) {
  switch (self->reduction == NONE ? self->element_bytes : 0) {
    case 1:
      return store_line_8(line);
    case 2:
      return store_line_16(line);
    case 4:
      return store_line_32(line);
    case 8:
      return store_line_64(line);
    default:
      return combine_line(self, line);
  }
}

static tenon_status_t scatter_elements(const job_t* job) {
  const tenon_tensor_view_t* y = job->y;
  const tenon_tensor_view_t* indices = job->indices;
  const size_t size = job->self->element_bytes;
  const uint32_t axis = job->self->axis;
  const uint32_t last = y->rank - 1;
  int64_t place[MOST_AXES] = {0};
  int64_t strides[MOST_AXES] = {0};
  const int64_t count = product(indices, 0, indices->rank);
  bool fits = indices->rank == y->rank && product(job->updates, 0, job->updates->rank) == count;
  for (uint32_t k = y->rank; fits && k-- > 0;) {
    fits = k == axis || indices->dims[k] <= y->dims[k];
    strides[k] = k == last ? 1 : strides[k + 1] * y->dims[k + 1];
  }
  if (!fits) {
    return misfit(job);
  }
  line_t line = {.count = indices->dims[last],
                 .extent = y->dims[axis],
                 .stride = strides[axis],
                 .step = axis == last ? 0 : 1};
  for (int64_t first = 0; first < count; first += line.count) {
    int64_t base = 0;
    for (uint32_t k = 0; k < last; k++) {
      base += k == axis ? 0 : place[k] * strides[k];
    }
    line.indices = (const int64_t*)indices->data + first;
    line.updates = (const char*)job->updates->data + (size_t)first * size;
    line.y = (char*)y->data + (size_t)base * size;
    const int64_t done = scatter_line(job->self, &line);
    if (done < line.count) {
      return out_of_range(job->call, line.indices[done], line.extent);
    }
    for (uint32_t k = last; k-- > 0 && ++place[k] == indices->dims[k];) {
      place[k] = 0;
    }
  }
  return TENON_OK;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const scatter_t* self = call->instance;
  if (call->input_count != 3 || call->output_count != 1) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const tenon_tensor_view_t* x = &call->inputs[0].tensor;
  const job_t job = {self, call, &call->inputs[1].tensor, &call->inputs[2].tensor,
                     &call->outputs[0].tensor};
  const size_t bytes = (size_t)product(x, 0, x->rank) * self->element_bytes;
  if (job.y->data != x->data && bytes > 0) {
    memcpy(job.y->data, x->data, bytes);
  }
  return self->by_element ? scatter_elements(&job) : scatter_slices(&job);
}

static const char* const operators[] = {"standard.scatter_nd/1", "standard.scatter_elements/1",
                                        NULL};
static const char* const attributes[] = {"reduction", "axis", NULL};

const tenon_kernel_t tenon__cpu_scatter_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "scatter",
    .device = "cpu",
    .operators = operators,
    .attributes = attributes,
    .version = 1,
    .input_limit = 3,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .enqueue = enqueue,
};
