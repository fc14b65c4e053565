/* Runs of integer convolutions: products of patches, which are gathered block by block. Windows of
 * one pixel read the image in place. */
#include <string.h>

#include "convolution_integer.h"

tenon__cpu_integer_source_t tenon__cpu_convolution_integer_source(
    const tenon__cpu_convolution_integer_t* self, bool is_signed) {
  return (tenon__cpu_integer_source_t){.is_signed = is_signed,
                                       .depth = self->depth,
                                       .columns = self->outputs,
                                       .inner = self->channels,
                                       .inner_stride = self->taps,
                                       .outer_stride = 1,
                                       .column_stride = self->depth};
}

/* Patches of a group. */
typedef struct patches_t {
  const tenon__cpu_convolution_integer_job_t* job;
  size_t group;
  char* to; /* where the next line goes */
} patches_t;

static char* fill(const tenon__cpu_convolution_integer_job_t* job, char* out, size_t count) {
  if (job->self->common.isa->integers->number_bytes == 1) {
    memset(out, job->x_zero, count);
    return out + count;
  }
  for (size_t k = 0; k < count; k++) {
    ((int16_t*)(void*)out)[k] = (int16_t)job->x_zero;
  }
  return out + count * sizeof(int16_t);
}

static char* encode(const tenon__cpu_convolution_integer_job_t* job, char* out, const uint8_t* from,
                    size_t count) {
  const tenon__cpu_integers_t* integers = job->self->common.isa->integers;
  if (integers->number_bytes == 1 && !job->x_signed) {
    memcpy(out, from, count);
  } else {
    integers->encode(out, from, count, job->x_signed);
  }
  return out + count * integers->number_bytes;
}

/* Appends a line to a patch. */
static void gather_line(void* user, const tenon__cpu_line_t* line) {
  patches_t* patches = user;
  const tenon__cpu_convolution_integer_job_t* job = patches->job;
  const tenon__cpu_lines_t* lines = &job->bound->lines;
  const size_t channels = job->self->channels;
  const int64_t step = lines->in.channels;
  const int64_t dilation = lines->window.dilation[2];
  const size_t taps = (size_t)lines->window.kernel[2];
  const uint8_t* x = job->x + patches->group * channels + (line->first + line->column) * step;
  if (!line->inside) {
    patches->to = fill(job, patches->to, taps * channels);
    return;
  }
  char* to = line->begin > 0 ? fill(job, patches->to, (size_t)line->begin * channels) : patches->to;
  if (dilation == 1 && step == (int64_t)channels) {
    to = encode(job, to, x + line->begin * step, (size_t)(line->end - line->begin) * channels);
  } else {
    for (int64_t tap = line->begin; tap < line->end; tap++) {
      to = encode(job, to, x + tap * dilation * step, channels);
    }
  }
  patches->to =
      line->end < (int64_t)taps ? fill(job, to, (taps - (size_t)line->end) * channels) : to;
}

static void gather_patches(const void* user, size_t row, size_t rows, void* out, size_t stride) {
  patches_t patches = *(const patches_t*)user;
  const tenon__cpu_lines_t* lines = &patches.job->bound->lines;
  tenon__cpu_pixel_t pixel = tenon__cpu_lines_pixel(lines, row);
  for (size_t i = 0; i < rows; i++) {
    patches.to = (char*)out + i * stride;
    tenon__cpu_lines_visit(lines, &pixel, gather_line, &patches);
    tenon__cpu_lines_next(lines, &pixel);
  }
}

/* Returns true if a row of patches is the image itself. */
static bool reads_image(const tenon__cpu_convolution_integer_job_t* job) {
  const tenon__cpu_convolution_integer_t* self = job->self;
  const tenon__cpu_lines_t* lines = &job->bound->lines;
  bool is_so = self->taps == 1 && self->groups == 1 &&
               tenon__cpu_integer_in_place(self->common.isa->integers, self->depth, job->x_signed);
  for (size_t axis = 0; axis < TENON_CPU_AXES; axis++) {
    is_so = is_so && lines->window.stride[axis] == 1 && lines->window.pad_begin[axis] == 0 &&
            lines->in.extent[axis] == lines->out.extent[axis];
  }
  return is_so;
}

static const char* packed_of(const tenon__cpu_convolution_integer_job_t* job) {
  const void* once = job->self->common.packed;
  return once != NULL ? once : job->call.packed;
}

static void run_task(void* user, uint32_t index, uint32_t thread) {
  const tenon__cpu_convolution_integer_job_t* job = user;
  const tenon__cpu_convolution_integer_t* self = job->self;
  const tenon__cpu_bound_convolution_integer_t* bound = job->bound;
  const size_t tasks = bound->grid.row_tasks * bound->grid.panel_tasks;
  const size_t group = index / tasks;
  const patches_t patches = {.job = job, .group = group};
  tenon__cpu_integer_part_t part = {.column = group * self->outputs};
  tenon__cpu_integer_product_t product = {.columns = self->outputs,
                                          .depth = self->depth,
                                          .gather = gather_patches,
                                          .gather_user = &patches,
                                          .b = packed_of(job) + group * self->packed_group};
  if (reads_image(job)) {
    product.a = job->x;
    product.a_stride = self->depth;
  }
  char* scratch = tenon__cpu_integer_part(&job->call, thread, &part, &product);
  tenon__cpu_integer_task(&product, &bound->grid, bound->rows, index % tasks, scratch);
}

static void pack_group(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const tenon__cpu_convolution_integer_job_t* job = user;
  const tenon__cpu_convolution_integer_t* self = job->self;
  const tenon__cpu_integers_t* integers = self->common.isa->integers;
  tenon__cpu_integer_source_t source = tenon__cpu_convolution_integer_source(self, job->w_signed);
  source.data = (const char*)job->w + index * self->outputs * self->depth;
  tenon__cpu_integer_pack(integers, &source, 0, tenon__cpu_integer_panels(integers, self->outputs),
                          (char*)job->call.packed + index * self->packed_group);
}

tenon_status_t tenon__cpu_convolution_integer_enqueue(const tenon_enqueue_t* call) {
  const tenon__cpu_convolution_integer_t* self = call->instance;
  const tenon__cpu_bound_convolution_integer_t* bound = call->bound;
  const tenon_tensor_view_t* x = &call->inputs[self->common.inputs[TENON_CPU_INTEGER_A]].tensor;
  const tenon_tensor_view_t* w = &call->inputs[self->common.inputs[TENON_CPU_INTEGER_B]].tensor;
  const size_t tasks = (size_t)self->groups * bound->grid.row_tasks * bound->grid.panel_tasks;
  if (tasks > UINT32_MAX) {
    return TENON_ERROR_UNSUPPORTED;
  }
  if (tasks == 0) {
    return TENON_OK;
  }
  tenon__cpu_convolution_integer_job_t job = {.self = self,
                                              .bound = bound,
                                              .x = x->data,
                                              .x_signed = x->dtype == TENON_DTYPE_INT8,
                                              .w = w->data,
                                              .w_signed = w->dtype == TENON_DTYPE_INT8};
  tenon__cpu_integer_start(call, &bound->common, &job.call);
  job.x_zero = bound->common.a_zeros[0];
  if (self->depthwise) {
    tenon__cpu_depthwise_integer_run(call, &job);
    return TENON_OK;
  }
  if (self->common.packed == NULL) {
    tenon__cpu_parallel(call, (uint32_t)self->groups, pack_group, &job);
  }
  tenon__cpu_parallel(call, (uint32_t)tasks, run_task, &job);
  return TENON_OK;
}
