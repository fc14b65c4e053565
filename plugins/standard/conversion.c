/* From one element type to another. */
#include "families.h"

#define TRAITS .traits = "pure"

/* Floats saturate to integers, except to packed ones: ONNX's tests want those to wrap. Stores to
 * float8 saturate. Those that shall not, and f8e8m0's rounding modes, have a kernel. */
static const tenon_operator_t operators[] = {
    {OPERATOR("cast", "x in type `to`: floats truncate and saturate to integers"),
     TYPES(TYPE("T", "numeric bool")), INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "$to")),
     ATTRIBUTES(REQUIRED_DTYPE("to"), FLAG("saturate", "1"),
                CHOICE("round_mode", "'up'", "up|down|nearest")),
     .shape = "y = x",
     CASES(WHEN("to == 'bool' && dtype(x) == 'bool'", "y = x"), WHEN("to == 'bool'", "y = x != 0"),
           WHEN(TO_PACKED_INTEGER, "y = cast(cast(x, i32), to)"),
           WHEN("to != 'f8e8m0' && (saturate == 1 || !" TO_FLOAT8 ")", "y = cast(x, to)")),
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
FAMILY(conversion);
