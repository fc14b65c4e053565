/* Runs winograd convolutions block by block. See winograd.c. */
#include "winograd.h"

#include <math.h>
#include <string.h>

enum { DEPTH = 64 }; /* of sums: the transform back adds up the errors of nine */

typedef struct job_t {
  const tenon__cpu_bound_winograd_t* bound;
  const float* x;
  float* y;
  char* scratch;
  tenon__cpu_epilogue_call_t epilogue;
} job_t;

/* A tile's first output. */
typedef struct tile_t {
  int64_t batch;
  int64_t line;
  int64_t column;
} tile_t;

static tile_t tile_at(const tenon__cpu_bound_winograd_t* bound, size_t index) {
  const size_t line = index / bound->tile_columns;
  return (tile_t){(int64_t)(line / bound->tile_lines),
                  (int64_t)(line % bound->tile_lines) * TENON_CPU_WINOGRAD_OUTPUTS,
                  (int64_t)(index % bound->tile_columns) * TENON_CPU_WINOGRAD_OUTPUTS};
}

static const float* pixel_of(const job_t* job, const tile_t* tile, int64_t i, int64_t j,
                             const float* zeros) {
  const tenon__cpu_image_t* x = &job->bound->x;
  const int64_t line = tile->line + i - job->bound->window.pad_begin[1];
  const int64_t column = tile->column + j - job->bound->window.pad_begin[2];
  return line < 0 || line >= x->extent[1] || column < 0 || column >= x->extent[2]
             ? zeros
             : job->x + tile->batch * x->batch_stride + line * x->stride[1] + column * x->stride[2];
}

/* The offset of output (i, j) of a tile in y, and its number among all pixels. False: there is none. */
static bool find_output(const tenon__cpu_bound_winograd_t* bound, const tile_t* tile, int64_t i,
                        int64_t j, int64_t* out_offset, size_t* out_row) {
  const tenon__cpu_image_t* y = &bound->y;
  const int64_t line = tile->line + i;
  const int64_t column = tile->column + j;
  *out_offset = tile->batch * y->batch_stride + line * y->stride[1] + column * y->stride[2];
  *out_row = (size_t)((tile->batch * y->extent[1] + line) * y->extent[2] + column);
  return line < y->extent[1] && column < y->extent[2];
}

/* A block of tiles in a thread's scratch. */
typedef struct block_t {
  const job_t* job;
  size_t first;
  size_t count;
  float* rows;  /* [16][count][tenon__cpu_winograd_row(in)] */
  float* sums;  /* [16][count][tenon__cpu_winograd_row(out)] */
  float* zeros; /* [in] */
} block_t;

static void transform_in(const block_t* block) {
  const tenon__cpu_winograd_t* self = block->job->bound->self;
  tenon__cpu_winograd_in_t in = {.channels = self->in,
                                 .matrix = block->count * tenon__cpu_winograd_row(self->in)};
  for (size_t t = 0; t < block->count; t++) {
    const tile_t tile = tile_at(block->job->bound, block->first + t);
    for (size_t k = 0; k < TENON_CPU_WINOGRAD_MATRICES; k++) {
      in.pixels[k] = pixel_of(block->job, &tile, (int64_t)(k / TENON_CPU_WINOGRAD_SIDE),
                              (int64_t)(k % TENON_CPU_WINOGRAD_SIDE), block->zeros);
    }
    in.out = block->rows + t * tenon__cpu_winograd_row(self->in);
    self->isa->tiles->winograd_in(&in);
  }
}

static void multiply(const block_t* block) {
  const tenon__cpu_winograd_t* self = block->job->bound->self;
  tenon__cpu_product_t product = {
      .tiles = self->isa->tiles,
      .rows = block->count,
      .columns = self->out,
      .depth = self->in,
      .depth_block = DEPTH,
      .a_stride = tenon__cpu_winograd_row(self->in),
      .panel_stride = self->in * tenon__cpu_panel_width(self->isa->tiles),
      .c_stride = tenon__cpu_winograd_row(self->out),
      .low = -INFINITY,
      .high = INFINITY};
  for (size_t matrix = 0; matrix < TENON_CPU_WINOGRAD_MATRICES; matrix++) {
    product.a = block->rows + matrix * block->count * product.a_stride;
    product.b = self->packed + matrix * self->packed_matrix;
    product.c = block->sums + matrix * block->count * product.c_stride;
    tenon__cpu_product_rows(&product, 0, tenon__cpu_panel_count(self->isa->tiles, self->out));
  }
}

/* One output by sums: a tile has infinite numbers or NaN, or its sums overflow. */
static void sum_output(const block_t* block, const tile_t* tile, size_t at,
                       const tenon__cpu_winograd_out_t* out) {
  const tenon__cpu_winograd_t* self = block->job->bound->self;
  for (size_t m = 0; m < self->out; m++) {
    float sum = 0;
    for (size_t tap = 0; tap < (size_t)TENON_CPU_WINOGRAD_TAPS * TENON_CPU_WINOGRAD_TAPS; tap++) {
      const size_t i = tap / TENON_CPU_WINOGRAD_TAPS;
      const size_t j = tap % TENON_CPU_WINOGRAD_TAPS;
      const float* x = pixel_of(block->job, tile, (int64_t)(at / TENON_CPU_WINOGRAD_OUTPUTS + i),
                                (int64_t)(at % TENON_CPU_WINOGRAD_OUTPUTS + j), block->zeros);
      for (size_t k = 0; k < self->in; k++) {
        sum += x[k] * tenon__cpu_winograd_weight(self, tenon__cpu_winograd_place(self, k, m), i, j);
      }
    }
    sum += out->bias != NULL ? out->bias[m] : 0;
    sum += out->addend[at] != NULL ? out->addend[at][m] : 0;
    sum = sum < out->low ? out->low : sum;
    out->y[at][m] = sum > out->high ? out->high : sum;
  }
}

static void sum_tile(const block_t* block, const tile_t* tile,
                     const tenon__cpu_winograd_out_t* out) {
  for (size_t at = 0; at < TENON_CPU_WINOGRAD_PIXELS; at++) {
    if (out->y[at] != NULL) {
      sum_output(block, tile, at, out);
    }
  }
}

static void transform_out(const block_t* block) {
  const job_t* job = block->job;
  const tenon__cpu_winograd_t* self = job->bound->self;
  tenon__cpu_winograd_out_t out = {.matrix = block->count * tenon__cpu_winograd_row(self->out),
                                   .channels = self->out,
                                   .bias = job->epilogue.bias,
                                   .low = job->epilogue.low,
                                   .high = job->epilogue.high};
  for (size_t t = 0; t < block->count; t++) {
    const tile_t tile = tile_at(job->bound, block->first + t);
    out.sums = block->sums + t * tenon__cpu_winograd_row(self->out);
    for (size_t at = 0; at < TENON_CPU_WINOGRAD_PIXELS; at++) {
      int64_t offset = 0;
      size_t row = 0;
      const bool is_there =
          find_output(job->bound, &tile, (int64_t)(at / TENON_CPU_WINOGRAD_OUTPUTS),
                      (int64_t)(at % TENON_CPU_WINOGRAD_OUTPUTS), &offset, &row);
      out.y[at] = is_there ? job->y + offset : NULL;
      out.addend[at] = is_there && job->epilogue.addend != NULL
                           ? job->epilogue.addend + row * job->epilogue.addend_stride
                           : NULL;
    }
    if (!self->isa->tiles->winograd_out(&out)) {
      sum_tile(block, &tile, &out);
    }
  }
}

/* The rest of the epilogue, for the outputs of tiles that are neighbours in a line. */
static void finish(const block_t* block, char* buffers) {
  const job_t* job = block->job;
  const tenon__cpu_bound_winograd_t* bound = job->bound;
  const tenon__cpu_epilogue_task_t task = {&job->epilogue, buffers};
  for (size_t t = 0; t < block->count;) {
    const tile_t tile = tile_at(bound, block->first + t);
    const size_t left = bound->tile_columns - (block->first + t) % bound->tile_columns;
    const size_t tiles = left < block->count - t ? left : block->count - t;
    const int64_t end = tile.column + (int64_t)tiles * TENON_CPU_WINOGRAD_OUTPUTS;
    const int64_t pixels = (end < bound->y.extent[2] ? end : bound->y.extent[2]) - tile.column;
    for (int64_t i = 0; i < TENON_CPU_WINOGRAD_OUTPUTS; i++) {
      int64_t offset = 0;
      size_t row = 0;
      if (find_output(bound, &tile, i, 0, &offset, &row)) {
        job->epilogue.finish(&task, job->y + offset, (size_t)bound->y.stride[2], row,
                             (size_t)pixels, 0, bound->self->out);
      }
    }
    t += tiles;
  }
}

static void run_block(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const tenon__cpu_winograd_t* self = job->bound->self;
  char* scratch = job->scratch + thread * self->slot_bytes;
  const size_t first = index * job->bound->block;
  const size_t left = job->bound->tiles - first;
  block_t block = {.job = job,
                   .first = first,
                   .count = left < job->bound->block ? left : job->bound->block,
                   .rows = (float*)(void*)scratch};
  block.sums =
      block.rows + TENON_CPU_WINOGRAD_MATRICES * block.count * tenon__cpu_winograd_row(self->in);
  block.zeros =
      block.sums + TENON_CPU_WINOGRAD_MATRICES * block.count * tenon__cpu_winograd_row(self->out);
  memset(block.zeros, 0, self->in * sizeof(float));
  transform_in(&block);
  multiply(&block);
  transform_out(&block);
  if (job->epilogue.finish != NULL) {
    finish(&block, scratch + self->block_bytes);
  }
}

tenon_status_t tenon__cpu_winograd_run(const tenon_enqueue_t* call) {
  const tenon__cpu_bound_winograd_t* bound = call->bound;
  const tenon__cpu_winograd_t* self = bound->self;
  job_t job = {.bound = bound,
               .x = call->inputs[self->x].tensor.data,
               .y = call->outputs[0].tensor.data,
               .scratch = call->host->scratch(call->run)};
  const float* bias = self->bias != TENON_NONE ? call->inputs[self->bias].tensor.data : NULL;
  tenon__cpu_epilogue_start(bound->epilogue, call->inputs, bias, &job.epilogue);
  tenon__cpu_parallel(call, (uint32_t)((bound->tiles + bound->block - 1) / bound->block), run_block,
                      &job);
  return TENON_OK;
}
