/* Convolutions. x is [N, C, spatial...], w [M, C / groups, spatial...]; spatial rank 1 to 3. */
#include "families.h"
#include "windows.h"

#define GROUPS(name) INT_IN(name, "1", "1..2147483647")
/* `count`: of output channels. */
#define BIAS_CHECK(count)                                     \
  CHECK("!present(b) || rank(b) == 1 && dim(b, 0) == " count, \
        "bias has {elements(b)} elements for {" count "} channels")
#define WINDOW_ATTRIBUTES                                                               \
  INTS("strides", "[]"), INTS("dilations", "[]"), INTS("pads", "[]"), GROUPS("groups"), \
      CHOICE("auto_pad", "'explicit'", "explicit|same_upper|same_lower|valid")
/* Along axis d, if there is one: a window lies within x and its padding. */
#define REACH_CHECK(d)                                                                       \
  CHECK("rank(x) <= " d                                                                      \
        " || auto_pad == 'same_upper' || auto_pad == 'same_lower'"                           \
        " || " PADDED_EXTENT(d) " >= at(dilations, " d " - 2, 1) * (dim(w, " d ") - 1) + 1", \
        "axis " d " has extent {dim(x, " d ")}, which the window of the weights exceeds")
#define REACH_CHECKS REACH_CHECK("2"), REACH_CHECK("3"), REACH_CHECK("4")
#define CONVOLUTION_CHECKS                                                              \
  CHECK("rank(x) >= 3 && rank(x) <= 5", "x has rank {rank(x)}, not 3 to 5"),            \
      CHECK("rank(w) == rank(x)", "x has rank {rank(x)}, weights have rank {rank(w)}"), \
      CHECK("dim(x, 1) == dim(w, 1) * groups",                                          \
            "weights expect {dim(w, 1) * groups} channels, input has {dim(x, 1)}"),     \
      CHECK("dim(w, 0) % groups == 0",                                                  \
            "{dim(w, 0)} output channels are not divisible into {groups} groups"),      \
      WINDOW_CHECKS
/* Each element of y sums over one row of w, each element of x spreads over one. */
#define CONVOLUTION_OPERATIONS "2 * elements(y) * elements(w, 1, rank(w))"
#define DECONVOLUTION_OPERATIONS "2 * elements(x) * elements(w, 1, rank(w))"
#define CONVOLUTION_SHAPE    \
  WINDOW_BOUNDS("dim(w, d)") \
  "y.rank = rank(x);"        \
  "y[d] = d == 0 ? dim(x, 0) : d == 1 ? dim(w, 0) : " WINDOW_EXTENT

/* Output pixels of a deformable convolution. */
#define POINTS                                                                            \
  "((dim(x, 2) + at(pads, 0, 0) + at(pads, 2, 0) - at(dilations, 0, 1) * (dim(w, 2) - 1)" \
  " - 1) / at(strides, 0, 1) + 1) *"                                                      \
  "((dim(x, 3) + at(pads, 1, 0) + at(pads, 3, 0) - at(dilations, 1, 1) * (dim(w, 3) - 1)" \
  " - 1) / at(strides, 1, 1) + 1)"

static const tenon_operator_t operators[] = {
    {OPERATOR("convolution", "weighted sums over windows of x"), TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("x", "T"), PORT("w", "T"), OPTIONAL("b", "T")), OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(WINDOW_ATTRIBUTES),
     CHECKS(CONVOLUTION_CHECKS, REACH_CHECKS, BIAS_CHECK("dim(w, 0)")), .shape = CONVOLUTION_SHAPE,
     .operations = CONVOLUTION_OPERATIONS,
     .traits = "pure; linear(input=1, axis=0, output_axis=1, bias=2);"
               "concatenable(axis=0, output_axis=1, single=groups)"},
    {OPERATOR("convolution_integer", "8-bit values less their zero points, summed in i32"),
     TYPES(TYPE("X", "i8 u8"), TYPE("W", "i8 u8")),
     INPUTS(PORT("x", "X"), PORT("w", "W"), OPTIONAL("x_zero_point", "X"),
            OPTIONAL("w_zero_point", "W")),
     OUTPUTS(PORT("y", "i32")), ATTRIBUTES(WINDOW_ATTRIBUTES),
     CHECKS(CONVOLUTION_CHECKS, REACH_CHECKS,
            CHECK("!present(x_zero_point) || elements(x_zero_point) == 1",
                  "{elements(x_zero_point)} zero points of x, not 1"),
            CHECK("!present(w_zero_point) || elements(w_zero_point) == 1"
                  " || elements(w_zero_point) == dim(w, 0)",
                  "{elements(w_zero_point)} zero points for {dim(w, 0)} channels")),
     .shape = CONVOLUTION_SHAPE, .operations = CONVOLUTION_OPERATIONS, .traits = "pure"},
    {OPERATOR("deconvolution", "the transpose of convolution; w is [C, M / groups, spatial...]"),
     TYPES(TYPE("T", FLOAT_TYPES)), INPUTS(PORT("x", "T"), PORT("w", "T"), OPTIONAL("b", "T")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(WINDOW_ATTRIBUTES, INTS("output_padding", "[]"), INTS("output_shape", "[]")),
     CHECKS(
         CHECK("rank(x) >= 3 && rank(x) <= 5", "x has rank {rank(x)}, not 3 to 5"),
         CHECK("rank(w) == rank(x)", "x has rank {rank(x)}, weights have rank {rank(w)}"),
         CHECK("dim(x, 1) == dim(w, 0)",
               "weights expect {dim(w, 0)} channels, input has {dim(x, 1)}"),
         CHECK("dim(w, 0) % groups == 0",
               "{dim(w, 0)} channels are not divisible into {groups} groups"),
         CHECK("len(output_padding) == 0 || len(output_padding) == rank(x) - 2",
               "output_padding has {len(output_padding)} entries for {rank(x) - 2} spatial axes"),
         CHECK("len(output_shape) == 0 || len(output_shape) == rank(x) - 2",
               "output_shape has {len(output_shape)} entries for {rank(x) - 2} spatial axes"),
         BIAS_CHECK("dim(w, 1) * groups"), WINDOW_CHECKS),
     .shape = WINDOW_BOUNDS(
         "dim(w, d)") "let grown = stride * (n - 1) + at(output_padding, d - 2, 0) + reach;"
                      "y.rank = rank(x);"
                      "y[d] = d == 0 ? dim(x, 0) : d == 1 ? dim(w, 1) * groups"
                      " : len(output_shape) > 0 ? output_shape[d - 2]"
                      " : auto_pad == 'same_upper' || auto_pad == 'same_lower' ? n * stride"
                      " : auto_pad == 'valid' ? grown : grown - low - high",
     .operations = DECONVOLUTION_OPERATIONS, .traits = "pure"},
    {OPERATOR("deformable_convolution", "convolution that reads at offsets, times a mask"),
     TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("x", "T"), PORT("w", "T"), PORT("offset", "T"), OPTIONAL("b", "T"),
            OPTIONAL("mask", "T")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(INTS("strides", "[]"), INTS("dilations", "[]"), INTS("pads", "[]"),
                GROUPS("groups"), GROUPS("offset_groups")),
     CHECKS(CHECK("rank(x) == 4", "x has rank {rank(x)}, not 4"), CONVOLUTION_CHECKS,
            BIAS_CHECK("dim(w, 0)"),
            CHECK("dim(x, 1) % offset_groups == 0",
                  "{dim(x, 1)} channels are not divisible into {offset_groups} groups of offsets"),
            CHECK("elements(offset) == dim(x, 0) * offset_groups * 2 * elements(w, 2, 4) *" POINTS,
                  "{elements(offset)} offsets, not two for each tap and output pixel"),
            CHECK("!present(mask) || elements(mask) * 2 == elements(offset)",
                  "{elements(mask)} entries of the mask for {elements(offset)} offsets")),
     .shape = WINDOW_BOUNDS("dim(w, d)") "y.rank = rank(x);"
                                         "y[d] = d == 0 ? dim(x, 0) : d == 1 ? dim(w, 0) : (n + "
                                         "low + high - reach) / stride + 1",
     .traits = "pure; linear(input=1, axis=0, output_axis=1, bias=3)"},
    {OPERATOR("causal_convolution", "each channel with its own filter over past positions"),
     TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("x", "T"), PORT("w", "T"), OPTIONAL("b", "T"), OPTIONAL("past", "T")),
     OUTPUTS(PORT("y", "T"), OPTIONAL("carried", "T")),
     ATTRIBUTES(CHOICE("activation", "'none'", "none|silu|swish")),
     CHECKS(CHECK("rank(x) == 3 && rank(w) == 3 && dim(w, 1) == 1 && dim(w, 0) == dim(x, 1)",
                  "weights have rank {rank(w)}, not one filter for each of {dim(x, 1)} channels"),
            CHECK("dim(w, 2) >= 1", "filters have no taps"), BIAS_CHECK("dim(x, 1)"),
            CHECK("!present(past) ||"
                  " elements(past) == dim(x, 0) * dim(x, 1) * (dim(w, 2) - 1)",
                  "{elements(past)} past elements, not {dim(w, 2) - 1} of each channel")),
     .shape = "y = x; carried.rank = 3; carried[d] = d == 2 ? dim(w, 2) - 1 : dim(x, d)",
     .traits = "pure"},
    {OPERATOR("col2im", "columns of windows summed into an image"), TYPES(TYPE("T", "numeric")),
     INPUTS(PORT("x", "T"), SHAPE("image_shape", "i64"), SHAPE("block_shape", "i64")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(INTS("strides", "[]"), INTS("dilations", "[]"), INTS("pads", "[]")),
     CHECKS(CHECK("rank(x) == 3", "x has rank {rank(x)}, not 3"), STEPS_CHECK("strides"),
            STEPS_CHECK("dilations"), STEPS_CHECK("block_shape"),
            CHECK("len(block_shape) == len(image_shape)",
                  "a block of {len(block_shape)} axes for an image of {len(image_shape)}"),
            CHECK("len(strides) == 0 || len(strides) == len(image_shape)",
                  "strides has {len(strides)} entries for {len(image_shape)} spatial axes"),
            CHECK("len(dilations) == 0 || len(dilations) == len(image_shape)",
                  "dilations has {len(dilations)} entries for {len(image_shape)} spatial axes"),
            CHECK("len(pads) == 0 || len(pads) == 2 * len(image_shape)",
                  "pads has {len(pads)} entries for {len(image_shape)} spatial axes"),
            CHECK("dim(x, 1) % prod(block_shape, 0, len(block_shape)) == 0",
                  "{dim(x, 1)} rows are no channels of blocks")),
     .shape = "y.rank = 2 + len(image_shape);"
              "y[d] = d == 0 ? dim(x, 0)"
              " : d == 1 ? dim(x, 1) / prod(block_shape, 0, len(block_shape))"
              " : image_shape[d - 2]",
     .traits = "pure"},
};
FAMILY(convolution);
