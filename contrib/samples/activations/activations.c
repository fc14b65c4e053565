/* Activations that ONNX does not have, each defined by one expression. They have no kernels. All
 * devices compute them by their expression kernels, and fuse them with their neighbours. */
#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("activations", "1.0.0",
                      "licence: Apache-2.0\n"
                      "offers: operator activations.star_relu/1\n"
                      "offers: operator activations.squareplus/1\n"
                      "offers: operator activations.serf/1\n"
                      "offers: operator activations.smelu/1\n");

static const tenon_type_variable_t types[] = {
    {.size = sizeof(types[0]), .name = "T", .allowed = "float"}};
static const tenon_port_t inputs[] = {{.size = sizeof(inputs[0]), .name = "x", .type = "T"}};
static const tenon_port_t outputs[] = {{.size = sizeof(outputs[0]), .name = "y", .type = "T"}};

#define NUMBER(attribute, value)                                       \
  {                                                                    \
    .size = sizeof(tenon_attribute_descriptor_t), .name = (attribute), \
    .kind = TENON_ATTRIBUTE_FLOAT, .default_text = (value)             \
  }
static const tenon_attribute_descriptor_t of_star_relu[] = {NUMBER("scale", "0.8944"),
                                                            NUMBER("bias", "-0.4472")};
static const tenon_attribute_descriptor_t of_squareplus[] = {NUMBER("b", "4.0")};
static const tenon_attribute_descriptor_t of_smelu[] = {NUMBER("beta", "1.0")};

#define EXPRESSION(name, body) \
  static const tenon_case_t name[] = {{.size = sizeof(tenon_case_t), .text = (body)}}
/* Yu et al., MetaFormer Baselines for Vision, 2022 */
EXPRESSION(star_relu, "let r = max(x, 0); y = scale * r * r + bias");
/* Barron, Squareplus, 2021 */
EXPRESSION(squareplus, "y = (x + sqrt(x * x + b)) / 2");
/* Nag et al., SERF, 2021 */
EXPRESSION(serf, "y = x * erf(softplus(x))");
/* Shamir et al., Smooth Activations and Reproducibility, 2020 */
EXPRESSION(smelu, "y = x >= beta ? x : x <= -beta ? x * 0 : (x + beta) * (x + beta) / (4 * beta)");

#define OPERATOR(identity, meaning)                                                 \
  .size = sizeof(tenon_operator_t), .name = (identity), .types = TENON_LIST(types), \
  .inputs = TENON_LIST(inputs), .outputs = TENON_LIST(outputs), .cases = TENON_LIST(meaning)
static const tenon_operator_t operators[] = {
    {OPERATOR("activations.star_relu/1", star_relu), .attributes = TENON_LIST(of_star_relu)},
    {OPERATOR("activations.squareplus/1", squareplus), .attributes = TENON_LIST(of_squareplus)},
    {OPERATOR("activations.serf/1", serf)},
    {OPERATOR("activations.smelu/1", smelu), .attributes = TENON_LIST(of_smelu)},
};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "activations",
                                      .version = "1.0.0", .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
