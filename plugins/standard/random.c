/* Random numbers. A seed of 0 gives other numbers in each execution; any other seed repeats. */
#include "families.h"

#define FROM_DIMS                                          \
  INPUTS(SHAPE("dims", "i64")), OUTPUTS(PORT("y", "$to")), \
      .shape = "y.rank = len(dims); y[d] = dims[d]", .traits = "impure; not_foldable"

static const tenon_operator_t operators[] = {
    {OPERATOR("random_uniform", "between low and high"), FROM_DIMS,
     ATTRIBUTES(FLOAT("low", "0.0"), FLOAT("high", "1.0"), INT("seed", "0"), DTYPE("to", "f32"))},
    {OPERATOR("random_normal", "normally distributed"), FROM_DIMS,
     ATTRIBUTES(FLOAT("mean", "0.0"), FLOAT("scale", "1.0"), INT("seed", "0"), DTYPE("to", "f32"))},
    {OPERATOR("bernoulli", "1 with probability x, else 0"), TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT_IN("x", "T", "[0,1]")), OUTPUTS(PORT("y", "$to")),
     ATTRIBUTES(INT("seed", "0"), DTYPE("to", "f32")), .shape = "y = x",
     .traits = "impure; not_foldable"},
    {OPERATOR("multinomial", "classes drawn by unnormalised logarithms of their probabilities"),
     TYPES(TYPE("T", FLOAT_TYPES)), INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "$to")),
     ATTRIBUTES(INT("sample_size", "1"), INT("seed", "0"), DTYPE("to", "i32")),
     CHECKS(CHECK("rank(x) == 2", "x has rank {rank(x)}, not 2")),
     .shape = "y.rank = 2; y[d] = d == 0 ? dim(x, 0) : sample_size",
     .traits = "impure; not_foldable"},
};
FAMILY(random);
