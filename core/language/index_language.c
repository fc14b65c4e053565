/* The evaluator of the index language. Lets are evaluated when they are first named; one that saw
 * no loop variable keeps its value for good. */
#include "core/language/index_language.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"
#include "core/language/index_environment.h"
#include "core/language/index_functions.h"
#include "core/tensor/dtype.h"

tenon_status_t tenon__index_number(tenon__index_environment_t* environment,
                                   const tenon__syntax_t* syntax, tenon_dim_t* out_dim) {
  tenon__index_value_t value = {0};
  TENON_TRY(tenon__index_evaluate(environment, syntax, &value));
  if (value.kind != TENON_INDEX_NUMBER) {
    return tenon__index_fail(environment, syntax, TENON_ERROR_INVALID_DATA,
                             "an integer is expected here");
  }
  *out_dim = value.dim;
  return TENON_OK;
}

tenon_status_t tenon__index_known(tenon__index_environment_t* environment,
                                  const tenon__syntax_t* syntax, int64_t* out_value) {
  tenon_dim_t dim = TENON_DIM_INVALID;
  TENON_TRY(tenon__index_number(environment, syntax, &dim));
  if (!tenon__dim_known(environment->pool, dim, out_value)) {
    return tenon__index_fail(environment, syntax, TENON_ERROR_UNSUPPORTED,
                             "%s must be known when building",
                             tenon__dim_text(environment->pool, dim, environment->arena));
  }
  return TENON_OK;
}

/* The let of that name which an expression here may see. */
static uint32_t find_let(const tenon__index_environment_t* environment, const char* name) {
  for (uint32_t i = environment->let_end; i > 0; --i) {
    const tenon__statement_t* statement = &environment->text->statements[i - 1];
    if (statement->is_let && strcmp(statement->target, name) == 0) {
      return i - 1;
    }
  }
  return TENON_NONE;
}

static tenon_status_t evaluate_let(tenon__index_environment_t* environment, uint32_t index,
                                   tenon__index_value_t* out_value) {
  tenon__let_t* let = &environment->lets[index];
  if (let->evaluated && (let->round == TENON_NONE || let->round == environment->round)) {
    environment->saw_loop = environment->saw_loop || let->round != TENON_NONE;
    *out_value = let->value;
    return TENON_OK;
  }
  const uint32_t end = environment->let_end;
  const bool saw_loop = environment->saw_loop;
  environment->let_end = index;
  environment->saw_loop = false;
  const tenon_status_t status =
      tenon__index_evaluate(environment, environment->text->statements[index].value, &let->value);
  let->evaluated = status == TENON_OK;
  let->round = environment->saw_loop ? environment->round : TENON_NONE;
  environment->let_end = end;
  environment->saw_loop = environment->saw_loop || saw_loop;
  *out_value = let->value;
  return status;
}

static tenon_status_t attribute_value(tenon__index_environment_t* environment,
                                      const tenon__syntax_t* syntax,
                                      const tenon__scope_attribute_t* attribute,
                                      tenon__index_value_t* out_value) {
  tenon__index_value_t value = {.kind = TENON_INDEX_REAL, .count = (uint32_t)attribute->count};
  switch (attribute->kind) {
    case TENON_ATTRIBUTE_INT:
      return tenon__index_give(environment, syntax,
                               tenon__dim_constant(environment->pool, attribute->integer),
                               out_value);
    case TENON_ATTRIBUTE_FLOAT:
      value.real = attribute->number;
      break;
    case TENON_ATTRIBUTE_STRING:
      value.kind = TENON_INDEX_TEXT;
      value.text = attribute->string != NULL ? attribute->string : "";
      break;
    case TENON_ATTRIBUTE_DTYPE:
      value.kind = TENON_INDEX_TEXT;
      value.text = tenon__dtype_name((tenon_dtype_t)attribute->integer);
      break;
    case TENON_ATTRIBUTE_INTS:
      value.kind = TENON_INDEX_INTEGERS;
      value.integers = attribute->integers;
      break;
    case TENON_ATTRIBUTE_FLOATS:
      value.kind = TENON_INDEX_REALS;
      value.reals = attribute->numbers;
      break;
    default:
      return tenon__index_fail(environment, syntax, TENON_ERROR_INVALID_DATA,
                               "attribute '%s' has no value here", syntax->text);
  }
  *out_value = value;
  return TENON_OK;
}

/* A bare port name is the list of its contents. */
static tenon_status_t contents_value(tenon__index_environment_t* environment,
                                     const tenon__syntax_t* syntax,
                                     tenon__index_value_t* out_value) {
  tenon__index_tensor_t tensor = {0};
  TENON_TRY(tenon__index_tensor(environment, syntax, &tensor));
  if (tensor.value == NULL || tensor.value->contents == NULL) {
    return tenon__index_fail(environment, syntax, TENON_ERROR_UNSUPPORTED,
                             "the contents of '%s' must be known when building", tensor.port->name);
  }
  *out_value = (tenon__index_value_t){.kind = TENON_INDEX_DIMS,
                                      .count = tensor.value->content_count,
                                      .dims = tensor.value->contents};
  return TENON_OK;
}

static tenon_status_t name_value(tenon__index_environment_t* environment,
                                 const tenon__syntax_t* syntax, tenon__index_value_t* out_value) {
  const uint32_t let = find_let(environment, syntax->text);
  if (let != TENON_NONE) {
    return evaluate_let(environment, let, out_value);
  }
  for (uint32_t i = 0; i < TENON__INDEX_LOOPS; ++i) {
    if (environment->loop_names[i] != NULL &&
        strcmp(environment->loop_names[i], syntax->text) == 0) {
      environment->saw_loop = true;
      return tenon__index_give(environment, syntax, environment->loop_values[i], out_value);
    }
  }
  const tenon__scope_attribute_t* attribute =
      tenon__index_find_attribute(environment->scope, syntax->text);
  if (attribute != NULL) {
    return attribute_value(environment, syntax, attribute, out_value);
  }
  const bool is_true = strcmp(syntax->text, "true") == 0;
  if (is_true || strcmp(syntax->text, "false") == 0) {
    return tenon__index_give(environment, syntax,
                             tenon__dim_constant(environment->pool, is_true ? 1 : 0), out_value);
  }
  return contents_value(environment, syntax, out_value);
}

static tenon_status_t index_value(tenon__index_environment_t* environment,
                                  const tenon__syntax_t* syntax, tenon__index_value_t* out_value) {
  tenon__index_value_t list = {0};
  int64_t index = 0;
  TENON_TRY(tenon__index_evaluate(environment, syntax->children[0], &list));
  TENON_TRY(tenon__index_known(environment, syntax->children[1], &index));
  if (!tenon__index_is_list(&list)) {
    return tenon__index_fail(environment, syntax, TENON_ERROR_INVALID_DATA, "this is not a list");
  }
  if (index < 0 || index >= (int64_t)list.count) {
    return tenon__index_fail(environment, syntax, TENON_ERROR_INVALID_DATA,
                             "item %lld of a list of %u", (long long)index, list.count);
  }
  if (list.kind == TENON_INDEX_REALS) {
    *out_value =
        (tenon__index_value_t){.kind = TENON_INDEX_REAL, .real = list.reals[(uint32_t)index]};
    return TENON_OK;
  }
  return tenon__index_give(environment, syntax,
                           tenon__index_item(environment, &list, (uint32_t)index), out_value);
}

static tenon_status_t list_value(tenon__index_environment_t* environment,
                                 const tenon__syntax_t* syntax, tenon__index_value_t* out_value) {
  tenon_dim_t* dims =
      tenon__arena_allocate(environment->arena, syntax->child_count + 1u, sizeof(*dims));
  if (dims == NULL) {
    return tenon__fail_memory(environment->sink);
  }
  for (uint32_t i = 0; i < syntax->child_count; ++i) {
    TENON_TRY(tenon__index_number(environment, syntax->children[i], &dims[i]));
  }
  *out_value =
      (tenon__index_value_t){.kind = TENON_INDEX_DIMS, .count = syntax->child_count, .dims = dims};
  return TENON_OK;
}

/* 0 or 1 from any number. */
static tenon_dim_t truth_of(tenon__dim_pool_t* pool, tenon_dim_t dim) {
  int64_t low = 0;
  int64_t high = 0;
  tenon__dim_range(pool, dim, &low, &high);
  return low >= 0 && high <= 1
             ? dim
             : tenon__dim_combine(pool, TENON_OPCODE_NE, dim, tenon__dim_constant(pool, 0));
}

/* && and ||: the right side is not looked at when the left one decides. */
static tenon_status_t logical_value(tenon__index_environment_t* environment,
                                    const tenon__syntax_t* syntax,
                                    tenon__index_value_t* out_value) {
  tenon__dim_pool_t* pool = environment->pool;
  const bool both = syntax->op == 'A';
  tenon_dim_t left = TENON_DIM_INVALID;
  tenon_dim_t right = TENON_DIM_INVALID;
  int64_t known = 0;
  TENON_TRY(tenon__index_number(environment, syntax->children[0], &left));
  if (tenon__dim_known(pool, left, &known) && (known != 0) != both) {
    return tenon__index_give(environment, syntax, tenon__dim_constant(pool, both ? 0 : 1),
                             out_value);
  }
  TENON_TRY(tenon__index_number(environment, syntax->children[1], &right));
  right = truth_of(pool, right);
  left = truth_of(pool, left);
  const tenon_dim_t decided = tenon__dim_constant(pool, both ? 0 : 1);
  return tenon__index_give(environment, syntax,
                           both ? tenon__dim_select(pool, left, right, decided)
                                : tenon__dim_select(pool, left, decided, right),
                           out_value);
}

static bool compare_reals(char op, double a, double b) {
  switch (op) {
    case 'E':
      return a == b;
    case 'N':
      return a != b;
    case '<':
      return a < b;
    case 'L':
      return a <= b;
    case '>':
      return a > b;
    default:
      return a >= b;
  }
}

/* At least one side is real; the other is real or a known integer. */
static tenon_status_t real_value(tenon__index_environment_t* environment,
                                 const tenon__syntax_t* syntax, const tenon__index_value_t sides[2],
                                 tenon__index_value_t* out_value) {
  double numbers[2] = {0.0, 0.0};
  for (int i = 0; i < 2; ++i) {
    int64_t known = 0;
    if (sides[i].kind == TENON_INDEX_REAL) {
      numbers[i] = sides[i].real;
    } else if (sides[i].kind == TENON_INDEX_NUMBER &&
               tenon__dim_known(environment->pool, sides[i].dim, &known)) {
      numbers[i] = (double)known;
    } else {
      return tenon__index_fail(environment, syntax, TENON_ERROR_UNSUPPORTED,
                               "a float meets a number that is not known when building");
    }
  }
  tenon__index_value_t value = {.kind = TENON_INDEX_REAL};
  switch (syntax->op) {
    case '+':
      value.real = numbers[0] + numbers[1];
      break;
    case '-':
      value.real = numbers[0] - numbers[1];
      break;
    case '*':
      value.real = numbers[0] * numbers[1];
      break;
    case '/':
      value.real = numbers[0] / numbers[1];
      break;
    case '%':
      return tenon__index_fail(environment, syntax, TENON_ERROR_INVALID_DATA,
                               "a remainder of floats");
    default:
      return tenon__index_give(
          environment, syntax,
          tenon__dim_constant(environment->pool,
                              compare_reals(syntax->op, numbers[0], numbers[1]) ? 1 : 0),
          out_value);
  }
  *out_value = value;
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
      return TENON_OPCODE_FLOOR_DIV;
    case '%':
      return TENON_OPCODE_MOD;
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
    case 'G':
      return TENON_OPCODE_GE;
    default:
      return TENON_OPCODE_NOP;
  }
}

static tenon_status_t binary_value(tenon__index_environment_t* environment,
                                   const tenon__syntax_t* syntax, tenon__index_value_t* out_value) {
  if (syntax->op == 'A' || syntax->op == 'O') {
    return logical_value(environment, syntax, out_value);
  }
  tenon__index_value_t sides[2] = {0};
  TENON_TRY(tenon__index_evaluate(environment, syntax->children[0], &sides[0]));
  TENON_TRY(tenon__index_evaluate(environment, syntax->children[1], &sides[1]));
  const bool equality = syntax->op == 'E' || syntax->op == 'N';
  if (sides[0].kind == TENON_INDEX_TEXT && sides[1].kind == TENON_INDEX_TEXT && equality) {
    const bool same = strcmp(sides[0].text, sides[1].text) == 0;
    return tenon__index_give(
        environment, syntax,
        tenon__dim_constant(environment->pool, same == (syntax->op == 'E') ? 1 : 0), out_value);
  }
  const uint32_t opcode = opcode_of(syntax->op);
  if (opcode == TENON_OPCODE_NOP) {
    return tenon__index_fail(environment, syntax, TENON_ERROR_INVALID_DATA,
                             "'%c' means nothing in the index language", syntax->op);
  }
  if (sides[0].kind == TENON_INDEX_REAL || sides[1].kind == TENON_INDEX_REAL) {
    return real_value(environment, syntax, sides, out_value);
  }
  if (sides[0].kind != TENON_INDEX_NUMBER || sides[1].kind != TENON_INDEX_NUMBER) {
    return tenon__index_fail(environment, syntax, TENON_ERROR_INVALID_DATA,
                             "the two sides do not go together");
  }
  return tenon__index_give(
      environment, syntax,
      tenon__dim_combine(environment->pool, opcode, sides[0].dim, sides[1].dim), out_value);
}

static tenon_status_t unary_value(tenon__index_environment_t* environment,
                                  const tenon__syntax_t* syntax, tenon__index_value_t* out_value) {
  tenon__index_value_t operand = {0};
  TENON_TRY(tenon__index_evaluate(environment, syntax->children[0], &operand));
  if (operand.kind == TENON_INDEX_REAL && syntax->op == '-') {
    operand.real = -operand.real;
    *out_value = operand;
    return TENON_OK;
  }
  if (operand.kind != TENON_INDEX_NUMBER) {
    return tenon__index_fail(environment, syntax, TENON_ERROR_INVALID_DATA,
                             "a number is expected here");
  }
  const tenon_dim_t zero = tenon__dim_constant(environment->pool, 0);
  return tenon__index_give(
      environment, syntax,
      syntax->op == '-' ? tenon__dim_combine(environment->pool, TENON_OPCODE_SUB, zero, operand.dim)
                        : tenon__dim_combine(environment->pool, TENON_OPCODE_EQ, operand.dim, zero),
      out_value);
}

static tenon_status_t select_value(tenon__index_environment_t* environment,
                                   const tenon__syntax_t* syntax, tenon__index_value_t* out_value) {
  tenon_dim_t condition = TENON_DIM_INVALID;
  tenon_dim_t sides[2] = {TENON_DIM_INVALID, TENON_DIM_INVALID};
  int64_t known = 0;
  TENON_TRY(tenon__index_number(environment, syntax->children[0], &condition));
  if (tenon__dim_known(environment->pool, condition, &known)) {
    return tenon__index_evaluate(environment, syntax->children[known != 0 ? 1 : 2], out_value);
  }
  TENON_TRY(tenon__index_number(environment, syntax->children[1], &sides[0]));
  TENON_TRY(tenon__index_number(environment, syntax->children[2], &sides[1]));
  return tenon__index_give(environment, syntax,
                           tenon__dim_select(environment->pool, condition, sides[0], sides[1]),
                           out_value);
}

static tenon_status_t evaluate_kind(tenon__index_environment_t* environment,
                                    const tenon__syntax_t* syntax,
                                    tenon__index_value_t* out_value) {
  switch (syntax->kind) {
    case TENON_SYNTAX_INTEGER:
      return tenon__index_give(environment, syntax,
                               tenon__dim_constant(environment->pool, syntax->integer), out_value);
    case TENON_SYNTAX_FLOAT:
      *out_value = (tenon__index_value_t){.kind = TENON_INDEX_REAL, .real = syntax->number};
      return TENON_OK;
    case TENON_SYNTAX_STRING:
      *out_value = (tenon__index_value_t){.kind = TENON_INDEX_TEXT, .text = syntax->text};
      return TENON_OK;
    case TENON_SYNTAX_NAME:
      return name_value(environment, syntax, out_value);
    case TENON_SYNTAX_CALL:
      return tenon__index_call(environment, syntax, out_value);
    case TENON_SYNTAX_INDEX:
      return index_value(environment, syntax, out_value);
    case TENON_SYNTAX_UNARY:
      return unary_value(environment, syntax, out_value);
    case TENON_SYNTAX_BINARY:
      return binary_value(environment, syntax, out_value);
    case TENON_SYNTAX_SELECT:
      return select_value(environment, syntax, out_value);
    case TENON_SYNTAX_LIST:
      return list_value(environment, syntax, out_value);
    default:
      return tenon__index_fail(environment, syntax, TENON_ERROR_INVALID_DATA,
                               "a range has no value here");
  }
}

tenon_status_t tenon__index_evaluate(tenon__index_environment_t* environment,
                                     const tenon__syntax_t* syntax,
                                     tenon__index_value_t* out_value) {
  if (environment->depth >= TENON__INDEX_DEPTH) {
    return tenon__index_fail(environment, syntax, TENON_ERROR_INVALID_DATA,
                             "definitions lean on one another too deeply");
  }
  ++environment->depth;
  const tenon_status_t status = evaluate_kind(environment, syntax, out_value);
  --environment->depth;
  return status;
}
