/* Activations, with the addition of a bias before them. */
#include "families.h"
#include "steps.h"

static tenon_value_t tanh_gelu(tenon_make_t* make, tenon_value_t x) {
  tenon_make_begin(make, "gelu");
  tenon_make_set_string(make, "approximate", "tanh");
  tenon_make_add(make, x);
  return tenon_make_end(make);
}

static void bias_gelu(tenon_make_t* make) {
  const tenon_value_t sum = microsoft_add_input(make, tenon_make_input(make, 0), 1);
  tenon_make_output(make, 0, tenon_make_1(make, "gelu", sum));
}

static void fast_gelu(tenon_make_t* make) {
  const tenon_value_t sum = microsoft_add_input(make, tenon_make_input(make, 0), 1);
  tenon_make_output(make, 0, tanh_gelu(make, sum));
}

/* x + bias + skip. */
static void bias_add(tenon_make_t* make) {
  const tenon_value_t sum = microsoft_add_input(make, tenon_make_input(make, 0), 1);
  tenon_make_output(make, 0, microsoft_add_input(make, sum, 2));
}

/* Halves of the last axis. */
static void halves(tenon_make_t* make, tenon_value_t value, tenon_value_t out_halves[2]) {
  const uint32_t rank = tenon_make_rank(make, value);
  tenon_make_begin(make, "split");
  tenon_make_set_int(make, "axis", (int64_t)rank - 1);
  tenon_make_set_int(make, "parts", 2);
  tenon_make_set_output_count(make, 2);
  tenon_make_add(make, value);
  tenon_make_end_many(make, out_halves, 2);
}

/* Of the sum, the first half times gelu(second half). */
static void bias_split_gelu(tenon_make_t* make) {
  tenon_value_t parts[2] = {{0}, {0}};
  halves(make, microsoft_add_input(make, tenon_make_input(make, 0), 1), parts);
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

/* g sigmoid(alpha g) (l + beta), both clamped if `limit` is positive. */
static void swiglu(tenon_make_t* make) {
  const double alpha = tenon_make_get_float(make, "activation_alpha", 1);
  const double beta = tenon_make_get_float(make, "activation_beta", 0);
  const double limit = tenon_make_get_float(make, "limit", 0);
  tenon_value_t parts[2] = {tenon_make_input(make, 0), tenon_make_input(make, 1)};
  if (!tenon_make_present(parts[1])) {
    halves(make, parts[0], parts);
  }
  if (limit > 0) {
    parts[0] = microsoft_math(make, 1, &parts[0], "y = min(a, %.17g)", limit);
    parts[1] = microsoft_math(make, 1, &parts[1], "y = clamp(a, -%.17g, %.17g)", limit, limit);
  }
  tenon_make_output(
      make, 0,
      microsoft_math(make, 2, parts, "y = a * sigmoid(a * (%.17g)) * (b + (%.17g))", alpha, beta));
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
