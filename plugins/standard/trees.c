/* Ensembles of decision trees. */
#include "families.h"

#define VECTOR(name) CHECK("rank(" name ") == 1", name " has rank {rank(" name ")}, not 1")

static const tenon_operator_t operators[] = {
    {OPERATOR("tree_ensemble", "the leaves that the rows of x reach, gathered by target"),
     TYPES(TYPE("T", FLOAT_TYPES)),
     INPUTS(PORT("x", "T"), PORT("nodes", "i64"), PORT("thresholds", "T"), PORT("members", "T"),
            PORT("roots", "i64"), PORT("leaves", "i64"), PORT("targets", "i64"),
            PORT("weights", "T")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(CHOICE("aggregate", "'sum'", "sum|average|min|max"), REQUIRED_INT("target_count")),
     CHECKS(CHECK("rank(x) == 2", "x has rank {rank(x)}, not 2"),
            CHECK("rank(nodes) == 2 && dim(nodes, 1) == 7",
                  "a node is 7 numbers, not {dim(nodes, 1)}"),
            VECTOR("thresholds"), VECTOR("members"), VECTOR("roots"), VECTOR("targets"),
            VECTOR("weights"),
            CHECK("elements(thresholds) == dim(nodes, 0)",
                  "{elements(thresholds)} thresholds for {dim(nodes, 0)} nodes"),
            CHECK("rank(leaves) == 2 && dim(leaves, 1) == 2",
                  "a leaf is 2 numbers, not {dim(leaves, 1)}"),
            CHECK("elements(targets) == elements(weights)",
                  "{elements(targets)} targets for {elements(weights)} weights"),
            CHECK("target_count >= 1 && target_count < 2147483648", "{target_count} targets")),
     .shape = "y.rank = 2; y[d] = d == 0 ? dim(x, 0) : target_count", .traits = "pure"},
};
FAMILY(trees);
