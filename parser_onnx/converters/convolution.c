/* Convolutions. */
#include <string.h>

#include "families.h"
#include "windows.h"

void tenon__onnx_window_attributes(tenon_make_t* make) {
  static const struct {
    const char* theirs;
    const char* ours;
  } modes[] = {{"NOTSET", "explicit"},
               {"", "explicit"},
               {"SAME_UPPER", "same_upper"},
               {"SAME_LOWER", "same_lower"},
               {"VALID", "valid"}};
  const char* mode = tenon_make_get_string(make, "auto_pad", "NOTSET");
  const char* ours = NULL;
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) {
    ours = strcmp(modes[i].theirs, mode) == 0 ? modes[i].ours : ours;
  }
  if (ours == NULL) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "auto_pad '%s' is not known", mode);
    return;
  }
  tenon_make_pass_all(make, "strides dilations");
  if (strcmp(ours, "explicit") == 0) {
    tenon_make_pass_all(make, "pads");
  } else {
    tenon_make_set_string(make, "auto_pad", ours);
  }
}

/* Conv, ConvInteger: kernel_shape says what the weights say. */
static void convolution(tenon_make_t* make) {
  tenon_make_begin(make, make->row->op);
  tenon__onnx_window_attributes(make);
  tenon_make_pass_all(make, "group>groups");
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

/* Some writers give extents of batch and channels too. */
static void deconvolution(tenon_make_t* make) {
  const int64_t* shape = NULL;
  size_t count = 0;
  const bool has_shape = tenon_make_get_ints(make, "output_shape", &shape, &count);
  const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 0));
  const size_t extra = has_shape && count == rank && rank >= 2 ? 2 : 0;
  tenon_make_begin(make, "deconvolution");
  tenon__onnx_window_attributes(make);
  tenon_make_pass_all(make, "group>groups output_padding");
  if (has_shape) {
    tenon_make_set_ints(make, "output_shape", shape + extra, count - extra);
  }
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

static void col2im(tenon_make_t* make) {
  const tenon_value_t image = tenon_make_cast(make, tenon_make_input(make, 1), TENON_DTYPE_INT64);
  const tenon_value_t block = tenon_make_cast(make, tenon_make_input(make, 2), TENON_DTYPE_INT64);
  tenon_make_begin(make, "col2im");
  tenon_make_pass_all(make, "strides dilations pads");
  tenon_make_add(make, tenon_make_input(make, 0));
  tenon_make_add(make, image);
  tenon_make_add(make, block);
  tenon_make_end_outputs(make);
}

#define ROW(type, function, op, attributes) \
  TENON__ONNX_ROW("", type, 1, 0, function, op, attributes)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    ROW("CausalConvWithState", tenon_make_same, "causal_convolution", "activation"),
    ROW("Col2Im", col2im, NULL, NULL),
    ROW("Conv", convolution, "convolution", NULL),
    ROW("ConvInteger", convolution, "convolution_integer", NULL),
    ROW("ConvTranspose", deconvolution, NULL, NULL),
    ROW("DeformConv", tenon_make_same, "deformable_convolution",
        "strides dilations pads group>groups offset_group>offset_groups"),
};
TENON__ONNX_FAMILY(convolution);
