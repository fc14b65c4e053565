/* From one element type to another. */
#include "families.h"

#define TRAITS .traits = "pure; elementwise; commutes(transpose|slice|concat)"
#define SATURATED(dtype, limit) \
  WHEN("to == '" dtype "' && saturate == 1", "y = clamp(cast(x, f32), -" limit ", " limit ")")

/* Types whose finite values end before those of f32 saturate by a clamp: a store rounds and
 * overflows to infinity, or to NaN where the type has none. f8e8m0 has rounding modes of its own: a
 * kernel. */
FAMILY_TABLE(conversion) = {
    {OPERATOR("cast", "x in type `to`: floats truncate and saturate to integers"),
     TYPES(TYPE("T", "numeric bool")), INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "$to")),
     ATTRIBUTES(REQUIRED_DTYPE("to"), FLAG("saturate", "1"),
                CHOICE("round_mode", "'up'", "up|down|nearest")),
     .shape = "y = x",
     CASES(WHEN("to == 'bool' && dtype(x) == 'bool'", "y = x"), WHEN("to == 'bool'", "y = x != 0"),
           SATURATED("f8e4m3fn", "448.0"), SATURATED("f8e4m3fnuz", "240.0"),
           SATURATED("f8e5m2", "57344.0"), SATURATED("f8e5m2fnuz", "57344.0"),
           WHEN("to == 'f4e2m1'", "y = clamp(cast(x, f32), -6.0, 6.0)"),
           WHEN("to != 'f8e8m0'", "y = cast(x, to)")),
     TRAITS},
    {OPERATOR("cast_like", "x in the type of `like`"),
     TYPES(TYPE("T", "numeric bool"), TYPE("U", "numeric bool")),
     INPUTS(PORT("x", "T"), PORT("like", "U")), OUTPUTS(PORT("y", "U")), .shape = "y = x",
     CASES(WHEN("dtype(like) == 'bool' && dtype(x) == 'bool'", "y = x"),
           WHEN("dtype(like) == 'bool'", "y = x != 0"), ALWAYS("y = cast(x, U)")),
     .traits = "pure"},
    {OPERATOR("bit_cast", "the bits of x as type `to`, of the same width"), TYPES(TYPE("T", "any")),
     INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "$to")), ATTRIBUTES(REQUIRED_DTYPE("to")),
     .shape = "y = x", .traits = "pure"},
    {OPERATOR("text_to_number", "the number that the text says"), INPUTS(PORT("x", "str")),
     OUTPUTS(PORT("y", "$to")), ATTRIBUTES(REQUIRED_DTYPE("to")), .shape = "y = x",
     .traits = "pure"},
    {OPERATOR("number_to_text", "the shortest text that says the number"),
     TYPES(TYPE("T", "numeric bool")), INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "str")),
     .shape = "y = x", .traits = "pure"},
};
