/*
 * Evaluates a slot's program on parts of its iteration space, seen as a matrix. Columns run along one
 * axis, and rows run over the others, outermost first. Epilogues evaluate tiles of a product, and
 * prologues evaluate the rows before one.
 *
 * Call `accepts` in match, copy the program and declare its scratch in prepare, call bind for
 * extents, and run for each part.
 */
#ifndef TENON_CPU_ROWS_H_
#define TENON_CPU_ROWS_H_

#include "block.h"

/* Maximum number of axes of rows. */
enum { TENON_CPU_ROW_AXES = 8 };

/* The space of a slot as rows and columns. `axes` are those of the rows, outermost first. A
 * convolution of NCHW has axes {0, 2, 3} and column axis 1. */
typedef struct tenon__cpu_row_shape_t {
  uint32_t rank;
  uint32_t axes[TENON_CPU_ROW_AXES];
  uint32_t column_axis; /* TENON_NONE: one column */
  /* Stride between rows that the kernel computes, in elements. */
  size_t c_stride;
} tenon__cpu_row_shape_t;

/* Returns true for elementwise programs of up to 16 operands with one f32 output. Otherwise fills in
 * the refusal, TENON_REFUSAL_SLOT. Reductions, LOAD, EXTENT and INDEX are refused, because they depend
 * on other elements. */
bool tenon__cpu_rows_accepts(const tenon__cpu_elements_t* elements, const tenon_program_t* program,
                             tenon_refusal_t* out_refusal);
/* The same for outputs of all types. */
bool tenon__cpu_rows_accepts_any(const tenon__cpu_elements_t* elements,
                                 const tenon_program_t* program, tenon_refusal_t* out_refusal);
/* Returns the bytes of buffers that one thread needs for any extents. `program` may be NULL. */
size_t tenon__cpu_rows_scratch(const tenon_program_t* program);

typedef struct tenon__cpu_rows_request_t {
  const tenon__cpu_elements_t* elements;
  const tenon__cpu_program_t* program;
  const tenon__cpu_row_shape_t* shape;
  const int64_t* extents; /* of the space */
  /* The strides of the slot's own value and of the program's output, in elements of their types. Both
   * may use the same memory if their types and strides are equal. */
  tenon__cpu_walk_t value;
  tenon__cpu_walk_t made;
} tenon__cpu_rows_request_t;

typedef struct tenon__cpu_rows_t tenon__cpu_rows_t;
/* The only error is OUT_OF_MEMORY. */
tenon_status_t tenon__cpu_rows_bind(const tenon__cpu_rows_request_t* request,
                                    tenon_binding_t* binding, const tenon_bind_table_t* host,
                                    tenon__cpu_rows_t** out_rows);
/* A part of the space. Rows are counted over the whole space, outermost axis first. `value` and `made`
 * are the addresses of the part's first element. */
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
