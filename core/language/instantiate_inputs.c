/* Inputs as operands of a program, and axes of its space. */
#include "core/language/instantiate_inputs.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"
#include "core/dimension/requirement.h"
#include "core/language/instantiate.h"
#include "core/language/instantiate_worth.h"

const tenon__scope_port_t* tenon__find_input(const tenon__scope_t* scope, const char* name) {
  for (uint32_t i = 0; i < scope->input_count; ++i) {
    if (strcmp(scope->inputs[i].name, name) == 0) {
      return &scope->inputs[i];
    }
  }
  return NULL;
}

tenon_dtype_t tenon__named_type(const tenon__scope_t* scope, const char* name) {
  for (uint32_t i = 0; i < scope->type_count; ++i) {
    if (strcmp(scope->types[i].name, name) == 0) {
      return scope->types[i].dtype;
    }
  }
  for (uint32_t i = 0; i < scope->attribute_count; ++i) {
    const tenon__scope_attribute_t* attribute = &scope->attributes[i];
    if (attribute->kind == TENON_ATTRIBUTE_DTYPE && strcmp(attribute->name, name) == 0) {
      return (tenon_dtype_t)attribute->integer;
    }
  }
  return tenon__dtype_from_name(name);
}

/* Remembers, in the dry round, a shape that takes part in the space. */
static tenon_status_t remember_aligned(tenon__instantiation_t* in,
                                       const tenon__scope_value_t* value) {
  for (uint32_t i = 0; i < in->aligned_count; ++i) {
    if (in->aligned[i].dims == value->dims && in->aligned[i].rank == value->rank) {
      return TENON_OK;
    }
  }
  const tenon__inferred_shape_t shape = {value->rank, value->dims};
  if (in->aligned_count == in->aligned_capacity) {
    const uint32_t capacity = in->aligned_capacity * 2 + 4;
    tenon__inferred_shape_t* aligned = tenon__arena_allocate(in->arena, capacity, sizeof(shape));
    if (aligned == NULL) {
      return tenon__fail_memory(in->sink);
    }
    if (in->aligned_count > 0) {
      memcpy(aligned, in->aligned, in->aligned_count * sizeof(shape));
    }
    in->aligned = aligned;
    in->aligned_capacity = capacity;
  }
  in->aligned[in->aligned_count++] = shape;
  return TENON_OK;
}

static const char* fit_words(const tenon__instantiation_t* in, const char* name, tenon_dim_t dim,
                             tenon_dim_t extent) {
  const char* words = tenon__arena_format(in->arena, "'%s' has extent %s where the space has %s",
                                          name, tenon__dim_text(in->pool, dim, in->arena),
                                          tenon__dim_text(in->pool, extent, in->arena));
  return words == NULL ? "an input does not fit the space" : words;
}

/* The coordinate of an axis with extent `dim` that lies on axis `axis` of the space. An extent that
 * may be 1 where the space's is not makes the choice when running. Where the space is not made of
 * the inputs, whether the extent fits may be left to the run as well. */
static tenon_status_t aligned_coordinate(const tenon__instantiation_t* in,
                                         const tenon__syntax_t* syntax, const char* name,
                                         tenon_dim_t dim, uint32_t axis, bool is_made_of,
                                         tenon_dim_t* out) {
  tenon__dim_pool_t* pool = in->pool;
  const tenon_dim_t extent = in->space[axis];
  const tenon_dim_t zero = tenon__dim_constant(pool, 0);
  const tenon_dim_t one = tenon__dim_constant(pool, 1);
  const tenon_dim_t coordinate = tenon__dim_coordinate(pool, axis, extent);
  int64_t value = 0;
  int64_t most = 0;
  int64_t low = 0;
  int64_t high = 0;
  const bool known = tenon__dim_known(pool, dim, &value);
  const bool space_known = tenon__dim_known(pool, extent, &most);
  const bool requires_fit = !is_made_of && tenon__dim_pool_collects(pool) &&
                            !tenon__dim_equal(dim, extent) && !(known && value == 1);
  tenon__dim_range(pool, dim, &low, &high);
  if (requires_fit) {
    const tenon_dim_t fits = tenon__dim_combine(
        pool, TENON_OPCODE_MAX, tenon__dim_combine(pool, TENON_OPCODE_EQ, dim, one),
        tenon__dim_combine(pool, TENON_OPCODE_EQ, dim, extent));
    tenon__dim_require(pool, fits, fit_words(in, name, dim, extent));
  }
  if (known && value == 1) {
    *out = zero;
  } else if (known && space_known && value != most) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA,
                             "'%s' has extent %lld where the space has %lld", name,
                             (long long)value, (long long)most);
  } else if (low > 1 || tenon__dim_equal(dim, extent)) {
    *out = coordinate;
  } else {
    *out = tenon__dim_select(pool, tenon__dim_combine(pool, TENON_OPCODE_EQ, dim, one), zero,
                             coordinate);
  }
  return tenon__dim_pool_failed(pool) ? tenon__fail_memory(in->sink) : TENON_OK;
}

/* The access of a value aligned at the last axis, or along `along` alone. */
static tenon_status_t make_access(const tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                  const char* name, const tenon__scope_value_t* value,
                                  uint32_t along, tenon__access_t* out_access) {
  if (along != TENON_NONE ? value->rank > 1 : value->rank > in->rank) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA,
                             "'%s' has rank %u where at most %u fits", name, value->rank,
                             along != TENON_NONE ? 1u : in->rank);
  }
  tenon_dim_t* coordinates =
      tenon__arena_allocate(in->arena, value->rank + 1u, sizeof(*coordinates));
  if (coordinates == NULL) {
    return tenon__fail_memory(in->sink);
  }
  for (uint32_t i = 0; i < value->rank; ++i) {
    const uint32_t axis = along != TENON_NONE ? along : in->rank - value->rank + i;
    TENON_TRY(aligned_coordinate(in, syntax, name, value->dims[i], axis,
                                 along == TENON_NONE && !in->is_given, &coordinates[i]));
  }
  *out_access = (tenon__access_t){value->rank, coordinates};
  return TENON_OK;
}

tenon_status_t tenon__worth_input(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                  const tenon__scope_port_t* port, uint32_t item, uint32_t axis,
                                  tenon__worth_t* out_worth) {
  const tenon__scope_value_t* value = item < port->count ? &port->values[item] : NULL;
  if (value == NULL || !value->present) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA, "input '%s' is absent",
                             port->name);
  }
  const char kind = tenon__dtype_class(value->dtype);
  if (strchr("biuf", kind) == NULL || value->rank == TENON_NONE) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_UNSUPPORTED,
                             "expressions cannot read '%s' of type %s", port->name,
                             tenon__dtype_name(value->dtype));
  }
  tenon__access_t access = {.rank = TENON_NONE};
  if (in->dry && axis == TENON_NONE) {
    TENON_TRY(remember_aligned(in, value));
  } else if (!in->dry) {
    TENON_TRY(make_access(in, syntax, port->name, value, axis, &access));
  }
  const tenon_operand_t operand = {
      .kind = TENON_OPERAND_ARGUMENT,
      .index = value->argument,
      .dtype = value->dtype,
      .broadcast_axes =
          in->dry ? 0 : tenon__access_broadcast_axes(in->pool, &access, in->space, in->rank)};
  const uint32_t number = tenon__emit_operand(&in->builder, &operand, &access);
  *out_worth = (tenon__worth_t){
      .kind = TENON_WORTH_CODE,
      .code = tenon__emit_immediate(&in->builder, TENON_OPCODE_INPUT,
                                    tenon__dtype_arithmetic(value->dtype), 0, (int64_t)number)};
  return in->builder.failed ? tenon__fail_memory(in->sink) : TENON_OK;
}

static tenon_status_t wrap_axis(const tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                int64_t axis, uint32_t* out_axis) {
  if (in->dry) {
    *out_axis = 0;
    return TENON_OK;
  }
  const int64_t wrapped = axis < 0 ? axis + (int64_t)in->rank : axis;
  if (wrapped < 0 || wrapped >= (int64_t)in->rank) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA,
                             "axis %lld of a space of rank %u", (long long)axis, in->rank);
  }
  *out_axis = (uint32_t)wrapped;
  return TENON_OK;
}

tenon_status_t tenon__worth_axis(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 uint32_t* out_axis) {
  int64_t axis = 0;
  TENON_TRY(tenon__worth_integer(in, syntax, &axis));
  return wrap_axis(in, syntax, axis, out_axis);
}

static tenon_status_t add_axis(const tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                               int64_t axis, uint64_t* inout_mask) {
  uint32_t wrapped = 0;
  TENON_TRY(wrap_axis(in, syntax, axis, &wrapped));
  *inout_mask |= UINT64_C(1) << wrapped;
  return TENON_OK;
}

/* a..b or a..: negative bounds count from the end. */
static tenon_status_t add_range(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                uint64_t* inout_mask) {
  int64_t bounds[2] = {0, in->dry ? 0 : (int64_t)in->rank};
  for (uint32_t i = 0; i < syntax->child_count; ++i) {
    TENON_TRY(tenon__worth_integer(in, syntax->children[i], &bounds[i]));
    bounds[i] += bounds[i] < 0 && !in->dry ? (int64_t)in->rank : 0;
  }
  for (int64_t axis = bounds[0]; !in->dry && axis < bounds[1]; ++axis) {
    if (axis < 0 || axis >= (int64_t)in->rank) {
      return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA,
                               "axis %lld of a space of rank %u", (long long)axis, in->rank);
    }
    TENON_TRY(add_axis(in, syntax, axis, inout_mask));
  }
  return TENON_OK;
}

/* The constant contents of a shape operand; an absent one is an empty list. */
static tenon_status_t add_contents(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                   const tenon__scope_port_t* port, uint64_t* inout_mask,
                                   bool* out_is_empty) {
  const tenon__scope_value_t* value = port->count > 0 ? &port->values[0] : NULL;
  *out_is_empty = value == NULL || !value->present;
  if (*out_is_empty) {
    return TENON_OK;
  }
  if (value->contents == NULL) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_UNSUPPORTED,
                             "the contents of '%s' must be known when building", port->name);
  }
  *out_is_empty = value->content_count == 0;
  for (uint32_t i = 0; i < value->content_count; ++i) {
    int64_t axis = 0;
    if (!tenon__dim_known(in->pool, value->contents[i], &axis)) {
      return tenon__worth_fail(in, syntax, TENON_ERROR_UNSUPPORTED,
                               "the contents of '%s' must be known when building", port->name);
    }
    TENON_TRY(add_axis(in, syntax, axis, inout_mask));
  }
  return TENON_OK;
}

static tenon_status_t add_value(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                uint64_t* inout_mask, bool* out_is_empty) {
  tenon__worth_t worth = {0};
  TENON_TRY(tenon__worth_evaluate(in, syntax, &worth));
  *out_is_empty = false;
  if (worth.kind == TENON_WORTH_INTEGER) {
    return add_axis(in, syntax, worth.integer, inout_mask);
  }
  if (worth.kind != TENON_WORTH_LIST || worth.reals != NULL) {
    return tenon__worth_fail(in, syntax, TENON_ERROR_INVALID_DATA, "axes are expected here");
  }
  *out_is_empty = worth.count == 0;
  for (uint32_t i = 0; i < worth.count; ++i) {
    TENON_TRY(add_axis(in, syntax, worth.integers[i], inout_mask));
  }
  return TENON_OK;
}

/* [a, b..c, ...] */
static tenon_status_t add_list(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                               uint64_t* inout_mask) {
  for (uint32_t i = 0; i < syntax->child_count; ++i) {
    const tenon__syntax_t* item = syntax->children[i];
    bool ignored = false;
    TENON_TRY(item->kind == TENON_SYNTAX_RANGE ? add_range(in, item, inout_mask)
                                               : add_value(in, item, inout_mask, &ignored));
  }
  return TENON_OK;
}

static bool keeps_when_empty(const tenon__scope_t* scope) {
  for (uint32_t i = 0; i < scope->attribute_count; ++i) {
    const tenon__scope_attribute_t* attribute = &scope->attributes[i];
    if (attribute->kind == TENON_ATTRIBUTE_INT &&
        strcmp(attribute->name, "noop_with_empty_axes") == 0) {
      return attribute->integer == 1;
    }
  }
  return false;
}

tenon_status_t tenon__worth_axes(tenon__instantiation_t* in, const tenon__syntax_t* syntax,
                                 uint64_t* out_mask, bool* out_is_empty) {
  uint64_t mask = 0;
  bool is_empty = false;
  const tenon__scope_port_t* port =
      syntax->kind == TENON_SYNTAX_NAME ? tenon__find_input(in->scope, syntax->text) : NULL;
  if (syntax->kind == TENON_SYNTAX_RANGE) {
    TENON_TRY(add_range(in, syntax, &mask));
  } else if (syntax->kind == TENON_SYNTAX_LIST) {
    is_empty = syntax->child_count == 0;
    TENON_TRY(add_list(in, syntax, &mask));
  } else if (port != NULL) {
    TENON_TRY(add_contents(in, syntax, port, &mask, &is_empty));
  } else {
    TENON_TRY(add_value(in, syntax, &mask, &is_empty));
  }
  if (is_empty && !in->dry && !keeps_when_empty(in->scope)) {
    mask = tenon__axes_below(in->rank);
  }
  *out_mask = mask;
  *out_is_empty = is_empty;
  return TENON_OK;
}
