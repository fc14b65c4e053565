/*
 * Convolution over lines: the rows of a product are neighbouring output pixels, whose windows lie
 * evenly in memory, line after line of the window. Nothing is gathered. Where the window leaves the
 * image, the lines that a task needs are first copied into a band with zeros around them, each line
 * once.
 */
#include <string.h>

#include "convolution.h"

enum { LEAST_ROWS = 64 /* of a task's product */ };

static int64_t lines_of(const tenon__cpu_window_t* window, int64_t rows) {
  return (rows - 1) * window->stride[1] + (window->kernel[1] - 1) * window->dilation[1] + 1;
}

/* Pixels that a line of `width` output pixels reads. */
static int64_t pixels_of(const tenon__cpu_window_t* window, int64_t width) {
  return (width - 1) * window->stride[2] + window->kernel[2];
}

size_t tenon__cpu_band_bytes(const tenon__cpu_window_t* window, int64_t channels, int64_t height,
                             int64_t width) {
  if (window->kernel[0] != 1 || height < 1 || width < 1 ||
      (window->dilation[2] != 1 && window->kernel[2] != 1)) {
    return 0;
  }
  const size_t line = tenon__cpu_line_floats(pixels_of(window, width), channels) * sizeof(float);
  const size_t least = line * (size_t)lines_of(window, 1);
  const size_t most = line * (size_t)lines_of(window, height);
  if (least > TENON_CPU_LARGEST_BAND) {
    return 0;
  }
  return most < TENON_CPU_BAND_BYTES    ? most
         : least > TENON_CPU_BAND_BYTES ? least
                                        : TENON_CPU_BAND_BYTES;
}

/* Is everything that the windows cover inside the image, and each line of a window in one piece? */
static bool reads_image(const tenon__cpu_bound_convolution_t* bound) {
  const tenon__cpu_window_t* window = &bound->window;
  const tenon__cpu_image_t* x = &bound->x;
  bool inside = x->channel_stride == 1 && window->stride[2] == 1 &&
                (window->kernel[2] == 1 || x->stride[2] == bound->convolution->in_channels);
  for (size_t a = 1; a < TENON_CPU_AXES; a++) {
    const int64_t last = (bound->y.extent[a] - 1) * window->stride[a] - window->pad_begin[a] +
                         (window->kernel[a] - 1) * window->dilation[a];
    inside = inside && window->pad_begin[a] <= 0 && last < x->extent[a];
  }
  return inside && x->stride[1] >= 0 && x->stride[2] >= 0;
}

void tenon__cpu_band_plan(tenon__cpu_bound_convolution_t* inout_bound) {
  const tenon__cpu_window_t* window = &inout_bound->window;
  const tenon__cpu_convolution_t* c = inout_bound->convolution;
  const tenon__cpu_image_t* y = &inout_bound->y;
  const bool flat = window->kernel[0] == 1 && window->stride[0] == 1 && window->pad_begin[0] == 0 &&
                    inout_bound->x.extent[0] == 1 && y->extent[0] == 1 &&
                    (window->dilation[2] == 1 || window->kernel[2] == 1);
  /* Single taps that are not neighbours: gathering moves no more than a band would. */
  const bool sparse = tenon__cpu_window_taps(window) == 1 && window->stride[2] > 1;
  const bool even = y->channel_stride == 1 && (y->extent[1] == 1 || y->extent[2] == 1 ||
                                               y->stride[1] == y->stride[2] * y->extent[2]);
  if (!flat || !even || sparse || y->extent[2] < 1) {
    return;
  }
  const int64_t wide = (TENON_CPU_ROW_BLOCK + y->extent[2] - 1) / y->extent[2];
  inout_bound->y_step = (size_t)(y->extent[2] > 1 ? y->stride[2] : y->stride[1]);
  inout_bound->copies = !reads_image(inout_bound);
  inout_bound->band_rows = wide;
  if (inout_bound->copies) {
    inout_bound->band_pixels = pixels_of(window, y->extent[2]);
    inout_bound->band_line = tenon__cpu_line_floats(inout_bound->band_pixels, c->in_channels);
    const int64_t lines = (int64_t)(c->image_bytes / (inout_bound->band_line * sizeof(float)));
    if (lines < lines_of(window, 1)) {
      return;
    }
    const int64_t spare = lines - lines_of(window, 1);
    inout_bound->band_rows = 1 + spare / window->stride[1];
  }
  inout_bound->path = TENON_CPU_PATH_LINES;
}

/* Pixels [from, to) of a line of the image, channels together. */
static void copy_pixels(const tenon__cpu_image_t* x, int64_t channels, const float* line,
                        int64_t from, int64_t to, float* out) {
  if (x->channel_stride == 1 && x->stride[2] == channels) {
    memcpy(out, line + from * channels, (size_t)((to - from) * channels) * sizeof(float));
    return;
  }
  if (x->channel_stride == 1) {
    for (int64_t p = from; p < to; p++, out += channels) {
      memcpy(out, line + p * x->stride[2], (size_t)channels * sizeof(float));
    }
    return;
  }
  for (int64_t c = 0; c < channels; c++) {
    const float* plane = line + c * x->channel_stride;
    for (int64_t p = from; p < to; p++) {
      out[(p - from) * channels + c] = plane[p * x->stride[2]];
    }
  }
}

/* `count` lines of the image from line `first` on, which may lie outside. */
static void copy_band(const tenon__cpu_bound_convolution_t* bound, const float* x, int64_t first,
                      int64_t count, float* out) {
  const int64_t channels = bound->convolution->in_channels;
  const int64_t pad = bound->window.pad_begin[2];
  const int64_t left = pad > 0 ? pad < bound->band_pixels ? pad : bound->band_pixels : 0;
  const int64_t from = pad < 0 ? -pad : 0;
  int64_t to = bound->band_pixels - pad;
  to = to < bound->x.extent[2] ? to : bound->x.extent[2];
  to = to > from ? to : from;
  const int64_t right = bound->band_pixels - left - (to - from);
  for (int64_t line = first; line < first + count; line++, out += bound->band_line) {
    if (line < 0 || line >= bound->x.extent[1]) {
      memset(out, 0, (size_t)(bound->band_pixels * channels) * sizeof(float));
      continue;
    }
    memset(out, 0, (size_t)(left * channels) * sizeof(float));
    copy_pixels(&bound->x, channels, x + line * bound->x.stride[1], from, to,
                out + left * channels);
    memset(out + (left + to - from) * channels, 0, (size_t)(right * channels) * sizeof(float));
  }
}

uint32_t tenon__cpu_band_tasks(tenon__cpu_bound_convolution_t* inout_bound, uint32_t threads) {
  const tenon__cpu_image_t* y = &inout_bound->y;
  const tenon__cpu_convolution_t* c = inout_bound->convolution;
  const size_t units = (size_t)(y->batch * c->groups);
  const size_t height = (size_t)y->extent[1];
  const size_t width = (size_t)y->extent[2];
  const size_t panels = tenon__cpu_panel_count(c->isa->tiles, (size_t)c->out_channels);
  const size_t band = (size_t)inout_bound->band_rows;
  size_t bands = (height + band - 1) / band;
  size_t parts = 1;
  if (threads > 1) {
    const size_t wanted = ((size_t)2 * threads + units - 1) / units;
    const size_t least =
        (LEAST_ROWS + width - 1) / width; /* rows of output that are worth a task */
    const size_t most = height / least > 1 ? height / least : 1;
    if (bands < wanted) {
      bands = wanted < most ? wanted : bands > most ? bands : most;
    } else {
      bands = (bands + threads - 1) / threads * threads;
    }
    parts = bands < wanted ? (wanted + bands - 1) / bands : 1;
    parts = parts < panels ? parts : panels;
  }
  tenon__cpu_grid_t* grid = &inout_bound->grid;
  grid->rows_per_task = (height + bands - 1) / bands; /* rows of output pixels */
  grid->row_tasks = (height + grid->rows_per_task - 1) / grid->rows_per_task;
  grid->panels_per_task = (panels + parts - 1) / parts;
  grid->panel_tasks = (panels + grid->panels_per_task - 1) / grid->panels_per_task;
  return (uint32_t)(units * grid->row_tasks * grid->panel_tasks);
}

void tenon__cpu_band_task(void* user, uint32_t index, uint32_t thread) {
  const tenon__cpu_convolution_call_t* call = user;
  const tenon__cpu_bound_convolution_t* bound = call->bound;
  const tenon__cpu_convolution_t* c = bound->convolution;
  const tenon__cpu_window_t* window = &bound->window;
  const tenon__cpu_grid_t* grid = &bound->grid;
  const size_t part = index % grid->panel_tasks;
  const size_t task = index / grid->panel_tasks;
  const size_t unit = task / grid->row_tasks;
  const size_t group = unit % (size_t)c->groups;
  const int64_t row = (int64_t)(task % grid->row_tasks * grid->rows_per_task);
  const int64_t rows = bound->y.extent[1] - row < (int64_t)grid->rows_per_task
                           ? bound->y.extent[1] - row
                           : (int64_t)grid->rows_per_task;
  const int64_t batch = (int64_t)(unit / (size_t)c->groups);
  const int64_t line = row * window->stride[1] - window->pad_begin[1];
  const int64_t channels = c->in_channels;
  const float* x =
      call->x + batch * bound->x.batch_stride + (int64_t)group * channels * bound->x.channel_stride;
  char* scratch = call->scratch + thread * c->slot_bytes;
  tenon__cpu_product_t product = {
      .rows = (size_t)(rows * bound->y.extent[2]),
      .run_rows = (size_t)bound->y.extent[2],
      .line_depth = (size_t)(window->kernel[2] * channels),
  };
  if (bound->copies) {
    float* band = (float*)(void*)scratch;
    copy_band(bound, x, line, lines_of(window, rows), band);
    product.a = band;
    product.a_stride = (size_t)(window->stride[2] * channels);
    product.a_run = (size_t)window->stride[1] * bound->band_line;
    product.a_line = (size_t)window->dilation[1] * bound->band_line;
  } else {
    product.a = x + line * bound->x.stride[1] - window->pad_begin[2] * bound->x.stride[2];
    product.a_stride = (size_t)(window->stride[2] * bound->x.stride[2]);
    product.a_run = (size_t)(window->stride[1] * bound->x.stride[1]);
    product.a_line = (size_t)(window->dilation[1] * bound->x.stride[1]);
  }
  const size_t first_row = (size_t)((batch * bound->y.extent[1] + row) * bound->y.extent[2]);
  const tenon__cpu_epilogue_task_t finish = {&call->epilogue, scratch + c->image_bytes};
  tenon__cpu_shifted_finish_t shifted;
  tenon__cpu_convolution_product(call, group, first_row, &finish, &shifted, &product);
  tenon__cpu_product_rows(&product, part * grid->panels_per_task,
                          part + 1 == grid->panel_tasks
                              ? tenon__cpu_panel_count(c->isa->tiles, (size_t)c->out_channels)
                              : (part + 1) * grid->panels_per_task);
}
