/* Activations and functions of one operand, each as a network of one node. */
#include "tests/api/session.h"

typedef struct row_t {
  const char* op;
  const char* input;
  const char* expected;
  tenon_attribute_t attributes[3];
} row_t;

static const row_t rows[] = {
    {"relu", "activation.x", "activation.relu", {{0}}},
    {"sigmoid", "activation.x", "activation.sigmoid", {{0}}},
    {"tanh", "activation.x", "activation.tanh", {{0}}},
    {"leaky_relu", "activation.x", "activation.leaky_relu", {ROW_FLOAT("alpha", 0.1)}},
    {"elu", "activation.x", "activation.elu", {ROW_FLOAT("alpha", 0.7)}},
    {"selu", "activation.x", "activation.selu", {{0}}},
    {"celu", "activation.x", "activation.celu", {ROW_FLOAT("alpha", 1.3)}},
    {"softplus", "activation.x", "activation.softplus", {{0}}},
    {"softsign", "activation.x", "activation.softsign", {{0}}},
    {"hard_sigmoid",
     "activation.x",
     "activation.hard_sigmoid",
     {ROW_FLOAT("alpha", 0.3), ROW_FLOAT("beta", 0.4)}},
    {"hard_swish", "activation.x", "activation.hard_swish", {{0}}},
    {"mish", "activation.x", "activation.mish", {{0}}},
    {"gelu", "activation.x", "activation.gelu", {{0}}},
    {"gelu", "activation.x", "activation.gelu_tanh", {ROW_TEXT("approximate", "tanh")}},
    {"thresholded_relu", "activation.x", "activation.thresholded_relu", {ROW_FLOAT("alpha", 1.5)}},
    {"shrink",
     "activation.x",
     "activation.shrink",
     {ROW_FLOAT("lambda", 1.5), ROW_FLOAT("bias", 0.5)}},
    {"swish", "activation.x", "activation.swish", {ROW_FLOAT("alpha", 1.5)}},
    {"neg", "unary.x", "unary.neg", {{0}}},
    {"abs", "unary.x", "unary.abs", {{0}}},
    {"sign", "unary.x", "unary.sign", {{0}}},
    {"floor", "unary.x", "unary.floor", {{0}}},
    {"ceil", "unary.x", "unary.ceil", {{0}}},
    {"round", "unary.halves", "unary.round", {{0}}},
    {"sqrt", "unary.positive", "unary.sqrt", {{0}}},
    {"reciprocal", "unary.positive", "unary.reciprocal", {{0}}},
    {"exp", "unary.x", "unary.exp", {{0}}},
    {"log", "unary.positive", "unary.log", {{0}}},
    {"erf", "unary.x", "unary.erf", {{0}}},
    {"sin", "unary.x", "unary.sin", {{0}}},
    {"cos", "unary.x", "unary.cos", {{0}}},
    {"tan", "unary.x", "unary.tan", {{0}}},
    {"asin", "unary.unit", "unary.asin", {{0}}},
    {"acos", "unary.unit", "unary.acos", {{0}}},
    {"atan", "unary.x", "unary.atan", {{0}}},
    {"sinh", "unary.x", "unary.sinh", {{0}}},
    {"cosh", "unary.x", "unary.cosh", {{0}}},
    {"asinh", "unary.x", "unary.asinh", {{0}}},
    {"acosh", "unary.above", "unary.acosh", {{0}}},
    {"atanh", "unary.unit", "unary.atanh", {{0}}},
    {"is_nan", "unary.special", "unary.is_nan", {{0}}},
    {"is_inf", "unary.special", "unary.is_inf", {{0}}},
    {"logical_not", "unary.flags", "unary.logical_not", {{0}}},
    {"bitwise_not", "unary.bits", "unary.bitwise_not", {{0}}},
};

static void check_row(const row_t* row) {
  char op[64];
  session_t s;
  (void)snprintf(op, sizeof op, "standard.%s/1", row->op);
  if (!session_begin(&s, NULL)) {
    return;
  }
  /* Functions within 4 ulp; tan near its poles and the compositions (mish) lose a few more. */
  s.tolerance = 4e-6;
  const tenon_value_t x = session_input(&s, row->input);
  session_output(&s, node(&s, op, &x, 1, row->attributes), row->expected);
  session_check(&s);
  session_end(&s);
}

TENON_TEST(each_function_of_one_operand) {
  for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
    check_row(&rows[i]);
  }
}

TENON_TEST(activations_with_operands) {
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "activation.x");
  const tenon_value_t slope = session_constant(&s, "activation.slope");
  const tenon_value_t low = session_constant(&s, "activation.low");
  const tenon_value_t high = session_input(&s, "activation.high");
  session_output(&s, node(&s, "standard.prelu/1", VALUES(x, slope), NO_ATTRIBUTES),
                 "activation.prelu");
  session_output(&s, node(&s, "standard.clip/1", VALUES(x, low, high), NO_ATTRIBUTES),
                 "activation.clip");
  s.tolerance = 0; /* one multiplication, and none: nothing may differ */
  session_check(&s);
  session_end(&s);
}
