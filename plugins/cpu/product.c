/* Blocking of products, and packing into panels. */
#include "product.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "copy.h"

static size_t min_size(size_t a, size_t b) {
  return a > b ? b : a;
}

static size_t ceil_div(size_t a, size_t b) {
  return (a + b - 1) / b;
}

/* Parts of at most `limit`, all about equally large, in multiples of `unit`. */
static size_t even_part(size_t total, size_t limit, size_t unit) {
  if (total <= limit) {
    return total > 0 ? total : 1;
  }
  const size_t parts = ceil_div(total, limit);
  return min_size(ceil_div(ceil_div(total, parts), unit) * unit, total);
}

size_t tenon__cpu_panel_width(const tenon__cpu_tiles_t* tiles) {
  return (size_t)tiles->vector_floats * TENON_CPU_PANEL_VECTORS;
}

static size_t vector_count(const tenon__cpu_tiles_t* tiles, size_t columns) {
  return ceil_div(columns, tiles->vector_floats);
}

size_t tenon__cpu_panel_count(const tenon__cpu_tiles_t* tiles, size_t columns) {
  const size_t vectors = vector_count(tiles, columns);
  return vectors == 1 ? 1 : vectors / TENON_CPU_PANEL_VECTORS;
}

/* The last panel takes the odd vector. */
static size_t panel_vectors(const tenon__cpu_tiles_t* tiles, size_t columns_left) {
  const size_t vectors = vector_count(tiles, columns_left);
  return vectors <= TENON_CPU_TILE_VECTORS ? vectors : TENON_CPU_PANEL_VECTORS;
}

size_t tenon__cpu_packed_size(const tenon__cpu_tiles_t* tiles, size_t depth, size_t columns) {
  return depth * vector_count(tiles, columns) * tiles->vector_floats;
}

static void pack_row(const float* source, size_t n_stride, size_t columns, size_t width,
                     float* out) {
  if (n_stride == 1) {
    memcpy(out, source, columns * sizeof(float));
  } else {
    for (size_t j = 0; j < columns; j++) {
      out[j] = source[j * n_stride];
    }
  }
  for (size_t j = columns; j < width; j++) {
    out[j] = 0.0F;
  }
}

/* Parameters: the matrix as it lies, and its panels. NOLINTNEXTLINE(readability-function-size) */
void tenon__cpu_pack(const tenon__cpu_tiles_t* tiles, const float* source, const size_t* k_offsets,
                     size_t k_stride, size_t n_stride, size_t depth, size_t columns, float* out) {
  for (size_t n = 0; n < columns;) {
    const size_t width = panel_vectors(tiles, columns - n) * tiles->vector_floats;
    const size_t count = min_size(width, columns - n);
    for (size_t k = 0; k < depth; k++) {
      const size_t offset = k_offsets != NULL ? k_offsets[k] : k * k_stride;
      pack_row(source + offset + n * n_stride, n_stride, count, width, out + k * width);
    }
    n += count;
    out += depth * width;
  }
}

void tenon__cpu_pack_rows(const tenon__cpu_tiles_t* tiles, const tenon__cpu_elements_t* elements,
                          const tenon__cpu_panel_rows_t* rows, const float* source, float* out) {
  for (size_t n = 0; n < rows->columns;) {
    const size_t width = panel_vectors(tiles, rows->columns - n) * tiles->vector_floats;
    const size_t count = min_size(width, rows->columns - n);
    const size_t step = rows->step * width;
    float* panel = out + rows->first * width;
    const tenon__cpu_copy_2d_t shape = {.element_bytes = sizeof(float),
                                        .rows = rows->count,
                                        .columns = count,
                                        .out_row = (int64_t)step,
                                        .out_column = 1,
                                        .in_row = rows->k_stride,
                                        .in_column = rows->n_stride};
    tenon__cpu_copy_2d(elements, &shape, panel, source + (int64_t)n * rows->n_stride);
    if (count < width) {
      for (size_t k = 0; k < rows->count; k++) {
        memset(panel + k * step + count, 0, (width - count) * sizeof(float));
      }
    }
    n += count;
    out += rows->depth * width;
  }
}

/* Likewise. NOLINTNEXTLINE(readability-function-size) */
void tenon__cpu_pack_strided(const tenon__cpu_tiles_t* tiles, const tenon__cpu_elements_t* elements,
                             const float* source, int64_t k_stride, int64_t n_stride, size_t depth,
                             size_t columns, float* out) {
  const tenon__cpu_panel_rows_t rows = {.k_stride = k_stride,
                                        .n_stride = n_stride,
                                        .count = depth,
                                        .step = 1,
                                        .depth = depth,
                                        .columns = columns};
  tenon__cpu_pack_rows(tiles, elements, &rows, source, out);
}

static size_t depth_block(size_t depth) {
  return even_part(depth, TENON_CPU_DEPTH_BLOCK, 8);
}

size_t tenon__cpu_product_gather_stride(size_t depth) {
  return depth_block(depth) + TENON_CPU_ROW_PADDING;
}

size_t tenon__cpu_product_scratch(size_t rows, size_t depth) {
  return min_size(rows, TENON_CPU_ROW_BLOCK + TENON_CPU_TILE_MAX_ROWS) *
         tenon__cpu_product_gather_stride(depth);
}

void tenon__cpu_product_grid(const tenon__cpu_tiles_t* tiles, size_t rows, size_t columns,
                             size_t batches, size_t threads, tenon__cpu_grid_t* out_grid) {
  const size_t unit = tiles->max_rows[TENON_CPU_PANEL_VECTORS - 1];
  const size_t panels = tenon__cpu_panel_count(tiles, columns);
  const size_t blocks = ceil_div(rows > 0 ? rows : 1, TENON_CPU_ROW_BLOCK);
  size_t row_tasks = blocks;
  size_t panel_tasks = 1;
  if (threads > 1) {
    const size_t wanted = ceil_div(2 * threads, batches > 0 ? batches : 1);
    if (blocks >= wanted) {
      row_tasks = ceil_div(blocks, threads) * threads;
    } else if (wanted > 1) {
      panel_tasks = min_size(ceil_div(wanted, blocks), panels > 0 ? panels : 1);
      if (blocks * panel_tasks < wanted) {
        row_tasks = ceil_div(wanted, panel_tasks);
      }
    }
  }
  out_grid->rows_per_task = ceil_div(ceil_div(rows > 0 ? rows : 1, row_tasks), unit) * unit;
  out_grid->row_tasks = ceil_div(rows > 0 ? rows : 1, out_grid->rows_per_task);
  out_grid->panels_per_task = ceil_div(panels > 0 ? panels : 1, panel_tasks);
  out_grid->panel_tasks = ceil_div(panels > 0 ? panels : 1, out_grid->panels_per_task);
}

/* A block of rows and of the depth. */
typedef struct block_t {
  const float* a; /* its first row */
  size_t a_stride;
  size_t row;
  size_t rows;
  size_t depth_begin;
  size_t depth; /* of a line */
  size_t lines;
  size_t column; /* of the panel */
  /* Of the next panel: tiles of this one fetch it to the second-level cache. */
  const char* next;
  size_t next_bytes;
} block_t;

/* With fewer rows, fetching takes as long as it saves. */
enum { LEAST_FETCHING_ROWS = 56 };

/* Part `index` of `count`, about equal parts of the next panel. */
static void fetch_next(const block_t* block, size_t index, size_t count) {
  enum { LINE = 64 };
  const size_t lines = block->next_bytes / LINE;
  const size_t end = lines * (index + 1) / count;
  for (size_t line = lines * index / count; line < end; line++) {
    __builtin_prefetch(block->next + line * LINE, 0, 2);
  }
}

/* Are tiles within single runs nearly full? Else they go across. */
static bool tiles_fit_runs(const tenon__cpu_product_t* p, size_t max_rows) {
  return p->c_run != 0 || p->run_rows * 5 >= ceil_div(p->run_rows, max_rows) * max_rows * 4;
}

/* Where each of `count` rows from `row` on is, from the block's first. */
static void find_offsets(const tenon__cpu_product_t* p, size_t row, size_t count, size_t* out) {
  for (size_t i = 0; i < count; i++) {
    out[i] = (row + i) / p->run_rows * p->a_run + (row + i) % p->run_rows * p->a_stride;
  }
}

/* The tiles of rows [row, row + rows) of the block in one panel. They lie evenly from `a` on, or,
 * with `across`, in runs. */
static void run_tiles(const tenon__cpu_product_t* p, const block_t* block, const float* a,
                      size_t row, size_t rows, bool across, tenon__cpu_tile_t* tile) {
  const size_t column = block->column;
  const size_t vectors = ceil_div(tile->columns, p->tiles->vector_floats);
  const size_t tile_count = ceil_div(rows, p->tiles->max_rows[vectors - 1]);
  size_t offsets[TENON_CPU_TILE_MAX_ROWS];
  for (size_t t = 0, done = 0; t < tile_count; t++) {
    const size_t count = ceil_div(rows - done, tile_count - t);
    const size_t at = row + done;
    tile->a = across ? block->a : a + done * block->a_stride;
    tile->a_offsets = NULL;
    if (across) {
      find_offsets(p, at, count, offsets);
      tile->a_offsets = offsets;
    }
    tile->c = p->c + column;
    tile->c += p->c_run == 0 ? at * p->c_stride
                             : at / p->run_rows * p->c_run + at % p->run_rows * p->c_stride;
    tile->addend = block->depth_begin != 0 ? tile->c
                   : p->addend == NULL     ? NULL
                                           : p->addend + at * p->addend_stride + column;
    fetch_next(block, t, tile_count);
    p->tiles->functions[vectors - 1][count - 1](tile);
    done += count;
  }
}

static void run_panel(const tenon__cpu_product_t* p, block_t* block, size_t panel) {
  const size_t column = panel * tenon__cpu_panel_width(p->tiles);
  const size_t vectors = panel_vectors(p->tiles, p->columns - column);
  const size_t width = vectors * p->tiles->vector_floats;
  const bool first = block->depth_begin == 0;
  const bool last = block->depth_begin + block->lines * block->depth == p->depth;
  const size_t b_stride = p->b_stride != 0 ? p->b_stride : width;
  const size_t bytes = block->depth * block->lines * width * sizeof(float);
  const bool has_next = panel + 1 < tenon__cpu_panel_count(p->tiles, p->columns);
  block->column = column;
  block->next_bytes =
      has_next && p->b_stride == 0 && block->rows >= LEAST_FETCHING_ROWS ? bytes : 0;
  tenon__cpu_tile_t tile = {
      .b = p->b + panel * p->panel_stride + block->depth_begin * b_stride,
      .bias = first && p->bias != NULL ? p->bias + column : NULL,
      .depth = block->depth,
      .lines = block->lines,
      .a_line = p->a_line,
      .a_stride = block->a_stride,
      .b_stride = b_stride,
      .c_stride = p->c_stride,
      .addend_stride = first ? p->addend_stride : p->c_stride,
      .columns = min_size(width, p->columns - column),
      .low = last ? p->low : -INFINITY,
      .high = last ? p->high : INFINITY,
  };
  block->next = (const char*)(tile.b + (has_next ? p->panel_stride : 0));
  const bool runs = p->run_rows != 0 && p->gather == NULL;
  if (!runs || !tiles_fit_runs(p, p->tiles->max_rows[vectors - 1])) {
    run_tiles(p, block, block->a, block->row, block->rows, runs, &tile);
    return;
  }
  const size_t end = block->row + block->rows;
  for (size_t row = block->row; row < end;) {
    const size_t run = row / p->run_rows;
    const size_t at = row % p->run_rows;
    const size_t count = min_size(p->run_rows - at, end - row);
    run_tiles(p, block, block->a + run * p->a_run + at * p->a_stride, row, count, false, &tile);
    row += count;
  }
}

/* The block of the depth that begins at k: parts of a long line, or several short lines. */
static void take_depth(const tenon__cpu_product_t* p, size_t k, block_t* block) {
  const size_t line = p->line_depth != 0 ? p->line_depth : p->depth;
  block->depth_begin = k;
  block->lines = 1;
  if (p->depth == 0) {
    block->depth = 0;
  } else if (p->depth_block != 0) {
    block->depth = min_size(even_part(line, p->depth_block, 8), line - k % line);
  } else if (line > TENON_CPU_DEPTH_BLOCK) {
    block->depth = min_size(depth_block(line), line - k % line);
  } else {
    const size_t lines = (p->depth - k) / line;
    const size_t most = TENON_CPU_LINES_BLOCK / line;
    block->depth = line;
    block->lines = ceil_div(lines, ceil_div(lines, most));
  }
}

/* What is left to do with the rows in these panels, while they are in a near cache. Many tiles at
 * once: a finish costs a few calls whatever it gets. */
static void finish_panels(const tenon__cpu_product_t* p, size_t row, size_t rows,
                          size_t panel_begin, size_t panel_end) {
  const size_t width = tenon__cpu_panel_width(p->tiles);
  const size_t column = panel_begin * width;
  /* The last panel takes all that is left. */
  const size_t end =
      panel_end == tenon__cpu_panel_count(p->tiles, p->columns) ? p->columns : panel_end * width;
  const size_t columns = end - column;
  for (size_t at = row; at < row + rows;) {
    size_t count = row + rows - at;
    float* c = p->c + column;
    if (p->c_run == 0) {
      c += at * p->c_stride;
    } else {
      count = min_size(count, p->run_rows - at % p->run_rows);
      c += at / p->run_rows * p->c_run + at % p->run_rows * p->c_stride;
    }
    p->finish(p->finish_user, c, p->c_stride, at, count, column, columns);
    at += count;
  }
}

static void run_panels(const tenon__cpu_product_t* p, block_t* block, size_t panel_begin,
                       size_t panel_end) {
  const bool last = block->depth_begin + block->lines * block->depth == p->depth;
  const size_t width = tenon__cpu_panel_width(p->tiles);
  size_t unfinished = panel_begin;
  for (size_t panel = panel_begin; panel < panel_end; panel++) {
    run_panel(p, block, panel);
    const size_t waiting = (panel + 1 - unfinished) * width * block->rows;
    if (last && p->finish != NULL &&
        (waiting >= TENON_CPU_FINISH_ELEMENTS || panel + 1 == panel_end)) {
      finish_panels(p, block->row, block->rows, unfinished, panel + 1);
      unfinished = panel + 1;
    }
  }
}

static void run_rows(const tenon__cpu_product_t* p, size_t row, size_t rows, size_t panel_begin,
                     size_t panel_end, float* scratch) {
  block_t block = {.a_stride = p->a_stride, .row = row, .rows = rows};
  const size_t line = p->line_depth != 0 ? p->line_depth : p->depth;
  size_t k = 0;
  do {
    take_depth(p, k, &block);
    if (p->gather != NULL) {
      block.a = scratch;
      block.a_stride = tenon__cpu_product_gather_stride(line);
      p->gather(p->gather_user, row, rows, k, block.depth, scratch, block.a_stride);
    } else {
      const size_t offset = line > 0 ? k / line * p->a_line + k % line : 0;
      block.a = p->a + offset + (p->run_rows == 0 ? row * p->a_stride : 0);
    }
    run_panels(p, &block, panel_begin, panel_end);
    k += block.depth * block.lines;
  } while (k < p->depth);
}

void tenon__cpu_product_task(const tenon__cpu_product_t* product, const tenon__cpu_grid_t* grid,
                             size_t task, float* scratch) {
  const size_t row_begin = task / grid->panel_tasks * grid->rows_per_task;
  const size_t row_end = min_size(row_begin + grid->rows_per_task, product->rows);
  const size_t panel_begin = task % grid->panel_tasks * grid->panels_per_task;
  const size_t panels = tenon__cpu_panel_count(product->tiles, product->columns);
  const size_t panel_end = min_size(panel_begin + grid->panels_per_task, panels);
  const size_t unit = product->tiles->max_rows[TENON_CPU_PANEL_VECTORS - 1];
  if (row_begin >= row_end || panel_begin >= panel_end) {
    return;
  }
  const size_t block = even_part(row_end - row_begin, TENON_CPU_ROW_BLOCK, unit);
  for (size_t row = row_begin; row < row_end; row += block) {
    run_rows(product, row, min_size(block, row_end - row), panel_begin, panel_end, scratch);
  }
}

void tenon__cpu_product_rows(const tenon__cpu_product_t* product, size_t panel_begin,
                             size_t panel_end) {
  run_rows(product, 0, product->rows, panel_begin, panel_end, NULL);
}

void tenon__cpu_product_few(const tenon__cpu_few_t* few, size_t begin, size_t end) {
  const tenon__cpu_dots_t dots = {.a = few->a,
                                  .b = few->b + begin * few->b_stride,
                                  .c = few->c + begin,
                                  .depth = few->depth,
                                  .rows = few->rows,
                                  .a_stride = few->a_stride,
                                  .columns = end - begin,
                                  .b_stride = few->b_stride,
                                  .c_stride = few->c_stride};
  few->tiles->dots(&dots);
  for (size_t i = 0; i < few->rows; i++) {
    float* c = few->c + i * few->c_stride;
    const float* addend = few->addend != NULL ? few->addend + i * few->addend_stride : NULL;
    for (size_t j = begin; j < end; j++) {
      float value = c[j] + (few->bias != NULL ? few->bias[j] : 0.0F);
      value += addend != NULL ? addend[j] : 0.0F;
      value = value < few->low ? few->low : value;
      c[j] = value > few->high ? few->high : value;
    }
  }
}
