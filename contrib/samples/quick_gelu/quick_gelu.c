/* Rewrites of x * sigmoid(c * x), which CLIP and others export as three nodes, into the operator
 * swish with alpha = c. A pattern does not commute, so each order of the factors is a pattern of
 * its own. A text cannot compute an attribute from a constant, so a function builds the
 * replacement. */
#include <math.h>
#include <string.h>

#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("quick_gelu", "1.0.0",
                      "licence: Apache-2.0\n"
                      "offers: rewrite c_x_sigmoid_x\n"
                      "offers: rewrite x_c_sigmoid_x\n"
                      "offers: rewrite x_sigmoid_c_x\n"
                      "offers: rewrite x_sigmoid_x_c\n");

/* True if the value is one number that is known when building. */
static int is_number(const tenon_rewriting_t* call, tenon_value_t value, float* out_number) {
  tenon_value_type_t type = {.size = sizeof(type)};
  int64_t count = 1;
  if (call->build->type(call->builder, value, &type) != TENON_OK || type.constant_data == NULL ||
      type.dtype != TENON_DTYPE_FLOAT32) {
    return 0;
  }
  for (uint32_t k = 0; k < type.rank; ++k) {
    count *= type.dims[k];
  }
  if (count == 1) {
    memcpy(out_number, type.constant_data, sizeof(*out_number));
  }
  return count == 1 && isfinite(*out_number);
}

/* A constant of a higher rank than x would add axes to the result. */
static int has_lower_rank(const tenon_rewriting_t* call, tenon_value_t a, tenon_value_t b) {
  tenon_value_type_t type_a = {.size = sizeof(type_a)};
  tenon_value_type_t type_b = {.size = sizeof(type_b)};
  return call->build->type(call->builder, a, &type_a) == TENON_OK &&
         call->build->type(call->builder, b, &type_b) == TENON_OK && type_a.rank <= type_b.rank;
}

static int32_t make_swish(const tenon_rewriting_t* call, tenon_value_t x, tenon_value_t c,
                          tenon_value_t* out) {
  const tenon_builder_table_t* build = call->build;
  float alpha = 0;
  if (!is_number(call, c, &alpha) || !has_lower_rank(call, c, x)) {
    return 0;
  }
  if (build->begin(call->builder, "standard.swish/1", NULL) != TENON_OK) {
    return 0;
  }
  if (build->attribute_float(call->builder, "alpha", (double)alpha) != TENON_OK ||
      build->add_input(call->builder, x) != TENON_OK) {
    build->cancel(call->builder);
    return 0;
  }
  return build->end(call->builder, out, 1) == TENON_OK;
}

/* Inputs are in the order in which a walk from the last statement meets them: of "y = mul(x, s)" x
 * is the first, whatever the order in m. */
static int32_t rewrite_c_x(const tenon_rewriting_t* call, tenon_value_t* out) {
  return make_swish(call, call->inputs[1], call->inputs[0], out);
}
static int32_t rewrite_x_c(const tenon_rewriting_t* call, tenon_value_t* out) {
  return make_swish(call, call->inputs[0], call->inputs[1], out);
}

#define SIGMOID_OF(product) "m = standard.mul/1(" product "); s = standard.sigmoid/1(m); "
static const tenon_rewrite_t rewrites[] = {
    {.size = sizeof(rewrites[0]),
     .name = "x_sigmoid_c_x",
     .pattern = SIGMOID_OF("c, x") "y = standard.mul/1(x, s)",
     .rewrite = rewrite_x_c},
    {.size = sizeof(rewrites[0]),
     .name = "x_sigmoid_x_c",
     .pattern = SIGMOID_OF("x, c") "y = standard.mul/1(x, s)",
     .rewrite = rewrite_x_c},
    {.size = sizeof(rewrites[0]),
     .name = "c_x_sigmoid_x",
     .pattern = SIGMOID_OF("c, x") "y = standard.mul/1(s, x)",
     .rewrite = rewrite_c_x},
    {.size = sizeof(rewrites[0]),
     .name = "x_c_sigmoid_x",
     .pattern = SIGMOID_OF("x, c") "y = standard.mul/1(s, x)",
     .rewrite = rewrite_x_c},
};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("rewrite/1", rewrites)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = "quick_gelu", .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
