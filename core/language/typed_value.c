/* Element types: known numbers take the other operand's, operations check theirs. */
#include "core/language/typed_value.h"

#include "core/base/status.h"
#include "core/dimension/dimension_text.h"
#include "core/tensor/dtype.h"

typedef tenon__environment_t environment_t;
typedef tenon__language_value_t value_t;

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

static tenon_status_t wrong_type(const environment_t* e, const tenon__syntax_t* syntax,
                                 tenon_dtype_t expected, const char* found) {
  return tenon__language_refuse(e, syntax, "%s where %s is expected", found,
                                tenon__dtype_name(expected));
}

/* A known number as a constant of that type. */
static tenon_status_t typed_literal(environment_t* e, const tenon__syntax_t* syntax,
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
static tenon_status_t typed_choice(environment_t* e, const tenon__syntax_t* syntax,
                                   const value_t* choice, tenon_dtype_t dtype,
                                   uint32_t* out_instruction) {
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

tenon_status_t tenon__value_typed(environment_t* e, const tenon__syntax_t* syntax,
                                  const value_t* value, tenon_dtype_t dtype,
                                  uint32_t* out_instruction) {
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

tenon_status_t tenon__value_instruction(environment_t* e, const tenon__syntax_t* syntax,
                                        const value_t* value, uint32_t* out_instruction) {
  return tenon__value_typed(e, syntax, value, common_type(e, value, 1), out_instruction);
}

/* Of rounding and of is_nan, is_inf an integer needs no instruction. */
static bool needless_of_integer(const environment_t* e, uint32_t opcode, uint32_t operand,
                                value_t* out_value) {
  const char kind = tenon__dtype_class(tenon__builder_type(&e->program->builder, operand));
  if (kind != 'i' && kind != 'u') {
    return false;
  }
  if (opcode >= TENON_OPCODE_FLOOR && opcode <= TENON_OPCODE_TRUNC) {
    *out_value = (value_t){.kind = TENON_LANGUAGE_INSTRUCTION, .instruction = operand};
    return true;
  }
  if (opcode == TENON_OPCODE_IS_NAN || opcode == TENON_OPCODE_IS_INF) {
    *out_value = tenon__value_of_truth(false);
    return true;
  }
  return false;
}

tenon_status_t tenon__typed_operation(environment_t* e, const tenon__syntax_t* syntax,
                                      uint32_t opcode, const value_t* operands,
                                      value_t* out_value) {
  const uint32_t count = tenon__opcode_operand_count(opcode);
  const tenon_dtype_t dtype = common_type(e, operands, count);
  uint32_t codes[3] = {0, 0, 0};
  if (!tenon__opcode_takes(opcode, dtype) && opcode != TENON_OPCODE_IS_NAN &&
      opcode != TENON_OPCODE_IS_INF) {
    return tenon__language_refuse(e, syntax, "'%s' does not take %s", tenon__opcode_name(opcode),
                                  tenon__dtype_name(dtype));
  }
  for (uint32_t i = 0; i < count; ++i) {
    TENON_TRY(tenon__value_typed(e, syntax, &operands[i], dtype, &codes[i]));
  }
  if (count == 1 && needless_of_integer(e, opcode, codes[0], out_value)) {
    return TENON_OK;
  }
  return tenon__instruction_give(
      e, tenon__emit_operation(&e->program->builder, opcode, dtype, codes[0], codes[1], codes[2]),
      out_value);
}

tenon_status_t tenon__typed_select(environment_t* e, const tenon__syntax_t* syntax,
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
