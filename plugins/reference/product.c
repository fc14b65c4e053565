/* Products of matrices over broadcast batches, and determinants. */
#include <math.h>

#include "kernels.h"

/* One operand: a stack of matrices with strides in elements of its array. */
typedef struct stack_t {
  const tenon__array_t* array;
  int64_t rows;
  int64_t columns;
  int64_t row_stride;
  int64_t column_stride;
  uint32_t batch_rank;
} stack_t;

/* 1-D operands are a row (on the left) or a column (on the right). */
static stack_t stack_of(const tenon__array_t* array, bool on_left) {
  stack_t stack = {.array = array, .rows = 1, .columns = 1};
  if (array->rank == 1) {
    stack.rows = on_left ? 1 : array->dims[0];
    stack.columns = on_left ? array->dims[0] : 1;
    stack.row_stride = stack.column_stride = 1;
    return stack;
  }
  stack.rows = array->dims[array->rank - 2];
  stack.columns = array->dims[array->rank - 1];
  stack.row_stride = stack.columns;
  stack.column_stride = 1;
  stack.batch_rank = array->rank - 2;
  return stack;
}

/* Where the matrix for batch `batch` (row-major over `dims`) begins in an operand that broadcasts.
 */
static int64_t matrix_place(const stack_t* stack, const int64_t* dims, uint32_t rank,
                            int64_t batch) {
  int64_t place = 0;
  int64_t step = stack->rows * stack->columns;
  for (uint32_t axis = rank; axis-- > 0;) {
    int64_t coordinate = batch % dims[axis];
    batch /= dims[axis];
    if (axis + stack->batch_rank >= rank) {
      int64_t extent = stack->array->dims[axis + stack->batch_rank - rank];
      place += extent == 1 ? 0 : coordinate * step;
      step *= extent;
    }
  }
  return place;
}

static tenon__number_t dot(tenon_dtype_t dtype, const tenon__number_t* a, int64_t a_stride,
                           const tenon__number_t* b, int64_t b_stride, int64_t count) {
  tenon__number_t sum = {.i = 0}; /* 0.0 has the same bits */
  if (tenon__number_is_float(dtype)) {
    for (int64_t k = 0; k < count; ++k) {
      sum.f += a[k * a_stride].f * b[k * b_stride].f;
    }
    return sum;
  }
  for (int64_t k = 0; k < count; ++k) {
    sum = tenon__number_add(dtype, sum,
                            tenon__number_multiply(dtype, a[k * a_stride], b[k * b_stride]));
  }
  return sum;
}

static void multiply(tenon__work_t* work, const stack_t* a, const stack_t* b, tenon_dtype_t dtype) {
  tenon__array_t* y = tenon__work_output(work, 0);
  uint32_t batch_rank = a->batch_rank > b->batch_rank ? a->batch_rank : b->batch_rank;
  int64_t batches = tenon__dims_product(y->dims, 0, batch_rank);
  for (int64_t batch = 0; batch < batches; ++batch) {
    const tenon__number_t* left = a->array->at + matrix_place(a, y->dims, batch_rank, batch);
    const tenon__number_t* right = b->array->at + matrix_place(b, y->dims, batch_rank, batch);
    tenon__number_t* result = y->at + batch * a->rows * b->columns;
    for (int64_t place = 0; place < a->rows * b->columns; ++place) {
      if (place % 64 == 0 && tenon__work_is_cancelled(work)) {
        return;
      }
      int64_t row = place / b->columns;
      int64_t column = place % b->columns;
      result[place] = dot(dtype, left + row * a->row_stride, a->column_stride,
                          right + column * b->column_stride, b->row_stride, a->columns);
    }
  }
}

tenon_status_t tenon__compute_mat_mul(tenon__work_t* work) {
  const tenon__array_t* a = tenon__work_input(work, 0);
  const tenon__array_t* b = tenon__work_input(work, 1);
  stack_t left = stack_of(a, true);
  stack_t right = stack_of(b, false);
  if (left.columns != right.rows) {
    return tenon__work_fail(work, "a has %lld columns, b has %lld rows", (long long)left.columns,
                            (long long)right.rows);
  }
  multiply(work, &left, &right, a->dtype);
  return TENON_OK;
}

/* Less a zero point: one, one for each row (a) or column (b), or one for each of every matrix. */
static void center(tenon__array_t* inout_array, const tenon__array_t* zero_point, bool by_row) {
  if (zero_point == NULL) {
    return;
  }
  uint32_t rank = inout_array->rank;
  int64_t columns = rank > 0 ? inout_array->dims[rank - 1] : 1;
  int64_t rows = rank > 1 ? inout_array->dims[rank - 2] : 1;
  int64_t lines = by_row ? rows : columns;
  for (int64_t place = 0; place < inout_array->count; ++place) {
    int64_t matrix = place / (rows * columns);
    int64_t line = by_row ? place / columns % rows : place % columns;
    int64_t which = zero_point->count == 1       ? 0
                    : zero_point->count == lines ? line
                                                 : matrix * lines + line;
    inout_array->at[place].i -= zero_point->at[which].i;
  }
}

tenon_status_t tenon__compute_mat_mul_integer(tenon__work_t* work) {
  center(&work->inputs[0], tenon__work_input(work, 2), true);
  center(&work->inputs[1], tenon__work_input(work, 3), false);
  stack_t left = stack_of(&work->inputs[0], true);
  stack_t right = stack_of(&work->inputs[1], false);
  if (left.columns != right.rows) {
    return tenon__work_fail(work, "a has %lld columns, b has %lld rows", (long long)left.columns,
                            (long long)right.rows);
  }
  multiply(work, &left, &right, TENON_DTYPE_INT32);
  return TENON_OK;
}

/* Scratch: one matrix. */
int64_t tenon__scratch_det(const tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  return x->dims[x->rank - 1] * x->dims[x->rank - 1];
}

static void swap_rows(tenon__number_t* matrix, int64_t n, int64_t a, int64_t b) {
  for (int64_t column = 0; column < n; ++column) {
    tenon__number_t kept = matrix[a * n + column];
    matrix[a * n + column] = matrix[b * n + column];
    matrix[b * n + column] = kept;
  }
}

/* Gaussian elimination with row pivots; the matrix is used up. */
static double determinant(tenon__number_t* matrix, int64_t n) {
  double product = 1.0;
  for (int64_t step = 0; step < n; ++step) {
    int64_t pivot = step;
    for (int64_t row = step + 1; row < n; ++row) {
      pivot = fabs(matrix[row * n + step].f) > fabs(matrix[pivot * n + step].f) ? row : pivot;
    }
    if (pivot != step) {
      swap_rows(matrix, n, pivot, step);
      product = -product;
    }
    double diagonal = matrix[step * n + step].f;
    product *= diagonal;
    if (diagonal == 0.0) {
      return product;
    }
    for (int64_t row = step + 1; row < n; ++row) {
      double factor = matrix[row * n + step].f / diagonal;
      for (int64_t column = step; column < n; ++column) {
        matrix[row * n + column].f -= factor * matrix[step * n + column].f;
      }
    }
  }
  return product;
}

tenon_status_t tenon__compute_det(tenon__work_t* work) {
  const tenon__array_t* x = tenon__work_input(work, 0);
  tenon__array_t* y = tenon__work_output(work, 0);
  int64_t n = x->dims[x->rank - 1];
  for (int64_t matrix = 0; matrix < y->count; ++matrix) {
    for (int64_t place = 0; place < n * n; ++place) {
      work->scratch[place] = x->at[matrix * n * n + place];
    }
    y->at[matrix].f = determinant(work->scratch, n);
  }
  return TENON_OK;
}
