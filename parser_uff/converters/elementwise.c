/* Arithmetic, comparisons and activations on elements. */
#include <string.h>

#include "families.h"

/* Operators of the standard that a row names: its first inputs, in order. */
static void unary(tenon_make_t* make) {
  if (tenon__uff_needs(make, 1)) {
    tenon_make_output(make, 0, tenon_make_1(make, make->row->op, tenon_make_input(make, 0)));
  }
}

static void binary(tenon_make_t* make) {
  if (tenon__uff_needs(make, 2)) {
    tenon_make_output(
        make, 0,
        tenon_make_2(make, make->row->op, tenon_make_input(make, 0), tenon_make_input(make, 1)));
  }
}

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

static void add_all(tenon_make_t* make) {
  if (!tenon__uff_needs(make, 1)) {
    return;
  }
  tenon_make_begin(make, "sum_of");
  tenon_make_add_inputs(make, 0);
  tenon_make_output(make, 0, tenon_make_end(make));
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

static void leaky_relu(tenon_make_t* make) {
  if (tenon__uff_needs(make, 1)) {
    tenon_make_begin(make, "leaky_relu");
    tenon_make_set_float(make, "alpha", tenon_make_get_float(make, "alpha", 0.2));
    tenon_make_add(make, tenon_make_input(make, 0));
    tenon_make_output(make, 0, tenon_make_end(make));
  }
}

static const char relu6[] = "y = clamp(a, 0, 6)";

/* Truncates towards zero, as C does; TensorFlow's FloorDiv and FloorMod do not. */
static void truncated_mod(tenon_make_t* make) {
  if (tenon__uff_needs(make, 2)) {
    tenon_make_begin(make, "mod");
    tenon_make_set_int(make, "fmod", 1);
    tenon_make_add_inputs(make, 0);
    tenon_make_output(make, 0, tenon_make_end(make));
  }
}

/* x ** 0 is 1 and so on are the operator's; both inputs have one type. */
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

#define UNARY(type, op) TENON__UFF_TF_ROW(type, unary, op, NULL)
#define BINARY(type, op) TENON__UFF_TF_ROW(type, binary, op, NULL)
#define MATH_1(type, text) TENON__UFF_TF_ROW(type, math_1, text, NULL)
#define MATH_2(type, text) TENON__UFF_TF_ROW(type, math_2, text, NULL)
#define TF(type, function) TENON__UFF_TF_ROW(type, function, NULL, NULL)
#define UFF(type, function) TENON__UFF_ROW(type, function, NULL, NULL)

TENON__UFF_FAMILY(elementwise) = {
    UFF("Activation", uff_activation),
    UFF("Binary", uff_binary),
    UFF("LeakyRelu", leaky_relu),
    UFF("Unary", uff_unary),

    UNARY("Abs", "abs"),
    UNARY("Acos", "acos"),
    UNARY("Acosh", "acosh"),
    BINARY("Add", "add"),
    TF("AddN", add_all),
    BINARY("AddV2", "add"),
    UNARY("Asin", "asin"),
    UNARY("Asinh", "asinh"),
    UNARY("Atan", "atan"),
    UNARY("Atanh", "atanh"),
    TF("BiasAdd", bias_add),
    TF("BiasAddV1", bias_add),
    BINARY("BitwiseAnd", "bitwise_and"),
    BINARY("BitwiseOr", "bitwise_or"),
    BINARY("BitwiseXor", "bitwise_xor"),
    UNARY("Ceil", "ceil"),
    TF("ClipByValue", clip_by_value),
    UNARY("Cos", "cos"),
    UNARY("Cosh", "cosh"),
    BINARY("Div", "div"),
    MATH_2("DivNoNan", "y = b == 0 ? 0 : a / b"),
    UNARY("Elu", "elu"),
    BINARY("Equal", "equal"),
    UNARY("Erf", "erf"),
    UNARY("Exp", "exp"),
    MATH_1("Expm1", "y = expm1(a)"),
    UNARY("Floor", "floor"),
    BINARY("FloorDiv", "floor_div"),
    BINARY("FloorMod", "mod"),
    BINARY("Greater", "greater"),
    BINARY("GreaterEqual", "greater_equal"),
    MATH_1("Inv", "y = 1 / a"),
    UNARY("Invert", "bitwise_not"),
    MATH_1("IsFinite", "y = !(is_nan(a) || is_inf(a))"),
    UNARY("IsInf", "is_inf"),
    UNARY("IsNan", "is_nan"),
    TF("LeakyRelu", leaky_relu),
    BINARY("Less", "less"),
    BINARY("LessEqual", "less_equal"),
    UNARY("Log", "log"),
    MATH_1("Log1p", "y = log1p(a)"),
    BINARY("LogicalAnd", "logical_and"),
    UNARY("LogicalNot", "logical_not"),
    BINARY("LogicalOr", "logical_or"),
    BINARY("Maximum", "max"),
    BINARY("Minimum", "min"),
    TF("Mod", truncated_mod),
    BINARY("Mul", "mul"),
    MATH_2("MulNoNan", "y = b == 0 ? 0 : a * b"),
    UNARY("Neg", "neg"),
    MATH_2("NotEqual", "y = a != b"),
    BINARY("Pow", "pow"),
    BINARY("RealDiv", "div"),
    UNARY("Reciprocal", "reciprocal"),
    UNARY("Relu", "relu"),
    MATH_1("Relu6", relu6),
    UNARY("Rint", "round"),
    UNARY("Round", "round"),
    MATH_1("Rsqrt", "y = rsqrt(a)"),
    TF("Select", select),
    TF("SelectV2", select),
    UNARY("Selu", "selu"),
    UNARY("Sigmoid", "sigmoid"),
    UNARY("Sign", "sign"),
    UNARY("Sin", "sin"),
    UNARY("Sinh", "sinh"),
    UNARY("Softplus", "softplus"),
    UNARY("Softsign", "softsign"),
    UNARY("Sqrt", "sqrt"),
    MATH_1("Square", "y = a * a"),
    MATH_2("SquaredDifference", "y = (a - b) * (a - b)"),
    BINARY("Sub", "sub"),
    UNARY("Tan", "tan"),
    UNARY("Tanh", "tanh"),
    BINARY("TruncateDiv", "div"),
    TF("TruncateMod", truncated_mod),
    MATH_2("Xdivy", "y = a == 0 ? 0 : a / b"),
};
