/* See value.h. */
#include "data/value.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/console.h"
#include "text/memory.h"

const char* tool_kind_name(uint32_t kind) {
  return kind == TENON_ARGUMENT_TENSOR              ? "tensor"
         : kind == TENON_ARGUMENT_SEQUENCE          ? "sequence"
         : kind == TENON_ARGUMENT_OPTIONAL          ? "optional"
         : kind == TENON_ARGUMENT_OPTIONAL_SEQUENCE ? "optional sequence"
                                                    : "nothing";
}

tenon_status_t tool_value_make(const char* what, tenon_dtype_t dtype, uint32_t rank,
                               const int64_t* dims, tool_value_t* out_value) {
  uint64_t count = 0;
  uint64_t bytes = 0;
  if (tool_dtype_bits(dtype) == 0 || !tool_element_count(rank, dims, dtype, &count, &bytes)) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: extents or element type of no tensor", what);
  }
  *out_value = (tool_value_t){.kind = TENON_ARGUMENT_TENSOR,
                              .dtype = dtype,
                              .rank = rank,
                              .dims = tool_allocate(rank, sizeof(int64_t)),
                              .count = count,
                              .size_bytes = bytes,
                              .data = tool_allocate((size_t)bytes, 1)};
  if (rank > 0) {
    memcpy(out_value->dims, dims, rank * sizeof(int64_t));
  }
  return TENON_OK;
}

void tool_value_free(tool_value_t* value) {
  for (size_t i = 0; i < value->item_count; ++i) {
    tool_value_free(&value->items[i]);
  }
  tool_free(value->items);
  tool_free(value->name);
  tool_free(value->dims);
  tool_free(value->data);
  tool_free(value->text);
  *value = (tool_value_t){0};
}

void tool_value_make_items(uint32_t kind, size_t count, tool_value_t* out_value) {
  *out_value = (tool_value_t){
      .kind = kind, .item_count = count, .items = tool_allocate(count, sizeof(tool_value_t))};
}

/* ---- From and to the library ---- */

/* Calls for each element in order of its index: the offset in elements from the view's data. */
typedef struct walk_t {
  const tenon_tensor_view_t* view;
  int64_t index[64];
  int64_t offset;
} walk_t;

static void walk_next(walk_t* walk) {
  for (uint32_t k = walk->view->rank; k-- > 0;) {
    walk->offset += walk->view->strides[k];
    if (++walk->index[k] < walk->view->dims[k]) {
      return;
    }
    walk->offset -= walk->view->strides[k] * walk->view->dims[k];
    walk->index[k] = 0;
  }
}

static void copy_elements(const tenon_tensor_view_t* view, tool_value_t* value) {
  const uint32_t bits = tool_dtype_bits(view->dtype);
  const uint8_t* source = view->data;
  uint8_t* target = value->data;
  walk_t walk = {.view = view};
  for (uint64_t i = 0; i < value->count; ++i, walk_next(&walk)) {
    if (bits >= 8) {
      const int64_t step = (int64_t)(bits / 8);
      memcpy(target + i * (uint64_t)step, source + walk.offset * step, (size_t)step);
      continue;
    }
    const int64_t from = (int64_t)view->bit_offset + walk.offset * (int64_t)bits;
    const uint32_t code = (uint32_t)(source[from / 8] >> from % 8) & ((1u << bits) - 1);
    target[i * bits / 8] = (uint8_t)(target[i * bits / 8] | code << i * bits % 8);
  }
}

static bool is_dense(const tenon_tensor_view_t* view) {
  int64_t stride = 1;
  for (uint32_t k = view->rank; k-- > 0;) {
    if (view->dims[k] != 1 && view->strides != NULL && view->strides[k] != stride) {
      return false;
    }
    stride *= view->dims[k];
  }
  return view->bit_offset == 0;
}

/* String elements point into the library's memory: takes copies of their bytes. */
static void adopt_strings(tool_value_t* value) {
  tenon_string_view_t* strings = value->data;
  size_t total = 0;
  for (uint64_t i = 0; i < value->count; ++i) {
    total += strings[i].size;
  }
  value->text = tool_allocate(total + 1, 1);
  size_t used = 0;
  for (uint64_t i = 0; i < value->count; ++i) {
    if (strings[i].size > 0) {
      memcpy(value->text + used, strings[i].data, strings[i].size);
    }
    strings[i].data = value->text + used;
    used += strings[i].size;
  }
}

static tenon_status_t copy_view(const char* what, const tenon_tensor_view_t* view,
                                tool_value_t* out_value) {
  if (view->layout != TENON_NONE || view->rank > 64) {
    return tool_fail(TENON_ERROR_INTERNAL, "%s: a layout that strides do not describe", what);
  }
  const tenon_status_t status =
      tool_value_make(what, view->dtype, view->rank, view->dims, out_value);
  if (status != TENON_OK) {
    return status;
  }
  if (is_dense(view)) {
    if (out_value->size_bytes > 0) {
      memcpy(out_value->data, view->data, (size_t)out_value->size_bytes);
    }
  } else {
    copy_elements(view, out_value);
  }
  if (view->dtype == TENON_DTYPE_STRING) {
    adopt_strings(out_value);
  }
  return TENON_OK;
}

tenon_status_t tool_value_copy_argument(const char* what, const tenon_argument_t* argument,
                                        tool_value_t* out_value) {
  if (argument->kind == TENON_ARGUMENT_TENSOR) {
    return copy_view(what, &argument->tensor, out_value);
  }
  if (argument->kind != TENON_ARGUMENT_SEQUENCE && argument->kind != TENON_ARGUMENT_OPTIONAL &&
      argument->kind != TENON_ARGUMENT_OPTIONAL_SEQUENCE) {
    return tool_fail(TENON_ERROR_INTERNAL, "%s: there are no data", what);
  }
  tool_value_t value;
  tool_value_make_items(argument->kind, argument->count, &value);
  for (uint32_t i = 0; i < argument->count; ++i) {
    const tenon_status_t status =
        tool_value_copy_argument(what, &argument->items[i], &value.items[i]);
    if (status != TENON_OK) {
      tool_value_free(&value);
      return status;
    }
  }
  *out_value = value;
  return TENON_OK;
}

void tool_argument_make(const tool_value_t* value, tenon_argument_t* out_argument) {
  *out_argument = (tenon_argument_t){.kind = value->kind};
  if (value->kind == TENON_ARGUMENT_TENSOR) {
    int64_t* strides = tool_allocate(value->rank, sizeof(int64_t));
    int64_t stride = 1;
    for (uint32_t k = value->rank; k-- > 0;) {
      strides[k] = stride;
      stride *= value->dims[k];
    }
    out_argument->tensor = (tenon_tensor_view_t){.data = value->data,
                                                 .dims = value->dims,
                                                 .strides = strides,
                                                 .rank = value->rank,
                                                 .dtype = value->dtype,
                                                 .layout = TENON_NONE};
    return;
  }
  tenon_argument_t* items = tool_allocate(value->item_count, sizeof(*items));
  for (size_t i = 0; i < value->item_count; ++i) {
    tool_argument_make(&value->items[i], &items[i]);
  }
  out_argument->items = items;
  out_argument->count = (uint32_t)value->item_count;
}

void tool_argument_free(tenon_argument_t* argument) {
  tool_free((void*)argument->tensor.strides);
  for (uint32_t i = 0; i < argument->count; ++i) {
    tool_argument_free((tenon_argument_t*)&argument->items[i]);
  }
  tool_free((void*)argument->items);
  *argument = (tenon_argument_t){0};
}

/* ---- Other values ---- */

void tool_value_copy(const tool_value_t* value, tool_value_t* out_value) {
  *out_value = *value;
  out_value->name = value->name != NULL ? tool_copy_text(value->name) : NULL;
  out_value->dims = NULL;
  out_value->data = NULL;
  out_value->text = NULL;
  out_value->items = NULL;
  if (value->kind != TENON_ARGUMENT_TENSOR) {
    out_value->items = tool_allocate(value->item_count, sizeof(*value->items));
    for (size_t i = 0; i < value->item_count; ++i) {
      tool_value_copy(&value->items[i], &out_value->items[i]);
    }
    return;
  }
  out_value->dims = tool_allocate(value->rank, sizeof(int64_t));
  out_value->data = tool_allocate((size_t)value->size_bytes, 1);
  if (value->rank > 0) {
    memcpy(out_value->dims, value->dims, value->rank * sizeof(int64_t));
  }
  if (value->size_bytes > 0) {
    memcpy(out_value->data, value->data, (size_t)value->size_bytes);
  }
  if (value->dtype == TENON_DTYPE_STRING) {
    adopt_strings(out_value);
  }
}

tenon_status_t tool_value_repeat(const char* what, const tool_value_t* value, int64_t times,
                                 tool_value_t* out_value) {
  int64_t dims[64];
  const bool sub_byte = tool_dtype_bits(value->dtype) < 8 && value->size_bytes > 0;
  if (value->kind != TENON_ARGUMENT_TENSOR || value->rank == 0 || value->rank > 64 || sub_byte ||
      times < 1 || __builtin_mul_overflow(value->dims[0], times, &dims[0])) {
    return tool_fail(TENON_ERROR_INVALID_ARGUMENT,
                     "%s: cannot be repeated along a batch axis, for it has none", what);
  }
  memcpy(dims + 1, value->dims + 1, (value->rank - 1) * sizeof(int64_t));
  const tenon_status_t status = tool_value_make(what, value->dtype, value->rank, dims, out_value);
  if (status != TENON_OK) {
    return status;
  }
  if (value->size_bytes > 0) {
    for (int64_t i = 0; i < times; ++i) {
      memcpy((char*)out_value->data + (uint64_t)i * value->size_bytes, value->data,
             (size_t)value->size_bytes);
    }
  }
  if (value->dtype == TENON_DTYPE_STRING) {
    adopt_strings(out_value);
  }
  return TENON_OK;
}

uint64_t tool_value_largest(const tool_value_t* value, uint64_t begin, uint64_t count,
                            const bool* taken) {
  uint64_t best = count;
  double largest = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const double element = tool_element_get(value->dtype, value->data, begin + i, 0);
    const bool counts = !isnan(element) && (taken == NULL || !taken[i]);
    if (counts && (best == count || element > largest)) {
      best = i;
      largest = element;
    }
  }
  return best;
}

tenon_status_t tool_value_convert(const char* what, const tool_value_t* value, tenon_dtype_t dtype,
                                  tool_value_t* out_value, tool_loss_t* out_loss) {
  static const char numeric[] = "biuf";
  if (value->kind != TENON_ARGUMENT_TENSOR ||
      strchr(numeric, tool_dtype_class(value->dtype)) == NULL ||
      strchr(numeric, tool_dtype_class(dtype)) == NULL) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: cannot be converted from %s to %s", what,
                     tool_dtype_name(value->dtype), tool_dtype_name(dtype));
  }
  const tenon_status_t status = tool_value_make(what, dtype, value->rank, value->dims, out_value);
  const bool rounds = tool_dtype_class(value->dtype) == 'f' && tool_dtype_class(dtype) == 'f';
  tool_loss_t loss = {0};
  if (status == TENON_OK) {
    for (uint64_t i = 0; i < value->count; ++i) {
      const double from = tool_element_get(value->dtype, value->data, i, 0);
      tool_element_set(dtype, out_value->data, i, from);
      const double to = tool_element_get(dtype, out_value->data, i, 0);
      const bool same = from == to || (isnan(from) && isnan(to));
      if (!same && !(rounds && isfinite(to) && to != 0) && loss.count++ == 0) {
        loss.from = from;
        loss.to = to;
      }
    }
  }
  *out_loss = loss;
  return status;
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t* state) {
  uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
  return z ^ z >> 31;
}

/* Sum of twelve uniform numbers less six: close to normal, the same on every machine. */
static double next_normal(uint64_t* state) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) {
    sum += ldexp((double)(next_random(state) >> 11), -53);
  }
  return sum;
}

static void randomize_strings(tool_value_t* value, uint64_t* state) {
  static const char* const words[] = {"mortise", "tenon", "beam", "joint", "dowel", "rafter"};
  tenon_string_view_t* strings = value->data;
  for (uint64_t i = 0; i < value->count; ++i) {
    const char* word = words[next_random(state) % 6];
    strings[i] = (tenon_string_view_t){word, strlen(word)};
  }
}

static double next_float(uint64_t* state, double min, double max) {
  const double normal = next_normal(state);
  if (isfinite(min) && isfinite(max)) {
    return min + ldexp((double)(next_random(state) >> 11), -53) * (max - min);
  }
  return isfinite(min) ? min + fabs(normal) : isfinite(max) ? max - fabs(normal) : normal;
}

/* The ends for integers, within what the type holds. */
static void find_ends(tenon_dtype_t dtype, double* inout_min, double* inout_max) {
  const char kind = tool_dtype_class(dtype);
  const int bits = (int)(kind == 'b' ? 1 : tool_dtype_bits(dtype));
  const double least = kind == 'i' ? -ldexp(1, bits - 1) : 0;
  const double most = fmin(ldexp(1, kind == 'i' ? bits - 1 : bits) - 1, 0x1p53);
  const double max = floor(*inout_max);
  const double min = isfinite(*inout_min) ? ceil(*inout_min) : fmin(0, max);
  *inout_min = fmin(fmax(min, least), most);
  *inout_max = fmin(isfinite(max) ? max : *inout_min + 1, most);
}

void tool_value_randomize(tool_value_t* value, uint64_t seed, double min, double max) {
  uint64_t state = seed;
  for (size_t i = 0; i < value->item_count; ++i) {
    tool_value_randomize(&value->items[i], next_random(&state), min, max);
  }
  if (value->kind != TENON_ARGUMENT_TENSOR) {
    return;
  }
  const char kind = tool_dtype_class(value->dtype);
  if (kind == 's') {
    randomize_strings(value, &state);
    return;
  }
  const bool is_float = kind == 'f' || kind == 'c';
  if (!is_float) {
    find_ends(value->dtype, &min, &max);
  }
  const double width = max - min + 1;
  for (uint64_t i = 0; i < value->count; ++i) {
    const double number =
        is_float ? next_float(&state, min, max)
                 : min + floor(ldexp((double)(next_random(&state) >> 11), -53) * width);
    tool_element_set(value->dtype, value->data, i, number);
  }
}
