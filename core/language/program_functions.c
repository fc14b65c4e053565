/* Functions on elements. */
#include "core/language/program_functions.h"

#include <math.h>
#include <string.h>

#include "core/base/status.h"
#include "core/language/list_functions.h"
#include "core/language/operation.h"
#include "core/language/program_input.h"
#include "core/language/scope_lookup.h"
#include "core/language/typed_value.h"
#include "core/tensor/dtype.h"
#include "core/tensor/small_float.h"

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

/* A packed integer is held in 8 bits: brings a value of that width into the narrow range. */
static uint32_t narrow_code(environment_t* e, uint32_t code, tenon_dtype_t stored,
                            tenon_dtype_t type) {
  const uint32_t bits = tenon__dtype_bits(stored);
  if (tenon__dtype_class(stored) == 'u') {
    const tenon__scalar_t mask = {.i = (INT64_C(1) << bits) - 1};
    return tenon__emit_operation(&e->program->builder, TENON_OPCODE_AND, type, code,
                                 tenon__emit_constant(&e->program->builder, type, mask), 0);
  }
  const uint32_t shift =
      tenon__emit_constant(&e->program->builder, type, (tenon__scalar_t){.i = 8 - (int64_t)bits});
  const uint32_t up =
      tenon__emit_operation(&e->program->builder, TENON_OPCODE_SHL, type, code, shift, 0);
  return tenon__emit_operation(&e->program->builder, TENON_OPCODE_SHR, type, up, shift, 0);
}

/* A float that shall become a packed integer saturates at that type's limits, not at those of 8
 * bits. */
static uint32_t saturate_code(environment_t* e, uint32_t code, tenon_dtype_t stored,
                              tenon_dtype_t from) {
  const uint32_t bits = tenon__dtype_bits(stored);
  const bool is_signed = tenon__dtype_class(stored) == 'i';
  const tenon__scalar_t low = {.f = is_signed ? -ldexp(1.0, (int)bits - 1) : 0.0};
  const tenon__scalar_t high = {.f = ldexp(1.0, (int)bits - (is_signed ? 1 : 0)) - 1.0};
  const uint32_t not_number =
      tenon__emit_operation(&e->program->builder, TENON_OPCODE_MAX, from, code,
                            tenon__emit_constant(&e->program->builder, from, low), 0);
  return tenon__emit_operation(&e->program->builder, TENON_OPCODE_MIN, from, not_number,
                               tenon__emit_constant(&e->program->builder, from, high), 0);
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
static uint32_t cast_code(environment_t* e, uint32_t code, tenon_dtype_t from,
                          tenon_dtype_t stored) {
  const tenon_dtype_t type = tenon__dtype_arithmetic(stored);
  const char kind = tenon__dtype_class(from);
  const bool packed = tenon__dtype_class(stored) != 'f' && tenon__dtype_bits(stored) < 8;
  if (packed && kind == 'f') {
    code = saturate_code(e, code, stored, from);
  }
  code = tenon__emit_cast(&e->program->builder, code, type);
  return packed && kind != 'f' && kind != 'b' ? narrow_code(e, code, stored, type) : code;
}

tenon_status_t tenon__call_cast(environment_t* e, const syntax_t* call, value_t* out) {
  tenon_dtype_t stored = TENON_DTYPE_UNDEFINED;
  value_t operand = {0};
  uint32_t code = 0;
  TENON_TRY(type_argument(e, call->children[1], &stored));
  const tenon_dtype_t type = tenon__dtype_arithmetic(stored);
  const char kind = tenon__dtype_class(type);
  if (kind == 's' || kind == 'c') {
    return tenon__language_unsupported(e, call->children[1], "expressions cannot cast to %s",
                                       tenon__dtype_name(stored));
  }
  TENON_TRY(e->evaluate(e, call->children[0], &operand));
  if (takes_type(&operand, stored)) {
    TENON_TRY(tenon__value_typed(e, call, &operand, type, &code));
    return tenon__instruction_give(e, code, out);
  }
  TENON_TRY(tenon__value_instruction(e, call, &operand, &code));
  code = cast_code(e, code, tenon__builder_type(&e->program->builder, code), stored);
  TENON_TRY(tenon__instruction_give(e, code, out));
  if (kind == 'f' && stored != type && !is_element_of(e, code, stored)) {
    out->narrowed = stored;
  }
  return TENON_OK;
}

tenon_status_t tenon__call_limit(environment_t* e, const syntax_t* call, value_t* out) {
  const bool highest = call->text[0] == 'h';
  tenon_dtype_t stored = TENON_DTYPE_UNDEFINED;
  TENON_TRY(type_argument(e, call->children[0], &stored));
  const char kind = tenon__dtype_class(stored);
  tenon__scalar_t value = {.i = 0};
  if (kind == 'f') {
    value.f = highest ? tenon__float_highest(stored) : -tenon__float_highest(stored);
  } else if (kind == 'i' || kind == 'u') {
    const uint32_t bits = tenon__dtype_bits(stored) - (kind == 'i' ? 1u : 0u);
    const int64_t most = bits == 64 ? -1 : (int64_t)((UINT64_C(1) << bits) - 1u);
    value.i = highest ? most : kind == 'i' ? -most - 1 : 0;
  } else {
    return tenon__language_refuse(e, call->children[0], "%s has no %s number",
                                  tenon__dtype_name(stored), call->text);
  }
  return tenon__instruction_give(
      e, tenon__emit_constant(&e->program->builder, tenon__dtype_arithmetic(stored), value), out);
}

tenon_status_t tenon__call_index(environment_t* e, const syntax_t* call, value_t* out) {
  uint32_t axis = 0;
  TENON_TRY(tenon__space_axis(e, call->children[0], &axis));
  return tenon__instruction_give(e,
                                 tenon__emit_immediate(&e->program->builder, TENON_OPCODE_INDEX,
                                                       TENON_DTYPE_INT64, 0, (int64_t)axis),
                                 out);
}

tenon_status_t tenon__call_size(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__program_builder_t* builder = &e->program->builder;
  uint64_t mask = 0;
  uint32_t product = TENON_NONE;
  TENON_TRY(tenon__space_axes(e, call->children[0], &mask));
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
  return tenon__instruction_give(e, product, out);
}

tenon_status_t tenon__call_along(environment_t* e, const syntax_t* call, value_t* out) {
  const tenon__scope_port_t* port = NULL;
  uint32_t axis = 0;
  TENON_TRY(port_argument(e, call->children[0], &port));
  TENON_TRY(tenon__space_axis(e, call->children[1], &axis));
  return tenon__program_element_along(e, call, port, axis, out);
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

tenon_status_t tenon__call_fold(environment_t* e, const syntax_t* call, value_t* out) {
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
    TENON_TRY(tenon__program_element(e, call, port, i, count == 0 ? out : &sides[1]));
    if (count++ > 0) {
      TENON_TRY(tenon__language_operation(e, call, opcode, sides, out));
    }
  }
  return count > 0 ? TENON_OK : tenon__language_refuse(e, call, "'%s' has no items", port->name);
}

/* Key or counter as u64. */
static tenon_status_t random_argument(environment_t* e, const syntax_t* argument,
                                      uint32_t* out_code) {
  value_t operand = {0};
  uint32_t code = 0;
  TENON_TRY(e->evaluate(e, argument, &operand));
  if (operand.kind == TENON_LANGUAGE_INTEGER) {
    return tenon__value_typed(e, argument, &operand, TENON_DTYPE_UINT64, out_code);
  }
  TENON_TRY(tenon__value_instruction(e, argument, &operand, &code));
  const tenon_dtype_t type = tenon__builder_type(&e->program->builder, code);
  if (tenon__dtype_class(type) != 'i' && tenon__dtype_class(type) != 'u') {
    return tenon__language_refuse(e, argument, "key and counter are integers");
  }
  *out_code = tenon__emit_cast(&e->program->builder, code, TENON_DTYPE_UINT64);
  return TENON_OK;
}

tenon_status_t tenon__call_random(environment_t* e, const syntax_t* call, value_t* out) {
  uint32_t codes[2] = {0, 0};
  TENON_TRY(random_argument(e, call->children[0], &codes[0]));
  TENON_TRY(random_argument(e, call->children[1], &codes[1]));
  return tenon__instruction_give(e,
                                 tenon__emit_operation(&e->program->builder, TENON_OPCODE_RANDOM,
                                                       TENON_DTYPE_FLOAT32, codes[0], codes[1], 0),
                                 out);
}

bool tenon__names_axes(const environment_t* e, const syntax_t* syntax) {
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

static bool is_number(tenon_dtype_t type) {
  const char kind = tenon__dtype_class(type);
  return kind == 'f' || kind == 'i' || kind == 'u';
}

tenon_status_t tenon__reduce(environment_t* e, const syntax_t* call, const value_t* operand,
                             value_t* out_value) {
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
  uint32_t code = 0;
  uint64_t mask = 0;
  while (strcmp(reductions[row].name, call->text) != 0) {
    ++row;
  }
  TENON_TRY(tenon__value_instruction(e, call, operand, &code));
  const tenon_dtype_t type = tenon__builder_type(&e->program->builder, code);
  if (reductions[row].of_bool ? type != TENON_DTYPE_BOOL : !is_number(type)) {
    return tenon__language_refuse(e, call, "'%s' does not take %s", call->text,
                                  tenon__dtype_name(type));
  }
  TENON_TRY(tenon__space_axes(e, call->children[1], &mask));
  e->program->reduces = true;
  if (mask == 0 && !e->program->dry) {
    return tenon__instruction_give(e, code, out_value); /* nothing to reduce along */
  }
  return tenon__instruction_give(e,
                                 tenon__emit_immediate(&e->program->builder, reductions[row].opcode,
                                                       type, code, (int64_t)mask),
                                 out_value);
}

tenon_status_t tenon__call_reduction(environment_t* e, const syntax_t* call, value_t* out) {
  value_t operand = {0};
  TENON_TRY(e->evaluate(e, call->children[0], &operand));
  return tenon__reduce(e, call, &operand, out);
}

tenon_status_t tenon__call_sum(environment_t* e, const syntax_t* call, value_t* out) {
  value_t operand = {0};
  TENON_TRY(e->evaluate(e, call->children[0], &operand));
  if (operand.kind == TENON_LANGUAGE_LIST) {
    return tenon__sum_items(e, call, &operand, out);
  }
  if (e->program == NULL || call->child_count != 2) {
    return tenon__language_refuse(e, call, "'%s' takes an element and axes, or a list", call->text);
  }
  return tenon__reduce(e, call, &operand, out);
}
