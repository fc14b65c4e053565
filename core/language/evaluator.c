/* One kind of syntax after the other. */
#include "core/language/evaluator.h"

#include <string.h>

#include "core/base/status.h"
#include "core/language/functions.h"
#include "core/language/named_tensor.h"
#include "core/language/operation.h"
#include "core/language/program_input.h"
#include "core/tensor/dtype.h"

enum { DEPTH_LIMIT = 512 };

typedef tenon__environment_t environment_t;
typedef tenon__language_value_t value_t;
typedef tenon__syntax_t syntax_t;

/* A let that saw no loop variable keeps its value for good. */
static tenon_status_t let_value(environment_t* e, uint32_t index, value_t* out_value) {
  tenon__let_t* let = &e->lets[index];
  if (let->evaluated && (let->round == TENON_NONE || let->round == e->round)) {
    e->saw_loop = e->saw_loop || let->round != TENON_NONE;
    *out_value = let->value;
    return TENON_OK;
  }
  const uint32_t end = e->let_end;
  const bool saw_loop = e->saw_loop;
  e->let_end = index;
  e->saw_loop = false;
  const tenon_status_t status =
      tenon__language_evaluate(e, e->text->statements[index].value, &let->value);
  let->evaluated = status == TENON_OK;
  let->round = e->saw_loop ? e->round : TENON_NONE;
  e->let_end = end;
  e->saw_loop = e->saw_loop || saw_loop;
  *out_value = let->value;
  return status;
}

static tenon_status_t attribute_value(const environment_t* e, const syntax_t* syntax,
                                      const tenon__scope_attribute_t* attribute,
                                      value_t* out_value) {
  switch (attribute->kind) {
    case TENON_ATTRIBUTE_INT:
      *out_value = tenon__value_of_integer(attribute->integer);
      return TENON_OK;
    case TENON_ATTRIBUTE_FLOAT:
      *out_value = tenon__value_of_real(attribute->number);
      return TENON_OK;
    case TENON_ATTRIBUTE_STRING:
      *out_value = tenon__value_of_text(attribute->string != NULL ? attribute->string : "");
      return TENON_OK;
    case TENON_ATTRIBUTE_DTYPE:
      *out_value = tenon__value_of_text(tenon__dtype_name((tenon_dtype_t)attribute->integer));
      return TENON_OK;
    case TENON_ATTRIBUTE_INTS:
    case TENON_ATTRIBUTE_FLOATS: {
      const bool is_ints = attribute->kind == TENON_ATTRIBUTE_INTS;
      *out_value = (value_t){.kind = TENON_LANGUAGE_LIST,
                             .integers = is_ints ? attribute->integers : NULL,
                             .reals = is_ints ? NULL : attribute->numbers,
                             .count = (uint32_t)attribute->count};
      return TENON_OK;
    }
    default:
      return tenon__language_refuse(e, syntax, "attribute '%s' is of a kind that texts cannot read",
                                    attribute->name);
  }
}

/* An input's element where a program is made, the contents of any port elsewhere. */
static tenon_status_t port_value(environment_t* e, const syntax_t* syntax, value_t* out_value) {
  const tenon__scope_port_t* input = tenon__scope_input(e->scope, syntax->text);
  if (e->program == NULL || input == NULL) {
    return tenon__tensor_contents(e, syntax, out_value);
  }
  if (input->count > 1) {
    return tenon__language_refuse(e, syntax, "'%s' has %u items: take one, %s[0], or fold(add, %s)",
                                  input->name, input->count, input->name, input->name);
  }
  return tenon__program_element(e, syntax, input, 0, TENON_NONE, out_value);
}

static tenon_status_t name_value(environment_t* e, const syntax_t* syntax, value_t* out_value) {
  for (uint32_t i = e->let_end; i > 0; --i) {
    const tenon__statement_t* statement = &e->text->statements[i - 1];
    if (statement->is_let && strcmp(statement->target, syntax->text) == 0) {
      return let_value(e, i - 1, out_value);
    }
  }
  for (uint32_t i = 0; i < TENON__LOOP_COUNT; ++i) {
    if (e->loop_names[i] != NULL && strcmp(e->loop_names[i], syntax->text) == 0) {
      e->saw_loop = true;
      *out_value = tenon__value_of_integer(e->loop_values[i]);
      return TENON_OK;
    }
  }
  const tenon__scope_attribute_t* attribute = tenon__scope_attribute(e->scope, syntax->text);
  if (attribute != NULL) {
    return attribute_value(e, syntax, attribute, out_value);
  }
  if (tenon__names_port(e, syntax)) {
    return port_value(e, syntax, out_value);
  }
  const bool is_true = strcmp(syntax->text, "true") == 0;
  if (is_true || strcmp(syntax->text, "false") == 0) {
    *out_value = tenon__value_of_truth(is_true);
    return TENON_OK;
  }
  return tenon__language_refuse(
      e, syntax, "unknown name '%s': no let above, input, output or attribute has it",
      syntax->text);
}

/* An item of a list; where a program is made, the element of an item of a variadic input. */
static tenon_status_t index_value(environment_t* e, const syntax_t* syntax, value_t* out_value) {
  const syntax_t* what = syntax->children[0];
  value_t list = {0};
  int64_t index = 0;
  if (e->program != NULL && tenon__names_port(e, what)) {
    tenon__named_tensor_t tensor = {0};
    TENON_TRY(tenon__named_tensor(e, syntax, &tensor));
    return tenon__program_element(e, syntax, tensor.port, tensor.item, TENON_NONE, out_value);
  }
  TENON_TRY(tenon__language_list(e, what, &list));
  TENON_TRY(tenon__language_known(e, syntax->children[1], &index));
  if (index < 0 || index >= (int64_t)list.count) {
    return tenon__language_refuse(e, syntax, "the list has %u items, there is no item %lld",
                                  list.count, (long long)index);
  }
  *out_value = tenon__language_item(e, &list, (uint32_t)index);
  return TENON_OK;
}

static tenon_status_t list_value(environment_t* e, const syntax_t* syntax, value_t* out_value) {
  tenon_dim_t* dims = tenon__arena_allocate(e->arena, syntax->child_count + 1u, sizeof(*dims));
  TENON_TRY_MEMORY(dims != NULL);
  for (uint32_t i = 0; i < syntax->child_count; ++i) {
    TENON_TRY(tenon__language_number(e, syntax->children[i], &dims[i]));
  }
  *out_value = tenon__value_of_dims(dims, syntax->child_count);
  return TENON_OK;
}

static tenon_status_t unary_value(environment_t* e, const syntax_t* syntax, value_t* out_value) {
  value_t operand = {0};
  TENON_TRY(tenon__language_evaluate(e, syntax->children[0], &operand));
  return syntax->op == '-'
             ? tenon__language_operation(e, syntax, TENON_OPCODE_NEG, &operand, out_value)
             : tenon__language_not(e, syntax, &operand, out_value);
}

/* The right side of && and || is not looked at when the left one decides. */
static tenon_status_t binary_value(environment_t* e, const syntax_t* syntax, value_t* out_value) {
  const bool both = syntax->op == 'A';
  const bool joins = both || syntax->op == 'O';
  value_t sides[2] = {{0}, {0}};
  TENON_TRY(tenon__language_evaluate(e, syntax->children[0], &sides[0]));
  if (joins && tenon__value_is_known(&sides[0]) && (sides[0].integer != 0) != both) {
    *out_value = tenon__value_of_truth(!both);
    return TENON_OK;
  }
  TENON_TRY(tenon__language_evaluate(e, syntax->children[1], &sides[1]));
  return joins ? tenon__language_join(e, syntax, both, sides, out_value)
               : tenon__language_binary(e, syntax, syntax->op, sides, out_value);
}

/* c ? a : b and select(c, a, b) */
static tenon_status_t choice_value(environment_t* e, const syntax_t* syntax, value_t* out_value) {
  value_t operands[3] = {{0}, {0}, {0}};
  TENON_TRY(tenon__language_evaluate(e, syntax->children[0], &operands[0]));
  if (tenon__value_is_known(&operands[0])) {
    return tenon__language_evaluate(e, syntax->children[operands[0].integer != 0 ? 1 : 2],
                                    out_value);
  }
  TENON_TRY(tenon__language_evaluate(e, syntax->children[1], &operands[1]));
  TENON_TRY(tenon__language_evaluate(e, syntax->children[2], &operands[2]));
  return tenon__language_select(e, syntax, operands, out_value);
}

static tenon_status_t syntax_value(environment_t* e, const syntax_t* syntax, value_t* out_value) {
  switch (syntax->kind) {
    case TENON_SYNTAX_INTEGER:
      *out_value = tenon__value_of_integer(syntax->integer);
      return TENON_OK;
    case TENON_SYNTAX_FLOAT:
      *out_value = tenon__value_of_real(syntax->number);
      return TENON_OK;
    case TENON_SYNTAX_STRING:
      *out_value = tenon__value_of_text(syntax->text);
      return TENON_OK;
    case TENON_SYNTAX_NAME:
      return name_value(e, syntax, out_value);
    case TENON_SYNTAX_CALL:
      return strcmp(syntax->text, "select") == 0 && syntax->child_count == 3
                 ? choice_value(e, syntax, out_value)
                 : tenon__language_call(e, syntax, out_value);
    case TENON_SYNTAX_INDEX:
      return index_value(e, syntax, out_value);
    case TENON_SYNTAX_UNARY:
      return unary_value(e, syntax, out_value);
    case TENON_SYNTAX_BINARY:
      return binary_value(e, syntax, out_value);
    case TENON_SYNTAX_SELECT:
      return choice_value(e, syntax, out_value);
    case TENON_SYNTAX_LIST:
      return list_value(e, syntax, out_value);
    default:
      return tenon__language_refuse(e, syntax, "a range stands only for axes, and in o(p..q)");
  }
}

tenon_status_t tenon__language_evaluate(environment_t* e, const syntax_t* syntax,
                                        value_t* out_value) {
  if (e->depth >= DEPTH_LIMIT) {
    return tenon__language_refuse(e, syntax, "lets and parentheses nest more than %d deep",
                                  DEPTH_LIMIT);
  }
  ++e->depth;
  const tenon_status_t status = syntax_value(e, syntax, out_value);
  --e->depth;
  return status;
}

tenon_status_t tenon__language_begin(const tenon__node_text_t* text,
                                     environment_t* out_environment) {
  *out_environment = (environment_t){.scope = text->scope,
                                     .pool = text->scope->pool,
                                     .arena = text->arena,
                                     .sink = text->sink,
                                     .text = text->text,
                                     .evaluate = tenon__language_evaluate};
  return tenon__environment_forget_lets(out_environment);
}
