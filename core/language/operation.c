/* Operations on values of any kind. Element types: known numbers take the other operand's. */
#include "core/language/operation.h"

#include <math.h>
#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"
#include "core/tensor/dtype.h"

typedef tenon__environment_t environment_t;
typedef tenon__language_value_t value_t;
typedef tenon__syntax_t syntax_t;

tenon_status_t tenon__instruction_give(const environment_t* e, uint32_t instruction,
                                       value_t* out_value) {
  *out_value = (value_t){.kind = TENON_LANGUAGE_INSTRUCTION, .instruction = instruction};
  return e->program->builder.failed ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* UNDEFINED for what has none yet. */
static tenon_dtype_t type_of(const environment_t* e, const value_t* value) {
  if (value->kind == TENON_LANGUAGE_TRUTH) {
    return TENON_DTYPE_BOOL;
  }
  return value->kind == TENON_LANGUAGE_INSTRUCTION && !e->program->builder.failed
             ? tenon__builder_type(&e->program->builder, value->instruction)
             : TENON_DTYPE_UNDEFINED;
}

static tenon_status_t wrong_type(const environment_t* e, const syntax_t* syntax,
                                 tenon_dtype_t expected, const char* found) {
  return tenon__language_refuse(e, syntax, "%s where %s is expected", found,
                                tenon__dtype_name(expected));
}

/* A known number as a constant of that type. */
static tenon_status_t typed_literal(environment_t* e, const syntax_t* syntax,
                                    const value_t* literal, tenon_dtype_t dtype,
                                    uint32_t* out_instruction) {
  const char kind = tenon__dtype_class(dtype);
  const bool is_real = literal->kind == TENON_LANGUAGE_REAL;
  tenon__scalar_t value = {.i = literal->integer};
  if (kind == 'f') {
    value.f = tenon__value_as_real(literal);
  } else if (is_real || (kind != 'i' && kind != 'u' && literal->kind != TENON_LANGUAGE_TRUTH)) {
    return wrong_type(e, syntax, dtype, is_real ? "a float literal" : "an integer literal");
  }
  *out_instruction = tenon__emit_constant(&e->program->builder, dtype, value);
  return e->program->builder.failed ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* A choice between two known numbers, now that it has a type. */
static tenon_status_t typed_choice(environment_t* e, const syntax_t* syntax, const value_t* choice,
                                   tenon_dtype_t dtype, uint32_t* out_instruction) {
  uint32_t sides[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    const value_t side = choice->choice_is_real
                             ? tenon__value_of_real(choice->choices[i])
                             : tenon__value_of_integer((int64_t)choice->choices[i]);
    TENON_TRY(typed_literal(e, syntax, &side, dtype, &sides[i]));
  }
  *out_instruction = tenon__emit_operation(&e->program->builder, TENON_OPCODE_SELECT, dtype,
                                           choice->instruction, sides[0], sides[1]);
  return e->program->builder.failed ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

tenon_status_t tenon__value_typed(environment_t* e, const syntax_t* syntax, const value_t* value,
                                  tenon_dtype_t dtype, uint32_t* out_instruction) {
  switch (value->kind) {
    case TENON_LANGUAGE_INTEGER:
    case TENON_LANGUAGE_REAL:
      return typed_literal(e, syntax, value, dtype, out_instruction);
    case TENON_LANGUAGE_TRUTH:
      return dtype == TENON_DTYPE_BOOL ? typed_literal(e, syntax, value, dtype, out_instruction)
                                       : wrong_type(e, syntax, dtype, "bool");
    case TENON_LANGUAGE_CHOICE:
      return typed_choice(e, syntax, value, dtype, out_instruction);
    case TENON_LANGUAGE_DIMENSION:
      return tenon__language_unsupported(
          e, syntax, "%s is not known when building: take size(axis) for an extent of the space",
          tenon__dim_text(e->pool, value->dim, e->arena));
    case TENON_LANGUAGE_TEXT:
      return wrong_type(e, syntax, dtype, "a string");
    case TENON_LANGUAGE_LIST:
      return wrong_type(e, syntax, dtype, "a list");
    default:
      break;
  }
  TENON_TRY_MEMORY(!e->program->builder.failed);
  if (type_of(e, value) != dtype) {
    return wrong_type(e, syntax, dtype, tenon__dtype_name(type_of(e, value)));
  }
  *out_instruction = value->instruction;
  return TENON_OK;
}

/* The type that the operands agree on: that of the first that has one, f32 where one is a float,
 * i64. */
static tenon_dtype_t common_type(const environment_t* e, const value_t* operands, uint32_t count) {
  bool is_real = false;
  for (uint32_t i = 0; i < count; ++i) {
    const tenon_dtype_t dtype = type_of(e, &operands[i]);
    if (dtype != TENON_DTYPE_UNDEFINED) {
      return dtype;
    }
    is_real = is_real || operands[i].kind == TENON_LANGUAGE_REAL ||
              (operands[i].kind == TENON_LANGUAGE_CHOICE && operands[i].choice_is_real);
  }
  return is_real ? TENON_DTYPE_FLOAT32 : TENON_DTYPE_INT64;
}

tenon_status_t tenon__value_instruction(environment_t* e, const syntax_t* syntax,
                                        const value_t* value, uint32_t* out_instruction) {
  return tenon__value_typed(e, syntax, value, common_type(e, value, 1), out_instruction);
}

/* An opcode on operands that all take one type. */
static tenon_status_t emit_typed(environment_t* e, const syntax_t* syntax, uint32_t opcode,
                                 tenon_dtype_t dtype, const value_t* operands, value_t* out_value) {
  uint32_t codes[3] = {0, 0, 0};
  for (uint32_t i = 0; i < tenon__opcode_operand_count(opcode); ++i) {
    TENON_TRY(tenon__value_typed(e, syntax, &operands[i], dtype, &codes[i]));
  }
  return tenon__instruction_give(
      e, tenon__emit_operation(&e->program->builder, opcode, dtype, codes[0], codes[1], codes[2]),
      out_value);
}

static bool is_rounding(uint32_t opcode) {
  return opcode >= TENON_OPCODE_FLOOR && opcode <= TENON_OPCODE_TRUNC;
}

/* At least one operand is an element. */
static tenon_status_t typed_operation(environment_t* e, const syntax_t* syntax, uint32_t opcode,
                                      const value_t* operands, value_t* out_value) {
  const tenon_dtype_t dtype = common_type(e, operands, tenon__opcode_operand_count(opcode));
  const char kind = tenon__dtype_class(dtype);
  const bool is_integer = kind == 'i' || kind == 'u';
  const bool asks = opcode == TENON_OPCODE_IS_NAN || opcode == TENON_OPCODE_IS_INF;
  if (!tenon__opcode_takes(opcode, dtype) && !asks) {
    return tenon__language_refuse(e, syntax, "'%s' does not take %s", tenon__opcode_name(opcode),
                                  tenon__dtype_name(dtype));
  }
  if (is_integer && (asks || is_rounding(opcode))) { /* needs no instruction */
    uint32_t code = 0;
    TENON_TRY(tenon__value_typed(e, syntax, &operands[0], dtype, &code));
    *out_value = asks ? tenon__value_of_truth(false)
                      : (value_t){.kind = TENON_LANGUAGE_INSTRUCTION, .instruction = code};
    return TENON_OK;
  }
  return emit_typed(e, syntax, opcode, dtype, operands, out_value);
}

/* The condition is an element. */
static tenon_status_t typed_select(environment_t* e, const syntax_t* syntax,
                                   const value_t operands[3], value_t* out_value) {
  uint32_t codes[3] = {0, 0, 0};
  TENON_TRY(tenon__value_typed(e, syntax, &operands[0], TENON_DTYPE_BOOL, &codes[0]));
  if (tenon__value_is_literal(&operands[1]) && tenon__value_is_literal(&operands[2])) {
    *out_value = (value_t){
        .kind = TENON_LANGUAGE_CHOICE,
        .instruction = codes[0],
        .choice_is_real =
            operands[1].kind == TENON_LANGUAGE_REAL || operands[2].kind == TENON_LANGUAGE_REAL,
        .choices = {tenon__value_as_real(&operands[1]), tenon__value_as_real(&operands[2])}};
    return TENON_OK;
  }
  const tenon_dtype_t dtype = common_type(e, &operands[1], 2);
  TENON_TRY(tenon__value_typed(e, syntax, &operands[1], dtype, &codes[1]));
  TENON_TRY(tenon__value_typed(e, syntax, &operands[2], dtype, &codes[2]));
  return tenon__instruction_give(e,
                                 tenon__emit_operation(&e->program->builder, TENON_OPCODE_SELECT,
                                                       dtype, codes[0], codes[1], codes[2]),
                                 out_value);
}

static const double rounded_limit = 9.0e18; /* below 2^63 */

/* At least one is a float, or the opcode is of floats. */
static tenon_status_t fold_reals(const environment_t* e, const syntax_t* syntax, uint32_t opcode,
                                 double a, double b, value_t* out_value) {
  const tenon__scalar_t second = {.f = b};
  const tenon__scalar_t result = tenon__scalar_apply(
      opcode, TENON_DTYPE_FLOAT64, TENON_DTYPE_FLOAT64, (tenon__scalar_t){.f = a}, second, second);
  if (tenon__opcode_is_comparison(opcode)) {
    *out_value = tenon__value_of_truth(result.i != 0);
  } else if (!is_rounding(opcode)) {
    *out_value = tenon__value_of_real(result.f);
  } else if (fabs(result.f) < rounded_limit) {
    *out_value = tenon__value_of_integer((int64_t)result.f);
  } else {
    return tenon__language_refuse(e, syntax, "'%s' of %g is no 64-bit integer",
                                  tenon__opcode_name(opcode), a);
  }
  return TENON_OK;
}

/* What dimensions can be combined by; the others need numbers that are known. */
static bool takes_dimensions(uint32_t opcode) {
  static const bool takes[TENON_OPCODE_COUNT] = {
      [TENON_OPCODE_ADD] = true, [TENON_OPCODE_SUB] = true, [TENON_OPCODE_MUL] = true,
      [TENON_OPCODE_MOD] = true, [TENON_OPCODE_MIN] = true, [TENON_OPCODE_MAX] = true,
      [TENON_OPCODE_NEG] = true, [TENON_OPCODE_ABS] = true, [TENON_OPCODE_FLOOR_DIV] = true};
  return takes[opcode] || is_rounding(opcode) ||
         (opcode >= TENON_OPCODE_EQ && opcode <= TENON_OPCODE_GE);
}

/* Integers, known or not, by an opcode that takes dimensions. */
static tenon_status_t combine(const environment_t* e, const syntax_t* syntax, uint32_t opcode,
                              const value_t* operands, value_t* out_value) {
  const bool is_binary = tenon__opcode_operand_count(opcode) == 2;
  const tenon_dim_t first = tenon__language_dim(e, &operands[0]);
  const tenon_dim_t second = is_binary ? tenon__language_dim(e, &operands[1]) : first;
  tenon_dim_t result = first; /* rounded, an integer is itself */
  if (is_binary) {
    result = tenon__dim_combine(e->pool, opcode, first, second);
  } else if (opcode == TENON_OPCODE_NEG || opcode == TENON_OPCODE_ABS) {
    result = tenon__dim_combine(e->pool, TENON_OPCODE_SUB, tenon__dim_constant(e->pool, 0), first);
    result = opcode == TENON_OPCODE_NEG
                 ? result
                 : tenon__dim_combine(e->pool, TENON_OPCODE_MAX, first, result);
  }
  TENON_TRY(tenon__language_give(e, syntax, result, out_value));
  if (tenon__opcode_is_comparison(opcode) && out_value->kind == TENON_LANGUAGE_INTEGER) {
    *out_value = tenon__value_of_truth(out_value->integer != 0);
  }
  return TENON_OK;
}

/* Bits, powers and the like of known integers; truths among themselves stay truths. */
static tenon_status_t fold_integers(const environment_t* e, const syntax_t* syntax, uint32_t opcode,
                                    const value_t* a, const value_t* b, value_t* out_value) {
  const tenon__scalar_t first = {.i = a->integer};
  const tenon__scalar_t second = {.i = b->integer};
  if (second.i == 0 && (opcode == TENON_OPCODE_DIV || opcode == TENON_OPCODE_FMOD)) {
    return tenon__language_refuse(e, syntax, "the number is divided by zero");
  }
  const tenon__scalar_t result =
      tenon__scalar_apply(opcode, TENON_DTYPE_INT64, TENON_DTYPE_INT64, first, second, second);
  const bool is_truth = tenon__opcode_is_comparison(opcode) ||
                        (a->kind == TENON_LANGUAGE_TRUTH && b->kind == TENON_LANGUAGE_TRUTH &&
                         tenon__opcode_domain(opcode) == 'i');
  *out_value =
      is_truth ? tenon__value_of_truth((result.i & 1) != 0) : tenon__value_of_integer(result.i);
  return TENON_OK;
}

/* Numbers that are known, and dimensions. */
static tenon_status_t calculate(const environment_t* e, const syntax_t* syntax, uint32_t opcode,
                                const value_t* operands, value_t* out_value) {
  const value_t* first = &operands[0];
  const value_t* last = &operands[tenon__opcode_operand_count(opcode) - 1];
  const char domain = tenon__opcode_domain(opcode);
  const bool has_real = first->kind == TENON_LANGUAGE_REAL || last->kind == TENON_LANGUAGE_REAL;
  const bool is_real = has_real || domain == 'f';
  if (!is_real && takes_dimensions(opcode)) {
    return combine(e, syntax, opcode, operands, out_value);
  }
  if (first->kind == TENON_LANGUAGE_DIMENSION || last->kind == TENON_LANGUAGE_DIMENSION) {
    const value_t* unknown = first->kind == TENON_LANGUAGE_DIMENSION ? first : last;
    return tenon__language_unsupported(
        e, syntax, "'%s' takes %s: %s must be known when building", tenon__opcode_name(opcode),
        has_real ? "a float" : "known numbers", tenon__dim_text(e->pool, unknown->dim, e->arena));
  }
  if (has_real && (domain == 'i' || domain == 's')) {
    return tenon__language_refuse(e, syntax, "'%s' does not take floats",
                                  tenon__opcode_name(opcode));
  }
  return is_real ? fold_reals(e, syntax, opcode, tenon__value_as_real(first),
                              tenon__value_as_real(last), out_value)
                 : fold_integers(e, syntax, opcode, first, last, out_value);
}

tenon_status_t tenon__language_operation(environment_t* e, const syntax_t* syntax, uint32_t opcode,
                                         const value_t* operands, value_t* out_value) {
  const uint32_t count = tenon__opcode_operand_count(opcode);
  bool has_element = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (operands[i].kind == TENON_LANGUAGE_TEXT || operands[i].kind == TENON_LANGUAGE_LIST) {
      return tenon__language_refuse(
          e, syntax, "'%s' takes numbers, not %s", tenon__opcode_name(opcode),
          operands[i].kind == TENON_LANGUAGE_TEXT ? "a string" : "a list");
    }
    has_element = has_element || tenon__value_is_element(&operands[i]);
  }
  return has_element ? typed_operation(e, syntax, opcode, operands, out_value)
                     : calculate(e, syntax, opcode, operands, out_value);
}

static bool is_float(const environment_t* e, const value_t* value) {
  if (value->kind == TENON_LANGUAGE_INSTRUCTION && !e->program->builder.failed) {
    return tenon__dtype_class(tenon__builder_type(&e->program->builder, value->instruction)) == 'f';
  }
  return value->kind == TENON_LANGUAGE_REAL ||
         (value->kind == TENON_LANGUAGE_CHOICE && value->choice_is_real);
}

tenon_status_t tenon__language_binary(environment_t* e, const syntax_t* syntax, char sign,
                                      const value_t operands[2], value_t* out_value) {
  static const struct {
    char sign;
    uint32_t opcode;
  } rows[] = {{'+', TENON_OPCODE_ADD}, {'-', TENON_OPCODE_SUB}, {'*', TENON_OPCODE_MUL},
              {'/', TENON_OPCODE_DIV}, {'%', TENON_OPCODE_MOD}, {'|', TENON_OPCODE_OR},
              {'^', TENON_OPCODE_XOR}, {'&', TENON_OPCODE_AND}, {'E', TENON_OPCODE_EQ},
              {'N', TENON_OPCODE_NE},  {'<', TENON_OPCODE_LT},  {'L', TENON_OPCODE_LE},
              {'>', TENON_OPCODE_GT},  {'G', TENON_OPCODE_GE}};
  uint32_t opcode = TENON_OPCODE_NOP;
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    opcode = rows[i].sign == sign ? rows[i].opcode : opcode;
  }
  if (operands[0].kind == TENON_LANGUAGE_TEXT && operands[1].kind == TENON_LANGUAGE_TEXT &&
      (opcode == TENON_OPCODE_EQ || opcode == TENON_OPCODE_NE)) {
    const bool same = strcmp(operands[0].text, operands[1].text) == 0;
    *out_value = tenon__value_of_truth(same == (opcode == TENON_OPCODE_EQ));
    return TENON_OK;
  }
  if (opcode == TENON_OPCODE_DIV && !is_float(e, &operands[0]) && !is_float(e, &operands[1])) {
    opcode = TENON_OPCODE_FLOOR_DIV;
  }
  return tenon__language_operation(e, syntax, opcode, operands, out_value);
}

tenon_status_t tenon__language_not(environment_t* e, const syntax_t* syntax, const value_t* operand,
                                   value_t* out_value) {
  if (tenon__value_is_element(operand)) {
    return emit_typed(e, syntax, TENON_OPCODE_NOT, TENON_DTYPE_BOOL, operand, out_value);
  }
  const value_t sides[2] = {*operand, tenon__value_of_integer(0)};
  return tenon__language_operation(e, syntax, TENON_OPCODE_EQ, sides, out_value);
}

/* 0 or 1 from any integer; elements are left as they are, their type says whether they are bool. */
static tenon_status_t truth_of(environment_t* e, const syntax_t* syntax, const value_t* operand,
                               value_t* out_value) {
  int64_t low = 0;
  int64_t high = 2;
  if (operand->kind == TENON_LANGUAGE_DIMENSION) {
    tenon__dim_range(e->pool, operand->dim, &low, &high);
  }
  if (tenon__value_is_element(operand) || operand->kind == TENON_LANGUAGE_TRUTH ||
      (low >= 0 && high <= 1)) {
    *out_value = *operand;
    return TENON_OK;
  }
  const value_t sides[2] = {*operand, tenon__value_of_integer(0)};
  return tenon__language_operation(e, syntax, TENON_OPCODE_NE, sides, out_value);
}

tenon_status_t tenon__language_join(environment_t* e, const syntax_t* syntax, bool both,
                                    const value_t operands[2], value_t* out_value) {
  value_t truths[2] = {{0}, {0}};
  for (int i = 0; i < 2; ++i) {
    TENON_TRY(truth_of(e, syntax, &operands[i], &truths[i]));
  }
  for (int i = 0; i < 2; ++i) {
    if (tenon__value_is_known(&truths[i])) { /* it decides, or leaves it to the other */
      *out_value = (truths[i].integer != 0) == both ? truths[1 - i] : truths[i];
      return TENON_OK;
    }
  }
  if (tenon__value_is_element(&truths[0]) || tenon__value_is_element(&truths[1])) {
    return emit_typed(e, syntax, both ? TENON_OPCODE_AND : TENON_OPCODE_OR, TENON_DTYPE_BOOL,
                      truths, out_value);
  }
  const tenon_dim_t decided = tenon__dim_constant(e->pool, both ? 0 : 1);
  return tenon__language_give(
      e, syntax,
      tenon__dim_select(e->pool, truths[0].dim, both ? truths[1].dim : decided,
                        both ? decided : truths[1].dim),
      out_value);
}

tenon_status_t tenon__language_select(environment_t* e, const syntax_t* syntax,
                                      const value_t operands[3], value_t* out_value) {
  if (tenon__value_is_known(&operands[0])) {
    *out_value = operands[operands[0].integer != 0 ? 1 : 2];
    return TENON_OK;
  }
  if (tenon__value_is_element(&operands[0])) {
    return typed_select(e, syntax, operands, out_value);
  }
  for (int i = 0; i < 3; ++i) {
    if (!tenon__value_is_known(&operands[i]) && operands[i].kind != TENON_LANGUAGE_DIMENSION) {
      return tenon__language_refuse(e, syntax,
                                    i == 0
                                        ? "a condition is a truth or an integer"
                                        : "a condition that only the run knows chooses integers");
    }
  }
  return tenon__language_give(
      e, syntax,
      tenon__dim_select(e->pool, operands[0].dim, tenon__language_dim(e, &operands[1]),
                        tenon__language_dim(e, &operands[2])),
      out_value);
}

tenon_status_t tenon__language_wrap(environment_t* e, const syntax_t* syntax,
                                    const value_t operands[2], value_t* out_value) {
  const value_t with_zero[2] = {operands[0], tenon__value_of_integer(0)};
  value_t sides[3] = {{0}, {0}, operands[0]};
  TENON_TRY(tenon__language_operation(e, syntax, TENON_OPCODE_LT, with_zero, &sides[0]));
  if (tenon__value_is_known(&sides[0]) && sides[0].integer == 0) {
    *out_value = operands[0];
    return TENON_OK;
  }
  TENON_TRY(tenon__language_operation(e, syntax, TENON_OPCODE_ADD, operands, &sides[1]));
  return tenon__language_select(e, syntax, sides, out_value);
}
