/* Expressions of the text, one kind of syntax each. */
#include "core/language/instantiate_worth.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/status.h"
#include "core/language/instantiate.h"
#include "core/language/instantiate_functions.h"
#include "core/language/instantiate_inputs.h"
#include "core/language/instantiate_types.h"

enum { MESSAGE_SIZE = 512, DEPTH_LIMIT = 512 };

tenon_status_t tenon__worth_fail(const tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 tenon_status_t status, const char* format, ...) {
  char message[MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  return tenon__fail(in->sink, status, "column %u: %s", syntax->position + 1, message);
}

tenon_status_t tenon__worth_integer(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                    int64_t* out_value) {
  tenon__worth_t worth = {0};
  TENON_TRY(tenon__worth_evaluate(in, syntax, &worth));
  if (worth.kind != TENON_WORTH_INTEGER && worth.kind != TENON_WORTH_BOOL) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA,
                             "a known integer is expected here");
  }
  *out_value = worth.integer;
  return TENON_OK;
}

static uint32_t opcode_of(char op) {
  switch (op) {
    case '+':
      return TENON_OPCODE_ADD;
    case '-':
      return TENON_OPCODE_SUB;
    case '*':
      return TENON_OPCODE_MUL;
    case '/':
      return TENON_OPCODE_DIV;
    case '%':
      return TENON_OPCODE_MOD;
    case '|':
      return TENON_OPCODE_OR;
    case '^':
      return TENON_OPCODE_XOR;
    case '&':
      return TENON_OPCODE_AND;
    case 'E':
      return TENON_OPCODE_EQ;
    case 'N':
      return TENON_OPCODE_NE;
    case '<':
      return TENON_OPCODE_LT;
    case 'L':
      return TENON_OPCODE_LE;
    case '>':
      return TENON_OPCODE_GT;
    default:
      return TENON_OPCODE_GE;
  }
}

/* && and ||: what the known left side decides leaves the right one alone. */
static tenon_status_t logical_worth(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                    tenon__worth_t* out_worth) {
  const bool both = syntax->op == 'A';
  tenon__worth_t sides[2] = {0};
  TENON_TRY(tenon__worth_evaluate(in, syntax->children[0], &sides[0]));
  if (sides[0].kind == TENON_WORTH_BOOL && (sides[0].integer != 0) != both) {
    *out_worth = sides[0];
    return TENON_OK;
  }
  TENON_TRY(tenon__worth_evaluate(in, syntax->children[1], &sides[1]));
  for (int i = 0; i < 2; ++i) {
    if (sides[i].kind ==
        TENON_WORTH_BOOL) { /* on the left it decides nothing; on the right it may */
      *out_worth = (sides[i].integer != 0) == both ? sides[1 - i] : sides[i];
      return TENON_OK;
    }
  }
  uint32_t codes[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    TENON_TRY(tenon__worth_typed(in, syntax->children[i], &sides[i], TENON_DTYPE_BOOL, &codes[i]));
  }
  *out_worth = tenon__code_worth(tenon__emit_operation(&in->builder,
                                                       both ? TENON_OPCODE_AND : TENON_OPCODE_OR,
                                                       TENON_DTYPE_BOOL, codes[0], codes[1], 0));
  return in->builder.failed ? tenon__fail_memory(in->sink) : TENON_OK;
}

static tenon_status_t binary_worth(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                   tenon__worth_t* out_worth) {
  if (syntax->op == 'A' || syntax->op == 'O') {
    return logical_worth(in, syntax, out_worth);
  }
  tenon__worth_t sides[2] = {0};
  TENON_TRY(tenon__worth_evaluate(in, syntax->children[0], &sides[0]));
  TENON_TRY(tenon__worth_evaluate(in, syntax->children[1], &sides[1]));
  if (sides[0].kind == TENON_WORTH_TEXT && sides[1].kind == TENON_WORTH_TEXT &&
      (syntax->op == 'E' || syntax->op == 'N')) {
    *out_worth =
        tenon__bool_worth((strcmp(sides[0].text, sides[1].text) == 0) == (syntax->op == 'E'));
    return TENON_OK;
  }
  return tenon__worth_operation(in, syntax, opcode_of(syntax->op), sides, out_worth);
}

static tenon_status_t attribute_worth(const tenon__instantiation_t* in,
                                      const tenon__syntax_t* syntax,
                                      const tenon__scope_attribute_t* attribute,
                                      tenon__worth_t* out_worth) {
  switch (attribute->kind) {
    case TENON_ATTRIBUTE_INT:
      *out_worth = tenon__integer_worth(attribute->integer);
      return TENON_OK;
    case TENON_ATTRIBUTE_FLOAT:
      *out_worth = tenon__float_worth(attribute->number);
      return TENON_OK;
    case TENON_ATTRIBUTE_STRING:
      *out_worth = (tenon__worth_t){.kind = TENON_WORTH_TEXT,
                                    .text = attribute->string != NULL ? attribute->string : ""};
      return TENON_OK;
    case TENON_ATTRIBUTE_DTYPE:
      *out_worth = (tenon__worth_t){.kind = TENON_WORTH_TEXT,
                                    .text = tenon__dtype_name((tenon_dtype_t)attribute->integer)};
      return TENON_OK;
    case TENON_ATTRIBUTE_INTS:
    case TENON_ATTRIBUTE_FLOATS:
      *out_worth = (tenon__worth_t){.kind = TENON_WORTH_LIST,
                                    .integers = attribute->integers,
                                    .reals = attribute->numbers,
                                    .count = (uint32_t)attribute->count};
      if (attribute->kind == TENON_ATTRIBUTE_INTS) {
        out_worth->reals = NULL;
      }
      return TENON_OK;
    default:
      return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA,
                               "attribute '%s' has no value here", attribute->name);
  }
}

static tenon_status_t let_worth(tenon__instantiation_t* in, uint32_t index,
                                tenon__worth_t* out_worth) {
  if (!in->let_done[index]) {
    const uint32_t end = in->let_end;
    in->let_end = index;
    const tenon_status_t status =
        tenon__worth_evaluate(in, in->text->statements[index].value, &in->lets[index]);
    in->let_end = end;
    TENON_TRY(status);
    in->let_done[index] = true;
  }
  *out_worth = in->lets[index];
  return TENON_OK;
}

static tenon_status_t name_worth(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 tenon__worth_t* out_worth) {
  for (uint32_t i = in->let_end; i > 0; --i) {
    const tenon__statement_t* statement = &in->text->statements[i - 1];
    if (statement->is_let && strcmp(statement->target, syntax->text) == 0) {
      return let_worth(in, i - 1, out_worth);
    }
  }
  const tenon__scope_port_t* port = tenon__find_input(in->scope, syntax->text);
  if (port != NULL && port->count > 1) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA,
                             "'%s' has %u items: fold them, or name one", port->name, port->count);
  }
  if (port != NULL) {
    return tenon__worth_input(in, syntax, port, 0, TENON_NONE, out_worth);
  }
  for (uint32_t i = 0; i < in->scope->attribute_count; ++i) {
    if (strcmp(in->scope->attributes[i].name, syntax->text) == 0) {
      return attribute_worth(in, syntax, &in->scope->attributes[i], out_worth);
    }
  }
  if (strcmp(syntax->text, "true") == 0 || strcmp(syntax->text, "false") == 0) {
    *out_worth = tenon__bool_worth(syntax->text[0] == 't');
    return TENON_OK;
  }
  return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA, "'%s' is nothing here",
                           syntax->text);
}

/* An item of a list, or of a variadic input. */
static tenon_status_t index_worth(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                  tenon__worth_t* out_worth) {
  const tenon__syntax_t* what = syntax->children[0];
  int64_t index = 0;
  TENON_TRY(tenon__worth_integer(in, syntax->children[1], &index));
  const tenon__scope_port_t* port =
      what->kind == TENON_SYNTAX_NAME ? tenon__find_input(in->scope, what->text) : NULL;
  if (port != NULL) {
    if (index < 0 || index >= (int64_t)port->count) {
      return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA, "item %lld of %u of '%s'",
                               (long long)index, port->count, port->name);
    }
    return tenon__worth_input(in, syntax, port, (uint32_t)index, TENON_NONE, out_worth);
  }
  tenon__worth_t list = {0};
  TENON_TRY(tenon__worth_evaluate(in, what, &list));
  if (list.kind != TENON_WORTH_LIST || index < 0 || index >= (int64_t)list.count) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA,
                             list.kind == TENON_WORTH_LIST ? "item %lld is beyond the list's end"
                                                           : "item %lld of what is no list",
                             (long long)index);
  }
  *out_worth = list.reals != NULL ? tenon__float_worth(list.reals[index])
                                  : tenon__integer_worth(list.integers[index]);
  return TENON_OK;
}

static tenon_status_t unary_worth(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                  tenon__worth_t* out_worth) {
  tenon__worth_t operand = {0};
  TENON_TRY(tenon__worth_evaluate(in, syntax->children[0], &operand));
  if (syntax->op == '-') {
    return tenon__worth_operation(in, syntax, TENON_OPCODE_NEG, &operand, out_worth);
  }
  if (operand.kind == TENON_WORTH_BOOL) {
    *out_worth = tenon__bool_worth(operand.integer == 0);
    return TENON_OK;
  }
  uint32_t code = 0;
  TENON_TRY(tenon__worth_typed(in, syntax, &operand, TENON_DTYPE_BOOL, &code));
  *out_worth = tenon__code_worth(
      tenon__emit_operation(&in->builder, TENON_OPCODE_NOT, TENON_DTYPE_BOOL, code, 0, 0));
  return in->builder.failed ? tenon__fail_memory(in->sink) : TENON_OK;
}

static tenon_status_t choice_worth(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                   tenon__worth_t* out_worth) {
  tenon__worth_t operands[3] = {0};
  TENON_TRY(tenon__worth_evaluate(in, syntax->children[0], &operands[0]));
  if (operands[0].kind == TENON_WORTH_BOOL) {
    return tenon__worth_evaluate(in, syntax->children[operands[0].integer != 0 ? 1 : 2], out_worth);
  }
  TENON_TRY(tenon__worth_evaluate(in, syntax->children[1], &operands[1]));
  TENON_TRY(tenon__worth_evaluate(in, syntax->children[2], &operands[2]));
  return tenon__worth_select(in, syntax, operands, out_worth);
}

static tenon_status_t kind_worth(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 tenon__worth_t* out_worth) {
  switch (syntax->kind) {
    case TENON_SYNTAX_INTEGER:
      *out_worth = tenon__integer_worth(syntax->integer);
      return TENON_OK;
    case TENON_SYNTAX_FLOAT:
      *out_worth = tenon__float_worth(syntax->number);
      return TENON_OK;
    case TENON_SYNTAX_STRING:
      *out_worth = (tenon__worth_t){.kind = TENON_WORTH_TEXT, .text = syntax->text};
      return TENON_OK;
    case TENON_SYNTAX_NAME:
      return name_worth(in, syntax, out_worth);
    case TENON_SYNTAX_CALL:
      return tenon__worth_call(in, syntax, out_worth);
    case TENON_SYNTAX_INDEX:
      return index_worth(in, syntax, out_worth);
    case TENON_SYNTAX_UNARY:
      return unary_worth(in, syntax, out_worth);
    case TENON_SYNTAX_BINARY:
      return binary_worth(in, syntax, out_worth);
    case TENON_SYNTAX_SELECT:
      return choice_worth(in, syntax, out_worth);
    default:
      return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA,
                               "a list or a range has no value here");
  }
}

tenon_status_t tenon__worth_evaluate(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                     tenon__worth_t* out_worth) {
  if (in->depth >= DEPTH_LIMIT) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA,
                             "definitions lean on one another too deeply");
  }
  ++in->depth;
  const tenon_status_t status = kind_worth(in, syntax, out_worth);
  --in->depth;
  return status;
}
