/* From pictures to tensors and back. See picture.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/picture.h"
#include "text/console.h"
#include "text/memory.h"

tenon_status_t tool_preprocess_parse(const char* option, const char* text, double out_numbers[4],
                                     uint32_t* inout_count) {
  double numbers[4];
  uint32_t count = 0;
  const char* at = text;
  for (;;) {
    char* end = NULL;
    const double number = strtod(at, &end);
    if (end == at || !isfinite(number) || count == 4 || (*end != ',' && *end != '\0')) {
      return tool_misuse("%s: \"%s\" is not one number, or one for each channel", option, text);
    }
    numbers[count++] = number;
    if (*end == '\0') {
      break;
    }
    at = end + 1;
  }
  for (uint32_t i = 0; i < 4; ++i) {
    out_numbers[i] = numbers[i < count ? i : count - 1];
  }
  *inout_count = count > *inout_count ? count : *inout_count;
  return TENON_OK;
}

static tenon_status_t check_count(const char* name, const tool_preprocess_t* preprocess,
                                  uint64_t channels) {
  if (preprocess->count < 2 || preprocess->count == channels) {
    return TENON_OK;
  }
  return tool_misuse("%s: --mean or --scale gives %u numbers, the input has %llu %s", name,
                     preprocess->count, (unsigned long long)channels,
                     channels == 1 ? "channel" : "channels");
}

/* ---- Resizing ---- */

/* One axis: result i is the sum of `count` samples from `first` on, times weights. */
typedef struct span_t {
  uint32_t first;
  uint32_t count;
  float* weights;
} span_t;

static span_t* make_spans(uint32_t from, uint32_t to, float** out_weights) {
  const double ratio = (double)from / (double)to;
  const double reach = ratio > 1 ? ratio : 1;
  const size_t most = (size_t)ceil(reach) * 2 + 2;
  span_t* spans = tool_allocate(to, sizeof(*spans));
  float* weights = tool_allocate((size_t)to * most, sizeof(*weights));
  for (uint32_t i = 0; i < to; ++i) {
    const double centre = ((double)i + 0.5) * ratio;
    const double low = floor(centre - reach);
    const double high = ceil(centre + reach);
    span_t* span = &spans[i];
    span->weights = weights + (size_t)i * most;
    span->first = low > 0 ? (uint32_t)low : 0;
    const uint32_t last = high < (double)from ? (uint32_t)high : from;
    double sum = 0;
    for (uint32_t k = span->first; k < last && span->count < most; ++k) {
      const double weight = fmax(0, 1 - fabs(((double)k + 0.5 - centre) / reach));
      span->weights[span->count++] = (float)weight;
      sum += weight;
    }
    for (uint32_t k = 0; k < span->count; ++k) {
      span->weights[k] = (float)((double)span->weights[k] / sum);
    }
  }
  *out_weights = weights;
  return spans;
}

void tool_picture_resize(const tool_picture_t* picture, uint32_t width, uint32_t height,
                         float* out_samples) {
  const uint32_t channels = picture->channels;
  float* x_weights = NULL;
  float* y_weights = NULL;
  span_t* across = make_spans(picture->width, width, &x_weights);
  span_t* down = make_spans(picture->height, height, &y_weights);
  const size_t row_samples = (size_t)width * channels;
  float* rows = tool_allocate((size_t)picture->height * row_samples, sizeof(float));
  for (uint32_t y = 0; y < picture->height; ++y) {
    const uint16_t* source = picture->samples + (size_t)y * picture->width * channels;
    for (size_t i = 0; i < row_samples; ++i) {
      const span_t* span = &across[i / channels];
      float sum = 0;
      for (uint32_t k = 0; k < span->count; ++k) {
        sum +=
            span->weights[k] * (float)source[((size_t)span->first + k) * channels + i % channels];
      }
      rows[y * row_samples + i] = sum;
    }
  }
  for (uint32_t y = 0; y < height; ++y) {
    for (size_t i = 0; i < row_samples; ++i) {
      float sum = 0;
      for (uint32_t k = 0; k < down[y].count; ++k) {
        sum += down[y].weights[k] * rows[(down[y].first + k) * row_samples + i];
      }
      out_samples[y * row_samples + i] = sum;
    }
  }
  tool_free(rows);
  tool_free(across);
  tool_free(down);
  tool_free(x_weights);
  tool_free(y_weights);
}

/* ---- To a tensor ---- */

/* Which axes of an input are which. TENON_NONE: absent. */
typedef struct axes_t {
  uint32_t channel;
  uint32_t row;
  uint32_t column;
} axes_t;

static bool is_channel_extent(int64_t extent) {
  return extent == 1 || extent == 3 || extent == 4;
}

static axes_t find_axes(uint32_t rank, const int64_t* dims) {
  if (rank == 2) {
    return (axes_t){TENON_NONE, 0, 1};
  }
  const uint32_t first = rank - 3;
  if (!is_channel_extent(dims[first]) && is_channel_extent(dims[rank - 1])) {
    return (axes_t){rank - 1, first, first + 1};
  }
  return (axes_t){first, first + 1, first + 2};
}

/* Sample of channel `c` of a picture with `channels`, as one with `wanted` has it. */
static double pick_channel(const float* pixel, uint32_t channels, uint32_t wanted, uint32_t c,
                           bool bgr) {
  if (channels == wanted || channels == 3) {
    if (wanted == 1 && channels == 3) { /* ITU-R BT.601 */
      return 0.299 * (double)pixel[0] + 0.587 * (double)pixel[1] + 0.114 * (double)pixel[2];
    }
    return c == 3 ? 255 : (double)pixel[bgr && c < 3 ? 2 - c : c];
  }
  return c == 3 ? 255 : (double)pixel[0];
}

static void fill_tensor(const float* samples, uint32_t channels, const axes_t* axes,
                        const tool_preprocess_t* preprocess, tool_value_t* value) {
  const uint64_t height = (uint64_t)value->dims[axes->row];
  const uint64_t width = (uint64_t)value->dims[axes->column];
  const uint32_t wanted = axes->channel == TENON_NONE ? 1 : (uint32_t)value->dims[axes->channel];
  const bool last = axes->channel != TENON_NONE && axes->channel > axes->row;
  for (uint64_t i = 0; i < height * width; ++i) {
    for (uint32_t c = 0; c < wanted; ++c) {
      const double sample =
          pick_channel(samples + i * channels, channels, wanted, c, preprocess->bgr && wanted != 1);
      const double number = (sample - preprocess->mean[c]) * preprocess->scale[c];
      const uint64_t index = last ? i * wanted + c : c * height * width + i;
      tool_element_set(value->dtype, value->data, index, number);
    }
  }
}

bool tool_picture_fits_type(tenon_dtype_t dtype) {
  const char kind = tool_dtype_class(dtype);
  return kind == 'f' || ((kind == 'i' || kind == 'u') && tool_dtype_bits(dtype) <= 16);
}

bool tool_picture_extents(uint32_t rank, const int64_t* dims, int64_t* out_width,
                          int64_t* out_height) {
  if (rank < 2 || rank > 5) {
    return false;
  }
  const axes_t axes = find_axes(rank, dims);
  *out_width = dims[axes.column];
  *out_height = dims[axes.row];
  return true;
}

bool tool_picture_shape(const tool_picture_t* picture, uint32_t rank, const int64_t* dims,
                        int64_t* out_dims) {
  if (rank < 2 || rank > 5) {
    return false;
  }
  const axes_t axes = find_axes(rank, dims);
  for (uint32_t k = 0; k < rank; ++k) {
    const int64_t own = k == axes.row       ? picture->height
                        : k == axes.column  ? picture->width
                        : k == axes.channel ? picture->channels
                                            : 1;
    out_dims[k] = dims[k] < 0 ? own : dims[k];
  }
  return true;
}

tenon_status_t tool_picture_to_value(const char* name, const tool_picture_t* picture,
                                     const tool_preprocess_t* preprocess,
                                     const tenon_value_type_t* type, tool_value_t* out_value) {
  const uint32_t rank = type->rank;
  int64_t extents[5];
  if (!tool_picture_fits_type(type->dtype) ||
      !tool_picture_shape(picture, rank, type->dims, extents)) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: a picture cannot be an input %s of rank %u",
                     name, tool_dtype_name(type->dtype), rank);
  }
  const axes_t axes = find_axes(rank, type->dims);
  for (uint32_t k = 0; k < rank; ++k) {
    const bool leading = k != axes.row && k != axes.column && k != axes.channel;
    if (leading && extents[k] != 1) {
      return tool_fail(TENON_ERROR_INVALID_DATA, "%s: one picture cannot fill a batch of %lld",
                       name, (long long)extents[k]);
    }
  }
  const int64_t wanted = axes.channel == TENON_NONE ? 1 : extents[axes.channel];
  if (!is_channel_extent(wanted) || extents[axes.row] < 1 || extents[axes.column] < 1 ||
      extents[axes.row] > TOOL_PICTURE_SIDE_MAX || extents[axes.column] > TOOL_PICTURE_SIDE_MAX) {
    return tool_fail(
        TENON_ERROR_INVALID_DATA, "%s: a picture cannot fill %lld channels of %lld x %lld", name,
        (long long)wanted, (long long)extents[axes.row], (long long)extents[axes.column]);
  }
  tenon_status_t status = check_count(name, preprocess, (uint64_t)wanted);
  if (status == TENON_OK) {
    status = tool_value_make(name, type->dtype, rank, extents, out_value);
  }
  if (status != TENON_OK) {
    return status;
  }
  const uint32_t height = (uint32_t)extents[axes.row];
  const uint32_t width = (uint32_t)extents[axes.column];
  const size_t count = (size_t)height * width * picture->channels;
  float* samples = tool_allocate(count, sizeof(float));
  if (width != picture->width || height != picture->height) {
    tool_say("%s: %u x %u pixels are resized to %u x %u\n", name, picture->width, picture->height,
             width, height);
  }
  tool_picture_resize(picture, width, height, samples);
  for (size_t i = 0; i < count; ++i) {
    samples[i] *= 255.0F / (float)picture->maximum;
  }
  fill_tensor(samples, picture->channels, &axes, preprocess, out_value);
  tool_free(samples);
  return TENON_OK;
}

tenon_status_t tool_bytes_to_value(const char* name, const tool_value_t* bytes,
                                   const tool_preprocess_t* preprocess, tenon_dtype_t dtype,
                                   tool_value_t* out_value) {
  /* Extents inside of the channel axis: channels first where the third axis from the end is 1, 3 or
   * 4 wide. */
  uint64_t inner = 1;
  uint64_t channels = 1;
  if (bytes->rank >= 3) {
    const axes_t axes = find_axes(bytes->rank, bytes->dims);
    channels = (uint64_t)bytes->dims[axes.channel];
    for (uint32_t k = axes.channel + 1; k < bytes->rank; ++k) {
      inner *= (uint64_t)bytes->dims[k];
    }
  }
  tenon_status_t status = check_count(name, preprocess, channels);
  if (status == TENON_OK) {
    status = tool_value_make(name, dtype, bytes->rank, bytes->dims, out_value);
  }
  if (status == TENON_OK) {
    for (uint64_t i = 0; i < bytes->count; ++i) {
      const uint64_t channel = i / inner % channels;
      const uint64_t c = channel < 4 ? channel : 3;
      const double sample = tool_element_get(bytes->dtype, bytes->data, i, 0);
      tool_element_set(dtype, out_value->data, i,
                       (sample - preprocess->mean[c]) * preprocess->scale[c]);
    }
  }
  return status;
}

/* ---- From a tensor ---- */

/* What is longer than so many times its height is a table, not a picture. */
enum { SIDES_RATIO_MAX = 64 };

/* Scores of classes for each pixel: (..., classes, H, W), or (..., H, W, classes) where there are
 * at most half as many classes as rows and columns. Three channels are colours. */
typedef struct scores_t {
  uint64_t width;
  uint64_t height;
  uint64_t count; /* of classes */
  uint64_t pixel_step;
  uint64_t class_step;
} scores_t;

static bool find_scores(const tool_value_t* value, scores_t* out_scores) {
  if (value->rank < 3 || tool_dtype_class(value->dtype) != 'f') {
    return false;
  }
  const int64_t* dims = value->dims + value->rank - 3;
  const bool is_last = dims[2] >= 2 && 2 * dims[2] <= dims[0] && 2 * dims[2] <= dims[1];
  const int64_t count = dims[is_last ? 2 : 0];
  *out_scores = (scores_t){.width = (uint64_t)dims[is_last ? 1 : 2],
                           .height = (uint64_t)dims[is_last ? 0 : 1],
                           .count = (uint64_t)count,
                           .pixel_step = is_last ? (uint64_t)count : 1,
                           .class_step = is_last ? 1 : (uint64_t)dims[1] * (uint64_t)dims[2]};
  return count >= 2 && count != 3 && count <= UINT16_MAX && dims[1] >= 2 && dims[2] >= 2 &&
         dims[1] <= TOOL_PICTURE_SIDE_MAX && dims[0] <= TOOL_PICTURE_SIDE_MAX &&
         dims[2] <= TOOL_PICTURE_SIDE_MAX;
}

/* Each bit of the class is a bit of red, green or blue, the lowest bits the brightest: class 0 is
 * black, and neighbours differ much. */
static void colour_of(uint32_t class_index, uint16_t out_colour[3]) {
  out_colour[0] = out_colour[1] = out_colour[2] = 0;
  for (uint32_t bit = 0; bit < 16; ++bit) {
    if ((class_index >> bit & 1) != 0) {
      out_colour[bit % 3] = (uint16_t)(out_colour[bit % 3] | 128u >> (bit / 3));
    }
  }
}

/* The class with the largest score at each pixel, in its colour. */
static tenon_status_t classes_picture(const char* name, const tool_value_t* value,
                                      const scores_t* scores, tool_picture_t* out_picture) {
  const tenon_status_t status = tool_picture_make(name, (uint32_t)scores->width,
                                                  (uint32_t)scores->height, 3, 255, out_picture);
  if (status != TENON_OK) {
    return status;
  }
  out_picture->class_count = (uint32_t)scores->count;
  for (uint64_t i = 0; i < scores->width * scores->height; ++i) {
    uint32_t best = 0;
    double most = -INFINITY;
    for (uint32_t c = 0; c < scores->count; ++c) {
      const uint64_t index = i * scores->pixel_step + c * scores->class_step;
      const double score = tool_element_get(value->dtype, value->data, index, 0);
      if (score > most) {
        most = score;
        best = c;
      }
    }
    colour_of(best, out_picture->samples + 3 * i);
  }
  return TENON_OK;
}

tenon_status_t tool_picture_from_value(const char* name, const tool_value_t* value,
                                       tool_picture_t* out_picture) {
  const char kind = tool_dtype_class(value->dtype);
  scores_t scores;
  if (value->kind == TENON_ARGUMENT_TENSOR && find_scores(value, &scores)) {
    return classes_picture(name, value, &scores, out_picture);
  }
  if (value->kind != TENON_ARGUMENT_TENSOR || value->rank < 2 || kind == 's' || kind == 'c') {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: is no picture", name);
  }
  const uint32_t rank = value->rank;
  axes_t axes = {TENON_NONE, rank - 2, rank - 1};
  if (rank >= 3 && value->dims[rank - 1] == 3 && value->dims[rank - 3] != 3) {
    axes = (axes_t){rank - 1, rank - 3, rank - 2};
  } else if (rank >= 3 && value->dims[rank - 3] == 3) {
    axes.channel = rank - 3;
  }
  const int64_t height = value->dims[axes.row];
  const int64_t width = value->dims[axes.column];
  const int64_t longer = height > width ? height : width;
  const int64_t shorter = height > width ? width : height;
  if (shorter < 2 || longer > TOOL_PICTURE_SIDE_MAX || longer / shorter > SIDES_RATIO_MAX) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: %lld rows of %lld numbers are no picture", name,
                     (long long)height, (long long)width);
  }
  const uint32_t channels = axes.channel == TENON_NONE ? 1 : 3;
  const tenon_status_t status =
      tool_picture_make(name, (uint32_t)width, (uint32_t)height, channels, 255, out_picture);
  if (status != TENON_OK) {
    return status;
  }
  const double factor = kind == 'f' || kind == 'b' ? 255 : 1;
  const uint64_t pixels = (uint64_t)width * (uint64_t)height;
  const uint64_t samples = pixels * channels;
  uint64_t cut = 0;
  for (uint64_t i = 0; i < samples; ++i) {
    const bool planes = channels == 3 && axes.channel < axes.row;
    const uint64_t index = planes ? i % 3 * pixels + i / 3 : i;
    const double sample = factor * tool_element_get(value->dtype, value->data, index, 0);
    cut += sample >= 0 && sample <= 255 ? 0 : 1;
    out_picture->samples[i] = (uint16_t)(sample >= 255 ? 255 : sample > 0 ? sample + 0.5 : 0);
  }
  if (cut > 0) {
    tool_warn("%s: %llu of %llu numbers lie outside of 0 to %d and are cut off", name,
              (unsigned long long)cut, (unsigned long long)samples, factor > 1 ? 1 : 255);
  }
  return TENON_OK;
}

/* Classes have no brightness between them: each pixel takes the nearest one's colour. */
static void overlay_classes(const tool_picture_t* input, const tool_picture_t* mask,
                            tool_picture_t* picture) {
  const size_t width = input->width;
  for (size_t i = 0; i < width * input->height; ++i) {
    const size_t x = i % width * mask->width / width;
    const size_t y = i / width * mask->height / input->height;
    const uint16_t* colour = mask->samples + 3 * (y * mask->width + x);
    const bool is_tinted = colour[0] != 0 || colour[1] != 0 || colour[2] != 0;
    const size_t row = i / width * 3 * width + i % width;
    for (uint32_t c = 0; c < 3; ++c) {
      const size_t from = i * input->channels + (input->channels == 3 ? c : 0);
      const double sample = (double)input->samples[from] * 255 / input->maximum;
      const double mixed = is_tinted ? 0.55 * sample + 0.45 * colour[c] : sample;
      picture->samples[row * 3 + c] = (uint16_t)(sample + 0.5);
      picture->samples[(row + width) * 3 + c] = colour[c];
      picture->samples[(row + 2 * width) * 3 + c] = (uint16_t)(mixed + 0.5);
    }
  }
}

tenon_status_t tool_picture_overlay(const tool_picture_t* input, const tool_picture_t* mask,
                                    tool_picture_t* out_picture) {
  static const double tint[3] = {255, 64, 32};
  if (mask->channels != 1 && mask->class_count == 0) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "an overlay needs an output of one channel");
  }
  const uint32_t width = input->width;
  const uint32_t height = input->height;
  const tenon_status_t status =
      tool_picture_make("overlay", width * 3, height, 3, 255, out_picture);
  if (status != TENON_OK) {
    return status;
  }
  if (mask->class_count > 0) {
    overlay_classes(input, mask, out_picture);
    return TENON_OK;
  }
  float* levels = tool_allocate((size_t)width * height, sizeof(float));
  tool_picture_resize(mask, width, height, levels);
  for (size_t i = 0; i < (size_t)width * height; ++i) {
    const size_t row = i / width * 3 * width + i % width;
    const double level = (double)levels[i] * 255 / mask->maximum;
    for (uint32_t c = 0; c < 3; ++c) {
      const size_t from = i * input->channels + (input->channels == 3 ? c : 0);
      const double sample = (double)input->samples[from] * 255 / input->maximum;
      const double mixed = level >= 127.5 ? 0.55 * sample + 0.45 * tint[c] : sample;
      out_picture->samples[row * 3 + c] = (uint16_t)(sample + 0.5);
      out_picture->samples[(row + width) * 3 + c] = (uint16_t)(level + 0.5);
      out_picture->samples[(row + 2 * (size_t)width) * 3 + c] = (uint16_t)(mixed + 0.5);
    }
  }
  tool_free(levels);
  return TENON_OK;
}
