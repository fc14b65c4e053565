/* One node, a device that does nothing, and candidates with functions of a test, for tests of
 * rehearsals and verdicts. */
#ifndef TENON_CORE_REHEARSAL_TEST_REHEARSAL_H_
#define TENON_CORE_REHEARSAL_TEST_REHEARSAL_H_

#include "core/candidate/candidates.h"
#include "core/catalog/catalog.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/test_operators.h"
#include "core/region/region_finish.h"
#include "core/rehearsal/rehearsal.h"

/* Arguments of a fake kernel's call. */
typedef struct fake_call_t {
  tenon_run_t* run;
  const tenon_run_table_t* host;
  const tenon_argument_t* inputs;
  const tenon_argument_t* outputs;
  uint32_t number; /* of the call, the first is 0 */
} fake_call_t;

/* A candidate. With only `compute` set, it is row-major and named "fake". */
typedef struct fake_t {
  tenon_status_t (*compute)(const fake_call_t* call);
  const char* name;
  tenon_numerics_t numerics;
  uint32_t flags; /* TENON_KERNEL_* */
  const tenon_argument_rule_t* input_rules;
  const char* const* operators; /* of one in the catalogue */
  tenon_status_t (*tactics)(void* state, const tenon_region_t* region,
                            const tenon_region_table_t* table, tenon_emit_t* emit,
                            tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*));
  /* Filled by fake_finish. */
  uint32_t call_count;
  tenon__owner_t owner;
  tenon__kernel_entry_t entry;
  tenon__candidate_t candidate;
} fake_t;

static inline tenon_status_t fake_prepare(const tenon_prepare_t* call, void** out_instance) {
  *out_instance = call->state;
  return TENON_OK;
}

static inline tenon_status_t fake_enqueue(const tenon_enqueue_t* call) {
  fake_t* fake = call->instance;
  const fake_call_t seen = {call->run, call->host, call->inputs, call->outputs, fake->call_count++};
  return fake->compute(&seen);
}

static inline void fake_finish(fake_t* fake) {
  const char* name = fake->name == NULL ? "fake" : fake->name;
  fake->call_count = 0;
  fake->owner = (tenon__owner_t){.plugin = name, .version = "1", .path = "", .state = fake};
  fake->entry.kernel = (tenon_kernel_t){.size = sizeof(tenon_kernel_t),
                                        .name = name,
                                        .device = "test",
                                        .operators = fake->operators,
                                        .flags = fake->flags,
                                        .tactics = fake->tactics,
                                        .prepare = fake_prepare,
                                        .enqueue = fake_enqueue};
  fake->entry.owner = &fake->owner;
  fake->candidate = (tenon__candidate_t){
      .kernel = &fake->entry,
      .tactic = {.name = "", .numerics = fake->numerics, .input_rules = fake->input_rules}};
}

typedef struct rehearsal_world_t {
  test_fixture_t fixture;
  tenon__arena_t arena;
  tenon__catalog_t* catalog;
  tenon__thread_pool_t* pool;
  tenon__profile_t profile;
  tenon__tuning_t tuning;
  struct tenon_region_t region;
  tenon__subject_t subject;
  tenon__rehearsal_t rehearsal;
} rehearsal_world_t;

/* Guess for data-dependent extents. */
enum { REHEARSAL_GUESS = 4 };

static inline bool rehearsal_world_open(rehearsal_world_t* world) {
  const tenon_allocator_t allocator = tenon__allocator_default();
  memset(world, 0, sizeof *world);
  tenon__arena_initialize(&world->arena, allocator);
  tenon__blocks_initialize(&world->tuning.blocks, allocator);
  world->tuning.allocator = allocator; /* a test may put another here */
  return test_fixture_open(&world->fixture, allocator) &&
         tenon__catalog_create(allocator, &world->catalog) == TENON_OK &&
         tenon__thread_pool_create(allocator, 1, NULL, &world->pool) == TENON_OK;
}

static inline void rehearsal_world_close(rehearsal_world_t* world) {
  tenon__rehearsal_end(&world->rehearsal);
  tenon__tuning_end(&world->tuning);
  tenon__blocks_deinitialize(&world->tuning.blocks);
  tenon__thread_pool_destroy(world->pool);
  tenon__catalog_destroy(world->catalog);
  tenon__arena_deinitialize(&world->arena);
  test_fixture_close(&world->fixture);
}

static inline void rehearsal_world_profile(rehearsal_world_t* world) {
  const tenon__dim_pool_t* pool = world->fixture.network->pool;
  tenon__extents_t* points[3] = {&world->profile.min, &world->profile.optimum, &world->profile.max};
  for (size_t p = 0; p < 3; ++p) {
    EXPECT_STATUS(tenon__extents_create(&world->arena, pool, points[p]), TENON_OK);
    for (uint32_t k = 0; k < tenon__symbol_count(pool); ++k) {
      tenon__extents_set(points[p], k, REHEARSAL_GUESS);
    }
    tenon__extents_update(points[p]);
  }
}

/* Adds a kernel to the catalogue. */
static inline void rehearsal_world_offer(rehearsal_world_t* world, fake_t* fake) {
  fake_finish(fake);
  const tenon_offering_t offering = {
      sizeof offering, "kernel/1", {&fake->entry.kernel, 1, (uint32_t)sizeof(tenon_kernel_t)}};
  EXPECT_STATUS(tenon__catalog_add(world->catalog, &fake->owner, &offering, world->tuning.sink),
                TENON_OK);
}

/* Begins with the node that makes `value`. */
static inline void rehearsal_world_begin(rehearsal_world_t* world, tenon_value_t value) {
  static const tenon_device_descriptor_t descriptor = {.size = sizeof descriptor, .name = "test"};
  static const tenon__device_t device = {.source = {.descriptor = &descriptor}, .fingerprint = ""};
  const uint32_t node = test_value(&world->fixture, value)->producer;
  EXPECT_STATUS(tenon__builder_finish(world->fixture.builder), TENON_OK);
  rehearsal_world_profile(world);
  world->tuning.arena = &world->arena;
  world->tuning.network = world->fixture.network;
  world->tuning.catalog = world->catalog;
  world->tuning.profile = &world->profile;
  world->tuning.devices = &device;
  world->tuning.device_count = 1;
  world->tuning.pool = world->pool;
  world->tuning.sink = &world->fixture.messages.sink;
  tenon__tuning_begin(&world->tuning);
  EXPECT_STATUS(
      tenon__region_of_node(&world->arena, world->fixture.network, 0, node, &world->region),
      TENON_OK);
  EXPECT_STATUS(tenon__region_finish(&world->arena, &world->profile, &world->region), TENON_OK);
  world->subject = (tenon__subject_t){
      .tuning = &world->tuning, .region = &world->region, .ask_node = tenon__candidates_for_node};
  tenon__rehearsal_begin(&world->subject, &world->rehearsal);
}

static inline tenon__outcome_t rehearsal_world_try(rehearsal_world_t* world, fake_t* fake) {
  tenon__outcome_t outcome;
  fake_finish(fake);
  EXPECT_STATUS(tenon__rehearsal_try(&world->rehearsal, &fake->candidate, NULL, &outcome),
                TENON_OK);
  return outcome;
}

#endif
