/*
 * The evaluation of programs on blocks: up to `rows` x `columns` points of the iteration space at a
 * time, instruction by instruction, in buffers that stay in the first-level cache. The expression
 * kernel (expression.c) runs whole regions so, and epilogue.h what is fused behind products.
 *
 * A value has the shape that it needs: it varies along rows, along columns, along both or neither.
 * What lies in memory as it is wanted is used there; the rest is read into a buffer first. For y =
 * exp(x - max) over a row, max is one element a row, x is used where it lies, and exp writes
 * straight into y if y is dense along columns.
 *
 * Calls go phase by phase (program.h): begin, run for each block along the reduced axes, end; after
 * the last phase, finish. A plan is immutable once made and lives in the memory of `allocate`; each
 * thread has a frame and buffers of its own. block.c makes plans, block_run.c and block_gather.c
 * run them, block_plan.h is what they share.
 */
#ifndef TENON_CPU_BLOCK_H_
#define TENON_CPU_BLOCK_H_

#include "program.h"

enum {
  /* Along which of the block's axes a value varies: bits. */
  TENON_CPU_ROWS = 1,
  TENON_CPU_COLUMNS = 2,
  /* Of a block without reductions along its columns: 4 KiB of f32, so that a few buffers fit 32
   * KiB. */
  TENON_CPU_BLOCK_ELEMENTS = 1024,
  /* With a LOAD: most of them only move elements, and rows of tables are long. */
  TENON_CPU_LOOKUP_BLOCK_ELEMENTS = 4096,
  /* With: a whole row, if it fits, since otherwise what is reduced is computed once for each
   * phase. */
  TENON_CPU_LONG_BLOCK_ELEMENTS = 8192,
  /* Bytes behind each buffer; buffers begin at multiples of 64. */
  TENON_CPU_BUFFER_PADDING = 64
};

/* How an operand or output moves with the block's two axes, in elements of its own dtype; 0: it
 * stays. */
typedef struct tenon__cpu_walk_t {
  int64_t row;
  int64_t column;
} tenon__cpu_walk_t;

/* An operand that LOAD reads: its own dimensions and strides in elements, borrowed from the view
 * bound. */
typedef struct tenon__cpu_table_t {
  uint32_t rank;
  const int64_t* dims;
  const int64_t* strides;
} tenon__cpu_table_t;

/* Which space, and how the block lies in it. What it points to outlives the plan. */
typedef struct tenon__cpu_block_shape_t {
  /* One for each operand of the program, and one for each output. */
  const tenon__cpu_walk_t* operands;
  const tenon__cpu_walk_t* outputs;
  /* One for each operand; for those that are indexed. NULL when the program has no LOAD. */
  const tenon__cpu_table_t* tables;
  const int64_t* extents; /* of the space, by its axes */
  /* The axis of the space that rows run along; TENON_NONE: none. */
  uint32_t row_axis;
  uint32_t column_axis;
  /* The axis is one that the program's reductions run along; so for columns. */
  bool rows_reduced;
  bool columns_reduced;
  /* One block holds all that is reduced: values of a phase are kept for the next, nothing is
   * computed twice. */
  bool whole;
  /* Elements of a buffer: rows x columns of a frame are at most so many. */
  size_t capacity;
  /* An output may lie on an operand, as a tile's epilogue does. */
  bool in_place;
} tenon__cpu_block_shape_t;

typedef struct tenon__cpu_block_t tenon__cpu_block_t; /* the plan */

/* A LOAD that was out of range: which element, of how many. The first is kept; the value read is
 * that of the nearest element. */
typedef struct tenon__cpu_fault_t {
  bool found;
  uint32_t axis; /* of the operand */
  uint32_t operand;
  int64_t element;
  int64_t extent;
} tenon__cpu_fault_t;

/* One block's place; of one thread, on its stack. */
typedef struct tenon__cpu_frame_t {
  size_t rows;
  size_t columns;
  /* Address of the block's first element, for each operand; of one that LOAD reads, of the
   * tensor's. */
  const char* const* operands;
  char* const* outputs; /* likewise */
  /* Coordinates of the block's first point, for each axis of the space: what INDEX counts from.
   * May be NULL without INDEX. */
  const int64_t* origin;
  /* tenon__cpu_block_scratch bytes, aligned to 64; what a phase leaves there the next one needs. */
  char* buffers;
  /* The first one; NULL: nobody asks. */
  tenon__cpu_fault_t* fault;
} tenon__cpu_frame_t;

/* Makes a plan of a program that tenon__cpu_program_accepts took; `elements`, `program` and the
 * shape's arrays must outlive it. Memory from `allocate`, zero-filled, never freed here.
 * OUT_OF_MEMORY alone. */
tenon_status_t tenon__cpu_block_create(const tenon__cpu_elements_t* elements,
                                       const tenon__cpu_program_t* program,
                                       const tenon__cpu_block_shape_t* shape,
                                       tenon__cpu_allocate_t allocate, void* user,
                                       tenon__cpu_block_t** out_block);
/* Bytes of buffers for one thread. */
size_t tenon__cpu_block_scratch(const tenon__cpu_block_t* block);
/* At most this many, whatever the shape, for elements of this capacity: what a tactic declares
 * before extents are bound. */
size_t tenon__cpu_block_scratch_limit(const tenon_program_t* program, size_t capacity);

/* Sets the sums of a phase to what is neutral: 0, 1, or the infinities, which saturate for
 * integers. */
void tenon__cpu_block_begin(const tenon__cpu_block_t* block, uint32_t phase,
                            const tenon__cpu_frame_t* frame);
/* Evaluates a phase on one block and adds to its sums. False: a LOAD was out of range that no
 * SELECT guards. Sums are taken in vectors' lanes, so their order is not that of the elements;
 * f16 and bf16 are computed as f32. */
bool tenon__cpu_block_run(const tenon__cpu_block_t* block, uint32_t phase,
                          const tenon__cpu_frame_t* frame);
/* Divides means: `count` elements were summed. Once a phase, after its last block. */
void tenon__cpu_block_end(const tenon__cpu_block_t* block, uint32_t phase,
                          const tenon__cpu_frame_t* frame, int64_t count);
/* Writes the outputs that are reduced. */
void tenon__cpu_block_finish(const tenon__cpu_block_t* block, const tenon__cpu_frame_t* frame);

#endif
