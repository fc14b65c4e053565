/* Strided copies of boxes in two and in any number of dimensions, for elements of 1, 2, 4, 8 or 16
 * bytes. */
#ifndef TENON_CPU_COPY_H_
#define TENON_CPU_COPY_H_

#include "cpu.h"

/* A block of rows x columns elements; strides in elements. */
typedef struct tenon__cpu_copy_2d_t {
  size_t element_bytes;
  size_t rows;
  size_t columns;
  int64_t out_row;
  int64_t out_column;
  int64_t in_row;
  int64_t in_column;
} tenon__cpu_copy_2d_t;
void tenon__cpu_copy_2d(const tenon__cpu_elements_t* elements, const tenon__cpu_copy_2d_t* shape,
                        void* out, const void* in);
/* Repeats one element. */
void tenon__cpu_fill(void* out, const void* element, size_t element_bytes, size_t count);

enum { TENON_CPU_COPY_AXES = 16 };

/* A box of any rank, brought into a form that copies fast: neighbouring axes joined, the output's
 * innermost axis last, and the input's innermost axis beside it. */
typedef struct tenon__cpu_copy_t {
  size_t element_bytes;
  uint32_t rank; /* of the outer loops */
  int64_t extents[TENON_CPU_COPY_AXES];
  int64_t out_strides[TENON_CPU_COPY_AXES];
  int64_t in_strides[TENON_CPU_COPY_AXES];
  tenon__cpu_copy_2d_t inner;
  int64_t
      tasks; /* the product of the extents of the outer loops, rows included where they are cut */
  int64_t row_tasks;
  int64_t rows_per_task;
} tenon__cpu_copy_t;

/* False when the box has more axes than TENON_CPU_COPY_AXES after joining. */
bool tenon__cpu_copy_plan(uint32_t rank, const int64_t* extents, const int64_t* out_strides,
                          const int64_t* in_strides, size_t element_bytes,
                          tenon__cpu_copy_t* out_copy);
/* Tasks [begin, end) of copy->tasks. */
void tenon__cpu_copy_run(const tenon__cpu_elements_t* elements, const tenon__cpu_copy_t* copy,
                         void* out, const void* in, int64_t begin, int64_t end);

#endif
