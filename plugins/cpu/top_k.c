/*
 * standard.top_k/1. A line is read once, in blocks: elements above the least of the best so far are
 * kept beside these, and when they are too many the best are selected anew. Only the last selection
 * is sorted. Floats are compared by vectors, f16 and bf16 as f32, all other types as integers of 64
 * bits.
 */
#include <string.h>

#include "copy.h"
#include "kernels.h"
#include "program.h"

/* Elements of the first block, and the maximum number that is compared with one limit. */
enum { FIRST_BLOCK = 64, BLOCK = 1024 };

typedef struct top_k_t {
  const tenon__cpu_isa_t* isa;
  uint32_t axis;
  int32_t flip; /* of keys: -1 makes the smallest first */
  tenon_dtype_t dtype;
  tenon__cpu_type_t type;
  size_t element_bytes;
} top_k_t;

/* A key above the complement of an index. The largest rank is the best; of equal elements the first
 * is. */
__extension__ typedef unsigned __int128 rank_t;

typedef struct bound_t {
  const top_k_t* top_k;
  int64_t outer;
  int64_t extent;
  int64_t inner;
  int64_t count; /* k */
  size_t room;   /* ranks of one thread */
  rank_t* ranks;
  uint64_t* keys;   /* of a line, for each thread; NULL if lines of f32 are read in place */
  uint64_t* copies; /* of a line, for each thread, if its elements are not contiguous; else NULL */
} bound_t;

/* A line as floats or as keys. */
typedef struct line_t {
  const float* floats;
  const uint64_t* keys; /* NULL: floats */
} line_t;

static rank_t rank_of(uint64_t key, size_t index) {
  return (rank_t)key << 64 | (UINT64_MAX - index);
}

static uint64_t key_of(rank_t rank) {
  return (uint64_t)(rank >> 64);
}

static uint64_t index_of(rank_t rank) {
  return UINT64_MAX - (uint64_t)rank;
}

/* ---- Keys ---- */

static uint64_t wide_key(int32_t key) {
  return (uint32_t)key ^ 0x80000000U;
}

/* 0 and -0 are equal. NaN is greater than all numbers. */
static uint64_t key_of_double(double x) {
  const double positive_zero = x + 0.0;
  uint64_t bits = 0;
  memcpy(&bits, &positive_zero, sizeof(bits));
  return x != x ? UINT64_MAX : bits >> 63 != 0 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Replaces `count` elements of 64 bits by keys. */
static void make_keys(const top_k_t* self, uint64_t* keys, size_t count) {
  const uint64_t sign = self->type == TENON_CPU_TYPE_U64 ? 0 : (uint64_t)1 << 63;
  const uint64_t flip = self->flip == 0 ? 0 : UINT64_MAX;
  for (size_t k = 0; k < count; k++) {
    double real = 0;
    memcpy(&real, &keys[k], sizeof(real));
    keys[k] = (self->type == TENON_CPU_TYPE_F64 ? key_of_double(real) : keys[k] ^ sign) ^ flip;
  }
}

/* ---- Selecting ---- */

static void swap(rank_t* a, rank_t* b) {
  const rank_t kept = *a;
  *a = *b;
  *b = kept;
}

/* Larger ranks to the front: returns the place of the pivot. */
static size_t partition(rank_t* ranks, size_t begin, size_t end) {
  const size_t middle = begin + (end - begin) / 2;
  if (ranks[middle] > ranks[begin]) {
    swap(&ranks[middle], &ranks[begin]);
  }
  if (ranks[end - 1] > ranks[begin]) {
    swap(&ranks[end - 1], &ranks[begin]);
  }
  if (ranks[end - 1] > ranks[middle]) {
    swap(&ranks[end - 1], &ranks[middle]);
  }
  const rank_t pivot = ranks[middle];
  swap(&ranks[middle], &ranks[end - 1]);
  size_t place = begin;
  for (size_t k = begin; k + 1 < end; k++) {
    if (ranks[k] > pivot) {
      swap(&ranks[k], &ranks[place++]);
    }
  }
  swap(&ranks[place], &ranks[end - 1]);
  return place;
}

/* A heap with the least in front, over the first `count`. */
static void sift(rank_t* heap, size_t count, size_t place) {
  const rank_t rank = heap[place];
  for (size_t child = 2 * place + 1; child < count; child = 2 * place + 1) {
    child += child + 1 < count && heap[child + 1] < heap[child] ? 1 : 0;
    if (heap[child] >= rank) {
      break;
    }
    heap[place] = heap[child];
    place = child;
  }
  heap[place] = rank;
}

static void make_heap(rank_t* heap, size_t count) {
  for (size_t k = count / 2; k-- > 0;) {
    sift(heap, count, k);
  }
}

/* The best `count` of `total` to the front, in time that no order of the elements makes quadratic. */
static void select_by_heap(rank_t* heap, size_t total, size_t count) {
  make_heap(heap, count);
  for (size_t k = count; k < total; k++) {
    if (heap[k] > heap[0]) {
      swap(&heap[k], &heap[0]);
      sift(heap, count, 0);
    }
  }
}

/* The same by selection: for three elements at most. */
static void select_few(rank_t* ranks, size_t total, size_t count) {
  for (size_t k = 0; k < count; k++) {
    for (size_t other = k + 1; other < total; other++) {
      if (ranks[other] > ranks[k]) {
        swap(&ranks[other], &ranks[k]);
      }
    }
  }
}

/* The best `count` of [0, total) to the front: by partitions while these make progress. */
static void select_best(rank_t* ranks, size_t total, size_t count) {
  size_t begin = 0;
  size_t end = total;
  for (int tries = 64; end - begin > 3 && count > begin && count < end; tries--) {
    if (tries == 0) {
      select_by_heap(ranks + begin, end - begin, count - begin);
      return;
    }
    const size_t place = partition(ranks, begin, end);
    begin = place < count ? place + 1 : begin;
    end = place < count ? end : place;
  }
  if (count > begin && count < end) {
    select_few(ranks + begin, end - begin, count - begin);
  }
}

/* Best first. */
static void sort_best(rank_t* ranks, size_t count) {
  make_heap(ranks, count);
  for (size_t last = count; last > 1; last--) {
    swap(&ranks[0], &ranks[last - 1]);
    sift(ranks, last - 1, 0);
  }
}

/* Appends the elements of [begin, begin + length), or those whose key exceeds *limit. Returns how
 * many these are. */
static size_t append(const top_k_t* self, line_t line, size_t begin, size_t length,
                     const uint64_t* limit, rank_t* out_ranks) {
  const tenon__cpu_elements_t* elements = self->isa->elements;
  uint32_t places[BLOCK];
  int32_t keys[BLOCK];
  size_t found = 0;
  if (line.keys != NULL) {
    for (size_t k = begin; k < begin + length; k++) {
      if (limit == NULL || line.keys[k] > *limit) {
        out_ranks[found++] = rank_of(line.keys[k], k);
      }
    }
  } else if (limit == NULL) {
    elements->order_keys(keys, line.floats + begin, self->flip, length);
    for (; found < length; found++) {
      out_ranks[found] = rank_of(wide_key(keys[found]), begin + found);
    }
  } else {
    const int32_t narrow = (int32_t)((uint32_t)*limit ^ 0x80000000U);
    const size_t count =
        elements->keys_above(places, line.floats + begin, self->flip, narrow, length);
    for (; found < count; found++) {
      elements->order_keys(keys, line.floats + begin + places[found], self->flip, 1);
      out_ranks[found] = rank_of(wide_key(keys[0]), begin + places[found]);
    }
  }
  return found;
}

/* The best of a line, in order, to the front of `ranks`. Blocks grow as the limit rises. */
static void select_line(const bound_t* bound, line_t line, rank_t* ranks) {
  const size_t extent = (size_t)bound->extent;
  const size_t count = (size_t)bound->count;
  size_t used = 0;
  uint64_t limit = 0;
  bool has_limit = false;
  for (size_t begin = 0; begin < extent;) {
    const size_t grown = begin < FIRST_BLOCK ? FIRST_BLOCK : begin > BLOCK ? BLOCK : begin;
    const size_t length = extent - begin < grown ? extent - begin : grown;
    if (used >= 2 * count + FIRST_BLOCK || (!has_limit && used >= count) ||
        used + length > bound->room) {
      select_best(ranks, used, count);
      used = count;
      limit = key_of(ranks[0]);
      for (size_t k = 1; k < count; k++) {
        limit = key_of(ranks[k]) < limit ? key_of(ranks[k]) : limit;
      }
      has_limit = true;
    }
    used += append(bound->top_k, line, begin, length, has_limit ? &limit : NULL, ranks + used);
    begin += length;
  }
  select_best(ranks, used, count);
  sort_best(ranks, count);
}

/* ---- The kernel ---- */

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon_value_info_t* x = tenon__cpu_region_input((tenon__cpu_region_t){handle, table}, 0);
  tenon__cpu_type_t type;
  if (!tenon__cpu_type_of(x->dtype, &type)) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  return x->rank > 0 ? 1 : tenon__cpu_refuse(out_refusal, TENON_REFUSAL_RANK, NULL);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  const tenon__cpu_state_t* cpu = call->state;
  const tenon__cpu_region_t region = {call->region, call->table};
  const int64_t axis = tenon__cpu_region_int(region, "axis", -1);
  top_k_t* self = call->host->allocate(call->preparation, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->isa = cpu->isa;
  self->axis = (uint32_t)(axis < 0 ? axis + tenon__cpu_region_input(region, 0)->rank : axis);
  self->flip = tenon__cpu_region_int(region, "largest", 1) != 0 ? 0 : -1;
  self->dtype = tenon__cpu_region_input(region, 0)->dtype;
  self->element_bytes = tenon__cpu_element_bytes(self->dtype);
  (void)tenon__cpu_type_of(self->dtype, &self->type);
  *out_instance = self;
  return TENON_OK;
}

/* An output that is read: at least one of the two is. */
static const tenon_tensor_view_t* output_of(const tenon_argument_t* values,
                                            const tenon_argument_t* indices) {
  return values != NULL && values->kind == TENON_ARGUMENT_TENSOR ? &values->tensor
                                                                 : &indices->tensor;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  const top_k_t* self = instance;
  const tenon_tensor_view_t* x = &host->input(binding, 0)->tensor;
  const uint32_t threads = host->thread_count(binding);
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_bound = bound;
  bound->top_k = self;
  bound->outer = bound->inner = 1;
  for (uint32_t k = 0; k < x->rank; k++) {
    *(k < self->axis   ? &bound->outer
      : k > self->axis ? &bound->inner
                       : &bound->extent) *= x->dims[k];
  }
  bound->extent = x->dims[self->axis];
  bound->count = output_of(host->output(binding, 0), host->output(binding, 1))->dims[self->axis];
  if (bound->extent > UINT32_MAX - BLOCK || bound->count > bound->extent) {
    return TENON_ERROR_UNSUPPORTED;
  }
  const size_t line_bytes = threads * ((size_t)bound->extent + 1) * sizeof(uint64_t);
  const bool has_keys = self->dtype != TENON_DTYPE_FLOAT32;
  bound->room = 2 * ((size_t)bound->count + BLOCK);
  bound->ranks = host->allocate(binding, threads * bound->room * sizeof(rank_t));
  bound->keys = has_keys ? host->allocate(binding, line_bytes) : NULL;
  bound->copies = bound->inner > 1 ? host->allocate(binding, line_bytes) : NULL;
  return bound->ranks == NULL || (has_keys && bound->keys == NULL) ||
                 (bound->inner > 1 && bound->copies == NULL)
             ? TENON_ERROR_OUT_OF_MEMORY
             : TENON_OK;
}

typedef struct job_t {
  const bound_t* bound;
  const char* x;
  char* values;
  int64_t* indices;
} job_t;

/* Contiguous elements as floats or as keys. */
static line_t read_line(const bound_t* bound, const void* elements, uint32_t thread) {
  const top_k_t* self = bound->top_k;
  const tenon__cpu_elements_t* functions = self->isa->elements;
  const size_t extent = (size_t)bound->extent;
  if (self->dtype == TENON_DTYPE_FLOAT32) {
    return (line_t){elements, NULL};
  }
  uint64_t* keys = bound->keys + thread * (extent + 1);
  if (self->type == TENON_CPU_TYPE_F32) {
    const bool is_f16 = self->dtype == TENON_DTYPE_FLOAT16;
    (is_f16 ? functions->from_f16 : functions->from_bf16)(keys, elements, extent);
    return (line_t){(const float*)(const void*)keys, NULL};
  }
  if (self->type == TENON_CPU_TYPE_F64) {
    memcpy(keys, elements, extent * sizeof(uint64_t));
  } else {
    functions->convert[self->type][TENON_CPU_TYPE_I64](keys, elements, extent);
  }
  make_keys(self, keys, extent);
  return (line_t){NULL, keys};
}

static void run_line(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const bound_t* bound = job->bound;
  const size_t bytes = bound->top_k->element_bytes;
  const int64_t outer = index / bound->inner;
  const int64_t inner = index % bound->inner;
  const char* line = job->x + (outer * bound->extent * bound->inner + inner) * (int64_t)bytes;
  rank_t* ranks = bound->ranks + thread * bound->room;
  if (bound->inner > 1) {
    uint64_t* copy = bound->copies + thread * (size_t)(bound->extent + 1);
    const tenon__cpu_copy_2d_t column = {.element_bytes = bytes,
                                         .rows = 1,
                                         .columns = (size_t)bound->extent,
                                         .out_column = 1,
                                         .in_column = bound->inner};
    tenon__cpu_copy_2d(bound->top_k->isa->elements, &column, copy, line);
    line = (const char*)copy;
  }
  select_line(bound, read_line(bound, line, thread), ranks);
  for (int64_t k = 0; k < bound->count; k++) {
    const int64_t place = (outer * bound->count + k) * bound->inner + inner;
    if (job->values != NULL) {
      memcpy(job->values + place * (int64_t)bytes, line + index_of(ranks[k]) * bytes, bytes);
    }
    if (job->indices != NULL) {
      job->indices[place] = (int64_t)index_of(ranks[k]);
    }
  }
}

static void* data_of(const tenon_enqueue_t* call, uint32_t output) {
  const bool is_wanted =
      output < call->output_count && call->outputs[output].kind == TENON_ARGUMENT_TENSOR;
  return is_wanted ? call->outputs[output].tensor.data : NULL;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const bound_t* bound = call->bound;
  job_t job = {bound, call->inputs[0].tensor.data, data_of(call, 0), data_of(call, 1)};
  const int64_t lines = bound->count == 0 ? 0 : bound->outer * bound->inner;
  if (lines > UINT32_MAX) {
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon__cpu_parallel(call, (uint32_t)lines, run_line, &job);
  return TENON_OK;
}

static tenon_status_t tactics(void* state, const tenon_region_t* handle,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  (void)state;
  const tenon_value_info_t* x = tenon__cpu_region_input((tenon__cpu_region_t){handle, table}, 0);
  double elements = 1;
  for (uint32_t k = 0; k < x->rank; k++) {
    elements *= (double)x->dims_opt[k];
  }
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "selection",
                                 .estimate_seconds = 1e-6 + elements * 5e-10,
                                 .launches = 1};
  return add(emit, &tactic);
}

static const char* const operators[] = {"standard.top_k/1", NULL};
static const char* const attributes[] = {"axis", "largest", "sorted", NULL};

const tenon_kernel_t tenon__cpu_top_k_kernel = {
    .size = sizeof(tenon_kernel_t),
    .name = "top_k",
    .device = "cpu",
    .operators = operators,
    .attributes = attributes,
    .version = 1,
    .match = match,
    .tactics = tactics,
    .prepare = prepare,
    .bind = bind,
    .enqueue = enqueue,
};
