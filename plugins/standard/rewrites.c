/* What holds between the operators, whatever computes them. */
#include "rewrites.h"

/* x to the power of e is products where e is a small whole number: a power costs ten of them. One
 * rounding each, as exact as the power itself; integers wrap there as they saturate here, so not
 * they. The shape must be that of x alone. */
#define POWER(power_, replacement_)                                                              \
  {                                                                                              \
    sizeof(tenon_rewrite_t), .name = "power of " #power_, .pattern = "y = standard.pow/1(x, e)", \
                             .when =                                                             \
                                 "elements(e) == 1 && rank(e) <= rank(x) && "                    \
                                 "(dtype(x) == 'f32' || dtype(x) == 'f64' || "                   \
                                 "dtype(x) == 'f16' || dtype(x) == 'bf16') && "                  \
                                 "value(e) == " #power_,                                         \
                             .replacement = (replacement_)                                       \
  }

const tenon_rewrite_t tenon__standard_rewrites[STANDARD_REWRITE_COUNT] = {
    POWER(2, "y = standard.mul/1(x, x)"),
    POWER(3, "t = standard.mul/1(x, x); y = standard.mul/1(t, x)"),
};
