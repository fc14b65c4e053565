/* Normalisations of rows, each defined by one expression with reductions. They have no kernels. */
#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("row_norms", "1.0.0",
                      "licence: Apache-2.0\n"
                      "offers: operator row_norms.softmax_one/1\n"
                      "offers: operator row_norms.power_norm/1\n"
                      "offers: operator row_norms.range_norm/1\n"
                      "offers: operator row_norms.scale_norm/1\n");

static const tenon_type_variable_t types[] = {
    {.size = sizeof(types[0]), .name = "T", .allowed = "float"}};
static const tenon_port_t x[] = {{.size = sizeof(x[0]), .name = "x", .type = "T"}};
static const tenon_port_t x_and_gain[] = {{.size = sizeof(x[0]), .name = "x", .type = "T"},
                                          {.size = sizeof(x[0]), .name = "gain", .type = "T"}};
static const tenon_port_t y[] = {{.size = sizeof(y[0]), .name = "y", .type = "T"}};

#define INTEGER(attribute, value)                                      \
  {                                                                    \
    .size = sizeof(tenon_attribute_descriptor_t), .name = (attribute), \
    .kind = TENON_ATTRIBUTE_INT, .default_text = (value)               \
  }
#define NUMBER(attribute, value)                                       \
  {                                                                    \
    .size = sizeof(tenon_attribute_descriptor_t), .name = (attribute), \
    .kind = TENON_ATTRIBUTE_FLOAT, .default_text = (value)             \
  }
static const tenon_attribute_descriptor_t axis[] = {INTEGER("axis", "-1")};
static const tenon_attribute_descriptor_t axis_and_epsilon[] = {INTEGER("axis", "-1"),
                                                                NUMBER("epsilon", "1e-5")};
static const tenon_attribute_descriptor_t of_power_norm[] = {
    INTEGER("axis", "-1"), NUMBER("p", "2.0"), NUMBER("epsilon", "1e-12")};

/* A message for rows that there are not, in place of the expression's. */
static const tenon_check_t checks[] = {
    {.size = sizeof(checks[0]),
     .condition = "axis >= -rank(x) && axis < rank(x)",
     .message = "axis {axis} is outside of the {rank(x)} axes of x"}};

#define EXPRESSION(name, body) \
  static const tenon_case_t name[] = {{.size = sizeof(tenon_case_t), .text = (body)}}
/* Softmax with 1 added to the sum, so that a row may have no weight at all. The maximum keeps the
 * exponentials in range; the 1 is exp(0), so it takes part in the maximum. */
EXPRESSION(softmax_one,
           "let m = max(max(x, axis), 0); let e = exp(x - m); y = e / (sum(e, axis) + exp(-m))");
EXPRESSION(power_norm, "y = x / (pow(sum(pow(abs(x), p), axis), 1 / p) + epsilon)");
/* From 0 to 1. */
EXPRESSION(range_norm, "let low = min(x, axis); y = (x - low) / (max(x, axis) - low + epsilon)");
/* Nguyen and Salazar, Transformers without Tears, 2019 */
EXPRESSION(scale_norm, "y = gain * x / (sqrt(sum(x * x, axis)) + epsilon)");

#define OPERATOR(identity, takes, meaning)                                             \
  .size = sizeof(tenon_operator_t), .name = (identity), .types = TENON_LIST(types),    \
  .inputs = TENON_LIST(takes), .outputs = TENON_LIST(y), .checks = TENON_LIST(checks), \
  .cases = TENON_LIST(meaning)
static const tenon_operator_t operators[] = {
    {OPERATOR("row_norms.softmax_one/1", x, softmax_one), .attributes = TENON_LIST(axis)},
    {OPERATOR("row_norms.power_norm/1", x, power_norm), .attributes = TENON_LIST(of_power_norm)},
    {OPERATOR("row_norms.range_norm/1", x, range_norm), .attributes = TENON_LIST(axis_and_epsilon)},
    {OPERATOR("row_norms.scale_norm/1", x_and_gain, scale_norm),
     .attributes = TENON_LIST(axis_and_epsilon)},
};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "row_norms", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
