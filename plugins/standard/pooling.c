/* Windows without weights. */
#include "families.h"
#include "windows.h"

#define POOL_ATTRIBUTES                                                          \
  REQUIRED_INTS("kernel_shape"), INTS("strides", "[]"), INTS("dilations", "[]"), \
      INTS("pads", "[]"),                                                        \
      CHOICE("auto_pad", "'explicit'", "explicit|same_upper|same_lower|valid"),  \
      FLAG("ceil_mode", "0")
/* Along axis d, if there is one: a window lies within x and its padding. */
#define POOL_REACH_CHECK(d)                                                    \
  CHECK("rank(x) <= " d                                                        \
        " || auto_pad == 'same_upper' || auto_pad == 'same_lower'"             \
        " || ceil_mode == 1 || dim(x, " d                                      \
        ") == 0"                                                               \
        " || " PADDED_EXTENT(d) " >= at(dilations, " d                         \
                                " - 2, 1)"                                     \
                                " * (at(kernel_shape, " d " - 2, 1) - 1) + 1", \
        "axis " d " has extent {dim(x, " d ")}, which the window exceeds")
#define POOL_CHECKS                                                                                \
  CHECKS(CHECK("rank(x) >= 3", "x has rank {rank(x)}, which leaves no spatial axis"),              \
         CHECK("len(kernel_shape) == rank(x) - 2",                                                 \
               "kernel_shape has {len(kernel_shape)} entries for {rank(x) - 2} spatial axes"),     \
         STEPS_CHECK("kernel_shape"), WINDOW_CHECKS, POOL_REACH_CHECK("2"), POOL_REACH_CHECK("3"), \
         POOL_REACH_CHECK("4"))
#define POOL_OPERATIONS "elements(y) * prod(kernel_shape, 0, len(kernel_shape))"
#define POOL_SHAPE(port) port ".rank = rank(x); " port "[d] = d < 2 ? dim(x, d) : " POOL_EXTENT

static const tenon_operator_t operators[] = {
    {OPERATOR("max_pool", "the largest value of each window, and its place in x"),
     TYPES(TYPE("T", "i8 u8 " FLOAT_TYPES)), INPUTS(PORT("x", "T")),
     OUTPUTS(PORT("y", "T"), OPTIONAL("indices", "i64")),
     ATTRIBUTES(POOL_ATTRIBUTES, FLAG("storage_order", "0")), POOL_CHECKS,
     .shape = WINDOW_BOUNDS("kernel_shape[d - 2]") POOL_SHAPE("y") ";" POOL_SHAPE("indices"),
     .operations = POOL_OPERATIONS, .traits = "pure; transparent"},
    {OPERATOR("average_pool", "the mean of each window"), TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(POOL_ATTRIBUTES, FLAG("count_include_pad", "0")), POOL_CHECKS,
     .shape = WINDOW_BOUNDS("kernel_shape[d - 2]") POOL_SHAPE("y"), .operations = POOL_OPERATIONS,
     .traits = "pure"},
    {OPERATOR("lp_pool", "the p-norm of each window"), TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(POOL_ATTRIBUTES, INT_IN("p", "2", "1..64")), POOL_CHECKS,
     .shape = WINDOW_BOUNDS("kernel_shape[d - 2]") POOL_SHAPE("y"), .operations = POOL_OPERATIONS,
     .traits = "pure"},
    {OPERATOR("max_unpool", "values at the places that max_pool found, else 0"),
     TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("x", "T"), PORT("indices", "i64"), OPTIONAL_SHAPE("output_shape", "i64")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(REQUIRED_INTS("kernel_shape"), INTS("strides", "[]"), INTS("pads", "[]")),
     CHECKS(CHECK("rank(indices) == rank(x) && elements(indices) == elements(x)",
                  "{elements(indices)} indices for {elements(x)} elements")),
     .shape = "let stride = at(strides, d - 2, 1);"
              "let padding = at(pads, d - 2, 0) + at(pads, d - 4 + rank(x), 0);"
              "y.rank = rank(x);"
              "y[d] = present(output_shape) ? output_shape[d] : d < 2 ? dim(x, d)"
              " : (dim(x, d) - 1) * stride + kernel_shape[d - 2] - padding",
     .traits = "pure"},
    {OPERATOR("lrn", "x / (bias + alpha / window sum of squares over near channels)^beta"),
     UNARY(FLOAT_TYPES),
     ATTRIBUTES(REQUIRED_INT("window"), FLOAT("alpha", "0.0001"), FLOAT("beta", "0.75"),
                FLOAT("bias", "1.0")),
     CHECKS(CHECK("rank(x) >= 2", "x has rank {rank(x)}, which leaves no channel axis"),
            CHECK("window >= 1 && window < 2147483648", "a window of {window} channels")),
     .shape = "y = x", .operations = "elements(x) * (2 * window + 4)", .traits = "pure"},
};
FAMILY(pooling);
