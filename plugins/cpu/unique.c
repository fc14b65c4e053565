/*
 * A kernel for standard.unique/1 of all elements. It sorts by value and position with a radix sort,
 * which skips bytes that are the same in all elements. Then equal elements are adjacent.
 */
#include "closed.h"

typedef struct unique_t {
  tenon__cpu_closed_t closed;
  bool is_sorted;
} unique_t;

typedef struct entry_t {
  uint64_t key; /* integers in the order of the values */
  uint64_t place;
} entry_t;

typedef struct bound_t {
  int64_t count;
  entry_t* entries; /* two lists */
  int64_t* first;   /* [value]: index of its first occurrence */
  int64_t* times;
  int64_t* number; /* [value]: its index in the output. Then [position]: its value */
} bound_t;

static int32_t match(void* state, const tenon_region_t* handle, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon__cpu_region_t region = {handle, table};
  const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
  const bool is_known = x->dtype == TENON_DTYPE_FLOAT32 || x->dtype == TENON_DTYPE_FLOAT64 ||
                        x->dtype == TENON_DTYPE_INT32 || x->dtype == TENON_DTYPE_INT64 ||
                        x->dtype == TENON_DTYPE_INT8 || x->dtype == TENON_DTYPE_UINT8 ||
                        x->dtype == TENON_DTYPE_BOOL;
  if (!is_known) {
    return tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
  }
  return tenon__cpu_region_int(region, "flat", 0) != 0 || x->rank == 1
             ? 1
             : tenon__cpu_refuse(out_refusal, TENON_REFUSAL_ATTRIBUTE, "slices along an axis");
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  unique_t* self = tenon__cpu_closed_create(call, sizeof(*self));
  if (self == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  self->is_sorted =
      tenon__cpu_region_int((tenon__cpu_region_t){call->region, call->table}, "sorted", 1) != 0;
  *out_instance = self;
  return TENON_OK;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  (void)instance;
  const tenon_tensor_view_t* x = &host->input(binding, 0)->tensor;
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->count = tenon__cpu_closed_count(x, 0, x->rank);
  const size_t count = (size_t)bound->count + 1;
  bound->entries = host->allocate(binding, 2 * count * sizeof(entry_t));
  bound->first = host->allocate(binding, count * sizeof(int64_t));
  bound->times = host->allocate(binding, count * sizeof(int64_t));
  bound->number = host->allocate(binding, 2 * count * sizeof(int64_t));
  *out_bound = bound;
  return bound->entries == NULL || bound->first == NULL || bound->times == NULL ||
                 bound->number == NULL
             ? TENON_ERROR_OUT_OF_MEMORY
             : TENON_OK;
}

/* 0 and -0 are equal. NaN is greater than all numbers. */
static uint64_t key_of_float(float x) {
  uint32_t bits = 0;
  const float positive_zero = x + 0.0F;
  memcpy(&bits, &positive_zero, sizeof(bits));
  return isnan(x) ? UINT32_MAX : bits ^ ((bits >> 31) != 0 ? UINT32_MAX : 0x80000000U);
}
static uint64_t key_of_double(double x) {
  uint64_t bits = 0;
  const double positive_zero = x + 0.0;
  memcpy(&bits, &positive_zero, sizeof(bits));
  return isnan(x) ? UINT64_MAX : bits ^ ((bits >> 63) != 0 ? UINT64_MAX : (uint64_t)1 << 63);
}
#define SIGN ((uint64_t)1 << 63)

static uint64_t key_of(tenon_dtype_t dtype, const void* x, int64_t at) {
  switch (dtype) {
    case TENON_DTYPE_FLOAT32:
      return key_of_float(((const float*)x)[at]);
    case TENON_DTYPE_FLOAT64:
      return key_of_double(((const double*)x)[at]);
    case TENON_DTYPE_INT32:
      return (uint64_t)(int64_t)((const int32_t*)x)[at] ^ SIGN;
    case TENON_DTYPE_INT64:
      return ((const uint64_t*)x)[at] ^ SIGN;
    case TENON_DTYPE_INT8:
      return (uint64_t)(int64_t)((const int8_t*)x)[at] ^ SIGN;
    default:
      return ((const uint8_t*)x)[at];
  }
}

/* Sorts stably. Returns the sorted list. */
static entry_t* sort(entry_t* entries, entry_t* other, int64_t count) {
  uint64_t differing = 0;
  for (int64_t k = 1; k < count; k++) {
    differing |= entries[k].key ^ entries[0].key;
  }
  for (unsigned shift = 0; shift < 64; shift += 8) {
    int64_t begin[257] = {0};
    if ((differing >> shift & 255U) == 0) {
      continue;
    }
    for (int64_t k = 0; k < count; k++) {
      begin[(entries[k].key >> shift & 255U) + 1]++;
    }
    for (int k = 0; k < 256; k++) {
      begin[k + 1] += begin[k];
    }
    for (int64_t k = 0; k < count; k++) {
      other[begin[entries[k].key >> shift & 255U]++] = entries[k];
    }
    entry_t* kept = entries;
    entries = other;
    other = kept;
  }
  return entries;
}

/* Sets `first` and `times` of each value and the value of each position, in ascending order of
 * values. Returns the number of values. */
static int64_t group(const bound_t* bound, const entry_t* entries) {
  int64_t* which = bound->number + bound->count + 1;
  int64_t found = 0;
  for (int64_t k = 0; k < bound->count; k++) {
    if (k == 0 || entries[k].key != entries[k - 1].key) {
      bound->first[found] = (int64_t)entries[k].place;
      bound->times[found++] = 0;
    }
    bound->times[found - 1]++;
    which[entries[k].place] = found - 1;
  }
  return found;
}

/* Numbers the values in ascending order or in the order of their first occurrence. */
static void number_values(const bound_t* bound, int64_t found, bool is_sorted) {
  const int64_t* which = bound->number + bound->count + 1;
  int64_t next = 0;
  for (int64_t value = 0; value < found; value++) {
    bound->number[value] = value;
  }
  const int64_t places = is_sorted ? 0 : bound->count;
  for (int64_t k = 0; k < places && next < found; k++) {
    if (bound->first[which[k]] == k) {
      bound->number[which[k]] = next++;
    }
  }
}

static tenon_status_t put(const tenon_enqueue_t* call, uint32_t output, const int64_t* values,
                          int64_t found) {
  const bound_t* bound = call->bound;
  void* data = NULL;
  const tenon_status_t status = tenon__cpu_closed_allocate(call, output, 1, &found, &data);
  const int64_t written = data == NULL ? 0 : found;
  for (int64_t value = 0; value < written; value++) {
    ((int64_t*)data)[bound->number[value]] = values[value];
  }
  return status;
}

static tenon_status_t put_values(const tenon_enqueue_t* call, const void* x, size_t bytes,
                                 int64_t found) {
  const bound_t* bound = call->bound;
  void* data = NULL;
  const tenon_status_t status = tenon__cpu_closed_allocate(call, 0, 1, &found, &data);
  const int64_t written = data == NULL ? 0 : found;
  for (int64_t value = 0; value < written; value++) {
    memcpy((char*)data + (size_t)bound->number[value] * bytes,
           (const char*)x + (size_t)bound->first[value] * bytes, bytes);
  }
  return status;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const unique_t* self = call->instance;
  const bound_t* bound = call->bound;
  const void* x = tenon__cpu_closed_input(call, 0)->data;
  const int64_t* which = bound->number + bound->count + 1;
  entry_t* entries = bound->entries;
  for (int64_t k = 0; k < bound->count; k++) {
    entries[k] = (entry_t){key_of(self->closed.dtype, x, k), (uint64_t)k};
  }
  entries = sort(entries, entries + bound->count + 1, bound->count);
  const int64_t found = group(bound, entries);
  number_values(bound, found, self->is_sorted);
  tenon_status_t status = put_values(call, x, tenon__cpu_element_bytes(self->closed.dtype), found);
  status = status == TENON_OK ? put(call, 1, bound->first, found) : status;
  void* inverse = NULL;
  status =
      status == TENON_OK ? tenon__cpu_closed_allocate(call, 2, 1, &bound->count, &inverse) : status;
  const int64_t places = inverse == NULL ? 0 : bound->count;
  for (int64_t k = 0; k < places; k++) {
    ((int64_t*)inverse)[k] = bound->number[which[k]];
  }
  return status == TENON_OK ? put(call, 3, bound->times, found) : status;
}

static const char* const operators[] = {"standard.unique/1", NULL};
static const char* const attributes[] = {"axis", "flat", "sorted", NULL};
TENON_CPU_CLOSED(unique, "unique", operators, attributes, match, prepare, bind, enqueue);
