/* Shape rules, and the contents of outputs that are shapes themselves. */
#include "core/language/shape_rule.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"
#include "core/dimension/requirement.h"
#include "core/language/evaluator.h"
#include "core/language/named_tensor.h"
#include "core/tensor/type.h"

typedef tenon__environment_t environment_t;
typedef tenon__inferred_shape_t shape_t;

/* One extent from two that broadcast; INVALID when they cannot. */
static tenon_dim_t broadcast_extents(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b) {
  int64_t x = 0;
  int64_t y = 0;
  int64_t low = 0;
  int64_t high = 0;
  const bool a_known = tenon__dim_known(pool, a, &x);
  const bool b_known = tenon__dim_known(pool, b, &y);
  tenon__dim_require_broadcast(pool, a, b);
  if (tenon__dim_equal(a, b) || (b_known && y == 1)) {
    return a;
  }
  if (a_known && x == 1) {
    return b;
  }
  if (a_known && b_known) {
    return x == y ? a : TENON_DIM_INVALID;
  }
  if (a_known || b_known) {
    return a_known ? a : b;
  }
  /* Both symbolic: what is certainly not 1 says the extent, the other is checked when running. */
  tenon__dim_range(pool, a, &low, &high);
  if (low > 1) {
    return a;
  }
  tenon__dim_range(pool, b, &low, &high);
  if (low > 1) {
    return b;
  }
  const tenon_dim_t first = a.id < b.id ? a : b;
  const tenon_dim_t second = a.id < b.id ? b : a;
  const tenon_dim_t one = tenon__dim_constant(pool, 1);
  return tenon__dim_select(pool, tenon__dim_combine(pool, TENON_OPCODE_EQ, first, one), second,
                           first);
}

static tenon_status_t broadcast_fault(tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                      const shape_t* a, const shape_t* b,
                                      const tenon_sink_t* sink) {
  TENON_TRY_MEMORY(!tenon__dim_pool_failed(pool));
  return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "shapes %s and %s do not broadcast",
                     tenon__dims_text(pool, a->dims, a->rank, arena),
                     tenon__dims_text(pool, b->dims, b->rank, arena));
}

tenon_status_t tenon__shape_broadcast(tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                      const shape_t* shapes, uint32_t count,
                                      const tenon_sink_t* sink, shape_t* out_shape) {
  shape_t result = {0, NULL};
  for (uint32_t i = 0; i < count; ++i) {
    const shape_t* shape = &shapes[i];
    const uint32_t rank = shape->rank > result.rank ? shape->rank : result.rank;
    tenon_dim_t* dims = tenon__arena_allocate(arena, rank + 1u, sizeof(*dims));
    TENON_TRY_MEMORY(dims != NULL);
    for (uint32_t k = 0; k < rank; ++k) {
      const bool in_result = k + result.rank >= rank;
      const bool in_shape = k + shape->rank >= rank;
      const tenon_dim_t a = in_result ? result.dims[k + result.rank - rank] : TENON_DIM_INVALID;
      const tenon_dim_t b = in_shape ? shape->dims[k + shape->rank - rank] : TENON_DIM_INVALID;
      dims[k] = in_result && in_shape ? broadcast_extents(pool, a, b) : in_result ? a : b;
      if (tenon__dim_equal(dims[k], TENON_DIM_INVALID)) {
        return broadcast_fault(pool, arena, &result, shape, sink);
      }
    }
    result = (shape_t){rank, dims};
  }
  *out_shape = result;
  return TENON_OK;
}

static tenon_status_t whole_shape(environment_t* e, const tenon__syntax_t* syntax,
                                  shape_t* out_shape);

/* Appends the shapes that one argument of broadcast means; a variadic port means all its items. */
static tenon_status_t add_shapes(environment_t* e, const tenon__syntax_t* syntax, shape_t* shapes,
                                 uint32_t* inout_count) {
  bool is_output = false;
  const tenon__scope_port_t* port = syntax->kind == TENON_SYNTAX_NAME
                                        ? tenon__scope_port(e->scope, syntax->text, &is_output)
                                        : NULL;
  if (port == NULL || is_output) {
    TENON_TRY(whole_shape(e, syntax, &shapes[*inout_count]));
    *inout_count += 1;
    return TENON_OK;
  }
  for (uint32_t i = 0; i < port->count; ++i) {
    const tenon__scope_value_t* value = &port->values[i];
    if (!value->present) {
      continue;
    }
    if (value->type.rank == TENON_NONE) {
      return tenon__language_unsupported(e, syntax, "the rank of '%s' is not known", port->name);
    }
    shapes[(*inout_count)++] = (shape_t){value->type.rank, value->type.dims};
  }
  return TENON_OK;
}

static tenon_status_t broadcast_call(environment_t* e, const tenon__syntax_t* call,
                                     shape_t* out_shape) {
  uint32_t capacity = call->child_count;
  for (uint32_t i = 0; i < e->scope->input_count; ++i) {
    capacity += e->scope->inputs[i].count * call->child_count;
  }
  shape_t* shapes = tenon__arena_allocate(e->arena, capacity + 1u, sizeof(*shapes));
  uint32_t count = 0;
  TENON_TRY_MEMORY(shapes != NULL);
  for (uint32_t i = 0; i < call->child_count; ++i) {
    TENON_TRY(add_shapes(e, call->children[i], shapes, &count));
  }
  return tenon__shape_broadcast(e->pool, e->arena, shapes, count, e->sink, out_shape);
}

/* A list as a shape. */
static tenon_status_t listed_shape(environment_t* e, const tenon__syntax_t* syntax,
                                   shape_t* out_shape) {
  tenon__language_value_t list = {0};
  TENON_TRY(tenon__language_list(e, syntax, &list));
  tenon_dim_t* dims = tenon__arena_allocate(e->arena, list.count + 1u, sizeof(*dims));
  TENON_TRY_MEMORY(dims != NULL);
  for (uint32_t i = 0; i < list.count; ++i) {
    const tenon__language_value_t item = tenon__language_item(e, &list, i);
    if (item.kind == TENON_LANGUAGE_REAL) {
      return tenon__language_refuse(e, syntax, "a shape is expected, not a list of floats");
    }
    dims[i] = tenon__language_dim(e, &item);
  }
  *out_shape = (shape_t){list.count, dims};
  return TENON_OK;
}

static tenon_status_t shape_of_port(environment_t* e, const tenon__syntax_t* syntax,
                                    shape_t* out_shape) {
  tenon__named_tensor_t tensor = {0};
  TENON_TRY(tenon__ranked_tensor(e, syntax, &tensor));
  tenon_dim_t* dims = tenon__arena_allocate(e->arena, tensor.rank + 1u, sizeof(*dims));
  TENON_TRY_MEMORY(dims != NULL);
  for (uint32_t i = 0; i < tensor.rank; ++i) {
    TENON_TRY(tenon__tensor_extent(e, syntax, &tensor, i, &dims[i]));
  }
  *out_shape = (shape_t){tensor.rank, dims};
  return TENON_OK;
}

/* The shape that "y = ..." says: of a port, of broadcast(...), a list, a choice of these. */
static tenon_status_t whole_shape(environment_t* e, const tenon__syntax_t* syntax,
                                  shape_t* out_shape) {
  if (syntax->kind == TENON_SYNTAX_SELECT) {
    int64_t holds = 0;
    TENON_TRY(tenon__language_known(e, syntax->children[0], &holds));
    return whole_shape(e, syntax->children[holds != 0 ? 1 : 2], out_shape);
  }
  if (syntax->kind == TENON_SYNTAX_CALL && strcmp(syntax->text, "broadcast") == 0) {
    return broadcast_call(e, syntax, out_shape);
  }
  const tenon__syntax_t* name = syntax->kind == TENON_SYNTAX_INDEX ? syntax->children[0] : syntax;
  if (tenon__names_port(e, name)) {
    return shape_of_port(e, syntax, out_shape);
  }
  return listed_shape(e, syntax, out_shape);
}

static tenon_status_t known_statement(environment_t* e, const tenon__statement_t* statement,
                                      int64_t most, int64_t* out_value) {
  tenon__environment_set_loop(e, TENON__LOOP_SUBSCRIPT, NULL, 0);
  e->let_end = (uint32_t)(statement - e->text->statements);
  TENON_TRY(tenon__language_known(e, statement->value, out_value));
  if (*out_value < 0 || *out_value > most) {
    return tenon__language_refuse(e, statement->value, "%s.%s is %lld, not in 0 to %lld",
                                  statement->target, statement->member, (long long)*out_value,
                                  (long long)most);
  }
  return TENON_OK;
}

/* y.rank = ...; y[d] = ... */
static tenon_status_t axis_by_axis(environment_t* e, const tenon__scope_port_t* port,
                                   shape_t* inout_shape) {
  const tenon__statement_t* rank_statement = tenon__text_statement(e->text, port->name, "rank");
  int64_t rank = 0;
  if (rank_statement == NULL) {
    return tenon__fail(e->sink, TENON_ERROR_INVALID_DATA, "the rule says nothing of output '%s'",
                       port->name);
  }
  TENON_TRY(known_statement(e, rank_statement, TENON_RANK_LIMIT, &rank));
  tenon_dim_t* dims = tenon__arena_allocate(e->arena, (size_t)rank + 1, sizeof(*dims));
  TENON_TRY_MEMORY(dims != NULL);
  for (int64_t d = 0; d < rank; ++d) {
    dims[d] = TENON_DIM_INVALID;
  }
  *inout_shape = (shape_t){(uint32_t)rank, dims};
  for (uint32_t d = 0; d < (uint32_t)rank; ++d) {
    const tenon__statement_t* statement = tenon__environment_select(e, NULL, port->name, d);
    if (statement == NULL) {
      return tenon__fail(e->sink, TENON_ERROR_INVALID_DATA,
                         "the rule says nothing of axis %u of output '%s'", d, port->name);
    }
    e->fresh_axis = d;
    tenon_dim_t dim = TENON_DIM_INVALID;
    int64_t low = 0;
    int64_t high = 0;
    TENON_TRY(tenon__language_statement(e, statement, &dim));
    tenon__dim_range(e->pool, dim, &low, &high);
    if (high < 0) {
      return tenon__language_refuse(e, statement->value, "extent %u of '%s' is negative: %s", d,
                                    port->name, tenon__dim_text(e->pool, dim, e->arena));
    }
    dims[d] = dim;
  }
  return TENON_OK;
}

static tenon_status_t shape_of_item(environment_t* e, const tenon__scope_port_t* port,
                                    shape_t* inout_shape) {
  const tenon__statement_t* count_statement = tenon__text_statement(e->text, port->name, "count");
  const tenon__statement_t* whole = tenon__text_statement(e->text, port->name, NULL);
  if (count_statement != NULL) {
    int64_t count = 0;
    TENON_TRY(known_statement(e, count_statement, INT32_MAX, &count));
    if (count != (int64_t)port->count) {
      return tenon__fail(e->sink, TENON_ERROR_INVALID_DATA,
                         "output '%s' has %lld items, the node has %u", port->name,
                         (long long)count, port->count);
    }
  }
  if (whole == NULL) {
    return axis_by_axis(e, port, inout_shape);
  }
  tenon__environment_set_loop(e, TENON__LOOP_SUBSCRIPT, NULL, 0);
  e->let_end = (uint32_t)(whole - e->text->statements);
  e->fresh_axis = 0;
  return whole_shape(e, whole->value, inout_shape);
}

tenon_status_t tenon__shape_rule_evaluate(const tenon__node_text_t* rule, tenon__fresh_t fresh,
                                          shape_t* shapes, uint32_t shape_count) {
  environment_t environment;
  shape_t* found = tenon__arena_allocate(rule->arena, shape_count + 1u, sizeof(*found));
  TENON_TRY_MEMORY(found != NULL);
  for (uint32_t i = 0; i < shape_count; ++i) {
    found[i] = (shape_t){TENON_NONE, NULL};
  }
  TENON_TRY(tenon__language_begin(rule, &environment));
  environment.fresh = fresh;
  environment.shapes = found;
  environment.shape_count = shape_count;
  for (uint32_t i = 0; i < shape_count; ++i) {
    uint32_t item = 0;
    const tenon__scope_port_t* port = tenon__scope_output(rule->scope, i, &item);
    if (port == NULL) {
      return tenon__fail(rule->sink, TENON_ERROR_INVALID_ARGUMENT, "there is no output %u", i);
    }
    if (port->values != NULL && !port->values[item].present) {
      found[i] = (shape_t){0, NULL};
      continue;
    }
    tenon__environment_set_output(&environment, port, item);
    environment.fresh_output = i;
    TENON_TRY(shape_of_item(&environment, port, &found[i]));
  }
  if (shape_count > 0) {
    memcpy(shapes, found, shape_count * sizeof(*shapes));
  }
  return TENON_OK;
}

tenon_status_t tenon__contents_evaluate(const tenon__node_text_t* rule, uint32_t output,
                                        const shape_t* shape, tenon__type_t* inout_type) {
  environment_t environment;
  int64_t extents[TENON_RANK_LIMIT];
  uint32_t item = 0;
  uint32_t count = 0;
  const tenon__scope_port_t* port = tenon__scope_output(rule->scope, output, &item);
  TENON_TRY(tenon__language_begin(rule, &environment));
  if (port == NULL ||
      !tenon__type_is_small(rule->scope->pool, shape->rank, shape->dims, extents, &count)) {
    return TENON_OK;
  }
  environment.space = shape;
  tenon__environment_set_output(&environment, port, item);
  tenon_dim_t* contents = tenon__arena_allocate(rule->arena, count + 1u, sizeof(*contents));
  TENON_TRY_MEMORY(contents != NULL);
  for (uint32_t i = 0; i < count; ++i) {
    const tenon__statement_t* statement =
        tenon__environment_select(&environment, NULL, port->name, i);
    statement = statement == NULL ? tenon__text_statement(rule->text, port->name, NULL) : statement;
    if (statement == NULL) {
      return TENON_OK;
    }
    TENON_TRY(tenon__language_statement(&environment, statement, &contents[i]));
  }
  inout_type->contents = contents;
  inout_type->content_count = count;
  return TENON_OK;
}
