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
/* A function of a sum over v, which is x, or of integers their numbers in f64. */
#define THROUGH_FLOAT(function, summed)                                                     \
  WHEN(IS_INTEGER("x") " && present(axes)",                                                 \
       "let v = cast(x, f64); y = cast(" function "(sum(" summed ", axes)), T)"),           \
      WHEN(IS_INTEGER("x"),                                                                 \
           "let v = cast(x, f64); y = cast(" function "(sum(" summed ", fixed_axes)), T)"), \
      WHEN("present(axes)", "let v = x; y = " function "(sum(" summed ", axes))"),          \
      ALWAYS("let v = x; y = " function "(sum(" summed ", fixed_axes))")
#define EXTREME(of_bool, of_numbers)                                             \
  CASES(WHEN("dtype(x) == 'bool' && present(axes)", "y = " of_bool "(x, axes)"), \
        WHEN("dtype(x) == 'bool'", "y = " of_bool "(x, fixed_axes)"),            \
        BOTH("y = " of_numbers "(x, ", ")"))
/* log(sum(e^x)), shifted by the largest value, which may be infinite. */
#define LOG_SUM_EXP(axes)         \
  "let m = max(v, " axes          \
  "); let s = is_inf(m) ? 0 : m;" \
  "let l = log(sum(exp(v - s), " axes ")) + s;"
/* Sums of 64-bit integers may overflow: the quotients by their number are added, and the
 * remainders. What is left of those, of the other sign than the quotient, brings it nearer to 0. */
#define IS_LONG(port) "(dtype(" port ") == 'i64' || dtype(" port ") == 'u64')"
#define LONG_MEAN(axes)                                            \
  "let n = cast(size(" axes "), T); let r = sum(fmod(x, n), " axes \
  ");"                                                             \
  "let v = sum(div(x, n), " axes                                   \
  ") + div(r, n); let left = fmod(r, n);"                          \
  "y = v > 0 && left < 0 ? v - 1 : v < 0 && left > 0 ? v + 1 : v"
#define PURE .traits = "pure"

/* What is no number counts as the extreme. */
#define FOUND(extreme, place) "let e = " extreme "(x, axis); y = " place
#define FIRST_FOUND "min(x == e || x != x ? index(axis) : size(axis) - 1, axis)"
#define LAST_FOUND "max(x == e || x != x ? index(axis) : 0, axis)"
#define FIND_CHECKS                                                                               \
  CHECKS(AXIS_CHECK("axis", "x"), CHECK("dim(x, axis) > 0 || elements(x, 0, wrap(axis, rank(x)))" \
                                        " * elements(x, wrap(axis, rank(x)) + 1, rank(x)) == 0",  \
                                        "x has no elements along axis {axis}"))

static const tenon_operator_t operators[] = {
    {OPERATOR("reduce_sum", "sum"), REDUCED("numeric"), CASES(BOTH("y = sum(x, ", ")")), PURE},
    {OPERATOR("reduce_mean", "mean; of integers the exact one, cut to an integer"),
     REDUCED("numeric"),
     CASES(WHEN(IS_LONG("x") " && present(axes)", LONG_MEAN("axes")),
           WHEN(IS_LONG("x"), LONG_MEAN("fixed_axes")),
           WHEN(IS_INTEGER("x") " && present(axes)", "y = cast(mean(cast(x, i64), axes), T)"),
           WHEN(IS_INTEGER("x"), "y = cast(mean(cast(x, i64), fixed_axes), T)"),
           BOTH("y = mean(x, ", ")")),
     PURE},
    {OPERATOR("reduce_prod", "product"), REDUCED("numeric"), CASES(BOTH("y = prod(x, ", ")")),
     PURE},
    {OPERATOR("reduce_max", "largest; of bool: any"), REDUCED("numeric bool"),
     EXTREME("any", "max"), PURE},
    {OPERATOR("reduce_min", "smallest; of bool: all"), REDUCED("numeric bool"),
     EXTREME("all", "min"), PURE},
    {OPERATOR("reduce_l1", "sum of absolute values"), REDUCED("numeric"),
     CASES(BOTH("y = sum(abs(x), ", ")")), PURE},
    {OPERATOR("reduce_l2", "root of the sum of squares"), REDUCED("numeric"),
     CASES(THROUGH_FLOAT("sqrt", "v * v")), PURE},
    {OPERATOR("reduce_sum_square", "sum of squares"), REDUCED("numeric"),
     CASES(BOTH("y = sum(x * x, ", ")")), PURE},
    {OPERATOR("reduce_log_sum", "logarithm of the sum"), REDUCED("numeric"),
     CASES(THROUGH_FLOAT("log", "v")), PURE},
    {OPERATOR("reduce_log_sum_exp", "logarithm of the sum of e^x"), REDUCED("numeric"),
     CASES(
         WHEN(IS_INTEGER("x") " && present(axes)",
              "let v = cast(x, f64);" LOG_SUM_EXP("axes") "y = cast(l, T)"),
         WHEN(IS_INTEGER("x"), "let v = cast(x, f64);" LOG_SUM_EXP("fixed_axes") "y = cast(l, T)"),
         WHEN("present(axes)", "let v = x;" LOG_SUM_EXP("axes") "y = l"),
         ALWAYS("let v = x;" LOG_SUM_EXP("fixed_axes") "y = l")),
     PURE},
    {OPERATOR("arg_max", "where the largest value along the axis is"), TYPES(TYPE("T", "numeric")),
     INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "i64")),
     ATTRIBUTES(INT("axis", "0"), FLAG("keepdims", "1"), FLAG("select_last_index", "0")),
     FIND_CHECKS,
     CASES(WHEN("select_last_index == 1", FOUND("max", LAST_FOUND)),
           ALWAYS(FOUND("max", FIRST_FOUND))),
     PURE},
    {OPERATOR("arg_min", "where the smallest value along the axis is"), TYPES(TYPE("T", "numeric")),
     INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "i64")),
     ATTRIBUTES(INT("axis", "0"), FLAG("keepdims", "1"), FLAG("select_last_index", "0")),
     FIND_CHECKS,
     CASES(WHEN("select_last_index == 1", FOUND("min", LAST_FOUND)),
           ALWAYS(FOUND("min", FIRST_FOUND))),
     PURE},
};
FAMILY(reduction);
