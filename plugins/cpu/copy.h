/*
 * Strided copies of boxes in two and in any number of dimensions, for elements of 1, 2, 4, 8 or 16
 * bytes, whatever they mean. Moves, reads of blocks and packing all end here. Source and target do
 * not overlap.
 */
#ifndef TENON_CPU_COPY_H_
#define TENON_CPU_COPY_H_

#include "cpu.h"

/* A block of rows x columns elements: out[i * out_row + j * out_column] = in[i * in_row + j *
 * in_column]. Strides in elements; 0 and negative ones may be read. */
typedef struct tenon__cpu_copy_2d_t {
  size_t element_bytes;
  size_t rows;
  size_t columns;
  int64_t out_row;
  int64_t out_column;
  int64_t in_row;
  int64_t in_column;
} tenon__cpu_copy_2d_t;
/* Rows by memcpy where both sides lie together along columns; through registers, in square
 * blocks, where one is the other's transpose (4 bytes); else element by element. */
void tenon__cpu_copy_2d(const tenon__cpu_elements_t* elements, const tenon__cpu_copy_2d_t* shape,
                        void* out, const void* in);
/* Repeats one element `count` times; it may be the first of `out` itself. */
void tenon__cpu_fill(void* out, const void* element, size_t element_bytes, size_t count);

/* Of the outer loops, after joining. */
enum { TENON_CPU_COPY_AXES = 16 };

/* A box of any rank, brought into a form that copies fast: neighbouring axes joined, the
 * output's innermost axis last, and the input's innermost axis beside it. NCHW to NHWC becomes N
 * loops over a transpose of C x HW. */
typedef struct tenon__cpu_copy_t {
  size_t element_bytes;
  uint32_t rank; /* of the outer loops */
  int64_t extents[TENON_CPU_COPY_AXES];
  int64_t out_strides[TENON_CPU_COPY_AXES];
  int64_t in_strides[TENON_CPU_COPY_AXES];
  /* What one turn of the outer loops copies; its rows are cut into tasks. */
  tenon__cpu_copy_2d_t inner;
  int64_t
      tasks; /* the product of the extents of the outer loops, rows included where they are cut */
  /* Tasks that the rows of one inner block make. */
  int64_t row_tasks;
  int64_t rows_per_task;
} tenon__cpu_copy_t;

/* False when the box has more axes than TENON_CPU_COPY_AXES after joining. `rank` is at most 64. */
bool tenon__cpu_copy_plan(uint32_t rank, const int64_t* extents, const int64_t* out_strides,
                          const int64_t* in_strides, size_t element_bytes,
                          tenon__cpu_copy_t* out_copy);
/* Tasks [begin, end) of copy->tasks, which are disjoint in the output: threads may divide them
 * as they like. */
void tenon__cpu_copy_run(const tenon__cpu_elements_t* elements, const tenon__cpu_copy_t* copy,
                         void* out, const void* in, int64_t begin, int64_t end);

#endif
