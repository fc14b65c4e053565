/* Moves: which input element each output element is. */
#include "families.h"
#include "infer.h"

#define MOVED TYPES(TYPE("T", "any")), INPUTS(PORT("x", "T")), OUTPUTS(PORT("y", "T"))
#define WITH_AXES                                                                 \
  TYPES(TYPE("T", "any")), INPUTS(PORT("x", "T"), OPTIONAL_SHAPE("axes", "i64")), \
      OUTPUTS(PORT("y", "T")), ATTRIBUTES(INTS("fixed_axes", "[]"))
#define TRAITS .traits = "pure; transparent"

/* strided_slice along axis d of extent n: entry k of the lists, or -1; then begin, end and step
 * there. A step of 2^36 leaves any axis that fits in memory after one element, as do larger ones,
 * with which numbers would overflow. */
#define SLICE_BOUNDS                                                              \
  "let n = dim(x, d);"                                                            \
  "let k = present(axes) ? axis_of(axes, d, rank(x)) : d < len(starts) ? d : -1;" \
  "let step = present(steps) ? clamp(steps[k], -68719476736, 68719476736) : 1;"   \
  "let low = step > 0 ? 0 : -1;"                                                  \
  "let begin = clamp(wrap(starts[k], n), low, n + low);"                          \
  "let end = clamp(wrap(ends[k], n), low, n + low);"

/* pad along axis d of extent n: entry k of the list, or -1; how many elements come before. */
#define PAD_BOUNDS                                         \
  "let n = dim(x, d);"                                     \
  "let k = present(axes) ? axis_of(axes, d, rank(x)) : d;" \
  "let before_count = k < 0 ? 0 : pads[k];"

/* Negative pads crop before the rest is repeated: what is left is x[first .. last]. */
#define PAD_CROP                                 \
  PAD_BOUNDS                                     \
  "let m = present(axes) ? len(axes) : rank(x);" \
  "let after_count = k < 0 ? 0 : pads[k + m];"   \
  "let first = max(0, -before_count);"           \
  "let last = n - 1 - max(0, -after_count);"

/* center_crop_pad along axis d: extent n, target t, and how far the window lies inside of x. */
#define CENTER_BOUNDS                                       \
  "let n = dim(x, d);"                                      \
  "let k = len(axes) == 0 ? d : axis_of(axes, d, rank(x));" \
  "let t = k < 0 ? n : dims[k];"                            \
  "let inside = t < n ? (n - t) / 2 : -((t - n) / 2);"

#define SPLIT_PLACE              \
  "let a = wrap(axis, rank(x));" \
  "let chunk = present(sizes) ? 0 : ceil_div(dim(x, a), parts);"

static const tenon_operator_t operators[] = {
    {OPERATOR("pass_through", "x"), MOVED, .shape = "y = x", MOVE("x[d] = o(d)"), TRAITS},
    {OPERATOR("permute", "axes in the order of perm; reversed without it"), MOVED,
     ATTRIBUTES(INTS("perm", "[]")),
     CHECKS(CHECK("len(perm) == 0 || len(perm) == rank(x)",
                  "perm has {len(perm)} entries, x has rank {rank(x)}")),
     .shape = "y.rank = rank(x);"
              "y[d] = dim(x, len(perm) == 0 ? rank(x) - 1 - d : wrap(perm[d], rank(x)))",
     MOVES(WHEN("len(perm) == 0", "x[d] = o(rank(x) - 1 - d)"),
           ALWAYS("x[d] = o(axis_of(perm, d, rank(x)))")),
     TRAITS},
    {OPERATOR("reshape", "the same elements in row-major order under other extents"),
     TYPES(TYPE("T", "any")), INPUTS(PORT("x", "T"), OPTIONAL_SHAPE("dims", "i64")),
     OUTPUTS(PORT("y", "T")), ATTRIBUTES(INTS("fixed_dims", "[]"), FLAG("allow_zero", "0")),
     .infer = tenon__infer_reshape, MOVE("x = linear"), TRAITS},
    {OPERATOR("squeeze", "without axes of extent 1"), WITH_AXES, .infer = tenon__infer_squeeze,
     MOVE("x = linear"), TRAITS},
    {OPERATOR("unsqueeze", "with new axes of extent 1"), WITH_AXES, .infer = tenon__infer_unsqueeze,
     MOVE("x = linear"), TRAITS},
    {OPERATOR("flatten", "to rank 2, split before `axis`"), MOVED, ATTRIBUTES(INT("axis", "1")),
     CHECKS(CHECK("axis >= -rank(x) && axis <= rank(x)", "axis is {axis}, x has rank {rank(x)}")),
     .shape = "let a = axis < 0 ? axis + rank(x) : axis; y.rank = 2;"
              "y[d] = d == 0 ? elements(x, 0, a) : elements(x, a, rank(x))",
     MOVE("x = linear"), TRAITS},
    {OPERATOR("group_channels", "[N, groups, the rest]"), MOVED, ATTRIBUTES(REQUIRED_INT("groups")),
     CHECKS(CHECK("groups > 0 && dim(x, 1) % groups == 0",
                  "{dim(x, 1)} channels are not divisible into {groups} groups")),
     .shape = "y.rank = 3;"
              "y[d] = d == 0 ? dim(x, 0) : d == 1 ? groups : elements(x, 1, rank(x)) / groups",
     MOVE("x = linear"), TRAITS},
    {OPERATOR("broadcast_to", "repeated along axes of extent 1; dims broadcast with x"),
     TYPES(TYPE("T", "any")), INPUTS(PORT("x", "T"), SHAPE("dims", "i64")), OUTPUTS(PORT("y", "T")),
     .infer = tenon__infer_broadcast_to,
     MOVE("x[d] = dim(x, d) == 1 ? 0 : o(d + rank(y) - rank(x))"), TRAITS},
    {OPERATOR("strided_slice", "from starts to ends by steps; negative ones count from the end"),
     TYPES(TYPE("T", "any")),
     INPUTS(PORT("x", "T"), SHAPE("starts", "i64"), SHAPE("ends", "i64"),
            OPTIONAL_SHAPE("axes", "i64"), OPTIONAL_SHAPE("steps", "i64")),
     OUTPUTS(PORT("y", "T")),
     CHECKS(CHECK("len(starts) == len(ends)", "{len(starts)} starts and {len(ends)} ends"),
            CHECK("!present(axes) || len(axes) == len(starts)",
                  "{len(axes)} axes for {len(starts)} starts"),
            CHECK("!present(steps) || len(steps) == len(starts)",
                  "{len(steps)} steps for {len(starts)} starts"),
            CHECK("present(axes) || len(starts) <= rank(x)",
                  "{len(starts)} starts, x has rank {rank(x)}")),
     .shape = SLICE_BOUNDS "y.rank = rank(x);"
                           "y[d] = k < 0 ? n : step > 0 ? max(0, ceil_div(end - begin, step))"
                           " : max(0, ceil_div(begin - end, -step))",
     MOVE(SLICE_BOUNDS "x[d] = k < 0 ? o(d) : begin + o(d) * step"), TRAITS},
    {OPERATOR("pad", "with a border; negative pads crop"), TYPES(TYPE("T", "any")),
     INPUTS(PORT("x", "T"), SHAPE("pads", "i64"), OPTIONAL("value", "T"),
            OPTIONAL_SHAPE("axes", "i64")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(CHOICE("mode", "'constant'", "constant|edge|reflect|wrap")),
     CHECKS(CHECK("!present(value) || elements(value) == 1", "'value' must be one element")),
     .shape = PAD_BOUNDS "y.rank = rank(x);"
                         "let m = present(axes) ? len(axes) : rank(x);"
                         "y[d] = k < 0 ? n : n + before_count + pads[k + m]",
     MOVES(WHEN("mode == 'constant' && present(value)",
                PAD_BOUNDS "x[d] = o(d) - before_count; fill = value"),
           WHEN("mode == 'constant'", PAD_BOUNDS "x[d] = o(d) - before_count; fill = 0"),
           WHEN("mode == 'edge'", PAD_CROP "x[d] = clamp(o(d) - before_count, first, last)"),
           WHEN("mode == 'wrap'",
                PAD_CROP "x[d] = first + (o(d) - before_count - first) % max(last - first + 1, 1)"),
           ALWAYS(PAD_CROP "let way = last - first; let period = max(2 * way, 1);"
                           "x[d] = last - abs(way - (o(d) - before_count - first) % period)")),
     .traits = "pure"},
    {OPERATOR("center_crop_pad", "cropped, or padded with zeros, around the middle"),
     TYPES(TYPE("T", "any")), INPUTS(PORT("x", "T"), SHAPE("dims", "i64")), OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(INTS("axes", "[]")), .shape = CENTER_BOUNDS "y.rank = rank(x); y[d] = t",
     MOVE(CENTER_BOUNDS "x[d] = o(d) + inside; fill = 0"), .traits = "pure"},
    {OPERATOR("concatenate", "one after the other along the axis"), TYPES(TYPE("T", "any")),
     INPUTS(VARIADIC("xs", "T")), OUTPUTS(PORT("y", "T")), ATTRIBUTES(REQUIRED_INT("axis")),
     CHECKS(AXIS_CHECK("axis", "xs")),
     .shape = "let a = wrap(axis, rank(xs)); y.rank = rank(xs);"
              "y[d] = d == a ? sum_dim(xs, a) : same_dim(xs, d)",
     MOVE("let a = wrap(axis, rank(y)); xs[d] = d == a ? o(d) - before(k, a) : o(d)"), TRAITS},
    {OPERATOR("split", "pieces along the axis, of the given sizes or as equal as can be"),
     TYPES(TYPE("T", "any")), INPUTS(PORT("x", "T"), OPTIONAL_SHAPE("sizes", "i64")),
     OUTPUTS(VARIADIC("ys", "T")),
     ATTRIBUTES(INT("axis", "0"), INT("parts", "0"), FLAG("equal", "0")),
     CHECKS(AXIS_CHECK("axis", "x"),
            CHECK("present(sizes) || parts > 0", "neither sizes nor parts are given"),
            CHECK("!present(sizes) || sum(sizes) == dim(x, axis)",
                  "the sizes are {sum(sizes)} together, x has {dim(x, axis)} along the axis"),
            CHECK("equal == 0 || present(sizes) || dim(x, axis) % parts == 0",
                  "{dim(x, axis)} cannot be split into {parts} equal parts")),
     .shape = SPLIT_PLACE "ys.count = present(sizes) ? len(sizes) : parts; ys.rank = rank(x);"
                          "ys[d] = d != a ? dim(x, d) : present(sizes) ? sizes[k]"
                          " : max(0, min(chunk, dim(x, a) - k * chunk))",
     MOVE(SPLIT_PLACE "let first = present(sizes) ? sum(sizes, 0, k) : k * chunk;"
                      "ys: x[d] = d == a ? o(d) + first : o(d)"),
     TRAITS},
    {OPERATOR("gather", "slices of x along the axis, picked by indices"),
     TYPES(TYPE("T", "any"), TYPE("I", "i32 i64")),
     INPUTS(PORT("x", "T"), PORT_IN("indices", "I", "index(x, axis)")), OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(INT("axis", "0")), CHECKS(AXIS_CHECK("axis", "x")),
     .shape = "let a = wrap(axis, rank(x)); y.rank = rank(x) + rank(indices) - 1;"
              "y[d] = d < a ? dim(x, d) : d < a + rank(indices) ? dim(indices, d - a)"
              " : dim(x, d - rank(indices) + 1)",
     MOVE(
         "let a = wrap(axis, rank(x));"
         "x[d] = d < a ? o(d) : d == a ? wrap(element(indices, o(a..a + rank(indices))), dim(x, a))"
         " : o(d + rank(indices) - 1)"),
     TRAITS},
    {OPERATOR("gather_elements", "elements of x, the coordinate along the axis from indices"),
     TYPES(TYPE("T", "any"), TYPE("I", "i32 i64")),
     INPUTS(PORT("x", "T"), PORT_IN("indices", "I", "index(x, axis)")), OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(INT("axis", "0")), CHECKS(AXIS_CHECK("axis", "x")), .shape = "y = indices",
     MOVE("let a = wrap(axis, rank(x));"
          "x[d] = d == a ? wrap(element(indices, o(0..rank(indices))), dim(x, a)) : o(d)"),
     TRAITS},
    {OPERATOR("gather_nd", "slices of x at coordinates in the last axis of indices"),
     TYPES(TYPE("T", "any"), TYPE("I", "i32 i64")),
     INPUTS(PORT("x", "T"), PORT_IN("indices", "I", "coordinates(x, batch_dims)")),
     OUTPUTS(PORT("y", "T")), ATTRIBUTES(INT("batch_dims", "0")),
     .shape = "let q = rank(indices) - 1; let m = dim(indices, q);"
              "y.rank = q + rank(x) - m - batch_dims;"
              "y[d] = d < q ? dim(indices, d) : dim(x, d - q + m + batch_dims)",
     MOVE("let q = rank(indices) - 1; let m = dim(indices, q); let b = batch_dims;"
          "x[d] = d < b ? o(d) : d < b + m ? wrap(element(indices, o(0..q), d - b), dim(x, d))"
          " : o(d - b - m + q)"),
     TRAITS},
    {OPERATOR("tile", "repeated along every axis"), TYPES(TYPE("T", "any")),
     INPUTS(PORT("x", "T"), SHAPE("repeats", "i64")), OUTPUTS(PORT("y", "T")),
     .shape = "y.rank = rank(x); y[d] = dim(x, d) * repeats[d]", MOVE("x[d] = o(d) % dim(x, d)"),
     TRAITS},
    {OPERATOR("repeat_blocks", "each slice along the axis block_size times, extents of `like`"),
     TYPES(TYPE("T", "any"), TYPE("U", "any")), INPUTS(PORT("x", "T"), PORT("like", "U")),
     OUTPUTS(PORT("y", "T")), ATTRIBUTES(REQUIRED_INT("axis"), REQUIRED_INT("block_size")),
     CHECKS(
         CHECK("rank(x) == rank(like)", "rank {rank(x)} is not that of the values, {rank(like)}"),
         CHECK("elements(x, 0, wrap(axis, rank(x))) == elements(like, 0, wrap(axis, rank(x))) && "
               "elements(x, wrap(axis, rank(x)) + 1, rank(x)) == "
               "elements(like, wrap(axis, rank(x)) + 1, rank(x))",
               "extents besides axis {axis} are not those of the values"),
         CHECK("block_size > 0 && dim(x, axis) * block_size >= dim(like, axis)",
               "{dim(x, axis)} blocks of {block_size} are fewer than {dim(like, axis)} values")),
     .shape = "y = like", MOVE("x[d] = d == wrap(axis, rank(x)) ? o(d) / block_size : o(d)"),
     TRAITS},
    {OPERATOR("depth_to_space", "blocks of channels become blocks of pixels"), MOVED,
     ATTRIBUTES(REQUIRED_INT("block_size"), CHOICE("mode", "'dcr'", "dcr|crd")),
     CHECKS(CHECK("rank(x) == 4", "x has rank {rank(x)}, not 4"),
            CHECK("block_size > 0 && dim(x, 1) % (block_size * block_size) == 0",
                  "{dim(x, 1)} channels are no blocks of {block_size} by {block_size}")),
     .shape = "let b = block_size; y.rank = 4;"
              "y[d] = d == 0 ? dim(x, 0) : d == 1 ? dim(x, 1) / (b * b) : dim(x, d) * b",
     MOVES(WHEN("mode == 'dcr'",
                "let b = block_size; let c = dim(x, 1) / (b * b);"
                "x[d] = d == 0 ? o(0) : d == 1 ? ((o(2) % b) * b + o(3) % b) * c + o(1)"
                " : o(d) / b"),
           ALWAYS("let b = block_size;"
                  "x[d] = d == 0 ? o(0) : d == 1 ? (o(1) * b + o(2) % b) * b + o(3) % b"
                  " : o(d) / b")),
     TRAITS},
    {OPERATOR("space_to_depth", "blocks of pixels become blocks of channels"), MOVED,
     ATTRIBUTES(REQUIRED_INT("block_size"), CHOICE("mode", "'dcr'", "dcr|crd")),
     CHECKS(CHECK("rank(x) == 4", "x has rank {rank(x)}, not 4"),
            CHECK("block_size > 0 && dim(x, 2) % block_size == 0 && dim(x, 3) % block_size == 0",
                  "{dim(x, 2)} by {dim(x, 3)} pixels are no blocks of {block_size} by"
                  " {block_size}")),
     .shape = "let b = block_size; y.rank = 4;"
              "y[d] = d == 0 ? dim(x, 0) : d == 1 ? dim(x, 1) * b * b : dim(x, d) / b",
     MOVES(WHEN("mode == 'dcr'",
                "let b = block_size; let t = o(1) / dim(x, 1);"
                "x[d] = d == 0 ? o(0) : d == 1 ? o(1) % dim(x, 1)"
                " : d == 2 ? o(2) * b + t / b : o(3) * b + t % b"),
           ALWAYS("let b = block_size; let t = o(1) % (b * b);"
                  "x[d] = d == 0 ? o(0) : d == 1 ? o(1) / (b * b)"
                  " : d == 2 ? o(2) * b + t / b : o(3) * b + t % b")),
     TRAITS},
    {OPERATOR("reverse_sequence", "the first lengths[b] steps of sequence b in reverse"),
     TYPES(TYPE("T", "any"), TYPE("I", "i32 i64")),
     INPUTS(PORT("x", "T"), PORT_IN("lengths", "I", "index(x, time_axis)")),
     OUTPUTS(PORT("y", "T")), ATTRIBUTES(INT("time_axis", "0"), INT("batch_axis", "1")),
     CHECKS(AXIS_CHECK("time_axis", "x"), AXIS_CHECK("batch_axis", "x")), .shape = "y = x",
     MOVE("let t = wrap(time_axis, rank(x));"
          "let n = element(lengths, o(wrap(batch_axis, rank(x))));"
          "x[d] = d == t && (n < 0 || o(t) < n) ? n - 1 - (n < 0 ? 0 : o(t)) : o(d)"),
     TRAITS},
};
FAMILY(movement);
