/*
 * How an iteration space is walked: its axes sorted as they lie in memory, neighbours joined, two
 * of them chosen as the rows and columns of blocks, the others outer loops (kept axes) and inner
 * loops (reduced ones).
 */
#ifndef TENON_CPU_LOOPS_H_
#define TENON_CPU_LOOPS_H_

#include "block.h"

enum { TENON_CPU_LOOP_AXES = 64, TENON_CPU_LOOP_TENSORS = 64 };

typedef struct tenon__cpu_axis_t {
  uint32_t id; /* of the space; of a joined axis: the innermost's */
  bool reduced;
  int64_t extent;
  int64_t step; /* of a block along it; 1 for loops */
} tenon__cpu_axis_t;

typedef struct tenon__cpu_loops_t {
  uint32_t axis_count;
  uint32_t tensor_count; /* operands, then outputs */
  uint32_t rows;         /* index of axis; TENON_NONE: none */
  uint32_t columns;
  bool whole;
  bool empty;             /* no output has an element */
  bool nothing_to_reduce; /* some reduced axis has extent 0 */
  int64_t reduced_count;  /* elements that one sum adds up */
  int64_t outer_count;    /* blocks along kept axes */
  int64_t inner_count;    /* blocks along reduced axes */
  tenon__cpu_axis_t axes[TENON_CPU_LOOP_AXES];
  int64_t* strides; /* [tensor][axis] in elements, TENON_CPU_LOOP_AXES apart */
} tenon__cpu_loops_t;

/* One block's place: coordinates of axes, extents of rows and columns. */
typedef struct tenon__cpu_point_t {
  int64_t at[TENON_CPU_LOOP_AXES];
  size_t rows;
  size_t columns;
} tenon__cpu_point_t;

/* What is walked, before it is planned. */
typedef struct tenon__cpu_space_t {
  uint32_t rank;
  const int64_t* extents;
  uint64_t reduced_axes;
  uint64_t indexed_axes; /* whose coordinates the program asks for: not to be joined */
  uint32_t tensor_count;
  const int64_t* strides; /* [tensor][axis of the space], `rank` apart */
  uint32_t primary;       /* the tensor whose order in memory decides */
} tenon__cpu_space_t;

/* Counts of elements. What is more than can be counted is the most there is: in the space of an
 * empty tensor an extent of 0 may come behind those that exceed it. */
static inline int64_t tenon__cpu_times(int64_t a, int64_t b) {
  return b > 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

/* `capacity`: elements of a block. `loop_strides`: memory for tensor_count x TENON_CPU_LOOP_AXES,
 * the result's strides. */
void tenon__cpu_loops_plan(const tenon__cpu_space_t* space, size_t capacity, int64_t* loop_strides,
                           tenon__cpu_loops_t* out_loops);
/* The block number `index` along kept (or reduced) axes; leaves the others' coordinates. */
void tenon__cpu_loops_seek(const tenon__cpu_loops_t* loops, bool reduced, int64_t index,
                           tenon__cpu_point_t* inout_point);
/* Offset of the point in a tensor, in elements. */
int64_t tenon__cpu_loops_offset(const tenon__cpu_loops_t* loops, uint32_t tensor,
                                const tenon__cpu_point_t* point);

#endif
