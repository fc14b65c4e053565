/*
 * Products of matrices of 8-bit integers with 32-bit sums:
 *
 *   c[i][j] = sum_k (a[i][k] - a_zero[i]) * (b[k][j] - b_zero[j])
 *
 * The result is the same on all processors, because sums are exact and wrap beyond 32 bits. There are
 * two encodings of numbers. Neither subtracts the zero points, so packed weights do not depend on
 * them:
 *
 *   bytes  a is unsigned and b is signed. Other numbers and their zero points are shifted by 128. The
 *          processor sums 4 products at a time (AMX, VNNI).
 *   pairs  Numbers have 16 bits. The processor sums 2 products at a time and never saturates.
 *
 * With za and zb for the zero points, the sum above is
 *
 *   sum_k a[i][k] * b[k][j] - za[i] * (sum_k b[k][j] - depth * zb[j]) - zb[j] * sum_k a[i][k]
 *
 * If all rows have the same zero point, the second term begins the sums of a tile. The third term
 * is rare, because the zero points of weights are usually 0.
 *
 * b is packed into panels of `columns` columns, [depth / group][columns][group]. The numbers of a
 * group are adjacent. Zeros fill the last panel and the last group. The sums of the columns follow
 * the panels. Rows of a are read in place if they have this encoding. Otherwise they are encoded
 * block by block.
 */
#ifndef TENON_CPU_INTEGER_H_
#define TENON_CPU_INTEGER_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  /* Rows of a block, which are two tiles of AMX. */
  TENON_CPU_INTEGER_ROWS = 32,
  /* Maximum number of columns that are finished together, a multiple of the columns of all panels. */
  TENON_CPU_INTEGER_COLUMNS = 512
};

/* The product of a block of rows and one panel. */
typedef struct tenon__cpu_integer_tile_t {
  const void* a;   /* encoded rows */
  size_t a_stride; /* in bytes */
  const void* b;   /* a panel */
  /* The initial value of the sums of each column of a panel. */
  const int32_t* start;
  int32_t* c;
  size_t c_stride;
  size_t rows;
  size_t groups;  /* of the padded depth */
  size_t columns; /* of c, from 1 to the columns of a panel */
  /* The number of rows for which the thread's tile registers are configured. 0 before the first
   * tile. */
  size_t* configured;
} tenon__cpu_integer_tile_t;

/* The zero points' terms that vary from row to row: c[i][j] -= za[i] * u[j] + sums[i] * zb[j]. */
typedef struct tenon__cpu_integer_correction_t {
  int32_t* c;
  size_t c_stride;
  size_t rows;
  size_t columns;
  const int32_t* za;   /* [rows] */
  const int32_t* u;    /* [columns] */
  const int32_t* sums; /* [rows] */
  const int32_t* zb;   /* [columns] */
} tenon__cpu_integer_correction_t;

/* A matrix of bytes. Element (k, j) is at k % inner * inner_stride + k / inner * outer_stride +
 * j * column_stride. */
typedef struct tenon__cpu_integer_source_t {
  const void* data;
  bool is_signed;
  size_t depth;
  size_t columns;
  size_t inner;
  size_t inner_stride;
  size_t outer_stride;
  size_t column_stride;
} tenon__cpu_integer_source_t;

/* One pixel of a depthwise convolution: c[j] = start[j] + sum_t x[t][j] * w[t][j]. x has 2 * pairs
 * addresses. The weights are [pairs][channels][2], less their zero points. Signed x are shifted by
 * 128. */
typedef struct tenon__cpu_integer_depthwise_t {
  const uint8_t* const* x;
  const int16_t* weights;
  size_t pairs;
  size_t channels;
  const int32_t* start;
  bool is_signed;
} tenon__cpu_integer_depthwise_t;

/* The functions of one instruction set. Constant. */
typedef struct tenon__cpu_integers_t {
  uint32_t number_bytes; /* 1 or 2 */
  uint32_t group;
  uint32_t depth_step; /* the padded depth is a multiple of it */
  uint32_t columns;    /* of a panel */
  void (*multiply)(const tenon__cpu_integer_tile_t* tile);
  void (*release)(void); /* called after the last tile; may be NULL */
  /* Writes `count` encoded numbers of a. */
  void (*encode)(void* out, const void* x, size_t count, bool is_signed);
  int32_t (*sum)(const void* row, size_t count);
  void (*correct)(const tenon__cpu_integer_correction_t* correction);
  /* Channels [first, first + count). */
  void (*depthwise)(const tenon__cpu_integer_depthwise_t* depthwise, size_t first, size_t count,
                    int32_t* c);
  /* Packs one panel, from column `first` on, and the sums of its columns. */
  void (*pack)(const tenon__cpu_integer_source_t* source, size_t first, void* out,
               int32_t* out_sums);
} tenon__cpu_integers_t;

extern const tenon__cpu_integers_t tenon__cpu_integers_baseline;
extern const tenon__cpu_integers_t tenon__cpu_integers_avx2;
extern const tenon__cpu_integers_t tenon__cpu_integers_avx512;
extern const tenon__cpu_integers_t tenon__cpu_integers_avx512vnni;
extern const tenon__cpu_integers_t tenon__cpu_integers_amx;

/* Return the zero points that match the encoded numbers of a and b. */
int32_t tenon__cpu_integer_a_zero(const tenon__cpu_integers_t* integers, int32_t zero,
                                  bool is_signed);
int32_t tenon__cpu_integer_b_zero(const tenon__cpu_integers_t* integers, int32_t zero,
                                  bool is_signed);
/* Returns true if rows of a can be read in place. */
bool tenon__cpu_integer_in_place(const tenon__cpu_integers_t* integers, size_t depth,
                                 bool is_signed);

size_t tenon__cpu_integer_panels(const tenon__cpu_integers_t* integers, size_t columns);
/* Returns the bytes of a packed matrix with its sums, a multiple of 64. */
size_t tenon__cpu_integer_packed_bytes(const tenon__cpu_integers_t* integers, size_t depth,
                                       size_t columns);
/* Packs panels [begin, end). */
void tenon__cpu_integer_pack(const tenon__cpu_integers_t* integers,
                             const tenon__cpu_integer_source_t* source, size_t begin, size_t end,
                             void* packed);

/* Writes encoded rows [row, row + rows), `stride` bytes apart. Bytes after `depth` numbers are
 * multiplied by zeros. */
typedef void (*tenon__cpu_integer_gather_t)(const void* user, size_t row, size_t rows, void* out,
                                            size_t stride);
/* Finished sums in a thread's own memory. */
typedef struct tenon__cpu_integer_sums_t {
  const int32_t* data;
  size_t stride;
  size_t row;
  size_t rows;
  size_t column;
  size_t columns;
} tenon__cpu_integer_sums_t;
/* Receives the sums of each row and column once. */
typedef void (*tenon__cpu_integer_finish_t)(const void* user,
                                            const tenon__cpu_integer_sums_t* sums);

/* A product. Everything is borrowed. */
typedef struct tenon__cpu_integer_product_t {
  const tenon__cpu_integers_t* integers;
  size_t columns;
  size_t depth;
  const void* a; /* rows in place; NULL: gather */
  size_t a_stride;
  tenon__cpu_integer_gather_t gather;
  const void* gather_user;
  const void* b; /* packed */
  /* Encoded zero points of rows: a_zeros[row % a_zero_count]. */
  const int32_t* a_zeros;
  size_t a_zero_count;
  /* Encoded zero points of columns; NULL: all are 0. */
  const int32_t* b_zeros;
  int32_t* c; /* not used if there is a finish */
  size_t c_stride;
  tenon__cpu_integer_finish_t finish;
  const void* finish_user;
} tenon__cpu_integer_product_t;

/* Returns the maximum number of columns that a finish gets, which is also its stride. */
size_t tenon__cpu_integer_strip(const tenon__cpu_integers_t* integers, size_t columns);
/* Returns the bytes of scratch of one thread, a multiple of 64. */
size_t tenon__cpu_integer_scratch(const tenon__cpu_integers_t* integers, size_t depth);
/* Computes rows [row, row_end) of panels [panel, panel_end). `scratch` is aligned to 64 bytes. */
void tenon__cpu_integer_run(const tenon__cpu_integer_product_t* product, size_t row, size_t row_end,
                            size_t panel, size_t panel_end, char* scratch);

/* Computes columns [first, first + count) of one row of sums. */
typedef void (*tenon__cpu_integer_row_t)(void* user, size_t row, size_t first, size_t count,
                                         int32_t* c);
/* Computes rows [row, row_end) by a function instead of tiles, and stores or finishes them as the
 * product specifies. */
void tenon__cpu_integer_run_rows(const tenon__cpu_integer_product_t* product, size_t row,
                                 size_t row_end, tenon__cpu_integer_row_t compute, void* user,
                                 char* scratch);

/* The division of a product into tasks, about 4 for each thread. A task computes some blocks of rows
 * of some panels. */
typedef struct tenon__cpu_integer_grid_t {
  size_t row_tasks;
  size_t rows_per_task;
  size_t panel_tasks;
  size_t panels_per_task;
} tenon__cpu_integer_grid_t;
typedef struct tenon__cpu_integer_size_t {
  size_t rows;
  size_t columns;
  size_t depth;
  size_t batches; /* products of this size that run at the same time */
} tenon__cpu_integer_size_t;
void tenon__cpu_integer_grid(const tenon__cpu_integers_t* integers,
                             const tenon__cpu_integer_size_t* size, size_t threads,
                             tenon__cpu_integer_grid_t* out_grid);
/* Computes task `index` of the grid. */
void tenon__cpu_integer_task(const tenon__cpu_integer_product_t* product,
                             const tenon__cpu_integer_grid_t* grid, size_t rows, size_t index,
                             char* scratch);

#endif
