/* Arithmetic, comparisons and activations on elements. */
#include <string.h>

#include "families.h"

/* Expressions that a row writes. */
static void math_1(tenon_make_t* make) {
  if (tenon__uff_needs(make, 1)) {
    tenon_make_output(make, 0, tenon_make_math_1(make, make->row->op, tenon_make_input(make, 0)));
  }
}

static void math_2(tenon_make_t* make) {
  if (tenon__uff_needs(make, 2)) {
    tenon_make_output(make, 0,
                      tenon_make_math_2(make, make->row->op, tenon_make_input(make, 0),
                                        tenon_make_input(make, 1)));
  }
}

/* Along the channels: the last axis, or with NCHW the second. */
static void bias_add(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 2)) {
    return;
  }
  const tenon_value_t x = tenon_make_input(make, 0);
  const uint32_t rank = tenon_make_rank(make, x);
  tenon_value_t bias = tenon_make_input(make, 1);
  const char* format = tenon_make_get_string(make, "data_format", "NHWC");
  if (strncmp(format, "NC", 2) == 0 && rank > 2) {
    int64_t axes[TENON_MAKE_LIST_LIMIT];
    for (uint32_t i = 0; i + 2 < rank; ++i) {
      axes[i] = i + 1;
    }
    bias = tenon_make_unsqueeze(make, bias, axes, rank - 2);
  }
  tenon_make_output(make, 0, tenon_make_2(make, "add", x, bias));
}

static const char relu6[] = "y = clamp(a, 0, 6)";

/* Select's condition may be one for each row; SelectV2 broadcasts. */
static void select(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 3)) {
    return;
  }
  tenon_value_t condition = tenon_make_input(make, 0);
  const uint32_t own = tenon_make_rank(make, condition);
  const uint32_t rank = tenon_make_rank(make, tenon_make_input(make, 1));
  const bool is_rows = strcmp(make->row->converter.type, "Select") == 0 && own == 1 && rank > 1;
  if (is_rows) { /* a condition for each row of axis 0 */
    int64_t axes[TENON_MAKE_LIST_LIMIT];
    for (uint32_t i = 0; i + 1 < rank; ++i) {
      axes[i] = i + 1;
    }
    condition = tenon_make_unsqueeze(make, condition, axes, rank - 1);
  }
  tenon_make_output(
      make, 0,
      tenon_make_3(make, "where", condition, tenon_make_input(make, 1), tenon_make_input(make, 2)));
}

static void clip_by_value(tenon_make_t* make) {
  if (tenon__uff_needs(make, 3)) {
    const tenon_value_t inputs[3] = {tenon_make_input(make, 0), tenon_make_input(make, 1),
                                     tenon_make_input(make, 2)};
    tenon_make_output(make, 0, tenon_make_math(make, "y = max(min(a, c), b)", 3, inputs));
  }
}

/* ---- UFF: `func` names the function ---- */

typedef struct function_t {
  const char* name;
  const char* op; /* of the standard, or an expression */
} function_t;

static void by_function(tenon_make_t* make, const function_t* functions, size_t count,
                        uint32_t input_count) {
  const char* name = tenon_make_get_string(make, "func", "");
  if (!tenon__uff_needs(make, input_count)) {
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(functions[i].name, name) != 0) {
      continue;
    }
    const char* op = functions[i].op;
    const tenon_value_t a = tenon_make_input(make, 0);
    const tenon_value_t b = tenon_make_input(make, 1);
    const bool is_text = strchr(op, '=') != NULL;
    tenon_make_output(make, 0,
                      input_count == 2 ? tenon_make_2(make, op, a, b)
                      : is_text        ? tenon_make_math_1(make, op, a)
                                       : tenon_make_1(make, op, a));
    return;
  }
  tenon_make_fail(make, TENON_ERROR_UNSUPPORTED, "its func is '%s', which UFF does not have", name);
}

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static void uff_binary(tenon_make_t* make) {
  static const function_t functions[] = {{"add", "add"}, {"div", "div"}, {"max", "max"},
                                         {"min", "min"}, {"mul", "mul"}, {"pow", "pow"},
                                         {"sub", "sub"}};
  by_function(make, functions, COUNT_OF(functions), 2);
}

static void uff_unary(tenon_make_t* make) {
  static const function_t functions[] = {
      {"abs", "abs"},          {"acos", "acos"},   {"acosh", "acosh"},
      {"asin", "asin"},        {"asinh", "asinh"}, {"atan", "atan"},
      {"atanh", "atanh"},      {"ceil", "ceil"},   {"cos", "cos"},
      {"cosh", "cosh"},        {"exp", "exp"},     {"floor", "floor"},
      {"log", "log"},          {"neg", "neg"},     {"rsqrt", "y = rsqrt(a)"},
      {"sin", "sin"},          {"sinh", "sinh"},   {"sqrt", "sqrt"},
      {"square", "y = a * a"}, {"tan", "tan"}};
  const char* name = tenon_make_get_string(make, "func", "");
  if (strcmp(name, "pow") == 0) {
    tenon_make_fail(make, TENON_ERROR_INVALID_DATA,
                    "UFF's converter lost the exponent of this power: use the frozen graph");
    return;
  }
  by_function(make, functions, COUNT_OF(functions), 1);
}

static void uff_activation(tenon_make_t* make) {
  static const function_t functions[] = {
      {"elu", "elu"},         {"relu", "relu"},         {"relu6", relu6},         {"selu", "selu"},
      {"sigmoid", "sigmoid"}, {"softplus", "softplus"}, {"softsign", "softsign"}, {"tanh", "tanh"}};
  by_function(make, functions, COUNT_OF(functions), 1);
}

#define SAME(type, op) TENON__UFF_TF_ROW(type, tenon_make_same, op, NULL)
#define MATH_1(type, text) TENON__UFF_TF_ROW(type, math_1, text, NULL)
#define MATH_2(type, text) TENON__UFF_TF_ROW(type, math_2, text, NULL)
#define ALPHA "alpha=0.2"
/* As in C; FloorDiv and FloorMod round down. */
#define TRUNCATED "fmod=1"
#define TF(type, function) TENON__UFF_TF_ROW(type, function, NULL, NULL)
#define UFF(type, function) TENON__UFF_ROW(type, function, NULL, NULL)

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    UFF("Activation", uff_activation),
    UFF("Binary", uff_binary),
    TENON__UFF_ROW("LeakyRelu", tenon_make_same, "leaky_relu", ALPHA),
    UFF("Unary", uff_unary),

    SAME("Abs", "abs"),
    SAME("Acos", "acos"),
    SAME("Acosh", "acosh"),
    SAME("Add", "add"),
    SAME("AddN", "sum_of"),
    SAME("AddV2", "add"),
    SAME("Asin", "asin"),
    SAME("Asinh", "asinh"),
    SAME("Atan", "atan"),
    SAME("Atanh", "atanh"),
    TF("BiasAdd", bias_add),
    TF("BiasAddV1", bias_add),
    SAME("BitwiseAnd", "bitwise_and"),
    SAME("BitwiseOr", "bitwise_or"),
    SAME("BitwiseXor", "bitwise_xor"),
    SAME("Ceil", "ceil"),
    TF("ClipByValue", clip_by_value),
    SAME("Cos", "cos"),
    SAME("Cosh", "cosh"),
    SAME("Div", "div"),
    MATH_2("DivNoNan", "y = b == 0 ? 0 : a / b"),
    SAME("Elu", "elu"),
    SAME("Equal", "equal"),
    SAME("Erf", "erf"),
    SAME("Exp", "exp"),
    MATH_1("Expm1", "y = expm1(a)"),
    SAME("Floor", "floor"),
    SAME("FloorDiv", "floor_div"),
    SAME("FloorMod", "mod"),
    SAME("Greater", "greater"),
    SAME("GreaterEqual", "greater_equal"),
    MATH_1("Inv", "y = 1 / a"),
    SAME("Invert", "bitwise_not"),
    MATH_1("IsFinite", "y = !(is_nan(a) || is_inf(a))"),
    SAME("IsInf", "is_inf"),
    SAME("IsNan", "is_nan"),
    TENON__UFF_TF_ROW("LeakyRelu", tenon_make_same, "leaky_relu", ALPHA),
    SAME("Less", "less"),
    SAME("LessEqual", "less_equal"),
    SAME("Log", "log"),
    MATH_1("Log1p", "y = log1p(a)"),
    SAME("LogicalAnd", "logical_and"),
    SAME("LogicalNot", "logical_not"),
    SAME("LogicalOr", "logical_or"),
    SAME("Maximum", "max"),
    SAME("Minimum", "min"),
    TENON__UFF_TF_ROW("Mod", tenon_make_same, "mod", TRUNCATED),
    SAME("Mul", "mul"),
    MATH_2("MulNoNan", "y = b == 0 ? 0 : a * b"),
    SAME("Neg", "neg"),
    MATH_2("NotEqual", "y = a != b"),
    SAME("Pow", "pow"),
    SAME("RealDiv", "div"),
    SAME("Reciprocal", "reciprocal"),
    SAME("Relu", "relu"),
    MATH_1("Relu6", relu6),
    SAME("Rint", "round"),
    SAME("Round", "round"),
    MATH_1("Rsqrt", "y = rsqrt(a)"),
    TF("Select", select),
    TF("SelectV2", select),
    SAME("Selu", "selu"),
    SAME("Sigmoid", "sigmoid"),
    SAME("Sign", "sign"),
    SAME("Sin", "sin"),
    SAME("Sinh", "sinh"),
    SAME("Softplus", "softplus"),
    SAME("Softsign", "softsign"),
    SAME("Sqrt", "sqrt"),
    MATH_1("Square", "y = a * a"),
    MATH_2("SquaredDifference", "y = (a - b) * (a - b)"),
    SAME("Sub", "sub"),
    SAME("Tan", "tan"),
    SAME("Tanh", "tanh"),
    SAME("TruncateDiv", "div"),
    TENON__UFF_TF_ROW("TruncateMod", tenon_make_same, "mod", TRUNCATED),
    MATH_2("Xdivy", "y = a == 0 ? 0 : a / b"),
};
TENON__UFF_FAMILY(elementwise);
