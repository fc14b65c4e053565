/* Steps that converters of several families take. */
#include "steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void microsoft_refuse(tenon_make_t* make, const char* name, const char* reason) {
  if (make->status != TENON_OK) {
    return;
  }
  switch (make->table->field_kind(make->source, name)) {
    case TENON_FIELD_INT:
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "%s = %" PRId64 " is not supported: %s", name,
                      tenon_make_get_int(make, name, 0), reason);
      break;
    case TENON_FIELD_FLOAT:
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "%s = %g is not supported: %s", name,
                      tenon_make_get_float(make, name, 0), reason);
      break;
    case TENON_FIELD_STRING:
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "%s = '%s' is not supported: %s", name,
                      tenon_make_get_string(make, name, ""), reason);
      break;
    default:
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "attribute %s is not supported: %s", name,
                      reason);
      break;
  }
}

int64_t microsoft_extent(tenon_make_t* make, const char* name) {
  const int64_t extent = tenon_make_get_int(make, name, 0);
  if (extent < 0 || extent > MICROSOFT_EXTENT_MAX) {
    microsoft_refuse(make, name, "it is not an extent");
    return 0;
  }
  return extent;
}

void microsoft_refuse_input(tenon_make_t* make, uint32_t index, const char* name,
                            const char* reason) {
  if (tenon_make_has_input(make, index)) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "input %u, %s, is not supported: %s", index,
                    name, reason);
  }
}

void microsoft_refuse_outputs(tenon_make_t* make, uint32_t first, const char* reason) {
  for (uint32_t index = first; index < make->output_count; ++index) {
    if (tenon_make_wants(make, index)) {
      tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "output %u is not supported: %s", index,
                      reason);
    }
  }
}

tenon_value_t microsoft_add_input(tenon_make_t* make, tenon_value_t value, uint32_t index) {
  return tenon_make_has_input(make, index)
             ? tenon_make_2(make, "add", value, tenon_make_input(make, index))
             : value;
}

tenon_value_t microsoft_scaled(tenon_make_t* make, tenon_value_t value, double factor) {
  return factor == 1.0 ? value : tenon_make_print_math(make, 1, &value, "y = a * (%.17g)", factor);
}

tenon_value_t microsoft_moved(tenon_make_t* make, tenon_value_t value, uint32_t from, uint32_t to) {
  int64_t perm[TENON_MAKE_LIST_LIMIT];
  const uint32_t rank = tenon_make_rank(make, value);
  uint32_t next = 0;
  if (from >= rank || to >= rank || from == to) {
    return value;
  }
  for (uint32_t axis = 0; axis < rank; ++axis) {
    next += next == from ? 1 : 0;
    perm[axis] = axis == to ? from : next;
    next += axis == to ? 0 : 1;
  }
  return tenon_make_permute(make, value, perm, rank);
}

tenon_value_t microsoft_transposed(tenon_make_t* make, tenon_value_t value) {
  const uint32_t rank = tenon_make_rank(make, value);
  return microsoft_moved(make, value, rank - 2, rank - 1);
}

tenon_value_t microsoft_first(tenon_make_t* make, tenon_value_t value, int64_t axis,
                              tenon_value_t count) {
  static const int64_t zero = 0;
  const tenon_value_t begin = tenon_make_int64s(make, &zero, 1);
  const tenon_value_t axes = tenon_make_int64s(make, &axis, 1);
  tenon_make_begin(make, "strided_slice");
  tenon_make_add(make, value);
  tenon_make_add(make, begin);
  tenon_make_add(make, count);
  tenon_make_add(make, axes);
  return tenon_make_end(make);
}

tenon_value_t microsoft_item(tenon_make_t* make, tenon_value_t value, int64_t axis, int64_t index) {
  return tenon_make_squeeze(make, tenon_make_slice(make, value, axis, index, index + 1), axis);
}

void microsoft_halves(tenon_make_t* make, tenon_value_t value, tenon_value_t out_halves[2]) {
  tenon_make_begin(make, "split");
  tenon_make_set_int(make, "axis", -1);
  tenon_make_set_int(make, "parts", 2);
  tenon_make_set_int(make, "equal", 1);
  tenon_make_set_output_count(make, 2);
  tenon_make_add(make, value);
  tenon_make_end_many(make, out_halves, 2);
}

tenon_value_t microsoft_below(tenon_make_t* make, tenon_value_t count) {
  const tenon_value_t zero = tenon_make_int64(make, 0);
  return tenon_make_3(make, "arange", zero, count, tenon_make_int64(make, 1));
}

tenon_value_t microsoft_counted(tenon_make_t* make, tenon_value_t value, int64_t axis) {
  return microsoft_below(
      make, tenon_make_squeeze(make, tenon_make_extents(make, value, axis, axis + 1), 0));
}

/* Activations that ONNX Runtime fuses into products and convolutions, with ONNX's defaults. The
 * attributes are in the order alpha, beta, gamma. */
static const struct {
  const char* name;
  const char* op;
  const char* attributes[3];
  double numbers[3];
} activations[] = {
    {"Relu", "relu", {NULL}, {0}},
    {"Sigmoid", "sigmoid", {NULL}, {0}},
    {"Tanh", "tanh", {NULL}, {0}},
    {"LeakyRelu", "leaky_relu", {"alpha"}, {0.01}},
    {"HardSigmoid", "hard_sigmoid", {"alpha", "beta"}, {0.2, 0.5}},
    {"Elu", "elu", {"alpha"}, {1}},
    {"Celu", "celu", {"alpha"}, {1}},
    {"ThresholdedRelu", "thresholded_relu", {"alpha"}, {1}},
    {"Softplus", "softplus", {NULL}, {0}},
    {"Softsign", "softsign", {NULL}, {0}},
    {"HardSwish", "hard_swish", {NULL}, {0}},
    {"Selu",
     "selu",
     {"alpha", NULL, "gamma"},
     {1.67326319217681884765625, 0, 1.05070102214813232421875}},
};

tenon_value_t microsoft_activate(tenon_make_t* make, tenon_value_t value,
                                 const microsoft_activation_t* activation) {
  const double highest = 3.4028234663852886e38;
  const char* name = activation->name == NULL ? "" : activation->name;
  if (name[0] == '\0') {
    return value;
  }
  if (strcmp(name, "Clip") == 0) {
    return tenon_make_print_math(make, 1, &value, "y = clamp(a, (%.17g), (%.17g))",
                                 (activation->has & 1) != 0 ? activation->numbers[0] : -highest,
                                 (activation->has & 2) != 0 ? activation->numbers[1] : highest);
  }
  for (size_t i = 0; i < sizeof(activations) / sizeof(activations[0]); ++i) {
    if (strcmp(name, activations[i].name) != 0) {
      continue;
    }
    tenon_make_begin(make, activations[i].op);
    for (uint32_t k = 0; k < 3; ++k) {
      if (activations[i].attributes[k] != NULL) {
        const bool is_given = (activation->has >> k & 1) != 0;
        tenon_make_set_float(make, activations[i].attributes[k],
                             is_given ? activation->numbers[k] : activations[i].numbers[k]);
      }
    }
    tenon_make_add(make, value);
    return tenon_make_end(make);
  }
  microsoft_refuse(make, "activation", "it is none of the functions that ONNX Runtime fuses");
  return value;
}

microsoft_activation_t microsoft_get_activation(tenon_make_t* make) {
  static const char* const names[3] = {"activation_alpha", "activation_beta", "activation_gamma"};
  microsoft_activation_t activation = {.name = tenon_make_get_string(make, "activation", "")};
  for (uint32_t k = 0; k < 3; ++k) {
    activation.has |= tenon_make_has(make, names[k]) ? 1u << k : 0u;
    activation.numbers[k] = tenon_make_get_float(make, names[k], 0);
  }
  return activation;
}

tenon_value_t microsoft_tanh_gelu(tenon_make_t* make, tenon_value_t x) {
  tenon_make_begin(make, "gelu");
  tenon_make_set_string(make, "approximate", "tanh");
  tenon_make_add(make, x);
  return tenon_make_end(make);
}

tenon_value_t microsoft_swiglu(tenon_make_t* make, tenon_value_t gate, tenon_value_t linear,
                               double limit) {
  const tenon_value_t operands[2] = {gate, linear};
  const double alpha = tenon_make_get_float(make, "activation_alpha", 1);
  const double beta = tenon_make_get_float(make, "activation_beta", 0);
  if (limit == INFINITY) {
    return tenon_make_print_math(make, 2, operands, "y = a * sigmoid((%.17g) * a) * (b + (%.17g))",
                                 alpha, beta);
  }
  return tenon_make_print_math(make, 2, operands,
                               "let g = min(a, (%.17g)); let l = clamp(b, (%.17g), (%.17g));"
                               "y = g * sigmoid((%.17g) * g) * (l + (%.17g))",
                               limit, -limit, limit, alpha, beta);
}

void microsoft_set_window(tenon_make_t* make) {
  const char* mode = tenon_make_get_string(make, "auto_pad", "NOTSET");
  tenon_make_pass_all(make, "strides dilations");
  if (strcmp(mode, "NOTSET") == 0 || mode[0] == '\0') {
    tenon_make_pass_all(make, "pads");
  } else if (strcmp(mode, "SAME_UPPER") == 0) {
    tenon_make_set_string(make, "auto_pad", "same_upper");
  } else if (strcmp(mode, "SAME_LOWER") == 0) {
    tenon_make_set_string(make, "auto_pad", "same_lower");
  } else if (strcmp(mode, "VALID") != 0) { /* ONNX Runtime rounds up with ceil_mode here too */
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "auto_pad '%s' is invalid", mode);
  }
}

tenon_value_t microsoft_channels_first(tenon_make_t* make, tenon_value_t value) {
  return microsoft_moved(make, value, tenon_make_rank(make, value) - 1, 1);
}

tenon_value_t microsoft_channels_last(tenon_make_t* make, tenon_value_t value) {
  return microsoft_moved(make, value, 1, tenon_make_rank(make, value) - 1);
}
