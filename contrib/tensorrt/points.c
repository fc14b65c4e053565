/* PointPillars: clouds of points to columns, columns to a map, boxes from a map. */
#include <float.h>
#include <math.h>

#include "families.h"
#include "steps.h"
#include "voxels.h"

/* ---- Columns ---- */

/* Rows and columns of the grid. */
static void read_grid(tenon_make_t* make, const double* range, const double* size,
                      int64_t out_grid[2]) {
  double cells = 1;
  for (int axis = 0; axis < 2; ++axis) {
    const double count = round((range[axis + 3] - range[axis]) / size[axis]);
    cells *= count;
    out_grid[1 - axis] = count >= 1 && count <= TENSORRT_VOXELS_CELLS_MAX ? (int64_t)count : 1;
    if (!(count >= 1)) {
      tensorrt_refuse(make, "point_cloud_range",
                      "it has no extent: the last three numbers are above");
    }
  }
  if (!(cells <= TENSORRT_VOXELS_CELLS_MAX)) {
    tensorrt_refuse(make, "voxel_size", "the grid has more than 2^26 columns");
  }
}

static void voxel_generator(tenon_make_t* make) {
  static const char* const needed[] = {"max_num_points_per_voxel", "max_voxels",
                                       "voxel_feature_num"};
  size_t count = 0;
  int64_t grid[2] = {1, 1};
  for (size_t k = 0; k < sizeof(needed) / sizeof(needed[0]); ++k) {
    tensorrt_require(make, needed[k]);
  }
  const tenon_value_t points = tensorrt_input(make, 0, "points", 3, "[batch, points, numbers]");
  const tenon_value_t counts = tensorrt_input(make, 1, "num_points", 1, "[batch]");
  const double* range = tensorrt_floats(make, "point_cloud_range", 6, 6, -(double)FLT_MAX, &count);
  const double* size = tensorrt_floats(make, "voxel_size", 3, 3, FLT_MIN, &count);
  const int64_t most = tensorrt_int(make, "max_num_points_per_voxel", 1, 1, 1 << 16);
  const int64_t voxels = tensorrt_int(make, "max_voxels", 1, 1, TENSORRT_COUNT_MAX);
  const int64_t features = tensorrt_int(make, "voxel_feature_num", 10, 1, 1 << 12);
  const int64_t numbers = tensorrt_known(make, points, 2, "points");
  if (tenon_make_ok(make) && features != numbers + 5 && features != numbers + 6) {
    tensorrt_refuse(make, "voxel_feature_num", "use 5 or 6 more than points have numbers");
  }
  if (!tenon_make_ok(make)) {
    return;
  }
  read_grid(make, range, size, grid);
  const tenon_value_t wide = tensorrt_wide(make, points);
  const tenon_value_t valid = tenon_make_cast(make, counts, TENON_DTYPE_INT32);
  tenon_value_t results[3] = {{0}, {0}, {0}};
  tenon_make_begin(make, "tensorrt.voxels/1");
  tenon_make_set_int(make, "voxels", voxels);
  tenon_make_set_int(make, "points", most);
  tenon_make_set_int(make, "features", features);
  tenon_make_set_floats(make, "range", range, 6);
  tenon_make_set_floats(make, "size", size, 3);
  tenon_make_set_ints(make, "grid", grid, 2);
  tenon_make_add(make, wide);
  tenon_make_add(make, valid);
  tenon_make_end_many(make, results, 3);
  tensorrt_output_like(make, 0, results[0], points);
  for (uint32_t k = 1; k < 3; ++k) {
    if (tenon_make_wants(make, k)) {
      tenon_make_output(make, k, results[k]);
    }
  }
}

/* ---- The map ---- */

/*
 * The target of each column, i64 [N, P, 2]: image, and place in the map. Columns without a target get
 * an extra place behind the map.
 */
static tenon_value_t map_places(tenon_make_t* make, tenon_value_t coords, tenon_value_t counts,
                                const int64_t* dims) {
  static const int64_t column[2] = {-1, 1};
  const tenon_value_t operands[3] = {
      tenon_make_squeeze(make, tenon_make_slice(make, coords, 2, 2, 3), 2),
      tenon_make_squeeze(make, tenon_make_slice(make, coords, 2, 3, 4), 2),
      tenon_make_reshape(make, counts, column, 2)};
  const tenon_value_t place = tenon_make_print_math(
      make, 3, operands,
      "let r = cast(a, i64); let q = cast(b, i64); let k = r >= 0 && r < %lld && q >= 0 && q < "
      "%lld;"
      "y = k && index(1) < cast(c, i64) ? r * %lld + q : index(1) + %lld",
      (long long)dims[0], (long long)dims[1], (long long)dims[1],
      (long long)dims[0] * (long long)dims[1]);
  const tenon_value_t parts[2] = {
      tensorrt_axis(make, tenon_make_math_1(make, "y = index(0) + 0 * a", place), 2),
      tensorrt_axis(make, place, 2)};
  return tenon_make_concat(make, 2, 2, parts);
}

static void pillar_scatter(tenon_make_t* make) {
  static const int64_t channels_first[3] = {0, 2, 1};
  size_t count = 0;
  const tenon_value_t voxels = tensorrt_input(make, 0, "voxels", 3, "[batch, columns, channels]");
  const tenon_value_t coords = tensorrt_input(make, 1, "voxel_coords", 3, "[batch, columns, 4]");
  const tenon_value_t counts = tensorrt_input(make, 2, "num_pillar", 1, "[batch]");
  const int64_t* dims = tensorrt_ints(make, "dense_shape", 2, 2, 1, &count);
  const int64_t channels = tensorrt_known(make, voxels, 2, "voxels");
  if (tenon_make_ok(make) && dims[0] > INT32_MAX / dims[1]) {
    tensorrt_refuse(make, "dense_shape", "the map has more than 2^31 places");
  }
  if (!tenon_make_ok(make)) {
    return;
  }
  const int64_t places = dims[0] * dims[1];
  const tenon_value_t extent = tenon_make_extents(make, voxels, 1, 2);
  const tenon_value_t shape_parts[3] = {
      tenon_make_extents(make, voxels, 0, 1),
      tenon_make_print_math(make, 1, &extent, "y = a + %lld", (long long)places),
      tenon_make_int64s(make, &channels, 1)};
  const tenon_value_t zeros =
      tenon_make_2(make, "filled", tenon_make_number(make, tenon_make_dtype(make, voxels), 0),
                   tenon_make_concat(make, 0, 3, shape_parts));
  const tenon_value_t indices = map_places(make, coords, counts, dims);
  tenon_make_begin(make, "scatter_nd");
  tenon_make_add(make, zeros);
  tenon_make_add(make, indices);
  tenon_make_add(make, voxels);
  const tenon_value_t map = tenon_make_permute(
      make, tenon_make_slice(make, tenon_make_end(make), 1, 0, places), channels_first, 3);
  const int64_t map_dims[4] = {0, channels, dims[0], dims[1]};
  tenon_make_output(make, 0, tenon_make_reshape(make, map, map_dims, 4));
}

/* ---- Boxes ---- */

static void decode_boxes(tenon_make_t* make) {
  static const char form[] = "[batch, height, width, numbers]";
  static const char* const names[3] = {"cls_preds", "box_preds", "dir_cls_preds"};
  tenon_value_t wide[3];
  size_t class_count = 0;
  size_t count = 0;
  for (uint32_t k = 0; k < 3; ++k) {
    wide[k] = tensorrt_wide(make, tensorrt_input(make, k, names[k], 4, form));
  }
  tensorrt_require(make, "num_dir_bins");
  tensorrt_require(make, "score_thresh");
  const double* bottoms =
      tensorrt_floats(make, "anchor_bottom_height", 1, 256, -(double)FLT_MAX, &class_count);
  const double* anchors =
      tensorrt_floats(make, "anchors", class_count * 8, class_count * 8, -(double)FLT_MAX, &count);
  const double* range = tensorrt_floats(make, "point_cloud_range", 6, 6, -(double)FLT_MAX, &count);
  const int64_t bins = tensorrt_int(make, "num_dir_bins", 2, 1, 1 << 16);
  const double offset = tensorrt_float(make, "dir_offset", 0, -FLT_MAX, FLT_MAX);
  const double limit = tensorrt_float(make, "dir_limit_offset", 0, -FLT_MAX, FLT_MAX);
  const double threshold = tensorrt_float(make, "score_thresh", 0, -FLT_MAX, FLT_MAX);
  if (!tenon_make_ok(make)) {
    return;
  }
  tenon_value_t results[2] = {{0}, {0}};
  tenon_make_begin(make, "tensorrt.boxes_3d/1");
  tenon_make_set_floats(make, "anchors", anchors, class_count * 8);
  tenon_make_set_floats(make, "bottoms", bottoms, class_count);
  tenon_make_set_floats(make, "range", range, 6);
  tenon_make_set_float(make, "score_threshold", threshold);
  tenon_make_set_float(make, "dir_offset", offset);
  tenon_make_set_float(make, "dir_limit_offset", limit);
  tenon_make_set_int(make, "dir_bins", bins);
  for (uint32_t k = 0; k < 3; ++k) {
    tenon_make_add(make, wide[k]);
  }
  tenon_make_end_many(make, results, 2);
  tensorrt_output_like(make, 0, results[0], tenon_make_input(make, 0));
  if (tenon_make_wants(make, 1)) {
    tenon_make_output(make, 1, results[1]);
  }
}

static TENON_MAKE_CONVERT(convert);
static const tenon_make_row_t rows[] = {
    TENSORRT_ROW("DecodeBbox3DPlugin", decode_boxes, "1", NULL),
    TENSORRT_ROW("PillarScatterPlugin", pillar_scatter, "1", NULL),
    TENSORRT_ROW("VoxelGeneratorPlugin", voxel_generator, "1", NULL),
};
TENSORRT_FAMILY(points);
