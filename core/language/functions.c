/* The tables of functions, and those that take numbers of any kind. */
#include "core/language/functions.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_pool.h"
#include "core/language/list_functions.h"
#include "core/language/operation.h"
#include "core/language/program_functions.h"
#include "core/language/shape_functions.h"

typedef tenon__function_call_t call_t;
typedef tenon__environment_t environment_t;
typedef tenon__language_value_t value_t;
typedef tenon__syntax_t syntax_t;

static tenon_status_t call_wrap(call_t* c, value_t* out) {
  return tenon__language_wrap(c->e, c->syntax, c->values, out);
}

static tenon_status_t call_clamp(call_t* c, value_t* out) {
  value_t high[2] = {{0}, c->values[2]};
  TENON_TRY(tenon__language_operation(c->e, c->syntax, TENON_OPCODE_MAX, c->values, &high[0]));
  return tenon__language_operation(c->e, c->syntax, TENON_OPCODE_MIN, high, out);
}

/* (a + b - 1) / b for a positive b, -(-a / b) in general. */
static tenon_status_t call_ceil_div(call_t* c, value_t* out) {
  tenon__dim_pool_t* pool = c->e->pool;
  const tenon_dim_t a = c->values[0].dim;
  const tenon_dim_t b = c->values[1].dim;
  int64_t low = 0;
  int64_t high = 0;
  tenon__dim_range(pool, b, &low, &high);
  const tenon_dim_t zero = tenon__dim_constant(pool, 0);
  const tenon_dim_t one = tenon__dim_constant(pool, 1);
  const tenon_dim_t dividend =
      low > 0 ? tenon__dim_add(pool, a, tenon__dim_combine(pool, TENON_OPCODE_SUB, b, one))
              : tenon__dim_combine(pool, TENON_OPCODE_SUB, zero, a);
  const tenon_dim_t quotient = tenon__dim_combine(pool, TENON_OPCODE_FLOOR_DIV, dividend, b);
  return tenon__language_give(
      c->e, c->syntax,
      low > 0 ? quotient : tenon__dim_combine(pool, TENON_OPCODE_SUB, zero, quotient), out);
}

static const tenon__function_t number_functions[] = {
    {"wrap", 2, 2, "vv", call_wrap, false},
    {"clamp", 3, 3, "vvv", call_clamp, false},
    {"ceil_div", 2, 2, "nn", call_ceil_div, false},
    {NULL, 0, 0, NULL, NULL, false},
};

static const tenon__function_t* find_function(const char* name) {
  static const tenon__function_t* const tables[] = {tenon__shape_functions, tenon__list_functions,
                                                    number_functions, tenon__program_functions};
  for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); ++i) {
    for (const tenon__function_t* function = tables[i]; function->name != NULL; ++function) {
      if (strcmp(function->name, name) == 0) {
        return function;
      }
    }
  }
  return NULL;
}

/* RANDOM for none: that one is in a table. */
static uint32_t find_opcode(const char* name) {
  uint32_t opcode = TENON_OPCODE_ADD;
  while (opcode < TENON_OPCODE_RANDOM && strcmp(tenon__opcode_name(opcode), name) != 0) {
    ++opcode;
  }
  return opcode;
}

bool tenon__language_has_function(const char* name) {
  return find_function(name) != NULL || find_opcode(name) != TENON_OPCODE_RANDOM ||
         strcmp(name, "broadcast") == 0;
}

static tenon_status_t take_argument(call_t* c, char kind, uint32_t at) {
  const syntax_t* argument = c->syntax->children[at];
  value_t* value = &c->values[at];
  switch (kind) {
    case 't':
      return tenon__named_tensor(c->e, argument, &c->tensor);
    case 'r':
      return tenon__ranked_tensor(c->e, argument, &c->tensor);
    case 'l':
      return tenon__language_list(c->e, argument, value);
    case 'k':
      return tenon__language_known(c->e, argument, &value->integer);
    case 'n':
      return tenon__language_number(c->e, argument, &value->dim);
    default:
      return c->e->evaluate(c->e, argument, value);
  }
}

static tenon_status_t take_arguments(call_t* c, uint32_t least, uint32_t most, const char* takes) {
  const syntax_t* call = c->syntax;
  if (call->child_count < least || call->child_count > most) {
    return least == most
               ? tenon__language_refuse(c->e, call, "'%s' takes %u argument%s, not %u", call->text,
                                        least, least == 1 ? "" : "s", call->child_count)
               : tenon__language_refuse(c->e, call, "'%s' takes %u to %u arguments, not %u",
                                        call->text, least, most, call->child_count);
  }
  for (uint32_t i = 0; i < call->child_count && takes[i] != '\0'; ++i) {
    TENON_TRY(take_argument(c, takes[i], i));
  }
  return TENON_OK;
}

tenon_status_t tenon__language_call(environment_t* e, const syntax_t* call, value_t* out_value) {
  const tenon__function_t* function = find_function(call->text);
  const uint32_t opcode = function == NULL ? find_opcode(call->text) : TENON_OPCODE_NOP;
  const uint32_t count = tenon__opcode_operand_count(opcode);
  call_t c = {.e = e, .syntax = call};
  if (opcode == TENON_OPCODE_RANDOM) {
    return tenon__language_refuse(e, call, "unknown function '%s'", call->text);
  }
  if (function == NULL) {
    TENON_TRY(take_arguments(&c, count, count, "vvv"));
    return tenon__language_operation(e, call, opcode, c.values, out_value);
  }
  if (function->of_elements && e->program == NULL) {
    return tenon__language_refuse(e, call, "'%s' works on elements, which only expressions have",
                                  call->text);
  }
  TENON_TRY(take_arguments(&c, function->least, function->most, function->takes));
  return function->call(&c, out_value);
}
