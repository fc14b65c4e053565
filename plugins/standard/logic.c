/* Comparisons, logic and bits. */
#include "families.h"

#define TRAITS .traits = "pure"
#define LOGIC INPUTS(PORT("a", "bool"), PORT("b", "bool")), OUTPUTS(PORT("y", "bool"))

static const tenon_operator_t operators[] = {
    {OPERATOR("where", "a where the condition is true, else b"), TYPES(TYPE("T", "any")),
     INPUTS(PORT("condition", "bool"), PORT("a", "T"), PORT("b", "T")), OUTPUTS(PORT("y", "T")),
     CASES(WHEN("dtype(a) != 'str'", "y = condition ? a : b")),
     .shape = "y = broadcast(condition, a, b)", TRAITS},
    {OPERATOR("equal", "a == b; strings too"), COMPARISON("any"),
     CASES(WHEN("dtype(a) != 'str'", "y = a == b")), .shape = "y = broadcast(a, b)", TRAITS},
    {OPERATOR("less", "a < b"), COMPARISON("numeric"), CASE("y = a < b"), TRAITS},
    {OPERATOR("less_equal", "a <= b"), COMPARISON("numeric"), CASE("y = a <= b"), TRAITS},
    {OPERATOR("greater", "a > b"), COMPARISON("numeric"), CASE("y = a > b"), TRAITS},
    {OPERATOR("greater_equal", "a >= b"), COMPARISON("numeric"), CASE("y = a >= b"), TRAITS},
    {OPERATOR("is_nan", "true where x is not a number"), PREDICATE("float"), CASE("y = is_nan(x)"),
     TRAITS},
    {OPERATOR("is_inf", "true where x is infinite"), PREDICATE("float"),
     ATTRIBUTES(FLAG("detect_positive", "1"), FLAG("detect_negative", "1")),
     CASES(WHEN("detect_positive == 1 && detect_negative == 1", "y = is_inf(x)"),
           WHEN("detect_positive == 1", "y = x == inf"),
           WHEN("detect_negative == 1", "y = x == -inf"), ALWAYS("y = is_inf(x) && x == 0")),
     TRAITS},
    {OPERATOR("logical_and", "a and b"), LOGIC, CASE("y = a && b"), TRAITS},
    {OPERATOR("logical_or", "a or b"), LOGIC, CASE("y = a || b"), TRAITS},
    {OPERATOR("logical_xor", "a or b, not both"), LOGIC, CASE("y = a ^ b"), TRAITS},
    {OPERATOR("logical_not", "not x"), INPUTS(PORT("x", "bool")), OUTPUTS(PORT("y", "bool")),
     CASE("y = !x"), TRAITS},
    {OPERATOR("bitwise_and", "bits of both"), BINARY(INTEGER_TYPES), CASE("y = a & b"), TRAITS},
    {OPERATOR("bitwise_or", "bits of either"), BINARY(INTEGER_TYPES), CASE("y = a | b"), TRAITS},
    {OPERATOR("bitwise_xor", "bits of one"), BINARY(INTEGER_TYPES), CASE("y = a ^ b"), TRAITS},
    {OPERATOR("bitwise_not", "all other bits"), UNARY(INTEGER_TYPES), CASE("y = not(x)"), TRAITS},
    {OPERATOR("bit_shift", "a moved by b bits; to the right, the sign of a fills"),
     BINARY(INTEGER_TYPES), ATTRIBUTES(CHOICE("direction", "'left'", "left|right")),
     CASES(WHEN("direction == 'left'", "y = shl(a, b)"), ALWAYS("y = shr(a, b)")), TRAITS},
};
FAMILY(logic);
