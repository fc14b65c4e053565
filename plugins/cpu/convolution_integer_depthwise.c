/*
 * Depthwise integer convolutions. Weights are packed as 16-bit numbers in pairs of taps,
 * [pairs][channels][2], unsigned ones less 128. A weight of 0 completes an odd last pair. The sum of
 * each channel's weights follows them. Zero points that are not 0 are subtracted in each run.
 */
#include <string.h>

#include "convolution_integer.h"

static size_t pair_count(const tenon__cpu_convolution_integer_t* self) {
  return (self->taps + 1) / 2;
}

/* 16-bit numbers before the sums. */
static size_t weight_count(const tenon__cpu_convolution_integer_t* self) {
  return pair_count(self) * (size_t)self->groups * 2;
}

static size_t packed_bytes(const tenon__cpu_convolution_integer_t* self) {
  return weight_count(self) * sizeof(int16_t) + (size_t)self->groups * sizeof(int32_t);
}

static int32_t* sums_of(const tenon__cpu_convolution_integer_t* self, const int16_t* packed) {
  return (int32_t*)(void*)(packed + weight_count(self));
}

/* Subtracted from all weights. */
static int32_t shift_of(bool is_signed) {
  return is_signed ? 0 : 128;
}

/* ---- Packing ---- */

static void pack(const tenon__cpu_convolution_integer_t* self, const void* w, bool is_signed,
                 int16_t* out) {
  const size_t channels = (size_t)self->groups;
  int32_t* sums = sums_of(self, out);
  memset(out, 0, packed_bytes(self));
  for (size_t c = 0; c < channels; c++) {
    for (size_t tap = 0; tap < self->taps; tap++) {
      const size_t at = c * self->taps + tap;
      const int32_t weight =
          is_signed ? ((const int8_t*)w)[at] : ((const uint8_t*)w)[at] - shift_of(false);
      out[(tap / 2 * channels + c) * 2 + tap % 2] = (int16_t)weight;
      sums[c] += weight;
    }
  }
}

tenon_status_t tenon__cpu_depthwise_integer_prepare(const tenon_prepare_t* call,
                                                    tenon__cpu_convolution_integer_t* inout_self) {
  const tenon__cpu_region_t region = {call->region, call->table};
  const tenon_value_info_t* w = tenon__cpu_region_input(region, TENON_CPU_INTEGER_B);
  const tenon__cpu_integer_packing_t packing = {
      .format = "cpu.integer_depthwise/1", .parameters = "", .bytes = packed_bytes(inout_self)};
  void* data = NULL;
  const tenon_status_t status =
      tenon__cpu_integer_request(call, &packing, &inout_self->common, &data);
  if (status == TENON_OK && data != NULL) {
    pack(inout_self, w->constant_data, w->dtype == TENON_DTYPE_INT8, data);
  }
  return status;
}

/* Subtracts zero points: those of common.b_zeros less `offset`. `packed` and `out` may be equal. The
 * zero after an odd last tap is in `out` already. */
static void subtract_zeros(const tenon__cpu_convolution_integer_job_t* job, const int16_t* packed,
                           int32_t offset, int16_t* out) {
  const tenon__cpu_convolution_integer_t* self = job->self;
  const int32_t* zeros = job->bound->common.b_zeros;
  const size_t channels = (size_t)self->groups;
  for (size_t tap = 0; tap < self->taps; tap++) {
    const size_t first = tap / 2 * channels * 2 + tap % 2;
    for (size_t c = 0; c < channels; c++) {
      out[first + 2 * c] = (int16_t)(packed[first + 2 * c] - (zeros[c] - offset));
    }
  }
  for (size_t c = 0; c < channels; c++) {
    sums_of(self, out)[c] = sums_of(self, packed)[c] - (int32_t)self->taps * (zeros[c] - offset);
  }
}

/* Returns the weights less their zero points, with their sums. */
static const int16_t* find_weights(const tenon__cpu_convolution_integer_job_t* job) {
  const tenon__cpu_convolution_integer_t* self = job->self;
  const tenon__cpu_integers_t* integers = self->common.isa->integers;
  const int32_t offset =
      tenon__cpu_integer_b_zero(integers, shift_of(job->w_signed), job->w_signed);
  const int16_t* packed = self->common.packed;
  bool has_zeros = false;
  if (packed == NULL) {
    pack(self, job->w, job->w_signed, job->bound->weights);
    packed = job->bound->weights;
  }
  for (size_t c = 0; c < (size_t)self->groups; c++) {
    has_zeros = has_zeros || job->bound->common.b_zeros[c] != offset;
  }
  if (!has_zeros) {
    return packed;
  }
  subtract_zeros(job, packed, offset, job->bound->weights);
  return job->bound->weights;
}

/* ---- Binding ---- */

bool tenon__cpu_depthwise_integer_bind(const tenon__cpu_convolution_integer_t* self,
                                       tenon_binding_t* binding, const tenon_bind_table_t* host,
                                       tenon__cpu_bound_convolution_integer_t* inout_bound) {
  const size_t channels = (size_t)self->groups;
  tenon__cpu_bound_convolution_integer_t* bound = inout_bound;
  bound->weights = host->allocate(binding, packed_bytes(self));
  bound->start = host->allocate(binding, channels * sizeof(int32_t));
  bound->outside = host->allocate(binding, channels);
  /* NOLINTNEXTLINE(bugprone-sizeof-expression): the elements are pointers */
  bound->places = host->allocate(
      binding, host->thread_count(binding) * (self->taps + 1) * sizeof(*bound->places));
  return bound->weights != NULL && bound->start != NULL && bound->outside != NULL &&
         bound->places != NULL;
}

/* ---- Running ---- */

typedef struct places_t {
  const tenon__cpu_convolution_integer_job_t* job;
  const uint8_t** next;
} places_t;

static void find_line(void* user, const tenon__cpu_line_t* line) {
  places_t* places = user;
  const tenon__cpu_bound_convolution_integer_t* bound = places->job->bound;
  const tenon__cpu_lines_t* lines = &bound->lines;
  for (int64_t tap = 0; tap < lines->window.kernel[2]; tap++) {
    const int64_t pixel = line->first + line->column + tap * lines->window.dilation[2];
    const bool is_inside = line->inside && tap >= line->begin && tap < line->end;
    *places->next++ = is_inside ? places->job->x + pixel * lines->in.channels : bound->outside;
  }
}

/* Finds the addresses of all taps, and one for the weight of 0 after an odd last tap. */
static void find_places(const tenon__cpu_convolution_integer_job_t* job,
                        const tenon__cpu_pixel_t* pixel, const uint8_t** out_places) {
  places_t places = {job, out_places};
  tenon__cpu_lines_visit(&job->bound->lines, pixel, find_line, &places);
  *places.next = job->bound->outside;
}

typedef struct job_t {
  const tenon__cpu_convolution_integer_job_t* common;
  const int16_t* weights;
} job_t;

/* A thread's position in its task. */
typedef struct position_t {
  const tenon__cpu_convolution_integer_job_t* job;
  const uint8_t** places; /* of the taps of `row` */
  tenon__cpu_pixel_t pixel;
  size_t row;
  tenon__cpu_integer_depthwise_t numbers;
} position_t;

static void compute_row(void* user, size_t row, size_t first, size_t count, int32_t* c) {
  position_t* position = user;
  const tenon__cpu_lines_t* lines = &position->job->bound->lines;
  if (row != position->row) {
    if (row == position->row + 1) {
      tenon__cpu_lines_next(lines, &position->pixel);
    } else {
      position->pixel = tenon__cpu_lines_pixel(lines, row);
    }
    position->row = row;
    find_places(position->job, &position->pixel, position->places);
  }
  position->job->self->common.isa->integers->depthwise(&position->numbers, first, count, c);
}

static void run_task(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const tenon__cpu_convolution_integer_t* self = job->common->self;
  const tenon__cpu_bound_convolution_integer_t* bound = job->common->bound;
  const size_t row = index * bound->grid.rows_per_task;
  const size_t left = bound->rows - row;
  const size_t rows = left < bound->grid.rows_per_task ? left : bound->grid.rows_per_task;
  const uint8_t** places = bound->places + thread * (self->taps + 1);
  position_t position = {.job = job->common,
                         .places = places,
                         .row = SIZE_MAX - 1,
                         .numbers = {.x = places,
                                     .weights = job->weights,
                                     .pairs = pair_count(self),
                                     .channels = (size_t)self->groups,
                                     .start = bound->start,
                                     .is_signed = job->common->x_signed}};
  tenon__cpu_integer_part_t part = {0};
  tenon__cpu_integer_product_t product = {.columns = (size_t)self->groups, .depth = self->depth};
  char* scratch = tenon__cpu_integer_part(&job->common->call, thread, &part, &product);
  tenon__cpu_integer_run_rows(&product, row, row + rows, compute_row, &position, scratch);
}

void tenon__cpu_depthwise_integer_run(const tenon_enqueue_t* call,
                                      const tenon__cpu_convolution_integer_job_t* job) {
  const tenon__cpu_convolution_integer_t* self = job->self;
  const tenon__cpu_bound_convolution_integer_t* bound = job->bound;
  const int32_t zero =
      job->x_zero - tenon__cpu_integer_a_zero(self->common.isa->integers, 0, job->x_signed);
  /* Signed x are shifted by 128, and so is their zero point. */
  const uint32_t shifted = (uint32_t)(zero + (job->x_signed ? 128 : 0));
  job_t own = {job, find_weights(job)};
  const int32_t* sums = sums_of(self, own.weights);
  for (size_t c = 0; c < (size_t)self->groups; c++) {
    bound->start[c] = (int32_t)(0U - shifted * (uint32_t)sums[c]);
  }
  memset(bound->outside, zero, (size_t)self->groups);
  tenon__cpu_parallel(call, (uint32_t)bound->grid.row_tasks, run_task, &own);
}
