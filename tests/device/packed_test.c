/* Weights that a kernel packed, in the memory of its device: copied there once for an engine,
 * shared by its contexts and by steps that packed alike. */
#include "tests/device/device_world.h"
#include "tests/support/tactics_world.h"

enum { ROWS = 2, COLUMNS = 4, OUTPUTS = 8, BYTES = OUTPUTS * COLUMNS * (int)sizeof(float) };

typedef struct seen_t {
  world_t world;
  const void* addresses[4]; /* that bind was given */
  uint32_t count;
} seen_t;
static seen_t seen;

/* The weights, twice as large. */
static tenon_status_t pack_twice(const tenon_prepare_t* call, void** out_instance) {
  const uint32_t value = call->table->input(call->region, 1);
  const tenon_value_info_t* info = call->table->value(call->region, value);
  const tenon_packing_t packing = {.size = sizeof(packing),
                                   .format = "tests.twice/1",
                                   .sources = &value,
                                   .source_count = 1,
                                   .size_bytes = BYTES};
  void* data = NULL;
  int32_t ready = 0;
  TENON_TRY(call->host->pack(call->preparation, &packing, &data, &ready));
  for (int k = 0; k < OUTPUTS * COLUMNS && ready == 0; ++k) {
    ((float*)data)[k] = 2 * ((const float*)info->constant_data)[k];
  }
  *out_instance = NULL;
  return TENON_OK;
}

static tenon_status_t bind_packed(void* instance, tenon_binding_t* binding,
                                  const tenon_bind_table_t* host, void** out_bound) {
  float found[OUTPUTS * COLUMNS] = {0};
  const void* data = host->packed(binding, 0);
  (void)instance;
  EXPECT(data != NULL && host->packed(binding, 1) == NULL);
  EXPECT_STATUS(world_read(&seen.world, NULL, found, data, BYTES), TENON_OK);
  EXPECT_NEAR(found[OUTPUTS * COLUMNS - 1], 2 * (OUTPUTS * COLUMNS - 1), 0);
  seen.addresses[seen.count++ % 4] = data;
  *out_bound = NULL;
  return TENON_OK;
}

/* Two products with the same weights, of one input. */
static void make_pair(test_fixture_t* b) {
  static float weights[OUTPUTS * COLUMNS];
  for (int k = 0; k < OUTPUTS * COLUMNS; ++k) {
    weights[k] = (float)k;
  }
  const tenon_value_t x = test_input(b, "x", DIMS(ROWS, COLUMNS));
  const tenon_value_t z = test_input(b, "z", DIMS(ROWS, COLUMNS));
  const tenon_value_t w = test_floats(b, "w", weights, DIMS(OUTPUTS, COLUMNS));
  const tenon_value_t one = test_node(b, "test.dense/1", "one", x, w, NO_VALUE);
  const tenon_value_t two = test_node(b, "test.dense/1", "two", z, w, NO_VALUE);
  add_output(b, one);
  EXPECT_STATUS(b->build->output(b->builder, two, "u"), TENON_OK);
}

static void run_zeros(core_world_t* world) {
  static const float zeros[ROWS * COLUMNS];
  for (uint32_t k = 0; k < 2; ++k) {
    EXPECT_STATUS(core_world_set(world, k, TENON_DTYPE_FLOAT32, DIMS(ROWS, COLUMNS), zeros),
                  TENON_OK);
  }
  core_world_expect_ran(world);
}

TENON_TEST(packed_weights_are_copied_once_for_an_engine) {
  tenon_kernel_t kernel = dense_of("twice", core_do_nothing);
  core_world_t world;
  tenon__context_t* second = NULL;
  memset(&seen, 0, sizeof seen);
  if (!world_open(&seen.world, 0)) {
    return;
  }
  kernel.device = "far";
  kernel.prepare = pack_twice;
  kernel.bind = bind_packed;
  core_world_begin(&world, &kernel, 1);
  world.owner.plugin = "tests";
  core_world_offer(&world, &world.owner, "device/1", seen.world.table, 1,
                   sizeof(*seen.world.table));
  make_pair(&world.fixture);
  world.options.device = "far";
  if (core_world_start(&world)) {
    EXPECT_INT(seen.count, 0); /* a build packs, and brings nothing there */
    run_zeros(&world);
    EXPECT_INT(seen.count, 2);
    EXPECT_STATUS(tenon__context_create(world.engine, 0, NULL, &second), TENON_OK);
    tenon__context_t* first = world.context;
    world.context = second;
    run_zeros(&world);
    EXPECT_INT(seen.count, 4);
    for (uint32_t k = 1; k < 4; ++k) {
      EXPECT(seen.addresses[k] == seen.addresses[0]);
    }
    tenon__context_destroy(first);
  }
  core_world_end(&world);
  world_close(&seen.world); /* nothing is left there */
}

static tenon_status_t bind_on_host(void* instance, tenon_binding_t* binding,
                                   const tenon_bind_table_t* host, void** out_bound) {
  const float* data = host->packed(binding, 0);
  (void)instance;
  EXPECT_NEAR(data[OUTPUTS * COLUMNS - 1], 2 * (OUTPUTS * COLUMNS - 1), 0);
  seen.count += 1;
  *out_bound = NULL;
  return TENON_OK;
}

TENON_TEST(on_the_host_they_are_what_was_packed) {
  tenon_kernel_t kernel = dense_of("twice", core_write_zeros);
  core_world_t world;
  memset(&seen, 0, sizeof seen);
  kernel.prepare = pack_twice;
  kernel.bind = bind_on_host;
  core_world_begin(&world, &kernel, 1);
  make_pair(&world.fixture);
  if (core_world_start(&world)) {
    run_zeros(&world);
    EXPECT_INT(seen.count, 2);
  }
  core_world_end(&world);
}
