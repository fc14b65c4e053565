/* The functions of the index language: one table, one function each. */
#include "core/language/index_functions.h"

#include <math.h>
#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/requirement.h"
#include "core/language/index_environment.h"
#include "core/language/index_language.h"
#include "core/language/index_lists.h"
#include "core/tensor/dtype.h"

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

/* Argument `at` as an axis of `tensor`: known, negative from the end; `past` axes may lie behind
 * the last. */
static tenon_status_t axis_argument(environment_t* e, const syntax_t* call, uint32_t at,
                                    const tenon__index_tensor_t* tensor, int64_t past,
                                    uint32_t* out_axis) {
  int64_t axis = 0;
  TENON_TRY(tenon__index_known(e, call->children[at], &axis));
  const int64_t rank = (int64_t)tensor->rank;
  const int64_t wrapped = axis < 0 ? axis + rank : axis;
  if (wrapped < 0 || wrapped >= rank + past) {
    return tenon__index_fail(e, call->children[at], TENON_ERROR_INVALID_DATA,
                             "axis %lld of '%s', which has rank %u", (long long)axis,
                             tensor->port->name, tensor->rank);
  }
  *out_axis = (uint32_t)wrapped;
  return TENON_OK;
}

static tenon_status_t call_rank(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__index_tensor_t tensor = {0};
  TENON_TRY(tenon__index_ranked(e, call->children[0], &tensor));
  return give_known(e, call, (int64_t)tensor.rank, out);
}

/* An extent; of an output in the making, one that is there already. */
tenon_status_t tenon__index_extent(const environment_t* e, const syntax_t* call,
                                   const tenon__index_tensor_t* tensor, uint32_t axis,
                                   value_t* out) {
  if (tensor->dims == NULL || tenon__dim_equal(tensor->dims[axis], TENON_DIM_INVALID)) {
    return tenon__index_fail(e, call, TENON_ERROR_INVALID_DATA,
                             "extent %u of '%s' is not known yet", axis, tensor->port->name);
  }
  return tenon__index_give(e, call, tensor->dims[axis], out);
}

static tenon_status_t call_dim(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__index_tensor_t tensor = {0};
  uint32_t axis = 0;
  TENON_TRY(tenon__index_ranked(e, call->children[0], &tensor));
  TENON_TRY(axis_argument(e, call, 1, &tensor, 0, &axis));
  return tenon__index_extent(e, call, &tensor, axis, out);
}

static tenon_status_t call_elements(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__index_tensor_t tensor = {0};
  TENON_TRY(tenon__index_ranked(e, call->children[0], &tensor));
  uint32_t begin = 0;
  uint32_t end = tensor.rank;
  if (call->child_count > 1) {
    TENON_TRY(axis_argument(e, call, 1, &tensor, 1, &begin));
  }
  if (call->child_count > 2) {
    TENON_TRY(axis_argument(e, call, 2, &tensor, 1, &end));
  }
  tenon_dim_t product = tenon__dim_constant(e->pool, 1);
  for (uint32_t i = begin; i < end; ++i) {
    TENON_TRY(tenon__index_extent(e, call, &tensor, i, out));
    product = tenon__dim_multiply(e->pool, product, out->dim);
  }
  return tenon__index_give(e, call, product, out);
}

static tenon_status_t call_count(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__index_tensor_t tensor = {0};
  TENON_TRY(tenon__index_tensor(e, call->children[0], &tensor));
  return give_known(e, call, (int64_t)tensor.port->count, out);
}

static tenon_status_t call_wrap(environment_t* e, const syntax_t* call, value_t* out) {
  tenon_dim_t i = TENON_DIM_INVALID;
  tenon_dim_t n = TENON_DIM_INVALID;
  TENON_TRY(tenon__index_number(e, call->children[0], &i));
  TENON_TRY(tenon__index_number(e, call->children[1], &n));
  const tenon_dim_t negative = combine(e, TENON_OPCODE_LT, i, tenon__dim_constant(e->pool, 0));
  int64_t known = 0;
  if (tenon__dim_known(e->pool, negative, &known)) {
    return tenon__index_give(e, call, known != 0 ? tenon__dim_add(e->pool, i, n) : i, out);
  }
  return tenon__index_give(
      e, call, tenon__dim_select(e->pool, negative, tenon__dim_add(e->pool, i, n), i), out);
}

static tenon_status_t call_extremum(environment_t* e, const syntax_t* call, value_t* out) {
  const uint32_t opcode = strcmp(call->text, "min") == 0 ? TENON_OPCODE_MIN : TENON_OPCODE_MAX;
  tenon_dim_t result = TENON_DIM_INVALID;
  for (uint32_t i = 0; i < call->child_count; ++i) {
    tenon_dim_t next = TENON_DIM_INVALID;
    TENON_TRY(tenon__index_number(e, call->children[i], &next));
    result = i == 0 ? next : combine(e, opcode, result, next);
  }
  return tenon__index_give(e, call, result, out);
}

static tenon_status_t call_abs(environment_t* e, const syntax_t* call, value_t* out) {
  tenon_dim_t x = TENON_DIM_INVALID;
  TENON_TRY(tenon__index_number(e, call->children[0], &x));
  const tenon_dim_t minus = combine(e, TENON_OPCODE_SUB, tenon__dim_constant(e->pool, 0), x);
  return tenon__index_give(e, call, combine(e, TENON_OPCODE_MAX, x, minus), out);
}

static tenon_status_t call_clamp(environment_t* e, const syntax_t* call, value_t* out) {
  tenon_dim_t parts[3];
  for (uint32_t i = 0; i < 3; ++i) {
    TENON_TRY(tenon__index_number(e, call->children[i], &parts[i]));
  }
  return tenon__index_give(
      e, call,
      combine(e, TENON_OPCODE_MIN, combine(e, TENON_OPCODE_MAX, parts[0], parts[1]), parts[2]),
      out);
}

/* (a + b - 1) / b for a positive b, -(-a / b) in general. */
static tenon_status_t call_ceil_div(environment_t* e, const syntax_t* call, value_t* out) {
  tenon_dim_t a = TENON_DIM_INVALID;
  tenon_dim_t b = TENON_DIM_INVALID;
  int64_t low = 0;
  int64_t high = 0;
  TENON_TRY(tenon__index_number(e, call->children[0], &a));
  TENON_TRY(tenon__index_number(e, call->children[1], &b));
  tenon__dim_range(e->pool, b, &low, &high);
  const tenon_dim_t zero = tenon__dim_constant(e->pool, 0);
  if (low > 0) {
    const tenon_dim_t above = combine(e, TENON_OPCODE_SUB, b, tenon__dim_constant(e->pool, 1));
    return tenon__index_give(
        e, call, combine(e, TENON_OPCODE_FLOOR_DIV, tenon__dim_add(e->pool, a, above), b), out);
  }
  const tenon_dim_t minus = combine(e, TENON_OPCODE_SUB, zero, a);
  return tenon__index_give(
      e, call, combine(e, TENON_OPCODE_SUB, zero, combine(e, TENON_OPCODE_FLOOR_DIV, minus, b)),
      out);
}

/* The extent of item `index` of a variadic port along the axis that argument 1 says. */
static tenon_status_t item_extent(environment_t* e, const syntax_t* call,
                                  const tenon__scope_port_t* port, uint32_t index, value_t* out) {
  const tenon__scope_value_t* value = &port->values[index];
  const tenon__index_tensor_t tensor = {
      .port = port, .rank = value->rank, .dims = value->dims, .value = value};
  uint32_t axis = 0;
  if (value->rank == TENON_NONE) {
    return tenon__index_fail(e, call, TENON_ERROR_UNSUPPORTED,
                             "the rank of item %u of '%s' is not known", index, port->name);
  }
  TENON_TRY(axis_argument(e, call, 1, &tensor, 0, &axis));
  return tenon__index_extent(e, call, &tensor, axis, out);
}

/* Sum of the axis that argument 1 says over the first `end` items of a variadic port. Goes on from
 * the sum before, so that asking for one item after the other adds each extent once. */
static tenon_status_t sum_extents(environment_t* e, const syntax_t* call,
                                  const tenon__scope_port_t* port, int64_t end, value_t* out) {
  tenon__running_extent_t* running = &e->running;
  tenon_dim_t axis = TENON_DIM_INVALID;
  TENON_TRY(tenon__index_number(e, call->children[1], &axis));
  if (running->port != port || !tenon__dim_equal(running->axis, axis) || running->count > end) {
    *running = (tenon__running_extent_t){port, axis, 0, tenon__dim_constant(e->pool, 0)};
  }
  for (; running->count < end; ++running->count) {
    TENON_TRY(item_extent(e, call, port, (uint32_t)running->count, out));
    running->sum = tenon__dim_add(e->pool, running->sum, out->dim);
  }
  return tenon__index_give(e, call, running->sum, out);
}

/* Known extents count before symbols, the first before others. */
static tenon_status_t call_same_dim(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__index_tensor_t tensor = {0};
  tenon_dim_t result = TENON_DIM_INVALID;
  TENON_TRY(tenon__index_tensor(e, call->children[0], &tensor));
  if (tensor.port->values == NULL || tensor.port->count == 0) {
    return tenon__index_fail(e, call, TENON_ERROR_INVALID_DATA, "'%s' has no shapes",
                             tensor.port->name);
  }
  for (uint32_t i = 0; i < tensor.port->count; ++i) {
    int64_t own = 0;
    int64_t others = 0;
    TENON_TRY(item_extent(e, call, tensor.port, i, out));
    const bool known = tenon__dim_known(e->pool, out->dim, &own);
    if (i > 0 && known && tenon__dim_known(e->pool, result, &others) && own != others) {
      return tenon__index_fail(e, call, TENON_ERROR_INVALID_DATA,
                               "the items of '%s' have extents %lld and %lld", tensor.port->name,
                               (long long)others, (long long)own);
    }
    if (i > 0) {
      tenon__dim_require(e->pool, combine(e, TENON_OPCODE_EQ, result, out->dim),
                         "the items have different extents");
    }
    result = i == 0 || (known && !tenon__dim_known(e->pool, result, &others)) ? out->dim : result;
  }
  return tenon__index_give(e, call, result, out);
}

static tenon_status_t call_sum_dim(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__index_tensor_t tensor = {0};
  TENON_TRY(tenon__index_tensor(e, call->children[0], &tensor));
  if (tensor.port->values == NULL) {
    return tenon__index_fail(e, call, TENON_ERROR_INVALID_DATA, "'%s' has no shapes yet",
                             tensor.port->name);
  }
  return sum_extents(e, call, tensor.port, (int64_t)tensor.port->count, out);
}

/* The variadic input; without one, the variadic output. */
static const tenon__scope_port_t* find_variadic(const tenon__scope_t* scope) {
  for (uint32_t i = 0; i < scope->input_count; ++i) {
    if ((scope->inputs[i].flags & TENON_PORT_VARIADIC) != 0) {
      return &scope->inputs[i];
    }
  }
  for (uint32_t i = 0; i < scope->output_count; ++i) {
    if ((scope->outputs[i].flags & TENON_PORT_VARIADIC) != 0) {
      return &scope->outputs[i];
    }
  }
  return NULL;
}

static tenon_status_t call_before(environment_t* e, const syntax_t* call, value_t* out) {
  const tenon__scope_port_t* port = find_variadic(e->scope);
  int64_t end = 0;
  TENON_TRY(tenon__index_known(e, call->children[0], &end));
  if (port == NULL || port->values == NULL || end < 0 || end > (int64_t)port->count) {
    return tenon__index_fail(e, call, TENON_ERROR_INVALID_DATA,
                             "there are no %lld items before this one", (long long)end);
  }
  return sum_extents(e, call, port, end, out);
}

static tenon_status_t call_present(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__index_tensor_t tensor = {0};
  TENON_TRY(tenon__index_tensor(e, call->children[0], &tensor));
  return give_known(e, call, tensor.present ? 1 : 0, out);
}

static tenon_status_t call_defined(environment_t* e, const syntax_t* call, value_t* out) {
  const syntax_t* name = call->children[0];
  const tenon__scope_attribute_t* attribute =
      name->kind == TENON_SYNTAX_NAME ? tenon__index_find_attribute(e->scope, name->text) : NULL;
  if (attribute == NULL) {
    return tenon__index_fail(e, name, TENON_ERROR_INVALID_DATA,
                             "the name of an attribute expected");
  }
  return give_known(e, call, attribute->defined ? 1 : 0, out);
}

static tenon_status_t call_dtype(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__index_tensor_t tensor = {0};
  TENON_TRY(tenon__index_tensor(e, call->children[0], &tensor));
  const tenon__scope_value_t* value =
      tensor.port->values != NULL && tensor.item < tensor.port->count
          ? &tensor.port->values[tensor.item]
          : NULL;
  *out = (value_t){.kind = TENON_INDEX_TEXT,
                   .text = tenon__dtype_name(value == NULL ? TENON_DTYPE_UNDEFINED : value->dtype)};
  return TENON_OK;
}

static tenon_status_t call_fresh(environment_t* e, const syntax_t* call, value_t* out) {
  tenon_dim_t bound = TENON_DIM_INVALID;
  if (e->fresh == NULL) {
    return tenon__index_fail(e, call, TENON_ERROR_INVALID_DATA,
                             "fresh extents belong to shape rules alone");
  }
  if (call->child_count > 0) {
    TENON_TRY(tenon__index_number(e, call->children[0], &bound));
  }
  const tenon_dim_t fresh = e->fresh(e->fresh_user, e->fresh_output, e->fresh_axis, bound);
  if (tenon__dim_equal(fresh, TENON_DIM_INVALID)) {
    return tenon__fail_memory(e->sink); /* nothing else can be wrong with it */
  }
  return tenon__index_give(e, call, fresh, out);
}

/* floor, ceil, round of a float. */
static tenon_status_t call_round(environment_t* e, const syntax_t* call, value_t* out) {
  value_t value = {0};
  TENON_TRY(tenon__index_evaluate(e, call->children[0], &value));
  if (value.kind == TENON_INDEX_NUMBER) {
    *out = value;
    return TENON_OK;
  }
  if (value.kind != TENON_INDEX_REAL || !(fabs(value.real) < 9.0e18)) {
    return tenon__index_fail(e, call, TENON_ERROR_INVALID_DATA, "no number to round");
  }
  const double rounded = call->text[0] == 'f'   ? floor(value.real)
                         : call->text[0] == 'c' ? ceil(value.real)
                                                : nearbyint(value.real);
  return give_known(e, call, (int64_t)rounded, out);
}

static tenon_status_t coordinate(environment_t* e, const syntax_t* call, int64_t axis,
                                 tenon_dim_t* out_dim) {
  if (axis < 0 || axis >= (int64_t)e->space->rank) {
    return tenon__index_fail(e, call, TENON_ERROR_INVALID_DATA,
                             "coordinate %lld of an output of rank %u", (long long)axis,
                             e->space->rank);
  }
  value_t value = {0};
  TENON_TRY(tenon__index_give(
      e, call, tenon__dim_coordinate(e->pool, (uint32_t)axis, e->space->dims[axis]), &value));
  *out_dim = value.dim;
  return TENON_OK;
}

/* o(j), or the list o(p..q). */
static tenon_status_t call_o(environment_t* e, const syntax_t* call, value_t* out) {
  const syntax_t* what = call->children[0];
  int64_t begin = 0;
  if (e->space == NULL) {
    return tenon__index_fail(e, call, TENON_ERROR_INVALID_DATA,
                             "coordinates belong to moves alone");
  }
  if (what->kind != TENON_SYNTAX_RANGE) {
    tenon_dim_t dim = TENON_DIM_INVALID;
    TENON_TRY(tenon__index_known(e, what, &begin));
    TENON_TRY(coordinate(e, call, begin, &dim));
    return tenon__index_give(e, call, dim, out);
  }
  int64_t end = (int64_t)e->space->rank;
  TENON_TRY(tenon__index_known(e, what->children[0], &begin));
  if (what->child_count > 1) {
    TENON_TRY(tenon__index_known(e, what->children[1], &end));
  }
  const int64_t count = end > begin ? end - begin : 0;
  if (count > (int64_t)e->space->rank) {
    return coordinate(e, call, end - 1, &(tenon_dim_t){0});
  }
  tenon_dim_t* dims = tenon__arena_allocate(e->arena, (size_t)count + 1, sizeof(*dims));
  if (dims == NULL) {
    return tenon__fail_memory(e->sink);
  }
  for (int64_t i = 0; i < count; ++i) {
    TENON_TRY(coordinate(e, call, begin + i, &dims[i]));
  }
  *out = (value_t){.kind = TENON_INDEX_DIMS, .count = (uint32_t)count, .dims = dims};
  return TENON_OK;
}

enum { ELEMENT_COORDINATES = 64 };

/* Contents that are tracked are better than an element read when running. */
static bool known_element(environment_t* e, const tenon__index_tensor_t* tensor,
                          const tenon_dim_t* coordinates, tenon_dim_t* out_dim) {
  uint64_t place = 0;
  if (tensor->value == NULL || tensor->value->contents == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    int64_t at = 0;
    int64_t extent = 0;
    if (!tenon__dim_known(e->pool, coordinates[i], &at) ||
        !tenon__dim_known(e->pool, tensor->dims[i], &extent) || at < 0 || at >= extent) {
      return false;
    }
    place = place * (uint64_t)extent + (uint64_t)at;
  }
  if (place >= tensor->value->content_count) {
    return false;
  }
  *out_dim = tensor->value->contents[place];
  return true;
}

static tenon_status_t call_element(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__index_tensor_t tensor = {0};
  tenon_dim_t coordinates[ELEMENT_COORDINATES];
  uint32_t count = 0;
  TENON_TRY(tenon__index_ranked(e, call->children[0], &tensor));
  for (uint32_t i = 1; i < call->child_count; ++i) {
    value_t value = {0};
    TENON_TRY(tenon__index_evaluate(e, call->children[i], &value));
    const uint32_t more = value.kind == TENON_INDEX_NUMBER ? 1 : value.count;
    if ((value.kind != TENON_INDEX_NUMBER && value.kind != TENON_INDEX_DIMS) ||
        count + more > ELEMENT_COORDINATES) {
      return tenon__index_fail(e, call->children[i], TENON_ERROR_INVALID_DATA,
                               "coordinates are expected here");
    }
    for (uint32_t k = 0; k < more; ++k) {
      coordinates[count++] = value.kind == TENON_INDEX_NUMBER ? value.dim : value.dims[k];
    }
  }
  if (tensor.is_output || tensor.value == NULL || count != tensor.rank) {
    return tenon__index_fail(e, call, TENON_ERROR_INVALID_DATA,
                             "%u coordinates for '%s', which has rank %u", count, tensor.port->name,
                             tensor.rank);
  }
  tenon_dim_t dim = TENON_DIM_INVALID;
  if (!known_element(e, &tensor, coordinates, &dim)) {
    dim = tenon__dim_element(e->pool, tensor.value->argument, coordinates, count);
  }
  return tenon__index_give(e, call, dim, out);
}

typedef struct function_t {
  const char* name;
  uint32_t least;
  uint32_t most;
  tenon_status_t (*call)(environment_t* e, const syntax_t* call, value_t* out);
} function_t;

static const function_t functions[] = {
    {"rank", 1, 1, call_rank},
    {"dim", 2, 2, call_dim},
    {"elements", 1, 3, call_elements},
    {"count", 1, 1, call_count},
    {"len", 1, 1, tenon__index_call_len},
    {"value", 1, 1, tenon__index_call_value},
    {"at", 3, 3, tenon__index_call_at},
    {"index_of", 2, 2, tenon__index_call_index_of},
    {"has", 2, 2, tenon__index_call_index_of},
    {"axis_of", 3, 3, tenon__index_call_axis_of},
    {"wrap", 2, 2, call_wrap},
    {"min", 1, 64, call_extremum},
    {"max", 1, 64, call_extremum},
    {"abs", 1, 1, call_abs},
    {"clamp", 3, 3, call_clamp},
    {"ceil_div", 2, 2, call_ceil_div},
    {"prod", 1, 3, tenon__index_call_fold},
    {"total", 1, 3, tenon__index_call_fold},
    {"sum_dim", 2, 2, call_sum_dim},
    {"same_dim", 2, 2, call_same_dim},
    {"before", 2, 2, call_before},
    {"present", 1, 1, call_present},
    {"defined", 1, 1, call_defined},
    {"dtype", 1, 1, call_dtype},
    {"fresh", 0, 1, call_fresh},
    {"floor", 1, 1, call_round},
    {"ceil", 1, 1, call_round},
    {"round", 1, 1, call_round},
    {"o", 1, 1, call_o},
    {"element", 1, 65, call_element},
};

tenon_status_t tenon__index_call(tenon__index_environment_t* environment,
                                 const tenon__syntax_t* call, tenon__index_value_t* out_value) {
  for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); ++i) {
    if (strcmp(functions[i].name, call->text) != 0) {
      continue;
    }
    if (call->child_count < functions[i].least || call->child_count > functions[i].most) {
      return tenon__index_fail(environment, call, TENON_ERROR_INVALID_DATA,
                               "%s takes %u to %u arguments, not %u", call->text,
                               functions[i].least, functions[i].most, call->child_count);
    }
    return functions[i].call(environment, call, out_value);
  }
  return tenon__index_fail(environment, call, TENON_ERROR_INVALID_DATA,
                           "there is no function '%s' here", call->text);
}
