/* A layer that Caffe never had: y = x sigmoid(sharpness x + b), with one learned b for each
 * channel. */
#include <stdio.h>

#include "tenon/maker.h"

TENON_PLUGIN_MANIFEST("acme_layer", "1.0.0", "offers: converter caffe::AcmeGate\n");

static void gate(tenon_make_t* make) {
  const tenon_value_t x = tenon_make_input(make, 0);
  const int64_t channels = tenon_make_dim(make, x, 1);
  const int64_t dims[3] = {channels, 1, 1};
  char text[80];
  if (tenon_make_get_string(make, "acme_param.mode", NULL) == NULL) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA, "acme_param needs a mode");
    return;
  }
  (void)snprintf(text, sizeof(text), "y = a * sigmoid(a * (%.9g) + b)",
                 tenon_make_get_float(make, "acme_param.curve.sharpness", 1));
  tenon_make_output(make, 0, tenon_make_math_2(make, text, x, tenon_make_blob(make, 0, 3, dims)));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON_MAKE_ROW(convert, "caffe", "", "AcmeGate", 1, 0, gate, NULL, NULL)};
static TENON_MAKE_CONVERT(convert) {
  return TENON_MAKE_BY(rows);
}

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("converter/1", rows)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "acme_layer", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
