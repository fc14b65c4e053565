/*
 * The evaluation of programs on blocks: up to `rows` x `columns` points of the iteration space at a
 * time, instruction by instruction, in buffers that stay in the first-level cache.
 *
 * A value has the shape that it needs: it varies along rows, along columns, along both or neither.
 * What lies in memory as it is wanted is used there; the rest is read into a buffer first.
 */
#ifndef TENON_CPU_BLOCK_H_
#define TENON_CPU_BLOCK_H_

#include "program.h"

enum {
  TENON_CPU_ROWS = 1,
  TENON_CPU_COLUMNS = 2,
  TENON_CPU_BLOCK_ELEMENTS = 1024,      /* of a block without reductions along its columns */
  TENON_CPU_LONG_BLOCK_ELEMENTS = 8192, /* with: a whole row, if it fits */
  TENON_CPU_BUFFER_PADDING = 64         /* bytes */
};

/* How an operand or output moves with the block's two axes, in elements. */
typedef struct tenon__cpu_walk_t {
  int64_t row;
  int64_t column;
} tenon__cpu_walk_t;

/* An operand that LOAD reads: its own dimensions. */
typedef struct tenon__cpu_table_t {
  uint32_t rank;
  const int64_t* dims;
  const int64_t* strides;
} tenon__cpu_table_t;

/* Which space, and how the block lies in it. */
typedef struct tenon__cpu_block_shape_t {
  const tenon__cpu_walk_t* operands; /* one for each operand of the program */
  const tenon__cpu_walk_t* outputs;
  const tenon__cpu_table_t* tables; /* one for each operand; for those that are indexed */
  const int64_t* extents;           /* of the space */
  uint32_t row_axis;                /* TENON_NONE: rows run along no axis of the space */
  uint32_t column_axis;
  bool rows_reduced;
  bool columns_reduced;
  bool whole;      /* one block holds all that is reduced: nothing is computed twice */
  size_t capacity; /* elements of a buffer */
  bool in_place;   /* an output may lie on an operand */
} tenon__cpu_block_shape_t;

typedef struct tenon__cpu_block_t tenon__cpu_block_t; /* the plan */

/* A LOAD that was out of range: which element, of how many. */
typedef struct tenon__cpu_fault_t {
  bool found;
  uint32_t axis; /* of the operand */
  int64_t element;
  int64_t extent;
} tenon__cpu_fault_t;

/* One block's place. */
typedef struct tenon__cpu_frame_t {
  size_t rows;
  size_t columns;
  const char* const* operands; /* address of the block's first element, for each operand */
  char* const* outputs;        /* likewise */
  const int64_t* origin;       /* coordinates of the block's first point, for each axis */
  char* buffers;               /* tenon__cpu_block_scratch bytes */
  tenon__cpu_fault_t* fault;   /* the first one; NULL: nobody asks */
} tenon__cpu_frame_t;

tenon_status_t tenon__cpu_block_create(const tenon__cpu_elements_t* elements,
                                       const tenon__cpu_program_t* program,
                                       const tenon__cpu_block_shape_t* shape,
                                       tenon__cpu_allocate_t allocate, void* user,
                                       tenon__cpu_block_t** out_block);
/* Bytes of buffers for one thread. */
size_t tenon__cpu_block_scratch(const tenon__cpu_block_t* block);
/* At most this many, whatever the shape, for elements of this capacity. */
size_t tenon__cpu_block_scratch_limit(const tenon_program_t* program, size_t capacity);

/* Sets the sums of a phase to what is neutral. */
void tenon__cpu_block_begin(const tenon__cpu_block_t* block, uint32_t phase,
                            const tenon__cpu_frame_t* frame);
/* Evaluates a phase on one block and adds to its sums. False: a LOAD was out of range. */
bool tenon__cpu_block_run(const tenon__cpu_block_t* block, uint32_t phase,
                          const tenon__cpu_frame_t* frame);
/* Divides means: `count` elements were summed. */
void tenon__cpu_block_end(const tenon__cpu_block_t* block, uint32_t phase,
                          const tenon__cpu_frame_t* frame, int64_t count);
/* Writes the outputs that are reduced. */
void tenon__cpu_block_finish(const tenon__cpu_block_t* block, const tenon__cpu_frame_t* frame);

#endif
