/* A whole plugin: squareplus, a smooth relu without exponentials (Barron, 2021). It says what the
 * operator means and brings no kernel: every device's expression kernel runs it, and fuses it. */
#include "tenon/plugin.h"

/* Read without running anything: so the registry knows what is here and when to load it. */
TENON_PLUGIN_MANIFEST("squareplus", "1.0.0",
                      "licence: Apache-2.0\n"
                      "offers: operator example.squareplus/1\n");

static const tenon_attribute_descriptor_t attributes[] = {
    {sizeof(*attributes), .name = "b", .kind = TENON_ATTRIBUTE_FLOAT, .default_text = "4.0"}};
static const tenon_type_variable_t types[] = {{sizeof(*types), .name = "T", .allowed = "float"}};
static const tenon_port_t inputs[] = {{sizeof(*inputs), .name = "x", .type = "T"}};
static const tenon_port_t outputs[] = {{sizeof(*outputs), .name = "y", .type = "T"}};

/* The meaning, in the language of sdk/docs/expressions.md; the shape follows from it. */
static const tenon_case_t cases[] = {{sizeof(*cases), .text = "y = (x + sqrt(x * x + b)) / 2"}};

static const tenon_operator_t operators[] = {
    {sizeof(*operators), .name = "example.squareplus/1", .attributes = TENON_LIST(attributes),
     .types = TENON_LIST(types), .inputs = TENON_LIST(inputs), .outputs = TENON_LIST(outputs),
     .cases = TENON_LIST(cases)}};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "squareplus", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host; /* nothing is asked of the host */
  return &plugin;
}
