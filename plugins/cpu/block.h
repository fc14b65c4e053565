/*
 * Evaluates programs on blocks. A block has up to `rows` x `columns` points of the iteration space.
 * Each instruction runs over the whole block, and its buffers fit the first-level cache. The
 * expression kernel (expression.c) evaluates whole regions in this way. epilogue.h evaluates the
 * programs that are fused with matrix multiplications and convolutions.
 *
 * A value varies along rows, along columns, along both or along neither. If an operand has the
 * required type and layout, steps read it in place. Otherwise a step first converts or copies it to
 * a buffer. In y = exp(x - max) over a row, max has one element for each row, x is read in place,
 * and exp writes to y directly if y is contiguous along columns.
 *
 * For each phase (program.h), call begin, run for each block along the reduced axes, then end. Call
 * finish after the last phase. A plan is immutable after its creation. Its memory comes from
 * `allocate`. Each thread has one frame and its buffers. block.c makes plans, block_run.c and
 * block_gather.c run them, and block_plan.h declares the types that these files share.
 */
#ifndef TENON_CPU_BLOCK_H_
#define TENON_CPU_BLOCK_H_

#include "copy.h"
#include "program.h"

enum {
  /* Flags: the axes of the block along which a value varies. */
  TENON_CPU_ROWS = 1,
  TENON_CPU_COLUMNS = 2,
  /* Elements of a block without reductions along its columns. 1024 f32 values need 4 KiB, so that
   * several buffers fit a cache of 32 KiB. */
  TENON_CPU_BLOCK_ELEMENTS = 1024,
  /* Elements of a block of a program with LOAD, or without buffers. Most programs with LOAD only
   * move elements, and the rows of tables are long. */
  TENON_CPU_LOOKUP_BLOCK_ELEMENTS = 4096,
  /* Elements of a block with reductions along its columns. If a whole row fits, no phase computes
   * its values again. */
  TENON_CPU_LONG_BLOCK_ELEMENTS = 8192,
  /* Bytes after each buffer. Buffers begin at multiples of 64 bytes. */
  TENON_CPU_BUFFER_PADDING = 64
};

/* Strides of an operand or output along the block's two axes, in elements of its dtype. If a stride
 * is 0, the value does not vary along that axis. */
typedef struct tenon__cpu_walk_t {
  int64_t row;
  int64_t column;
} tenon__cpu_walk_t;

/* An operand that LOAD reads. Its dimensions and its strides (in elements) are borrowed from the
 * bound view. */
typedef struct tenon__cpu_table_t {
  uint32_t rank;
  const int64_t* dims;
  const int64_t* strides;
} tenon__cpu_table_t;

/* The iteration space and the axes of the block in it. The arrays must outlive the plan. */
typedef struct tenon__cpu_block_shape_t {
  /* Indexed by operand and by output. */
  const tenon__cpu_walk_t* operands;
  const tenon__cpu_walk_t* outputs;
  /* [operand]: set for indexed operands only. NULL if the program has no LOAD. */
  const tenon__cpu_table_t* tables;
  const int64_t* extents; /* of the iteration space, by axis */
  /* The axis of the space along which rows are counted, or TENON_NONE. */
  uint32_t row_axis;
  uint32_t column_axis;
  /* True if the program reduces along this axis. */
  bool rows_reduced;
  bool columns_reduced;
  /* True if one block covers all reduced axes. Then each phase keeps its values for the next one,
   * and no value is computed twice. */
  bool whole;
  /* Elements of a buffer: the maximum of rows x columns of a frame. */
  size_t capacity;
  /* True if an output may share memory with an operand, as in the epilogue of a tile. */
  bool in_place;
} tenon__cpu_block_shape_t;

typedef struct tenon__cpu_block_t tenon__cpu_block_t; /* the plan */

/* The first LOAD out of range: the coordinate, and the extent of the operand along that axis. The
 * LOAD reads the nearest element instead. */
typedef struct tenon__cpu_fault_t {
  bool found;
  uint32_t axis; /* of the operand */
  uint32_t operand;
  int64_t element;
  int64_t extent;
} tenon__cpu_fault_t;

/* The position of one block. Each thread has one frame on its stack. */
typedef struct tenon__cpu_frame_t {
  size_t rows;
  size_t columns;
  /* [operand]: address of the block's first element. If LOAD reads the operand, address of the
   * tensor's first element. */
  const char* const* operands;
  char* const* outputs; /* [output]: address of the block's first element */
  /* [axis]: coordinates of the block's first point in the iteration space, from which INDEX counts.
   * May be NULL if the program has no INDEX. */
  const int64_t* origin;
  /* tenon__cpu_block_scratch bytes, aligned to 64. They must persist between the phases. */
  char* buffers;
  /* Receives the first LOAD out of range. May be NULL. */
  tenon__cpu_fault_t* fault;
} tenon__cpu_frame_t;

/* Makes a plan of a program that tenon__cpu_program_accepts accepted. `elements`, `program` and the
 * arrays of the shape must outlive the plan. All memory comes from `allocate`, which must return
 * zeroed memory. The plan does not free it. The only error is OUT_OF_MEMORY. */
tenon_status_t tenon__cpu_block_create(const tenon__cpu_elements_t* elements,
                                       const tenon__cpu_program_t* program,
                                       const tenon__cpu_block_shape_t* shape,
                                       tenon__cpu_allocate_t allocate, void* user,
                                       tenon__cpu_block_t** out_block);
/* Returns true if the program, which computes nothing, is a strided copy: it writes one LOAD, whose
 * coordinates do not depend on data, as in tiles and depth-to-space. `out_strides` are those of the
 * output by axis of the space. The first element is *out_offset elements after the operand's. */
bool tenon__cpu_block_copies(const tenon__cpu_block_t* block, const int64_t* out_strides,
                             size_t element_bytes, tenon__cpu_copy_t* out_copy,
                             int64_t* out_offset);
/* Returns true if a step stores values that vary along columns in a buffer. Otherwise steps read
 * operands and write outputs in place. */
bool tenon__cpu_block_is_buffered(const tenon__cpu_block_t* block);
/* Returns the bytes of buffers that one thread needs. */
size_t tenon__cpu_block_scratch(const tenon__cpu_block_t* block);
/* Returns the maximum of tenon__cpu_block_scratch for this capacity over all shapes. Tactics
 * declare it before extents are known. */
size_t tenon__cpu_block_scratch_limit(const tenon_program_t* program, size_t capacity);

/* Sets the sums of a phase to the neutral element: 0, 1 or an infinity. For integers, the
 * infinities are the largest and smallest values. */
void tenon__cpu_block_begin(const tenon__cpu_block_t* block, uint32_t phase,
                            const tenon__cpu_frame_t* frame);
/* Evaluates a phase on one block and adds to its sums. Returns false if a LOAD without a guarding
 * SELECT was out of range. Sums use the lanes of vectors, so their order differs from the order of
 * the elements. f16 and bf16 are computed as f32. */
bool tenon__cpu_block_run(const tenon__cpu_block_t* block, uint32_t phase,
                          const tenon__cpu_frame_t* frame);
/* Divides means by `count`, the number of summed elements. Call this once for each phase, after its
 * last block. */
void tenon__cpu_block_end(const tenon__cpu_block_t* block, uint32_t phase,
                          const tenon__cpu_frame_t* frame, int64_t count);
/* Writes the reduced outputs. */
void tenon__cpu_block_finish(const tenon__cpu_block_t* block, const tenon__cpu_frame_t* frame);

#endif
