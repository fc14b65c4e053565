/* Products of matrices. */
#include <stdio.h>

#include "families.h"
#include "types.h"

enum { TEXT_SIZE = 160 };

/* A matrix, transposed where the attribute says so: a view. */
static tenon_value_t operand(tenon_make_t* make, uint32_t index, const char* attribute) {
  static const int64_t swapped[2] = {1, 0};
  const tenon_value_t matrix = tenon_make_input(make, index);
  return tenon_make_get_int(make, attribute, 0) != 0 ? tenon_make_permute(make, matrix, swapped, 2)
                                                     : matrix;
}

/* y = alpha * a + beta * b. */
static void weigh(tenon_make_t* make, tenon_value_t a, double alpha, tenon_value_t b, double beta) {
  char text[TEXT_SIZE];
  const char* name = tenon__onnx_dtype_name(tenon_make_dtype(make, a));
  if (name[0] == 'i' || name[0] == 'u') { /* the factors may be fractions all the same */
    (void)snprintf(text, sizeof(text),
                   "y = cast(cast(a, f64) * (%.17g) + cast(b, f64) * (%.17g), %s)", alpha, beta,
                   name);
  } else {
    (void)snprintf(text, sizeof(text), "y = a * (%.17g) + b * (%.17g)", alpha, beta);
  }
  tenon_make_output(make, 0, tenon_make_math_2(make, text, a, b));
}

static void scale(tenon_make_t* make, tenon_value_t a, double alpha) {
  char text[TEXT_SIZE];
  const char* name = tenon__onnx_dtype_name(tenon_make_dtype(make, a));
  if (name[0] == 'i' || name[0] == 'u') {
    (void)snprintf(text, sizeof(text), "y = cast(cast(a, f64) * (%.17g), %s)", alpha, name);
  } else {
    (void)snprintf(text, sizeof(text), "y = a * (%.17g)", alpha);
  }
  tenon_make_output(make, 0, tenon_make_math_1(make, text, a));
}

/* alpha a b + beta c: alpha and beta are 1 in most files, and then c is a plain addition. */
static void gemm(tenon_make_t* make) {
  const double alpha = tenon_make_get_float(make, "alpha", 1);
  const double beta = tenon_make_get_float(make, "beta", 1);
  const tenon_value_t c = tenon_make_input(make, 2);
  const tenon_value_t a = operand(make, 0, "transA");
  const tenon_value_t b = operand(make, 1, "transB");
  const tenon_value_t y = tenon_make_2(make, "mat_mul", a, b);
  const bool has_c = tenon_make_present(c) && beta != 0;
  if (has_c && alpha == 1 && beta == 1) {
    tenon_make_output(make, 0, tenon_make_2(make, "add", y, c));
  } else if (has_c) {
    weigh(make, y, alpha, c, beta);
  } else if (alpha != 1) {
    scale(make, y, alpha);
  } else {
    tenon_make_output(make, 0, y);
  }
}

#define ROW(type, function, op, attributes) \
  TENON__ONNX_ROW("", type, 1, 0, function, op, attributes)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("Det", tenon_make_same, "det", NULL),
    ROW("Einsum", tenon__onnx_einsum, "einsum", "equation"),
    ROW("Gemm", gemm, NULL, NULL),
    ROW("MatMul", tenon_make_same, "mat_mul", NULL),
    ROW("MatMulInteger", tenon_make_same, "mat_mul_integer", NULL),
};
TENON__ONNX_FAMILY(product);
