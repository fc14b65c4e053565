/* Types: literals take the other operand's, operations check theirs, what is known folds. */
#include "core/language/instantiate_types.h"

#include "core/base/status.h"
#include "core/language/instantiate.h"
#include "core/language/instantiate_worth.h"

/* Type of an instruction's value, UNDEFINED for what has none yet. */
static tenon_dtype_t type_of(const tenon__instantiation_t* in, const tenon__worth_t* worth) {
  if (worth->kind == TENON_WORTH_BOOL) {
    return TENON_DTYPE_BOOL;
  }
  return worth->kind == TENON_WORTH_CODE && in->builder.instruction_count > worth->code
             ? tenon__builder_type(&in->builder, worth->code)
             : TENON_DTYPE_UNDEFINED;
}

static tenon_status_t wrong_type(const tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 tenon_dtype_t expected, const char* found) {
  return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA, "%s where %s is expected", found,
                           tenon__dtype_name(expected));
}

/* A literal number as a constant of that type. */
static tenon_status_t typed_literal(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                    bool is_float, double number, int64_t integer,
                                    tenon_dtype_t dtype, uint32_t* out_instruction) {
  const char kind = tenon__dtype_class(dtype);
  tenon__scalar_t value = {.i = integer};
  if (kind == 'f') {
    value.f = is_float ? number : (double)integer;
  } else if (is_float || (kind != 'i' && kind != 'u')) {
    return wrong_type(in, syntax, dtype, is_float ? "a float literal" : "an integer literal");
  }
  *out_instruction = tenon__emit_constant(&in->builder, dtype, value);
  return in->builder.failed ? tenon__fail_memory(in->sink) : TENON_OK;
}

/* A choice between two literals, now that it has a type. */
static tenon_status_t typed_choice(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                   const tenon__worth_t* worth, tenon_dtype_t dtype,
                                   uint32_t* out_instruction) {
  uint32_t sides[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    TENON_TRY(typed_literal(in, syntax, worth->choice_is_float, worth->choices[i],
                            worth->choice_is_float ? 0 : (int64_t)worth->choices[i], dtype,
                            &sides[i]));
  }
  *out_instruction = tenon__emit_operation(&in->builder, TENON_OPCODE_SELECT, dtype, worth->code,
                                           sides[0], sides[1]);
  return in->builder.failed ? tenon__fail_memory(in->sink) : TENON_OK;
}

tenon_status_t tenon__worth_typed(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                  const tenon__worth_t* worth, tenon_dtype_t dtype,
                                  uint32_t* out_instruction) {
  if (tenon__worth_is_literal(worth)) {
    return typed_literal(in, syntax, worth->kind == TENON_WORTH_FLOAT, worth->number,
                         worth->integer, dtype, out_instruction);
  }
  if (worth->kind == TENON_WORTH_CHOICE) {
    return typed_choice(in, syntax, worth, dtype, out_instruction);
  }
  if (worth->kind == TENON_WORTH_BOOL && dtype == TENON_DTYPE_BOOL) {
    *out_instruction =
        tenon__emit_constant(&in->builder, dtype, (tenon__scalar_t){.i = worth->integer});
    return in->builder.failed ? tenon__fail_memory(in->sink) : TENON_OK;
  }
  if (worth->kind != TENON_WORTH_CODE) {
    return wrong_type(in, syntax, dtype,
                      worth->kind == TENON_WORTH_BOOL   ? "bool"
                      : worth->kind == TENON_WORTH_TEXT ? "a string"
                                                        : "a list");
  }
  if (in->builder.failed) {
    return tenon__fail_memory(in->sink);
  }
  if (type_of(in, worth) != dtype) {
    return wrong_type(in, syntax, dtype, tenon__dtype_name(type_of(in, worth)));
  }
  *out_instruction = worth->code;
  return TENON_OK;
}

tenon_status_t tenon__worth_code(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 const tenon__worth_t* worth, uint32_t* out_instruction) {
  tenon_dtype_t dtype = type_of(in, worth);
  if (worth->kind == TENON_WORTH_INTEGER) {
    dtype = TENON_DTYPE_INT64;
  } else if (worth->kind == TENON_WORTH_FLOAT) {
    dtype = TENON_DTYPE_FLOAT32;
  } else if (worth->kind == TENON_WORTH_CHOICE) {
    dtype = worth->choice_is_float ? TENON_DTYPE_FLOAT32 : TENON_DTYPE_INT64;
  }
  if (dtype == TENON_DTYPE_UNDEFINED && !in->builder.failed) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA, "this is not a number");
  }
  return tenon__worth_typed(in, syntax, worth, dtype, out_instruction);
}

/* What types an opcode takes: f floats, n numbers, i integers and bool, a anything. */
static char domain_of(uint32_t opcode) {
  switch (opcode) {
    case TENON_OPCODE_EQ:
    case TENON_OPCODE_NE:
      return 'a';
    case TENON_OPCODE_AND:
    case TENON_OPCODE_OR:
    case TENON_OPCODE_XOR:
    case TENON_OPCODE_NOT:
      return 'i';
    case TENON_OPCODE_SHL:
    case TENON_OPCODE_SHR:
      return 's';
    case TENON_OPCODE_ATAN2:
      return 'f';
    default:
      break;
  }
  return opcode >= TENON_OPCODE_SQRT && opcode <= TENON_OPCODE_SOFTPLUS ? 'f' : 'n';
}

static bool domain_holds(char domain, tenon_dtype_t dtype) {
  const char kind = tenon__dtype_class(dtype);
  switch (domain) {
    case 'f':
      return kind == 'f';
    case 'i':
      return kind == 'i' || kind == 'u' || kind == 'b';
    case 's':
      return kind == 'i' || kind == 'u';
    case 'n':
      return kind == 'i' || kind == 'u' || kind == 'f';
    default:
      return true;
  }
}

/* Literals alone: integers in i64, anything with a float in f64. */
static tenon_status_t fold_literals(const tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                    uint32_t opcode, const tenon__worth_t* operands, uint32_t count,
                                    tenon__worth_t* out_worth) {
  const char domain = domain_of(opcode);
  bool is_float = domain == 'f';
  for (uint32_t i = 0; i < count; ++i) {
    is_float = is_float || operands[i].kind == TENON_WORTH_FLOAT;
  }
  const tenon_dtype_t dtype = is_float ? TENON_DTYPE_FLOAT64 : TENON_DTYPE_INT64;
  if (!domain_holds(domain, dtype)) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA, "'%s' takes no floats",
                             tenon__opcode_name(opcode));
  }
  tenon__scalar_t values[2] = {{.i = 0}, {.i = 0}};
  for (uint32_t i = 0; i < count; ++i) {
    if (is_float) {
      values[i].f = tenon__literal_number(&operands[i]);
    } else {
      values[i].i = operands[i].integer;
    }
  }
  const tenon__scalar_t result =
      tenon__scalar_apply(opcode, dtype, dtype, values[0], values[1], values[1]);
  *out_worth = tenon__opcode_is_comparison(opcode) ? tenon__bool_worth(result.i != 0)
               : is_float                          ? tenon__float_worth(result.f)
                                                   : tenon__integer_worth(result.i);
  return TENON_OK;
}

/* Of rounding and of is_nan, is_inf an integer needs no instruction. */
static bool needless_of_integer(tenon__instantiation_t* in, uint32_t opcode, uint32_t operand,
                                tenon__worth_t* out_worth) {
  const char kind = tenon__dtype_class(tenon__builder_type(&in->builder, operand));
  if (kind != 'i' && kind != 'u') {
    return false;
  }
  if (opcode >= TENON_OPCODE_FLOOR && opcode <= TENON_OPCODE_TRUNC) {
    *out_worth = tenon__code_worth(operand);
    return true;
  }
  if (opcode == TENON_OPCODE_IS_NAN || opcode == TENON_OPCODE_IS_INF) {
    *out_worth = tenon__bool_worth(false);
    return true;
  }
  return false;
}

/* Known truths among themselves. */
static bool fold_bools(uint32_t opcode, const tenon__worth_t* operands, uint32_t count,
                       tenon__worth_t* out_worth) {
  for (uint32_t i = 0; i < count; ++i) {
    if (operands[i].kind != TENON_WORTH_BOOL) {
      return false;
    }
  }
  const tenon__scalar_t a = {.i = operands[0].integer};
  const tenon__scalar_t b = {.i = operands[count - 1].integer};
  if (domain_of(opcode) != 'i' && domain_of(opcode) != 'a') {
    return false;
  }
  *out_worth = tenon__bool_worth(
      tenon__scalar_apply(opcode, TENON_DTYPE_BOOL, TENON_DTYPE_BOOL, a, b, b).i != 0);
  return true;
}

tenon_status_t tenon__worth_operation(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                      uint32_t opcode, const tenon__worth_t* operands,
                                      tenon__worth_t* out_worth) {
  const uint32_t count = tenon__opcode_operand_count(opcode);
  bool literal = true;
  tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
  for (uint32_t i = 0; i < count; ++i) {
    literal = literal && tenon__worth_is_literal(&operands[i]);
    dtype = dtype == TENON_DTYPE_UNDEFINED ? type_of(in, &operands[i]) : dtype;
  }
  if (literal) {
    return fold_literals(in, syntax, opcode, operands, count, out_worth);
  }
  if (fold_bools(opcode, operands, count, out_worth)) {
    return TENON_OK;
  }
  uint32_t codes[3] = {0, 0, 0};
  if (dtype == TENON_DTYPE_UNDEFINED) { /* a choice of literals: it takes its usual type */
    uint32_t choice = 0;
    while (choice + 1 < count && operands[choice].kind != TENON_WORTH_CHOICE) {
      ++choice;
    }
    TENON_TRY(tenon__worth_code(in, syntax, &operands[choice], &codes[0]));
    dtype = tenon__builder_type(&in->builder, codes[0]);
  }
  if (dtype != TENON_DTYPE_UNDEFINED && !domain_holds(domain_of(opcode), dtype) &&
      !(count == 1 && (opcode == TENON_OPCODE_IS_NAN || opcode == TENON_OPCODE_IS_INF))) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA, "'%s' does not take %s",
                             tenon__opcode_name(opcode), tenon__dtype_name(dtype));
  }
  for (uint32_t i = 0; i < count; ++i) {
    TENON_TRY(tenon__worth_typed(in, syntax, &operands[i], dtype, &codes[i]));
  }
  if (count == 1 && needless_of_integer(in, opcode, codes[0], out_worth)) {
    return TENON_OK;
  }
  *out_worth = tenon__code_worth(
      tenon__emit_operation(&in->builder, opcode, dtype, codes[0], codes[1], codes[2]));
  return in->builder.failed ? tenon__fail_memory(in->sink) : TENON_OK;
}

tenon_status_t tenon__worth_select(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                   const tenon__worth_t operands[3], tenon__worth_t* out_worth) {
  if (operands[0].kind == TENON_WORTH_BOOL) {
    *out_worth = operands[operands[0].integer != 0 ? 1 : 2];
    return TENON_OK;
  }
  uint32_t codes[3] = {0, 0, 0};
  TENON_TRY(tenon__worth_typed(in, syntax, &operands[0], TENON_DTYPE_BOOL, &codes[0]));
  if (tenon__worth_is_literal(&operands[1]) && tenon__worth_is_literal(&operands[2])) {
    *out_worth = (tenon__worth_t){
        .kind = TENON_WORTH_CHOICE,
        .code = codes[0],
        .choice_is_float =
            operands[1].kind == TENON_WORTH_FLOAT || operands[2].kind == TENON_WORTH_FLOAT,
        .choices = {tenon__literal_number(&operands[1]), tenon__literal_number(&operands[2])}};
    return TENON_OK;
  }
  tenon_dtype_t dtype = type_of(in, &operands[1]);
  dtype = dtype == TENON_DTYPE_UNDEFINED ? type_of(in, &operands[2]) : dtype;
  if (dtype == TENON_DTYPE_UNDEFINED) {
    TENON_TRY(tenon__worth_code(in, syntax, &operands[1], &codes[1]));
    dtype = in->builder.failed ? dtype : tenon__builder_type(&in->builder, codes[1]);
  }
  TENON_TRY(tenon__worth_typed(in, syntax, &operands[1], dtype, &codes[1]));
  TENON_TRY(tenon__worth_typed(in, syntax, &operands[2], dtype, &codes[2]));
  *out_worth = tenon__code_worth(tenon__emit_operation(&in->builder, TENON_OPCODE_SELECT, dtype,
                                                       codes[0], codes[1], codes[2]));
  return in->builder.failed ? tenon__fail_memory(in->sink) : TENON_OK;
}
