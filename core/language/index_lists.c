/* Functions of the index language on lists: attributes and contents. */
#include "core/language/index_lists.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/language/index_environment.h"
#include "core/language/index_functions.h"
#include "core/language/index_language.h"

typedef tenon__index_environment_t environment_t;
typedef tenon__index_value_t value_t;
typedef tenon__syntax_t syntax_t;

static tenon_dim_t combine(const environment_t* e, uint32_t opcode, tenon_dim_t a, tenon_dim_t b) {
  return tenon__dim_combine(e->pool, opcode, a, b);
}

static tenon_status_t give_known(const environment_t* e, const syntax_t* call, int64_t value,
                                 value_t* out) {
  return tenon__index_give(e, call, tenon__dim_constant(e->pool, value), out);
}

static tenon_status_t list_argument(environment_t* e, const syntax_t* call, uint32_t at,
                                    value_t* out_list) {
  TENON_TRY(tenon__index_evaluate(e, call->children[at], out_list));
  if (out_list->kind != TENON_INDEX_DIMS && out_list->kind != TENON_INDEX_INTEGERS) {
    return tenon__index_fail(e, call->children[at], TENON_ERROR_INVALID_DATA,
                             "a list of integers is expected here");
  }
  return TENON_OK;
}

/* The extent of a 1-D shape operand says how many contents there are even where they are not known.
 */
tenon_status_t tenon__index_call_len(environment_t* e, const syntax_t* call, value_t* out) {
  const syntax_t* what = call->children[0];
  bool is_output = false;
  const bool is_port = what->kind == TENON_SYNTAX_NAME &&
                       tenon__index_find_attribute(e->scope, what->text) == NULL &&
                       tenon__index_find_port(e->scope, what->text, &is_output) != NULL;
  if (is_port && !is_output) {
    tenon__index_tensor_t tensor = {0};
    TENON_TRY(tenon__index_ranked(e, what, &tensor));
    if (tensor.value->contents == NULL && tensor.rank <= 1) {
      return tensor.rank == 0 ? give_known(e, call, 1, out)
                              : tenon__index_extent(e, call, &tensor, 0, out);
    }
  }
  value_t list = {0};
  TENON_TRY(tenon__index_evaluate(e, what, &list));
  if (!tenon__index_is_list(&list)) {
    return tenon__index_fail(e, what, TENON_ERROR_INVALID_DATA, "a list is expected here");
  }
  return give_known(e, call, (int64_t)list.count, out);
}

tenon_status_t tenon__index_call_value(environment_t* e, const syntax_t* call, value_t* out) {
  value_t list = {0};
  TENON_TRY(list_argument(e, call, 0, &list));
  if (list.count != 1) {
    return tenon__index_fail(e, call, TENON_ERROR_INVALID_DATA, "one number expected, not %u",
                             list.count);
  }
  return tenon__index_give(e, call, tenon__index_item(e, &list, 0), out);
}

tenon_status_t tenon__index_call_at(environment_t* e, const syntax_t* call, value_t* out) {
  value_t list = {0};
  int64_t index = 0;
  TENON_TRY(list_argument(e, call, 0, &list));
  TENON_TRY(tenon__index_known(e, call->children[1], &index));
  if (index < 0 || index >= (int64_t)list.count) {
    return tenon__index_evaluate(e, call->children[2], out);
  }
  return tenon__index_give(e, call, tenon__index_item(e, &list, (uint32_t)index), out);
}

/* The first item equal to `wanted`, wrapped by `extent` first unless that is INVALID; -1 for none.
 */
static tenon_status_t find_item(environment_t* e, const syntax_t* call, const value_t* list,
                                tenon_dim_t wanted, tenon_dim_t extent, int64_t* out_index) {
  for (uint32_t i = 0; i < list->count; ++i) {
    tenon_dim_t item = tenon__index_item(e, list, i);
    if (!tenon__dim_equal(extent, TENON_DIM_INVALID)) {
      const tenon_dim_t zero = tenon__dim_constant(e->pool, 0);
      item = tenon__dim_select(e->pool, combine(e, TENON_OPCODE_LT, item, zero),
                               tenon__dim_add(e->pool, item, extent), item);
    }
    value_t same = {0};
    int64_t known = 0;
    TENON_TRY(tenon__index_give(e, call, combine(e, TENON_OPCODE_EQ, item, wanted), &same));
    if (!tenon__dim_known(e->pool, same.dim, &known)) {
      return tenon__index_fail(e, call, TENON_ERROR_UNSUPPORTED,
                               "item %u of the list must be known when building", i);
    }
    if (known != 0) {
      *out_index = (int64_t)i;
      return TENON_OK;
    }
  }
  *out_index = -1;
  return TENON_OK;
}

tenon_status_t tenon__index_call_index_of(environment_t* e, const syntax_t* call, value_t* out) {
  value_t list = {0};
  tenon_dim_t wanted = TENON_DIM_INVALID;
  int64_t index = 0;
  TENON_TRY(list_argument(e, call, 0, &list));
  TENON_TRY(tenon__index_number(e, call->children[1], &wanted));
  TENON_TRY(find_item(e, call, &list, wanted, TENON_DIM_INVALID, &index));
  const bool has = strcmp(call->text, "has") == 0;
  return give_known(e, call, has ? (index >= 0 ? 1 : 0) : index, out);
}

/* Items that are known, and name no axis of so many. */
static tenon_status_t check_axes(const environment_t* e, const syntax_t* call, const value_t* list,
                                 tenon_dim_t rank) {
  int64_t count = 0;
  int64_t axis = 0;
  for (uint32_t i = 0; tenon__dim_known(e->pool, rank, &count) && i < list->count; ++i) {
    if (tenon__dim_known(e->pool, tenon__index_item(e, list, i), &axis) &&
        (axis < -count || axis >= count)) {
      return tenon__index_fail(e, call, TENON_ERROR_INVALID_DATA,
                               "there is no axis %lld, the rank is %lld", (long long)axis,
                               (long long)count);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__index_call_axis_of(environment_t* e, const syntax_t* call, value_t* out) {
  value_t list = {0};
  tenon_dim_t wanted = TENON_DIM_INVALID;
  tenon_dim_t rank = TENON_DIM_INVALID;
  int64_t index = 0;
  TENON_TRY(list_argument(e, call, 0, &list));
  TENON_TRY(tenon__index_number(e, call->children[1], &wanted));
  TENON_TRY(tenon__index_number(e, call->children[2], &rank));
  TENON_TRY(check_axes(e, call, &list, rank));
  TENON_TRY(find_item(e, call, &list, wanted, rank, &index));
  return give_known(e, call, index, out);
}

/* prod(a, i, j), total(a, i, j) */
tenon_status_t tenon__index_call_fold(environment_t* e, const syntax_t* call, value_t* out) {
  const bool product = strcmp(call->text, "prod") == 0;
  value_t list = {0};
  int64_t begin = 0;
  int64_t end = 0;
  TENON_TRY(list_argument(e, call, 0, &list));
  end = (int64_t)list.count;
  if (call->child_count > 1) {
    TENON_TRY(tenon__index_known(e, call->children[1], &begin));
  }
  if (call->child_count > 2) {
    TENON_TRY(tenon__index_known(e, call->children[2], &end));
  }
  if (begin < 0 || end > (int64_t)list.count) {
    return tenon__index_fail(e, call, TENON_ERROR_INVALID_DATA,
                             "items %lld to %lld of a list of %u", (long long)begin, (long long)end,
                             list.count);
  }
  tenon_dim_t result = tenon__dim_constant(e->pool, product ? 1 : 0);
  for (int64_t i = begin; i < end; ++i) {
    result = combine(e, product ? TENON_OPCODE_MUL : TENON_OPCODE_ADD, result,
                     tenon__index_item(e, &list, (uint32_t)i));
  }
  return tenon__index_give(e, call, result, out);
}
