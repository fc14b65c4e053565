/* Functions on lists. */
#include "core/language/list_functions.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/language/operation.h"

typedef tenon__function_call_t call_t;
typedef tenon__environment_t environment_t;
typedef tenon__language_value_t value_t;
typedef tenon__syntax_t syntax_t;

/* len(a): of an input of rank 0 or 1 also where the contents are not known, as its extent says how
 * many there are. */
static tenon_status_t call_len(call_t* c, value_t* out) {
  const syntax_t* what = c->syntax->children[0];
  tenon__named_tensor_t tensor = {0};
  value_t list = {0};
  if (what->kind == TENON_SYNTAX_NAME && tenon__scope_input(c->e->scope, what->text) != NULL) {
    tenon_dim_t dim = tenon__dim_constant(c->e->pool, 1);
    TENON_TRY(tenon__ranked_tensor(c->e, what, &tensor));
    if (tensor.value->type.contents == NULL && tensor.rank <= 1) {
      TENON_TRY(tensor.rank == 0 ? TENON_OK
                                 : tenon__tensor_extent(c->e, c->syntax, &tensor, 0, &dim));
      return tenon__language_give(c->e, c->syntax, dim, out);
    }
  }
  TENON_TRY(tenon__language_list(c->e, what, &list));
  *out = tenon__value_of_integer((int64_t)list.count);
  return TENON_OK;
}

/* value(x): the only item */
static tenon_status_t call_value(call_t* c, value_t* out) {
  const value_t* list = &c->values[0];
  if (list->count != 1) {
    return tenon__language_refuse(c->e, c->syntax,
                                  "a list of one number is expected, this one has %u", list->count);
  }
  *out = tenon__language_item(c->e, list, 0);
  return TENON_OK;
}

/* at(a, k, default): default beyond either end */
static tenon_status_t call_at(call_t* c, value_t* out) {
  const value_t* list = &c->values[0];
  const int64_t index = c->values[1].integer;
  if (index < 0 || index >= (int64_t)list->count) {
    return c->e->evaluate(c->e, c->syntax->children[2], out);
  }
  *out = tenon__language_item(c->e, list, (uint32_t)index);
  return TENON_OK;
}

/* The first item of the list that is the first value equal to the second, wrapped by `extent` first
 * unless that is NULL; -1 for none. */
static tenon_status_t find_item(const call_t* c, const value_t* extent, int64_t* out_index) {
  const value_t* list = &c->values[0];
  for (uint32_t i = 0; i < list->count; ++i) {
    value_t sides[2] = {tenon__language_item(c->e, list, i), c->values[1]};
    value_t same = {0};
    if (extent != NULL) {
      const value_t wrapped[2] = {sides[0], *extent};
      TENON_TRY(tenon__language_wrap(c->e, c->syntax, wrapped, &sides[0]));
    }
    TENON_TRY(tenon__language_operation(c->e, c->syntax, TENON_OPCODE_EQ, sides, &same));
    if (!tenon__value_is_known(&same)) {
      return tenon__language_unsupported(c->e, c->syntax,
                                         "item %u of the list must be known when building", i);
    }
    if (same.integer != 0) {
      *out_index = (int64_t)i;
      return TENON_OK;
    }
  }
  *out_index = -1;
  return TENON_OK;
}

/* index_of(a, v), -1 for none; has(a, v) */
static tenon_status_t call_index_of(call_t* c, value_t* out) {
  const bool asks_whether = c->syntax->text[0] == 'h';
  int64_t index = 0;
  TENON_TRY(find_item(c, NULL, &index));
  *out = asks_whether ? tenon__value_of_truth(index >= 0) : tenon__value_of_integer(index);
  return TENON_OK;
}

/* Items that are known name axes of that many. */
static tenon_status_t check_axes(const environment_t* e, const syntax_t* call, const value_t* list,
                                 int64_t rank) {
  for (uint32_t i = 0; i < list->count; ++i) {
    const value_t axis = tenon__language_item(e, list, i);
    if (tenon__value_is_known(&axis) && (axis.integer < -rank || axis.integer >= rank)) {
      return tenon__language_refuse(e, call, "there is no axis %lld, the rank is %lld",
                                    (long long)axis.integer, (long long)rank);
    }
  }
  return TENON_OK;
}

/* axis_of(a, d, n): place k with wrap(a[k], n) == d, or -1 */
static tenon_status_t call_axis_of(call_t* c, value_t* out) {
  const value_t* rank = &c->values[2];
  int64_t index = 0;
  if (tenon__value_is_known(rank)) {
    TENON_TRY(check_axes(c->e, c->syntax, &c->values[0], rank->integer));
  }
  TENON_TRY(find_item(c, rank, &index));
  *out = tenon__value_of_integer(index);
  return TENON_OK;
}

tenon_status_t tenon__sum_items(call_t* c, value_t* out_value) {
  const syntax_t* call = c->syntax;
  const value_t* list = &c->values[0];
  const uint32_t opcode = call->text[0] == 'p' ? TENON_OPCODE_MUL : TENON_OPCODE_ADD;
  int64_t bounds[2] = {0, (int64_t)list->count};
  for (uint32_t i = 1; i < call->child_count; ++i) {
    TENON_TRY(tenon__language_known(c->e, call->children[i], &bounds[i - 1]));
  }
  if (bounds[0] < 0 || bounds[1] > (int64_t)list->count) {
    return tenon__language_refuse(c->e, call, "the list has %u items, there are no %lld to %lld",
                                  list->count, (long long)bounds[0], (long long)bounds[1]);
  }
  value_t sides[2] = {tenon__value_of_integer(opcode == TENON_OPCODE_MUL ? 1 : 0), {0}};
  for (int64_t i = bounds[0]; i < bounds[1]; ++i) {
    sides[1] = tenon__language_item(c->e, list, (uint32_t)i);
    TENON_TRY(tenon__language_operation(c->e, call, opcode, sides, &sides[0]));
  }
  *out_value = sides[0];
  return TENON_OK;
}

const tenon__function_t tenon__list_functions[] = {
    {"len", 1, 1, "", call_len, false},        {"value", 1, 1, "l", call_value, false},
    {"at", 3, 3, "lk", call_at, false},        {"index_of", 2, 2, "lv", call_index_of, false},
    {"has", 2, 2, "lv", call_index_of, false}, {"axis_of", 3, 3, "lvv", call_axis_of, false},
    {NULL, 0, 0, NULL, NULL, false},
};
