/* Windows and images. */
#include "window.h"

#include <string.h>

static tenon__cpu_padding_t padding_of(const char* text) {
  if (strcmp(text, "same_upper") == 0) {
    return TENON_CPU_PADDING_SAME_UPPER;
  }
  if (strcmp(text, "same_lower") == 0) {
    return TENON_CPU_PADDING_SAME_LOWER;
  }
  return strcmp(text, "valid") == 0 ? TENON_CPU_PADDING_VALID : TENON_CPU_PADDING_EXPLICIT;
}

void tenon__cpu_window_read(tenon__cpu_region_t region, uint32_t rank, const int64_t* kernel,
                            tenon__cpu_window_t* out_window) {
  *out_window = (tenon__cpu_window_t){.rank = rank};
  out_window->padding = padding_of(tenon__cpu_region_string(region, "auto_pad"));
  for (uint32_t axis = 0; axis < TENON_CPU_AXES; axis++) {
    const bool there = axis + rank >= TENON_CPU_AXES;
    const size_t k = there ? axis + rank - TENON_CPU_AXES : 0;
    const bool padded = there && out_window->padding == TENON_CPU_PADDING_EXPLICIT;
    out_window->kernel[axis] = there ? kernel[k] : 1;
    out_window->stride[axis] = there ? tenon__cpu_region_item(region, "strides", k, 1) : 1;
    out_window->dilation[axis] = there ? tenon__cpu_region_item(region, "dilations", k, 1) : 1;
    out_window->pad_begin[axis] = padded ? tenon__cpu_region_item(region, "pads", k, 0) : 0;
  }
}

void tenon__cpu_window_fit(tenon__cpu_window_t* window, const int64_t* in, const int64_t* out) {
  if (window->padding != TENON_CPU_PADDING_SAME_UPPER &&
      window->padding != TENON_CPU_PADDING_SAME_LOWER) {
    return;
  }
  for (size_t a = 0; a < TENON_CPU_AXES; a++) {
    const int64_t reach = (window->kernel[a] - 1) * window->dilation[a] + 1;
    const int64_t needed = (out[a] - 1) * window->stride[a] + reach - in[a];
    const int64_t total = needed > 0 ? needed : 0;
    const bool lower = window->padding == TENON_CPU_PADDING_SAME_LOWER;
    window->pad_begin[a] = lower ? (total + 1) / 2 : total / 2;
  }
}

void tenon__cpu_image_read(const tenon_tensor_view_t* view, tenon__cpu_image_t* out_image) {
  const uint32_t rank = view->rank - 2;
  out_image->batch = view->dims[0];
  out_image->channels = view->dims[1];
  out_image->batch_stride = view->strides[0];
  out_image->channel_stride = view->strides[1];
  for (uint32_t axis = 0; axis < TENON_CPU_AXES; axis++) {
    const bool there = axis + rank >= TENON_CPU_AXES;
    const uint32_t k = 2 + axis + rank - TENON_CPU_AXES;
    out_image->extent[axis] = there ? view->dims[k] : 1;
    out_image->stride[axis] = there ? view->strides[k] : 0;
  }
}

void tenon__cpu_output_rule(uint32_t rank, tenon_argument_rule_t* out_rule) {
  *out_rule = (tenon_argument_rule_t){.kind = TENON_LAYOUT_EXACT,
                                      .layout = tenon__cpu_channels_last(rank),
                                      .flags = TENON_RULE_STRIDED};
}

static bool same_extents(const tenon_value_info_t* a, const tenon_value_info_t* b) {
  bool same = a->rank == b->rank;
  for (uint32_t k = 0; same && k < a->rank; k++) {
    same = a->dims_max[k] == b->dims_max[k];
  }
  return same;
}

void tenon__cpu_image_rule(tenon__cpu_region_t region, uint32_t input,
                           tenon_argument_rule_t* out_rule) {
  const tenon_value_info_t* y = tenon__cpu_region_output(region, 0);
  const uint32_t number = region.table->input(region.handle, input);
  if (number == TENON_NONE || input == tenon__cpu_region_argument(region, 1) ||
      input == tenon__cpu_region_argument(region, 2)) {
    *out_rule = (tenon_argument_rule_t){0};
    return;
  }
  const tenon_value_info_t* value = region.table->value(region.handle, number);
  if (input == tenon__cpu_region_argument(region, 0) || same_extents(value, y) ||
      same_extents(value, tenon__cpu_region_input(region, 0))) {
    tenon__cpu_output_rule(y->rank, out_rule);
  } else {
    *out_rule = (tenon_argument_rule_t){.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
  }
}

size_t tenon__cpu_line_floats(int64_t pixels, int64_t channels) {
  const size_t floats = ((size_t)(pixels * channels) + 31) / 16 * 16;
  return floats % 1024 == 0 ? floats + 16 : floats;
}

int64_t tenon__cpu_taps_between(int64_t first, int64_t step, int64_t count, int64_t low,
                                int64_t high, int64_t* out_begin) {
  const int64_t begin = first < low ? (low - first + step - 1) / step : 0;
  int64_t end = count;
  if (first + (count - 1) * step >= high) {
    end = first < high ? (high - first + step - 1) / step : 0;
  }
  *out_begin = begin < count ? begin : count;
  return end > *out_begin ? end : *out_begin;
}

int64_t tenon__cpu_window_taps(const tenon__cpu_window_t* window) {
  return window->kernel[0] * window->kernel[1] * window->kernel[2];
}

int64_t tenon__cpu_image_pixels(const tenon__cpu_image_t* image) {
  return image->extent[0] * image->extent[1] * image->extent[2];
}

int64_t tenon__cpu_image_even_stride(const tenon__cpu_image_t* image) {
  const int64_t extents[] = {image->batch, image->extent[0], image->extent[1], image->extent[2]};
  const int64_t strides[] = {image->batch_stride, image->stride[0], image->stride[1],
                             image->stride[2]};
  int64_t count = 1; /* pixels in the axes seen so far */
  int64_t even = 0;
  for (size_t k = 4; k-- > 0;) {
    if (extents[k] == 1) {
      continue;
    }
    if (count > 1 && strides[k] != even * count) {
      return 0;
    }
    even = count > 1 ? even : strides[k];
    count *= extents[k];
  }
  return count > 1 ? even : image->channels;
}
