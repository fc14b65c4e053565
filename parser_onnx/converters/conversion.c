/* From one element type to another. */
#include <string.h>

#include "families.h"
#include "types.h"

/* Until opset 5 the type is a name. */
static tenon_dtype_t dtype_by_name(tenon_make_t* make, const char* name) {
  static const struct {
    const char* name;
    tenon_dtype_t dtype;
  } names[] = {
      {"FLOAT", TENON_DTYPE_FLOAT32},  {"UINT8", TENON_DTYPE_UINT8},
      {"INT8", TENON_DTYPE_INT8},      {"UINT16", TENON_DTYPE_UINT16},
      {"INT16", TENON_DTYPE_INT16},    {"INT32", TENON_DTYPE_INT32},
      {"INT64", TENON_DTYPE_INT64},    {"STRING", TENON_DTYPE_STRING},
      {"BOOL", TENON_DTYPE_BOOL},      {"FLOAT16", TENON_DTYPE_FLOAT16},
      {"DOUBLE", TENON_DTYPE_FLOAT64}, {"UINT32", TENON_DTYPE_UINT32},
      {"UINT64", TENON_DTYPE_UINT64},
  };
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    if (strcmp(names[i].name, name) == 0) {
      return names[i].dtype;
    }
  }
  tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "'%s' is no element type", name);
  return TENON_DTYPE_FLOAT32;
}

void tenon__onnx_cast_input(tenon_make_t* make, tenon_dtype_t to) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_dtype_t from = tenon_make_dtype(make, x);
  if (from == to) {
    tenon_make_output(make, 0, x);
    return;
  }
  if (to == TENON_DTYPE_STRING) {
    tenon_make_begin(make, "number_to_text");
  } else if (from == TENON_DTYPE_STRING) {
    tenon_make_begin(make, "text_to_number");
    tenon_make_set_dtype(make, "to", to);
  } else {
    tenon_make_begin(make, "cast");
    tenon_make_set_dtype(make, "to", to);
    tenon_make_pass_all(make, "saturate round_mode");
  }
  tenon_make_add(make, x);
  tenon_make_end_outputs(make);
}

static void cast(tenon_make_t* make) {
  if (!tenon_make_has(make, "to")) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "attribute 'to' is missing");
  }
  tenon__onnx_cast_input(make, tenon_make_version(make) < 6
                                   ? dtype_by_name(make, tenon_make_get_string(make, "to", ""))
                                   : tenon__onnx_get_dtype(make, "to", TENON_DTYPE_FLOAT32));
}

static void cast_like(tenon_make_t* make) {
  tenon__onnx_cast_input(make, tenon_make_dtype(make, tenon_make_input(make, 1)));
}

static void bit_cast(tenon_make_t* make) {
  tenon_make_begin(make, "bit_cast");
  tenon_make_set_dtype(make, "to", tenon__onnx_get_dtype(make, "to", TENON_DTYPE_FLOAT32));
  tenon_make_add_inputs(make, 0);
  tenon_make_end_outputs(make);
}

#define MADE(type, since, until, function) \
  TENON__ONNX_ROW("", type, since, until, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    MADE("BitCast", 26, 0, bit_cast),
    MADE("Cast", 1, 0, cast),
    MADE("CastLike", 15, 0, cast_like),
};
TENON__ONNX_FAMILY(conversion);
