/* Steps of optimisers: expressions over each tensor and what belongs to it. gradient.c has
 * Gradient. */
#include <stdio.h>
#include <string.h>

#include "families.h"

enum { TEXT_SIZE = 512, FIRST_TENSOR = 2 };

/* Inputs are R, T, then all X, all G, all of each further kind. The node updates tensor i of
 * `count`. */
static tenon_value_t part(const tenon_make_t* make, uint32_t kind, uint32_t count, uint32_t i) {
  return tenon_make_input(make, FIRST_TENSOR + kind * count + i);
}

static uint32_t tensor_count(tenon_make_t* make, uint32_t kinds) {
  const uint32_t parts = make->input_count < FIRST_TENSOR ? 0 : make->input_count - FIRST_TENSOR;
  if (parts == 0 || parts % kinds != 0 || make->output_count != parts / kinds * (kinds - 1)) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "%u inputs and %u outputs do not fit",
                    make->input_count, make->output_count);
    return 0;
  }
  return parts / kinds;
}

/* T, a count, in the type of X. */
static tenon_value_t step_number(tenon_make_t* make) {
  const tenon_dtype_t dtype = tenon_make_dtype(make, tenon_make_input(make, FIRST_TENSOR));
  return tenon_make_cast(make, tenon_make_input(make, 1), dtype);
}

/* a X, b G, c H, d R, e T. */
static void adagrad(tenon_make_t* make) {
  const double norm = tenon_make_get_float(make, "norm_coefficient", 0);
  const double decay = tenon_make_get_float(make, "decay_factor", 0);
  const double epsilon = tenon_make_get_float(make, "epsilon", 1e-6);
  const uint32_t count = tensor_count(make, 3);
  const tenon_value_t t = step_number(make);
  char text[TEXT_SIZE];
  for (uint32_t i = 0; i < count; ++i) {
    tenon_value_t values[5] = {part(make, 0, count, i), part(make, 1, count, i),
                               part(make, 2, count, i), tenon_make_input(make, 0), t};
    (void)snprintf(text, sizeof(text), "let g = a * %.17g + b; y = c + g * g", norm);
    const tenon_value_t sum = tenon_make_math(make, text, 3, values);
    tenon_make_output(make, count + i, sum);
    (void)snprintf(text, sizeof(text),
                   "let g = a * %.17g + b; y = a - d / (1.0 + e * %.17g) * g / (sqrt(c) + %.17g)",
                   norm, decay, epsilon);
    values[2] = sum;
    tenon_make_output(make, i, tenon_make_math(make, text, 5, values));
  }
}

/* First a X, b G, c V or H; then a X, b V, c H, d R, e T. */
static void adam(tenon_make_t* make) {
  const double alpha = tenon_make_get_float(make, "alpha", 0.9);
  const double beta = tenon_make_get_float(make, "beta", 0.999);
  const double epsilon = tenon_make_get_float(make, "epsilon", 1e-6);
  const double norm = tenon_make_get_float(make, "norm_coefficient", 0);
  const double after = tenon_make_get_float(make, "norm_coefficient_post", 0);
  const uint32_t count = tensor_count(make, 4);
  const tenon_value_t t = step_number(make);
  char text[TEXT_SIZE];
  for (uint32_t i = 0; i < count; ++i) {
    tenon_value_t values[5] = {part(make, 0, count, i), part(make, 1, count, i),
                               part(make, 2, count, i), part(make, 3, count, i)};
    (void)snprintf(text, sizeof(text), "let g = a * %.17g + b; y = c * %.17g + g * %.17g", norm,
                   alpha, 1 - alpha);
    const tenon_value_t v = tenon_make_math(make, text, 3, values);
    values[2] = values[3];
    (void)snprintf(text, sizeof(text), "let g = a * %.17g + b; y = c * %.17g + g * g * %.17g", norm,
                   beta, 1 - beta);
    const tenon_value_t h = tenon_make_math(make, text, 3, values);
    const tenon_value_t last[5] = {values[0], v, h, tenon_make_input(make, 0), t};
    (void)snprintf(text, sizeof(text),
                   "let r = e > 0.0 ? d * sqrt(1.0 - pow(%.17g, e)) / (1.0 - pow(%.17g, e)) : d;"
                   "y = (a - r * b / (sqrt(c) + %.17g)) * %.17g",
                   beta, alpha, epsilon, 1 - after);
    tenon_make_output(make, i, tenon_make_math(make, text, 5, last));
    tenon_make_output(make, count + i, v);
    tenon_make_output(make, 2 * count + i, h);
  }
}

/* a X, b G, c V, d R or T. */
static void momentum(tenon_make_t* make) {
  const double alpha = tenon_make_get_float(make, "alpha", 0);
  const double beta = tenon_make_get_float(make, "beta", 0);
  const double norm = tenon_make_get_float(make, "norm_coefficient", 0);
  const bool is_nesterov = strcmp(tenon_make_get_string(make, "mode", "standard"), "nesterov") == 0;
  const uint32_t count = tensor_count(make, 3);
  const tenon_value_t t = step_number(make);
  char text[TEXT_SIZE];
  for (uint32_t i = 0; i < count; ++i) {
    tenon_value_t values[4] = {part(make, 0, count, i), part(make, 1, count, i),
                               part(make, 2, count, i), t};
    (void)snprintf(text, sizeof(text),
                   "let g = a * %.17g + b; y = c * %.17g + (d > 0.0 ? %.17g : 1.0) * g", norm,
                   alpha, beta);
    const tenon_value_t v = tenon_make_math(make, text, 4, values);
    if (is_nesterov) {
      (void)snprintf(text, sizeof(text), "let g = a * %.17g + b; y = a - d * (g + c * %.17g)", norm,
                     alpha);
    } else {
      (void)snprintf(text, sizeof(text), "y = a - d * c");
    }
    values[2] = v;
    values[3] = tenon_make_input(make, 0);
    tenon_make_output(make, i, tenon_make_math(make, text, 4, values));
    tenon_make_output(make, count + i, v);
  }
}

#define MADE(type, function) \
  TENON__ONNX_ROW("ai.onnx.preview.training", type, 1, 0, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MADE("Adagrad", adagrad),
    MADE("Adam", adam),
    MADE("Gradient", tenon__onnx_gradient),
    MADE("Momentum", momentum),
};
TENON__ONNX_FAMILY(training);
