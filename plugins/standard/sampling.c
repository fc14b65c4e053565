/* Reading at fractional coordinates, and regions of interest. */
#include "families.h"

#define COORDINATE_MODES                                                                      \
  "half_pixel|half_pixel_symmetric|pytorch_half_pixel|pixel_center|align_corners|asymmetric|" \
  "tf_crop_and_resize"

static const tenon_operator_t operators[] = {
    {OPERATOR("resize", "x sampled anew to the extents `sizes`"), TYPES(TYPE("T", "numeric bool")),
     INPUTS(PORT("x", "T"), SHAPE("sizes", "i64"), OPTIONAL_IN("scales", "f32", "positive"),
            OPTIONAL_IN("roi", "f32", "[0,1]")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(CHOICE("mode", "'nearest'", "nearest|linear|cubic"),
                CHOICE("coordinate_mode", "'half_pixel'", COORDINATE_MODES),
                CHOICE("nearest_mode", "'round_prefer_floor'",
                       "round_prefer_floor|round_prefer_ceil|floor|ceil"),
                FLOAT("cubic_coeff_a", "-0.75"), FLAG("exclude_outside", "0"),
                FLAG("antialias", "0"), FLOAT("extrapolation_value", "0.0")),
     CHECKS(CHECK("len(sizes) == rank(x)", "{len(sizes)} sizes for rank {rank(x)}"),
            CHECK("!present(scales) || elements(scales) == 0"
                  " || rank(scales) == 1 && dim(scales, 0) == rank(x)",
                  "{elements(scales)} scales for rank {rank(x)}"),
            CHECK("!present(roi) || elements(roi) == 0"
                  " || rank(roi) == 1 && dim(roi, 0) == 2 * rank(x)",
                  "a region of {elements(roi)} numbers for rank {rank(x)}"),
            CHECK("elements(x) > 0 || prod(sizes, 0, len(sizes)) == 0",
                  "x has no elements to make the sizes {sizes} of")),
     .shape = "y.rank = rank(x); y[d] = sizes[d]", .traits = "pure"},
    {OPERATOR("grid_sample", "x at the coordinates, from -1 to 1, in the last axis of grid"),
     TYPES(TYPE("T", FLOAT_TYPES), TYPE("G", FLOAT_TYPES)),
     INPUTS(PORT("x", "T"), PORT_IN("grid", "G", "[-1,1]")), OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(CHOICE("mode", "'linear'", "linear|nearest|cubic"),
                CHOICE("padding_mode", "'zeros'", "zeros|border|reflection"),
                FLAG("align_corners", "0")),
     CHECKS(CHECK("rank(x) == rank(grid)", "x has rank {rank(x)}, grid has rank {rank(grid)}"),
            CHECK("dim(grid, 0) == dim(x, 0) && dim(grid, -1) == rank(x) - 2",
                  "grid has {dim(grid, 0)} images of {dim(grid, -1)} coordinates, x has"
                  " {dim(x, 0)} of {rank(x) - 2}")),
     .shape = "y.rank = rank(x); y[d] = d < 2 ? dim(x, d) : dim(grid, d - 1)", .traits = "pure"},
    {OPERATOR("affine_grid", "the grid that theta makes of the points of a tensor [N, C, ...]"),
     TYPES(TYPE("T", FLOAT_TYPES)), INPUTS(PORT("theta", "T"), SHAPE("dims", "i64")),
     OUTPUTS(PORT("y", "T")), ATTRIBUTES(FLAG("align_corners", "0")),
     CHECKS(
         CHECK("len(dims) >= 3 && elements(theta) == dims[0] * (len(dims) - 2) * (len(dims) - 1)",
               "theta has {elements(theta)} elements for the extents {dims}")),
     .shape = "let r = len(dims); y.rank = r;"
              "y[d] = d == 0 ? dims[0] : d < r - 1 ? dims[d + 1] : r - 2",
     .traits = "pure"},
    {OPERATOR("roi_align", "each region of x as a grid of interpolated bins"),
     TYPES(TYPE("T", FLOAT_TYPES), TYPE("I", "i32 i64")),
     INPUTS(PORT("x", "T"), PORT("rois", "T"), PORT_IN("batch_indices", "I", "index(x, 0)")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(CHOICE("mode", "'avg'", "avg|max"), INT("output_height", "1"),
                INT("output_width", "1"), INT("sampling_ratio", "0"), FLOAT("spatial_scale", "1.0"),
                CHOICE("coordinate_mode", "'half_pixel'", "half_pixel|output_half_pixel")),
     CHECKS(CHECK("rank(x) == 4", "x has rank {rank(x)}, not 4"),
            CHECK("sampling_ratio >= 0 && sampling_ratio <= 4096",
                  "sampling_ratio is {sampling_ratio}, not 0 to 4096"),
            CHECK("rank(rois) == 2 && dim(rois, 1) == 4",
                  "regions have {dim(rois, -1)} numbers, not 4"),
            CHECK("elements(batch_indices) == dim(rois, 0)",
                  "{elements(batch_indices)} batch indices for {dim(rois, 0)} regions"),
            CHECK("dim(rois, 0) == 0 || dim(x, 2) > 0 && dim(x, 3) > 0",
                  "x has planes of {dim(x, 2)} by {dim(x, 3)} pixels: regions have none to read")),
     .shape = "y.rank = 4; y[d] = d == 0 ? dim(rois, 0) : d == 1 ? dim(x, 1)"
              " : d == 2 ? output_height : output_width",
     .traits = "pure"},
    {OPERATOR("max_roi_pool", "the largest value of each bin of each region of x"),
     TYPES(TYPE("T", FLOAT_TYPES)), INPUTS(PORT("x", "T"), PORT("rois", "T")),
     OUTPUTS(PORT("y", "T")),
     ATTRIBUTES(REQUIRED_INTS("pooled_shape"), FLOAT("spatial_scale", "1.0")),
     CHECKS(CHECK("rank(x) == 4", "x has rank {rank(x)}, not 4"),
            CHECK("rank(rois) == 2 && dim(rois, 1) == 5",
                  "regions have {dim(rois, -1)} numbers, not 5")),
     .shape = "y.rank = 4; y[d] = d == 0 ? dim(rois, 0) : d == 1 ? dim(x, 1) : pooled_shape[d - 2]",
     .traits = "pure"},
    {OPERATOR("non_max_suppression",
              "[batch, class, box] of the boxes that no better one overlaps"),
     INPUTS(PORT("boxes", "f32"), PORT("scores", "f32"), OPTIONAL("max_output", "i64"),
            OPTIONAL("iou_threshold", "f32"), OPTIONAL("score_threshold", "f32")),
     OUTPUTS(UNBOUNDED("y", "i64")), ATTRIBUTES(FLAG("center_point_box", "0")),
     CHECKS(CHECK("rank(boxes) == 3 && dim(boxes, 2) == 4 && rank(scores) == 3",
                  "boxes have rank {rank(boxes)}, scores {rank(scores)}"),
            CHECK("dim(boxes, 0) == dim(scores, 0) && dim(boxes, 1) == dim(scores, 2)",
                  "{dim(boxes, 1)} boxes in {dim(boxes, 0)} images, scores of {dim(scores, 2)} in"
                  " {dim(scores, 0)}")),
     .shape = "y.rank = 2; y[d] = d == 0 ? fresh(elements(scores)) : 3", .traits = "pure"},
};
FAMILY(sampling);
