/* Convolutions. */
#include <string.h>

#include "families.h"
#include "windows.h"

void tenon__make_window_attributes(tenon__make_t* make) {
  static const struct {
    const char* theirs;
    const char* ours;
  } modes[] = {{"NOTSET", "explicit"},
               {"", "explicit"},
               {"SAME_UPPER", "same_upper"},
               {"SAME_LOWER", "same_lower"},
               {"VALID", "valid"}};
  const char* mode = tenon__make_get_string(make, "auto_pad", "NOTSET");
  const char* ours = NULL;
  for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); ++i) {
    ours = strcmp(modes[i].theirs, mode) == 0 ? modes[i].ours : ours;
  }
  if (ours == NULL) {
    tenon__make_fail(make, TENON_ERROR_INVALID_DATA, "auto_pad '%s' is not known", mode);
    return;
  }
  tenon__make_pass_all(make, "strides dilations");
  if (strcmp(ours, "explicit") == 0) {
    tenon__make_pass_all(make, "pads");
  } else {
    tenon__make_set_string(make, "auto_pad", ours);
  }
}

/* Conv, ConvInteger: kernel_shape says what the weights say. */
static void convolution(tenon__make_t* make) {
  tenon__make_begin(make, make->row->op);
  tenon__make_window_attributes(make);
  tenon__make_pass_all(make, "group>groups");
  tenon__make_add_inputs(make, 0);
  tenon__make_end_outputs(make);
}

/* Some writers give extents of batch and channels too. */
static void deconvolution(tenon__make_t* make) {
  const int64_t* shape = NULL;
  size_t count = 0;
  const bool has_shape = tenon__make_get_ints(make, "output_shape", &shape, &count);
  const uint32_t rank = tenon__make_rank(make, tenon__make_input(make, 0));
  const size_t extra = has_shape && count == rank && rank >= 2 ? 2 : 0;
  tenon__make_begin(make, "deconvolution");
  tenon__make_window_attributes(make);
  tenon__make_pass_all(make, "group>groups output_padding");
  if (has_shape) {
    tenon__make_set_ints(make, "output_shape", shape + extra, count - extra);
  }
  tenon__make_add_inputs(make, 0);
  tenon__make_end_outputs(make);
}

static void col2im(tenon__make_t* make) {
  const tenon_value_t image = tenon__make_cast(make, tenon__make_input(make, 1), TENON_DTYPE_INT64);
  const tenon_value_t block = tenon__make_cast(make, tenon__make_input(make, 2), TENON_DTYPE_INT64);
  tenon__make_begin(make, "col2im");
  tenon__make_pass_all(make, "strides dilations pads");
  tenon__make_add(make, tenon__make_input(make, 0));
  tenon__make_add(make, image);
  tenon__make_add(make, block);
  tenon__make_end_outputs(make);
}

#define ROW(type, function, op, attributes) \
  TENON__MAKE_ROW("", type, 1, 0, function, op, attributes)

TENON__ONNX_FAMILY(convolution) = {
    ROW("CausalConvWithState", tenon__make_same, "causal_convolution", "activation"),
    ROW("Col2Im", col2im, NULL, NULL),
    ROW("Conv", convolution, "convolution", NULL),
    ROW("ConvInteger", convolution, "convolution_integer", NULL),
    ROW("ConvTranspose", deconvolution, NULL, NULL),
    ROW("DeformConv", tenon__make_same, "deformable_convolution",
        "strides dilations pads group>groups offset_group>offset_groups"),
};
