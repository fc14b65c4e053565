/*
 * Quantisation. Stores to float8 saturate; those that shall not have a kernel. `to` is always the
 * result's type. Three granularities, by the rank of scale: one scale, one along `axis`, or
 * (block_size > 0) one for each block along `axis`, which decomposes.
 */
#include "families.h"

#define NARROW "i8 u8 i16 u16 i32 i4 u4 i2 u2 f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz f4e2m1"

/* Scale and zero point as they meet x. */
#define PLAIN                                           \
  "let s = cast(scale, f32); let q = cast(x, f32) / s;" \
  "let r = present(zero_point) ? cast(zero_point, f32) : 0.0;"
#define PER_AXIS                                                     \
  "let s = cast(along(scale, axis), f32); let q = cast(x, f32) / s;" \
  "let r = present(zero_point) ? cast(along(zero_point, axis), f32) : 0.0;"
#define ALONG_AXIS "block_size == 0 && rank(scale) == 1 && rank(x) > 1"

/* Scales of blocks: other extents would be read out of bounds. */
#define BLOCK_CHECKS                                                                               \
  CHECKS(CHECK("block_size == 0 || (rank(x) > 0 && rank(scale) == rank(x))",                       \
               "scale has rank {rank(scale)}, x has {rank(x)}: blocks need equal ranks"),          \
         CHECK("block_size == 0 || (block_size > 0 && "                                            \
               "elements(scale, 0, wrap(axis, rank(x))) == "                                       \
               "elements(x, 0, wrap(axis, rank(x))) && "                                           \
               "elements(scale, wrap(axis, rank(x)) + 1, rank(x)) == "                             \
               "elements(x, wrap(axis, rank(x)) + 1, rank(x)) && "                                 \
               "dim(scale, axis) * block_size >= dim(x, axis))",                                   \
               "scale does not have one number for each block of {block_size} along axis {axis}"), \
         CHECK("block_size == 0 || !present(zero_point) || "                                       \
               "(rank(zero_point) == rank(scale) && elements(zero_point) == elements(scale))",     \
               "zero_point does not have the extents of scale"))

static const tenon_operator_t operators[] = {
    {OPERATOR("quantize_linear", "x / scale + zero_point, rounded and saturated to `to`"),
     TYPES(TYPE("T", FLOAT_TYPES " i32"), TYPE("S", FLOAT_TYPES " f8e8m0"), TYPE("Q", NARROW)),
     INPUTS(PORT("x", "T"), PORT_IN("scale", "S", "positive"), OPTIONAL("zero_point", "Q")),
     OUTPUTS(PORT("y", "$to")),
     ATTRIBUTES(DTYPE("to", "u8"), INT("axis", "1"), INT("block_size", "0"), FLAG("saturate", "1")),
     BLOCK_CHECKS, .shape = "y = x",
     CASES(
         WHEN("saturate == 1 && " TO_TINY_FLOAT " && " ALONG_AXIS, PER_AXIS "y = cast(q + r, to)"),
         WHEN("saturate == 1 && " TO_TINY_FLOAT " && block_size == 0", PLAIN "y = cast(q + r, to)"),
         WHEN("!" TO_TINY_FLOAT " && " ALONG_AXIS, PER_AXIS "y = cast(round(q) + r, to)"),
         WHEN("!" TO_TINY_FLOAT " && block_size == 0", PLAIN "y = cast(round(q) + r, to)")),
     DECOMPOSITIONS(
         WHEN("block_size > 0 && present(zero_point)",
              "s = standard.repeat_blocks/1(scale, x){axis=axis, block_size=block_size};"
              "z = standard.repeat_blocks/1(zero_point, x){axis=axis, block_size=block_size};"
              "y = standard.quantize_linear/1(x, s, z){to=to, axis=axis, saturate=saturate}"),
         WHEN("block_size > 0",
              "s = standard.repeat_blocks/1(scale, x){axis=axis, block_size=block_size};"
              "y = standard.quantize_linear/1(x, s, _){to=to, axis=axis, saturate=saturate}")),
     .traits = "pure"},
    {OPERATOR("dequantize_linear", "(x - zero_point) scale"),
     TYPES(TYPE("Q", NARROW), TYPE("S", FLOAT_TYPES " f8e8m0")),
     INPUTS(PORT("x", "Q"), PORT_IN("scale", "S", "positive"), OPTIONAL("zero_point", "Q")),
     OUTPUTS(PORT("y", "$to")),
     ATTRIBUTES(DTYPE("to", "f32"), INT("axis", "1"), INT("block_size", "0")), BLOCK_CHECKS,
     .shape = "y = x",
     CASES(WHEN(ALONG_AXIS,
                "let c = present(zero_point) ? cast(x, f32) - cast(along(zero_point, axis), f32)"
                " : cast(x, f32);"
                "y = c * cast(along(scale, axis), f32)"),
           WHEN("block_size == 0",
                "let c = present(zero_point) ? cast(x, f32) - cast(zero_point, f32) : cast(x, f32);"
                "y = c * cast(scale, f32)")),
     DECOMPOSITIONS(
         WHEN("present(zero_point)",
              "s = standard.repeat_blocks/1(scale, x){axis=axis, block_size=block_size};"
              "z = standard.repeat_blocks/1(zero_point, x){axis=axis, block_size=block_size};"
              "y = standard.dequantize_linear/1(x, s, z){to=to, axis=axis}"),
         ALWAYS("s = standard.repeat_blocks/1(scale, x){axis=axis, block_size=block_size};"
                "y = standard.dequantize_linear/1(x, s, _){to=to, axis=axis}")),
     .traits = "pure"},
    {OPERATOR("dynamic_quantize_linear", "to u8, with a scale that covers x and 0"),
     INPUTS(PORT("x", "f32")),
     OUTPUTS(PORT("y", "u8"), PORT("scale", "f32"), PORT("zero_point", "u8")),
     ATTRIBUTES(FLAG("keepdims", "0")),
     CASE("let high = max(max(x, []), 0); let low = min(min(x, []), 0);"
          "let s = (high == low ? 1.0 : high - low) / 255.0;"
          "let z = round(clamp(-low / s, 0, 255));"
          "y = cast(clamp(round(x / s) + z, 0, 255), u8); scale = s; zero_point = cast(z, u8)"),
     .traits = "pure"},
};
FAMILY(quantization);
