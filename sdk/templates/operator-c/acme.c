/* acme.squareplus, a smooth relu: an operator that is defined by an expression. It has no kernel.
 * The expression kernels of all devices compute it, and fuse it with its neighbours. */
#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("acme", "1.0.0",
                      "licence: your licence\n"
                      "offers: operator acme.squareplus/1\n");

static const tenon_attribute_descriptor_t attributes[] = {{.size = sizeof(attributes[0]),
                                                           .name = "b",
                                                           .kind = TENON_ATTRIBUTE_FLOAT,
                                                           .default_text = "4.0",
                                                           .summary = "curvature at 0"}};
static const tenon_type_variable_t types[] = {
    {.size = sizeof(types[0]), .name = "T", .allowed = "float"}};
static const tenon_port_t inputs[] = {{.size = sizeof(inputs[0]), .name = "x", .type = "T"}};
static const tenon_port_t outputs[] = {{.size = sizeof(outputs[0]), .name = "y", .type = "T"}};

/* The language is described in expressions.md. */
static const tenon_case_t cases[] = {
    {.size = sizeof(cases[0]), .text = "y = (x + sqrt(x * x + b)) / 2"}};

static const tenon_operator_t operators[] = {{.size = sizeof(operators[0]),
                                              .name = "acme.squareplus/1",
                                              .summary = "(x + sqrt(x * x + b)) / 2",
                                              .attributes = TENON_LIST(attributes),
                                              .types = TENON_LIST(types),
                                              .inputs = TENON_LIST(inputs),
                                              .outputs = TENON_LIST(outputs),
                                              .cases = TENON_LIST(cases)}};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "acme", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
