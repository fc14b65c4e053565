/* Running transposed convolutions: a task copies the lines that it needs into a band, or reads them
 * where they are, and computes all phases of some output lines. */
#include <string.h>

#include "deconvolution.h"

typedef struct job_t {
  const tenon__cpu_bound_deconvolution_t* bound;
  const float* x;
  const float* w; /* packed */
  float* y;
  char* scratch; /* of the threads */
  tenon__cpu_epilogue_call_t epilogue;
} job_t;

/* Input lines [first, first + count), zeros around. */
static void copy_band(const tenon__cpu_bound_deconvolution_t* bound, const float* x, int64_t first,
                      int64_t count, float* out) {
  const int64_t channels = bound->self->in_channels;
  for (int64_t line = first; line < first + count; line++, out += bound->band_line) {
    const bool inside = line >= 0 && line < bound->x.extent[1];
    for (int64_t p = 0; p < bound->band_pixels; p++) {
      const int64_t at = p - bound->before[2];
      float* pixel = out + p * channels;
      if (!inside || at < 0 || at >= bound->x.extent[2]) {
        memset(pixel, 0, (size_t)channels * sizeof(float));
        continue;
      }
      const float* source = x + line * bound->x.stride[1] + at * bound->x.stride[2];
      for (int64_t c = 0; c < channels; c++) {
        pixel[c] = source[c * bound->x.channel_stride];
      }
    }
  }
}

/* Lines of the input, or of a band; the first quotients are `origin` elements from `data` on, which
 * may be outside: what a phase reads is not. */
typedef struct lines_t {
  const float* data;
  ptrdiff_t origin;
  ptrdiff_t line;
} lines_t;

/* The output lines of quotients [row, row + rows) of one image and group, in panels [begin, end).
 */
typedef struct task_t {
  const job_t* job;
  lines_t lines;
  int64_t batch;
  int64_t row;
  int64_t rows;
  size_t group;
  size_t panel_begin;
  size_t panel_end;
  float* y; /* the image's, at the group's first channel */
  char* buffers;
} task_t;

static void run_phase(const task_t* task, int64_t r_1, int64_t r_2) {
  const tenon__cpu_epilogue_call_t* epilogue = &task->job->epilogue;
  const tenon__cpu_bound_deconvolution_t* bound = task->job->bound;
  const tenon__cpu_deconvolution_t* self = bound->self;
  const tenon__cpu_window_t* window = &self->window;
  const lines_t* lines = &task->lines;
  const tenon__cpu_phase_axis_t a = tenon__cpu_phase_axis(window, 1, bound->pad[1], r_1);
  const tenon__cpu_phase_axis_t b = tenon__cpu_phase_axis(window, 2, bound->pad[2], r_2);
  const int64_t height = (bound->y.extent[1] - r_1 + window->stride[1] - 1) / window->stride[1];
  const int64_t width = (bound->y.extent[2] - r_2 + window->stride[2] - 1) / window->stride[2];
  const int64_t count = height - task->row < task->rows ? height - task->row : task->rows;
  if (count <= 0 || width <= 0) {
    return;
  }
  const bool any = a.count > 0 && b.count > 0;
  const size_t depth = any ? (size_t)(a.count * b.count * self->in_channels) : 0;
  const ptrdiff_t shift = lines->origin - a.pad * lines->line - b.pad * self->in_channels;
  const tenon__cpu_product_t product = {
      .tiles = self->isa->tiles,
      .rows = (size_t)(count * width),
      .columns = (size_t)self->out_channels,
      .depth = depth,
      .a = any ? lines->data + shift : lines->data,
      .a_stride = (size_t)self->in_channels,
      .run_rows = (size_t)width,
      .a_run = (size_t)lines->line,
      .line_depth = (size_t)(b.count * self->in_channels),
      .a_line = (size_t)lines->line,
      .b = task->job->w + task->group * self->packed_group +
           tenon__cpu_phase_offset(self, a.first, b.first),
      .panel_stride = depth * tenon__cpu_panel_width(self->isa->tiles),
      .c = task->y + (task->row * window->stride[1] + r_1) * bound->y.stride[1] +
           r_2 * bound->y.stride[2],
      .c_stride = (size_t)(window->stride[2] * bound->y.stride[2]),
      .c_run = (size_t)(window->stride[1] * bound->y.stride[1]),
      .bias =
          epilogue->bias != NULL ? epilogue->bias + task->group * (size_t)self->out_channels : NULL,
      .low = epilogue->low,
      .high = epilogue->high,
  };
  tenon__cpu_product_rows(&product, task->panel_begin, task->panel_end);
}

/* The task's output lines through the epilogue. `end`: of the columns, those of the last panel. */
static void finish_lines(const task_t* task, size_t end) {
  const tenon__cpu_bound_deconvolution_t* bound = task->job->bound;
  const int64_t stride = bound->self->window.stride[1];
  const size_t column = task->panel_begin * tenon__cpu_panel_width(bound->self->isa->tiles);
  const size_t first_column = task->group * (size_t)bound->self->out_channels + column;
  const tenon__cpu_epilogue_task_t finish = {&task->job->epilogue, task->buffers};
  const int64_t last = (task->row + task->rows) * stride;
  const int64_t stop = last < bound->y.extent[1] ? last : bound->y.extent[1];
  for (int64_t line = task->row * stride; line < stop; line++) {
    const int64_t first = (task->batch * bound->y.extent[1] + line) * bound->y.extent[2];
    task->job->epilogue.finish(&finish, task->y + column + line * bound->y.stride[1],
                               (size_t)bound->y.stride[2], (size_t)first,
                               (size_t)bound->y.extent[2], first_column, end - column);
  }
}

static void run_task(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const tenon__cpu_bound_deconvolution_t* bound = job->bound;
  const tenon__cpu_deconvolution_t* self = bound->self;
  const tenon__cpu_grid_t* grid = &bound->grid;
  const size_t part = index % grid->panel_tasks;
  const size_t band = index / grid->panel_tasks;
  const size_t unit = band / grid->row_tasks;
  const size_t panels = tenon__cpu_panel_count(self->isa->tiles, (size_t)self->out_channels);
  char* scratch = job->scratch + thread * self->slot_bytes;
  task_t task = {.job = job,
                 .batch = (int64_t)(unit / (size_t)self->groups),
                 .row = (int64_t)(band % grid->row_tasks * grid->rows_per_task),
                 .group = unit % (size_t)self->groups,
                 .panel_begin = part * grid->panels_per_task,
                 .buffers = scratch + self->band_bytes};
  const bool is_last = part + 1 == grid->panel_tasks;
  task.panel_end = is_last ? panels : (part + 1) * grid->panels_per_task;
  const int64_t left = bound->quotients[1] - task.row;
  task.rows = left < (int64_t)grid->rows_per_task ? left : (int64_t)grid->rows_per_task;
  task.y = job->y + task.batch * bound->y.batch_stride + task.group * (size_t)self->out_channels;
  const float* x = job->x + task.batch * bound->x.batch_stride +
                   (int64_t)task.group * self->in_channels * bound->x.channel_stride;
  task.lines = (lines_t){x, task.row * bound->x.stride[1], bound->x.stride[1]};
  if (bound->copies) {
    float* lines = (float*)(void*)scratch;
    const ptrdiff_t line = (ptrdiff_t)bound->band_line;
    copy_band(bound, x, task.row - bound->before[1], task.rows + bound->before[1] + bound->after[1],
              lines);
    task.lines =
        (lines_t){lines, bound->before[1] * line + bound->before[2] * self->in_channels, line};
  }
  for (int64_t k = 0; k < self->window.stride[1] * self->window.stride[2]; k++) {
    run_phase(&task, k / self->window.stride[2], k % self->window.stride[2]);
  }
  if (job->epilogue.finish != NULL) {
    finish_lines(&task, is_last ? (size_t)self->out_channels
                                : task.panel_end * tenon__cpu_panel_width(self->isa->tiles));
  }
}

static void plan_grid(tenon__cpu_bound_deconvolution_t* bound, uint32_t threads) {
  const tenon__cpu_deconvolution_t* self = bound->self;
  const size_t units = (size_t)(bound->y.batch * self->groups);
  const size_t height = (size_t)bound->quotients[1];
  const size_t count = tenon__cpu_panel_count(self->isa->tiles, (size_t)self->out_channels);
  const size_t panels = count > 0 ? count : 1;
  const size_t wanted = threads > 1 ? 2 * threads : 1;
  size_t bands = (height + (size_t)bound->band_rows - 1) / (size_t)bound->band_rows;
  bands = bands * units < wanted && height >= 4 ? (height < wanted ? height : wanted) : bands;
  const size_t tasks = bands * units; /* not 0: such images are empty */
  size_t parts = tasks > 0 && tasks < wanted ? (wanted + tasks - 1) / tasks : 1;
  parts = parts > panels ? panels : parts;
  tenon__cpu_grid_t* grid = &bound->grid;
  grid->rows_per_task = (height + bands - 1) / bands;
  grid->row_tasks = (height + grid->rows_per_task - 1) / grid->rows_per_task;
  grid->panels_per_task = (panels + parts - 1) / parts;
  grid->panel_tasks = (panels + grid->panels_per_task - 1) / grid->panels_per_task;
}

tenon_status_t tenon__cpu_deconvolution_enqueue(const tenon_enqueue_t* call) {
  const tenon__cpu_deconvolution_t* self = call->instance;
  tenon__cpu_bound_deconvolution_t* bound = call->bound;
  job_t job = {.bound = bound,
               .x = call->inputs[0].tensor.data,
               .w = self->w,
               .y = call->outputs[0].tensor.data,
               .scratch = (char*)call->host->scratch(call->run) + self->shared_bytes};
  if (tenon__cpu_image_pixels(&bound->y) * bound->y.batch == 0 || bound->y.channels == 0) {
    return TENON_OK;
  }
  if (self->w == NULL) {
    job.w = tenon__cpu_deconvolution_pack_now(self, call->inputs[self->weights].tensor.data, call);
  }
  tenon__cpu_epilogue_start(bound->epilogue, call->inputs,
                            self->bias != TENON_NONE ? call->inputs[self->bias].tensor.data : NULL,
                            &job.epilogue);
  plan_grid(bound, call->host->thread_count(call->run));
  tenon__cpu_parallel(call,
                      (uint32_t)((size_t)(bound->y.batch * self->groups) * bound->grid.row_tasks *
                                 bound->grid.panel_tasks),
                      run_task, &job);
  return TENON_OK;
}
