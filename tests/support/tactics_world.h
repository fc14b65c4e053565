/* Kernels for tests of choices: test.dense/1 as it is meant, and ways to get it wrong. */
#ifndef TENON_TESTS_SUPPORT_TACTICS_WORLD_H_
#define TENON_TESTS_SUPPORT_TACTICS_WORLD_H_

#include "tests/support/core_world.h"

typedef tenon_status_t (*add_t)(tenon_emit_t* emit, const tenon_tactic_t* tactic);

typedef tenon_status_t (*tactics_t)(void* state, const tenon_region_t* region,
                                    const tenon_region_table_t* table, tenon_emit_t* to, add_t add);

#define TACTICS(name)                                                                    \
  static inline tenon_status_t name(void* state, const tenon_region_t* region,           \
                                    const tenon_region_table_t* table, tenon_emit_t* to, \
                                    add_t add)
#define IGNORE_REGION() ((void)state, (void)region, (void)table)

static const char* const takes_dense[] = {"test.dense/1", NULL};

/* One tactic that says nothing of itself. */
static inline tenon_kernel_t dense_of(const char* name,
                                      tenon_status_t (*enqueue)(const tenon_enqueue_t* call)) {
  return (tenon_kernel_t){.size = sizeof(tenon_kernel_t),
                          .name = name,
                          .device = "cpu",
                          .operators = takes_dense,
                          .version = 1,
                          .enqueue = enqueue};
}

/* Chosen alone: it computes nothing. */
static inline tenon_kernel_t dense_kernel(const char* name, tactics_t tactics) {
  tenon_kernel_t kernel = dense_of(name, core_do_nothing);
  kernel.tactics = tactics;
  return kernel;
}

/* With a slot behind the operator. */
static const tenon_slot_t epilogue[] = {
    {.size = sizeof(tenon_slot_t),
     .kind = TENON_SLOT_EPILOGUE,
     .max_operands = 2,
     .broadcasts = TENON_BROADCAST_SCALAR | TENON_BROADCAST_FULL}};

static inline tenon_kernel_t slot_kernel(const char* name, tactics_t tactics) {
  tenon_kernel_t kernel = dense_kernel(name, tactics);
  kernel.slots = (tenon_list_t)TENON_LIST(epilogue);
  return kernel;
}

static inline tenon_status_t emit(tenon_emit_t* to, add_t add, const char* name, double seconds) {
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = name, .estimate_seconds = seconds};
  return add(to, &tactic);
}

TACTICS(fast) {
  IGNORE_REGION();
  const tenon_status_t status = emit(to, add, "second", 2e-4);
  return status == TENON_OK ? emit(to, add, "first", 1e-4) : status;
}

static inline float* element_of(const tenon_tensor_view_t* view, int64_t row, int64_t column) {
  return (float*)view->data + row * view->strides[0] + column * view->strides[1];
}

/* What the operator means, in any strides: rows of x by rows of w. `reverse` adds up from the end.
 */
static inline void compute_dense(const tenon_argument_t* inputs, const tenon_tensor_view_t* y,
                                 bool reverse) {
  const tenon_tensor_view_t* x = &inputs[0].tensor;
  const tenon_tensor_view_t* w = &inputs[1].tensor;
  for (int64_t i = 0; i < y->dims[0]; ++i) {
    for (int64_t j = 0; j < y->dims[1]; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < x->dims[1]; ++k) {
        const int64_t at = reverse ? x->dims[1] - 1 - k : k;
        sum += *element_of(x, i, at) * *element_of(w, j, at);
      }
      *element_of(y, i, j) = sum;
    }
  }
}

static inline tenon_status_t run_right(const tenon_enqueue_t* call) {
  compute_dense(call->inputs, &call->outputs[0].tensor, false);
  return TENON_OK;
}

static inline tenon_status_t run_right_from_the_end(const tenon_enqueue_t* call) {
  compute_dense(call->inputs, &call->outputs[0].tensor, true);
  return TENON_OK;
}

/* By weights of zeros, of `rows` and `columns`. */
static inline tenon_value_t add_dense_of(test_fixture_t* b, const char* name, tenon_value_t x,
                                         int64_t rows, int64_t columns) {
  static const float zeros[1024];
  char weights[32];
  (void)snprintf(weights, sizeof(weights), "%s_w", name);
  return test_node(b, "test.dense/1", name, x, test_floats(b, weights, zeros, DIMS(rows, columns)),
                   NO_VALUE);
}

static inline tenon_value_t add_dense(test_fixture_t* b, const char* name, tenon_value_t x) {
  return add_dense_of(b, name, x, 8, 8);
}

static inline void add_output(test_fixture_t* b, tenon_value_t value) {
  EXPECT_STATUS(b->build->output(b->builder, value, "y"), TENON_OK);
}

/* x, dense with weights of ones, y. */
static inline void make_ones(test_fixture_t* b, int64_t rows, int64_t columns) {
  static float ones[64 * 1024];
  const int64_t x_dims[] = {rows, columns, -2};
  const int64_t w_dims[] = {8, columns, -2};
  for (size_t k = 0; k < sizeof ones / sizeof *ones; ++k) {
    ones[k] = 1;
  }
  const tenon_value_t x = test_input(b, "x", x_dims);
  const tenon_value_t w = test_floats(b, "w", ones, w_dims);
  add_output(b, test_node(b, "test.dense/1", "dense", x, w, NO_VALUE));
}

static inline const tenon__schedule_t* schedule_of(const core_world_t* world) {
  return &tenon__engine_plan(world->engine)->schedules[0];
}

/* The kernels of the main graph's steps, with their tactics: "fast/first expressions/evaluator". */
static inline const char* steps_of(const core_world_t* world, char text[512]) {
  const tenon__schedule_t* schedule = schedule_of(world);
  size_t used = 0;
  text[0] = '\0';
  for (uint32_t k = 0; k < schedule->step_count && used < 512; ++k) {
    const tenon__step_t* step = &schedule->steps[k];
    used += (size_t)snprintf(text + used, 512 - used, "%s%s/%s", k > 0 ? " " : "", step->kernel,
                             step->tactic.name);
  }
  return text;
}

/* Builds and gives the steps. */
static inline const char* build_steps(core_world_t* world, char text[512]) {
  text[0] = '\0';
  return core_world_start(world) ? steps_of(world, text) : text;
}

static inline const char* refusals_of(const core_world_t* world, uint32_t step) {
  const char* text = schedule_of(world)->steps[step].refusals;
  return text == NULL ? "" : text;
}

/* A world that measures and keeps why. */
static inline void measuring_world(core_world_t* world, const tenon_kernel_t* kernels,
                                   uint32_t count) {
  core_world_begin(world, kernels, count);
  world->options.tuning.no_measuring = false;
  world->options.tuning.keep_refusals = true;
}

#endif
