/*
 * Generates the source of kernels for a program. Strides, extents and addresses are parameters of a
 * launch, so one source serves all shapes. The source is generated for one form, which affects the
 * speed only.
 *
 * A program without reductions has these kernels:
 *   vectors  A thread computes `elements` adjacent results.
 *   singles  A thread computes 4 results, a block apart. Used if results have no whole accesses.
 *   dense    Replaces `vectors` if all tensors are contiguous and consist of whole accesses.
 * A program with reductions has these kernels:
 *   rows        Operands of a row stay in registers.
 *   rows_again  Each pass reads the operands again. Used if the length of a row is unknown or too
 *               large for registers.
 *
 * If rows are few and long, several blocks share a row. For each level n of reductions, `split_<n>`
 * stores the partial results of each block in scratch. One more kernel after the last level writes
 * the results. Each kernel first combines the partial results of the kernels before it, always in
 * the same order.
 *
 * Files: generate.c (kernels with reductions, the whole source), generate_points.c (kernels without
 * reductions), generate_access.c (accesses of both), generate_values.c (functions of one element),
 * near.c (faster functions for results of 16 bits).
 */
#ifndef PLUGINS_CUDA_GENERATE_H_
#define PLUGINS_CUDA_GENERATE_H_

#include "analysis.h"
#include "text.h"

enum { TENON_CUDA_SINGLES = 4, TENON_CUDA_SPACE_THREADS = 128, TENON_CUDA_SPLIT_LEVELS = 3 };

typedef struct tenon__cuda_form_t {
  uint32_t elements; /* of an access: 1, 2, 4 or 8 */
  /* Of rows. */
  uint32_t parts; /* threads that share a row: a power of two */
  uint32_t rows;  /* rows of a block */
  uint32_t items; /* accesses of a thread, kept in registers; 0: `rows` is left out */
  uint32_t again; /* 1: `rows_again` is there */
  uint32_t
      columns;    /* 1: the elements of an access, and neighbouring threads, have neighbouring rows
                   */
  uint32_t batch; /* accesses that `rows_again` reads at once; without rows, those of a thread */
  uint32_t split; /* blocks that share a row, see below; 0: rows are not split */
} tenon__cuda_form_t;

/* Rows, or accesses' worth of neighbouring rows, that a block has beside one another. */
static inline uint32_t tenon__cuda_form_slots(const tenon__cuda_form_t* form) {
  return form->columns != 0 ? form->rows / form->elements : form->rows;
}

/* Returns whether the program has the kernel `dense`, which requires contiguous tensors. */
bool tenon__cuda_may_be_dense(const tenon__cuda_analysis_t* analysis);

/* `out_text->failed` where there is no memory. */
void tenon__cuda_generate(const tenon__cuda_analysis_t* analysis, const tenon__cuda_form_t* form,
                          tenon__cuda_text_t* out_text);

/* Structures of an element's operands, of a row and of its results, and the functions
 *   first(p, row), and for each level n of reductions: pass<n>(p, in, row) adds an element,
 *   after<n>(p, row) computes what the row has in common then;
 *   element(p, in, row, out): the outputs at a point; result(p, row, out): those of a row. */
void tenon__cuda_generate_values(const tenon__cuda_analysis_t* analysis, tenon__cuda_text_t* text);
/* How many reductions there are: words that a block leaves of a row that is split. */
uint32_t tenon__cuda_count_reductions(const tenon__cuda_analysis_t* analysis);
/* An output of which a row has one element. */
bool tenon__cuda_output_is_of_row(const tenon__cuda_analysis_t* analysis, uint32_t output);
/* near.c: returns whether all outputs are floats of 16 bits and no instruction amplifies
 * the error of the faster functions. */
bool tenon__cuda_rounds(const tenon_program_t* program);
/* near.c: returns the start of the call of the faster function, or NULL if there is none. */
const char* tenon__cuda_near_function(const tenon_instruction_t* in);
/* The C type of a value. */
const char* tenon__cuda_value_type(tenon_dtype_t dtype);

#endif
