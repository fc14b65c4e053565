/* The table of functions, and those that take numbers of any kind. */
#include "core/language/functions.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/language/list_functions.h"
#include "core/language/operation.h"
#include "core/language/program_functions.h"
#include "core/language/shape_functions.h"

typedef tenon__environment_t environment_t;
typedef tenon__language_value_t value_t;
typedef tenon__syntax_t syntax_t;

static tenon_status_t call_wrap(environment_t* e, const syntax_t* call, value_t* out) {
  value_t operands[2] = {{0}, {0}};
  TENON_TRY(e->evaluate(e, call->children[0], &operands[0]));
  TENON_TRY(e->evaluate(e, call->children[1], &operands[1]));
  return tenon__language_wrap(e, call, operands, out);
}

/* Along axes, where the first of two is an element and the second names axes. */
static tenon_status_t call_extremum(environment_t* e, const syntax_t* call, value_t* out) {
  const uint32_t opcode = call->text[1] == 'i' ? TENON_OPCODE_MIN : TENON_OPCODE_MAX;
  value_t operands[2] = {{0}, {0}};
  TENON_TRY(e->evaluate(e, call->children[0], &operands[0]));
  if (tenon__value_is_element(&operands[0]) && call->child_count == 2 &&
      tenon__names_axes(e, call->children[1])) {
    return tenon__reduce(e, call, &operands[0], out);
  }
  for (uint32_t i = 1; i < call->child_count; ++i) {
    TENON_TRY(e->evaluate(e, call->children[i], &operands[1]));
    TENON_TRY(tenon__language_operation(e, call, opcode, operands, &operands[0]));
  }
  *out = operands[0];
  return TENON_OK;
}

static tenon_status_t call_clamp(environment_t* e, const syntax_t* call, value_t* out) {
  value_t low[2] = {{0}, {0}};
  value_t high[2] = {{0}, {0}};
  TENON_TRY(e->evaluate(e, call->children[0], &low[0]));
  TENON_TRY(e->evaluate(e, call->children[1], &low[1]));
  TENON_TRY(e->evaluate(e, call->children[2], &high[1]));
  TENON_TRY(tenon__language_operation(e, call, TENON_OPCODE_MAX, low, &high[0]));
  return tenon__language_operation(e, call, TENON_OPCODE_MIN, high, out);
}

/* (a + b - 1) / b for a positive b, -(-a / b) in general. */
static tenon_status_t call_ceil_div(environment_t* e, const syntax_t* call, value_t* out) {
  tenon_dim_t a = TENON_DIM_INVALID;
  tenon_dim_t b = TENON_DIM_INVALID;
  int64_t low = 0;
  int64_t high = 0;
  TENON_TRY(tenon__language_number(e, call->children[0], &a));
  TENON_TRY(tenon__language_number(e, call->children[1], &b));
  tenon__dim_range(e->pool, b, &low, &high);
  const tenon_dim_t zero = tenon__dim_constant(e->pool, 0);
  const tenon_dim_t one = tenon__dim_constant(e->pool, 1);
  const tenon_dim_t dividend =
      low > 0 ? tenon__dim_add(e->pool, a, tenon__dim_combine(e->pool, TENON_OPCODE_SUB, b, one))
              : tenon__dim_combine(e->pool, TENON_OPCODE_SUB, zero, a);
  const tenon_dim_t quotient = tenon__dim_combine(e->pool, TENON_OPCODE_FLOOR_DIV, dividend, b);
  return tenon__language_give(
      e, call, low > 0 ? quotient : tenon__dim_combine(e->pool, TENON_OPCODE_SUB, zero, quotient),
      out);
}

typedef struct row_t {
  const char* name;
  uint32_t least; /* arguments */
  uint32_t most;
  tenon__function_t* call;
  bool of_elements; /* only where a program is made */
} row_t;

static const row_t rows[] = {
    {"rank", 1, 1, tenon__call_rank, false},
    {"dim", 2, 2, tenon__call_dim, false},
    {"elements", 1, 3, tenon__call_elements, false},
    {"count", 1, 1, tenon__call_count, false},
    {"sum_dim", 2, 2, tenon__call_sum_dim, false},
    {"same_dim", 2, 2, tenon__call_same_dim, false},
    {"before", 2, 2, tenon__call_before, false},
    {"present", 1, 1, tenon__call_present, false},
    {"defined", 1, 1, tenon__call_defined, false},
    {"dtype", 1, 1, tenon__call_dtype, false},
    {"fresh", 0, 1, tenon__call_fresh, false},
    {"o", 1, 1, tenon__call_coordinate, false},
    {"element", 1, 65, tenon__call_element, false},
    {"len", 1, 1, tenon__call_len, false},
    {"value", 1, 1, tenon__call_value, false},
    {"at", 3, 3, tenon__call_at, false},
    {"index_of", 2, 2, tenon__call_index_of, false},
    {"has", 2, 2, tenon__call_index_of, false},
    {"axis_of", 3, 3, tenon__call_axis_of, false},
    {"wrap", 2, 2, call_wrap, false},
    {"min", 1, 64, call_extremum, false},
    {"max", 1, 64, call_extremum, false},
    {"clamp", 3, 3, call_clamp, false},
    {"ceil_div", 2, 2, call_ceil_div, false},
    {"sum", 1, 3, tenon__call_sum, false},
    {"prod", 1, 3, tenon__call_sum, false},
    {"mean", 2, 2, tenon__call_reduction, true},
    {"any", 2, 2, tenon__call_reduction, true},
    {"all", 2, 2, tenon__call_reduction, true},
    {"fold", 2, 2, tenon__call_fold, true},
    {"along", 2, 2, tenon__call_along, true},
    {"cast", 2, 2, tenon__call_cast, true},
    {"lowest", 1, 1, tenon__call_limit, true},
    {"highest", 1, 1, tenon__call_limit, true},
    {"index", 1, 1, tenon__call_index, true},
    {"size", 1, 1, tenon__call_size, true},
    {"random", 2, 2, tenon__call_random, true},
};

static tenon_status_t check_arguments(const environment_t* e, const syntax_t* call, uint32_t least,
                                      uint32_t most) {
  if (call->child_count >= least && call->child_count <= most) {
    return TENON_OK;
  }
  return least == most
             ? tenon__language_refuse(e, call, "'%s' takes %u argument%s, not %u", call->text,
                                      least, least == 1 ? "" : "s", call->child_count)
             : tenon__language_refuse(e, call, "'%s' takes %u to %u arguments, not %u", call->text,
                                      least, most, call->child_count);
}

static const row_t* find_row(const char* name) {
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    if (strcmp(rows[i].name, name) == 0) {
      return &rows[i];
    }
  }
  return NULL;
}

/* RANDOM for none: that one is in the table. */
static uint32_t find_opcode(const char* name) {
  uint32_t opcode = TENON_OPCODE_ADD;
  while (opcode < TENON_OPCODE_RANDOM && strcmp(tenon__opcode_name(opcode), name) != 0) {
    ++opcode;
  }
  return opcode;
}

bool tenon__language_has_function(const char* name) {
  return find_row(name) != NULL || find_opcode(name) != TENON_OPCODE_RANDOM ||
         strcmp(name, "broadcast") == 0;
}

/* A function of TENON_OPCODES by its spelling. */
static tenon_status_t call_opcode(environment_t* e, const syntax_t* call, value_t* out) {
  const uint32_t opcode = find_opcode(call->text);
  if (opcode == TENON_OPCODE_RANDOM) {
    return tenon__language_refuse(e, call, "unknown function '%s'", call->text);
  }
  const uint32_t count = tenon__opcode_operand_count(opcode);
  value_t operands[3] = {{0}, {0}, {0}};
  TENON_TRY(check_arguments(e, call, count, count));
  for (uint32_t i = 0; i < count; ++i) {
    TENON_TRY(e->evaluate(e, call->children[i], &operands[i]));
  }
  return tenon__language_operation(e, call, opcode, operands, out);
}

tenon_status_t tenon__language_call(environment_t* e, const syntax_t* call, value_t* out_value) {
  const row_t* row = find_row(call->text);
  if (row == NULL) {
    return call_opcode(e, call, out_value);
  }
  TENON_TRY(check_arguments(e, call, row->least, row->most));
  return row->of_elements && e->program == NULL
             ? tenon__language_refuse(
                   e, call, "'%s' works on elements, which only expressions have", call->text)
             : row->call(e, call, out_value);
}
