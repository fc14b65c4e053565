/* Kernels for test.dense/1 in f32 and in narrower types, for the tests of types. */
#ifndef TENON_TESTS_SUPPORT_TYPES_WORLD_H_
#define TENON_TESTS_SUPPORT_TYPES_WORLD_H_

#include "core/base/file.h"
#include "core/tensor/dtype.h"
#include "tests/support/tactics_world.h"

enum { ROWS = 4, COLUMNS = 8 };

TACTICS(in_f32) {
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "f32", .estimate_seconds = 100e-6};
  return add(to, &tactic);
}

static inline tenon_status_t add_narrow(tenon_emit_t* to, add_t add, tenon_dtype_t dtype,
                                        double seconds) {
  const bool is_f16 = dtype == TENON_DTYPE_FLOAT16;
  const tenon_argument_rule_t inputs[2] = {{.dtype = dtype}, {0}};
  const tenon_argument_rule_t output = {.dtype = dtype};
  const tenon_numerics_t numerics = {.size = sizeof(numerics),
                                     .product_mantissa_bits = is_f16 ? 10 : 7,
                                     .product_exponent_bits = is_f16 ? 5 : 8};
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = is_f16 ? "f16" : "bf16",
                                 .inputs = inputs,
                                 .outputs = &output,
                                 .numerics = &numerics,
                                 .estimate_seconds = seconds};
  return add(to, &tactic);
}

TACTICS(in_bf16) {
  IGNORE_REGION();
  return add_narrow(to, add, TENON_DTYPE_BFLOAT16, 30e-6);
}

TACTICS(in_f16) {
  IGNORE_REGION();
  return add_narrow(to, add, TENON_DTYPE_FLOAT16, 30e-6);
}

/* What a product gains is less than the microsecond that a conversion takes. */
TACTICS(in_bf16_somewhat_faster) {
  IGNORE_REGION();
  return add_narrow(to, add, TENON_DTYPE_BFLOAT16, 9.5e-6);
}

TACTICS(in_f32_fast) {
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "f32", .estimate_seconds = 10e-6};
  return add(to, &tactic);
}

/* For who is timed: slower than anything else here. */
static inline tenon_status_t run_slowly(const tenon_enqueue_t* call) {
  const double end = tenon__seconds() + 2e-3;
  while (tenon__seconds() < end) {
  }
  return run_right(call);
}

static inline float at(const tenon_tensor_view_t* view, int64_t row, int64_t column) {
  const int64_t place = row * view->strides[0] + column * view->strides[1];
  return (float)tenon__element_load(view->data, view->dtype, (uint64_t)place).f;
}

static inline tenon_status_t run_narrow(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* x = &call->inputs[0].tensor;
  const tenon_tensor_view_t* w = &call->inputs[1].tensor;
  const tenon_tensor_view_t* y = &call->outputs[0].tensor;
  EXPECT(x->dtype == TENON_DTYPE_BFLOAT16 || x->dtype == TENON_DTYPE_FLOAT16);
  EXPECT_INT(w->dtype, TENON_DTYPE_FLOAT32);
  EXPECT_INT(y->dtype, x->dtype);
  for (int64_t i = 0; i < y->dims[0]; ++i) {
    for (int64_t j = 0; j < y->dims[1]; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < x->dims[1]; ++k) {
        sum += (double)at(x, i, k) * (double)at(w, j, k);
      }
      tenon__element_store(y->data, y->dtype, (uint64_t)(i * y->strides[0] + j * y->strides[1]),
                           (tenon__scalar_t){.f = sum}, TENON_DTYPE_FLOAT32);
    }
  }
  return TENON_OK;
}

static inline tenon_kernel_t plain_kernel(void) {
  tenon_kernel_t kernel = dense_of("plain", run_slowly);
  kernel.tactics = in_f32;
  return kernel;
}

static inline tenon_kernel_t narrow_kernel(void) {
  tenon_kernel_t kernel = dense_of("narrow", run_narrow);
  kernel.tactics = in_bf16;
  return kernel;
}

static inline tenon_dtype_t kept_as(const core_world_t* world, const char* name) {
  const tenon__plan_t* plan = tenon__engine_plan(world->engine);
  const tenon__graph_t* g = plan->network->graphs[0];
  for (uint32_t p = 0; p < plan->schedules[0].place_count; ++p) {
    const tenon__place_t* place = &plan->schedules[0].places[p];
    if (strcmp(g->values[place->value].name, name) == 0) {
      return place->dtype;
    }
  }
  tenon__test_fail(__FILE__, __LINE__, "there is no value '%s'", name);
  return TENON_DTYPE_UNDEFINED;
}

#endif
