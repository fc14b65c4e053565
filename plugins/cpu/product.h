/*
 * Products of matrices in blocks: c = a * b with an epilogue, over a part of the rows and of the
 * columns.
 *
 * b lies in panels of whole vectors: depth rows of `panel width` columns, panel after panel. Rows
 * of a are read where they are, or gathered block by block into scratch (a convolution's patches).
 * A block of rows stays in the second-level cache while the panels of b stream past; a panel's
 * block stays in the first-level cache while tiles of rows pass.
 */
#ifndef TENON_CPU_PRODUCT_H_
#define TENON_CPU_PRODUCT_H_

#include "elements.h"
#include "tile.h"

enum {
  TENON_CPU_ROW_BLOCK = 144,
  TENON_CPU_DEPTH_BLOCK = 320,
  TENON_CPU_LINES_BLOCK = 600,       /* of several short lines */
  TENON_CPU_FINISH_ELEMENTS = 16384, /* of panels that are finished together: 64 KiB */
  /* Gathered rows lie this much apart beyond their length, so that they do not share cache sets. */
  TENON_CPU_ROW_PADDING = 16
};

/* Writes elements [depth_begin, depth_begin + depth) of rows [row, row + rows) of a. */
typedef void (*tenon__cpu_gather_t)(const void* user, size_t row, size_t rows, size_t depth_begin,
                                    size_t depth, float* out, size_t out_stride);
/* What is left to do with finished rows and columns; c points to the first element. */
typedef void (*tenon__cpu_finish_t)(const void* user, float* c, size_t c_stride, size_t row,
                                    size_t rows, size_t column, size_t columns);

typedef struct tenon__cpu_product_t {
  const tenon__cpu_tiles_t* tiles;
  size_t rows;
  size_t columns;
  size_t depth;
  const float* a; /* NULL: gather */
  size_t a_stride;
  size_t run_rows; /* rows of a in runs of so many, each a_run after the last; 0: one run */
  size_t a_run;
  size_t line_depth; /* depth in lines of so much, each a_line after the last; 0: one line */
  size_t a_line;
  tenon__cpu_gather_t gather;
  const void* gather_user;
  const float* b;
  size_t b_stride;     /* from row to row of a panel */
  size_t panel_stride; /* from panel to panel */
  float* c;
  size_t c_stride;
  size_t c_run; /* runs of rows of c, as of a; 0: all rows c_stride apart */
  const float* bias;
  const float* addend;
  size_t addend_stride;
  float low;
  float high;
  tenon__cpu_finish_t finish; /* NULL: nothing */
  const void* finish_user;
} tenon__cpu_product_t;

/* How rows and columns are divided among threads. */
typedef struct tenon__cpu_grid_t {
  size_t row_tasks;
  size_t rows_per_task;
  size_t panel_tasks;
  size_t panels_per_task;
} tenon__cpu_grid_t;

size_t tenon__cpu_panel_width(const tenon__cpu_tiles_t* tiles);
size_t tenon__cpu_panel_count(const tenon__cpu_tiles_t* tiles, size_t columns);
/* Floats of a packed matrix. */
size_t tenon__cpu_packed_size(const tenon__cpu_tiles_t* tiles, size_t depth, size_t columns);
/* Packs b[k][n] = source[k_offsets[k] + n * n_stride] for columns [0, columns); NULL k_offsets: k *
 * k_stride. */
void tenon__cpu_pack(const tenon__cpu_tiles_t* tiles, const float* source, const size_t* k_offsets,
                     size_t k_stride, size_t n_stride, size_t depth, size_t columns, float* out);
/* Some rows of the panels: `count`, from row `first` on, `step` apart. */
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
/* The same for any strides, through registers where b is transposed. */
void tenon__cpu_pack_strided(const tenon__cpu_tiles_t* tiles, const tenon__cpu_elements_t* elements,
                             const float* source, int64_t k_stride, int64_t n_stride, size_t depth,
                             size_t columns, float* out);
/* Floats of scratch that one thread needs for gathering. */
size_t tenon__cpu_product_scratch(size_t rows, size_t depth);
void tenon__cpu_product_grid(const tenon__cpu_tiles_t* tiles, size_t rows, size_t columns,
                             size_t batches, size_t threads, tenon__cpu_grid_t* out_grid);
/* One task of the grid. `scratch` as tenon__cpu_product_scratch says, for gathering. */
void tenon__cpu_product_task(const tenon__cpu_product_t* product, const tenon__cpu_grid_t* grid,
                             size_t task, float* scratch);

/* Few rows times the transpose of a matrix whose rows lie as they are: packing it would take
 * longer. Columns [begin, end) of c. */
enum { TENON_CPU_FEW_ROWS = 8 };
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
void tenon__cpu_product_few(const tenon__cpu_few_t* few, size_t begin, size_t end);

/* All rows at once, without gathering, for some of the panels. */
void tenon__cpu_product_rows(const tenon__cpu_product_t* product, size_t panel_begin,
                             size_t panel_end);

#endif
