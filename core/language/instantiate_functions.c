/* Functions of the expression language. Those of TENON_OPCODES go by their spelling; the others are
 * here. */
#include "core/language/instantiate_functions.h"

#include <math.h>
#include <string.h>

#include "core/base/status.h"
#include "core/language/instantiate.h"
#include "core/language/instantiate_inputs.h"
#include "core/language/instantiate_types.h"
#include "core/language/instantiate_worth.h"
#include "core/tensor/small_float.h"

typedef tenon__instantiation_t instantiation_t;
typedef tenon__worth_t worth_t;
typedef tenon__syntax_t syntax_t;

static tenon_status_t give_code(const instantiation_t* in, uint32_t code, worth_t* out) {
  *out = (worth_t){.kind = TENON_WORTH_CODE, .code = code};
  return in->builder.failed ? tenon__fail_memory(in->sink) : TENON_OK;
}

static tenon_status_t evaluate_arguments(instantiation_t* in, const syntax_t* call, uint32_t count,
                                         worth_t* out_worths) {
  for (uint32_t i = 0; i < count; ++i) {
    TENON_TRY(tenon__worth_evaluate(in, call->children[i], &out_worths[i]));
  }
  return TENON_OK;
}

/* The input port that an argument names. */
static const tenon__scope_port_t* port_argument(const instantiation_t* in,
                                                const syntax_t* argument) {
  return argument->kind == TENON_SYNTAX_NAME ? tenon__find_input(in->scope, argument->text) : NULL;
}

static tenon_status_t no_port(const instantiation_t* in, const syntax_t* argument) {
  return tenon__worth_fail(in, argument, TENON_ERROR_INVALID_DATA,
                           "the name of an input is expected here");
}

static tenon_status_t call_select(instantiation_t* in, const syntax_t* call, worth_t* out) {
  worth_t operands[3] = {0};
  TENON_TRY(tenon__worth_evaluate(in, call->children[0], &operands[0]));
  if (operands[0].kind == TENON_WORTH_BOOL) {
    return tenon__worth_evaluate(in, call->children[operands[0].integer != 0 ? 1 : 2], out);
  }
  TENON_TRY(tenon__worth_evaluate(in, call->children[1], &operands[1]));
  TENON_TRY(tenon__worth_evaluate(in, call->children[2], &operands[2]));
  return tenon__worth_select(in, call, operands, out);
}

static tenon_status_t call_clamp(instantiation_t* in, const syntax_t* call, worth_t* out) {
  worth_t operands[3] = {0};
  TENON_TRY(evaluate_arguments(in, call, 3, operands));
  worth_t low[2] = {operands[0], operands[1]};
  worth_t both[2] = {operands[0], operands[2]};
  TENON_TRY(tenon__worth_operation(in, call, TENON_OPCODE_MAX, low, &both[0]));
  return tenon__worth_operation(in, call, TENON_OPCODE_MIN, both, out);
}

/* A packed integer is held in 8 bits: brings a value of that width into the narrow range. */
static uint32_t narrow_code(instantiation_t* in, uint32_t code, tenon_dtype_t stored,
                            tenon_dtype_t type) {
  const uint32_t bits = tenon__dtype_bits(stored);
  if (tenon__dtype_class(stored) == 'u') {
    const tenon__scalar_t mask = {.i = (INT64_C(1) << bits) - 1};
    return tenon__emit_operation(&in->builder, TENON_OPCODE_AND, type, code,
                                 tenon__emit_constant(&in->builder, type, mask), 0);
  }
  const uint32_t shift =
      tenon__emit_constant(&in->builder, type, (tenon__scalar_t){.i = 8 - (int64_t)bits});
  const uint32_t up = tenon__emit_operation(&in->builder, TENON_OPCODE_SHL, type, code, shift, 0);
  return tenon__emit_operation(&in->builder, TENON_OPCODE_SHR, type, up, shift, 0);
}

/* A float that shall become a packed integer saturates at that type's limits, not at those of 8
 * bits. */
static uint32_t saturate_code(instantiation_t* in, uint32_t code, tenon_dtype_t stored,
                              tenon_dtype_t from) {
  const uint32_t bits = tenon__dtype_bits(stored);
  const bool is_signed = tenon__dtype_class(stored) == 'i';
  const tenon__scalar_t low = {.f = is_signed ? -ldexp(1.0, (int)bits - 1) : 0.0};
  const tenon__scalar_t high = {.f = ldexp(1.0, (int)bits - (is_signed ? 1 : 0)) - 1.0};
  const uint32_t not_number = tenon__emit_operation(
      &in->builder, TENON_OPCODE_MAX, from, code, tenon__emit_constant(&in->builder, from, low), 0);
  return tenon__emit_operation(&in->builder, TENON_OPCODE_MIN, from, not_number,
                               tenon__emit_constant(&in->builder, from, high), 0);
}

/* An input's element as it is stored: a cast to that type leaves it alone. */
static bool is_element_of(const instantiation_t* in, uint32_t code, tenon_dtype_t stored) {
  const tenon_instruction_t* i = &in->builder.instructions[code];
  return i->opcode == TENON_OPCODE_INPUT && in->builder.operands[i->immediate.i].dtype == stored;
}

static tenon_status_t call_cast(instantiation_t* in, const syntax_t* call, worth_t* out) {
  const syntax_t* name = call->children[1];
  const tenon_dtype_t stored = name->kind == TENON_SYNTAX_NAME
                                   ? tenon__named_type(in->scope, name->text)
                                   : TENON_DTYPE_UNDEFINED;
  const tenon_dtype_t type = tenon__dtype_arithmetic(stored);
  const char kind = tenon__dtype_class(type);
  if (stored == TENON_DTYPE_UNDEFINED) {
    return tenon__worth_fail(in, name, TENON_ERROR_INVALID_DATA, "a type is expected here");
  }
  if (kind == 's' || kind == 'c') {
    return tenon__worth_fail(in, name, TENON_ERROR_UNSUPPORTED, "expressions cannot cast to %s",
                             tenon__dtype_name(stored));
  }
  worth_t operand = {0};
  uint32_t code = 0;
  TENON_TRY(tenon__worth_evaluate(in, call->children[0], &operand));
  const bool takes_type = kind == 'f' || (kind != 'b' && operand.kind == TENON_WORTH_INTEGER);
  if ((tenon__worth_is_literal(&operand) || operand.kind == TENON_WORTH_CHOICE) && takes_type &&
      tenon__dtype_bits(stored) >= 8 &&
      !(kind != 'f' && operand.kind == TENON_WORTH_CHOICE && operand.choice_is_float)) {
    TENON_TRY(tenon__worth_typed(in, call, &operand, type, &code));
    return give_code(in, code, out);
  }
  TENON_TRY(tenon__worth_code(in, call, &operand, &code));
  const tenon_dtype_t from = tenon__builder_type(&in->builder, code);
  const bool packed = kind != 'f' && tenon__dtype_bits(stored) < 8;
  if (packed && tenon__dtype_class(from) == 'f') {
    code = saturate_code(in, code, stored, from);
  }
  if (from != type) {
    code = tenon__emit_operation(&in->builder, TENON_OPCODE_CAST, type, code, 0, 0);
  }
  if (packed && tenon__dtype_class(from) != 'f' && tenon__dtype_class(from) != 'b') {
    code = narrow_code(in, code, stored, type);
  }
  TENON_TRY(give_code(in, code, out));
  if (kind == 'f' && stored != type && !is_element_of(in, code, stored)) {
    out->narrowed = stored;
  }
  return TENON_OK;
}

/* lowest(T), highest(T) */
static tenon_status_t call_limit(instantiation_t* in, const syntax_t* call, worth_t* out) {
  const syntax_t* name = call->children[0];
  const bool highest = call->text[0] == 'h';
  const tenon_dtype_t stored = name->kind == TENON_SYNTAX_NAME
                                   ? tenon__named_type(in->scope, name->text)
                                   : TENON_DTYPE_UNDEFINED;
  const char kind = tenon__dtype_class(stored);
  tenon__scalar_t value = {.i = 0};
  if (kind == 'f') {
    value.f = highest ? tenon__float_highest(stored) : -tenon__float_highest(stored);
  } else if (kind == 'i' || kind == 'u') {
    const uint32_t bits = tenon__dtype_bits(stored) - (kind == 'i' ? 1u : 0u);
    const int64_t most = bits == 64 ? -1 : (int64_t)((UINT64_C(1) << bits) - 1u);
    value.i = highest ? most : kind == 'i' ? -most - 1 : 0;
  } else {
    return tenon__worth_fail(in, name, TENON_ERROR_INVALID_DATA,
                             "the type of a number is expected here");
  }
  return give_code(in, tenon__emit_constant(&in->builder, tenon__dtype_arithmetic(stored), value),
                   out);
}

static tenon_status_t call_index(instantiation_t* in, const syntax_t* call, worth_t* out) {
  uint32_t axis = 0;
  TENON_TRY(tenon__worth_axis(in, call->children[0], &axis));
  const uint32_t opcode = call->text[0] == 'i' ? TENON_OPCODE_INDEX : TENON_OPCODE_SIZE;
  return give_code(
      in, tenon__emit_immediate(&in->builder, opcode, TENON_DTYPE_INT64, 0, (int64_t)axis), out);
}

/* count(axes): how many points of the space these axes have. */
static tenon_status_t call_count(instantiation_t* in, const syntax_t* call, worth_t* out) {
  uint64_t mask = 0;
  bool is_empty = false;
  TENON_TRY(tenon__worth_axes(in, call->children[0], &mask, &is_empty));
  uint32_t code = tenon__emit_constant(&in->builder, TENON_DTYPE_INT64, (tenon__scalar_t){.i = 1});
  for (uint32_t k = 0; !in->dry && k < in->rank; ++k) {
    if (((mask >> k) & 1u) != 0) {
      const uint32_t size =
          tenon__emit_immediate(&in->builder, TENON_OPCODE_SIZE, TENON_DTYPE_INT64, 0, (int64_t)k);
      code =
          tenon__emit_operation(&in->builder, TENON_OPCODE_MUL, TENON_DTYPE_INT64, code, size, 0);
    }
  }
  return give_code(in, code, out);
}

static tenon_status_t call_rank(instantiation_t* in, const syntax_t* call, worth_t* out) {
  const tenon__scope_port_t* port = port_argument(in, call->children[0]);
  if (port == NULL) {
    return no_port(in, call->children[0]);
  }
  const bool present = port->count > 0 && port->values[0].present;
  if (strcmp(call->text, "present") == 0) {
    *out = (worth_t){.kind = TENON_WORTH_BOOL, .integer = present ? 1 : 0};
    return TENON_OK;
  }
  if (strcmp(call->text, "count_of") == 0) {
    *out = (worth_t){.kind = TENON_WORTH_INTEGER, .integer = (int64_t)port->count};
    return TENON_OK;
  }
  if (!present) {
    return tenon__worth_fail(in, call, TENON_ERROR_INVALID_DATA, "input '%s' is absent",
                             port->name);
  }
  if (strcmp(call->text, "dtype") == 0) {
    *out = (worth_t){.kind = TENON_WORTH_TEXT, .text = tenon__dtype_name(port->values[0].dtype)};
    return TENON_OK;
  }
  if (port->values[0].rank == TENON_NONE) {
    return tenon__worth_fail(in, call, TENON_ERROR_UNSUPPORTED, "the rank of '%s' is not known",
                             port->name);
  }
  *out = (worth_t){.kind = TENON_WORTH_INTEGER, .integer = (int64_t)port->values[0].rank};
  return TENON_OK;
}

/* at(x, axis) */
static tenon_status_t call_at(instantiation_t* in, const syntax_t* call, worth_t* out) {
  const tenon__scope_port_t* port = port_argument(in, call->children[0]);
  uint32_t axis = 0;
  if (port == NULL) {
    return no_port(in, call->children[0]);
  }
  TENON_TRY(tenon__worth_axis(in, call->children[1], &axis));
  return tenon__worth_input(in, call, port, 0, axis, out);
}

/* The operation that fold's first argument names; NOP for none. */
static uint32_t fold_opcode(const syntax_t* name) {
  static const uint32_t foldable[] = {TENON_OPCODE_ADD, TENON_OPCODE_MUL, TENON_OPCODE_MIN,
                                      TENON_OPCODE_MAX, TENON_OPCODE_AND, TENON_OPCODE_OR,
                                      TENON_OPCODE_XOR};
  for (size_t i = 0; i < sizeof(foldable) / sizeof(foldable[0]); ++i) {
    if (name->kind == TENON_SYNTAX_NAME &&
        strcmp(name->text, tenon__opcode_name(foldable[i])) == 0) {
      return foldable[i];
    }
  }
  return TENON_OPCODE_NOP;
}

/* Adds an item to what was folded so far. */
static tenon_status_t fold_item(instantiation_t* in, const syntax_t* call, uint32_t opcode,
                                const tenon__scope_port_t* port, uint32_t item, bool first,
                                worth_t* inout_folded) {
  worth_t sides[2] = {*inout_folded, {0}};
  TENON_TRY(tenon__worth_input(in, call, port, item, TENON_NONE, &sides[1]));
  if (first) {
    *inout_folded = sides[1];
    return TENON_OK;
  }
  return tenon__worth_operation(in, call, opcode, sides, inout_folded);
}

/* fold(add, xs) */
static tenon_status_t call_fold(instantiation_t* in, const syntax_t* call, worth_t* out) {
  const tenon__scope_port_t* port = port_argument(in, call->children[1]);
  const uint32_t opcode = fold_opcode(call->children[0]);
  if (opcode == TENON_OPCODE_NOP) {
    return tenon__worth_fail(in, call->children[0], TENON_ERROR_INVALID_DATA,
                             "add, mul, min, max, and, or, xor is expected here");
  }
  if (port == NULL) {
    return no_port(in, call->children[1]);
  }
  worth_t folded = {0};
  bool any = false;
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < port->count && status == TENON_OK; ++i) {
    if (port->values[i].present) {
      status = fold_item(in, call, opcode, port, i, !any, &folded);
      any = true;
    }
  }
  if (!any) {
    return tenon__worth_fail(in, call, TENON_ERROR_INVALID_DATA, "'%s' has no items", port->name);
  }
  *out = folded;
  return status;
}

/* Key or counter as u64. */
static tenon_status_t random_argument(instantiation_t* in, const syntax_t* argument,
                                      uint32_t* out_code) {
  worth_t operand = {0};
  uint32_t code = 0;
  TENON_TRY(tenon__worth_evaluate(in, argument, &operand));
  if (operand.kind == TENON_WORTH_INTEGER) {
    return tenon__worth_typed(in, argument, &operand, TENON_DTYPE_UINT64, out_code);
  }
  TENON_TRY(tenon__worth_code(in, argument, &operand, &code));
  const tenon_dtype_t type = tenon__builder_type(&in->builder, code);
  if (tenon__dtype_class(type) != 'i' && tenon__dtype_class(type) != 'u') {
    return tenon__worth_fail(in, argument, TENON_ERROR_INVALID_DATA,
                             "key and counter are integers");
  }
  *out_code = type == TENON_DTYPE_UINT64 ? code
                                         : tenon__emit_operation(&in->builder, TENON_OPCODE_CAST,
                                                                 TENON_DTYPE_UINT64, code, 0, 0);
  return TENON_OK;
}

static tenon_status_t call_random(instantiation_t* in, const syntax_t* call, worth_t* out) {
  uint32_t codes[2] = {0, 0};
  TENON_TRY(random_argument(in, call->children[0], &codes[0]));
  TENON_TRY(random_argument(in, call->children[1], &codes[1]));
  return give_code(in,
                   tenon__emit_operation(&in->builder, TENON_OPCODE_RANDOM, TENON_DTYPE_FLOAT32,
                                         codes[0], codes[1], 0),
                   out);
}

/* Is the second argument of min or max a list of axes? A number alone is a number. */
static bool names_axes(const instantiation_t* in, const syntax_t* syntax) {
  if (syntax->kind == TENON_SYNTAX_LIST || syntax->kind == TENON_SYNTAX_RANGE) {
    return true;
  }
  if (syntax->kind != TENON_SYNTAX_NAME) {
    return false;
  }
  const size_t length = strlen(syntax->text);
  static const char* const endings[] = {"axis", "axes"};
  bool named = false;
  for (size_t i = 0; i < 2; ++i) {
    named = named || (length >= 4 && strcmp(syntax->text + length - 4, endings[i]) == 0 &&
                      (length == 4 || syntax->text[length - 5] == '_'));
  }
  const tenon__scope_port_t* port = tenon__find_input(in->scope, syntax->text);
  if (port != NULL) {
    return named && (port->flags & TENON_PORT_SHAPE_OPERAND) != 0;
  }
  for (uint32_t i = 0; i < in->scope->attribute_count; ++i) {
    const tenon__scope_attribute_t* attribute = &in->scope->attributes[i];
    if (strcmp(attribute->name, syntax->text) == 0) {
      return named &&
             (attribute->kind == TENON_ATTRIBUTE_INT || attribute->kind == TENON_ATTRIBUTE_INTS);
    }
  }
  return false;
}

static bool is_number(tenon_dtype_t type) {
  const char kind = tenon__dtype_class(type);
  return kind == 'f' || kind == 'i' || kind == 'u';
}

/* sum, prod, mean, any, all; min and max where the second argument names axes. */
static tenon_status_t call_reduction(instantiation_t* in, const syntax_t* call, worth_t* out) {
  static const struct {
    const char* name;
    uint32_t opcode;
    bool of_bool;
  } reductions[] = {
      {"sum", TENON_OPCODE_SUM, false},        {"prod", TENON_OPCODE_PROD, false},
      {"mean", TENON_OPCODE_MEAN, false},      {"min", TENON_OPCODE_REDUCE_MIN, false},
      {"max", TENON_OPCODE_REDUCE_MAX, false}, {"any", TENON_OPCODE_REDUCE_MAX, true},
      {"all", TENON_OPCODE_REDUCE_MIN, true}};
  uint32_t row = 0;
  while (strcmp(reductions[row].name, call->text) != 0) {
    ++row;
  }
  worth_t operand = {0};
  uint32_t code = 0;
  uint64_t mask = 0;
  bool is_empty = false;
  TENON_TRY(tenon__worth_evaluate(in, call->children[0], &operand));
  TENON_TRY(tenon__worth_code(in, call, &operand, &code));
  const tenon_dtype_t type = tenon__builder_type(&in->builder, code);
  if (reductions[row].of_bool ? type != TENON_DTYPE_BOOL : !is_number(type)) {
    return tenon__worth_fail(in, call, TENON_ERROR_INVALID_DATA, "'%s' does not take %s",
                             call->text, tenon__dtype_name(type));
  }
  TENON_TRY(tenon__worth_axes(in, call->children[1], &mask, &is_empty));
  in->reduces = true;
  if (mask == 0 && !in->dry) {
    return give_code(in, code, out); /* nothing to reduce along */
  }
  return give_code(
      in, tenon__emit_immediate(&in->builder, reductions[row].opcode, type, code, (int64_t)mask),
      out);
}

static tenon_status_t call_extremum(instantiation_t* in, const syntax_t* call, worth_t* out) {
  if (names_axes(in, call->children[1])) {
    return call_reduction(in, call, out);
  }
  worth_t operands[2] = {0};
  TENON_TRY(evaluate_arguments(in, call, 2, operands));
  return tenon__worth_operation(
      in, call, call->text[1] == 'i' ? TENON_OPCODE_MIN : TENON_OPCODE_MAX, operands, out);
}

/* A function of TENON_OPCODES by its spelling. */
static tenon_status_t call_opcode(instantiation_t* in, const syntax_t* call, worth_t* out) {
  for (uint32_t opcode = TENON_OPCODE_CAST; opcode < TENON_OPCODE_RANDOM; ++opcode) {
    if (strcmp(tenon__opcode_name(opcode), call->text) != 0) {
      continue;
    }
    worth_t operands[3] = {0};
    const uint32_t count = tenon__opcode_operand_count(opcode);
    if (call->child_count != count) {
      return tenon__worth_fail(in, call, TENON_ERROR_INVALID_DATA,
                               "'%s' takes %u arguments, not %u", call->text, count,
                               call->child_count);
    }
    TENON_TRY(evaluate_arguments(in, call, count, operands));
    return tenon__worth_operation(in, call, opcode, operands, out);
  }
  return tenon__worth_fail(in, call, TENON_ERROR_INVALID_DATA, "there is no function '%s' here",
                           call->text);
}

tenon_status_t tenon__worth_call(instantiation_t* in, const syntax_t* call, worth_t* out) {
  static const struct {
    const char* name;
    uint32_t arguments;
    tenon_status_t (*call)(instantiation_t* in, const syntax_t* call, worth_t* out);
  } functions[] = {
      {"select", 3, call_select}, {"clamp", 3, call_clamp},    {"cast", 2, call_cast},
      {"lowest", 1, call_limit},  {"highest", 1, call_limit},  {"index", 1, call_index},
      {"size", 1, call_index},    {"count", 1, call_count},    {"rank", 1, call_rank},
      {"present", 1, call_rank},  {"count_of", 1, call_rank},  {"dtype", 1, call_rank},
      {"at", 2, call_at},         {"fold", 2, call_fold},      {"random", 2, call_random},
      {"sum", 2, call_reduction}, {"prod", 2, call_reduction}, {"mean", 2, call_reduction},
      {"any", 2, call_reduction}, {"all", 2, call_reduction},  {"min", 2, call_extremum},
      {"max", 2, call_extremum},
  };
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
    if (strcmp(functions[i].name, call->text) != 0) {
      continue;
    }
    if (call->child_count != functions[i].arguments) {
      return tenon__worth_fail(in, call, TENON_ERROR_INVALID_DATA,
                               "'%s' takes %u arguments, not %u", call->text,
                               functions[i].arguments, call->child_count);
    }
    return functions[i].call(in, call, out);
  }
  return call_opcode(in, call, out);
}
