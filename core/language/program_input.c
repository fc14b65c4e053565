/* Elements of inputs, and axes of the space. */
#include "core/language/program_input.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_text.h"
#include "core/dimension/requirement.h"
#include "core/language/named_tensor.h"
#include "core/language/operation.h"
#include "core/tensor/dtype.h"

typedef tenon__environment_t environment_t;
typedef tenon__program_maker_t maker_t;
typedef tenon__syntax_t syntax_t;

/* An axis of an input, and where it lies in the space. */
typedef struct aligned_axis_t {
  const char* name; /* of the input */
  tenon_dim_t dim;
  uint32_t axis;
  bool makes_space; /* the space is the broadcast of this input and others */
} aligned_axis_t;

/* Keeps, in the dry round, a shape that takes part in the space. */
static tenon_status_t add_aligned(const environment_t* e, const tenon__scope_value_t* value) {
  maker_t* maker = e->program;
  for (uint32_t i = 0; i < maker->aligned_count; ++i) {
    if (maker->aligned[i].dims == value->type.dims && maker->aligned[i].rank == value->type.rank) {
      return TENON_OK;
    }
  }
  TENON_TRY_MEMORY(TENON_ARENA_GROW(e->arena, maker->aligned, maker->aligned_capacity,
                                    maker->aligned_count + 1));
  maker->aligned[maker->aligned_count++] =
      (tenon__inferred_shape_t){value->type.rank, value->type.dims};
  return TENON_OK;
}

/* Where the space is not made of the inputs, whether an extent fits may be left to the run. */
static void require_fit(const environment_t* e, const aligned_axis_t* aligned) {
  tenon__dim_pool_t* pool = e->pool;
  const tenon_dim_t extent = e->program->space[aligned->axis];
  if (aligned->makes_space || !tenon__dim_pool_collects(pool) ||
      tenon__dim_equal(aligned->dim, extent) || tenon__dim_is(pool, aligned->dim, 1)) {
    return;
  }
  const char* message = tenon__arena_format(
      e->arena, "'%s' has extent %s where the space has %s", aligned->name,
      tenon__dim_text(pool, aligned->dim, e->arena), tenon__dim_text(pool, extent, e->arena));
  const tenon_dim_t one = tenon__dim_constant(pool, 1);
  tenon__dim_require(
      pool,
      tenon__dim_combine(pool, TENON_OPCODE_MAX,
                         tenon__dim_combine(pool, TENON_OPCODE_EQ, aligned->dim, one),
                         tenon__dim_combine(pool, TENON_OPCODE_EQ, aligned->dim, extent)),
      message == NULL ? "an input does not fit the space" : message);
}

/* The coordinate of an input's axis. An extent that may be 1 where the space's is not makes the
 * choice when running. */
static tenon_status_t aligned_coordinate(const environment_t* e, const syntax_t* syntax,
                                         const aligned_axis_t* aligned, tenon_dim_t* out) {
  tenon__dim_pool_t* pool = e->pool;
  const tenon_dim_t dim = aligned->dim;
  const tenon_dim_t extent = e->program->space[aligned->axis];
  const tenon_dim_t zero = tenon__dim_constant(pool, 0);
  const tenon_dim_t one = tenon__dim_constant(pool, 1);
  const tenon_dim_t coordinate = tenon__dim_coordinate(pool, aligned->axis, extent);
  int64_t value = 0;
  int64_t most = 0;
  int64_t low = 0;
  int64_t high = 0;
  const bool known = tenon__dim_known(pool, dim, &value);
  require_fit(e, aligned);
  tenon__dim_range(pool, dim, &low, &high);
  if (known && value == 1) {
    *out = zero;
  } else if (known && tenon__dim_known(pool, extent, &most) && value != most) {
    return tenon__language_refuse(e, syntax, "'%s' has extent %lld where the space has %lld",
                                  aligned->name, (long long)value, (long long)most);
  } else if (low > 1 || tenon__dim_equal(dim, extent)) {
    *out = coordinate;
  } else {
    *out = tenon__dim_select(pool, tenon__dim_combine(pool, TENON_OPCODE_EQ, dim, one), zero,
                             coordinate);
  }
  return tenon__dim_pool_failed(pool) ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* The access of a value aligned at the last axis, or along `along` alone. */
static tenon_status_t make_access(const environment_t* e, const syntax_t* syntax, const char* name,
                                  const tenon__scope_value_t* value, uint32_t along,
                                  tenon__access_t* out_access) {
  const maker_t* maker = e->program;
  const uint32_t most = along != TENON_NONE ? 1 : maker->rank;
  if (value->type.rank > most) {
    return tenon__language_refuse(e, syntax, "'%s' has rank %u where at most %u fits", name,
                                  value->type.rank, most);
  }
  tenon_dim_t* coordinates =
      tenon__arena_allocate(e->arena, value->type.rank + 1u, sizeof(*coordinates));
  TENON_TRY_MEMORY(coordinates != NULL);
  for (uint32_t i = 0; i < value->type.rank; ++i) {
    const aligned_axis_t aligned = {
        .name = name,
        .dim = value->type.dims[i],
        .axis = along != TENON_NONE ? along : maker->rank - value->type.rank + i,
        .makes_space = along == TENON_NONE && !maker->is_given};
    TENON_TRY(aligned_coordinate(e, syntax, &aligned, &coordinates[i]));
  }
  *out_access = (tenon__access_t){value->type.rank, coordinates};
  return TENON_OK;
}

tenon_status_t tenon__program_element(environment_t* e, const syntax_t* syntax,
                                      const tenon__scope_port_t* port, uint32_t item,
                                      uint32_t along, tenon__language_value_t* out_value) {
  maker_t* maker = e->program;
  const char* name = port->name;
  const tenon__scope_value_t* value = item < port->count ? &port->values[item] : NULL;
  tenon__access_t access = {.rank = TENON_NONE};
  if (value == NULL || !value->present) {
    return tenon__language_refuse(e, syntax, "input '%s' is absent: ask present(%s) first", name,
                                  name);
  }
  if (strchr("biuf", tenon__dtype_class(value->type.dtype)) == NULL ||
      value->type.rank == TENON_NONE) {
    return tenon__language_unsupported(e, syntax, "expressions cannot read '%s' of type %s", name,
                                       tenon__dtype_name(value->type.dtype));
  }
  if (!maker->dry) {
    TENON_TRY(make_access(e, syntax, name, value, along, &access));
  } else if (along == TENON_NONE) {
    TENON_TRY(add_aligned(e, value));
  }
  const tenon_operand_t operand = {
      .kind = TENON_OPERAND_ARGUMENT,
      .index = value->argument,
      .dtype = value->type.dtype,
      .broadcast_axes =
          maker->dry ? 0
                     : tenon__access_broadcast_axes(e->pool, &access, maker->space, maker->rank)};
  const uint32_t number = tenon__emit_operand(&maker->builder, &operand, &access);
  return tenon__instruction_give(
      e,
      tenon__emit_immediate(&maker->builder, TENON_OPCODE_INPUT,
                            tenon__dtype_arithmetic(value->type.dtype), 0, (int64_t)number),
      out_value);
}

static tenon_status_t wrap_axis(const environment_t* e, const syntax_t* syntax, int64_t axis,
                                uint32_t* out_axis) {
  const int64_t rank = (int64_t)e->program->rank;
  const int64_t wrapped = axis < 0 ? axis + rank : axis;
  if (e->program->dry) {
    *out_axis = 0;
    return TENON_OK;
  }
  if (wrapped < 0 || wrapped >= rank) {
    return tenon__language_refuse(e, syntax, "axis %lld of a space of rank %lld", (long long)axis,
                                  (long long)rank);
  }
  *out_axis = (uint32_t)wrapped;
  return TENON_OK;
}

tenon_status_t tenon__space_axis(environment_t* e, const syntax_t* syntax, uint32_t* out_axis) {
  int64_t axis = 0;
  TENON_TRY(tenon__language_known(e, syntax, &axis));
  return wrap_axis(e, syntax, axis, out_axis);
}

/* a..b or a..: negative bounds count from the end. */
static tenon_status_t add_range(environment_t* e, const syntax_t* syntax, uint64_t* inout_mask) {
  const int64_t rank = e->program->dry ? 0 : (int64_t)e->program->rank;
  int64_t bounds[2] = {0, rank};
  for (uint32_t i = 0; i < syntax->child_count; ++i) {
    TENON_TRY(tenon__language_known(e, syntax->children[i], &bounds[i]));
    bounds[i] += bounds[i] < 0 ? rank : 0;
  }
  if (e->program->dry || bounds[0] >= bounds[1]) {
    return TENON_OK;
  }
  if (bounds[0] < 0 || bounds[1] > rank) {
    return tenon__language_refuse(e, syntax, "axis %lld of a space of rank %lld",
                                  (long long)(bounds[0] < 0 ? bounds[0] : bounds[1] - 1),
                                  (long long)rank);
  }
  *inout_mask |= tenon__axes_below((uint32_t)bounds[1]) & ~tenon__axes_below((uint32_t)bounds[0]);
  return TENON_OK;
}

/* A known number, or each item of a list of them. */
static tenon_status_t add_value(environment_t* e, const syntax_t* syntax,
                                const tenon__language_value_t* value, uint64_t* inout_mask) {
  const bool is_list = value->kind == TENON_LANGUAGE_LIST;
  for (uint32_t i = 0; i < (is_list ? value->count : 1u); ++i) {
    const tenon__language_value_t axis = is_list ? tenon__language_item(e, value, i) : *value;
    uint32_t wrapped = 0;
    if (axis.kind == TENON_LANGUAGE_DIMENSION) {
      return tenon__language_unsupported(e, syntax, "axes must be known when building");
    }
    if (axis.kind != TENON_LANGUAGE_INTEGER) {
      return tenon__language_refuse(
          e, syntax, "axes are expected: a number, a list, a range, a shape operand");
    }
    TENON_TRY(wrap_axis(e, syntax, axis.integer, &wrapped));
    *inout_mask |= UINT64_C(1) << wrapped;
  }
  return TENON_OK;
}

/* a..b, a number, or a list of numbers: a shape operand is that of its contents, an empty one where
 * it is absent. *inout_said: there is at least one. */
static tenon_status_t add_axes(environment_t* e, const syntax_t* syntax, uint64_t* inout_mask,
                               bool* inout_said) {
  tenon__language_value_t value = {.kind = TENON_LANGUAGE_LIST};
  tenon__named_tensor_t tensor = {.present = true};
  const bool is_port = tenon__names_port(e, syntax);
  if (syntax->kind == TENON_SYNTAX_RANGE) {
    *inout_said = true;
    return add_range(e, syntax, inout_mask);
  }
  if (is_port) {
    TENON_TRY(tenon__named_tensor(e, syntax, &tensor));
  }
  if (tensor.present) {
    TENON_TRY(is_port ? tenon__tensor_contents(e, syntax, &value) : e->evaluate(e, syntax, &value));
  }
  *inout_said = *inout_said || value.kind != TENON_LANGUAGE_LIST || value.count > 0;
  return add_value(e, syntax, &value, inout_mask);
}

tenon_status_t tenon__space_axes(environment_t* e, const syntax_t* syntax, uint64_t* out_mask) {
  const bool is_list = syntax->kind == TENON_SYNTAX_LIST;
  const uint32_t count = is_list ? syntax->child_count : 1;
  bool said = is_list && count > 0;
  uint64_t mask = 0;
  for (uint32_t i = 0; i < count; ++i) {
    TENON_TRY(add_axes(e, is_list ? syntax->children[i] : syntax, &mask, &said));
  }
  if (!said && !e->program->dry && tenon__scope_integer(e->scope, "noop_with_empty_axes", 0) != 1) {
    mask = tenon__axes_below(e->program->rank);
  }
  *out_mask = mask;
  return TENON_OK;
}
