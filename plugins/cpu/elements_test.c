/* Compares the block functions of each instruction set with plain loops. */
#include <math.h>

#include "fake_run.h"

enum { MOST = 150 };

static float fold_of(const tenon__cpu_isa_t* isa, uint32_t opcode, float start, const float* x,
                     size_t count) {
  isa->elements->fold[opcode][TENON_CPU_TYPE_F32](&start, x, count);
  return start;
}

TENON_TEST(extremes_find_the_element_and_nan_at_every_place) {
  tenon__cpu_state_t states[3];
  const uint32_t state_count = fake_states(states);
  for (uint32_t s = 0; s < state_count; s++) {
    for (size_t count = 1; count <= MOST; count++) {
      float x[MOST];
      for (size_t k = 0; k < count; k++) {
        x[k] = (float)(k % 7) - 3;
      }
      for (size_t place = 0; place < count; place++) {
        const float kept = x[place];
        x[place] = -9;
        EXPECT_NEAR(fold_of(states[s].isa, TENON_OPCODE_REDUCE_MIN, INFINITY, x, count), -9, 0);
        x[place] = 9;
        EXPECT_NEAR(fold_of(states[s].isa, TENON_OPCODE_REDUCE_MAX, -INFINITY, x, count), 9, 0);
        EXPECT_NEAR(fold_of(states[s].isa, TENON_OPCODE_REDUCE_MAX, 10, x, count), 10, 0);
        x[place] = NAN;
        EXPECT(isnan(fold_of(states[s].isa, TENON_OPCODE_REDUCE_MIN, INFINITY, x, count)));
        EXPECT(isnan(fold_of(states[s].isa, TENON_OPCODE_REDUCE_MAX, -INFINITY, x, count)));
        x[place] = kept;
        EXPECT(isnan(fold_of(states[s].isa, TENON_OPCODE_REDUCE_MAX, NAN, x, count)));
      }
    }
  }
}

typedef struct whole_t {
  tenon__cpu_type_t type;
  tenon_dtype_t dtype;
  double low, high;
} whole_t;

/* Checks conversions that saturate and give 0 for NaN, with any number of elements. */
static void check_whole(const tenon__cpu_isa_t* isa, const whole_t* kind, const float* x,
                        size_t most) {
  int32_t y[300] = {0};
  for (size_t count = 0; count < most; count += 23) {
    isa->elements->convert[TENON_CPU_TYPE_F32][kind->type](y, x, count);
    for (size_t k = 0; k < count; k++) {
      const double right = isnan(x[k]) ? 0 : fmin(fmax(trunc((double)x[k]), kind->low), kind->high);
      const void* at = (const char*)y + k * fake_bytes(kind->dtype);
      EXPECT_NEAR(fake_get(kind->dtype, at), right, 0);
    }
  }
}

TENON_TEST(floats_become_whole_numbers_that_saturate) {
  static const float special[] = {NAN,      INFINITY, -INFINITY, 0x1p31F, -0x1p31F, 0x1.fffffep30F,
                                  127.5F,   -128.5F,  255.9F,    256.0F,  -0.5F,    -1.0F,
                                  32767.5F, 65535.5F, 65536.0F,  0.99F,   1e30F,    -1e30F,
                                  3.0F,     -2.5F};
  static const whole_t kinds[] = {
      {TENON_CPU_TYPE_I8, TENON_DTYPE_INT8, -128, 127},
      {TENON_CPU_TYPE_U8, TENON_DTYPE_UINT8, 0, 255},
      {TENON_CPU_TYPE_I16, TENON_DTYPE_INT16, -32768, 32767},
      {TENON_CPU_TYPE_I32, TENON_DTYPE_INT32, -2147483648.0, 2147483647.0}};
  tenon__cpu_state_t states[3];
  const uint32_t state_count = fake_states(states);
  float x[300];
  unsigned seed = 5;
  for (size_t k = 0; k < 300; k++) {
    x[k] = k % 3 == 0 ? special[k / 3 % 20] : (float)(fake_random(&seed) * 40000);
  }
  for (uint32_t s = 0; s < state_count; s++) {
    for (size_t kind = 0; kind < 4; kind++) {
      check_whole(states[s].isa, &kinds[kind], x, 300);
    }
  }
}

/* Converts every f16 value and floats between two adjacent ones. NaN remains NaN. */
TENON_TEST(halves_are_the_same_for_each_instruction_set) {
  enum { PART = 256 };
  tenon__cpu_state_t states[3];
  const uint32_t state_count = fake_states(states);
  const tenon__cpu_elements_t* plain = tenon__cpu_isa_find("baseline")->elements;
  for (uint32_t first = 0; first < 65536; first += PART) {
    uint16_t halves[PART];
    uint16_t right[PART];
    uint16_t found[PART];
    float x[PART];
    float y[PART];
    for (uint32_t k = 0; k < PART; k++) {
      halves[k] = (uint16_t)(first + k);
    }
    plain->from_f16(x, halves, PART);
    for (uint32_t s = 0; s < state_count; s++) {
      states[s].isa->elements->from_f16(y, halves, PART - 3);
      for (uint32_t k = 0; k < PART - 3; k++) {
        EXPECT(y[k] == x[k] || (isnan(y[k]) && isnan(x[k])));
      }
    }
    for (uint32_t k = 0; k < PART; k++) {
      x[k] *= k % 4 == 0 ? 1.00048828125F : k % 4 == 1 ? 3e4F : k % 4 == 2 ? 1.0007F : 1.0F;
    }
    plain->to_f16(right, x, PART);
    for (uint32_t s = 0; s < state_count; s++) {
      states[s].isa->elements->to_f16(found, x, PART - 3);
      for (uint32_t k = 0; k < PART - 3; k++) {
        EXPECT(found[k] == right[k] || (isnan(x[k]) && (found[k] & 0x7fffU) > 0x7c00U));
      }
    }
  }
}

static double sigmoid(double x) {
  return 1 / (1 + exp(-x));
}

/* Floats of every sign and magnitude up to `most`. */
static void fill_magnitudes(float* x, size_t count, double most, unsigned* seed) {
  for (size_t k = 0; k < count; k++) {
    const double magnitude = most * exp2(-fabs(fake_random(seed)) * (k % 2 == 0 ? 4 : 40));
    x[k] = (float)(k % 3 == 0 ? -magnitude : magnitude);
  }
}

typedef struct function_t {
  uint32_t opcode;
  double (*exact)(double);
  double most; /* |x| */
} function_t;

/* vector_math.inc promises 4 ulp where products and sums are rounded once; else up to twice that. */
static void check_function(const tenon__cpu_isa_t* isa, const function_t* function, const float* x,
                           size_t count) {
  const double limit = strcmp(isa->name, "baseline") == 0 ? 8 : 4;
  float y[1000];
  REQUIRE(count <= 1000);
  isa->elements->unary[function->opcode][TENON_CPU_TYPE_F32](y, x, count);
  for (size_t k = 0; k < count && tenon__test_failures == 0; k++) {
    const double exact = function->exact((double)x[k]);
    const float near = fabsf((float)exact);
    const double ulp = (double)nextafterf(near, INFINITY) - (double)near;
    EXPECT_NEAR(y[k], exact, limit * ulp);
    EXPECT((signbit(y[k]) != 0) == (signbit(exact) != 0));
    EXPECT(fabsf(y[k]) <= 1 || fabs(exact) > 1); /* no sigmoid and no tanh exceeds 1 */
  }
}

TENON_TEST(functions_are_within_4_ulp) {
  static const function_t functions[] = {
      {TENON_OPCODE_TANH, tanh, 20},     {TENON_OPCODE_ERF, erf, 6},
      {TENON_OPCODE_EXP, exp, 80},       {TENON_OPCODE_SIGMOID, sigmoid, 103},
      {TENON_OPCODE_EXPM1, expm1, 88.7}, {TENON_OPCODE_LOG1P, log1p, 0.99}};
  enum { COUNT = 997, ROUNDS = 40 };
  tenon__cpu_state_t states[3];
  const uint32_t state_count = fake_states(states);
  unsigned seed = 3;
  for (size_t f = 0; f < ROUNDS * sizeof(functions) / sizeof(functions[0]); f++) {
    float x[COUNT];
    const function_t* function = &functions[f / ROUNDS];
    fill_magnitudes(x, COUNT, function->most, &seed);
    x[0] = -0.0F;
    for (uint32_t s = 0; s < state_count; s++) {
      check_function(states[s].isa, function, x, COUNT);
    }
  }
}

TENON_TEST(functions_of_infinity_zero_and_nan_are_those_of_c) {
  static const struct {
    uint32_t opcode;
    double (*exact)(double);
  } functions[] = {{TENON_OPCODE_TANH, tanh},   {TENON_OPCODE_ERF, erf},
                   {TENON_OPCODE_EXP, exp},     {TENON_OPCODE_SIGMOID, sigmoid},
                   {TENON_OPCODE_EXPM1, expm1}, {TENON_OPCODE_LOG1P, log1p},
                   {TENON_OPCODE_LOG, log}};
  static const float x[] = {INFINITY, -INFINITY, NAN, 0.0F, -0.0F, -1.0F, -2.0F, 100.0F, -200.0F};
  enum { COUNT = sizeof(x) / sizeof(x[0]) };
  tenon__cpu_state_t states[3];
  const uint32_t state_count = fake_states(states);
  for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++) {
    for (uint32_t s = 0; s < state_count; s++) {
      float y[COUNT];
      states[s].isa->elements->unary[functions[f].opcode][TENON_CPU_TYPE_F32](y, x, COUNT);
      for (size_t k = 0; k < COUNT; k++) {
        const float right = (float)functions[f].exact((double)x[k]);
        EXPECT(isnan(right)   ? isnan(y[k])
               : isinf(right) ? y[k] == right
                              : fabsf(y[k] - right) <= 1e-6F * fabsf(right));
      }
    }
  }
}
