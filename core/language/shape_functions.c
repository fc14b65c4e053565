/* Functions on tensors. */
#include "core/language/shape_functions.h"

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/requirement.h"
#include "core/language/named_tensor.h"
#include "core/language/scope_lookup.h"
#include "core/tensor/dtype.h"

typedef tenon__environment_t environment_t;
typedef tenon__language_value_t value_t;
typedef tenon__syntax_t syntax_t;

/* Argument `at` as an axis of `tensor`: known, negative from the end; `past` axes may lie behind
 * the last. */
static tenon_status_t axis_argument(environment_t* e, const syntax_t* call, uint32_t at,
                                    const tenon__named_tensor_t* tensor, int64_t past,
                                    uint32_t* out_axis) {
  int64_t axis = 0;
  TENON_TRY(tenon__language_known(e, call->children[at], &axis));
  const int64_t rank = (int64_t)tensor->rank;
  const int64_t wrapped = axis < 0 ? axis + rank : axis;
  if (wrapped < 0 || wrapped >= rank + past) {
    return tenon__language_refuse(e, call->children[at], "axis %lld of '%s', which has rank %u",
                                  (long long)axis, tensor->port->name, tensor->rank);
  }
  *out_axis = (uint32_t)wrapped;
  return TENON_OK;
}

tenon_status_t tenon__call_rank(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__named_tensor_t tensor = {0};
  TENON_TRY(tenon__ranked_tensor(e, call->children[0], &tensor));
  *out = tenon__value_of_integer((int64_t)tensor.rank);
  return TENON_OK;
}

tenon_status_t tenon__call_dim(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__named_tensor_t tensor = {0};
  tenon_dim_t dim = TENON_DIM_INVALID;
  uint32_t axis = 0;
  TENON_TRY(tenon__ranked_tensor(e, call->children[0], &tensor));
  TENON_TRY(axis_argument(e, call, 1, &tensor, 0, &axis));
  TENON_TRY(tenon__tensor_extent(e, call, &tensor, axis, &dim));
  return tenon__language_give(e, call, dim, out);
}

tenon_status_t tenon__call_elements(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__named_tensor_t tensor = {0};
  TENON_TRY(tenon__ranked_tensor(e, call->children[0], &tensor));
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
    tenon_dim_t extent = TENON_DIM_INVALID;
    TENON_TRY(tenon__tensor_extent(e, call, &tensor, i, &extent));
    product = tenon__dim_multiply(e->pool, product, extent);
  }
  return tenon__language_give(e, call, product, out);
}

tenon_status_t tenon__call_count(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__named_tensor_t tensor = {0};
  TENON_TRY(tenon__named_tensor(e, call->children[0], &tensor));
  *out = tenon__value_of_integer((int64_t)tensor.port->count);
  return TENON_OK;
}

/* The extent of item `index` of a variadic port along the axis that argument 1 says. */
static tenon_status_t item_extent(environment_t* e, const syntax_t* call,
                                  const tenon__scope_port_t* port, uint32_t index,
                                  tenon_dim_t* out_dim) {
  const tenon__scope_value_t* value = &port->values[index];
  const tenon__named_tensor_t tensor = {
      .port = port, .rank = value->type.rank, .dims = value->type.dims, .value = value};
  uint32_t axis = 0;
  if (value->type.rank == TENON_NONE) {
    return tenon__language_unsupported(e, call, "the rank of item %u of '%s' is not known", index,
                                       port->name);
  }
  TENON_TRY(axis_argument(e, call, 1, &tensor, 0, &axis));
  return tenon__tensor_extent(e, call, &tensor, axis, out_dim);
}

/* Sum of the axis that argument 1 says over the first `end` items of a variadic port. Goes on from
 * the sum before, so that asking for one item after the other adds each extent once. */
static tenon_status_t sum_extents(environment_t* e, const syntax_t* call,
                                  const tenon__scope_port_t* port, int64_t end, value_t* out) {
  tenon__running_extent_t* running = &e->running;
  tenon_dim_t axis = TENON_DIM_INVALID;
  TENON_TRY(tenon__language_number(e, call->children[1], &axis));
  if (running->port != port || !tenon__dim_equal(running->axis, axis) || running->count > end) {
    *running = (tenon__running_extent_t){port, axis, 0, tenon__dim_constant(e->pool, 0)};
  }
  for (; running->count < end; ++running->count) {
    tenon_dim_t extent = TENON_DIM_INVALID;
    TENON_TRY(item_extent(e, call, port, (uint32_t)running->count, &extent));
    running->sum = tenon__dim_add(e->pool, running->sum, extent);
  }
  return tenon__language_give(e, call, running->sum, out);
}

/* Known extents count before symbols, the first before others. */
tenon_status_t tenon__call_same_dim(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__named_tensor_t tensor = {0};
  tenon_dim_t result = TENON_DIM_INVALID;
  TENON_TRY(tenon__named_tensor(e, call->children[0], &tensor));
  if (tensor.port->values == NULL || tensor.port->count == 0) {
    return tenon__language_refuse(e, call, "'%s' has no shapes", tensor.port->name);
  }
  for (uint32_t i = 0; i < tensor.port->count; ++i) {
    tenon_dim_t extent = TENON_DIM_INVALID;
    int64_t own = 0;
    int64_t others = 0;
    TENON_TRY(item_extent(e, call, tensor.port, i, &extent));
    const bool known = tenon__dim_known(e->pool, extent, &own);
    if (i > 0 && known && tenon__dim_known(e->pool, result, &others) && own != others) {
      return tenon__language_refuse(e, call, "the items of '%s' have extents %lld and %lld",
                                    tensor.port->name, (long long)others, (long long)own);
    }
    if (i > 0) {
      tenon__dim_require(e->pool, tenon__dim_combine(e->pool, TENON_OPCODE_EQ, result, extent),
                         "the items have different extents");
    }
    result = i == 0 || (known && !tenon__dim_known(e->pool, result, &others)) ? extent : result;
  }
  return tenon__language_give(e, call, result, out);
}

tenon_status_t tenon__call_sum_dim(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__named_tensor_t tensor = {0};
  TENON_TRY(tenon__named_tensor(e, call->children[0], &tensor));
  if (tensor.port->values == NULL) {
    return tenon__language_refuse(e, call, "'%s' has no shapes yet", tensor.port->name);
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

tenon_status_t tenon__call_before(environment_t* e, const syntax_t* call, value_t* out) {
  const tenon__scope_port_t* port = find_variadic(e->scope);
  int64_t end = 0;
  TENON_TRY(tenon__language_known(e, call->children[0], &end));
  if (port == NULL || port->values == NULL || end < 0 || end > (int64_t)port->count) {
    return tenon__language_refuse(e, call, "there are no %lld items before this one",
                                  (long long)end);
  }
  return sum_extents(e, call, port, end, out);
}

tenon_status_t tenon__call_present(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__named_tensor_t tensor = {0};
  TENON_TRY(tenon__named_tensor(e, call->children[0], &tensor));
  *out = tenon__value_of_truth(tensor.present);
  return TENON_OK;
}

tenon_status_t tenon__call_defined(environment_t* e, const syntax_t* call, value_t* out) {
  const syntax_t* name = call->children[0];
  const tenon__scope_attribute_t* attribute =
      name->kind == TENON_SYNTAX_NAME ? tenon__scope_attribute(e->scope, name->text) : NULL;
  if (attribute == NULL) {
    return tenon__language_refuse(e, name, "the name of an attribute is expected");
  }
  *out = tenon__value_of_truth(attribute->defined);
  return TENON_OK;
}

tenon_status_t tenon__call_dtype(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__named_tensor_t tensor = {0};
  TENON_TRY(tenon__named_tensor(e, call->children[0], &tensor));
  const bool has_value = tensor.port->values != NULL && tensor.item < tensor.port->count;
  *out = tenon__value_of_text(tenon__dtype_name(
      has_value ? tensor.port->values[tensor.item].type.dtype : TENON_DTYPE_UNDEFINED));
  return TENON_OK;
}

tenon_status_t tenon__call_fresh(environment_t* e, const syntax_t* call, value_t* out) {
  tenon_dim_t bound = TENON_DIM_INVALID;
  if (e->fresh.make == NULL) {
    return tenon__language_refuse(e, call, "fresh extents belong to shape rules alone");
  }
  if (call->child_count > 0) {
    TENON_TRY(tenon__language_number(e, call->children[0], &bound));
  }
  const tenon_dim_t fresh = e->fresh.make(e->fresh.user, e->fresh_output, e->fresh_axis, bound);
  if (tenon__dim_equal(fresh, TENON_DIM_INVALID)) {
    return TENON_ERROR_OUT_OF_MEMORY; /* nothing else can be wrong with it */
  }
  return tenon__language_give(e, call, fresh, out);
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

/* o(j), or the list o(p..q). */
tenon_status_t tenon__call_coordinate(environment_t* e, const syntax_t* call, value_t* out) {
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

tenon_status_t tenon__call_element(environment_t* e, const syntax_t* call, value_t* out) {
  tenon__named_tensor_t tensor = {0};
  tenon_dim_t coordinates[ELEMENT_COORDINATES];
  uint32_t count = 0;
  TENON_TRY(tenon__ranked_tensor(e, call->children[0], &tensor));
  for (uint32_t i = 1; i < call->child_count; ++i) {
    TENON_TRY(add_coordinates(e, call->children[i], coordinates, &count));
  }
  if (tensor.is_output || tensor.value == NULL || count != tensor.rank) {
    return tenon__language_refuse(e, call, "%u coordinates for '%s', which has rank %u", count,
                                  tensor.port->name, tensor.rank);
  }
  tenon_dim_t dim = TENON_DIM_INVALID;
  if (!known_element(e, &tensor, coordinates, &dim)) {
    dim = tenon__dim_element(e->pool, tensor.value->argument, coordinates, count);
  }
  return tenon__language_give(e, call, dim, out);
}
