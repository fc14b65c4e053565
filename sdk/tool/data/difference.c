/* See difference.h. */
#include "data/difference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "text/shape_text.h"

/* Numbers of a complex element are compared one by one. */
static uint32_t part_count(tenon_dtype_t dtype) {
  return tool_dtype_class(dtype) == 'c' ? 2 : 1;
}

static double finite_deviation(const tool_value_t* value) {
  double mean = 0;
  double squares = 0;
  double count = 0;
  const uint32_t parts = part_count(value->dtype);
  for (uint64_t i = 0; i < value->count * parts; ++i) {
    const double number =
        tool_element_get(value->dtype, value->data, i / parts, (uint32_t)(i % parts));
    if (isfinite(number)) { /* Welford 1962 */
      count += 1;
      const double away = number - mean;
      mean += away / count;
      squares += away * (number - mean);
    }
  }
  return count > 0 ? sqrt(squares / count) : 0;
}

/* Index of an element as "(0, 3, 17)". */
static void print_index(const tool_value_t* value, uint64_t index, char* out_text, size_t size) {
  int64_t position[TOOL_RANK_MAX] = {0};
  for (uint32_t k = value->rank; k-- > 0;) {
    position[k] = (int64_t)(index % (uint64_t)value->dims[k]);
    index /= (uint64_t)value->dims[k];
  }
  size_t used = (size_t)snprintf(out_text, size, "(");
  for (uint32_t k = 0; k < value->rank && used < size; ++k) {
    used += (size_t)snprintf(out_text + used, size - used, "%s%lld", k == 0 ? "" : ", ",
                             (long long)position[k]);
  }
  if (used < size) {
    (void)snprintf(out_text + used, size - used, ")");
  }
}

static bool numbers_agree(double ours, double recorded, double rtol, double atol,
                          tool_difference_t* difference) {
  if (isnan(ours) || isnan(recorded) || isinf(ours) || isinf(recorded)) {
    return (isnan(ours) && isnan(recorded)) || ours == recorded;
  }
  const double absolute = fabs(ours - recorded);
  difference->max_absolute = fmax(difference->max_absolute, absolute);
  if (recorded != 0) {
    difference->max_relative = fmax(difference->max_relative, absolute / fabs(recorded));
  }
  return absolute <= atol + rtol * fabs(recorded);
}

static void note_wrong(const tool_value_t* value, uint64_t index, double ours, double recorded,
                       tool_difference_t* difference) {
  if (difference->wrong_count++ == 0) {
    char where[128];
    print_index(value, index, where, sizeof(where));
    (void)snprintf(difference->reason, sizeof(difference->reason), "element %s is %.9g, not %.9g",
                   where, ours, recorded);
  }
}

/* Two rounding steps of the types that are less precise than 1e-3. */
static double default_rtol(tenon_dtype_t dtype) {
  return dtype == TENON_DTYPE_BFLOAT16 ? 0x1p-6 : dtype == TENON_DTYPE_FLOAT16 ? 0x1p-9 : 1e-3;
}

static void compare_floats(const tool_value_t* ours, const tool_value_t* recorded,
                           const tool_tolerance_t* tolerance, tool_difference_t* difference) {
  const uint32_t parts = part_count(recorded->dtype);
  const double rtol = tolerance->rtol < 0 ? default_rtol(recorded->dtype) : tolerance->rtol;
  difference->deviation = finite_deviation(recorded);
  difference->atol =
      tolerance->atol < 0 ? fmax(1e-4 * difference->deviation, 1e-7) : tolerance->atol;
  for (uint64_t i = 0; i < recorded->count * parts; ++i) {
    const uint32_t part = (uint32_t)(i % parts);
    const double a = tool_element_get(ours->dtype, ours->data, i / parts, part);
    const double b = tool_element_get(recorded->dtype, recorded->data, i / parts, part);
    if (!numbers_agree(a, b, rtol, difference->atol, difference)) {
      note_wrong(recorded, i / parts, a, b, difference);
    }
  }
}

static void compare_strings(const tool_value_t* ours, const tool_value_t* recorded,
                            tool_difference_t* difference) {
  const tenon_string_view_t* a = ours->data;
  const tenon_string_view_t* b = recorded->data;
  for (uint64_t i = 0; i < recorded->count; ++i) {
    const bool same =
        a[i].size == b[i].size && (a[i].size == 0 || memcmp(a[i].data, b[i].data, a[i].size) == 0);
    if (!same && difference->wrong_count++ == 0) {
      char where[96];
      print_index(recorded, i, where, sizeof(where));
      (void)snprintf(difference->reason, sizeof(difference->reason),
                     "element %s is \"%.*s\", not \"%.*s\"", where,
                     a[i].size < 50 ? (int)a[i].size : 50, a[i].data,
                     b[i].size < 50 ? (int)b[i].size : 50, b[i].data);
    }
  }
}

/* Whole bytes at once first; then, for the message, which element differs. */
static void compare_integers(const tool_value_t* ours, const tool_value_t* recorded,
                             tool_difference_t* difference) {
  const bool is_bool = recorded->dtype == TENON_DTYPE_BOOL;
  if (!is_bool && tool_dtype_bits(recorded->dtype) >= 8 && recorded->size_bytes > 0 &&
      memcmp(ours->data, recorded->data, (size_t)recorded->size_bytes) == 0) {
    return;
  }
  const uint32_t bytes = tool_dtype_bits(recorded->dtype) / 8;
  for (uint64_t i = 0; i < recorded->count; ++i) {
    const double a = tool_element_get(ours->dtype, ours->data, i, 0);
    const double b = tool_element_get(recorded->dtype, recorded->data, i, 0);
    /* Large 64-bit integers differ by less than a double tells. */
    const bool same = bytes == 8 ? memcmp((const char*)ours->data + i * 8,
                                          (const char*)recorded->data + i * 8, 8) == 0
                                 : a == b;
    if (!same) {
      (void)numbers_agree(a, b, 0, 0, difference);
      note_wrong(recorded, i, a, b, difference);
    }
  }
}

static bool same_shape(const tool_value_t* a, const tool_value_t* b) {
  return a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof(int64_t)) == 0);
}

static void compare_tensors(const tool_value_t* ours, const tool_value_t* recorded,
                            const tool_tolerance_t* tolerance, tool_difference_t* difference) {
  if (ours->dtype != recorded->dtype) {
    (void)snprintf(difference->reason, sizeof(difference->reason), "has type %s, not %s",
                   tool_dtype_name(ours->dtype), tool_dtype_name(recorded->dtype));
    return;
  }
  if (!same_shape(ours, recorded)) {
    char a[96];
    char b[96];
    tool_shape_print(ours->rank, ours->dims, a, sizeof(a));
    tool_shape_print(recorded->rank, recorded->dims, b, sizeof(b));
    (void)snprintf(difference->reason, sizeof(difference->reason), "has shape %s, not %s", a, b);
    return;
  }
  difference->count = recorded->count;
  const char kind = tool_dtype_class(recorded->dtype);
  if (kind == 'f' || kind == 'c') {
    compare_floats(ours, recorded, tolerance, difference);
  } else if (kind == 's') {
    compare_strings(ours, recorded, difference);
  } else {
    compare_integers(ours, recorded, difference);
  }
  difference->equal = difference->wrong_count == 0;
  if (!difference->equal) {
    const size_t used = strlen(difference->reason);
    (void)snprintf(difference->reason + used, sizeof(difference->reason) - used,
                   " (%llu of %llu differ)", (unsigned long long)difference->wrong_count,
                   (unsigned long long)difference->count);
  }
}

static void compare_items(const tool_value_t* ours, const tool_value_t* recorded,
                          const tool_tolerance_t* tolerance, tool_difference_t* difference) {
  difference->equal = ours->item_count == recorded->item_count;
  if (!difference->equal) {
    (void)snprintf(difference->reason, sizeof(difference->reason), "has %zu items, not %zu",
                   ours->item_count, recorded->item_count);
  }
  for (size_t i = 0; i < recorded->item_count && difference->equal; ++i) {
    tool_difference_t item;
    tool_difference_find(&ours->items[i], &recorded->items[i], tolerance, &item);
    difference->equal = item.equal;
    difference->max_absolute = fmax(difference->max_absolute, item.max_absolute);
    difference->max_relative = fmax(difference->max_relative, item.max_relative);
    difference->deviation = fmax(difference->deviation, item.deviation);
    difference->atol = fmax(difference->atol, item.atol);
    difference->count += item.count;
    difference->wrong_count += item.wrong_count;
    if (!item.equal) {
      (void)snprintf(difference->reason, sizeof(difference->reason), "item %zu: %.200s", i,
                     item.reason);
    }
  }
}

void tool_difference_find(const tool_value_t* ours, const tool_value_t* recorded,
                          const tool_tolerance_t* tolerance, tool_difference_t* out_difference) {
  *out_difference = (tool_difference_t){.equal = false};
  if (ours->kind != recorded->kind) {
    (void)snprintf(out_difference->reason, sizeof(out_difference->reason), "is of kind %s, not %s",
                   tool_kind_name(ours->kind), tool_kind_name(recorded->kind));
  } else if (ours->kind == TENON_ARGUMENT_TENSOR) {
    compare_tensors(ours, recorded, tolerance, out_difference);
  } else {
    compare_items(ours, recorded, tolerance, out_difference);
  }
}
