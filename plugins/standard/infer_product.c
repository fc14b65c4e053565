/* Shapes of matrix products: NumPy's matmul rules, and einsum's equation. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "infer.h"

/* One operand as a stack of matrices. 1-D operands are a row (a) or a column (b), which the result
 * lacks. */
typedef struct matrix_t {
  uint32_t rank;
  bool is_vector;
  tenon_dim_t rows;
  tenon_dim_t columns;
} matrix_t;

static matrix_t matrix_of(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                          uint32_t input) {
  matrix_t matrix = {.rank = table->rank(builder, input)};
  matrix.is_vector = matrix.rank == 1;
  if (matrix.is_vector) {
    tenon_dim_t one = table->constant(builder, 1);
    tenon_dim_t extent = table->dim(builder, input, 0);
    matrix.rows = input == 0 ? one : extent;
    matrix.columns = input == 0 ? extent : one;
  } else {
    matrix.rows = table->dim(builder, input, matrix.rank - 2);
    matrix.columns = table->dim(builder, input, matrix.rank - 1);
  }
  return matrix;
}

/* Extent of batch axis `axis` of `count`, counted from the outside, of an operand with fewer. */
static tenon_dim_t batch_extent(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                                uint32_t input, uint32_t axis, uint32_t count) {
  uint32_t rank = table->rank(builder, input);
  uint32_t own = rank > 2 ? rank - 2 : 0;
  return axis + own < count ? table->constant(builder, 1)
                            : table->dim(builder, input, axis + own - count);
}

static tenon_status_t infer_product(tenon_shape_builder_t* builder,
                                    const tenon_shape_table_t* table, tenon_dtype_t dtype) {
  uint32_t rank_a = table->rank(builder, 0);
  uint32_t rank_b = table->rank(builder, 1);
  if (rank_a == 0 || rank_b == 0 || rank_a > TENON_RANK_LIMIT || rank_b > TENON_RANK_LIMIT) {
    return tenon__infer_refuse(builder, table, "operands of rank %u and %u", rank_a, rank_b);
  }
  matrix_t a = matrix_of(builder, table, 0);
  matrix_t b = matrix_of(builder, table, 1);
  int64_t depth_a = 0;
  int64_t depth_b = 0;
  if (table->known(builder, a.columns, &depth_a) && table->known(builder, b.rows, &depth_b) &&
      depth_a != depth_b) {
    return tenon__infer_refuse(builder, table, "a has %lld columns, b has %lld rows",
                               (long long)depth_a, (long long)depth_b);
  }
  tenon__infer_require_equal(builder, table, a.columns, b.rows,
                             "a has not as many columns as b has rows");
  uint32_t batch_a = rank_a > 2 ? rank_a - 2 : 0;
  uint32_t batch_b = rank_b > 2 ? rank_b - 2 : 0;
  uint32_t rank = batch_a > batch_b ? batch_a : batch_b;
  uint32_t batch = rank;
  tenon_dim_t dims[TENON_RANK_LIMIT];
  for (uint32_t axis = 0; axis < batch; ++axis) {
    dims[axis] =
        tenon__infer_broadcast(builder, table, batch_extent(builder, table, 0, axis, batch),
                               batch_extent(builder, table, 1, axis, batch));
  }
  if (!a.is_vector) {
    dims[rank++] = a.rows;
  }
  if (!b.is_vector) {
    dims[rank++] = b.columns;
  }
  return table->set_output(builder, 0, dtype, rank, dims);
}

tenon_status_t tenon__infer_mat_mul(void* state, tenon_shape_builder_t* builder,
                                    const tenon_shape_table_t* table) {
  (void)state;
  return infer_product(builder, table, table->input_dtype(builder, 0));
}

tenon_status_t tenon__infer_mat_mul_integer(void* state, tenon_shape_builder_t* builder,
                                            const tenon_shape_table_t* table) {
  (void)state;
  return infer_product(builder, table, TENON_DTYPE_INT32);
}

/*
 * Einsum: "bij,bjk->bik". Letters name axes; "..." stands for leading axes that broadcast. Without
 * "->" the result has the letters that occur once, in order of the alphabet, after the ellipsis.
 */
typedef struct letters_t {
  uint32_t uses[128];
  tenon_dim_t extents[128];
  uint32_t ellipsis_rank;
  tenon_dim_t ellipsis[TENON_RANK_LIMIT]; /* extents, aligned at the end: [0] is the last axis */
} letters_t;

/* The letters of one term, up to ',' or '-' or the end; returns how many. */
static uint32_t count_letters(const char* term) {
  uint32_t count = 0;
  for (; *term != '\0' && *term != ',' && *term != '-'; ++term) {
    count += isalpha((unsigned char)*term) ? 1u : 0u;
  }
  return count;
}

/* An ellipsis of `count` axes of input `input` that begins at `axis`. */
static void note_ellipsis(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                          uint32_t input, uint32_t axis, uint32_t count, letters_t* inout_letters) {
  for (uint32_t place = 0; place < count; ++place) {
    tenon_dim_t extent = table->dim(builder, input, axis + count - 1 - place);
    tenon_dim_t* slot = &inout_letters->ellipsis[place];
    *slot = place < inout_letters->ellipsis_rank
                ? tenon__infer_broadcast(builder, table, *slot, extent)
                : extent;
  }
  if (count > inout_letters->ellipsis_rank) {
    inout_letters->ellipsis_rank = count;
  }
}

/* Reads the term of one input; leaves *inout_text after it. */
static tenon_status_t read_term(tenon_shape_builder_t* builder, const tenon_shape_table_t* table,
                                uint32_t input, const char** inout_text, letters_t* inout_letters) {
  const char* text = *inout_text;
  uint32_t rank = table->rank(builder, input);
  uint32_t letters = count_letters(text);
  uint32_t axis = 0;
  if (letters > rank || rank > TENON_RANK_LIMIT) {
    return tenon__infer_refuse(builder, table, "input %u has rank %u, the equation names %u axes",
                               input, rank, letters);
  }
  while (*text != '\0' && *text != ',' && *text != '-') {
    unsigned char letter = (unsigned char)*text;
    if (letter == '.') {
      note_ellipsis(builder, table, input, axis, rank - letters, inout_letters);
      axis += rank - letters;
      text += strspn(text, ".");
      continue;
    }
    if (letter < 128 && isalpha(letter)) {
      tenon_dim_t extent = table->dim(builder, input, axis++);
      inout_letters->extents[letter] =
          inout_letters->uses[letter]++ == 0
              ? extent
              : tenon__infer_broadcast(builder, table, inout_letters->extents[letter], extent);
    }
    ++text;
  }
  *inout_text = *text == ',' ? text + 1 : text;
  return axis == rank ? TENON_OK
                      : tenon__infer_refuse(builder, table, "input %u has rank %u, not %u", input,
                                            rank, axis);
}

static uint32_t append_ellipsis(const letters_t* letters, tenon_dim_t* dims, uint32_t rank) {
  for (uint32_t place = letters->ellipsis_rank; place > 0 && rank < TENON_RANK_LIMIT; --place) {
    dims[rank++] = letters->ellipsis[place - 1];
  }
  return rank;
}

tenon_status_t tenon__infer_einsum(void* state, tenon_shape_builder_t* builder,
                                   const tenon_shape_table_t* table) {
  (void)state;
  const char* text = NULL;
  tenon_status_t status = table->attribute_string(builder, "equation", &text);
  letters_t letters;
  memset(&letters, 0, sizeof(letters));
  for (uint32_t input = 0; status == TENON_OK && input < table->input_count(builder); ++input) {
    status = read_term(builder, table, input, &text, &letters);
  }
  if (status != TENON_OK) {
    return status;
  }
  tenon_dim_t dims[TENON_RANK_LIMIT];
  uint32_t rank = 0;
  if (*text == '-') {
    for (++text; *text != '\0' && rank < TENON_RANK_LIMIT; ++text) {
      unsigned char letter = (unsigned char)*text;
      if (letter == '.') {
        rank = append_ellipsis(&letters, dims, rank);
        text += strspn(text, ".") - 1;
      } else if (letter < 128 && isalpha(letter)) {
        dims[rank++] = letters.extents[letter];
      }
    }
  } else {
    rank = append_ellipsis(&letters, dims, 0);
    for (uint32_t letter = 'A'; letter <= 'z' && rank < TENON_RANK_LIMIT; ++letter) {
      if (letters.uses[letter] == 1) {
        dims[rank++] = letters.extents[letter];
      }
    }
  }
  return table->set_output(builder, 0, table->input_dtype(builder, 0), rank, dims);
}
