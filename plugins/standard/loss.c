/* Losses. */
#include "families.h"

static const tenon_operator_t operators[] = {
    {OPERATOR("negative_log_likelihood", "-x at the target class, weighted, reduced"),
     TYPES(TYPE("T", FLOAT_TYPES), TYPE("I", "i32 i64")),
     INPUTS(PORT("x", "T"), PORT_IN("target", "I", "index(x, 1)"), OPTIONAL("weight", "T")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(CHOICE("reduction", "'mean'", "mean|sum|none"), FLAG("ignores", "0"),
                INT("ignore_index", "0")),
     CHECKS(CHECK("rank(x) >= 2 && elements(target) * dim(x, 1) == elements(x)",
                  "{elements(target)} targets for {elements(x)} scores"),
            CHECK("!present(weight) || elements(weight) == dim(x, 1)",
                  "{elements(weight)} weights for {dim(x, 1)} classes")),
     .shape = "y.rank = reduction == 'none' ? rank(target) : 0; y[d] = dim(target, d)",
     .traits = "pure"},
};
FAMILY(loss);
