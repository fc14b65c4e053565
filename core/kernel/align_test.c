/* Arguments aligned to spaces, as the sample plan has them and as hostile plans would. */
#include "core/dimension/dimension_arithmetic.h"
#include "core/plan/place_view.h"
#include "core/plan_file/sample_plan.h"

/* After the sample's headers: its own are for any program. */
#include "core/base/test.h"
#include "core/kernel/align.h"
#include "core/region/region_finish.h"

typedef struct scene_t {
  sample_library_t library;
  tenon__test_messages_t messages;
  tenon__plan_t* plan;
  const struct tenon_region_t* sum;   /* x[batch,4] + w[1,4] */
  const struct tenon_region_t* twist; /* its slot adds x */
  tenon_tensor_view_t x;
  tenon_tensor_view_t w;
  float data[12];
} scene_t;

static const int64_t square[2] = {3, 4};
static const int64_t one_row[2] = {1, 4};
static const int64_t row_major[2] = {4, 1};

static bool start(scene_t* s) {
  memset(s, 0, sizeof *s);
  const tenon_sink_t* sink = tenon__test_listen(&s->messages);
  if (!sample_library_create(&s->library, sink)) {
    return false;
  }
  s->plan = sample_plan_create(&s->library, tenon__allocator_default(), sink);
  if (s->plan == NULL) {
    return false;
  }
  for (uint32_t k = 0; k < s->plan->schedules[0].step_count; ++k) {
    struct tenon_region_t* region = (struct tenon_region_t*)s->plan->schedules[0].steps[k].region;
    if (region != NULL &&
        tenon__region_finish(&s->plan->arena, &s->plan->profile, region) != TENON_OK) {
      return false;
    }
  }
  s->sum = s->plan->schedules[0].steps[0].region;
  s->twist = s->plan->schedules[0].steps[1].region;
  s->x = (tenon_tensor_view_t){.data = s->data,
                               .dims = square,
                               .strides = row_major,
                               .rank = 2,
                               .dtype = TENON_DTYPE_FLOAT32,
                               .layout = TENON_NONE};
  s->w = s->x;
  s->w.dims = one_row;
  return true;
}

static void stop(scene_t* s) {
  tenon__plan_destroy(s->plan);
  sample_library_destroy(&s->library);
}

static tenon_status_t align(const scene_t* s, const struct tenon_region_t* region, uint32_t input,
                            const tenon_tensor_view_t* tensor, int64_t* dims, int64_t* strides) {
  tenon_tensor_view_t seen;
  return tenon__region_align_input(region, input, &s->plan->profile.max, tensor,
                                   (tenon__axes_t){dims, strides}, &seen);
}

TENON_TEST(broadcast_axes_have_no_stride) {
  scene_t s;
  int64_t dims[64];
  int64_t strides[64];
  REQUIRE(start(&s));
  EXPECT_STATUS(align(&s, s.sum, 0, &s.x, dims, strides), TENON_OK);
  EXPECT(dims[0] == 3 && dims[1] == 4 && strides[0] == 4 && strides[1] == 1);
  EXPECT_STATUS(align(&s, s.sum, 1, &s.w, dims, strides), TENON_OK);
  EXPECT(dims[0] == 3 && dims[1] == 4 && strides[0] == 0 && strides[1] == 1);
  stop(&s);
}

TENON_TEST(refuses_tensors_smaller_than_the_space) {
  static const int64_t small[2] = {2, 4};
  scene_t s;
  int64_t dims[64];
  int64_t strides[64];
  tenon_tensor_view_t seen;
  REQUIRE(start(&s));
  s.x.dims = small;
  EXPECT_STATUS(align(&s, s.sum, 0, &s.x, dims, strides), TENON_ERROR_INVALID_DATA);
  EXPECT_STATUS(tenon__region_align_output(s.sum, 0, &s.plan->profile.max, &s.x,
                                           (tenon__axes_t){dims, strides}, &seen),
                TENON_ERROR_INVALID_DATA);
  stop(&s);
}

TENON_TEST(refuses_accesses_past_the_tensor) {
  scene_t s;
  int64_t dims[64];
  int64_t strides[64];
  REQUIRE(start(&s));
  tenon__dim_pool_t* pool = s.plan->network->pool;
  struct tenon_region_t region = *s.sum;
  tenon__region_input_t inputs[2] = {region.inputs[0], region.inputs[1]};
  const tenon_dim_t shifted[2] = {
      tenon__dim_add(pool, region.inputs[0].access.coordinates[0], tenon__dim_constant(pool, 1)),
      region.inputs[0].access.coordinates[1]};
  inputs[0].access.coordinates = shifted;
  region.inputs = inputs;
  tenon__extents_t extents;
  EXPECT_STATUS(tenon__region_finish(&s.plan->arena, &s.plan->profile, &region), TENON_OK);
  EXPECT_STATUS(tenon__extents_create(&s.plan->arena, pool, &extents), TENON_OK);
  memcpy(extents.symbol_values, s.plan->profile.max.symbol_values,
         s.plan->profile.max.symbol_count * sizeof(int64_t));
  memcpy(extents.symbol_known, s.plan->profile.max.symbol_known, s.plan->profile.max.symbol_count);
  tenon__extents_update(&extents);
  tenon_tensor_view_t seen;
  EXPECT_STATUS(
      tenon__region_align_input(&region, 0, &extents, &s.x, (tenon__axes_t){dims, strides}, &seen),
      TENON_ERROR_INVALID_DATA);
  stop(&s);
}

TENON_TEST(slots_span_the_shape_of_their_output) {
  scene_t s;
  int64_t dims[64];
  int64_t strides[64];
  REQUIRE(start(&s));
  EXPECT_STATUS(align(&s, s.twist, 1, &s.x, dims, strides), TENON_OK);
  struct tenon_region_t region = *s.twist;
  tenon__region_slot_t slot = region.slots[0];
  const tenon_dim_t short_space[2] = {tenon__dim_constant(s.plan->network->pool, 1),
                                      slot.expression.space[1]};
  slot.expression.space = short_space;
  region.slots = &slot;
  EXPECT_STATUS(align(&s, &region, 1, &s.x, dims, strides), TENON_ERROR_INVALID_DATA);
  stop(&s);
}

TENON_TEST(views_stay_within_their_base) {
  scene_t s;
  int64_t dims[64];
  int64_t strides[64];
  int64_t offset = 0;
  REQUIRE(start(&s));
  tenon__schedule_t* schedule = &s.plan->schedules[0];
  uint32_t view = 0;
  uint32_t part = 0;
  for (uint32_t p = 0; p < schedule->place_count; ++p) {
    view = schedule->places[p].storage == TENON_STORAGE_VIEW ? p : view;
    part = schedule->places[p].storage == TENON_STORAGE_PART ? p : part;
  }
  const tenon__placement_t placement = {
      .network = s.plan->network, .schedule = schedule, .extents = &s.plan->profile.max};
  EXPECT_STATUS(tenon__place_strides(&placement, view, dims, strides, &offset), TENON_OK);
  EXPECT(dims[0] == 4 && dims[1] == 3 && strides[0] == 1 && strides[1] == 4 && offset == 0);
  EXPECT_STATUS(tenon__place_strides(&placement, part, dims, strides, &offset), TENON_OK);
  EXPECT(dims[0] == 3 && dims[1] == 4 && strides[0] == 4 && strides[1] == 1 && offset == 12);
  /* Half as many rows: its second half is not there. */
  schedule->places[part].base = schedule->places[view].base;
  EXPECT_STATUS(tenon__place_strides(&placement, part, dims, strides, &offset),
                TENON_ERROR_INVALID_DATA);
  stop(&s);
}
