/* Products of matrices, with a factor, a bias or an activation after them. */
#include "families.h"
#include "steps.h"

static tenon_value_t operand(tenon_make_t* make, uint32_t index, const char* batch,
                             const char* last) {
  tenon_value_t value = tenon_make_input(make, index);
  if (tenon_make_get_int(make, batch, 0) != 0) { /* [rows, batch..., columns] */
    value = microsoft_moved(make, value, 0, tenon_make_rank(make, value) - 2);
  }
  return tenon_make_get_int(make, last, 0) != 0 ? microsoft_transposed(make, value) : value;
}

static tenon_value_t scaled_product(tenon_make_t* make) {
  const tenon_value_t a = operand(make, 0, "transBatchA", "transA");
  const tenon_value_t b = operand(make, 1, "transBatchB", "transB");
  return microsoft_scaled(make, tenon_make_2(make, "mat_mul", a, b),
                          tenon_make_get_float(make, "alpha", 1));
}

static void fused_mat_mul(tenon_make_t* make) {
  tenon_make_output(make, 0, scaled_product(make));
}

/* FusedMatMul with an activation along no axis. */
static void mat_mul_activation(tenon_make_t* make) {
  const microsoft_activation_t activation = microsoft_get_activation(make);
  tenon_make_output(make, 0, microsoft_activate(make, scaled_product(make), &activation));
}

/* activation(alpha a b + beta c). */
static void fused_gemm(tenon_make_t* make) {
  const double beta = tenon_make_get_float(make, "beta", 1);
  const microsoft_activation_t activation = microsoft_get_activation(make);
  tenon_value_t y = scaled_product(make);
  if (tenon_make_has_input(make, 2) && beta != 0) {
    y = tenon_make_2(make, "add", y, microsoft_scaled(make, tenon_make_input(make, 2), beta));
  }
  tenon_make_output(make, 0, microsoft_activate(make, y, &activation));
}

static void gemm_fast_gelu(tenon_make_t* make) {
  const tenon_value_t product =
      tenon_make_2(make, "mat_mul", tenon_make_input(make, 0), tenon_make_input(make, 1));
  tenon_make_output(make, 0, microsoft_tanh_gelu(make, microsoft_add_input(make, product, 2)));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("FusedGemm", fused_gemm, NULL, NULL),
    MICROSOFT_ROW("FusedMatMul", fused_mat_mul, NULL, NULL),
    MICROSOFT_ROW("FusedMatMulActivation", mat_mul_activation, NULL, NULL),
    MICROSOFT_ROW("GemmFastGelu", gemm_fast_gelu, NULL, NULL),
    MICROSOFT_ROW("TransposeMatMul", fused_mat_mul, NULL, NULL),
};
MICROSOFT_FAMILY(product);
