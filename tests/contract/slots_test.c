/* What a kernel's slots say of themselves is kept by the host, before the kernel is asked: its
 * `match` says yes to everything. Behind each operator lies arithmetic of the standard operators;
 * how much of it went into the kernel's step is what the step's nodes tell. */
#include <stdio.h>

#include "scene.h"

static const int64_t whole[] = {2, 3, 4};

/* An input of f32 with these extents, a node "NAME" that adds it, and the sum. */
static tenon_value_t plus(scene_t* scene, const char* name, tenon_value_t x, const int64_t* dims) {
  char input[32];
  (void)snprintf(input, sizeof(input), "%s_input", name);
  const tenon_value_t terms[] = {x, scene_input(scene, input, 3, dims)};
  return scene_node(scene, "standard.add/1", name, terms, 2);
}

static tenon_value_t node_of(scene_t* scene, const char* kernel) {
  char op[48];
  (void)snprintf(op, sizeof(op), "slots.%s/1", kernel);
  return scene_unary(scene, op, "node", scene_input(scene, "x", 3, whole));
}

/* Builds the network, whose result is y, and compares the nodes of the step that computes "node".
 */
static void expect_step(scene_t* scene, const char* kernel, tenon_value_t y, const char* nodes) {
  scene_output(scene, y, "y");
  scene->options.no_measuring = 1;
  if (!scene_start(scene)) {
    return;
  }
  for (uint32_t k = 0; k < tenon_engine_step_count(scene->engine); ++k) {
    const tenon_step_info_t step = scene_step(scene, k);
    if (strcmp(step.kernel, kernel) == 0) {
      if (strcmp(step.nodes, nodes) != 0) {
        tenon__test_fail(__FILE__, __LINE__, "%s: %s, not %s", kernel, step.nodes, nodes);
      }
      return;
    }
  }
  tenon__test_fail(__FILE__, __LINE__, "%s: no such step", kernel);
}

typedef tenon_value_t (*tail_t)(scene_t* scene, tenon_value_t x);

static void expect_fused(const char* kernel, tail_t tail, const char* nodes) {
  scene_t scene;
  EXPECT(SCENE_OPEN(&scene, CONTRACT_FOLDER "/slots"));
  expect_step(&scene, kernel, tail(&scene, node_of(&scene, kernel)), nodes);
  scene_close(&scene);
}

/* ---- What lies behind the operator ---- */

static tenon_value_t one_unary(scene_t* scene, tenon_value_t x) {
  return scene_unary(scene, "standard.abs/1", "first", x);
}

static tenon_value_t three_unary(scene_t* scene, tenon_value_t x) {
  const tenon_value_t y = scene_unary(scene, "standard.abs/1", "first", x);
  return scene_unary(scene, "standard.sqrt/1", "third",
                     scene_unary(scene, "standard.exp/1", "second", y));
}

static tenon_value_t one_operand(scene_t* scene, tenon_value_t x) {
  return plus(scene, "first", x, whole);
}

static tenon_value_t two_operands(scene_t* scene, tenon_value_t x) {
  return plus(scene, "second", plus(scene, "first", x, whole), whole);
}

/* For each TENON_BROADCAST_* the extents of such an operand. */
static const int64_t extents[][3] = {{1, 1, 1}, {1, 3, 1}, {2, 3, 1}, {2, 3, 4}, {2, 1, 4}};
static size_t extents_index;

static tenon_value_t broadcast_operand(scene_t* scene, tenon_value_t x) {
  return plus(scene, "first", x, extents[extents_index]);
}

static tenon_value_t in_doubles(scene_t* scene, tenon_value_t x) {
  const tenon_attribute_t to[] = {TENON_TYPE("to", TENON_DTYPE_FLOAT64)};
  tenon_value_t wide = {0};
  EXPECT_STATUS(tenon_network_add(scene->network, "standard.cast/1", "wide", &x, 1,
                                  &(tenon_list_t){to, 1, sizeof(tenon_attribute_t)}, &wide, 1),
                TENON_OK);
  return scene_unary(scene, "standard.abs/1", "first", wide);
}

static tenon_value_t summed(scene_t* scene, tenon_value_t x) {
  return scene_unary(scene, "standard.reduce_sum/1", "sum", x);
}

/* ---- Limits ---- */

TENON_TEST(a_slot_without_limits_takes_all) {
  expect_fused("plain", two_operands, "node, first, second");
  expect_fused("plain", three_unary, "node, first, second, third");
  expect_fused("plain", in_doubles, "node, wide, first");
}

TENON_TEST(no_more_operands_than_it_says) {
  expect_fused("no_operand", one_unary, "node, first");
  expect_fused("no_operand", one_operand, "node");
  expect_fused("one_operand", one_operand, "node, first");
  expect_fused("one_operand", two_operands, "node, first");
}

/* The value, and an instruction for each node. */
TENON_TEST(no_more_instructions_than_it_says) {
  expect_fused("short", one_unary, "node, first");
  expect_fused("short", three_unary, "node, first, second");
}

TENON_TEST(operands_broadcast_as_it_says_alone) {
  static const char* const kernels[] = {"scalar", "channel", "row", "full", "other"};
  for (size_t k = 0; k < 5; ++k) {
    for (extents_index = 0; extents_index < 5; ++extents_index) {
      expect_fused(kernels[k], broadcast_operand, k == extents_index ? "node, first" : "node");
    }
  }
}

TENON_TEST(arithmetic_in_its_type_alone) {
  expect_fused("floats", one_unary, "node, first");
  expect_fused("floats", in_doubles, "node");
}

TENON_TEST(no_reductions) {
  expect_fused("plain", summed, "node");
}

TENON_TEST(slots_on_the_first_output_alone) {
  expect_fused("prologue", one_unary, "node");
  expect_fused("side", one_unary, "node");
  expect_fused("second", one_unary, "node");
}

/* ---- Before it, and beside it ---- */

static void expect_fused_before(tail_t head, const char* nodes) {
  scene_t scene;
  EXPECT(SCENE_OPEN(&scene, CONTRACT_FOLDER "/slots"));
  const tenon_value_t x = head(&scene, scene_input(&scene, "x", 3, whole));
  expect_step(&scene, "prologue", scene_unary(&scene, "slots.prologue/1", "node", x), nodes);
  scene_close(&scene);
}

TENON_TEST(what_stands_before_is_within_the_slot_too) {
  expect_fused_before(one_unary, "first, node");
  expect_fused_before(three_unary, "first, second, third, node");
  expect_fused_before(one_operand, "node"); /* it takes none */
  expect_fused_before(summed, "node");
}

static void expect_fused_beside(tail_t tail, const char* nodes) {
  scene_t scene;
  EXPECT(SCENE_OPEN(&scene, CONTRACT_FOLDER "/slots"));
  const tenon_value_t x = node_of(&scene, "side");
  scene_output(&scene, x, "x");
  expect_step(&scene, "side", tail(&scene, x), nodes);
  scene_close(&scene);
}

TENON_TEST(what_leaves_beside_is_within_the_slot_too) {
  expect_fused_beside(one_unary, "node, first");
  expect_fused_beside(three_unary, "node, first, second, third");
  expect_fused_beside(one_operand, "node");
  expect_fused_beside(summed, "node");
}

/* The slots are the kernel's own, as many as it has. */
TENON_TEST(the_sixth_slot_is_found) {
  expect_fused("sixth", one_unary, "node, first");
}
