/* Order, search, running sums and scattering. */
#include "families.h"

#define REDUCTIONS CHOICE("reduction", "'none'", "none|add|mul|max|min")
/* Where a place is named twice, which update stays is not said. */
#define SCATTERED(domain)                                                                        \
  TYPES(TYPE("T", "any"), TYPE("I", "i32 i64")),                                                 \
      INPUTS(PORT("x", "T"), PORT_IN("indices", "I", domain " distinct"), PORT("updates", "T")), \
      OUTPUTS(PORT("y", "T"))
#define RUNNING                                                                                  \
  TYPES(TYPE("T", "numeric"), TYPE("I", "i32 i64")), INPUTS(PORT("x", "T"), SHAPE("axis", "I")), \
      OUTPUTS(PORT("y", "T")), ATTRIBUTES(FLAG("exclusive", "0"), FLAG("reverse", "0"))

static const tenon_operator_t operators[] = {
    {OPERATOR("top_k", "the k largest or smallest values along the axis, and where they are"),
     TYPES(TYPE("T", "numeric")), INPUTS(PORT("x", "T"), SHAPE("k", "i64")),
     OUTPUTS(PORT("values", "T"), PORT("indices", "i64")),
     ATTRIBUTES(INT("axis", "-1"), FLAG("largest", "1"), FLAG("sorted", "1")),
     CHECKS(AXIS_CHECK("axis", "x"),
            CHECK("value(k) >= 0 && value(k) <= dim(x, axis)",
                  "k is {value(k)}, the axis has {dim(x, axis)} elements")),
     .shape = "let a = wrap(axis, rank(x));"
              "values.rank = rank(x); values[d] = d == a ? value(k) : dim(x, d);"
              "indices.rank = rank(x); indices[d] = d == a ? value(k) : dim(x, d)",
     .traits = "pure"},
    {OPERATOR("cumulative_sum", "running sums along the axis"), RUNNING, .shape = "y = x",
     .traits = "pure"},
    {OPERATOR("cumulative_prod", "running products along the axis"), RUNNING, .shape = "y = x",
     .traits = "pure"},
    {OPERATOR("scatter_elements", "x, with updates where indices say along the axis"),
     SCATTERED("index(x, axis)"), ATTRIBUTES(INT("axis", "0"), REDUCTIONS),
     CHECKS(CHECK("rank(x) >= 1 && rank(indices) == rank(x)",
                  "indices have rank {rank(indices)}, x has rank {rank(x)}"),
            CHECK("wrap(axis, rank(x)) >= 0 && wrap(axis, rank(x)) < rank(x)",
                  "axis {axis} is none of {rank(x)}"),
            CHECK("rank(updates) == rank(indices) && elements(updates) == elements(indices)",
                  "{elements(updates)} updates for {elements(indices)} indices")),
     .shape = "y = x", .traits = "pure"},
    {OPERATOR("scatter_nd", "x, with slices of updates at the coordinates in indices"),
     SCATTERED("coordinates(x, 0)"), ATTRIBUTES(REDUCTIONS),
     CHECKS(
         CHECK("rank(indices) >= 1 && dim(indices, -1) <= rank(x)",
               "indices have rank {rank(indices)}, x has {rank(x)} axes to be counted along"),
         CHECK("elements(updates) =="
               " elements(indices, 0, rank(indices) - 1) * elements(x, dim(indices, -1), rank(x))",
               "{elements(updates)} updates for {elements(indices)} indices")),
     .shape = "y = x", .traits = "pure"},
    {OPERATOR("tensor_scatter", "the cache with update written from write_indices on"),
     TYPES(TYPE("T", "any")),
     INPUTS(PORT("cache", "T"), PORT("update", "T"), OPTIONAL_IN("write_indices", "i64", "[0,0]")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(INT("axis", "-2"), CHOICE("mode", "'linear'", "linear|circular")),
     CHECKS(CHECK("rank(cache) >= 2 && rank(update) == rank(cache)",
                  "update has rank {rank(update)}, cache {rank(cache)}"),
            CHECK("wrap(axis, rank(cache)) >= 1 && wrap(axis, rank(cache)) < rank(cache)",
                  "axis {axis} is none of {rank(cache)}, or that of the samples"),
            CHECK("elements(update) * dim(cache, axis) == elements(cache) * dim(update, axis)",
                  "update has {elements(update)} elements, cache {elements(cache)}"),
            CHECK("!present(write_indices) || elements(write_indices) == dim(cache, 0)",
                  "{elements(write_indices)} positions for {dim(cache, 0)} samples")),
     .shape = "y = cache", .traits = "pure; in_place(input=0)"},
    {OPERATOR("nonzero", "coordinates of the elements other than 0, one column each"),
     TYPES(TYPE("T", "any")), INPUTS(PORT("x", "T")), OUTPUTS(UNBOUNDED("y", "i64")),
     .shape = "y.rank = 2; y[d] = d == 0 ? rank(x) : fresh(elements(x))", .traits = "pure"},
    {OPERATOR("unique", "what occurs, where first, where each element went, how often"),
     TYPES(TYPE("T", "any")), INPUTS(PORT("x", "T")),
     OUTPUTS(UNBOUNDED("y", "T"),
             PORT_OF("indices", "i64", NULL, TENON_PORT_UNBOUNDED | TENON_PORT_OPTIONAL),
             OPTIONAL("inverse", "i64"),
             PORT_OF("counts", "i64", NULL, TENON_PORT_UNBOUNDED | TENON_PORT_OPTIONAL)),
     ATTRIBUTES(INT("axis", "0"), FLAG("flat", "0"), FLAG("sorted", "1")),
     CHECKS(CHECK("flat == 1 || (axis >= -rank(x) && axis < rank(x))",
                  "axis is {axis}, x has rank {rank(x)}")),
     .shape = "let a = wrap(axis, rank(x)); let n = flat == 1 ? elements(x) : dim(x, a);"
              "y.rank = flat == 1 ? 1 : rank(x);"
              "y[d] = flat == 1 || d == a ? fresh(n) : dim(x, d);"
              "indices.rank = 1; indices[d] = fresh(n);"
              "inverse.rank = 1; inverse[d] = n;"
              "counts.rank = 1; counts[d] = fresh(n)",
     .traits = "pure"},
    {OPERATOR("compress", "slices along the axis (or elements) where the condition is true"),
     TYPES(TYPE("T", "any")), INPUTS(PORT("x", "T"), PORT("condition", "bool")),
     OUTPUTS(UNBOUNDED("y", "T")), ATTRIBUTES(INT("axis", "0"), FLAG("flat", "0")),
     CHECKS(CHECK("rank(condition) == 1", "the condition has rank {rank(condition)}, not 1"),
            CHECK("flat == 1 || (wrap(axis, rank(x)) >= 0 && wrap(axis, rank(x)) < rank(x))",
                  "axis {axis} of a tensor of rank {rank(x)}")),
     .shape = "let a = wrap(axis, rank(x));"
              "y.rank = flat == 1 ? 1 : rank(x);"
              "y[d] = flat == 1 || d == a ? fresh(elements(condition)) : dim(x, d)",
     .traits = "pure"},
};
FAMILY(indexing);
