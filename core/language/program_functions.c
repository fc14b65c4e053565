/* Functions on elements. */
#include "core/language/program_functions.h"

#include <math.h>
#include <string.h>

#include "core/base/status.h"
#include "core/language/list_functions.h"
#include "core/language/operation.h"
#include "core/language/program_input.h"
#include "core/tensor/dtype.h"
#include "core/tensor/small_float.h"

typedef tenon__function_call_t call_t;
typedef tenon__environment_t environment_t;
typedef tenon__language_value_t value_t;
typedef tenon__syntax_t syntax_t;

static tenon_status_t port_argument(const environment_t* e, const syntax_t* argument,
                                    const tenon__scope_port_t** out_port) {
  *out_port =
      argument->kind == TENON_SYNTAX_NAME ? tenon__scope_input(e->scope, argument->text) : NULL;
  if (*out_port == NULL) {
    (void)tenon__language_refuse(e, argument, "the name of an input is expected");
    return TENON_ERROR_INVALID_DATA;
  }
  return TENON_OK;
}

static tenon_status_t type_argument(const environment_t* e, const syntax_t* argument,
                                    tenon_dtype_t* out_dtype) {
  *out_dtype = argument->kind == TENON_SYNTAX_NAME ? tenon__scope_dtype(e->scope, argument->text)
                                                   : TENON_DTYPE_UNDEFINED;
  return *out_dtype != TENON_DTYPE_UNDEFINED
             ? TENON_OK
             : tenon__language_refuse(
                   e, argument, "a type is expected: f32, a type variable, a DTYPE attribute");
}

/* The lowest or the highest integer of a type. */
static tenon__scalar_t integer_limit(tenon_dtype_t stored, bool highest) {
  const tenon__scalar_t beyond = {.f = highest ? HUGE_VAL : -HUGE_VAL};
  return tenon__scalar_cast(beyond, TENON_DTYPE_FLOAT64, stored);
}

/* A packed integer is held in 8 bits: brings a value of that width into the narrow range. */
static uint32_t narrow_code(tenon__program_builder_t* builder, uint32_t code, tenon_dtype_t stored,
                            tenon_dtype_t type) {
  const tenon__scalar_t gone = {.i = 8 - (int64_t)tenon__dtype_bits(stored)};
  if (tenon__dtype_class(stored) == 'u') {
    const uint32_t mask = tenon__emit_constant(builder, type, integer_limit(stored, true));
    return tenon__emit_operation(builder, TENON_OPCODE_AND, type, code, mask, 0);
  }
  const uint32_t shift = tenon__emit_constant(builder, type, gone);
  const uint32_t up = tenon__emit_operation(builder, TENON_OPCODE_SHL, type, code, shift, 0);
  return tenon__emit_operation(builder, TENON_OPCODE_SHR, type, up, shift, 0);
}

/* A float that shall become a packed integer saturates at that type's limits, not at those of 8
 * bits. */
static uint32_t saturate_code(tenon__program_builder_t* builder, uint32_t code,
                              tenon_dtype_t stored, tenon_dtype_t from) {
  const tenon__scalar_t low = {.f = (double)integer_limit(stored, false).i};
  const tenon__scalar_t high = {.f = (double)integer_limit(stored, true).i};
  const uint32_t least = tenon__emit_constant(builder, from, low);
  const uint32_t number = tenon__emit_operation(builder, TENON_OPCODE_MAX, from, code, least, 0);
  const uint32_t most = tenon__emit_constant(builder, from, high);
  return tenon__emit_operation(builder, TENON_OPCODE_MIN, from, number, most, 0);
}

/* An input's element as it is stored: a cast to that type leaves it alone. */
static bool is_element_of(const environment_t* e, uint32_t code, tenon_dtype_t stored) {
  const tenon_instruction_t* i = &e->program->builder.instructions[code];
  return i->opcode == TENON_OPCODE_INPUT &&
         e->program->builder.operands[i->immediate.i].dtype == stored;
}

/* A known number takes the type at once, but for a float that shall become an integer. */
static bool takes_type(const value_t* operand, tenon_dtype_t stored) {
  const char kind = tenon__dtype_class(stored);
  if (tenon__dtype_bits(stored) < 8 || kind == 'b') {
    return false;
  }
  return kind == 'f' ? tenon__value_is_literal(operand) || operand->kind == TENON_LANGUAGE_CHOICE
                     : operand->kind == TENON_LANGUAGE_INTEGER;
}

/* An element of type `from` as one of `stored`, which is held as `type`. */
static uint32_t cast_code(tenon__program_builder_t* builder, uint32_t code, tenon_dtype_t from,
                          tenon_dtype_t stored) {
  const tenon_dtype_t type = tenon__dtype_arithmetic(stored);
  const char kind = tenon__dtype_class(from);
  const bool packed = tenon__dtype_class(stored) != 'f' && tenon__dtype_bits(stored) < 8;
  if (packed && kind == 'f') {
    code = saturate_code(builder, code, stored, from);
  }
  code = tenon__emit_cast(builder, code, type);
  return packed && kind != 'f' && kind != 'b' ? narrow_code(builder, code, stored, type) : code;
}

/* cast(x, T) */
static tenon_status_t call_cast(call_t* c, value_t* out) {
  environment_t* e = c->e;
  const value_t* operand = &c->values[0];
  tenon_dtype_t stored = TENON_DTYPE_UNDEFINED;
  uint32_t code = 0;
  TENON_TRY(type_argument(e, c->syntax->children[1], &stored));
  const tenon_dtype_t type = tenon__dtype_arithmetic(stored);
  const char kind = tenon__dtype_class(type);
  if (kind == 's' || kind == 'c') {
    return tenon__language_unsupported(e, c->syntax->children[1], "expressions cannot cast to %s",
                                       tenon__dtype_name(stored));
  }
  if (takes_type(operand, stored)) {
    TENON_TRY(tenon__value_typed(e, c->syntax, operand, type, &code));
    return tenon__instruction_give(e, code, out);
  }
  TENON_TRY(tenon__value_instruction(e, c->syntax, operand, &code));
  const tenon_dtype_t from = tenon__builder_type(&e->program->builder, code);
  code = cast_code(&e->program->builder, code, from, stored);
  TENON_TRY(tenon__instruction_give(e, code, out));
  if (kind == 'f' && stored != type && !is_element_of(e, code, stored)) {
    out->narrowed = stored;
  }
  return TENON_OK;
}

/* lowest(T), highest(T) */
static tenon_status_t call_limit(call_t* c, value_t* out) {
  const syntax_t* name = c->syntax->children[0];
  const bool highest = c->syntax->text[0] == 'h';
  tenon_dtype_t stored = TENON_DTYPE_UNDEFINED;
  TENON_TRY(type_argument(c->e, name, &stored));
  const char kind = tenon__dtype_class(stored);
  tenon__scalar_t value = integer_limit(stored, highest);
  if (kind == 'f') {
    value.f = highest ? tenon__float_highest(stored) : -tenon__float_highest(stored);
  } else if (kind != 'i' && kind != 'u') {
    return tenon__language_refuse(c->e, name, "%s has no %s number", tenon__dtype_name(stored),
                                  c->syntax->text);
  }
  const tenon_dtype_t type = tenon__dtype_arithmetic(stored);
  return tenon__instruction_give(c->e, tenon__emit_constant(&c->e->program->builder, type, value),
                                 out);
}

/* index(axis): coordinate, i64 */
static tenon_status_t call_index(call_t* c, value_t* out) {
  uint32_t axis = 0;
  TENON_TRY(tenon__space_axis(c->e, c->syntax->children[0], &axis));
  return tenon__instruction_give(c->e,
                                 tenon__emit_immediate(&c->e->program->builder, TENON_OPCODE_INDEX,
                                                       TENON_DTYPE_INT64, 0, (int64_t)axis),
                                 out);
}

/* size(axes): product of extents, i64 */
static tenon_status_t call_size(call_t* c, value_t* out) {
  tenon__program_builder_t* builder = &c->e->program->builder;
  uint64_t mask = 0;
  uint32_t product = TENON_NONE;
  TENON_TRY(tenon__space_axes(c->e, c->syntax->children[0], &mask));
  for (uint32_t k = 0; mask != 0; ++k, mask >>= 1) {
    if ((mask & 1u) != 0) {
      const uint32_t size =
          tenon__emit_immediate(builder, TENON_OPCODE_SIZE, TENON_DTYPE_INT64, 0, (int64_t)k);
      product = product == TENON_NONE ? size
                                      : tenon__emit_operation(builder, TENON_OPCODE_MUL,
                                                              TENON_DTYPE_INT64, product, size, 0);
    }
  }
  if (product == TENON_NONE) {
    product = tenon__emit_constant(builder, TENON_DTYPE_INT64, (tenon__scalar_t){.i = 1});
  }
  return tenon__instruction_give(c->e, product, out);
}

/* along(x, axis): varies along that axis alone */
static tenon_status_t call_along(call_t* c, value_t* out) {
  const tenon__scope_port_t* port = NULL;
  uint32_t axis = 0;
  TENON_TRY(port_argument(c->e, c->syntax->children[0], &port));
  TENON_TRY(tenon__space_axis(c->e, c->syntax->children[1], &axis));
  return tenon__program_element(c->e, c->syntax, port, 0, axis, out);
}

/* The operation that fold's first argument names; NOP for none. */
static uint32_t fold_opcode(const syntax_t* name) {
  for (uint32_t opcode = TENON_OPCODE_ADD; opcode <= TENON_OPCODE_XOR; ++opcode) {
    if (tenon__opcode_is_commutative(opcode) && !tenon__opcode_is_comparison(opcode) &&
        name->kind == TENON_SYNTAX_NAME && strcmp(name->text, tenon__opcode_name(opcode)) == 0) {
      return opcode;
    }
  }
  return TENON_OPCODE_NOP;
}

/* fold(add, xs): over a variadic input */
static tenon_status_t call_fold(call_t* c, value_t* out) {
  environment_t* e = c->e;
  const syntax_t* call = c->syntax;
  const tenon__scope_port_t* port = NULL;
  const uint32_t opcode = fold_opcode(call->children[0]);
  uint32_t count = 0;
  if (opcode == TENON_OPCODE_NOP) {
    return tenon__language_refuse(e, call->children[0],
                                  "add, mul, min, max, and, or or xor is expected");
  }
  TENON_TRY(port_argument(e, call->children[1], &port));
  for (uint32_t i = 0; i < port->count; ++i) {
    value_t sides[2] = {*out, {0}};
    if (!port->values[i].present) {
      continue;
    }
    TENON_TRY(tenon__program_element(e, call, port, i, TENON_NONE, count == 0 ? out : &sides[1]));
    if (count++ > 0) {
      TENON_TRY(tenon__language_operation(e, call, opcode, sides, out));
    }
  }
  return count > 0 ? TENON_OK : tenon__language_refuse(e, call, "'%s' has no items", port->name);
}

/* random(key, counter): f32. Both as u64. */
static tenon_status_t call_random(call_t* c, value_t* out) {
  tenon__program_builder_t* builder = &c->e->program->builder;
  uint32_t codes[2] = {0, 0};
  for (uint32_t i = 0; i < 2; ++i) {
    const syntax_t* argument = c->syntax->children[i];
    if (c->values[i].kind == TENON_LANGUAGE_INTEGER) {
      TENON_TRY(tenon__value_typed(c->e, argument, &c->values[i], TENON_DTYPE_UINT64, &codes[i]));
      continue;
    }
    TENON_TRY(tenon__value_instruction(c->e, argument, &c->values[i], &codes[i]));
    const char kind = tenon__dtype_class(tenon__builder_type(builder, codes[i]));
    if (kind != 'i' && kind != 'u') {
      return tenon__language_refuse(c->e, argument, "key and counter are integers");
    }
    codes[i] = tenon__emit_cast(builder, codes[i], TENON_DTYPE_UINT64);
  }
  return tenon__instruction_give(c->e,
                                 tenon__emit_operation(builder, TENON_OPCODE_RANDOM,
                                                       TENON_DTYPE_FLOAT32, codes[0], codes[1], 0),
                                 out);
}

/* Is the syntax a list of axes by its form or its name? A number alone is a number. Tells sum(x,
 * axes) from sum(list, i, j) without evaluating: a name may mean different things. */
static bool names_axes(const environment_t* e, const syntax_t* syntax) {
  if (syntax->kind != TENON_SYNTAX_NAME) {
    return syntax->kind == TENON_SYNTAX_LIST || syntax->kind == TENON_SYNTAX_RANGE;
  }
  const size_t length = strlen(syntax->text);
  const char* ending = length < 4 ? "" : syntax->text + length - 4;
  if ((strcmp(ending, "axis") != 0 && strcmp(ending, "axes") != 0) ||
      (length > 4 && syntax->text[length - 5] != '_')) {
    return false;
  }
  const tenon__scope_port_t* port = tenon__scope_input(e->scope, syntax->text);
  const tenon__scope_attribute_t* attribute = tenon__scope_attribute(e->scope, syntax->text);
  return port != NULL ? (port->flags & TENON_PORT_SHAPE_OPERAND) != 0
                      : attribute != NULL && (attribute->kind == TENON_ATTRIBUTE_INT ||
                                              attribute->kind == TENON_ATTRIBUTE_INTS);
}

/* mean(x, axes), any, all, and the others where x is an element: of the first value. */
static tenon_status_t call_reduction(call_t* c, value_t* out) {
  static const struct {
    const char* name;
    uint32_t opcode;
    bool of_bool;
  } reductions[] = {
      {"sum", TENON_OPCODE_SUM, false},        {"prod", TENON_OPCODE_PROD, false},
      {"mean", TENON_OPCODE_MEAN, false},      {"min", TENON_OPCODE_REDUCE_MIN, false},
      {"max", TENON_OPCODE_REDUCE_MAX, false}, {"any", TENON_OPCODE_REDUCE_MAX, true},
      {"all", TENON_OPCODE_REDUCE_MIN, true}};
  environment_t* e = c->e;
  const syntax_t* call = c->syntax;
  uint32_t row = 0;
  uint32_t code = 0;
  uint64_t mask = 0;
  while (strcmp(reductions[row].name, call->text) != 0) {
    ++row;
  }
  TENON_TRY(tenon__value_instruction(e, call, &c->values[0], &code));
  const tenon_dtype_t type = tenon__builder_type(&e->program->builder, code);
  if (reductions[row].of_bool ? type != TENON_DTYPE_BOOL
                              : strchr("fiu", tenon__dtype_class(type)) == NULL) {
    return tenon__language_refuse(e, call, "'%s' does not take %s", call->text,
                                  tenon__dtype_name(type));
  }
  TENON_TRY(tenon__space_axes(e, call->children[1], &mask));
  e->program->reduces = true;
  if (mask != 0 || e->program->dry) { /* else there is nothing to reduce along */
    code = tenon__emit_immediate(&e->program->builder, reductions[row].opcode, type, code,
                                 (int64_t)mask);
  }
  return tenon__instruction_give(e, code, out);
}

/* sum, prod: of elements along axes, or of a list's items */
static tenon_status_t call_sum(call_t* c, value_t* out) {
  if (c->values[0].kind == TENON_LANGUAGE_LIST) {
    return tenon__sum_items(c, out);
  }
  if (c->e->program == NULL || c->syntax->child_count != 2) {
    return tenon__language_refuse(c->e, c->syntax, "'%s' takes an element and axes, or a list",
                                  c->syntax->text);
  }
  return call_reduction(c, out);
}

/* min, max: along axes, where the first of two is an element and the second names axes. */
static tenon_status_t call_extremum(call_t* c, value_t* out) {
  environment_t* e = c->e;
  const syntax_t* call = c->syntax;
  const uint32_t opcode = call->text[1] == 'i' ? TENON_OPCODE_MIN : TENON_OPCODE_MAX;
  if (tenon__value_is_element(&c->values[0]) && call->child_count == 2 &&
      names_axes(e, call->children[1])) {
    return call_reduction(c, out);
  }
  value_t operands[2] = {c->values[0], {0}};
  for (uint32_t i = 1; i < call->child_count; ++i) {
    TENON_TRY(e->evaluate(e, call->children[i], &operands[1]));
    TENON_TRY(tenon__language_operation(e, call, opcode, operands, &operands[0]));
  }
  *out = operands[0];
  return TENON_OK;
}

const tenon__function_t tenon__program_functions[] = {
    {"sum", 1, 3, "v", call_sum, false},       {"prod", 1, 3, "v", call_sum, false},
    {"min", 1, 64, "v", call_extremum, false}, {"max", 1, 64, "v", call_extremum, false},
    {"mean", 2, 2, "v", call_reduction, true}, {"any", 2, 2, "v", call_reduction, true},
    {"all", 2, 2, "v", call_reduction, true},  {"fold", 2, 2, "", call_fold, true},
    {"along", 2, 2, "", call_along, true},     {"cast", 2, 2, "v", call_cast, true},
    {"lowest", 1, 1, "", call_limit, true},    {"highest", 1, 1, "", call_limit, true},
    {"index", 1, 1, "", call_index, true},     {"size", 1, 1, "", call_size, true},
    {"random", 2, 2, "vv", call_random, true}, {NULL, 0, 0, NULL, NULL, false},
};
