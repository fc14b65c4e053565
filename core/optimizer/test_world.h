/* A network of test operators and its optimisation, for the tests of the passes. Each patch is
 * verified. */
#ifndef TENON_CORE_OPTIMIZER_TEST_WORLD_H_
#define TENON_CORE_OPTIMIZER_TEST_WORLD_H_

#include "core/network/test_operators.h"
#include "core/network/verify_rules.h"
#include "core/optimizer/optimizer.h"

typedef struct test_world_t {
  test_fixture_t fixture;
  tenon__optimize_options_t options;
  tenon__optimize_report_t report;
  test_text_t text;
} test_world_t;

static inline bool test_world_open(test_world_t* world) {
  memset(world, 0, sizeof(*world));
  world->options.verifies = true;
  world->options.find = test_find;
  world->options.find_user = &world->fixture;
  return test_fixture_open(&world->fixture, tenon__allocator_default());
}

static inline void test_world_close(test_world_t* world) {
  tenon__optimize_report_deinitialize(&world->report);
  test_fixture_close(&world->fixture);
}

static inline void test_output(test_world_t* world, tenon_value_t value, const char* name) {
  EXPECT_STATUS(world->fixture.build->output(world->fixture.builder, value, name), TENON_OK);
}

/* Optimises, and returns the network as text. */
static inline const char* test_optimized(test_world_t* world) {
  EXPECT_STATUS(tenon__builder_finish(world->fixture.builder), TENON_OK);
  EXPECT_STATUS(tenon__optimize(world->fixture.network, &world->options,
                                &world->fixture.messages.sink, &world->report),
                TENON_OK);
  EXPECT_TEXT(world->fixture.messages.text, "");
  EXPECT_STATUS(tenon__network_verify(world->fixture.network, &world->fixture.messages.sink),
                TENON_OK);
  return test_print(world->fixture.network, &world->text);
}

static inline void test_expect_patches(const test_world_t* world, const char* label,
                                       uint32_t count) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < world->report.patch_count; ++i) {
    found += strcmp(world->report.patches[i].label, label) == 0;
  }
  EXPECT_INT(found, count);
}

static inline const float* test_floats_of(test_world_t* world, const char* name) {
  const tenon__graph_t* graph = world->fixture.network->graphs[0];
  for (uint32_t i = 0; i < graph->value_count; ++i) {
    if (graph->values[i].alive && strcmp(graph->values[i].name, name) == 0 &&
        graph->values[i].weights != TENON_NONE) {
      return world->fixture.network->weights[graph->values[i].weights].data;
    }
  }
  return NULL;
}

#endif
