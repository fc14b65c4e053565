/* Arithmetic on elements: one row, one expression. */
#include "families.h"

#define VARIADIC_ROW(allowed) \
  TYPES(TYPE("T", allowed)), INPUTS(VARIADIC("xs", "T")), OUTPUTS(PORT("y", "T"))
#define IN_DOMAIN(allowed, domain) \
  TYPES(TYPE("T", allowed)), INPUTS(PORT_IN("x", "T", domain)), OUTPUTS(PORT("y", "T"))
#define TRAITS .traits = "pure"

static const tenon_operator_t operators[] = {
    {OPERATOR("add", "a + b"), BINARY("numeric"), CASE("y = a + b"), TRAITS},
    {OPERATOR("sub", "a - b"), BINARY("numeric"), CASE("y = a - b"), TRAITS},
    {OPERATOR("mul", "a b"), BINARY("numeric"), CASE("y = a * b"), TRAITS},
    {OPERATOR("div", "a / b; integers truncate"), BINARY("numeric"), CASE("y = div(a, b)"), TRAITS},
    {OPERATOR("floor_div", "floor(a / b)"), BINARY("numeric"), CASE("y = floor_div(a, b)"), TRAITS},
    {OPERATOR("mod", "remainder with the sign of b; fmod: with that of a"), BINARY("numeric"),
     ATTRIBUTES(FLAG("fmod", "0")),
     CASES(WHEN("fmod == 1", "y = fmod(a, b)"), ALWAYS("y = mod(a, b)")), TRAITS},
    {OPERATOR("pow", "a to the power of b, in the type of a"),
     TYPES(TYPE("T", "numeric"), TYPE("E", "numeric")), INPUTS(PORT("a", "T"), PORT("b", "E")),
     OUTPUTS(PORT("y", "T")),
     CASES(WHEN(IS_INTEGER("a") " && !" IS_INTEGER("b"),
                "y = cast(pow(cast(a, f64), cast(b, f64)), T)"),
           ALWAYS("y = pow(a, cast(b, T))")),
     TRAITS},
    {OPERATOR("min", "the smallest of all inputs"), VARIADIC_ROW("numeric"),
     CASE("y = fold(min, xs)"), TRAITS},
    {OPERATOR("max", "the largest of all inputs"), VARIADIC_ROW("numeric"),
     CASE("y = fold(max, xs)"), TRAITS},
    {OPERATOR("sum_of", "the sum of all inputs"), VARIADIC_ROW("numeric"),
     CASE("y = fold(add, xs)"), TRAITS},
    {OPERATOR("mean_of", "the mean of all inputs"), VARIADIC_ROW("float"),
     CASE("y = fold(add, xs) / count(xs)"), TRAITS},
    {OPERATOR("neg", "-x"), UNARY("numeric"), CASE("y = -x"), TRAITS},
    {OPERATOR("abs", "absolute value"), UNARY("numeric"), CASE("y = abs(x)"), TRAITS},
    {OPERATOR("sign", "-1, 0 or 1"), UNARY("numeric"), CASE("y = sign(x)"), TRAITS},
    {OPERATOR("floor", "rounds down"), UNARY("float"), CASE("y = floor(x)"), TRAITS},
    {OPERATOR("ceil", "rounds up"), UNARY("float"), CASE("y = ceil(x)"), TRAITS},
    {OPERATOR("round", "rounds to nearest, halves to even"), UNARY("float"), CASE("y = round(x)"),
     TRAITS},
    {OPERATOR("sqrt", "square root"), IN_DOMAIN("float", "positive"), CASE("y = sqrt(x)"), TRAITS},
    {OPERATOR("reciprocal", "1 / x"), UNARY("float"), CASE("y = recip(x)"), TRAITS},
    {OPERATOR("exp", "e^x"), UNARY("float"), CASE("y = exp(x)"), TRAITS},
    {OPERATOR("log", "natural logarithm"), IN_DOMAIN("float", "positive"), CASE("y = log(x)"),
     TRAITS},
    {OPERATOR("erf", "error function"), UNARY("float"), CASE("y = erf(x)"), TRAITS},
    {OPERATOR("sin", "sine"), UNARY("float"), CASE("y = sin(x)"), TRAITS},
    {OPERATOR("cos", "cosine"), UNARY("float"), CASE("y = cos(x)"), TRAITS},
    {OPERATOR("tan", "tangent"), UNARY("float"), CASE("y = tan(x)"), TRAITS},
    {OPERATOR("asin", "arc sine"), IN_DOMAIN("float", "[-1,1]"), CASE("y = asin(x)"), TRAITS},
    {OPERATOR("acos", "arc cosine"), IN_DOMAIN("float", "[-1,1]"), CASE("y = acos(x)"), TRAITS},
    {OPERATOR("atan", "arc tangent"), UNARY("float"), CASE("y = atan(x)"), TRAITS},
    {OPERATOR("sinh", "hyperbolic sine"), UNARY("float"), CASE("y = sinh(x)"), TRAITS},
    {OPERATOR("cosh", "hyperbolic cosine"), UNARY("float"), CASE("y = cosh(x)"), TRAITS},
    {OPERATOR("asinh", "its inverse"), UNARY("float"), CASE("y = asinh(x)"), TRAITS},
    {OPERATOR("acosh", "its inverse, x at least 1"), IN_DOMAIN("float", "[1,inf]"),
     CASE("y = acosh(x)"), TRAITS},
    {OPERATOR("atanh", "its inverse"), IN_DOMAIN("float", "[-1,1]"), CASE("y = atanh(x)"), TRAITS},
    {OPERATOR("clip", "between low and high, scalars"), TYPES(TYPE("T", "numeric")),
     INPUTS(PORT("x", "T"), OPTIONAL("low", "T"), OPTIONAL("high", "T")), OUTPUTS(PORT("y", "T")),
     CASE("let l = present(low) ? max(x, low) : x; y = present(high) ? min(l, high) : l"), TRAITS},
    {OPERATOR("affine_scale", "(x scale + shift)^power; parameters along one axis, or broadcast"),
     TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("x", "T"), OPTIONAL("shift", "T"), OPTIONAL("scale", "T"), OPTIONAL("power", "T")),
     OUTPUTS(PORT("y", "T")), ATTRIBUTES(INT("axis", "1"), FLAG("per_axis", "1")),
     CASES(WHEN("per_axis == 1",
                "let s = present(scale) ? x * along(scale, axis) : x;"
                "let t = present(shift) ? s + along(shift, axis) : s;"
                "y = present(power) ? pow(t, along(power, axis)) : t"),
           ALWAYS("let s = present(scale) ? x * scale : x;"
                  "let t = present(shift) ? s + shift : s;"
                  "y = present(power) ? pow(t, power) : t")),
     .traits = "pure"},
};
FAMILY(arithmetic);
