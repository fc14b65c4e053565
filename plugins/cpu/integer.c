/* Blocking of integer products. */
#include "integer.h"

#include <string.h>

enum {
  /* Maximum bytes of a group of panels, which all blocks of rows read: half of a second-level cache. */
  GROUP_BYTES = 512 * 1024,
  TASKS_PER_THREAD = 4,
  /* Minimum number of products of a task, which take 10 microseconds or more. */
  LEAST_WORK = 1 << 20
};

static size_t min_size(size_t a, size_t b) {
  return a < b ? a : b;
}

static size_t max_size(size_t a, size_t b) {
  return a > b ? a : b;
}

static size_t ceil_div(size_t a, size_t b) {
  return (a + b - 1) / b;
}

static size_t padded_depth(const tenon__cpu_integers_t* integers, size_t depth) {
  return ceil_div(depth, integers->depth_step) * integers->depth_step;
}

static size_t panel_bytes(const tenon__cpu_integers_t* integers, size_t depth) {
  return padded_depth(integers, depth) * integers->columns * integers->number_bytes;
}

int32_t tenon__cpu_integer_a_zero(const tenon__cpu_integers_t* integers, int32_t zero,
                                  bool is_signed) {
  return integers->number_bytes == 1 && is_signed ? zero + 128 : zero;
}

int32_t tenon__cpu_integer_b_zero(const tenon__cpu_integers_t* integers, int32_t zero,
                                  bool is_signed) {
  return integers->number_bytes == 1 && !is_signed ? zero - 128 : zero;
}

bool tenon__cpu_integer_in_place(const tenon__cpu_integers_t* integers, size_t depth,
                                 bool is_signed) {
  return integers->number_bytes == 1 && !is_signed && depth % integers->depth_step == 0;
}

size_t tenon__cpu_integer_panels(const tenon__cpu_integers_t* integers, size_t columns) {
  return ceil_div(columns, integers->columns);
}

size_t tenon__cpu_integer_packed_bytes(const tenon__cpu_integers_t* integers, size_t depth,
                                       size_t columns) {
  const size_t panels = tenon__cpu_integer_panels(integers, columns);
  const size_t sums = integers->columns * sizeof(int32_t);
  return ceil_div(panels * (panel_bytes(integers, depth) + sums), 64) * 64;
}

static const int32_t* sums_of(const tenon__cpu_integers_t* integers, const void* packed,
                              size_t depth, size_t columns) {
  return (const int32_t*)(const void*)((const char*)packed +
                                       tenon__cpu_integer_panels(integers, columns) *
                                           panel_bytes(integers, depth));
}

void tenon__cpu_integer_pack(const tenon__cpu_integers_t* integers,
                             const tenon__cpu_integer_source_t* source, size_t begin, size_t end,
                             void* packed) {
  const size_t bytes = panel_bytes(integers, source->depth);
  int32_t* sums = (int32_t*)sums_of(integers, packed, source->depth, source->columns);
  for (size_t panel = begin; panel < end; panel++) {
    integers->pack(source, panel * integers->columns, (char*)packed + panel * bytes,
                   sums + panel * integers->columns);
  }
}

/* ---- Blocks ---- */

/* Returns the bytes between encoded rows. Rows at multiples of a page would use the same cache sets. */
static size_t row_bytes(const tenon__cpu_integers_t* integers, size_t depth) {
  const size_t bytes = ceil_div(padded_depth(integers, depth) * integers->number_bytes, 64) * 64;
  return bytes % 1024 == 0 ? bytes + 64 : bytes;
}

/* A thread's scratch. */
typedef struct buffers_t {
  char* rows;
  int32_t* start; /* of a group of columns */
  int32_t* u;     /* of a group of columns */
  int32_t* sums;  /* of a block of rows */
  int32_t* za;    /* of a block of rows */
  int32_t* strip;
} buffers_t;

static size_t lay_buffers(const tenon__cpu_integers_t* integers, size_t depth, char* scratch,
                          buffers_t* out_buffers) {
  enum { ROWS = TENON_CPU_INTEGER_ROWS, COLUMNS = TENON_CPU_INTEGER_COLUMNS };
  char* at = scratch;
  out_buffers->rows = at;
  at += (size_t)ROWS * row_bytes(integers, depth);
  out_buffers->start = (int32_t*)(void*)at;
  out_buffers->u = out_buffers->start + COLUMNS;
  out_buffers->sums = out_buffers->u + COLUMNS;
  out_buffers->za = out_buffers->sums + ROWS;
  out_buffers->strip = out_buffers->za + ROWS;
  at = (char*)(out_buffers->strip + (size_t)ROWS * COLUMNS);
  return (size_t)(at - scratch);
}

size_t tenon__cpu_integer_scratch(const tenon__cpu_integers_t* integers, size_t depth) {
  buffers_t buffers;
  static char base[1];
  return lay_buffers(integers, depth, base, &buffers);
}

size_t tenon__cpu_integer_strip(const tenon__cpu_integers_t* integers, size_t columns) {
  return min_size(ceil_div(columns, integers->columns) * integers->columns,
                  TENON_CPU_INTEGER_COLUMNS);
}

/* Returns the number of panels of a group. Their columns fit the strip, and their bytes a cache. */
static size_t group_panels(const tenon__cpu_integers_t* integers, size_t depth) {
  const size_t fitting = GROUP_BYTES / max_size(panel_bytes(integers, depth), 1);
  return max_size(min_size(fitting, TENON_CPU_INTEGER_COLUMNS / integers->columns), 1);
}

/* Columns [first, first + columns). Their initial sums are the same for all blocks of rows. */
typedef struct group_t {
  const tenon__cpu_integer_product_t* product;
  const buffers_t* buffers;
  size_t first;
  size_t columns;
  bool has_correction;
  size_t* configured;
} group_t;

static void start_group(group_t* group) {
  const tenon__cpu_integer_product_t* p = group->product;
  const buffers_t* buffers = group->buffers;
  const int32_t* sums = sums_of(p->integers, p->b, p->depth, p->columns) + group->first;
  const bool is_uniform = p->a_zero_count == 1;
  const uint32_t za = is_uniform ? (uint32_t)p->a_zeros[0] : 0;
  group->has_correction = !is_uniform || p->b_zeros != NULL;
  memset(buffers->start, 0, TENON_CPU_INTEGER_COLUMNS * sizeof(int32_t));
  for (size_t j = 0; j < group->columns; j++) {
    const uint32_t zb = p->b_zeros == NULL ? 0 : (uint32_t)p->b_zeros[group->first + j];
    const uint32_t u = (uint32_t)sums[j] - (uint32_t)p->depth * zb;
    buffers->u[j] = (int32_t)u;
    buffers->start[j] = (int32_t)(0U - za * u);
  }
}

/* A block of encoded rows. */
typedef struct rows_t {
  const void* data;
  size_t stride;
  size_t row;
  size_t rows;
} rows_t;

/* Encodes rows if necessary, and computes their parts of the corrections. */
static rows_t find_rows(const tenon__cpu_integer_product_t* p, const buffers_t* buffers, size_t row,
                        size_t rows) {
  rows_t block = {.row = row, .rows = rows};
  if (p->a != NULL) {
    block.data = (const char*)p->a + row * p->a_stride;
    block.stride = p->a_stride;
  } else {
    block.data = buffers->rows;
    block.stride = row_bytes(p->integers, p->depth);
    p->gather(p->gather_user, row, rows, buffers->rows, block.stride);
  }
  for (size_t i = 0; i < rows; i++) {
    buffers->za[i] = p->a_zero_count == 1 ? 0 : p->a_zeros[(row + i) % p->a_zero_count];
    buffers->sums[i] = p->b_zeros == NULL
                           ? 0
                           : p->integers->sum((const char*)block.data + i * block.stride, p->depth);
  }
  return block;
}

static void run_block(const group_t* group, const rows_t* block) {
  const tenon__cpu_integer_product_t* p = group->product;
  const buffers_t* buffers = group->buffers;
  const size_t width = p->integers->columns;
  const bool finishes = p->finish != NULL;
  const size_t c_stride =
      finishes ? tenon__cpu_integer_strip(p->integers, p->columns) : p->c_stride;
  int32_t* c = finishes ? buffers->strip : p->c + block->row * c_stride + group->first;
  for (size_t j = 0; j < group->columns; j += width) {
    const tenon__cpu_integer_tile_t tile = {
        .a = block->data,
        .a_stride = block->stride,
        .b = (const char*)p->b + (group->first + j) / width * panel_bytes(p->integers, p->depth),
        .start = buffers->start + j,
        .c = c + j,
        .c_stride = c_stride,
        .rows = block->rows,
        .groups = padded_depth(p->integers, p->depth) / p->integers->group,
        .columns = min_size(width, group->columns - j),
        .configured = group->configured};
    p->integers->multiply(&tile);
  }
  if (group->has_correction) {
    static const int32_t none[TENON_CPU_INTEGER_COLUMNS];
    const tenon__cpu_integer_correction_t correction = {
        .c = c,
        .c_stride = c_stride,
        .rows = block->rows,
        .columns = group->columns,
        .za = buffers->za,
        .u = buffers->u,
        .sums = buffers->sums,
        .zb = p->b_zeros == NULL ? none : p->b_zeros + group->first};
    p->integers->correct(&correction);
  }
  if (finishes) {
    const tenon__cpu_integer_sums_t sums = {c,           c_stride,     block->row,
                                            block->rows, group->first, group->columns};
    p->finish(p->finish_user, &sums);
  }
}

void tenon__cpu_integer_run(const tenon__cpu_integer_product_t* product, size_t row, size_t row_end,
                            size_t panel, size_t panel_end, char* scratch) {
  buffers_t buffers;
  (void)lay_buffers(product->integers, product->depth, scratch, &buffers);
  const size_t width = product->integers->columns;
  const size_t most = group_panels(product->integers, product->depth);
  size_t configured = 0;
  for (size_t at = panel; at < panel_end; at += most) {
    const size_t end = min_size(panel_end, at + most) * width;
    group_t group = {.product = product,
                     .buffers = &buffers,
                     .first = at * width,
                     .columns = min_size(end, product->columns) - at * width,
                     .configured = &configured};
    start_group(&group);
    for (size_t i = row; i < row_end; i += TENON_CPU_INTEGER_ROWS) {
      const rows_t block =
          find_rows(product, &buffers, i, min_size(TENON_CPU_INTEGER_ROWS, row_end - i));
      run_block(&group, &block);
    }
  }
  if (product->integers->release != NULL) {
    product->integers->release();
  }
}

void tenon__cpu_integer_run_rows(const tenon__cpu_integer_product_t* product, size_t row,
                                 size_t row_end, tenon__cpu_integer_row_t compute, void* user,
                                 char* scratch) {
  buffers_t buffers;
  (void)lay_buffers(product->integers, product->depth, scratch, &buffers);
  const bool finishes = product->finish != NULL;
  const size_t width = tenon__cpu_integer_strip(product->integers, product->columns);
  const size_t stride = finishes ? width : product->c_stride;
  for (size_t i = row; i < row_end; i += TENON_CPU_INTEGER_ROWS) {
    const size_t rows = min_size(TENON_CPU_INTEGER_ROWS, row_end - i);
    for (size_t j = 0; j < product->columns; j += width) {
      const size_t count = min_size(width, product->columns - j);
      int32_t* c = finishes ? buffers.strip : product->c + i * stride + j;
      for (size_t r = 0; r < rows; r++) {
        compute(user, i + r, j, count, c + r * stride);
      }
      if (finishes) {
        const tenon__cpu_integer_sums_t sums = {c, stride, i, rows, j, count};
        product->finish(product->finish_user, &sums);
      }
    }
  }
}

/* ---- Tasks ---- */

void tenon__cpu_integer_grid(const tenon__cpu_integers_t* integers,
                             const tenon__cpu_integer_size_t* size, size_t threads,
                             tenon__cpu_integer_grid_t* out_grid) {
  const size_t panels = tenon__cpu_integer_panels(integers, size->columns);
  const size_t blocks = ceil_div(size->rows, TENON_CPU_INTEGER_ROWS);
  const double work = (double)size->rows * (double)size->columns * (double)(size->depth + 16);
  const size_t worth = work > LEAST_WORK ? min_size((size_t)(work / LEAST_WORK), 1U << 20) : 1;
  const size_t wanted = ceil_div(threads * TASKS_PER_THREAD, max_size(size->batches, 1));
  const size_t tasks = min_size(worth, wanted);
  const size_t row_tasks = max_size(min_size(blocks, tasks), 1);
  const size_t panel_tasks = max_size(min_size(ceil_div(tasks, row_tasks), panels), 1);
  out_grid->rows_per_task = max_size(ceil_div(blocks, row_tasks), 1) * TENON_CPU_INTEGER_ROWS;
  out_grid->row_tasks = ceil_div(size->rows, out_grid->rows_per_task);
  out_grid->panels_per_task = max_size(ceil_div(panels, panel_tasks), 1);
  out_grid->panel_tasks = ceil_div(panels, out_grid->panels_per_task);
}

void tenon__cpu_integer_task(const tenon__cpu_integer_product_t* product,
                             const tenon__cpu_integer_grid_t* grid, size_t rows, size_t index,
                             char* scratch) {
  const size_t row = index / grid->panel_tasks * grid->rows_per_task;
  const size_t panel = index % grid->panel_tasks * grid->panels_per_task;
  const size_t panels = tenon__cpu_integer_panels(product->integers, product->columns);
  tenon__cpu_integer_run(product, row, min_size(rows, row + grid->rows_per_task), panel,
                         min_size(panels, panel + grid->panels_per_task), scratch);
}
