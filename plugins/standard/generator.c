/* Contents made from shapes and scalars, and shapes as contents. */
#include "families.h"

#define FROM_DIMS "y.rank = len(dims); y[d] = dims[d]"

/* A window of `count` points; t runs from 0 to 1 over a period. Computed in f64, of little size. */
#define WINDOW(name, summary, text)                                                    \
  {                                                                                    \
    OPERATOR(name, summary), INPUTS(SHAPE("count", "i64")), OUTPUTS(PORT("y", "$to")), \
        ATTRIBUTES(FLAG("periodic", "1"), DTYPE("to", "f32")),                         \
        .shape = "y.rank = 1; y[d] = value(count)",                                    \
        CASE(                                                                          \
            "let t = cast(index(0), f64) / cast(size(0) - (1 - periodic), f64);"       \
            "y = cast(" text ", to)"),                                                 \
        .traits = "pure"                                                               \
  }
#define PI "3.14159265358979323846"

static const tenon_operator_t operators[] = {
    {OPERATOR("filled", "a scalar everywhere"), TYPES(TYPE("T", "any")),
     INPUTS(PORT("value", "T"), SHAPE("dims", "i64")), OUTPUTS(PORT("y", "T")), .shape = FROM_DIMS,
     CASE("y = value"), .traits = "pure"},
    {OPERATOR("arange", "start, start + delta, ... before limit"), TYPES(TYPE("T", INTEGER_TYPES)),
     INPUTS(SHAPE("start", "T"), SHAPE("limit", "T"), SHAPE("delta", "T")), OUTPUTS(PORT("y", "T")),
     CHECKS(CHECK("value(delta) != 0", "delta is 0")),
     .shape = "y.rank = 1;"
              "y[d] = max(0, -((value(start) - value(limit)) / value(delta)))",
     CASE("y = start + cast(index(0), T) * delta"), .traits = "pure"},
    {OPERATOR("arange_float", "start, start + delta, ... before limit"),
     TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("start", "T"), PORT("limit", "T"), PORT("delta", "T")),
     OUTPUTS(UNBOUNDED("y", "T")), .shape = "y.rank = 1; y[d] = fresh()", .traits = "pure"},
    {OPERATOR("one_hot", "on where the coordinate along the axis is the index, else off"),
     TYPES(TYPE("T", "any")),
     INPUTS(PORT("indices", "i64"), SHAPE("depth", "i64"), PORT("off", "T"), PORT("on", "T")),
     OUTPUTS(PORT("y", "T")), ATTRIBUTES(INT("axis", "-1")), CHECKS(AXIS_CHECK("axis", "indices")),
     .shape = "let a = wrap(axis, rank(indices)); y.rank = rank(indices);"
              "y[d] = d == a ? value(depth) : dim(indices, d)",
     CASE("let i = indices < 0 ? indices + depth : indices; y = i == index(axis) ? on : off"),
     .traits = "pure"},
    {OPERATOR("eye_like", "1 on diagonal k, else 0"), TYPES(TYPE("T", "any")),
     INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "$to")),
     ATTRIBUTES(INT("k", "0"), DTYPE("to", "f32")),
     CHECKS(CHECK("rank(x) == 2", "x has rank {rank(x)}, not 2")), .shape = "y = x",
     CASE("y = cast(index(1) - index(0) == k, to)"), .traits = "pure"},
    {OPERATOR("trilu", "x on and above (upper), or on and below diagonal k, else 0"),
     TYPES(TYPE("T", "numeric bool")), INPUTS(PORT("x", "T"), OPTIONAL("k", "i64")),
     OUTPUTS(PORT("y", "T")), ATTRIBUTES(FLAG("upper", "1")),
     CHECKS(CHECK("rank(x) >= 2", "x has rank {rank(x)}, less than 2")), .shape = "y = x",
     CASES(WHEN("dtype(x) == 'bool' && upper == 1",
                "let c = present(k) ? k : 0; y = x && index(-1) - index(-2) >= c"),
           WHEN("dtype(x) == 'bool'",
                "let c = present(k) ? k : 0; y = x && index(-1) - index(-2) <= c"),
           WHEN("upper == 1", "let c = present(k) ? k : 0; y = index(-1) - index(-2) >= c ? x : 0"),
           ALWAYS("let c = present(k) ? k : 0; y = index(-1) - index(-2) <= c ? x : 0")),
     .traits = "pure"},
    {OPERATOR("shape_of", "extents start to end of x"), TYPES(TYPE("T", "any")),
     INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "i64")),
     ATTRIBUTES(INT("start", "0"), INT("end", "9223372036854775807")),
     .shape = "let r = rank(x);"
              "let a = clamp(wrap(start, r), 0, r); let b = clamp(wrap(end, r), 0, r);"
              "y.rank = 1; y[d] = max(0, b - a)",
     .contents = "let r = rank(x); let a = clamp(wrap(start, r), 0, r); y[i] = dim(x, i + a)",
     .traits = "pure"},
    {OPERATOR("element_count", "how many elements x has"), TYPES(TYPE("T", "any")),
     INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "i64")), .shape = "y = []",
     .contents = "y = elements(x)", .traits = "pure"},
    WINDOW("hann_window", "sin^2(pi t)", "0.5 - 0.5 * cos(2.0 * " PI " * t)"),
    WINDOW("hamming_window", "25/46 - 21/46 cos(2 pi t)",
           "0.5434782608695652 - 0.45652173913043476 * cos(2.0 * " PI " * t)"),
    WINDOW("blackman_window", "0.42 - 0.5 cos(2 pi t) + 0.08 cos(4 pi t)",
           "0.42 - 0.5 * cos(2.0 * " PI " * t) + 0.08 * cos(4.0 * " PI " * t)"),
    {OPERATOR("mel_weight_matrix", "triangles on the mel scale, [dft_length / 2 + 1, bins]"),
     TYPES(TYPE("I", "i32 i64")),
     INPUTS(SHAPE("bins", "I"), SHAPE("dft_length", "I"), SHAPE("sample_rate", "I"),
            PORT("lower", "f32"), PORT("upper", "f32")),
     OUTPUTS(PORT("y", "$to")), ATTRIBUTES(DTYPE("to", "f32")),
     .shape = "y.rank = 2; y[d] = d == 0 ? value(dft_length) / 2 + 1 : value(bins)",
     .traits = "pure"},
};
FAMILY(generator);
