/* What a value holds, in a line or two or as an object. See show.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session/show.h"
#include "text/console.h"
#include "text/json.h"
#include "text/shape_text.h"

enum { SHOWN_ELEMENTS = 10, JSON_ELEMENTS = 10000 };

/* Of the finite numbers; the others are counted. */
typedef struct statistics_t {
  double min, max, mean;
  uint64_t finite, nan, infinite;
} statistics_t;

static bool has_numbers(const tool_value_t* value) {
  return value->kind == TENON_ARGUMENT_TENSOR && value->dtype != TENON_DTYPE_STRING &&
         value->count > 0;
}

static statistics_t find_statistics(const tool_value_t* value) {
  statistics_t s = {.min = INFINITY, .max = -INFINITY};
  for (uint64_t i = 0; i < value->count; ++i) {
    const double x = tool_element_get(value->dtype, value->data, i, 0);
    if (!isfinite(x)) {
      s.nan += isnan(x) ? 1 : 0;
      s.infinite += isnan(x) ? 0 : 1;
      continue;
    }
    s.min = fmin(s.min, x);
    s.max = fmax(s.max, x);
    s.finite += 1;
    s.mean += (x - s.mean) / (double)s.finite;
  }
  if (s.finite == 0) {
    s.min = s.max = s.mean = NAN;
  }
  return s;
}

/* ---- JSON ---- */

/* 64-bit integers are exact: a double has 53 bits. */
static void add_integer(tool_json_t* json, const tool_value_t* value, uint64_t index) {
  int64_t word = 0;
  if (tool_dtype_bits(value->dtype) != 64) {
    tool_json_integer(json, NULL, (int64_t)tool_element_get(value->dtype, value->data, index, 0));
    return;
  }
  memcpy(&word, (const char*)value->data + index * 8, 8);
  if (tool_dtype_class(value->dtype) == 'u') {
    tool_json_unsigned(json, NULL, (uint64_t)word);
  } else {
    tool_json_integer(json, NULL, word);
  }
}

static void add_element(tool_json_t* json, const tool_value_t* value, uint64_t index) {
  const char kind = tool_dtype_class(value->dtype);
  if (kind == 's') {
    const tenon_string_view_t* text = (const tenon_string_view_t*)value->data + index;
    tool_json_bytes(json, NULL, text->data, text->size);
  } else if (kind == 'i' || kind == 'u') {
    add_integer(json, value, index);
  } else if (kind == 'b') {
    tool_json_bool(json, NULL, tool_element_get(value->dtype, value->data, index, 0) != 0);
  } else {
    tool_json_number(json, NULL, tool_element_get(value->dtype, value->data, index, 0));
    if (kind == 'c') {
      tool_json_number(json, NULL, tool_element_get(value->dtype, value->data, index, 1));
    }
  }
}

static void add_values(tool_json_t* json, const tool_value_t* value) {
  if (value->kind != TENON_ARGUMENT_TENSOR || value->count > JSON_ELEMENTS) {
    tool_json_text(json, "values_left_out", "more than 10000, or no tensor: -o DIR writes them");
    return;
  }
  tool_json_list_begin(json, "values");
  for (uint64_t i = 0; i < value->count; ++i) {
    add_element(json, value, i);
  }
  tool_json_list_end(json);
}

static void print_json(const char* what, const char* name, uint32_t index,
                       const tool_value_t* value, const statistics_t* s) {
  const bool tensor = value->kind == TENON_ARGUMENT_TENSOR;
  tool_json_t json;
  tool_json_begin(&json, stdout);
  tool_json_text(&json, what, name);
  tool_json_unsigned(&json, "index", index);
  tool_json_text(&json, "dtype", tensor ? tool_dtype_name(value->dtype) : "container");
  tool_json_integers(&json, "shape", value->dims, tensor ? value->rank : 0);
  tool_json_number(&json, "min", s->min);
  tool_json_number(&json, "max", s->max);
  tool_json_number(&json, "mean", s->mean);
  tool_json_unsigned(&json, "nan", s->nan);
  tool_json_unsigned(&json, "infinite", s->infinite);
  add_values(&json, value);
  tool_json_end(&json);
}

/* ---- Text ---- */

static void print_elements(const tool_value_t* value) {
  const uint64_t shown = value->count < SHOWN_ELEMENTS ? value->count : SHOWN_ELEMENTS;
  for (uint64_t i = 0; i < shown; ++i) {
    if (value->dtype == TENON_DTYPE_STRING) {
      const tenon_string_view_t* strings = value->data;
      tool_say(" \"%.*s\"", (int)strings[i].size, strings[i].data);
    } else {
      tool_say(" %.6g", tool_element_get(value->dtype, value->data, i, 0));
    }
  }
  tool_say("%s\n", value->count > shown ? " ..." : "");
}

static void print_text(const char* what, const char* name, const tool_value_t* value,
                       const statistics_t* s, bool is_picture) {
  char shape[256] = "";
  if (value->kind != TENON_ARGUMENT_TENSOR) {
    tool_say("%s %s: %s of %zu\n", what, name, tool_kind_name(value->kind), value->item_count);
    return;
  }
  tool_shape_print(value->rank, value->dims, shape, sizeof(shape));
  tool_say("%s %s: %s %s", what, name, tool_dtype_name(value->dtype), shape);
  if (s->finite > 0 && value->count > SHOWN_ELEMENTS) {
    tool_say(", %.6g to %.6g, mean %.6g", s->min, s->max, s->mean);
  }
  if (s->nan > 0 || s->infinite > 0) {
    tool_say(", %llu of %llu are NaN, %llu infinite", (unsigned long long)s->nan,
             (unsigned long long)value->count, (unsigned long long)s->infinite);
  }
  tool_say("\n");
  if (!is_picture) {
    tool_say(" ");
    print_elements(value);
  }
}

void tool_value_print(const char* what, const char* name, uint32_t index, const tool_value_t* value,
                      bool is_picture) {
  const statistics_t s =
      has_numbers(value) ? find_statistics(value) : (statistics_t){NAN, NAN, NAN, 0, 0, 0};
  if (tool_console_is_json()) {
    print_json(what, name, index, value, &s);
  } else {
    print_text(what, name, value, &s, is_picture);
  }
  if (s.nan > 0 || s.infinite > 0) {
    tool_warn("%s '%s': %llu of %llu are NaN, %llu are infinite", what, name,
              (unsigned long long)s.nan, (unsigned long long)value->count,
              (unsigned long long)s.infinite);
  }
}
