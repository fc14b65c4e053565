/* Fourier transforms. A complex number is a last axis of 2; a last axis of 1 is real. */
#include "families.h"

static const tenon_operator_t operators[] = {
    {OPERATOR("dft", "discrete Fourier transform along an axis"),
     TYPES(TYPE("T", FLOAT_TYPES), TYPE("I", "i32 i64")),
     INPUTS(PORT("x", "T"), OPTIONAL_SHAPE("length", "I"), OPTIONAL_SHAPE("axis", "i64")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(INT("fixed_axis", "-2"), FLAG("inverse", "0"), FLAG("onesided", "0")),
     CHECKS(CHECK("rank(x) >= 2 && dim(x, rank(x) - 1) >= 1 && dim(x, rank(x) - 1) <= 2",
                  "x has rank {rank(x)} and {dim(x, -1)} parts"),
            CHECK("(present(length) ? value(length)"
                  " : dim(x, wrap(present(axis) ? value(axis) : fixed_axis, rank(x)))) >= 1",
                  "a transform of no samples")),
     .shape = "let a = wrap(present(axis) ? value(axis) : fixed_axis, rank(x));"
              "let whole = inverse == 1 && onesided == 1 ? 2 * (dim(x, a) - 1) : dim(x, a);"
              "let n = present(length) ? value(length) : whole;"
              "y.rank = rank(x);"
              "y[d] = d == rank(x) - 1 ? (inverse == 1 && onesided == 1 ? 1 : 2)"
              " : d != a ? dim(x, d) : onesided == 1 && inverse == 0 ? n / 2 + 1 : n",
     .traits = "pure"},
    {OPERATOR("stft", "discrete Fourier transforms of windowed frames of the signal"),
     TYPES(TYPE("T", FLOAT_TYPES), TYPE("I", "i32 i64")),
     INPUTS(PORT("signal", "T"), SHAPE("frame_step", "I"), OPTIONAL("window", "T"),
            OPTIONAL_SHAPE("frame_length", "I")),
     OUTPUTS(PORT("y", "T")), ATTRIBUTES(FLAG("onesided", "1")),
     CHECKS(CHECK("present(window) || present(frame_length)", "no window and no frame length"),
            CHECK("rank(signal) == 2 || rank(signal) == 3 && dim(signal, 2) >= 1 &&"
                  " dim(signal, 2) <= 2",
                  "the signal has rank {rank(signal)} and {dim(signal, -1)} parts"),
            CHECK("!present(window) || rank(window) == 1 && (!present(frame_length)"
                  " || dim(window, 0) >= value(frame_length))",
                  "a window of {elements(window)} elements is shorter than a frame"),
            CHECK("(present(frame_length) ? value(frame_length) : dim(window, 0)) >= 1",
                  "frames have no samples"),
            CHECK("value(frame_step) >= 1", "frames step by {value(frame_step)}")),
     .shape = "let n = present(frame_length) ? value(frame_length) : dim(window, 0);"
              "y.rank = 4;"
              "y[d] = d == 0 ? dim(signal, 0)"
              " : d == 1 ? (dim(signal, 1) - n) / value(frame_step) + 1"
              " : d == 2 ? (onesided == 1 ? n / 2 + 1 : n) : 2",
     .traits = "pure"},
};
FAMILY(signal);
