/* The operator tensorrt.voxels/1 and its kernel for the CPU. */
#include "voxels.h"

#include <math.h>
#include <string.h>

#include "offer.h"

static const tenon_attribute_descriptor_t attributes[] = {
    TENSORRT_INT("voxels", "16", "1..16777216"),
    TENSORRT_INT("points", "8", "1..65536"),
    TENSORRT_INT("features", "10", "1..4096"),
    TENSORRT_FLOATS("range", "[0, 0, 0, 1, 1, 1]"),
    TENSORRT_FLOATS("size", "[0.25, 0.25, 1]"),
    TENSORRT_ATTRIBUTE("grid", TENON_ATTRIBUTE_INTS, "[4, 4]", NULL)};
static const tenon_port_t inputs[] = {TENSORRT_PORT_IN("points_in", "f32", "[0,1]"),
                                      TENSORRT_PORT_IN("counts", "i32", "index(points_in, 1)")};
static const tenon_port_t outputs[] = {TENSORRT_PORT("voxels_out", "f32"),
                                       TENSORRT_PORT("coords", "i32"),
                                       TENSORRT_PORT("found", "i32")};
static const tenon_check_t checks[] = {
    TENSORRT_CHECK("rank(points_in) == 3 && dim(points_in, 2) >= 3",
                   "points have rank {rank(points_in)}, not 3 with 3 numbers or more each"),
    TENSORRT_CHECK("elements(counts) == dim(points_in, 0)",
                   "{elements(counts)} counts for {dim(points_in, 0)} clouds"),
    TENSORRT_CHECK(
        "features == dim(points_in, 2) + 5 || features == dim(points_in, 2) + 6",
        "{features} features for points of {dim(points_in, 2)} numbers, which have 5 or 6"
        " more"),
    TENSORRT_CHECK("len(range) == 6 && len(size) == 3 && len(grid) == 2",
                   "range has {len(range)} numbers, size {len(size)}, grid {len(grid)}"),
    TENSORRT_CHECK("grid[0] >= 1 && grid[1] >= 1 && grid[0] <= 67108864 / grid[1]",
                   "a grid of {grid[0]} x {grid[1]} columns")};
static const tenon_operator_t operators[] = {
    {.size = sizeof(tenon_operator_t),
     .name = "tensorrt.voxels/1",
     .summary = "points of a cloud in the columns of a grid, with their offsets",
     .attributes = TENON_LIST(attributes),
     .inputs = TENON_LIST(inputs),
     .outputs = TENON_LIST(outputs),
     .checks = TENON_LIST(checks),
     .shape = "voxels_out = [dim(points_in, 0), voxels, points, features];"
              "coords = [dim(points_in, 0), voxels, 4]; found = [dim(points_in, 0)]",
     .traits = "pure"}};
const tenon_offering_t tensorrt_voxels_operators = TENON_OFFERING_OF("operator/1", operators);

/* ---- The kernel ---- */

typedef struct settings_t {
  int64_t voxels;
  int64_t points;
  int64_t features;
  int64_t grid[2];
  float range[6];
  float size[3];
  uint64_t scratch_bytes; /* of one thread: two numbers for each column of the grid */
} settings_t;

typedef struct cloud_t {
  const settings_t* settings;
  const float* points;
  int64_t count;
  int64_t numbers;  /* C */
  uint32_t* places; /* of columns: 1 + index of its voxel; 0: none */
  uint32_t* filled; /* of columns: points so far */
  float* voxels;
  int32_t* coords;
} cloud_t;

/* The column of a point; -1 outside of the range. */
static int64_t column_of(const settings_t* settings, const float* point) {
  int64_t cell[2] = {0, 0};
  for (int axis = 0; axis < 3; ++axis) {
    if (!(point[axis] >= settings->range[axis] && point[axis] < settings->range[axis + 3])) {
      return -1;
    }
    if (axis < 2) {
      cell[axis] = (int64_t)((point[axis] - settings->range[axis]) / settings->size[axis]);
      if (cell[axis] >= settings->grid[1 - axis]) {
        return -1;
      }
    }
  }
  return cell[1] * settings->grid[1] + cell[0];
}

static int64_t number_columns(const cloud_t* cloud) {
  const settings_t* settings = cloud->settings;
  const int64_t cells = settings->grid[0] * settings->grid[1];
  int64_t found = 0;
  for (int64_t k = 0; k < cloud->count; ++k) {
    const int64_t column = column_of(settings, cloud->points + k * cloud->numbers);
    if (column >= 0) {
      cloud->places[column] = 1;
    }
  }
  for (int64_t cell = 0; cell < cells; ++cell) {
    if (cloud->places[cell] != 0) {
      cloud->places[cell] = found < settings->voxels ? (uint32_t)found + 1 : 0;
      if (found < settings->voxels) {
        cloud->coords[found * 4 + 2] = (int32_t)(cell / settings->grid[1]);
        cloud->coords[found * 4 + 3] = (int32_t)(cell % settings->grid[1]);
        ++found;
      }
    }
  }
  return found;
}

static void fill_columns(const cloud_t* cloud) {
  const settings_t* settings = cloud->settings;
  for (int64_t k = 0; k < cloud->count; ++k) {
    const float* point = cloud->points + k * cloud->numbers;
    const int64_t column = column_of(settings, point);
    if (column < 0 || cloud->places[column] == 0 || cloud->filled[column] >= settings->points) {
      continue;
    }
    const int64_t voxel = (int64_t)cloud->places[column] - 1;
    float* to =
        cloud->voxels + (voxel * settings->points + cloud->filled[column]++) * settings->features;
    memcpy(to, point, (size_t)cloud->numbers * sizeof(*to));
  }
}

/* The offsets of the points of one voxel. */
static void add_offsets(const cloud_t* cloud, int64_t voxel) {
  const settings_t* settings = cloud->settings;
  const int32_t* cell = cloud->coords + voxel * 4;
  const int64_t count = cloud->filled[cell[2] * settings->grid[1] + cell[3]];
  const int64_t axes = settings->features - cloud->numbers - 3;
  float* rows = cloud->voxels + voxel * settings->points * settings->features;
  for (int axis = 0; axis < 3; ++axis) {
    float sum = 0;
    for (int64_t k = 0; k < count; ++k) {
      sum += rows[k * settings->features + axis];
    }
    const int32_t index = axis == 0 ? cell[3] : axis == 1 ? cell[2] : 0;
    const float center =
        settings->size[axis] / 2 + (float)index * settings->size[axis] + settings->range[axis];
    for (int64_t k = 0; k < count; ++k) {
      float* row = rows + k * settings->features;
      row[cloud->numbers + axis] = row[axis] - sum / (float)count;
      if (axis < axes) {
        row[cloud->numbers + 3 + axis] = row[axis] - center;
      }
    }
  }
}

static void make_voxels(void* user, uint32_t index, uint32_t thread) {
  const tenon_enqueue_t* call = user;
  const settings_t* settings = call->instance;
  const tenon_tensor_view_t* points = &call->inputs[0].tensor;
  const int64_t cells = settings->grid[0] * settings->grid[1];
  const int64_t each = settings->voxels * settings->points * settings->features;
  const int64_t n = index;
  char* scratch = (char*)call->host->scratch(call->run) + thread * settings->scratch_bytes;
  const int64_t count = ((const int32_t*)call->inputs[1].tensor.data)[n];
  cloud_t cloud = {.settings = settings, .numbers = points->dims[2]};
  cloud.points = (const float*)points->data + n * points->dims[1] * points->dims[2];
  cloud.count = count < 0 ? 0 : count > points->dims[1] ? points->dims[1] : count;
  cloud.places = (uint32_t*)(void*)scratch;
  cloud.filled = cloud.places + cells;
  cloud.voxels = (float*)call->outputs[0].tensor.data + n * each;
  cloud.coords = (int32_t*)call->outputs[1].tensor.data + n * settings->voxels * 4;
  memset(scratch, 0, (size_t)cells * 2 * sizeof(uint32_t));
  memset(cloud.voxels, 0, (size_t)each * sizeof(float));
  memset(cloud.coords, 0, (size_t)settings->voxels * 4 * sizeof(int32_t));
  const int64_t found = number_columns(&cloud);
  fill_columns(&cloud);
  for (int64_t voxel = 0; voxel < found; ++voxel) {
    add_offsets(&cloud, voxel);
  }
  ((int32_t*)call->outputs[2].tensor.data)[n] = (int32_t)found;
}

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  return tensorrt_each(call, call->inputs[0].tensor.dims[0], make_voxels);
}

static uint64_t scratch_bytes(const tenon_region_t* region, const tenon_region_table_t* table) {
  const int64_t* grid = NULL;
  size_t count = 0;
  (void)table->attribute_ints(region, 0, "grid", &grid, &count);
  return count == 2 ? ((uint64_t)grid[0] * (uint64_t)grid[1] * 2 * sizeof(uint32_t) + 63) / 64 * 64
                    : 0;
}

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  const tenon_value_info_t* points = table->value(region, table->node_input(region, 0, 0));
  (void)state;
  if (points->dims_max[0] > INT32_MAX || points->dims_max[1] > INT32_MAX) {
    *out_refusal =
        (tenon_refusal_t){.reason = TENON_REFUSAL_DYNAMIC_SHAPE, .detail = "more than 2^31 points"};
    return 0;
  }
  return 1;
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon_value_info_t* points = table->value(region, table->node_input(region, 0, 0));
  (void)state;
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = "grid",
      .scratch_bytes_per_thread = scratch_bytes(region, table),
      .estimate_seconds =
          1e-6 + (double)points->dims_opt[0] * ((double)points->dims_opt[1] * 2e-8 +
                                                (double)scratch_bytes(region, table) * 1e-10),
      .launches = 1};
  return add(emit, &tactic);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  settings_t* settings = call->host->allocate(call->preparation, sizeof(*settings));
  const int64_t* grid = NULL;
  const double* range = NULL;
  const double* size = NULL;
  size_t counts[3] = {0, 0, 0};
  if (settings == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  (void)call->table->attribute_int(call->region, 0, "voxels", &settings->voxels);
  (void)call->table->attribute_int(call->region, 0, "points", &settings->points);
  (void)call->table->attribute_int(call->region, 0, "features", &settings->features);
  (void)call->table->attribute_ints(call->region, 0, "grid", &grid, &counts[0]);
  (void)call->table->attribute_floats(call->region, 0, "range", &range, &counts[1]);
  (void)call->table->attribute_floats(call->region, 0, "size", &size, &counts[2]);
  for (size_t k = 0; k < 6 && counts[1] == 6; ++k) {
    settings->range[k] = (float)range[k];
  }
  for (size_t k = 0; k < 3 && counts[2] == 3; ++k) {
    settings->size[k] = (float)size[k];
  }
  for (size_t k = 0; k < 2 && counts[0] == 2; ++k) {
    settings->grid[k] = grid[k];
  }
  settings->scratch_bytes = scratch_bytes(call->region, call->table);
  *out_instance = settings;
  return TENON_OK;
}

TENSORRT_KERNEL(tensorrt_voxels_kernels, "voxels");
