/* Running matrix products: b is packed first unless it was packed when building, then tiles. */
#include "copy.h"
#include "mat_mul.h"

typedef struct call_t {
  const tenon__cpu_bound_mat_mul_t* bound;
  const float* a;
  const float* b;
  float* y;
  float* packed;
  char* scratch;
  size_t pack_parts; /* of one matrix */
  tenon__cpu_epilogue_call_t epilogue;
} call_t;

/* A part of the columns of one matrix of b. */
static void pack_task(void* user, uint32_t index, uint32_t thread) {
  (void)thread;
  const call_t* call = user;
  const tenon__cpu_bound_mat_mul_t* bound = call->bound;
  const tenon__cpu_mat_mul_t* product = bound->product;
  const size_t part = index % call->pack_parts;
  size_t rest = index / call->pack_parts;
  const size_t matrix = rest;
  int64_t offset = 0;
  for (uint32_t k = bound->b_rank; k-- > 0;) {
    offset += (int64_t)(rest % (size_t)bound->b_extents[k]) * bound->b_strides[k];
    rest /= (size_t)bound->b_extents[k];
  }
  const size_t width = tenon__cpu_panel_width(product->isa->tiles);
  const size_t panels = tenon__cpu_panel_count(product->isa->tiles, bound->columns);
  const size_t begin = panels * part / call->pack_parts * width;
  const size_t end = part + 1 == call->pack_parts ? bound->columns
                                                  : panels * (part + 1) / call->pack_parts * width;
  if (begin < end) {
    tenon__cpu_pack_strided(product->isa->tiles, product->isa->elements,
                            call->b + offset + (int64_t)begin * bound->b_column, bound->b_depth,
                            bound->b_column, bound->depth, end - begin,
                            call->packed + matrix * product->packed_batch + begin * bound->depth);
  }
}

typedef struct rows_t {
  const call_t* call;
  const float* a;
} rows_t;

/* Rows of a whose elements do not lie together. */
static void gather_rows(const void* user, size_t row, size_t rows, size_t depth_begin, size_t depth,
                        float* out, size_t out_stride) {
  const rows_t* source = user;
  const tenon__cpu_bound_mat_mul_t* bound = source->call->bound;
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

static void product_task(void* user, uint32_t index, uint32_t thread) {
  const call_t* call = user;
  const tenon__cpu_bound_mat_mul_t* bound = call->bound;
  const tenon__cpu_mat_mul_t* self = bound->product;
  const size_t tasks = bound->grid.row_tasks * bound->grid.panel_tasks;
  const size_t unit = index / tasks;
  const size_t first_row = unit * bound->rows;
  char* scratch = call->scratch + thread * self->slot_bytes;
  size_t rest = unit;
  int64_t a = 0;
  int64_t y = 0;
  int64_t matrix = 0;
  for (uint32_t k = bound->outer_rank; k-- > 0;) {
    const tenon__cpu_matrix_axis_t* axis = &bound->outer[k];
    const int64_t at = (int64_t)(rest % (size_t)axis->extent);
    rest /= (size_t)axis->extent;
    a += at * axis->a;
    y += at * axis->y;
    matrix += at * axis->packed;
  }
  const rows_t rows = {call, call->a + a};
  const tenon__cpu_epilogue_call_t* epilogue = &call->epilogue;
  const tenon__cpu_epilogue_task_t finish = {epilogue, scratch + self->gather_bytes};
  const tenon__cpu_shifted_finish_t shifted = {&finish, epilogue->finish, first_row, 0};
  tenon__cpu_product_t product = {
      .tiles = self->isa->tiles,
      .rows = bound->rows,
      .columns = bound->columns,
      .depth = bound->depth,
      .b = call->packed + (size_t)matrix * self->packed_batch,
      .panel_stride = bound->depth * tenon__cpu_panel_width(self->isa->tiles),
      .c = call->y + y,
      .c_stride = (size_t)bound->y_row,
      .bias = epilogue->bias,
      .addend =
          epilogue->addend != NULL ? epilogue->addend + first_row * epilogue->addend_stride : NULL,
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

/* The contract counts the parameters. NOLINTNEXTLINE(readability-function-size) */
tenon_status_t tenon__cpu_mat_mul_enqueue(void* instance, void* bound_handle, tenon_run_t* run,
                                          const tenon_run_table_t* host,
                                          const tenon_argument_t* inputs, uint32_t input_count,
                                          const tenon_argument_t* outputs, uint32_t output_count) {
  (void)input_count, (void)output_count;
  const tenon__cpu_mat_mul_t* self = instance;
  tenon__cpu_bound_mat_mul_t* bound = bound_handle;
  if (bound->units == 0 || bound->rows == 0 || bound->columns == 0) {
    return TENON_OK;
  }
  char* scratch = host->scratch(run);
  const uint32_t threads = host->thread_count(run);
  call_t call = {.bound = bound,
                 .a = inputs[self->a].tensor.data,
                 .b = inputs[self->b].tensor.data,
                 .y = outputs[0].tensor.data,
                 .scratch = scratch + self->shared_bytes};
  tenon__cpu_epilogue_start(bound->epilogue, inputs, NULL, &call.epilogue);
  if (self->packed != NULL) {
    call.packed = (float*)self->packed;
  } else {
    call.packed = (float*)(void*)scratch;
    call.pack_parts = bound->b_count < 2 * (size_t)threads && threads > 1 ? 2 * (size_t)threads : 1;
    tenon__cpu_parallel(run, host, (uint32_t)(bound->b_count * call.pack_parts), pack_task, &call);
  }
  tenon__cpu_product_grid(self->isa->tiles, bound->rows, bound->columns, bound->units, threads,
                          &bound->grid);
  tenon__cpu_parallel(run, host,
                      (uint32_t)(bound->units * bound->grid.row_tasks * bound->grid.panel_tasks),
                      product_task, &call);
  return TENON_OK;
}
