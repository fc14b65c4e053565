/*
 * Recognising activation(value + bias + residual) in a slot's program. Sums and products are
 * compared as sets of terms and factors, so that neither order nor association matters.
 */
#include <math.h>

#include "epilogue.h"

enum { MOST_FACTORS = 6 };

typedef struct matcher_t {
  const tenon_program_t* program;
  tenon__cpu_region_t region;
  uint32_t root; /* the sum to which the activation is applied */
} matcher_t;

static const tenon_instruction_t* at(const matcher_t* m, uint32_t i) {
  return &m->program->instructions[i];
}

/* A number: a CONSTANT, or an operand that is a constant of one element. */
static bool is_number(const matcher_t* m, uint32_t i, double* out_value) {
  const tenon_instruction_t* in = at(m, i);
  if (in->opcode == TENON_OPCODE_CONSTANT) {
    *out_value = in->immediate.f;
    return in->dtype == TENON_DTYPE_FLOAT32;
  }
  if (in->opcode != TENON_OPCODE_INPUT) {
    return false;
  }
  const tenon_operand_t* operand = &m->program->operands[in->immediate.i];
  if (operand->kind != TENON_OPERAND_ARGUMENT || operand->dtype != TENON_DTYPE_FLOAT32) {
    return false;
  }
  const tenon_value_info_t* info = m->region.table->value(
      m->region.handle, m->region.table->input(m->region.handle, operand->index));
  if (info == NULL || info->constant_data == NULL) {
    return false;
  }
  for (uint32_t k = 0; k < info->rank; k++) {
    if (info->dims_max[k] != 1) {
      return false;
    }
  }
  *out_value = (double)*(const float*)info->constant_data;
  return true;
}

static bool near_to(double a, double b) {
  return fabs(a - b) <= 1e-6 * fabs(b);
}

/* ---- value + bias + residual ---- */

/* Which of the space's axes have an extent other than 1. */
static uint64_t wide_axes(const matcher_t* m) {
  const tenon_value_info_t* value = tenon__cpu_region_output(m->region, 0);
  uint64_t axes = 0;
  if (value != NULL) {
    for (uint32_t k = 0; k < value->rank; k++) {
      if (value->dims_min[k] != 1 || value->dims_max[k] != 1) {
        axes |= (uint64_t)1 << k;
      }
    }
  }
  return axes;
}

typedef struct sum_t {
  uint32_t values;
  uint32_t bias;
  uint32_t residual;
} sum_t;

static bool collect_sum(const matcher_t* m, uint32_t i, uint32_t channel_axis, sum_t* sum) {
  const tenon_instruction_t* in = at(m, i);
  if (in->dtype != TENON_DTYPE_FLOAT32) {
    return false;
  }
  if (in->opcode == TENON_OPCODE_ADD) {
    return collect_sum(m, in->operands[0], channel_axis, sum) &&
           collect_sum(m, in->operands[1], channel_axis, sum);
  }
  if (in->opcode != TENON_OPCODE_INPUT) {
    return false;
  }
  const tenon_operand_t* operand = &m->program->operands[in->immediate.i];
  if (operand->kind == TENON_OPERAND_SLOT_VALUE) {
    return ++sum->values == 1;
  }
  const uint64_t wide = wide_axes(m);
  const uint64_t channel = (uint64_t)1 << channel_axis;
  const uint64_t fixed = operand->broadcast_axes & wide;
  if (operand->dtype != TENON_DTYPE_FLOAT32) {
    return false;
  }
  if (fixed == 0 && sum->residual == TENON_NONE && wide != channel) {
    sum->residual = operand->index;
    return true;
  }
  if (fixed == (wide & ~channel) && sum->bias == TENON_NONE) {
    sum->bias = operand->index;
    return true;
  }
  return false;
}

/* ---- Parts of activations ---- */

/* scale * root. */
static bool is_scaled(const matcher_t* m, uint32_t i, double* out_scale) {
  const tenon_instruction_t* in = at(m, i);
  double number = 0;
  double inner = 0;
  if (i == m->root) {
    *out_scale = 1;
    return true;
  }
  if (in->opcode == TENON_OPCODE_MUL) {
    for (uint32_t k = 0; k < 2; k++) {
      if (is_number(m, in->operands[k], &number) && is_scaled(m, in->operands[1 - k], &inner)) {
        *out_scale = inner * number;
        return true;
      }
    }
  }
  if (in->opcode == TENON_OPCODE_DIV && is_number(m, in->operands[1], &number) &&
      is_scaled(m, in->operands[0], &inner)) {
    *out_scale = inner / number;
    return true;
  }
  return false;
}

/* a * root + b. */
static bool is_affine(const matcher_t* m, uint32_t i, double* out_a, double* out_b) {
  const tenon_instruction_t* in = at(m, i);
  *out_b = 0;
  if (is_scaled(m, i, out_a)) {
    return true;
  }
  if (in->opcode == TENON_OPCODE_ADD) {
    for (uint32_t k = 0; k < 2; k++) {
      if (is_number(m, in->operands[k], out_b) && is_scaled(m, in->operands[1 - k], out_a)) {
        return true;
      }
    }
  }
  return false;
}

/* min(max(inner, low), high) or either alone; out_inner is what is clamped. */
static bool is_clamp(const matcher_t* m, uint32_t i, double* out_low, double* out_high,
                     uint32_t* out_inner) {
  *out_low = -(double)INFINITY;
  *out_high = (double)INFINITY;
  *out_inner = i;
  for (uint32_t depth = 0; depth < 2 && *out_inner != m->root; depth++) {
    const tenon_instruction_t* in = at(m, *out_inner);
    double number = 0;
    if (in->opcode != TENON_OPCODE_MIN && in->opcode != TENON_OPCODE_MAX) {
      break;
    }
    const uint32_t k = is_number(m, in->operands[1], &number) ? 1 : 0;
    if (k == 0 && !is_number(m, in->operands[0], &number)) {
      break;
    }
    double* limit = in->opcode == TENON_OPCODE_MIN ? out_high : out_low;
    if (isinf(*limit) == 0) {
      break;
    }
    *limit = number;
    *out_inner = in->operands[1 - k];
  }
  return *out_inner != i && *out_low <= *out_high;
}

/* The factors of a product, numbers multiplied into one. */
typedef struct factors_t {
  uint32_t items[MOST_FACTORS];
  uint32_t count;
  double number;
} factors_t;

static bool collect_factors(const matcher_t* m, uint32_t i, factors_t* factors) {
  const tenon_instruction_t* in = at(m, i);
  double number = 0;
  if (i != m->root) {
    if (is_number(m, i, &number)) {
      factors->number *= number;
      return true;
    }
    if (in->opcode == TENON_OPCODE_MUL) {
      return collect_factors(m, in->operands[0], factors) &&
             collect_factors(m, in->operands[1], factors);
    }
    if (in->opcode == TENON_OPCODE_DIV && is_number(m, in->operands[1], &number)) {
      factors->number /= number;
      return collect_factors(m, in->operands[0], factors);
    }
  }
  if (factors->count == MOST_FACTORS) {
    return false;
  }
  factors->items[factors->count++] = i;
  return true;
}

/* A polynomial's value where the root is x: additions, products, powers. False where it is anything
 * else. */
static bool polynomial(const matcher_t* m, uint32_t i, double x, uint32_t depth, double* out_y) {
  const tenon_instruction_t* in = at(m, i);
  double a = 0;
  double b = 0;
  if (i == m->root || is_number(m, i, out_y)) {
    *out_y = i == m->root ? x : *out_y;
    return true;
  }
  if (depth == 0 ||
      (in->opcode != TENON_OPCODE_ADD && in->opcode != TENON_OPCODE_MUL &&
       in->opcode != TENON_OPCODE_POW) ||
      !polynomial(m, in->operands[0], x, depth - 1, &a) ||
      !polynomial(m, in->operands[1], x, depth - 1, &b)) {
    return false;
  }
  *out_y = in->opcode == TENON_OPCODE_ADD   ? a + b
           : in->opcode == TENON_OPCODE_MUL ? a * b
                                            : pow(a, b);
  return true;
}

/* sqrt(2/pi) (x + 0.044715 x^3): equal at more points than such a polynomial has coefficients. */
static bool is_gelu_polynomial(const matcher_t* m, uint32_t i) {
  for (int k = -4; k <= 4; k++) {
    const double x = 0.75 * k + 0.1;
    double y = 0;
    if (!polynomial(m, i, x, 8, &y) ||
        !near_to(y, 0.7978845608028654 * (x + 0.044715 * x * x * x))) {
      return false;
    }
  }
  return true;
}

/* 1 + f; out_f is f's instruction. */
static bool is_one_plus(const matcher_t* m, uint32_t i, uint32_t opcode, uint32_t* out_argument) {
  const tenon_instruction_t* in = at(m, i);
  if (in->opcode == TENON_OPCODE_ADD) {
    for (uint32_t k = 0; k < 2; k++) {
      double number = 0;
      const tenon_instruction_t* f = at(m, in->operands[1 - k]);
      if (is_number(m, in->operands[k], &number) && number == 1.0 && f->opcode == opcode) {
        *out_argument = f->operands[0];
        return true;
      }
    }
  }
  return false;
}

static bool set(tenon__cpu_epilogue_t* epilogue, tenon__cpu_activation_t activation, double a,
                double b) {
  epilogue->activation = activation;
  epilogue->a = (float)a;
  epilogue->b = (float)b;
  return true;
}

/* root times something. */
static bool match_gated(const matcher_t* m, uint32_t i, tenon__cpu_epilogue_t* epilogue) {
  factors_t factors = {.number = 1};
  if (!collect_factors(m, i, &factors) || factors.count != 2 ||
      (factors.items[0] != m->root && factors.items[1] != m->root)) {
    return false;
  }
  const uint32_t gate = factors.items[0] == m->root ? factors.items[1] : factors.items[0];
  const double c = factors.number;
  double scale = 0;
  double shift = 0;
  double low = 0;
  double high = 0;
  uint32_t inner = 0;
  if (at(m, gate)->opcode == TENON_OPCODE_SIGMOID && c == 1.0 &&
      is_scaled(m, at(m, gate)->operands[0], &scale)) {
    return set(epilogue, TENON_CPU_ACTIVATION_SWISH, scale, 0);
  }
  if (is_clamp(m, gate, &low, &high, &inner) && low == 0 && near_to(high * c, 1) &&
      is_affine(m, inner, &scale, &shift)) {
    return set(epilogue, TENON_CPU_ACTIVATION_HARD_SWISH, scale * c, shift * c);
  }
  if (near_to(c, 0.5) && is_one_plus(m, gate, TENON_OPCODE_ERF, &inner) &&
      is_scaled(m, inner, &scale) && near_to(scale, 0.7071067811865476)) {
    return set(epilogue, TENON_CPU_ACTIVATION_GELU, 0, 0);
  }
  if (near_to(c, 0.5) && is_one_plus(m, gate, TENON_OPCODE_TANH, &inner) &&
      is_gelu_polynomial(m, inner)) {
    return set(epilogue, TENON_CPU_ACTIVATION_GELU_TANH, 0, 0);
  }
  return false;
}

/* x >= 0 ? x : a x, and its mirror. */
static bool match_leaky(const matcher_t* m, uint32_t i, tenon__cpu_epilogue_t* epilogue) {
  const tenon_instruction_t* in = at(m, i);
  double zero = 1;
  double scale = 0;
  if (in->opcode != TENON_OPCODE_SELECT) {
    return false;
  }
  const tenon_instruction_t* test = at(m, in->operands[0]);
  if (tenon__cpu_opcode_operands(test->opcode) != 2 || test->operands[0] != m->root ||
      !is_number(m, test->operands[1], &zero) || zero != 0) {
    return false;
  }
  const bool positive = test->opcode == TENON_OPCODE_GE || test->opcode == TENON_OPCODE_GT;
  const bool negative = test->opcode == TENON_OPCODE_LT || test->opcode == TENON_OPCODE_LE;
  const uint32_t above = positive ? in->operands[1] : in->operands[2];
  const uint32_t below = positive ? in->operands[2] : in->operands[1];
  return (positive || negative) && above == m->root && is_scaled(m, below, &scale) &&
         set(epilogue, TENON_CPU_ACTIVATION_LEAKY, scale, 0);
}

static bool match_activation(const matcher_t* m, uint32_t i, tenon__cpu_epilogue_t* epilogue) {
  const tenon_instruction_t* in = at(m, i);
  double low = 0;
  double high = 0;
  double a = 0;
  double b = 0;
  uint32_t inner = 0;
  if (i == m->root) {
    return set(epilogue, TENON_CPU_ACTIVATION_NONE, 0, 0);
  }
  if (is_clamp(m, i, &low, &high, &inner)) {
    if (inner == m->root) {
      return set(epilogue, TENON_CPU_ACTIVATION_CLAMP, low, high);
    }
    return low == 0 && high == 1 && is_affine(m, inner, &a, &b) &&
           set(epilogue, TENON_CPU_ACTIVATION_HARD_SIGMOID, a, b);
  }
  if (in->opcode == TENON_OPCODE_SIGMOID && in->operands[0] == m->root) {
    return set(epilogue, TENON_CPU_ACTIVATION_SIGMOID, 0, 0);
  }
  if (in->opcode == TENON_OPCODE_TANH && in->operands[0] == m->root) {
    return set(epilogue, TENON_CPU_ACTIVATION_TANH, 0, 0);
  }
  return match_leaky(m, i, epilogue) || match_gated(m, i, epilogue);
}

bool tenon__cpu_epilogue_recognise(const tenon_program_t* program, tenon__cpu_region_t region,
                                   uint32_t channel_axis, tenon__cpu_epilogue_t* inout_epilogue) {
  matcher_t matcher = {program, region, 0};
  for (uint32_t i = program->instruction_count; i-- > 0;) {
    sum_t sum = {0, TENON_NONE, TENON_NONE};
    matcher.root = i;
    if (collect_sum(&matcher, i, channel_axis, &sum) && sum.values == 1 &&
        match_activation(&matcher, program->outputs[0].instruction, inout_epilogue)) {
      inout_epilogue->bias = sum.bias;
      inout_epilogue->residual = sum.residual;
      return true;
    }
  }
  return false;
}
