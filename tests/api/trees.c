/* Ensembles of trees by hand: lists that are not what a walk reads are refused when the node is
 * made or, where they are numbers, whoever computes it. */
#include "tests/api/figures.h"

typedef struct list_t {
  uint32_t rank;
  int64_t dims[2];
  double numbers[8];
} list_t;

/* x, then the operands of one tree over one feature: x <= 2 gives 1, else 2. */
enum { X, NODES, THRESHOLDS, MEMBERS, ROOTS, LEAVES, TARGETS, WEIGHTS, OPERANDS };

static const list_t stump[OPERANDS] = {
    {2, {4, 1}, {1, 2, 3, 2}},
    {2, {1, 7}, {0, 0, -1, -2, 0, 0, 0}},
    {1, {1}, {2}},
    {1, {1}, {9}},
    {1, {1}, {0}},
    {2, {2, 2}, {0, 1, 1, 1}},
    {1, {2}, {0}},
    {1, {2}, {1, 2}},
};

static bool is_integer(uint32_t operand) {
  return operand == NODES || operand == ROOTS || operand == LEAVES || operand == TARGETS;
}

static tenon_value_t add_constant(session_t* s, uint32_t operand, const list_t* list) {
  float floats[8];
  int64_t integers[8];
  for (int i = 0; i < 8; ++i) {
    floats[i] = (float)list->numbers[i];
    integers[i] = (int64_t)list->numbers[i];
  }
  return is_integer(operand) ? constant(s, TENON_DTYPE_INT64, list->rank, list->dims, integers)
                             : constant(s, TENON_DTYPE_FLOAT32, list->rank, list->dims, floats);
}

/* The node, with one operand replaced. */
static tenon_status_t add_trees(session_t* s, uint32_t replaced, const list_t* by,
                                tenon_value_t* out_value) {
  tenon_value_t inputs[OPERANDS];
  const tenon_attribute_t attributes[] = {ROW_INT("target_count", 1)};
  inputs[X] = input(s, "x", TENON_DTYPE_FLOAT32, 2, stump[X].dims);
  for (uint32_t i = 1; i < OPERANDS; ++i) {
    inputs[i] = add_constant(s, i, i == replaced ? by : &stump[i]);
  }
  return tenon_network_add(s->network, "standard.tree_ensemble/1", "t", inputs, OPERANDS,
                           &(tenon_list_t){attributes, 1, sizeof(tenon_attribute_t)}, out_value, 1);
}

TENON_TEST(lists_of_trees_have_one_axis) {
  static const struct {
    uint32_t operand;
    list_t list;
  } cases[] = {
      {THRESHOLDS, {2, {1, 1}, {2}}}, {MEMBERS, {2, {1000, 0}, {0}}}, {MEMBERS, {0, {0}, {9}}},
      {ROOTS, {2, {1000, 0}, {0}}},   {ROOTS, {0, {0}, {0}}},         {TARGETS, {2, {1, 2}, {0}}},
      {WEIGHTS, {2, {2, 1}, {1, 2}}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    scene_t scene;
    tenon_value_t y = ABSENT;
    REQUIRE(scene_begin(&scene));
    EXPECT_STATUS(add_trees(&scene.session, cases[i].operand, &cases[i].list, &y),
                  TENON_ERROR_INVALID_DATA);
    EXPECT_CONTAINS(scene.session.messages.text, ", not 1");
    scene_end(&scene);
  }
}

/* Runs the ensemble with one operand replaced; what a build finds out by folding counts too. */
static tenon_status_t run_trees(uint32_t replaced, const list_t* by, bool reference_only) {
  scene_t scene;
  tenon_value_t y = ABSENT;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1;
  options.reference_only = reference_only;
  float data[4] = {1, 2, 3, 2};
  if (!scene_begin(&scene)) {
    return TENON_ERROR_INTERNAL;
  }
  tenon_status_t status = add_trees(&scene.session, replaced, by, &y);
  if (status == TENON_OK) {
    output(&scene.session, y, "y");
    status = tenon_build(scene.session.network, &options, &scene.plan);
  }
  status = status != TENON_OK ? status
                              : tenon_engine_create_from_plan(scene.session.registry, scene.plan,
                                                              NULL, &scene.engine);
  status = status != TENON_OK ? status : tenon_context_create(scene.engine, NULL, &scene.context);
  if (status == TENON_OK) {
    set(&scene, 0, TENON_DTYPE_FLOAT32, 2, DIMS(4, 1), data);
    status = tenon_context_run(scene.context);
  }
  if (status == TENON_OK) {
    expect_tensor(&scene, 0, 2, DIMS(4, 1), NUMBERS(1, 1, 2, 1));
  }
  scene_end(&scene);
  return status;
}

/* Also what no row of x reaches. */
TENON_TEST(every_index_of_a_tree_is_there) {
  static const struct {
    uint32_t operand;
    list_t list;
  } cases[] = {
      {NODES, {2, {1, 7}, {7, 0, -1, -2, 0, 0, 0}}},
      {NODES, {2, {1, 7}, {-1, 0, -1, -2, 0, 0, 0}}},
      {NODES, {2, {1, 7}, {0, 1, -1, -2, 0, 0, 0}}},
      {NODES, {2, {1, 7}, {0, 0, -1, -3, 0, 0, 0}}},
      {NODES, {2, {1, 7}, {0, 0, -1, 1, 0, 0, 0}}},
      {NODES, {2, {1, 7}, {0, 0, -1, -2, 0, 1, 1}}},
      {ROOTS, {1, {1}, {1}}},
      {ROOTS, {1, {1}, {-3}}},
      {LEAVES, {2, {2, 2}, {0, 1, 1, 2}}},
      {LEAVES, {2, {3, 2}, {0, 1, 1, 1, 9, 9}}},
      {TARGETS, {1, {2}, {0, 1}}},
      {TARGETS, {1, {2}, {-1, 0}}},
  };
  for (int reference = 0; reference < 2; ++reference) {
    EXPECT_STATUS(run_trees(OPERANDS, NULL, reference != 0), TENON_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
      EXPECT_STATUS(run_trees(cases[i].operand, &cases[i].list, reference != 0),
                    TENON_ERROR_INVALID_DATA);
    }
  }
}
