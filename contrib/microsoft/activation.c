/* Activations, with the addition of a bias before them. */
#include <math.h>

#include "families.h"
#include "steps.h"

static void bias_gelu(tenon_make_t* make) {
  const tenon_value_t sum = microsoft_add_input(make, tenon_make_input(make, 0), 1);
  tenon_make_output(make, 0, tenon_make_1(make, "gelu", sum));
}

static void fast_gelu(tenon_make_t* make) {
  const tenon_value_t sum = microsoft_add_input(make, tenon_make_input(make, 0), 1);
  tenon_make_output(make, 0, microsoft_tanh_gelu(make, sum));
}

/* x + bias + skip. */
static void bias_add(tenon_make_t* make) {
  const tenon_value_t sum = microsoft_add_input(make, tenon_make_input(make, 0), 1);
  tenon_make_output(make, 0, microsoft_add_input(make, sum, 2));
}

/* Of the sum, the first half times gelu(second half). */
static void bias_split_gelu(tenon_make_t* make) {
  tenon_value_t parts[2] = {{0}, {0}};
  microsoft_halves(make, microsoft_add_input(make, tenon_make_input(make, 0), 1), parts);
  tenon_make_output(make, 0,
                    tenon_make_2(make, "mul", parts[0], tenon_make_1(make, "gelu", parts[1])));
}

/* z sigmoid(z) with z = scale x. */
static void scaled_silu(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_value_t z = tenon_make_has_input(make, 1)
                              ? tenon_make_2(make, "mul", x,
                                             tenon_make_cast(make, tenon_make_input(make, 1),
                                                             tenon_make_dtype(make, x)))
                              : microsoft_scaled(make, x, tenon_make_get_float(make, "alpha", 1));
  tenon_make_output(make, 0, tenon_make_1(make, "swish", z));
}

/* Without input 1, input 0 has the gate and the linear part. */
static void swiglu(tenon_make_t* make) {
  const double limit = tenon_make_get_float(make, "limit", 0);
  tenon_value_t parts[2] = {tenon_make_input(make, 0), tenon_make_input(make, 1)};
  if (!tenon_make_present(parts[1])) {
    microsoft_halves(make, parts[0], parts);
  }
  tenon_make_output(make, 0,
                    microsoft_swiglu(make, parts[0], parts[1], limit > 0 ? limit : INFINITY));
}

/* x + y gate, with one gate for each row. */
static void gated_add(tenon_make_t* make) {
  microsoft_refuse_input(make, 3, "gate_weight",
                         "ONNX Runtime computes it on CUDA in bf16 alone; use MatMul and Sigmoid");
  const tenon_value_t product =
      tenon_make_2(make, "mul", tenon_make_input(make, 1), tenon_make_input(make, 2));
  tenon_make_output(make, 0, tenon_make_2(make, "add", tenon_make_input(make, 0), product));
}

/* For inference nothing is dropped. */
static void bias_dropout(tenon_make_t* make) {
  bool trains = false;
  if (tenon_make_has_input(make, 4)) {
    double value = 1;
    uint32_t count = 0;
    trains =
        !tenon_make_known_floats(make, tenon_make_input(make, 4), &value, 1, &count) || value != 0;
  }
  if (trains) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "training_mode is not a constant 0; export the model for inference");
    return;
  }
  const tenon_value_t x = tenon_make_input(make, 0);
  tenon_make_output(make, 0, microsoft_add_input(make, microsoft_add_input(make, x, 1), 2));
  if (tenon_make_wants(make, 1)) {
    const uint8_t yes = 1;
    const tenon_value_t all = tenon_make_tensor(make, TENON_DTYPE_BOOL, 0, NULL, &yes);
    tenon_make_output(make, 1, tenon_make_2(make, "filled", all, tenon_make_shape(make, x)));
  }
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("BiasAdd", bias_add, NULL, NULL),
    MICROSOFT_ROW("BiasDropout", bias_dropout, NULL, NULL),
    MICROSOFT_ROW("BiasGelu", bias_gelu, NULL, NULL),
    MICROSOFT_ROW("BiasSplitGelu", bias_split_gelu, NULL, NULL),
    MICROSOFT_ROW("FastGelu", fast_gelu, NULL, NULL),
    MICROSOFT_ROW("GatedAdd", gated_add, NULL, NULL),
    MICROSOFT_ROW("Gelu", tenon_make_same, "gelu", NULL),
    MICROSOFT_ROW("QuickGelu", tenon_make_same, "swish", "alpha=1.702"),
    MICROSOFT_ROW("ScaledSiLU", scaled_silu, NULL, NULL),
    MICROSOFT_ROW("SwiGLU", swiglu, NULL, NULL),
};
MICROSOFT_FAMILY(activation);
