/*
 * The lines of a window: the pixels that it reads along the innermost axis, for each output pixel.
 * The functions are inline because they run for each pixel.
 */
#ifndef TENON_CPU_WINDOW_LINES_H_
#define TENON_CPU_WINDOW_LINES_H_

#include "window.h"

/* The extents of a bound convolution. */
typedef struct tenon__cpu_lines_t {
  tenon__cpu_window_t window;
  tenon__cpu_image_t in;
  tenon__cpu_image_t out;
} tenon__cpu_lines_t;

/* An output pixel. */
typedef struct tenon__cpu_pixel_t {
  int64_t at[TENON_CPU_AXES];
  int64_t image;
} tenon__cpu_pixel_t;

/* A line of a window. Taps [begin, end) are inside of the image along the innermost axis. */
typedef struct tenon__cpu_line_t {
  int64_t first;  /* index of the first pixel of this line of the image, in all images */
  int64_t column; /* the coordinate that tap 0 reads in it, perhaps outside */
  int64_t begin;
  int64_t end;
  bool inside; /* false: the whole line is outside of the image */
} tenon__cpu_line_t;

/* Returns output pixel `row`, counted over all images. */
static inline tenon__cpu_pixel_t tenon__cpu_lines_pixel(const tenon__cpu_lines_t* lines,
                                                        size_t row) {
  tenon__cpu_pixel_t pixel;
  int64_t rest = (int64_t)row;
  for (size_t axis = TENON_CPU_AXES; axis-- > 0;) {
    pixel.at[axis] = rest % lines->out.extent[axis];
    rest /= lines->out.extent[axis];
  }
  pixel.image = rest;
  return pixel;
}

static inline void tenon__cpu_lines_next(const tenon__cpu_lines_t* lines,
                                         tenon__cpu_pixel_t* inout_pixel) {
  for (size_t axis = TENON_CPU_AXES; axis-- > 0;) {
    if (++inout_pixel->at[axis] < lines->out.extent[axis]) {
      return;
    }
    inout_pixel->at[axis] = 0;
  }
  inout_pixel->image++;
}

/* Returns the coordinate that a tap reads along an axis, or -1 outside of the image. */
static inline int64_t tenon__cpu_lines_coordinate(const tenon__cpu_lines_t* lines,
                                                  const tenon__cpu_pixel_t* pixel, size_t axis,
                                                  int64_t tap) {
  const tenon__cpu_window_t* w = &lines->window;
  const int64_t at =
      pixel->at[axis] * w->stride[axis] - w->pad_begin[axis] + tap * w->dilation[axis];
  return at < lines->in.extent[axis] ? at : -1;
}

/* Calls `visit` for each line of the window of a pixel. */
static inline void tenon__cpu_lines_visit(const tenon__cpu_lines_t* lines,
                                          const tenon__cpu_pixel_t* pixel,
                                          void (*visit)(void* user, const tenon__cpu_line_t* line),
                                          void* user) {
  const tenon__cpu_window_t* w = &lines->window;
  const int64_t* extent = lines->in.extent;
  tenon__cpu_line_t line = {.column = pixel->at[2] * w->stride[2] - w->pad_begin[2],
                            .end = w->kernel[2]};
  if (line.column < 0 || line.column + (w->kernel[2] - 1) * w->dilation[2] >= extent[2]) {
    line.end = tenon__cpu_taps_between(line.column, w->dilation[2], w->kernel[2], 0, extent[2],
                                       &line.begin);
  }
  for (int64_t i = 0; i < w->kernel[0]; i++) {
    const int64_t z = tenon__cpu_lines_coordinate(lines, pixel, 0, i);
    for (int64_t j = 0; j < w->kernel[1]; j++) {
      const int64_t y = tenon__cpu_lines_coordinate(lines, pixel, 1, j);
      line.first = ((pixel->image * extent[0] + z) * extent[1] + y) * extent[2];
      line.inside = z >= 0 && y >= 0;
      visit(user, &line);
    }
  }
}

#endif
