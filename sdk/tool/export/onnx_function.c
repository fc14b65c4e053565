/* Functions of expressions, as single nodes or as several steps. */
#include "export/onnx_function.h"

#include <string.h>

typedef struct function_t {
  const char* name;
  const char* type; /* ONNX's, or a text over a, b, c */
  uint32_t count;
  bool is_test; /* its result is bool */
} function_t;

static const function_t functions[] = {
    {"abs", "Abs", 1, false},
    {"acos", "Acos", 1, false},
    {"acosh", "Acosh", 1, false},
    {"add", "Add", 2, false},
    {"asin", "Asin", 1, false},
    {"asinh", "Asinh", 1, false},
    {"atan", "Atan", 1, false},
    {"atanh", "Atanh", 1, false},
    {"ceil", "Ceil", 1, false},
    {"clamp", "min(max(a, b), c)", 3, false},
    {"cos", "Cos", 1, false},
    {"cosh", "Cosh", 1, false},
    {"div", "Div", 2, false},
    {"eq", "Equal", 2, true},
    {"erf", "Erf", 1, false},
    {"exp", "Exp", 1, false},
    {"expm1", "exp(a) - 1", 1, false},
    {"floor", "Floor", 1, false},
    {"ge", "GreaterOrEqual", 2, true},
    {"gt", "Greater", 2, true},
    {"is_inf", "IsInf", 1, true},
    {"is_nan", "IsNaN", 1, true},
    {"le", "LessOrEqual", 2, true},
    {"log", "Log", 1, false},
    {"log1p", "log(a + 1)", 1, false},
    {"lt", "Less", 2, true},
    {"max", "Max", 2, false},
    {"min", "Min", 2, false},
    {"mul", "Mul", 2, false},
    {"ne", "!(a == b)", 2, true},
    {"neg", "Neg", 1, false},
    {"pow", "Pow", 2, false},
    {"recip", "Reciprocal", 1, false},
    {"round", "Round", 1, false},
    {"rsqrt", "recip(sqrt(a))", 1, false},
    {"select", "Where", 3, false},
    {"sigmoid", "Sigmoid", 1, false},
    {"sign", "Sign", 1, false},
    {"sin", "Sin", 1, false},
    {"sinh", "Sinh", 1, false},
    {"softplus", "Softplus", 1, false},
    {"sqrt", "Sqrt", 1, false},
    {"sub", "Sub", 2, false},
    {"tan", "Tan", 1, false},
    {"tanh", "Tanh", 1, false},
    {"trunc", "sign(a) * floor(abs(a))", 1, false},
};

/* What ONNX has in one way for integers or bool, and in another for floats. */
static const char* of_type(const char* name, tenon_dtype_t dtype) {
  const bool is_bool = dtype == TENON_DTYPE_BOOL;
  const bool is_float = tool_dtype_class(dtype) == 'f';
  return strcmp(name, "and") == 0         ? (is_bool ? "And" : "BitwiseAnd")
         : strcmp(name, "or") == 0        ? (is_bool ? "Or" : "BitwiseOr")
         : strcmp(name, "xor") == 0       ? (is_bool ? "Xor" : "BitwiseXor")
         : strcmp(name, "not") == 0       ? (is_bool ? "Not" : "BitwiseNot")
         : strcmp(name, "fmod") == 0      ? "Mod"
         : strcmp(name, "mod") == 0       ? (is_float ? "a - b * floor(a / b)" : "Mod")
         : strcmp(name, "floor_div") == 0 ? (is_float ? "floor(a / b)" : "(a - mod(a, b)) / b")
                                          : NULL;
}

bool tool_onnx_find_function(const char* name, const tool_onnx_term_t* operands, uint32_t count,
                             tool_onnx_meaning_t* out_meaning) {
  const tenon_dtype_t dtype = operands[0].dtype != TENON_DTYPE_UNDEFINED || count < 2
                                  ? operands[0].dtype
                                  : operands[1].dtype;
  const char* type = of_type(name, dtype);
  bool is_test = false;
  for (size_t i = 0; i < sizeof(functions) / sizeof(*functions) && type == NULL; ++i) {
    if (strcmp(functions[i].name, name) == 0 && functions[i].count == count) {
      type = functions[i].type;
      is_test = functions[i].is_test;
    }
  }
  if (type == NULL) {
    return false;
  }
  *out_meaning =
      (tool_onnx_meaning_t){.type = type,
                            .is_text = strchr(type, '(') != NULL || strchr(type, ' ') != NULL,
                            .dtype = is_test ? TENON_DTYPE_BOOL : TENON_DTYPE_UNDEFINED};
  return true;
}

bool tool_onnx_fold(const char* name, const tool_onnx_term_t* operands, uint32_t count,
                    tool_onnx_term_t* out_term) {
  const double a = operands[0].number;
  const double b = count > 1 ? operands[1].number : 0;
  const bool is_float = operands[0].is_float || (count > 1 && operands[1].is_float);
  for (uint32_t i = 0; i < count; ++i) {
    if (operands[i].kind != TOOL_ONNX_NUMBER || operands[i].dtype != TENON_DTYPE_UNDEFINED) {
      return false;
    }
  }
  tool_onnx_term_t term = is_float ? tool_onnx_real(0) : tool_onnx_integer(0);
  bool folds = true;
  switch (count == 1 && strcmp(name, "neg") == 0 ? '-' : count == 2 ? name[0] : ' ') {
    case '-':
      term.number = -a;
      break;
    case 'a':
      term.number = a + b;
      folds = strcmp(name, "add") == 0;
      break;
    case 's':
      term.number = a - b;
      folds = strcmp(name, "sub") == 0;
      break;
    case 'm':
      term.number = a * b;
      folds = strcmp(name, "mul") == 0;
      break;
    case 'd':
      term.number = a / b;
      folds = strcmp(name, "div") == 0 && is_float;
      break;
    default:
      folds = false;
      break;
  }
  if (folds) { /* it may be one of the operands */
    *out_term = term;
  }
  return folds;
}
