/* Converters for the nodes HardShrink and Affine of the domain `acme` in ONNX files. They make
 * expressions and standard operators, so that no kernel is needed. */
#include "tenon/maker.h"

TENON_PLUGIN_MANIFEST("acme", "1.0.0",
                      "licence: your licence\n"
                      "offers: converter onnx:acme:HardShrink\n"
                      "offers: converter onnx:acme:Affine\n");

/* y = 0 if |x| <= lambda, else x */
static void hard_shrink(tenon_make_t* make) {
  const double lambda = tenon_make_get_float(make, "lambda", 0.5);
  if (lambda < 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "lambda %g is negative", lambda);
  }
  const tenon_value_t x = tenon_make_input(make, 0);
  const tenon_value_t bound = tenon_make_number(make, tenon_make_dtype(make, x), lambda);
  tenon_make_output(make, 0,
                    tenon_make_math_2(make, "y = abs(a) > b ? a : cast(0, f32)", x, bound));
}

/* y = x * scale + offset; the offset is optional */
static void affine(tenon_make_t* make) {
  tenon_value_t y = tenon_make_2(make, "mul", tenon_make_input(make, 0), tenon_make_input(make, 1));
  if (tenon_make_has_input(make, 2)) {
    y = tenon_make_2(make, "add", y, tenon_make_input(make, 2));
  }
  tenon_make_output(make, 0, y);
}

static TENON_MAKE_CONVERT(convert);

/* Each row: a node type, the versions of its domain (from 1 on), and its function. */
#define ROW(type, function) \
  TENON_MAKE_ROW(convert, "onnx", "acme", type, 1, 0, function, NULL, NULL)
static const tenon_make_row_t rows[] = {
    ROW("HardShrink", hard_shrink),
    ROW("Affine", affine),
};

static TENON_MAKE_CONVERT(convert) {
  return TENON_MAKE_BY(rows);
}

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("converter/1", rows)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "acme", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
