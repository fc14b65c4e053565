/*
 * Products of matrices in blocks: c = a * b with an epilogue, over a part of the rows and of the
 * columns.
 *
 * b lies in panels of whole vectors: depth rows of `panel width` columns, panel after panel. The
 * width is 2 vectors, but the last panel takes what is left, 1 to 3, filled up with zeros. 40
 * columns in vectors of 8:
 *
 *   panel 0: k = 0: columns 0..15 | k = 1: columns 0..15 | ...
 *   panel 1: k = 0: columns 16..39 | k = 1: ...            (3 vectors)
 *
 * Rows of a are read where they are, or gathered block by block into scratch (a convolution's
 * patches). A block of rows stays in the second-level cache while the panels of b stream past; a
 * panel's block stays in the first-level cache while tiles of rows pass (tile.h).
 *
 * An element of c is the sum of blocks of the depth, each added up in order, or in 2 or 4
 * interleaved chains where a tile has few sums: its last bits depend on the blocking, and on how
 * rows fall into tiles. Tasks write disjoint parts of c.
 */
#ifndef TENON_CPU_PRODUCT_H_
#define TENON_CPU_PRODUCT_H_

#include "elements.h"
#include "tile.h"

enum {
  /* Rows of a block: with the depth below, 280 KiB of a. Each block reads all of b, which comes from
   * memory if it is large. */
  TENON_CPU_ROW_BLOCK = 224,
  /* Depth of a block: a panel of 2 vectors of 8 is then 20 KiB. */
  TENON_CPU_DEPTH_BLOCK = 320,
  TENON_CPU_LINES_BLOCK = 600, /* of several short lines */
  /* Of panels that are finished together: 64 KiB. A finish costs a few calls whatever it gets. */
  TENON_CPU_FINISH_ELEMENTS = 16384,
  /* Gathered rows lie this much apart beyond their length, so that they do not share cache sets. */
  TENON_CPU_ROW_PADDING = 16
};

/* Writes elements [depth_begin, depth_begin + depth) of rows [row, row + rows) of a, out_stride
 * floats apart. */
typedef void (*tenon__cpu_gather_t)(const void* user, size_t row, size_t rows, size_t depth_begin,
                                    size_t depth, float* out, size_t out_stride);
/* What is left to do with finished rows and columns; c points to the first element. Each element
 * of the task gets there once. */
typedef void (*tenon__cpu_finish_t)(const void* user, float* c, size_t c_stride, size_t row,
                                    size_t rows, size_t column, size_t columns);

/* One product; on the stack of a task, all borrowed. Zeros are "none" everywhere but in low and
 * high, where infinities are. */
typedef struct tenon__cpu_product_t {
  const tenon__cpu_tiles_t* tiles;
  size_t rows;
  size_t columns;
  size_t depth;
  const float* a; /* NULL: gather */
  size_t a_stride;
  /* Rows of a in runs of so many, each a_run floats after the last; 0: one run. A run is a line
   * of output pixels. */
  size_t run_rows;
  size_t a_run;
  /* Depth in lines of so much, each a_line floats after the last; 0: one line. A line is a row
   * of the window. */
  size_t line_depth;
  size_t a_line;
  /* Depth of a block, of a product in one line; 0: TENON_CPU_DEPTH_BLOCK. Shorter sums have smaller
   * errors. */
  size_t depth_block;
  tenon__cpu_gather_t gather;
  const void* gather_user;
  const float* b;
  /* From row to row of a panel; 0: packed, the panel's width. */
  size_t b_stride;
  size_t panel_stride; /* from panel to panel, of full ones */
  float* c;
  size_t c_stride;
  /* Runs of rows of c, as of a; 0: all rows c_stride apart. */
  size_t c_run;
  /* [columns], and addend [rows][columns]: added in the first block of the depth. Clamped to
   * [low, high] in the last. */
  const float* bias;
  const float* addend;
  size_t addend_stride;
  float low;
  float high;
  /* Behind the last block of the depth; NULL: nothing. */
  tenon__cpu_finish_t finish;
  const void* finish_user;
} tenon__cpu_product_t;

/* How rows and columns are divided among threads: row_tasks * panel_tasks tasks, panels running
 * fastest. */
typedef struct tenon__cpu_grid_t {
  size_t row_tasks;
  size_t rows_per_task;
  size_t panel_tasks;
  size_t panels_per_task;
} tenon__cpu_grid_t;

/* Columns of a panel but the last. */
size_t tenon__cpu_panel_width(const tenon__cpu_tiles_t* tiles);
size_t tenon__cpu_panel_count(const tenon__cpu_tiles_t* tiles, size_t columns);
/* Floats of a packed matrix, zeros at the end of its last panel included. */
size_t tenon__cpu_packed_size(const tenon__cpu_tiles_t* tiles, size_t depth, size_t columns);
/* Packs b[k][n] = source[k_offsets[k] + n * n_stride] for columns [0, columns); NULL k_offsets:
 * k * k_stride. Padding columns are zeros. */
void tenon__cpu_pack(const tenon__cpu_tiles_t* tiles, const float* source, const size_t* k_offsets,
                     size_t k_stride, size_t n_stride, size_t depth, size_t columns, float* out);
/* Some rows of the panels: `count`, from row `first` on, `step` apart. For weights whose order
 * of depth is another. */
typedef struct tenon__cpu_panel_rows_t {
  int64_t k_stride; /* of the source, from row to row */
  int64_t n_stride; /* and from column to column */
  size_t first;
  size_t count;
  size_t step;
  size_t depth; /* of the panels */
  size_t columns;
} tenon__cpu_panel_rows_t;
void tenon__cpu_pack_rows(const tenon__cpu_tiles_t* tiles, const tenon__cpu_elements_t* elements,
                          const tenon__cpu_panel_rows_t* rows, const float* source, float* out);
/* The same for any strides and all rows, through registers where b is transposed. */
void tenon__cpu_pack_strided(const tenon__cpu_tiles_t* tiles, const tenon__cpu_elements_t* elements,
                             const float* source, int64_t k_stride, int64_t n_stride, size_t depth,
                             size_t columns, float* out);
/* Floats from row to row of what is gathered, of a product this deep: all in one line. */
size_t tenon__cpu_product_gather_stride(size_t depth);
/* Floats of scratch that one thread needs for gathering, of a product with so many rows at most. */
size_t tenon__cpu_product_scratch(size_t rows, size_t depth);
/* `batches`: products of this size that run beside each other. About two tasks a thread over all
 * of them: blocks of rows, then parts of the panels, then smaller parts of the rows, in
 * multiples of a tile's rows. One thread gets blocks. */
void tenon__cpu_product_grid(const tenon__cpu_tiles_t* tiles, size_t rows, size_t columns,
                             size_t batches, size_t threads, tenon__cpu_grid_t* out_grid);
/* One task of the grid. `scratch` as tenon__cpu_product_scratch says, for gathering; NULL
 * without. */
void tenon__cpu_product_task(const tenon__cpu_product_t* product, const tenon__cpu_grid_t* grid,
                             size_t task, float* scratch);

/* Few rows times the transpose of a matrix whose rows lie as they are: packing it would take
 * longer. */
enum { TENON_CPU_FEW_ROWS = 8 };
/* Members as in tenon__cpu_product_t. */
typedef struct tenon__cpu_few_t {
  const tenon__cpu_tiles_t* tiles;
  size_t rows;
  size_t depth;
  const float* a;
  size_t a_stride;
  const float* b;
  size_t b_stride; /* from column to column of the product */
  float* c;
  size_t c_stride;
  const float* bias;
  const float* addend;
  size_t addend_stride;
  float low;
  float high;
} tenon__cpu_few_t;
/* Columns [begin, end) of c, dot product by dot product; bias, addend and clamp included. */
void tenon__cpu_product_few(const tenon__cpu_few_t* few, size_t begin, size_t end);

/* All rows at once, without gathering, for panels [panel_begin, panel_end): for tasks that have
 * cut the rows themselves. */
void tenon__cpu_product_rows(const tenon__cpu_product_t* product, size_t panel_begin,
                             size_t panel_end);

#endif
