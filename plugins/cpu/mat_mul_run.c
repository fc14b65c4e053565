/* Running matrix products: b is packed first unless it was packed when building, or the rows are
 * too few for that to pay; then tiles. */
#include "copy.h"
#include "mat_mul.h"

typedef struct job_t {
  const tenon__cpu_bound_mat_mul_t* bound;
  const float* a;
  const float* b;
  float* y;
  size_t begin; /* the columns of this job */
  size_t columns;
  float* packed;
  size_t packed_batch; /* floats of one matrix of `packed` */
  char* scratch;
  size_t pack_parts; /* of one matrix, or of a unit's columns */
  tenon__cpu_epilogue_call_t epilogue;
} job_t;

/* A part of the columns of one matrix of b. */
static void pack_task(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const job_t* job = user;
  const tenon__cpu_bound_mat_mul_t* bound = job->bound;
  const tenon__cpu_mat_mul_t* product = bound->product;
  const size_t part = index % job->pack_parts;
  size_t rest = index / job->pack_parts;
  const size_t matrix = rest;
  int64_t offset = 0;
  for (uint32_t k = bound->b_rank; k-- > 0;) {
    offset += (int64_t)(rest % (size_t)bound->b_extents[k]) * bound->b_strides[k];
    rest /= (size_t)bound->b_extents[k];
  }
  const size_t width = tenon__cpu_panel_width(product->isa->tiles);
  const size_t panels = tenon__cpu_panel_count(product->isa->tiles, job->columns);
  const size_t begin = panels * part / job->pack_parts * width;
  const size_t end =
      part + 1 == job->pack_parts ? job->columns : panels * (part + 1) / job->pack_parts * width;
  if (begin < end) {
    tenon__cpu_pack_strided(product->isa->tiles, product->isa->elements,
                            job->b + offset + (int64_t)(job->begin + begin) * bound->b_column,
                            bound->b_depth, bound->b_column, bound->depth, end - begin,
                            job->packed + matrix * job->packed_batch + begin * bound->depth);
  }
}

typedef struct rows_t {
  const job_t* job;
  const float* a;
} rows_t;

/* Rows of a whose elements do not lie together. */
static void gather_rows(const void* user, size_t row, size_t rows, size_t depth_begin, size_t depth,
                        float* out, size_t out_stride) {
  const rows_t* source = user;
  const tenon__cpu_bound_mat_mul_t* bound = source->job->bound;
  const tenon__cpu_copy_2d_t shape = {.element_bytes = sizeof(float),
                                      .rows = rows,
                                      .columns = depth,
                                      .out_row = (int64_t)out_stride,
                                      .out_column = 1,
                                      .in_row = bound->a_row,
                                      .in_column = bound->a_depth};
  tenon__cpu_copy_2d(
      bound->product->isa->elements, &shape, out,
      source->a + (int64_t)row * bound->a_row + (int64_t)depth_begin * bound->a_depth);
}

/* Where a unit begins in a, in b, and in y; which of the packed matrices it reads. */
typedef struct unit_t {
  int64_t a;
  int64_t b;
  int64_t matrix;
  int64_t y;
} unit_t;

static unit_t locate_unit(const tenon__cpu_bound_mat_mul_t* bound, size_t index) {
  unit_t unit = {0};
  for (uint32_t k = bound->outer_rank; k-- > 0;) {
    const tenon__cpu_matrix_axis_t* axis = &bound->outer[k];
    const int64_t at = (int64_t)(index % (size_t)axis->extent);
    index /= (size_t)axis->extent;
    unit.a += at * axis->a;
    unit.b += at * axis->b;
    unit.matrix += at * axis->packed;
    unit.y += at * axis->y;
  }
  return unit;
}

static void product_task(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const tenon__cpu_bound_mat_mul_t* bound = job->bound;
  const tenon__cpu_mat_mul_t* self = bound->product;
  const size_t tasks = bound->grid.row_tasks * bound->grid.panel_tasks;
  const size_t number = index / tasks;
  const unit_t unit = locate_unit(bound, number);
  const size_t first_row = number * bound->rows;
  const bool in_place = job->packed == NULL;
  char* scratch = job->scratch + thread * self->slot_bytes;
  const rows_t rows = {job, job->a + unit.a};
  const tenon__cpu_epilogue_call_t* epilogue = &job->epilogue;
  const tenon__cpu_epilogue_task_t finish = {epilogue, scratch + self->gather_bytes};
  const tenon__cpu_shifted_finish_t shifted = {&finish, epilogue->finish, first_row, job->begin};
  tenon__cpu_product_t product = {
      .tiles = self->isa->tiles,
      .rows = bound->rows,
      .columns = job->columns,
      .depth = bound->depth,
      .b = in_place ? job->b + unit.b : job->packed + (size_t)unit.matrix * job->packed_batch,
      .b_stride = in_place ? (size_t)bound->b_depth : 0,
      .panel_stride = (in_place ? 1 : bound->depth) * tenon__cpu_panel_width(self->isa->tiles),
      .c = job->y + unit.y + job->begin,
      .c_stride = (size_t)bound->y_row,
      .bias = epilogue->bias != NULL ? epilogue->bias + job->begin : NULL,
      .addend = epilogue->addend != NULL
                    ? epilogue->addend + first_row * epilogue->addend_stride + job->begin
                    : NULL,
      .addend_stride = epilogue->addend_stride,
      .low = epilogue->low,
      .high = epilogue->high,
      .finish = epilogue->finish != NULL ? tenon__cpu_finish_shifted : NULL,
      .finish_user = &shifted,
  };
  if (bound->a_depth == 1 && bound->a_row >= 0) {
    product.a = rows.a;
    product.a_stride = (size_t)bound->a_row;
  } else {
    product.gather = gather_rows;
    product.gather_user = &rows;
  }
  tenon__cpu_product_task(&product, &bound->grid, index % tasks, (float*)(void*)scratch);
}

/* FEW: a part of a unit's columns, dot product by dot product. */
static void few_task(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  const tenon__cpu_bound_mat_mul_t* bound = job->bound;
  const tenon__cpu_mat_mul_t* self = bound->product;
  const tenon__cpu_epilogue_call_t* epilogue = &job->epilogue;
  const size_t number = index / job->pack_parts;
  const size_t part = index % job->pack_parts;
  const unit_t unit = locate_unit(bound, number);
  const size_t first_row = number * bound->rows;
  const size_t begin = bound->columns * part / job->pack_parts;
  const size_t end = bound->columns * (part + 1) / job->pack_parts;
  const tenon__cpu_few_t few = {
      .tiles = self->isa->tiles,
      .rows = bound->rows,
      .depth = bound->depth,
      .a = job->a + unit.a,
      .a_stride = (size_t)bound->a_row,
      .b = job->b + unit.b,
      .b_stride = (size_t)bound->b_column,
      .c = job->y + unit.y,
      .c_stride = (size_t)bound->y_row,
      .bias = epilogue->bias,
      .addend =
          epilogue->addend != NULL ? epilogue->addend + first_row * epilogue->addend_stride : NULL,
      .addend_stride = epilogue->addend_stride,
      .low = epilogue->low,
      .high = epilogue->high};
  tenon__cpu_product_few(&few, begin, end);
  if (epilogue->finish != NULL && begin < end) {
    const tenon__cpu_epilogue_task_t finish = {
        epilogue, job->scratch + thread * self->slot_bytes + self->gather_bytes};
    epilogue->finish(&finish, few.c + begin, few.c_stride, first_row, bound->rows, begin,
                     end - begin);
  }
}

/* How a product comes by its b. */
typedef enum way_t {
  WAY_PACKED,   /* it was packed when building, or is now */
  WAY_IN_PLACE, /* few rows; rows of b are contiguous: whole vectors are read in place */
  WAY_FEW,      /* few rows; columns of b lie together: dot products */
} way_t;

static way_t choose_way(const tenon__cpu_bound_mat_mul_t* bound) {
  const tenon__cpu_mat_mul_t* self = bound->product;
  const bool few = self->packed == NULL && bound->rows <= TENON_CPU_FEW_ROWS;
  if (few && bound->b_depth == 1 && bound->b_column > 0 && bound->a_depth == 1 &&
      bound->a_row >= 0) {
    return WAY_FEW;
  }
  return few && bound->b_column == 1 && bound->b_depth > 0 &&
                 bound->columns >= self->isa->tiles->vector_floats
             ? WAY_IN_PLACE
             : WAY_PACKED;
}

/* Packs the columns of the job, unless they were packed or are read in place, and multiplies. */
static void run_columns(const tenon_enqueue_t* call, job_t* job, bool packs) {
  const tenon__cpu_mat_mul_t* self = call->instance;
  tenon__cpu_bound_mat_mul_t* bound = call->bound;
  if (packs) {
    tenon__cpu_parallel(call, (uint32_t)(bound->b_count * job->pack_parts), pack_task, job);
  }
  tenon__cpu_product_grid(self->isa->tiles, bound->rows, job->columns, bound->units,
                          call->host->thread_count(call->run), &bound->grid);
  tenon__cpu_parallel(call,
                      (uint32_t)(bound->units * bound->grid.row_tasks * bound->grid.panel_tasks),
                      product_task, job);
}

tenon_status_t tenon__cpu_mat_mul_enqueue(const tenon_enqueue_t* call) {
  const tenon__cpu_mat_mul_t* self = call->instance;
  const tenon__cpu_bound_mat_mul_t* bound = call->bound;
  if (bound->units == 0 || bound->rows == 0 || bound->columns == 0) {
    return TENON_OK;
  }
  char* scratch = call->host->scratch(call->run);
  const uint32_t threads = call->host->thread_count(call->run);
  job_t job = {.bound = bound,
               .a = call->inputs[self->a].tensor.data,
               .b = call->inputs[self->b].tensor.data,
               .y = call->outputs[0].tensor.data,
               .columns = bound->columns,
               .packed_batch = self->packed_batch,
               .scratch = scratch + self->shared_bytes};
  tenon__cpu_epilogue_start(bound->epilogue, call->inputs, NULL, &job.epilogue);
  const way_t way = choose_way(bound);
  job.pack_parts = bound->b_count < 2 * (size_t)threads && threads > 1 ? 2 * (size_t)threads : 1;
  if (way == WAY_FEW) {
    tenon__cpu_parallel(call, (uint32_t)(bound->units * job.pack_parts), few_task, &job);
    return TENON_OK;
  }
  if (way == WAY_IN_PLACE) {
    const size_t rest = bound->columns % self->isa->tiles->vector_floats;
    job.columns -= rest;
    run_columns(call, &job, false);
    job.begin = job.columns;
    job.columns = rest;
    job.packed_batch = tenon__cpu_packed_size(self->isa->tiles, bound->depth, rest);
  }
  job.packed = self->packed != NULL ? (float*)self->packed : (float*)(void*)scratch;
  if (job.columns > 0) {
    run_columns(call, &job, self->packed == NULL);
  }
  return TENON_OK;
}
