/* Fourier transforms. */
#include "families.h"

/* Before opset 20 the axis is an attribute. */
static void dft(tenon__make_t* make) {
  const tenon_value_t x = tenon__make_input(make, 0);
  tenon_value_t axis = {0};
  int64_t known = tenon__make_get_int(make, "axis", 1);
  uint32_t count = 1;
  if (tenon__make_version(make) >= 20) {
    known = -2;
    axis = tenon__make_input(make, 2);
  }
  if (tenon__make_present(axis)) {
    if (tenon__make_known_ints(make, axis, &known, 1, &count) && count == 1) {
      axis.id = 0;
    } else {
      axis = tenon__make_cast(make, axis, TENON_DTYPE_INT64);
    }
  }
  tenon__make_begin(make, "dft");
  tenon__make_pass_all(make, "inverse onesided");
  tenon__make_set_int(make, "fixed_axis", known);
  tenon__make_add(make, x);
  tenon__make_add(make, tenon__make_input(make, 1));
  tenon__make_add(make, axis);
  tenon__make_end_outputs(make);
}

TENON__ONNX_FAMILY(signal) = {
    TENON__MAKE_ROW("", "DFT", 17, 0, dft, NULL, NULL),
    TENON__MAKE_ROW("", "STFT", 17, 0, tenon__make_same, "stft", "onesided"),
};
