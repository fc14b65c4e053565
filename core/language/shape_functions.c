/* Functions on tensors. */
#include "core/language/shape_functions.h"

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/requirement.h"
#include "core/tensor/dtype.h"

typedef tenon__function_call_t call_t;
typedef tenon__environment_t environment_t;
typedef tenon__language_value_t value_t;
typedef tenon__syntax_t syntax_t;

/* Argument `at` as an axis of `tensor`: negative from the end; `past` axes may lie behind the last.
 */
static tenon_status_t wrap_axis(const call_t* c, uint32_t at, const tenon__named_tensor_t* tensor,
                                int64_t past, uint32_t* out_axis) {
  const int64_t axis = c->values[at].integer;
  const int64_t rank = (int64_t)tensor->rank;
  const int64_t wrapped = axis < 0 ? axis + rank : axis;
  if (wrapped < 0 || wrapped >= rank + past) {
    return tenon__language_refuse(c->e, c->syntax->children[at],
                                  "axis %lld of '%s', which has rank %u", (long long)axis,
                                  tensor->port->name, tensor->rank);
  }
  *out_axis = (uint32_t)wrapped;
  return TENON_OK;
}

/* rank(x) */
static tenon_status_t call_rank(call_t* c, value_t* out) {
  *out = tenon__value_of_integer((int64_t)c->tensor.rank);
  return TENON_OK;
}

/* dim(x, k): negative k from the end */
static tenon_status_t call_dim(call_t* c, value_t* out) {
  tenon_dim_t dim = TENON_DIM_INVALID;
  uint32_t axis = 0;
  TENON_TRY(wrap_axis(c, 1, &c->tensor, 0, &axis));
  TENON_TRY(tenon__tensor_extent(c->e, c->syntax, &c->tensor, axis, &dim));
  return tenon__language_give(c->e, c->syntax, dim, out);
}

/* elements(x), elements(x, a, b): of axes a to b - 1 */
static tenon_status_t call_elements(call_t* c, value_t* out) {
  uint32_t bounds[2] = {0, c->tensor.rank};
  for (uint32_t i = 1; i < c->syntax->child_count; ++i) {
    TENON_TRY(wrap_axis(c, i, &c->tensor, 1, &bounds[i - 1]));
  }
  tenon_dim_t product = tenon__dim_constant(c->e->pool, 1);
  for (uint32_t i = bounds[0]; i < bounds[1]; ++i) {
    tenon_dim_t extent = TENON_DIM_INVALID;
    TENON_TRY(tenon__tensor_extent(c->e, c->syntax, &c->tensor, i, &extent));
    product = tenon__dim_multiply(c->e->pool, product, extent);
  }
  return tenon__language_give(c->e, c->syntax, product, out);
}

/* count(xs): items of a variadic port */
static tenon_status_t call_count(call_t* c, value_t* out) {
  *out = tenon__value_of_integer((int64_t)c->tensor.port->count);
  return TENON_OK;
}

/* The extent of item `index` of a variadic port along the axis that argument 1 says. */
static tenon_status_t item_extent(const call_t* c, const tenon__scope_port_t* port, uint32_t index,
                                  tenon_dim_t* out_dim) {
  const tenon__scope_value_t* value = &port->values[index];
  const tenon__named_tensor_t tensor = {
      .port = port, .rank = value->type.rank, .dims = value->type.dims, .value = value};
  uint32_t axis = 0;
  if (value->type.rank == TENON_NONE) {
    return tenon__language_unsupported(c->e, c->syntax, "the rank of item %u of '%s' is not known",
                                       index, port->name);
  }
  TENON_TRY(wrap_axis(c, 1, &tensor, 0, &axis));
  return tenon__tensor_extent(c->e, c->syntax, &tensor, axis, out_dim);
}

/* Sum of the axis that argument 1 says over the first `end` items of a variadic port. Goes on from
 * the sum before, so that asking for one item after the other adds each extent once. */
static tenon_status_t sum_extents(const call_t* c, const tenon__scope_port_t* port, int64_t end,
                                  value_t* out) {
  tenon__running_extent_t* running = &c->e->running;
  const int64_t axis = c->values[1].integer;
  if (running->port != port || running->axis != axis || running->count > end) {
    *running = (tenon__running_extent_t){port, axis, 0, tenon__dim_constant(c->e->pool, 0)};
  }
  for (; running->count < end; ++running->count) {
    tenon_dim_t extent = TENON_DIM_INVALID;
    TENON_TRY(item_extent(c, port, (uint32_t)running->count, &extent));
    running->sum = tenon__dim_add(c->e->pool, running->sum, extent);
  }
  return tenon__language_give(c->e, c->syntax, running->sum, out);
}

/* same_dim(xs, k): that all items must have. Known extents count before symbols, the first before
 * others. */
static tenon_status_t call_same_dim(call_t* c, value_t* out) {
  tenon__dim_pool_t* pool = c->e->pool;
  const tenon__scope_port_t* port = c->tensor.port;
  tenon_dim_t result = TENON_DIM_INVALID;
  if (port->values == NULL || port->count == 0) {
    return tenon__language_refuse(c->e, c->syntax, "'%s' has no shapes", port->name);
  }
  for (uint32_t i = 0; i < port->count; ++i) {
    tenon_dim_t extent = TENON_DIM_INVALID;
    int64_t own = 0;
    int64_t others = 0;
    TENON_TRY(item_extent(c, port, i, &extent));
    const bool known = tenon__dim_known(pool, extent, &own);
    if (i > 0 && known && tenon__dim_known(pool, result, &others) && own != others) {
      return tenon__language_refuse(c->e, c->syntax, "the items of '%s' have extents %lld and %lld",
                                    port->name, (long long)others, (long long)own);
    }
    if (i > 0) {
      tenon__dim_require(pool, tenon__dim_combine(pool, TENON_OPCODE_EQ, result, extent),
                         "the items have different extents");
    }
    result = i == 0 || (known && !tenon__dim_known(pool, result, &others)) ? extent : result;
  }
  return tenon__language_give(c->e, c->syntax, result, out);
}

/* sum_dim(xs, k): of all items */
static tenon_status_t call_sum_dim(call_t* c, value_t* out) {
  const tenon__scope_port_t* port = c->tensor.port;
  return port->values == NULL
             ? tenon__language_refuse(c->e, c->syntax, "'%s' has no shapes yet", port->name)
             : sum_extents(c, port, (int64_t)port->count, out);
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

/* before(k, a): extents a of the items before item k */
static tenon_status_t call_before(call_t* c, value_t* out) {
  const tenon__scope_port_t* port = find_variadic(c->e->scope);
  const int64_t end = c->values[0].integer;
  if (port == NULL || port->values == NULL || end < 0 || end > (int64_t)port->count) {
    return tenon__language_refuse(c->e, c->syntax, "there are no %lld items before this one",
                                  (long long)end);
  }
  return sum_extents(c, port, end, out);
}

/* present(x) */
static tenon_status_t call_present(call_t* c, value_t* out) {
  *out = tenon__value_of_truth(c->tensor.present);
  return TENON_OK;
}

/* defined(attribute): set by the node, not defaulted */
static tenon_status_t call_defined(call_t* c, value_t* out) {
  const syntax_t* name = c->syntax->children[0];
  const tenon__scope_attribute_t* attribute =
      name->kind == TENON_SYNTAX_NAME ? tenon__scope_attribute(c->e->scope, name->text) : NULL;
  if (attribute == NULL) {
    return tenon__language_refuse(c->e, name, "the name of an attribute is expected");
  }
  *out = tenon__value_of_truth(attribute->defined);
  return TENON_OK;
}

/* dtype(x): the type's mnemonic */
static tenon_status_t call_dtype(call_t* c, value_t* out) {
  const tenon__scope_port_t* port = c->tensor.port;
  const bool has_value = port->values != NULL && c->tensor.item < port->count;
  *out = tenon__value_of_text(tenon__dtype_name(has_value ? port->values[c->tensor.item].type.dtype
                                                          : TENON_DTYPE_UNDEFINED));
  return TENON_OK;
}

/* fresh(bound), fresh(): shape rules only */
static tenon_status_t call_fresh(call_t* c, value_t* out) {
  const environment_t* e = c->e;
  const tenon_dim_t bound = c->syntax->child_count > 0 ? c->values[0].dim : TENON_DIM_INVALID;
  if (e->fresh.make == NULL) {
    return tenon__language_refuse(e, c->syntax, "fresh extents belong to shape rules alone");
  }
  const tenon_dim_t fresh = e->fresh.make(e->fresh.user, e->fresh_output, e->fresh_axis, bound);
  if (tenon__dim_equal(fresh, TENON_DIM_INVALID)) {
    return TENON_ERROR_OUT_OF_MEMORY; /* nothing else can be wrong with it */
  }
  return tenon__language_give(e, c->syntax, fresh, out);
}

static tenon_status_t coordinate(environment_t* e, const syntax_t* call, int64_t axis,
                                 tenon_dim_t* out_dim) {
  if (axis < 0 || axis >= (int64_t)e->space->rank) {
    return tenon__language_refuse(e, call, "coordinate %lld of an output of rank %u",
                                  (long long)axis, e->space->rank);
  }
  *out_dim = tenon__dim_coordinate(e->pool, (uint32_t)axis, e->space->dims[axis]);
  return tenon__dim_equal(*out_dim, TENON_DIM_INVALID) ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* o(j), or the list o(p..q): moves only */
static tenon_status_t call_coordinate(call_t* c, value_t* out) {
  environment_t* e = c->e;
  const syntax_t* call = c->syntax;
  const syntax_t* what = call->children[0];
  int64_t begin = 0;
  if (e->space == NULL) {
    return tenon__language_refuse(e, call, "coordinates belong to moves alone");
  }
  if (what->kind != TENON_SYNTAX_RANGE) {
    tenon_dim_t dim = TENON_DIM_INVALID;
    TENON_TRY(tenon__language_known(e, what, &begin));
    TENON_TRY(coordinate(e, call, begin, &dim));
    return tenon__language_give(e, call, dim, out);
  }
  int64_t end = (int64_t)e->space->rank;
  TENON_TRY(tenon__language_known(e, what->children[0], &begin));
  if (what->child_count > 1) {
    TENON_TRY(tenon__language_known(e, what->children[1], &end));
  }
  const int64_t count = end > begin ? end - begin : 0;
  if (count > (int64_t)e->space->rank) {
    return coordinate(e, call, end - 1, &(tenon_dim_t){0});
  }
  tenon_dim_t* dims = tenon__arena_allocate(e->arena, (size_t)count + 1, sizeof(*dims));
  TENON_TRY_MEMORY(dims != NULL);
  for (int64_t i = 0; i < count; ++i) {
    TENON_TRY(coordinate(e, call, begin + i, &dims[i]));
  }
  *out = tenon__value_of_dims(dims, (uint32_t)count);
  return TENON_OK;
}

enum { ELEMENT_COORDINATES = 64 };

/* Contents that are tracked are better than an element read when running. */
static bool known_element(const environment_t* e, const tenon__named_tensor_t* tensor,
                          const tenon_dim_t* coordinates, tenon_dim_t* out_dim) {
  int64_t places[ELEMENT_COORDINATES];
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    if (!tenon__dim_known(e->pool, coordinates[i], &places[i])) {
      return false;
    }
  }
  return tenon__type_content(e->pool, &tensor->value->type, places, out_dim) == TENON_CONTENT_FOUND;
}

/* A number, or the coordinates of o(p..q). */
static tenon_status_t add_coordinates(environment_t* e, const syntax_t* syntax,
                                      tenon_dim_t* coordinates, uint32_t* inout_count) {
  value_t value = {0};
  TENON_TRY(e->evaluate(e, syntax, &value));
  const bool is_list = value.kind == TENON_LANGUAGE_LIST;
  const uint32_t more = is_list ? value.count : 1;
  for (uint32_t i = 0; i < more; ++i) {
    const value_t item = is_list ? tenon__language_item(e, &value, i) : value;
    if ((!tenon__value_is_known(&item) && item.kind != TENON_LANGUAGE_DIMENSION) ||
        *inout_count == ELEMENT_COORDINATES) {
      return tenon__language_refuse(e, syntax, "a coordinate is expected: an integer, or o(p..q)");
    }
    coordinates[(*inout_count)++] = tenon__language_dim(e, &item);
  }
  return TENON_OK;
}

/* element(x, c0, c1, ...): an integer that the run reads */
static tenon_status_t call_element(call_t* c, value_t* out) {
  environment_t* e = c->e;
  const tenon__named_tensor_t* tensor = &c->tensor;
  tenon_dim_t coordinates[ELEMENT_COORDINATES];
  uint32_t count = 0;
  for (uint32_t i = 1; i < c->syntax->child_count; ++i) {
    TENON_TRY(add_coordinates(e, c->syntax->children[i], coordinates, &count));
  }
  if (tensor->is_output || tensor->value == NULL || count != tensor->rank) {
    return tenon__language_refuse(e, c->syntax, "%u coordinates for '%s', which has rank %u", count,
                                  tensor->port->name, tensor->rank);
  }
  tenon_dim_t dim = TENON_DIM_INVALID;
  if (!known_element(e, tensor, coordinates, &dim)) {
    dim = tenon__dim_element(e->pool, tensor->value->argument, coordinates, count);
  }
  return tenon__language_give(e, c->syntax, dim, out);
}

const tenon__function_t tenon__shape_functions[] = {
    {"rank", 1, 1, "r", call_rank, false},           {"dim", 2, 2, "rk", call_dim, false},
    {"elements", 1, 3, "rkk", call_elements, false}, {"count", 1, 1, "t", call_count, false},
    {"sum_dim", 2, 2, "tk", call_sum_dim, false},    {"same_dim", 2, 2, "tk", call_same_dim, false},
    {"before", 2, 2, "kk", call_before, false},      {"present", 1, 1, "t", call_present, false},
    {"defined", 1, 1, "", call_defined, false},      {"dtype", 1, 1, "t", call_dtype, false},
    {"fresh", 0, 1, "n", call_fresh, false},         {"o", 1, 1, "", call_coordinate, false},
    {"element", 1, 65, "r", call_element, false},    {NULL, 0, 0, NULL, NULL, false},
};
