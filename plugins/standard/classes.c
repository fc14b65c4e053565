/* Which class it is. */
#include "families.h"

static const tenon_operator_t operators[] = {
    {OPERATOR("couple_pairs", "probabilities of classes, from those of each two of them"),
     TYPES(TYPE("T", FLOAT_TYPES)), INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(REQUIRED_INT("class_count")),
     CHECKS(CHECK("class_count >= 2 && class_count < 65536", "{class_count} classes"),
            CHECK("rank(x) == 2", "x has rank {rank(x)}, not 2"),
            CHECK("dim(x, 1) * 2 == class_count * (class_count - 1)",
                  "{dim(x, 1)} pairs of {class_count} classes")),
     .shape = "y.rank = 2; y[d] = d == 0 ? dim(x, 0) : class_count", .traits = "pure"},
};
FAMILY(classes);
