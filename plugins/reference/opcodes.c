/*
 * What the opcodes of programs mean, on single numbers. Floats are computed as doubles and rounded
 * to the arithmetic type after every instruction; integers wrap after every instruction.
 */
#include <math.h>

#include "interpreter.h"
#include "philox.h"

#define OPERAND_COUNT(name, spelling, operands, meaning) operands,
static const uint8_t operand_counts[] = {TENON_OPCODES(OPERAND_COUNT)};
#undef OPERAND_COUNT

uint32_t tenon__opcode_operands(uint16_t opcode) {
  return opcode < TENON_OPCODE_COUNT ? operand_counts[opcode] : 0;
}

bool tenon__opcode_reduces(uint16_t opcode) {
  return opcode == TENON_OPCODE_SUM || opcode == TENON_OPCODE_PROD ||
         opcode == TENON_OPCODE_REDUCE_MIN || opcode == TENON_OPCODE_REDUCE_MAX ||
         opcode == TENON_OPCODE_MEAN;
}

static bool compares(uint16_t opcode) {
  return opcode == TENON_OPCODE_EQ || opcode == TENON_OPCODE_NE || opcode == TENON_OPCODE_LT ||
         opcode == TENON_OPCODE_LE || opcode == TENON_OPCODE_GT || opcode == TENON_OPCODE_GE;
}

tenon_dtype_t tenon__opcode_result(const tenon_instruction_t* instruction) {
  bool is_bool = compares(instruction->opcode) || instruction->opcode == TENON_OPCODE_IS_NAN ||
                 instruction->opcode == TENON_OPCODE_IS_INF;
  return is_bool ? TENON_DTYPE_BOOL : instruction->dtype;
}

static double sigmoid(double a) {
  return a >= 0.0 ? 1.0 / (1.0 + exp(-a)) : exp(a) / (1.0 + exp(a));
}

/* log(1 + e^a); NaN stays. */
static double softplus(double a) {
  return (a > 0.0 ? a : 0.0) + log1p(exp(-fabs(a)));
}

static double sign(double a) {
  return isnan(a) ? a : (double)((a > 0.0) - (a < 0.0));
}

/* One row an opcode: the function of one float. */
static double float_function(uint16_t opcode, double a) {
#define FUNCTION(name, value) \
  case TENON_OPCODE_##name:   \
    return value;
  switch (opcode) {
    FUNCTION(NEG, -a)
    FUNCTION(ABS, fabs(a))
    FUNCTION(SIGN, sign(a))
    FUNCTION(FLOOR, floor(a))
    FUNCTION(CEIL, ceil(a))
    FUNCTION(ROUND, nearbyint(a))
    FUNCTION(TRUNC, trunc(a))
    FUNCTION(SQRT, sqrt(a))
    FUNCTION(RSQRT, 1.0 / sqrt(a))
    FUNCTION(RECIP, 1.0 / a)
    FUNCTION(EXP, exp(a))
    FUNCTION(EXPM1, expm1(a))
    FUNCTION(LOG, log(a))
    FUNCTION(LOG1P, log1p(a))
    FUNCTION(ERF, erf(a))
    FUNCTION(SIN, sin(a))
    FUNCTION(COS, cos(a))
    FUNCTION(TAN, tan(a))
    FUNCTION(ASIN, asin(a))
    FUNCTION(ACOS, acos(a))
    FUNCTION(ATAN, atan(a))
    FUNCTION(SINH, sinh(a))
    FUNCTION(COSH, cosh(a))
    FUNCTION(TANH, tanh(a))
    FUNCTION(ASINH, asinh(a))
    FUNCTION(ACOSH, acosh(a))
    FUNCTION(ATANH, atanh(a))
    FUNCTION(SIGMOID, sigmoid(a))
    FUNCTION(SOFTPLUS, softplus(a))
    default:
      return NAN;
  }
#undef FUNCTION
}

/* The remainder with the sign of b, that of zero too. */
static double floor_mod(double a, double b) {
  const double rest = fmod(a, b);
  if (rest == 0.0) {
    return copysign(0.0, b);
  }
  return (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}

static double float_operation(uint16_t opcode, double a, double b) {
  switch (opcode) {
    case TENON_OPCODE_ADD:
      return a + b;
    case TENON_OPCODE_SUB:
      return a - b;
    case TENON_OPCODE_MUL:
      return a * b;
    case TENON_OPCODE_DIV:
      return a / b;
    case TENON_OPCODE_FLOOR_DIV:
      return floor(a / b);
    case TENON_OPCODE_MOD:
      return floor_mod(a, b);
    case TENON_OPCODE_FMOD:
      return fmod(a, b);
    case TENON_OPCODE_POW:
      return pow(a, b);
    case TENON_OPCODE_ATAN2:
      return atan2(a, b);
    default:
      return float_function(opcode, a);
  }
}

static uint64_t integer_power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1) {
    result *= (exponent & 1) != 0 ? base : 1;
    base *= base;
  }
  return result;
}

/* Division by 0 is 0. Truncates, or floors; the remainder belongs to that division. */
static int64_t divide(bool is_unsigned, bool floors, bool wants_rest, int64_t a, int64_t b) {
  if (b == 0) {
    return 0;
  }
  if (is_unsigned) {
    uint64_t x = (uint64_t)a;
    uint64_t y = (uint64_t)b;
    return (int64_t)(wants_rest ? x % y : x / y);
  }
  if (b == -1) { /* the least number has no negative */
    return wants_rest ? 0 : (int64_t)(0 - (uint64_t)a);
  }
  int64_t rest = a % b;
  bool lower = floors && rest != 0 && (rest < 0) != (b < 0);
  return wants_rest ? rest + (lower ? b : 0) : a / b - (lower ? 1 : 0);
}

static int64_t shift(uint16_t opcode, tenon_dtype_t dtype, int64_t a, int64_t b) {
  bool past = b < 0 || b >= (int64_t)tenon__number_bits(dtype);
  if (opcode == TENON_OPCODE_SHL) {
    return past ? 0 : (int64_t)((uint64_t)a << b);
  }
  if (tenon__number_class(dtype) == 'u') {
    return past ? 0 : (int64_t)((uint64_t)a >> b);
  }
  return past ? (a < 0 ? -1 : 0) : a >> b;
}

static int64_t integer_function(uint16_t opcode, tenon_dtype_t dtype, int64_t a) {
  bool is_unsigned = tenon__number_class(dtype) == 'u';
  switch (opcode) {
    case TENON_OPCODE_NEG:
      return (int64_t)(0 - (uint64_t)a);
    case TENON_OPCODE_ABS:
      return is_unsigned || a >= 0 ? a : (int64_t)(0 - (uint64_t)a);
    case TENON_OPCODE_SIGN:
      return is_unsigned ? a != 0 : (a > 0) - (a < 0);
    case TENON_OPCODE_RECIP:
      return divide(is_unsigned, false, false, 1, a);
    case TENON_OPCODE_NOT:
      return dtype == TENON_DTYPE_BOOL ? a == 0 : ~a;
    default:
      return a; /* floor, ceil, round, trunc */
  }
}

static int64_t integer_operation(uint16_t opcode, tenon_dtype_t dtype, int64_t a, int64_t b) {
  bool is_unsigned = tenon__number_class(dtype) == 'u';
  switch (opcode) {
    case TENON_OPCODE_ADD:
      return (int64_t)((uint64_t)a + (uint64_t)b);
    case TENON_OPCODE_SUB:
      return (int64_t)((uint64_t)a - (uint64_t)b);
    case TENON_OPCODE_MUL:
      return (int64_t)((uint64_t)a * (uint64_t)b);
    case TENON_OPCODE_DIV:
      return divide(is_unsigned, false, false, a, b);
    case TENON_OPCODE_FLOOR_DIV:
      return divide(is_unsigned, true, false, a, b);
    case TENON_OPCODE_MOD:
      return divide(is_unsigned, true, true, a, b);
    case TENON_OPCODE_FMOD:
      return divide(is_unsigned, false, true, a, b);
    case TENON_OPCODE_POW:
      if (b < 0 && !is_unsigned) {
        return a == 1 || (a == -1 && b % 2 == 0) ? 1 : a == -1 ? -1 : 0;
      }
      return (int64_t)integer_power((uint64_t)a, (uint64_t)b);
    case TENON_OPCODE_AND:
      return a & b;
    case TENON_OPCODE_OR:
      return a | b;
    case TENON_OPCODE_XOR:
      return a ^ b;
    case TENON_OPCODE_SHL:
    case TENON_OPCODE_SHR:
      return shift(opcode, dtype, a, b);
    default:
      return integer_function(opcode, dtype, a);
  }
}

static bool compare(uint16_t opcode, tenon_dtype_t dtype, tenon__number_t a, tenon__number_t b) {
  bool unordered = tenon__number_is_float(dtype) && (isnan(a.f) || isnan(b.f));
  int order = tenon__number_compare(dtype, a, b);
  switch (opcode) {
    case TENON_OPCODE_EQ:
      return !unordered && order == 0;
    case TENON_OPCODE_NE:
      return unordered || order != 0;
    case TENON_OPCODE_LT:
      return !unordered && order < 0;
    case TENON_OPCODE_LE:
      return !unordered && order <= 0;
    case TENON_OPCODE_GT:
      return !unordered && order > 0;
    default:
      return !unordered && order >= 0;
  }
}

static double uniform(tenon_dtype_t dtype, tenon__number_t key, tenon__number_t counter) {
  return dtype == TENON_DTYPE_FLOAT64
             ? tenon__philox_uniform53((uint64_t)key.i, (uint64_t)counter.i)
             : tenon__philox_uniform((uint64_t)key.i, (uint64_t)counter.i);
}

tenon__number_t tenon__opcode_apply(const tenon_instruction_t* instruction, tenon_dtype_t from,
                                    const tenon__number_t operands[3]) {
  tenon_dtype_t dtype = instruction->dtype;
  tenon__number_t a = operands[0];
  tenon__number_t b = operands[1];
  tenon__number_t result = {.i = 0};
  if (compares(instruction->opcode)) {
    result.i = compare(instruction->opcode, dtype, a, b);
    return result;
  }
  switch (instruction->opcode) {
    case TENON_OPCODE_CAST:
      return tenon__number_cast(a, from, dtype);
    case TENON_OPCODE_SELECT:
      return a.i != 0 ? b : operands[2];
    case TENON_OPCODE_MIN:
      return tenon__number_min(dtype, a, b);
    case TENON_OPCODE_MAX:
      return tenon__number_max(dtype, a, b);
    case TENON_OPCODE_IS_NAN:
      result.i = tenon__number_is_float(from) && isnan(a.f);
      return result;
    case TENON_OPCODE_IS_INF:
      result.i = tenon__number_is_float(from) && isinf(a.f);
      return result;
    case TENON_OPCODE_RANDOM:
      result.f = uniform(dtype, a, b);
      return result;
    default:
      break;
  }
  if (tenon__number_is_float(dtype)) {
    result.f = float_operation(instruction->opcode, a.f, b.f);
  } else {
    result.i = integer_operation(instruction->opcode, dtype, a.i, b.i);
  }
  return tenon__number_wrap(result, dtype);
}

tenon__number_t tenon__reduction_start(const tenon_instruction_t* instruction) {
  tenon_dtype_t dtype = instruction->dtype;
  bool smallest = instruction->opcode == TENON_OPCODE_REDUCE_MIN;
  tenon__number_t start = tenon__number_of(dtype, 0.0);
  if (instruction->opcode == TENON_OPCODE_PROD) {
    return tenon__number_of(dtype, 1.0);
  }
  if (!smallest && instruction->opcode != TENON_OPCODE_REDUCE_MAX) {
    return start;
  }
  if (dtype == TENON_DTYPE_BOOL) {
    start.i = smallest ? 1 : 0;
    return start;
  }
  return tenon__number_of(dtype, smallest ? (double)INFINITY : -(double)INFINITY);
}

tenon__number_t tenon__reduction_add(const tenon_instruction_t* instruction,
                                     tenon__number_t running, tenon__number_t value) {
  switch (instruction->opcode) {
    case TENON_OPCODE_PROD:
      return tenon__number_multiply(instruction->dtype, running, value);
    case TENON_OPCODE_REDUCE_MIN:
      return tenon__number_min(instruction->dtype, running, value);
    case TENON_OPCODE_REDUCE_MAX:
      return tenon__number_max(instruction->dtype, running, value);
    default:
      return tenon__number_add(instruction->dtype, running, value);
  }
}

tenon__number_t tenon__reduction_end(const tenon_instruction_t* instruction,
                                     tenon__number_t running, int64_t count) {
  tenon_dtype_t dtype = instruction->dtype;
  if (instruction->opcode == TENON_OPCODE_MEAN && tenon__number_is_float(dtype)) {
    running.f /= (double)count;
  } else if (instruction->opcode == TENON_OPCODE_MEAN) {
    running = tenon__number_wrap(running, dtype);
    running.i = divide(tenon__number_class(dtype) == 'u', false, false, running.i, count);
  }
  return tenon__number_wrap(running, dtype);
}
