/* What UFF and TensorFlow never had: a converter for the operator AcmeGate of frozen graphs, which
 * is the operation _AcmeGate of UFF files: y = x sigmoid(sharpness x). And an operator of its own,
 * "_acme>Shift" in UFF files and "acme>Shift" in graphs, which needs no converter. */
#include <stdio.h>

#include "tenon/maker.h"

TENON_PLUGIN_MANIFEST("acme_operation", "1.0.0",
                      "offers: converter uff:tensorflow:AcmeGate\n"
                      "offers: operator acme.shift/1\n");

static void gate(tenon_make_t* make) {
  char text[80];
  (void)snprintf(text, sizeof(text), "y = a * sigmoid(a * (%.9g))",
                 tenon_make_get_float(make, "sharpness", 1));
  tenon_make_output(make, 0, tenon_make_math_1(make, text, tenon_make_input(make, 0)));
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENON_MAKE_ROW(convert, "uff", "tensorflow", "AcmeGate", 1, 0, gate, NULL, NULL)};
static TENON_MAKE_CONVERT(convert) {
  return TENON_MAKE_BY(rows);
}

static const tenon_attribute_descriptor_t attributes[] = {
    {sizeof(*attributes), .name = "by", .kind = TENON_ATTRIBUTE_FLOAT, .default_text = "0.5"}};
static const tenon_type_variable_t types[] = {{sizeof(*types), .name = "T", .allowed = "float"}};
static const tenon_port_t inputs[] = {{sizeof(*inputs), .name = "x", .type = "T"}};
static const tenon_port_t outputs[] = {{sizeof(*outputs), .name = "y", .type = "T"}};
static const tenon_case_t cases[] = {{sizeof(*cases), .text = "y = x + by"}};
static const tenon_operator_t operators[] = {
    {sizeof(*operators), .name = "acme.shift/1", .attributes = TENON_LIST(attributes),
     .types = TENON_LIST(types), .inputs = TENON_LIST(inputs), .outputs = TENON_LIST(outputs),
     .cases = TENON_LIST(cases)}};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("converter/1", rows),
                                                    TENON_OFFERING("operator/1", operators)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "acme_operation",
                                      .version = "1.0.0", .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
