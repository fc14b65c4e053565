/* What holds between the operators, whatever computes them. */
#include "rewrites.h"

#define SINGLE_OR_DOUBLE "(dtype(x) == 'f32' || dtype(x) == 'f64')"
#define FLOAT "(" SINGLE_OR_DOUBLE " || dtype(x) == 'f16' || dtype(x) == 'bf16')"
/* x to the power of a constant, whose shape is that of x alone. */
#define POWER_OF(number) "value(e) == " #number " && elements(e) == 1 && rank(e) <= rank(x) && "

/* A power costs ten products, and is no more exact than one of them. Two have a rounding between
 * them, which narrow floats would feel; powers of integers saturate, their products wrap. */
static const tenon_rewrite_t rewrites[] = {
    {sizeof(tenon_rewrite_t), .name = "power of 2", .pattern = "y = standard.pow/1(x, e)",
     .when = POWER_OF(2) FLOAT, .replacement = "y = standard.mul/1(x, x)"},
    {sizeof(tenon_rewrite_t), .name = "power of 3", .pattern = "y = standard.pow/1(x, e)",
     .when = POWER_OF(3) SINGLE_OR_DOUBLE,
     .replacement = "t = standard.mul/1(x, x); y = standard.mul/1(t, x)"},
};

const tenon_offering_t tenon__rewrites = TENON_OFFERING_OF("rewrite/1", rewrites);
