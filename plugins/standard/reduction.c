/*
 * Reductions over the axes that an input or the attribute names; no axes are all axes, unless
 * noop_with_empty_axes. Each is written twice: for the input `axes` and for `fixed_axes`.
 */
#include "families.h"

#define REDUCED(allowed)                                                            \
  TYPES(TYPE("T", allowed)), INPUTS(PORT("x", "T"), OPTIONAL_SHAPE("axes", "i64")), \
      OUTPUTS(PORT("y", "T")),                                                      \
      ATTRIBUTES(INTS("fixed_axes", "[]"), FLAG("keepdims", "1"),                   \
                 FLAG("noop_with_empty_axes", "0"))
/* Both spellings of the axes around one text with holes: BOTH("y = sum(x, ", ")"). */
#define BOTH(before, after) \
  WHEN("present(axes)", before "axes" after), ALWAYS(before "fixed_axes" after)
/* The same for texts that go through f64 for integers: before, the reduced value, after. */
#define THROUGH_FLOAT(function, before, after)                                     \
  WHEN(IS_INTEGER("x") " && present(axes)",                                        \
       "y = cast(" function "(cast(" before "axes" after ", f64)), T)"),           \
      WHEN(IS_INTEGER("x"),                                                        \
           "y = cast(" function "(cast(" before "fixed_axes" after ", f64)), T)"), \
      WHEN("present(axes)", "y = " function "(" before "axes" after ")"),          \
      ALWAYS("y = " function "(" before "fixed_axes" after ")")
#define EXTREME(of_bool, of_numbers)                                             \
  CASES(WHEN("dtype(x) == 'bool' && present(axes)", "y = " of_bool "(x, axes)"), \
        WHEN("dtype(x) == 'bool'", "y = " of_bool "(x, fixed_axes)"),            \
        BOTH("y = " of_numbers "(x, ", ")"))
/* log(sum(e^x)), shifted by the largest value, which may be infinite. */
#define LOG_SUM_EXP(axes)         \
  "let m = max(v, " axes          \
  "); let s = is_inf(m) ? 0 : m;" \
  "let l = log(sum(exp(v - s), " axes ")) + s;"
#define PURE .traits = "pure"

#define FOUND(extreme, place) "let e = " extreme "(x, axis); y = " place

FAMILY_TABLE(reduction) = {
    {OPERATOR("reduce_sum", "sum"), REDUCED("numeric"), CASES(BOTH("y = sum(x, ", ")")), PURE},
    {OPERATOR("reduce_mean", "mean"), REDUCED("numeric"), CASES(BOTH("y = mean(x, ", ")")), PURE},
    {OPERATOR("reduce_prod", "product"), REDUCED("numeric"), CASES(BOTH("y = prod(x, ", ")")),
     PURE},
    {OPERATOR("reduce_max", "largest; of bool: any"), REDUCED("numeric bool"),
     EXTREME("any", "max"), PURE},
    {OPERATOR("reduce_min", "smallest; of bool: all"), REDUCED("numeric bool"),
     EXTREME("all", "min"), PURE},
    {OPERATOR("reduce_l1", "sum of absolute values"), REDUCED("numeric"),
     CASES(BOTH("y = sum(abs(x), ", ")")), PURE},
    {OPERATOR("reduce_l2", "root of the sum of squares"), REDUCED("numeric"),
     CASES(THROUGH_FLOAT("sqrt", "sum(x * x, ", ")")), PURE},
    {OPERATOR("reduce_sum_square", "sum of squares"), REDUCED("numeric"),
     CASES(BOTH("y = sum(x * x, ", ")")), PURE},
    {OPERATOR("reduce_log_sum", "logarithm of the sum"), REDUCED("numeric"),
     CASES(THROUGH_FLOAT("log", "sum(x, ", ")")), PURE},
    {OPERATOR("reduce_log_sum_exp", "logarithm of the sum of e^x"), REDUCED("numeric"),
     CASES(WHEN(IS_INTEGER("x") " && present(axes)",
                "let v = cast(x, f64);" LOG_SUM_EXP("axes") "y = cast(l, T)"),
           WHEN(IS_INTEGER("x"),
                "let v = cast(x, f64);" LOG_SUM_EXP("fixed_axes") "y = cast(l, T)"),
           WHEN("present(axes)", "let v = x;" LOG_SUM_EXP("axes") "y = l"),
           ALWAYS("let v = x;" LOG_SUM_EXP("fixed_axes") "y = l")),
     PURE},
    {OPERATOR("arg_max", "where the largest value along the axis is"), TYPES(TYPE("T", "numeric")),
     INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "i64")),
     ATTRIBUTES(INT("axis", "0"), FLAG("keepdims", "1"), FLAG("select_last_index", "0")),
     CASES(WHEN("select_last_index == 1", FOUND("max", "max(x == e ? index(axis) : 0, axis)")),
           ALWAYS(FOUND("max", "min(x == e ? index(axis) : size(axis) - 1, axis)"))),
     PURE},
    {OPERATOR("arg_min", "where the smallest value along the axis is"), TYPES(TYPE("T", "numeric")),
     INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "i64")),
     ATTRIBUTES(INT("axis", "0"), FLAG("keepdims", "1"), FLAG("select_last_index", "0")),
     CASES(WHEN("select_last_index == 1", FOUND("min", "max(x == e ? index(axis) : 0, axis)")),
           ALWAYS(FOUND("min", "min(x == e ? index(axis) : size(axis) - 1, axis)"))),
     PURE},
};
