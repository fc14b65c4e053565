/* Convolutions with the sums and activations that ONNX Runtime fuses into them, and windows over
 * channels-last images. */
#include "convolution.h"

#include "families.h"
#include "steps.h"

/* activation_params are a list: alpha and beta, or the bounds of Clip. */
static microsoft_activation_t activation_of(tenon_make_t* make) {
  microsoft_activation_t activation = {.name = tenon_make_get_string(make, "activation", "")};
  const double* numbers = NULL;
  size_t count = 0;
  (void)tenon_make_get_floats(make, "activation_params", &numbers, &count);
  for (size_t k = 0; k < count && k < 3; ++k) {
    activation.numbers[k] = numbers[k];
    activation.has |= 1u << k;
  }
  return activation;
}

tenon_value_t microsoft_convolve(tenon_make_t* make, const char* op, uint32_t count,
                                 const tenon_value_t* operands) {
  tenon_make_begin(make, op);
  microsoft_set_window(make);
  tenon_make_pass_all(make, "group>groups");
  for (uint32_t k = 0; k < count; ++k) {
    tenon_make_add(make, operands[k]);
  }
  return tenon_make_end(make);
}

tenon_value_t microsoft_pool(tenon_make_t* make, const char* op, tenon_value_t x,
                             const char* attributes) {
  tenon_make_begin(make, op);
  microsoft_set_window(make);
  tenon_make_pass_all(make, "kernel_shape ceil_mode");
  tenon_make_pass_all(make, attributes);
  tenon_make_add(make, x);
  return tenon_make_end(make);
}

tenon_value_t microsoft_convolution(tenon_make_t* make, tenon_value_t x, tenon_value_t w,
                                    tenon_value_t z) {
  const microsoft_activation_t activation = activation_of(make);
  const tenon_value_t operands[3] = {x, w, tenon_make_input(make, 2)};
  tenon_value_t y = microsoft_convolve(make, "convolution", 3, operands);
  if (tenon_make_present(z)) {
    y = tenon_make_2(make, "add", y, z);
  }
  return microsoft_activate(make, y, &activation);
}

static void fused_conv(tenon_make_t* make) {
  tenon_make_output(make, 0,
                    microsoft_convolution(make, tenon_make_input(make, 0),
                                          tenon_make_input(make, 1), tenon_make_input(make, 3)));
}

/* x, z and y have the channels last. The weights are [out, in, ...] as in Conv. */
static void nhwc_fused_conv(tenon_make_t* make) {
  tenon_value_t z = tenon_make_input(make, 3);
  const tenon_value_t x = microsoft_channels_first(make, tenon_make_input(make, 0));
  if (tenon_make_present(z)) {
    z = microsoft_channels_first(make, z);
  }
  const tenon_value_t y = microsoft_convolution(make, x, tenon_make_input(make, 1), z);
  tenon_make_output(make, 0, microsoft_channels_last(make, y));
}

static void nhwc_max_pool(tenon_make_t* make) {
  microsoft_refuse_outputs(make, 1, "it has the values only");
  const tenon_value_t x = microsoft_channels_first(make, tenon_make_input(make, 0));
  tenon_make_output(make, 0,
                    microsoft_channels_last(make, microsoft_pool(make, "max_pool", x, "")));
}

/* The pads are an input, which must be constant: extents of the result depend on it. */
static void dynamic_pads(tenon_make_t* make) {
  int64_t pads[TENON_MAKE_LIST_LIMIT];
  uint32_t count = 0;
  if (tenon_make_has_input(make, 2) && !tenon_make_known_ints(make, tenon_make_input(make, 2), pads,
                                                              TENON_MAKE_LIST_LIMIT, &count)) {
    tenon_make_fail(make, TENON_ERROR_UNSUPPORTED,
                    "input 2, Pads, is not constant; give its value by --input-constant");
    return;
  }
  tenon_make_begin(make, "deconvolution");
  microsoft_set_window(make);
  tenon_make_pass_all(make, "group>groups output_padding");
  if (count > 0) {
    tenon_make_set_ints(make, "pads", pads, count);
  }
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, tenon_make_input(make, 1));
  tenon_make_add(make, tenon_make_input(make, 3));
  tenon_make_end_outputs(make);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MICROSOFT_ROW("ConvTransposeWithDynamicPads", dynamic_pads, NULL, NULL),
    MICROSOFT_ROW("FusedConv", fused_conv, NULL, NULL),
    MICROSOFT_ROW("NhwcFusedConv", nhwc_fused_conv, NULL, NULL),
    MICROSOFT_ROW("NhwcMaxPool", nhwc_max_pool, NULL, NULL),
};
MICROSOFT_FAMILY(convolution);
