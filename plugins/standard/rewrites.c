/* What holds between the operators, whatever computes them. */
#include "rewrites.h"

#define SINGLE_OR_DOUBLE "(dtype(x) == 'f32' || dtype(x) == 'f64')"
#define FLOAT "(" SINGLE_OR_DOUBLE " || dtype(x) == 'f16' || dtype(x) == 'bf16')"
/* x to the power of a constant, whose shape is that of x alone. */
#define POWER_OF(number) "value(e) == " #number " && elements(e) == 1 && rank(e) <= rank(x) && "

/* A product of matrices, one of whose factors is multiplied by one number before. */
#define SCALED(factor) \
  "elements(s) == 1 && rank(s) <= rank(" factor ") && (dtype(a) == 'f32' || dtype(a) == 'f64')"
#define SCALE_BEHIND "p = standard.mat_mul/1(a, b); y = standard.mul/1(p, s)"

/* A power costs ten products, and is no more exact than one of them. Two have a rounding between
 * them, which narrow floats would feel; powers of integers saturate, their products wrap. */
static const tenon_rewrite_t rewrites[] = {
    {sizeof(tenon_rewrite_t), .name = "power of 2", .pattern = "y = standard.pow/1(x, e)",
     .when = POWER_OF(2) FLOAT, .replacement = "y = standard.mul/1(x, x)"},
    {sizeof(tenon_rewrite_t), .name = "power of 3", .pattern = "y = standard.pow/1(x, e)",
     .when = POWER_OF(3) SINGLE_OR_DOUBLE,
     .replacement = "t = standard.mul/1(x, x); y = standard.mul/1(t, x)"},
    /* Behind the product the number is multiplied in its kernel, or with what comes next; narrow
     * floats may be too large before. */
    {sizeof(tenon_rewrite_t), .name = "scale of a left factor", .replacement = SCALE_BEHIND,
     .pattern = "t = standard.mul/1(a, s); y = standard.mat_mul/1(t, b)", .when = SCALED("a")},
    {sizeof(tenon_rewrite_t), .name = "scale before a left factor", .replacement = SCALE_BEHIND,
     .pattern = "t = standard.mul/1(s, a); y = standard.mat_mul/1(t, b)", .when = SCALED("a")},
    {sizeof(tenon_rewrite_t), .name = "scale of a right factor", .replacement = SCALE_BEHIND,
     .pattern = "t = standard.mul/1(b, s); y = standard.mat_mul/1(a, t)", .when = SCALED("b")},
    {sizeof(tenon_rewrite_t), .name = "scale before a right factor", .replacement = SCALE_BEHIND,
     .pattern = "t = standard.mul/1(s, b); y = standard.mat_mul/1(a, t)", .when = SCALED("b")},
};

const tenon_offering_t tenon__rewrites = TENON_OFFERING_OF("rewrite/1", rewrites);
