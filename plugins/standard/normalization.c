/* Normalisation: rows (softmax and its kin), layers, channels. Expressions with reductions. */
#include "families.h"

#define CHANNEL_CHECK(parameter)                                            \
  CHECK("rank(" parameter ") == 1 && elements(" parameter ") == dim(x, 1)", \
        parameter " has {elements(" parameter ")} elements for {dim(x, 1)} channels")
#define CHANNEL_PARAMETERS PORT("scale", "T"), PORT("bias", "T")

static const tenon_operator_t operators[] = {
    {OPERATOR("softmax", "e^x as parts of their sum along the axis"), UNARY("float"),
     ATTRIBUTES(INT("axis", "-1")), CASE("let e = exp(x - max(x, axis)); y = e / sum(e, axis)"),
     .traits = "pure"},
    {OPERATOR("log_softmax", "logarithm of softmax"), UNARY("float"), ATTRIBUTES(INT("axis", "-1")),
     CASE("let s = x - max(x, axis); y = s - log(sum(exp(s), axis))"), .traits = "pure"},
    {OPERATOR("hardmax", "1 at the first maximum along the axis, else 0"), UNARY("float"),
     ATTRIBUTES(INT("axis", "-1")),
     CASE("let first = min(x == max(x, axis) || x != x ? index(axis) : size(axis), axis);"
          "y = cast(index(axis) == first, T)"),
     .traits = "pure"},
    {OPERATOR("layer_norm", "(x - mean) / deviation over the axes from `axis` on, scaled, shifted"),
     TYPES(TYPE("T", FLOAT_TYPES), TYPE("S", FLOAT_TYPES)),
     INPUTS(PORT("x", "T"), OPTIONAL("scale", "S"), OPTIONAL("bias", "S")),
     OUTPUTS(PORT("y", "T"), OPTIONAL("mean", "f32"), OPTIONAL("inv_std", "f32")),
     ATTRIBUTES(INT("axis", "-1"), FLOAT("epsilon", "1e-5")), CHECKS(AXIS_CHECK("axis", "x")),
     CASE("let m = mean(x, axis..); let c = x - m; let r = rsqrt(mean(c * c, axis..) + epsilon);"
          "let n = c * r; let s = present(scale) ? n * cast(scale, T) : n;"
          "y = present(bias) ? s + cast(bias, T) : s;"
          "mean = cast(m, f32); inv_std = cast(r, f32)"),
     .traits = "pure"},
    {OPERATOR("rms_norm", "x / root of the mean square over the axes from `axis` on, scaled"),
     TYPES(TYPE("T", FLOAT_TYPES), TYPE("S", FLOAT_TYPES)),
     INPUTS(PORT("x", "T"), OPTIONAL("scale", "S")), OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(INT("axis", "-1"), FLOAT("epsilon", "1e-5")), CHECKS(AXIS_CHECK("axis", "x")),
     CASE("let n = x * rsqrt(mean(x * x, axis..) + epsilon);"
          "y = present(scale) ? n * cast(scale, T) : n"),
     .traits = "pure"},
    {OPERATOR("instance_norm", "(x - mean) / deviation over axes 2 and up, scaled by channel"),
     TYPES(TYPE("T", FLOAT_TYPES)), INPUTS(PORT("x", "T"), CHANNEL_PARAMETERS),
     OUTPUTS(PORT("y", "T")), ATTRIBUTES(FLOAT("epsilon", "1e-5")),
     CHECKS(CHECK("rank(x) >= 3", "x has rank {rank(x)}, which leaves no spatial axis"),
            CHANNEL_CHECK("scale"), CHANNEL_CHECK("bias")),
     CASE("let c = x - mean(x, 2..); let v = mean(c * c, 2..);"
          "y = c * rsqrt(v + epsilon) * along(scale, 1) + along(bias, 1)"),
     .traits = "pure"},
    {OPERATOR("group_norm", "(x - mean) / deviation over groups of channels, scaled by channel"),
     TYPES(TYPE("T", FLOAT_TYPES)), INPUTS(PORT("x", "T"), CHANNEL_PARAMETERS),
     OUTPUTS(PORT("y", "T")), ATTRIBUTES(REQUIRED_INT("groups"), FLOAT("epsilon", "1e-5")),
     .shape = "y = x",
     CHECKS(CHECK("dim(x, 1) % groups == 0",
                  "{dim(x, 1)} channels are not divisible into {groups} groups"),
            CHANNEL_CHECK("scale"), CHANNEL_CHECK("bias")),
     DECOMPOSITIONS(ALWAYS("g = standard.group_channels/1(x){groups=groups};"
                           "n = standard.layer_norm/1(g, _, _){axis=2, epsilon=epsilon};"
                           "s = standard.shape_of/1(x);"
                           "r = standard.reshape/1(n, s);"
                           "y = standard.affine_scale/1(r, bias, scale, _){axis=1}")),
     .traits = "pure"},
    {OPERATOR("batch_norm", "(x - mean) / root of variance, scaled, shifted, by channel"),
     TYPES(TYPE("T", FLOAT_TYPES), TYPE("S", FLOAT_TYPES), TYPE("M", FLOAT_TYPES)),
     INPUTS(PORT("x", "T"), PORT("scale", "S"), PORT("bias", "S"), PORT("mean", "M"),
            PORT_IN("variance", "M", "positive")),
     OUTPUTS(PORT("y", "T")), ATTRIBUTES(FLOAT("epsilon", "1e-5")),
     CHECKS(CHECK("rank(x) >= 2", "x has rank {rank(x)}, which leaves no channel axis"),
            CHANNEL_CHECK("scale"), CHANNEL_CHECK("bias"), CHANNEL_CHECK("mean"),
            CHANNEL_CHECK("variance")),
     CASE("let c = x - cast(along(mean, 1), T);"
          "let r = rsqrt(cast(along(variance, 1), T) + epsilon);"
          "y = c * (cast(along(scale, 1), T) * r) + cast(along(bias, 1), T)"),
     .traits = "pure"},
    {OPERATOR("lp_norm", "x / its norm along the axis; 0 where the norm is 0"), UNARY("float"),
     ATTRIBUTES(INT("axis", "-1"), INT_IN("p", "2", "1..2")),
     CASES(WHEN("p == 1", "let n = sum(abs(x), axis); y = n == 0 ? 0 : x / n"),
           ALWAYS("let n = sqrt(sum(x * x, axis)); y = n == 0 ? 0 : x / n")),
     .traits = "pure"},
    {OPERATOR("mean_variance_norm", "(x - mean) / (deviation + epsilon) over the axes"),
     UNARY("float"), ATTRIBUTES(INTS("axes", "[0, 2, 3]"), FLOAT("epsilon", "1e-9")),
     CASE("let c = x - mean(x, axes); let v = mean(c * c, axes);"
          "y = c / (sqrt(v) + epsilon)"),
     .traits = "pure"},
};
FAMILY(normalization);
