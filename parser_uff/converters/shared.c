/* What converters share. */
#include <inttypes.h>
#include <string.h>

#include "families.h"

bool tenon__uff_needs(tenon_make_t* make, uint32_t input_count) {
  if (make->input_count < input_count) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "it has %u inputs, %u are needed",
                    make->input_count, input_count);
  }
  return tenon_make_ok(make);
}

void tenon__uff_same_input(tenon_make_t* make) {
  (void)tenon_make_has(make, "shape"); /* what the input is to have */
  if (tenon__uff_needs(make, 1)) {
    tenon_make_output(make, 0, tenon_make_input(make, 0));
  }
}

bool tenon__uff_known(tenon_make_t* make, uint32_t index, const char* what, int64_t* out_values,
                      uint32_t* out_count) {
  *out_count = 0;
  if (!tenon__uff_needs(make, index + 1)) {
    return false;
  }
  if (!tenon_make_known_ints(make, tenon_make_input(make, index), out_values, TENON_MAKE_LIST_LIMIT,
                             out_count)) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "its %s must be constant (input %u, '%s'): fold it before freezing", what,
                    index, make->table->input_name(make->source, index));
  }
  return tenon_make_ok(make);
}

int64_t tenon__uff_known_one(tenon_make_t* make, uint32_t index, const char* what) {
  int64_t values[TENON_MAKE_LIST_LIMIT] = {0};
  uint32_t count = 0;
  if (tenon__uff_known(make, index, what, values, &count) && count != 1) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "its %s has %u elements, one is needed", what,
                    count);
  }
  return tenon_make_ok(make) ? values[0] : 0;
}

tenon_value_t tenon__uff_operand(tenon_make_t* make, uint32_t index) {
  return tenon__uff_needs(make, index + 1)
             ? tenon_make_cast(make, tenon_make_input(make, index), TENON_DTYPE_INT64)
             : (tenon_value_t){0};
}

tenon_value_t tenon__uff_as_type(tenon_make_t* make, tenon_value_t value, const char* attribute,
                                 tenon_dtype_t otherwise) {
  const tenon_dtype_t dtype = (tenon_dtype_t)tenon_make_get_int(make, attribute, otherwise);
  return tenon_make_cast(make, value, dtype);
}

int64_t tenon__uff_sum(tenon_make_t* make, int64_t a, int64_t b) {
  if (a > INT64_MAX - b) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "%" PRId64 " and %" PRId64 " are too large together", a, b);
    return 0;
  }
  return a + b;
}

int64_t tenon__uff_times(tenon_make_t* make, int64_t a, int64_t b) {
  if (b != 0 && a > INT64_MAX / b) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%" PRId64 " times %" PRId64 " is too large", a,
                    b);
    return 0;
  }
  return a * b;
}

/* ---- Layouts ---- */

/* An order has a letter for each axis, "+" for all spatial ones: "N+C", "NCHW" too. */
static tenon__uff_layout_t read_order(tenon_make_t* make, const char* order, size_t length,
                                      uint32_t rank) {
  tenon__uff_layout_t layout = {.rank = rank, .batch = TENON_NONE, .channel = TENON_NONE};
  uint32_t axis = 0;
  size_t rests = 0;
  for (size_t i = 0; i < length; ++i) {
    rests += order[i] == '+' ? 1 : 0;
  }
  const size_t letters = length - rests;
  if (letters > rank || rests > 1 || (rests == 0 && letters != rank) ||
      rank > TENON_MAKE_LIST_LIMIT) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "its dimension order '%.*s' does not fit rank %u", (int)length, order, rank);
    return layout;
  }
  for (size_t i = 0; i < length; ++i) {
    const uint32_t times = order[i] == '+' ? rank - (uint32_t)letters : 1;
    for (uint32_t k = 0; k < times; ++k, ++axis) {
      if (order[i] == 'N' || order[i] == 'K') {
        layout.batch = axis;
      } else if (order[i] == 'C') {
        layout.channel = axis;
      } else {
        layout.spatial[layout.spatial_count++] = axis;
      }
    }
  }
  if (layout.channel == TENON_NONE || layout.batch == TENON_NONE ||
      layout.spatial_count + 2 != rank) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "its dimension order '%.*s' has no batch or no channels", (int)length, order);
  }
  return layout;
}

tenon__uff_layout_t tenon__uff_layout(tenon_make_t* make, const char* attribute, uint32_t index,
                                      const char* otherwise, uint32_t rank) {
  const char* text =
      attribute == NULL ? otherwise : tenon_make_get_string(make, attribute, otherwise);
  for (; index > 0 && strchr(text, ' ') != NULL; --index) {
    text = strchr(text, ' ') + 1;
  }
  size_t length = strcspn(text, " ");
  if (index > 0 || length == 0) { /* fewer orders than inputs */
    text = otherwise;
    length = strlen(otherwise);
  }
  return read_order(make, text, length, rank);
}

tenon_value_t tenon__uff_channels_first(tenon_make_t* make, const tenon__uff_layout_t* layout,
                                        tenon_value_t value) {
  int64_t perm[TENON_MAKE_LIST_LIMIT] = {layout->batch, layout->channel};
  bool is_same = layout->batch == 0 && layout->channel == 1;
  if (!tenon_make_ok(make)) {
    return value;
  }
  for (uint32_t i = 0; i < layout->spatial_count; ++i) {
    perm[2 + i] = layout->spatial[i];
    is_same = is_same && layout->spatial[i] == 2 + i;
  }
  return is_same ? value : tenon_make_permute(make, value, perm, layout->rank);
}

tenon_value_t tenon__uff_channels_back(tenon_make_t* make, const tenon__uff_layout_t* layout,
                                       tenon_value_t value) {
  int64_t perm[TENON_MAKE_LIST_LIMIT] = {0};
  if (!tenon_make_ok(make)) {
    return value;
  }
  perm[layout->batch] = 0;
  perm[layout->channel] = 1;
  bool is_same = layout->batch == 0 && layout->channel == 1;
  for (uint32_t i = 0; i < layout->spatial_count; ++i) {
    perm[layout->spatial[i]] = 2 + i;
    is_same = is_same && layout->spatial[i] == 2 + i;
  }
  return is_same ? value : tenon_make_permute(make, value, perm, layout->rank);
}
