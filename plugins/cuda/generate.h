/*
 * A program as the text of kernels. Strides, extents and addresses are parameters of a launch, so
 * one text serves all shapes; what is fixed in it, its form, only decides how fast it is.
 *
 * Without reductions there are two kernels: `vectors`, whose threads each have `elements`
 * neighbours of the result, and `singles`, whose threads have four elements a block apart, for
 * spaces that do not come in neighbours. Where all tensors lie in one piece of whole accesses,
 * `dense` takes the place of `vectors`. With reductions there is `rows`, and where a row's length
 * is not known, or is too long to be kept in registers, `rows_again`, which reads its operands
 * again in each pass.
 *
 * Where few rows are long, several blocks share one: `split_<n>` of each level n of reductions
 * leaves what each block has of them in scratch, and the one behind the last level writes results.
 * Each of them begins by joining what those before it left, always in the same order.
 *
 * Files: generate_values.c (functions of one element), generate.c (the kernels around them).
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

/* Without reductions: may there be `dense` as well, for tensors that all lie in one piece? */
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
/* The C type of a value. */
const char* tenon__cuda_value_type(tenon_dtype_t dtype);

#endif
