/* Losses. */
#include "families.h"

FAMILY_TABLE(loss) = {
    {OPERATOR("negative_log_likelihood", "-x at the target class, weighted, reduced"),
     TYPES(TYPE("T", FLOAT_TYPES), TYPE("I", "i32 i64")),
     INPUTS(PORT("x", "T"), PORT_IN("target", "I", "index(x, 1)"), OPTIONAL("weight", "T")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(CHOICE("reduction", "'mean'", "mean|sum|none"), FLAG("ignores", "0"),
                INT("ignore_index", "0")),
     .shape = "y.rank = reduction == 'none' ? rank(target) : 0; y[d] = dim(target, d)",
     .traits = "pure"},
};
