/* Fourier transforms. */
#include "families.h"

/* Before opset 20 the axis is an attribute. */
static void dft(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  tenon_value_t axis = {0};
  int64_t known = tenon_make_get_int(make, "axis", 1);
  uint32_t count = 1;
  if (tenon_make_version(make) >= 20) {
    known = -2;
    axis = tenon_make_input(make, 2);
  }
  if (tenon_make_present(axis)) {
    if (tenon_make_known_ints(make, axis, &known, 1, &count) && count == 1) {
      axis.id = 0;
    } else {
      axis = tenon_make_cast(make, axis, TENON_DTYPE_INT64);
    }
  }
  tenon_make_begin(make, "dft");
  tenon_make_pass_all(make, "inverse onesided");
  tenon_make_set_int(make, "fixed_axis", known);
  tenon_make_add(make, x);
  tenon_make_add(make, tenon_make_input(make, 1));
  tenon_make_add(make, axis);
  tenon_make_end_outputs(make);
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON__ONNX_ROW("", "DFT", 17, 0, dft, NULL, NULL),
    TENON__ONNX_ROW("", "STFT", 17, 0, tenon_make_same, "stft", "onesided"),
};
TENON__ONNX_FAMILY(signal);
