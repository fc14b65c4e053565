/* What the opcodes mean, one scalar at a time. */
#include "core/program/scalar.h"

#include <math.h>
#include <string.h>

static const struct {
  const char* name;
  uint32_t operand_count;
} opcodes[] = {
#define OPCODE_ROW(name, spelling, operands, meaning) {spelling, operands},
    TENON_OPCODES(OPCODE_ROW)
#undef OPCODE_ROW
};

bool tenon__opcode_reads_operand(uint32_t opcode) {
  return opcode == TENON_OPCODE_INPUT || opcode == TENON_OPCODE_LOAD ||
         opcode == TENON_OPCODE_EXTENT;
}

uint32_t tenon__opcode_operand_count(uint32_t opcode) {
  return opcode < TENON_OPCODE_COUNT ? opcodes[opcode].operand_count : 0;
}

const char* tenon__opcode_name(uint32_t opcode) {
  return opcode < TENON_OPCODE_COUNT ? opcodes[opcode].name : "?";
}

bool tenon__opcode_is_comparison(uint32_t opcode) {
  return (opcode >= TENON_OPCODE_EQ && opcode <= TENON_OPCODE_GE) ||
         opcode == TENON_OPCODE_IS_NAN || opcode == TENON_OPCODE_IS_INF;
}

bool tenon__opcode_is_reduction(uint32_t opcode) {
  return opcode >= TENON_OPCODE_SUM && opcode <= TENON_OPCODE_MEAN;
}

bool tenon__opcode_is_commutative(uint32_t opcode) {
  static const bool commutes[TENON_OPCODE_COUNT] = {
      [TENON_OPCODE_ADD] = true, [TENON_OPCODE_MUL] = true, [TENON_OPCODE_MIN] = true,
      [TENON_OPCODE_MAX] = true, [TENON_OPCODE_EQ] = true,  [TENON_OPCODE_NE] = true,
      [TENON_OPCODE_AND] = true, [TENON_OPCODE_OR] = true,  [TENON_OPCODE_XOR] = true};
  return opcode < TENON_OPCODE_COUNT && commutes[opcode];
}

char tenon__opcode_domain(uint32_t opcode) {
  /* What is not in it takes numbers. */
  static const char domains[TENON_OPCODE_COUNT] = {
      [TENON_OPCODE_CONSTANT] = 'a',   [TENON_OPCODE_CAST] = 'a',
      [TENON_OPCODE_SELECT] = 'a',     [TENON_OPCODE_EQ] = 'a',
      [TENON_OPCODE_NE] = 'a',         [TENON_OPCODE_AND] = 'i',
      [TENON_OPCODE_OR] = 'i',         [TENON_OPCODE_XOR] = 'i',
      [TENON_OPCODE_NOT] = 'i',        [TENON_OPCODE_REDUCE_MIN] = 'a',
      [TENON_OPCODE_REDUCE_MAX] = 'a', [TENON_OPCODE_SHL] = 's',
      [TENON_OPCODE_SHR] = 's',        [TENON_OPCODE_ATAN2] = 'f',
      [TENON_OPCODE_RANDOM] = 'f'};
  const bool is_function = opcode >= TENON_OPCODE_SQRT && opcode <= TENON_OPCODE_SOFTPLUS;
  if (opcode < TENON_OPCODE_COUNT && domains[opcode] != 0) {
    return domains[opcode];
  }
  return is_function ? 'f' : 'n';
}

bool tenon__opcode_takes(uint32_t opcode, tenon_dtype_t dtype) {
  static const struct {
    char domain;
    const char* classes;
  } domains[] = {{'f', "f"}, {'i', "iub"}, {'s', "iu"}, {'n', "iuf"}};
  const char domain = tenon__opcode_domain(opcode);
  for (size_t k = 0; k < sizeof(domains) / sizeof(domains[0]); ++k) {
    if (domains[k].domain == domain) {
      return strchr(domains[k].classes, tenon__dtype_class(dtype)) != NULL;
    }
  }
  return true;
}

tenon_dtype_t tenon__instruction_type(const tenon_instruction_t* instruction) {
  return tenon__opcode_is_comparison(instruction->opcode) ? TENON_DTYPE_BOOL : instruction->dtype;
}

tenon__scalar_t tenon__scalar_fit(tenon_dtype_t dtype, tenon__scalar_t value) {
  const bool is_float = tenon__dtype_class(dtype) == 'f';
  return tenon__scalar_cast(value, is_float ? TENON_DTYPE_FLOAT64 : TENON_DTYPE_INT64, dtype);
}

double tenon__random_uniform(tenon_dtype_t dtype, uint64_t key, uint64_t counter) {
  uint32_t k0 = (uint32_t)key;
  uint32_t k1 = (uint32_t)(key >> 32);
  uint32_t c[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0};
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = (uint64_t)0xD2511F53u * c[0];
    const uint64_t p1 = (uint64_t)0xCD9E8D57u * c[2];
    const uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ k0, (uint32_t)p1,
                              (uint32_t)(p0 >> 32) ^ c[3] ^ k1, (uint32_t)p0};
    for (int i = 0; i < 4; ++i) {
      c[i] = next[i];
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  if (dtype == TENON_DTYPE_FLOAT64) {
    return (double)((((uint64_t)c[0] << 32) | c[1]) >> 11) * 0x1p-53;
  }
  return (double)(c[0] >> 8) * 0x1p-24;
}

static double float_minimum(double a, double b) {
  if (isnan(a) || isnan(b)) {
    return NAN;
  }
  return a < b || (a == b && signbit(a)) ? a : b;
}

static double float_maximum(double a, double b) {
  if (isnan(a) || isnan(b)) {
    return NAN;
  }
  return a > b || (a == b && signbit(b)) ? a : b;
}

static double float_sigmoid(double a) {
  const double e = exp(-fabs(a));
  return a >= 0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}

static double float_softplus(double a) {
  return isnan(a) ? a : (a > 0 ? a : 0) + log1p(exp(-fabs(a)));
}

static double float_unary(uint32_t opcode, double a) {
  static double (*const functions[TENON_OPCODE_COUNT])(double) = {
      [TENON_OPCODE_ABS] = fabs,
      [TENON_OPCODE_FLOOR] = floor,
      [TENON_OPCODE_CEIL] = ceil,
      [TENON_OPCODE_ROUND] = rint,
      [TENON_OPCODE_TRUNC] = trunc,
      [TENON_OPCODE_SQRT] = sqrt,
      [TENON_OPCODE_EXP] = exp,
      [TENON_OPCODE_EXPM1] = expm1,
      [TENON_OPCODE_LOG] = log,
      [TENON_OPCODE_LOG1P] = log1p,
      [TENON_OPCODE_ERF] = erf,
      [TENON_OPCODE_SIN] = sin,
      [TENON_OPCODE_COS] = cos,
      [TENON_OPCODE_TAN] = tan,
      [TENON_OPCODE_ASIN] = asin,
      [TENON_OPCODE_ACOS] = acos,
      [TENON_OPCODE_ATAN] = atan,
      [TENON_OPCODE_SINH] = sinh,
      [TENON_OPCODE_COSH] = cosh,
      [TENON_OPCODE_TANH] = tanh,
      [TENON_OPCODE_ASINH] = asinh,
      [TENON_OPCODE_ACOSH] = acosh,
      [TENON_OPCODE_ATANH] = atanh,
      [TENON_OPCODE_SIGMOID] = float_sigmoid,
      [TENON_OPCODE_SOFTPLUS] = float_softplus};
  switch (opcode) {
    case TENON_OPCODE_NEG:
      return -a;
    case TENON_OPCODE_SIGN:
      return isnan(a) ? a : (double)((a > 0) - (a < 0));
    case TENON_OPCODE_RSQRT:
      return 1.0 / sqrt(a);
    case TENON_OPCODE_RECIP:
      return 1.0 / a;
    default:
      return functions[opcode] != NULL ? functions[opcode](a) : (double)NAN;
  }
}

static double float_binary(uint32_t opcode, double a, double b) {
  static double (*const functions[TENON_OPCODE_COUNT])(double, double) = {
      [TENON_OPCODE_FMOD] = fmod,
      [TENON_OPCODE_POW] = pow,
      [TENON_OPCODE_MIN] = float_minimum,
      [TENON_OPCODE_MAX] = float_maximum,
      [TENON_OPCODE_ATAN2] = atan2};
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
    case TENON_OPCODE_MOD: {
      const double r = fmod(a, b);
      const double other = (r < 0) != (b < 0) ? r + b : r;
      return r == 0 ? copysign(0.0, b) : other;
    }
    default:
      return functions[opcode] != NULL ? functions[opcode](a, b) : (double)NAN;
  }
}

static bool is_unsigned(tenon_dtype_t dtype) {
  const char kind = tenon__dtype_class(dtype);
  return kind == 'u' || kind == 'b';
}

static int64_t integer_power(int64_t a, int64_t b) {
  if (b < 0) {
    return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
  }
  uint64_t result = 1;
  uint64_t base = (uint64_t)a;
  for (uint64_t e = (uint64_t)b; e != 0; e >>= 1) {
    result = (e & 1u) != 0 ? result * base : result;
    base *= base;
  }
  return (int64_t)result;
}

/* Division and remainders; signed ones on int64, where every narrower type fits. */
static int64_t integer_divide(uint32_t opcode, tenon_dtype_t dtype, int64_t a, int64_t b) {
  const bool wants_remainder = opcode == TENON_OPCODE_MOD || opcode == TENON_OPCODE_FMOD;
  if (b == 0) {
    return 0;
  }
  if (is_unsigned(dtype)) {
    return (int64_t)(wants_remainder ? (uint64_t)a % (uint64_t)b : (uint64_t)a / (uint64_t)b);
  }
  if (b == -1) {
    return wants_remainder ? 0 : (int64_t)(0 - (uint64_t)a);
  }
  const int64_t quotient = a / b;
  const int64_t remainder = a % b;
  const bool lower = remainder != 0 && (remainder < 0) != (b < 0);
  switch (opcode) {
    case TENON_OPCODE_DIV:
      return quotient;
    case TENON_OPCODE_FLOOR_DIV:
      return lower ? quotient - 1 : quotient;
    case TENON_OPCODE_MOD:
      return lower ? remainder + b : remainder;
    default:
      return remainder;
  }
}

static bool integer_less(tenon_dtype_t dtype, int64_t a, int64_t b) {
  return is_unsigned(dtype) ? (uint64_t)a < (uint64_t)b : a < b;
}

/* How a stands to b. UNORDERED: one is no number. */
enum { LESS = 1u, SAME = 2u, MORE = 4u, UNORDERED = 8u };

static bool compare(uint32_t opcode, tenon_dtype_t dtype, tenon__scalar_t a, tenon__scalar_t b) {
  static const uint8_t holds[TENON_OPCODE_COUNT] = {
      [TENON_OPCODE_EQ] = SAME, [TENON_OPCODE_NE] = LESS | MORE | UNORDERED,
      [TENON_OPCODE_LT] = LESS, [TENON_OPCODE_LE] = LESS | SAME,
      [TENON_OPCODE_GT] = MORE, [TENON_OPCODE_GE] = MORE | SAME};
  const bool is_float = tenon__dtype_class(dtype) == 'f';
  if (opcode == TENON_OPCODE_IS_NAN || opcode == TENON_OPCODE_IS_INF) {
    return is_float && (opcode == TENON_OPCODE_IS_NAN ? isnan(a.f) : isinf(a.f)) != 0;
  }
  const bool is_less = is_float ? a.f < b.f : integer_less(dtype, a.i, b.i);
  const bool is_more = is_float ? b.f < a.f : integer_less(dtype, b.i, a.i);
  const bool is_same = is_float ? a.f == b.f : a.i == b.i;
  const uint32_t order = is_less ? LESS : is_more ? MORE : is_same ? SAME : UNORDERED;
  return (holds[opcode] & order) != 0;
}

static int64_t integer_shift(uint32_t opcode, tenon_dtype_t dtype, int64_t a, int64_t b) {
  const int64_t bits = (int64_t)tenon__dtype_bits(dtype);
  if (b < 0 || b >= bits) {
    return opcode == TENON_OPCODE_SHR && !is_unsigned(dtype) && a < 0 ? -1 : 0;
  }
  if (opcode == TENON_OPCODE_SHL) {
    return (int64_t)((uint64_t)a << b);
  }
  return is_unsigned(dtype) ? (int64_t)((uint64_t)a >> b) : a >> b;
}

static int64_t integer_apply(uint32_t opcode, tenon_dtype_t dtype, int64_t a, int64_t b) {
  switch (opcode) {
    case TENON_OPCODE_ADD:
      return (int64_t)((uint64_t)a + (uint64_t)b);
    case TENON_OPCODE_SUB:
      return (int64_t)((uint64_t)a - (uint64_t)b);
    case TENON_OPCODE_MUL:
      return (int64_t)((uint64_t)a * (uint64_t)b);
    case TENON_OPCODE_DIV:
    case TENON_OPCODE_FLOOR_DIV:
    case TENON_OPCODE_MOD:
    case TENON_OPCODE_FMOD:
      return integer_divide(opcode, dtype, a, b);
    case TENON_OPCODE_POW:
      return integer_power(a, b);
    case TENON_OPCODE_MIN:
      return integer_less(dtype, b, a) ? b : a;
    case TENON_OPCODE_MAX:
      return integer_less(dtype, a, b) ? b : a;
    case TENON_OPCODE_NEG:
      return (int64_t)(0 - (uint64_t)a);
    case TENON_OPCODE_ABS:
      return is_unsigned(dtype) || a >= 0 ? a : (int64_t)(0 - (uint64_t)a);
    case TENON_OPCODE_SIGN:
      return is_unsigned(dtype) ? a != 0 : (a > 0) - (a < 0);
    case TENON_OPCODE_AND:
      return a & b;
    case TENON_OPCODE_OR:
      return a | b;
    case TENON_OPCODE_XOR:
      return a ^ b;
    case TENON_OPCODE_NOT:
      return dtype == TENON_DTYPE_BOOL ? a == 0 : ~a;
    case TENON_OPCODE_SHL:
    case TENON_OPCODE_SHR:
      return integer_shift(opcode, dtype, a, b);
    default:
      return a; /* floor, ceil, round, trunc */
  }
}

tenon__scalar_t tenon__scalar_apply(uint32_t opcode, tenon_dtype_t dtype, tenon_dtype_t from,
                                    tenon__scalar_t a, tenon__scalar_t b, tenon__scalar_t c) {
  const bool is_float = tenon__dtype_class(dtype) == 'f';
  tenon__scalar_t result = {.i = 0};
  if (opcode == TENON_OPCODE_CAST) {
    return tenon__scalar_cast(a, from, dtype);
  }
  if (opcode == TENON_OPCODE_SELECT) {
    return a.i != 0 ? b : c;
  }
  if (tenon__opcode_is_comparison(opcode)) {
    result.i = compare(opcode, dtype, a, b);
    return result;
  }
  if (!is_float) {
    result.i = integer_apply(opcode, dtype, a.i, b.i);
  } else {
    result.f = tenon__opcode_operand_count(opcode) == 2 ? float_binary(opcode, a.f, b.f)
                                                        : float_unary(opcode, a.f);
  }
  return tenon__scalar_fit(dtype, result);
}

const uint32_t* tenon__instruction_needs(const uint32_t* coordinates,
                                         const tenon_instruction_t* instruction,
                                         uint32_t* out_count) {
  if (instruction->opcode == TENON_OPCODE_LOAD) {
    *out_count = instruction->operands[1];
    return *out_count == 0 ? instruction->operands : coordinates + instruction->operands[0];
  }
  *out_count = tenon__opcode_operand_count(instruction->opcode);
  return instruction->operands;
}

void tenon__count_needs(const tenon_instruction_t* instructions, const uint32_t* coordinates,
                        uint32_t count, bool through, uint32_t* inout_counts) {
  for (uint32_t i = count; i > 0; --i) {
    const tenon_instruction_t* instruction = &instructions[i - 1];
    uint32_t need_count = 0;
    const uint32_t* needs = tenon__instruction_needs(coordinates, instruction, &need_count);
    if (inout_counts[i - 1] == 0 || (!through && tenon__opcode_is_reduction(instruction->opcode))) {
      continue;
    }
    for (uint32_t k = 0; k < need_count; ++k) {
      ++inout_counts[needs[k]];
    }
  }
}

bool tenon__program_has(const tenon_program_t* program, uint32_t first, uint32_t last) {
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    const uint32_t opcode = program->instructions[k].opcode;
    if (opcode >= first && opcode <= last) {
      return true;
    }
  }
  return false;
}

uint32_t tenon__program_stages(const tenon_program_t* program, uint32_t* out_stages) {
  uint32_t most = 0;
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    const tenon_instruction_t* i = &program->instructions[k];
    uint32_t count = 0;
    const uint32_t* needs = tenon__instruction_needs(program->coordinates, i, &count);
    uint32_t stage = 0;
    for (uint32_t o = 0; o < count; ++o) {
      stage = out_stages[needs[o]] > stage ? out_stages[needs[o]] : stage;
    }
    out_stages[k] = stage + (tenon__opcode_is_reduction(i->opcode) ? 1u : 0u);
    most = out_stages[k] > most ? out_stages[k] : most;
  }
  return most;
}
