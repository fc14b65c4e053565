/* Patches of images as rows of a matrix. What the window takes outside the image is zero. */
#include <string.h>

#include "convolution.h"

tenon__cpu_pixel_t tenon__cpu_pixel_of(const tenon__cpu_image_t* image, size_t row) {
  tenon__cpu_pixel_t pixel;
  int64_t rest = (int64_t)row;
  for (size_t a = TENON_CPU_AXES; a-- > 0;) {
    pixel.at[a] = rest % image->extent[a];
    rest /= image->extent[a];
  }
  pixel.batch = rest;
  return pixel;
}

int64_t tenon__cpu_pixel_offset(const tenon__cpu_image_t* image, tenon__cpu_pixel_t pixel) {
  int64_t offset = pixel.batch * image->batch_stride;
  for (size_t a = 0; a < TENON_CPU_AXES; a++) {
    offset += pixel.at[a] * image->stride[a];
  }
  return offset;
}

void tenon__cpu_pixel_next(const tenon__cpu_image_t* image, tenon__cpu_pixel_t* inout_pixel) {
  for (size_t a = TENON_CPU_AXES; a-- > 0;) {
    if (++inout_pixel->at[a] < image->extent[a]) {
      return;
    }
    inout_pixel->at[a] = 0;
  }
  inout_pixel->batch++;
}

/* The window of one output pixel: where it begins, and which taps of its rows lie inside. */
typedef struct patch_t {
  const float* origin; /* the image's */
  int64_t first[TENON_CPU_AXES];
  int64_t low; /* taps [low, high) along the last axis are inside */
  int64_t high;
} patch_t;

static patch_t patch_of(const tenon__cpu_patches_t* patches, tenon__cpu_pixel_t pixel) {
  const tenon__cpu_bound_convolution_t* bound = patches->bound;
  const tenon__cpu_window_t* window = &bound->window;
  patch_t patch = {.origin = patches->x + pixel.batch * bound->x.batch_stride};
  for (size_t a = 0; a < TENON_CPU_AXES; a++) {
    patch.first[a] = pixel.at[a] * window->stride[a] - window->pad_begin[a];
  }
  patch.high = tenon__cpu_taps_between(patch.first[2], window->dilation[2], window->kernel[2], 0,
                                       bound->x.extent[2], &patch.low);
  return patch;
}

/* The image's row under row `line` of the window (both leading axes in one number), NULL outside.
 */
static const float* patch_line(const tenon__cpu_bound_convolution_t* bound, const patch_t* patch,
                               int64_t line) {
  const tenon__cpu_window_t* window = &bound->window;
  const int64_t at_0 = patch->first[0] + line / window->kernel[1] * window->dilation[0];
  const int64_t at_1 = patch->first[1] + line % window->kernel[1] * window->dilation[1];
  if (at_0 < 0 || at_0 >= bound->x.extent[0] || at_1 < 0 || at_1 >= bound->x.extent[1]) {
    return NULL;
  }
  return patch->origin + at_0 * bound->x.stride[0] + at_1 * bound->x.stride[1] +
         patch->first[2] * bound->x.stride[2];
}

static int64_t clamp_int(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x > high ? high : x;
}

/* Elements [begin, end) of one row of the window: taps x channels. */
static void copy_line(const tenon__cpu_bound_convolution_t* bound, const patch_t* patch,
                      const float* line, int64_t begin, int64_t end, float* out) {
  const int64_t channels = bound->convolution->in_channels;
  const int64_t step = bound->window.dilation[2] * bound->x.stride[2];
  const int64_t next = bound->x.channel_stride;
  const int64_t from = clamp_int(patch->low * channels, begin, end);
  const int64_t to = clamp_int(patch->high * channels, from, end);
  memset(out, 0, (size_t)(from - begin) * sizeof(float));
  if (next == 1 && step == channels) {
    memcpy(out + (from - begin), line + from, (size_t)(to - from) * sizeof(float));
  } else {
    for (int64_t k = from; k < to;) {
      const int64_t tap = k / channels;
      const int64_t stop = (tap + 1) * channels < to ? (tap + 1) * channels : to;
      const float* source = line + tap * step + (k - tap * channels) * next;
      for (int64_t j = 0; j < stop - k; j++) {
        out[k - begin + j] = source[j * next];
      }
      k = stop;
    }
  }
  memset(out + (to - begin), 0, (size_t)(end - to) * sizeof(float));
}

/* Pixels through the prologue, into rows as far apart as was bound. */
static void gather_pixels(const tenon__cpu_patches_t* patches, size_t row, size_t rows,
                          size_t depth_begin, size_t depth, float* out) {
  const tenon__cpu_bound_convolution_t* bound = patches->bound;
  const tenon__cpu_pixel_t first = tenon__cpu_pixel_of(&bound->y, patches->first_row);
  const tenon__cpu_rows_part_t part = {.value = patches->x +
                                                tenon__cpu_pixel_offset(&bound->x, first) +
                                                (int64_t)row * (int64_t)bound->x_step +
                                                (int64_t)depth_begin * bound->x.channel_stride,
                                       .made = out,
                                       .row = patches->first_row + row,
                                       .rows = rows,
                                       .column = depth_begin,
                                       .columns = depth};
  tenon__cpu_rows_run(bound->prologue, patches->inputs, &part, patches->buffers);
}

void tenon__cpu_gather_patches(const void* user, size_t row, size_t rows, size_t depth_begin,
                               size_t depth, float* out, size_t out_stride) {
  const tenon__cpu_patches_t* patches = user;
  const tenon__cpu_bound_convolution_t* bound = patches->bound;
  const int64_t length = bound->window.kernel[2] * bound->convolution->in_channels;
  const int64_t depth_end = (int64_t)(depth_begin + depth);
  if (bound->prologue != NULL) {
    gather_pixels(patches, row, rows, depth_begin, depth, out);
    return;
  }
  tenon__cpu_pixel_t pixel = tenon__cpu_pixel_of(&bound->y, patches->first_row + row);
  for (size_t i = 0; i < rows; i++, out += out_stride) {
    const patch_t patch = patch_of(patches, pixel);
    float* target = out;
    for (int64_t k = (int64_t)depth_begin; k < depth_end;) {
      const int64_t number = k / length;
      const int64_t stop = (number + 1) * length < depth_end ? (number + 1) * length : depth_end;
      const float* line = patch_line(bound, &patch, number);
      if (line != NULL) {
        copy_line(bound, &patch, line, k - number * length, stop - number * length, target);
      } else {
        memset(target, 0, (size_t)(stop - k) * sizeof(float));
      }
      target += stop - k;
      k = stop;
    }
    tenon__cpu_pixel_next(&bound->y, &pixel);
  }
}
