/* Products of matrices. */
#include "families.h"
#include "infer.h"

static const tenon_operator_t operators[] = {
    {OPERATOR("mat_mul", "matrix products over broadcast leading axes; 1-D operands as in NumPy"),
     BINARY(NUMBER_TYPES), .infer = tenon__infer_mat_mul,
     .operations = "2 * elements(y) * dim(a, -1)",
     .traits = "pure; linear(input=1, axis=-1, output_axis=-1);"
               "concatenable(axis=-1, output_axis=-1)"},
    {OPERATOR("mat_mul_integer", "of 8-bit values less their zero points, summed in i32"),
     TYPES(TYPE("A", "i8 u8"), TYPE("B", "i8 u8")),
     INPUTS(PORT("a", "A"), PORT("b", "B"), OPTIONAL("a_zero_point", "A"),
            OPTIONAL("b_zero_point", "B")),
     OUTPUTS(PORT("y", "i32")), .infer = tenon__infer_mat_mul_integer,
     .operations = "2 * elements(y) * dim(a, -1)", .traits = "pure"},
    {OPERATOR("einsum", "products summed as the equation says"), TYPES(TYPE("T", NUMBER_TYPES)),
     INPUTS(VARIADIC("xs", "T")), OUTPUTS(PORT("y", "T")), ATTRIBUTES(REQUIRED_STRING("equation")),
     .infer = tenon__infer_einsum, .traits = "pure"},
    {OPERATOR("det", "determinants of the matrices in the last two axes"), UNARY(FLOAT_TYPES),
     CHECKS(CHECK("rank(x) >= 2", "x has rank {rank(x)}, less than 2"),
            CHECK("dim(x, -1) == dim(x, -2)", "{dim(x, -2)} rows, {dim(x, -1)} columns")),
     .shape = "y.rank = rank(x) - 2; y[d] = dim(x, d)", .traits = "pure"},
};
FAMILY(product);
