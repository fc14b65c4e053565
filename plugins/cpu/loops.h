/*
 * How an iteration space is walked: its axes sorted as they lie in memory, neighbours joined, two
 * of them chosen as the rows and columns of blocks, the others outer loops (kept axes) and inner
 * loops (reduced ones).
 *
 * Softmax over the last axis of [8, 128, 1024], all dense: axes 0 and 1 join to 1024 kept rows,
 * columns are the reduced axis; a block is 1 x 1024, `whole`, and there are 1024 of them to divide
 * among threads.
 */
#ifndef TENON_CPU_LOOPS_H_
#define TENON_CPU_LOOPS_H_

#include "block.h"

/* Axes of a space; operands and outputs together. */
enum { TENON_CPU_LOOP_AXES = 64, TENON_CPU_LOOP_TENSORS = 64 };

/* An axis of the walk: one of the space, or several joined. */
typedef struct tenon__cpu_axis_t {
  /* Of the space; of a joined axis: the innermost's. TENON_NONE in a space of one point. */
  uint32_t id;
  bool reduced;
  int64_t extent;
  /* Of a block along it; 1 for loops. */
  int64_t step;
} tenon__cpu_axis_t;

/* A planned walk; extents of 1 are not in it. */
typedef struct tenon__cpu_loops_t {
  uint32_t axis_count;
  uint32_t tensor_count; /* operands, then outputs */
  /* Index of axis; TENON_NONE: none. `columns` is always there, the innermost of the primary
   * tensor. */
  uint32_t rows;
  uint32_t columns;
  bool whole; /* one block holds all that is reduced */
  bool empty; /* no output has an element */
  /* Some reduced axis has extent 0: results are the neutral elements. */
  bool nothing_to_reduce;
  int64_t reduced_count; /* elements that one sum adds up */
  /* Blocks along kept axes, each with outputs of its own: what threads divide. */
  int64_t outer_count;
  /* Blocks along reduced axes, which one thread takes one after the other. */
  int64_t inner_count;
  tenon__cpu_axis_t axes[TENON_CPU_LOOP_AXES]; /* [axis_count], outermost first */
  int64_t* strides; /* [tensor][axis] in elements, TENON_CPU_LOOP_AXES apart */
} tenon__cpu_loops_t;

/* One block's place: coordinates of axes, extents of rows and columns (smaller at the ends). */
typedef struct tenon__cpu_point_t {
  int64_t at[TENON_CPU_LOOP_AXES];
  size_t rows;
  size_t columns;
} tenon__cpu_point_t;

/* What is walked, before it is planned; read by tenon__cpu_loops_plan alone. */
typedef struct tenon__cpu_space_t {
  uint32_t rank;
  const int64_t* extents;
  /* A bit for each axis; so are indexed_axes, whose coordinates the program asks for: they are
   * not joined. */
  uint64_t reduced_axes;
  uint64_t indexed_axes; /* whose coordinates the program asks for: not to be joined */
  uint32_t tensor_count;
  /* [tensor][axis of the space], `rank` apart, in elements; 0 where a tensor does not vary. */
  const int64_t* strides;
  /* The tensor whose order in memory decides: the one that varies most. */
  uint32_t primary;
} tenon__cpu_space_t;

/* Counts of elements. What is more than can be counted is the most there is: in the space of an
 * empty tensor an extent of 0 may come behind those that exceed it. */
static inline int64_t tenon__cpu_times(int64_t a, int64_t b) {
  return b > 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

/* `capacity`: elements of a block. `loop_strides`: memory for tensor_count x
 * TENON_CPU_LOOP_AXES, the result's strides. Columns are a whole reduced row if it fits; where a
 * tensor lies together along another kept axis, that is the rows, in square blocks; else rows
 * fill the block up. */
void tenon__cpu_loops_plan(const tenon__cpu_space_t* space, size_t capacity, int64_t* loop_strides,
                           tenon__cpu_loops_t* out_loops);
/* The block number `index` along kept (or reduced) axes; leaves the others' coordinates, and
 * their rows or columns. */
void tenon__cpu_loops_seek(const tenon__cpu_loops_t* loops, bool reduced, int64_t index,
                           tenon__cpu_point_t* inout_point);
/* Offset of the point in a tensor, in elements of it. */
int64_t tenon__cpu_loops_offset(const tenon__cpu_loops_t* loops, uint32_t tensor,
                                const tenon__cpu_point_t* point);

#endif
