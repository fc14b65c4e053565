/*
 * A slot's program on parts of its space, seen as a matrix: rows run over some axes, outermost
 * first, columns along one. What an epilogue does with a tile of a product, and a prologue with
 * rows before one.
 *
 * The life: accepts in match, a program's copy and scratch when the kernel is prepared, bind for
 * extents, run for each part.
 */
#ifndef TENON_CPU_ROWS_H_
#define TENON_CPU_ROWS_H_

#include "block.h"

/* Axes that rows may run over. */
enum { TENON_CPU_ROW_AXES = 8 };

/* The space of a slot as rows and columns: which axes the rows run over, outermost first.
 * Convolution of NCHW: axes {0, 2, 3}, column axis 1. */
typedef struct tenon__cpu_row_shape_t {
  uint32_t rank;
  uint32_t axes[TENON_CPU_ROW_AXES];
  uint32_t column_axis; /* TENON_NONE: one column */
  /* Floats from row to row of what the kernel computes. */
  size_t c_stride;
} tenon__cpu_row_shape_t;

/* Can it be done? Fills in the refusal, TENON_REFUSAL_SLOT. Elementwise programs of up to 16
 * operands with one f32 output; no reductions, no LOAD, no INDEX: they depend on other elements. */
bool tenon__cpu_rows_accepts(const tenon__cpu_elements_t* elements, const tenon_program_t* program,
                             tenon_refusal_t* out_refusal);
/* The same for outputs of all types. */
bool tenon__cpu_rows_accepts_any(const tenon__cpu_elements_t* elements,
                                 const tenon_program_t* program, tenon_refusal_t* out_refusal);
/* Bytes of buffers for one thread, whatever the extents; `program` may be NULL. */
size_t tenon__cpu_rows_scratch(const tenon_program_t* program);

/* What is to be bound. */
typedef struct tenon__cpu_rows_request_t {
  const tenon__cpu_elements_t* elements;
  const tenon__cpu_program_t* program;
  const tenon__cpu_row_shape_t* shape;
  const int64_t* extents; /* of the space */
  /* How the slot's own value moves, and what the program makes, in elements of their types. If both
   * are the same, they may be one memory. */
  tenon__cpu_walk_t value;
  tenon__cpu_walk_t made;
} tenon__cpu_rows_request_t;

typedef struct tenon__cpu_rows_t tenon__cpu_rows_t;
/* OUT_OF_MEMORY alone. */
tenon_status_t tenon__cpu_rows_bind(const tenon__cpu_rows_request_t* request,
                                    tenon_binding_t* binding, const tenon_bind_table_t* host,
                                    tenon__cpu_rows_t** out_rows);
/* A part of the space. Rows are numbered over all of it, outermost axis first; `value` and `made`
 * are those of its first element. */
typedef struct tenon__cpu_rows_part_t {
  const void* value;
  void* made;
  size_t row;
  size_t rows;
  size_t column;
  size_t columns;
} tenon__cpu_rows_part_t;
void tenon__cpu_rows_run(const tenon__cpu_rows_t* rows, const tenon_argument_t* inputs,
                         const tenon__cpu_rows_part_t* part, char* buffers);

#endif
