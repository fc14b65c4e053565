/*
 * Bodies' parameters: what they are follows from the node's inputs, and for carried values from
 * what the body makes of them. A body whose parameters change is inferred again.
 */
#include "core/network/infer_bodies.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"

static tenon__value_node_t* value_of(const tenon__control_work_t* control, uint32_t graph,
                                     uint32_t value) {
  return &control->network->graphs[graph]->values[value];
}

const tenon__value_node_t* tenon__control_input(const tenon__control_work_t* control,
                                                uint32_t input) {
  return value_of(control, control->inference->graph, control->inference->inputs[input]);
}

tenon__value_node_t* tenon__control_parameter(const tenon__control_work_t* control, uint32_t body,
                                              uint32_t index) {
  return value_of(control, body, control->network->graphs[body]->inputs[index]);
}

const tenon__value_node_t* tenon__control_result(const tenon__control_work_t* control,
                                                 uint32_t body, uint32_t index) {
  return value_of(control, body, control->network->graphs[body]->outputs[index]);
}

/* A symbol of `kind` that is read from this very value? */
static bool is_own_symbol(const tenon__control_work_t* control, tenon_dim_t dim,
                          const tenon__value_node_t* value, tenon__symbol_kind_t kind) {
  if (dim.id == TENON_NONE || value->handle == TENON_NONE) {
    return false;
  }
  const tenon__dim_view_t view = tenon__dim_get(control->network->pool, dim);
  if (view.kind != TENON_DIM_SYMBOL) {
    return false;
  }
  const tenon__symbol_t* symbol = tenon__symbol_get(control->network->pool, view.index);
  return symbol->kind == kind && symbol->a == value->handle;
}

tenon_status_t tenon__control_same_type(const tenon__control_work_t* control,
                                        const tenon__value_node_t* a, const char* a_role,
                                        const tenon__value_node_t* b, const char* b_role) {
  if (tenon__type_same_elements(&a->type, &b->type)) {
    return TENON_OK;
  }
  const tenon__dim_pool_t* pool = control->network->pool;
  tenon__arena_t* scratch = control->inference->scratch;
  return tenon__fail(control->inference->sink, TENON_ERROR_INVALID_DATA,
                     "%s '%s' is %s, %s '%s' is %s", a_role, a->name,
                     tenon__type_text(pool, &a->type, scratch), b_role, b->name,
                     tenon__type_text(pool, &b->type, scratch));
}

/* Gives a parameter a shape. Extents that are symbols of its own stay, once the body has an owner.
 */
static tenon_status_t adopt_shape(const tenon__control_work_t* control,
                                  tenon__value_node_t* parameter, uint32_t rank,
                                  const tenon_dim_t* dims, bool* inout_changed) {
  if (rank == TENON_NONE) {
    *inout_changed = *inout_changed || parameter->type.rank != TENON_NONE;
    parameter->type.rank = TENON_NONE;
    parameter->type.dims = NULL;
    return TENON_OK;
  }
  tenon_dim_t* adopted =
      tenon__arena_allocate(&control->network->arena, rank + 1u, sizeof(*adopted));
  TENON_TRY_MEMORY(adopted != NULL);
  bool changed = parameter->type.rank != rank;
  for (uint32_t i = 0; i < rank; ++i) {
    const bool keeps =
        !control->first_time && parameter->type.rank == rank &&
        is_own_symbol(control, parameter->type.dims[i], parameter, TENON_SYMBOL_EXTENT);
    adopted[i] = keeps ? parameter->type.dims[i] : dims[i];
    changed = changed || !tenon__dim_equal(adopted[i], parameter->type.dims[i]);
  }
  if (changed) {
    parameter->type.rank = rank;
    parameter->type.dims = adopted;
    *inout_changed = true;
  }
  return TENON_OK;
}

/* Contents that change from one iteration to the next are symbols of the parameter, or nothing. */
static void drop_contents(const tenon__control_work_t* control, tenon__value_node_t* parameter,
                          bool* inout_changed) {
  const bool is_own =
      parameter->type.contents == NULL || parameter->type.content_count == 0 ||
      is_own_symbol(control, parameter->type.contents[0], parameter, TENON_SYMBOL_CONTENT);
  if (!is_own) {
    parameter->type.contents = NULL;
    parameter->type.content_count = 0;
    *inout_changed = true;
  }
}

static tenon_status_t adopt_captured(const tenon__control_work_t* control, uint32_t body,
                                     bool* inout_changed) {
  const tenon__control_layout_t* layout = &control->layout;
  const uint32_t skipped = layout->carried_count + layout->scanned_count;
  for (uint32_t i = 0; i < layout->captured_count; ++i) {
    const tenon__value_node_t* input =
        tenon__control_input(control, layout->first_value + skipped + i);
    tenon__value_node_t* parameter =
        tenon__control_parameter(control, body, layout->first_parameter + skipped + i);
    TENON_TRY(tenon__control_same_type(control, parameter, "parameter", input, "value"));
    const bool learns_contents =
        input->type.contents != NULL && !tenon__type_same_contents(&parameter->type, &input->type);
    if (learns_contents || !tenon__type_same_shape(&parameter->type, &input->type)) {
      parameter->type = input->type;
      *inout_changed = true;
    }
  }
  return TENON_OK;
}

static tenon_status_t adopt_scalar(const tenon__control_work_t* control, uint32_t body,
                                   uint32_t index, tenon_dtype_t dtype, bool* inout_changed) {
  tenon__value_node_t* parameter = tenon__control_parameter(control, body, index);
  if (parameter->type.kind != TENON_ARGUMENT_TENSOR || parameter->type.dtype != dtype) {
    return tenon__fail(control->inference->sink, TENON_ERROR_INVALID_DATA,
                       "parameter '%s' of the body must be %s", parameter->name,
                       tenon__dtype_name(dtype));
  }
  if (parameter->type.rank != 0 && parameter->type.rank != 1) {
    *inout_changed = true;
    parameter->type.rank = 0;
  }
  drop_contents(control, parameter, inout_changed);
  return TENON_OK;
}

static tenon_status_t adopt_slices(const tenon__control_work_t* control, uint32_t body,
                                   bool* inout_changed) {
  const tenon__control_layout_t* layout = &control->layout;
  for (uint32_t i = 0; i < layout->scanned_count; ++i) {
    const uint32_t place = layout->carried_count + i;
    const tenon__value_node_t* input = tenon__control_input(control, layout->first_value + place);
    tenon__value_node_t* parameter =
        tenon__control_parameter(control, body, layout->first_parameter + place);
    TENON_TRY(tenon__control_same_type(control, parameter, "parameter", input, "scanned value"));
    const uint32_t axis =
        input->type.kind == TENON_ARGUMENT_TENSOR && input->type.rank != TENON_NONE
            ? tenon__control_axis(layout, i, input->type.rank)
            : TENON_NONE;
    if (axis == TENON_NONE) {
      return tenon__fail(control->inference->sink, TENON_ERROR_INVALID_DATA,
                         "scanned value '%s' has no such axis", input->name);
    }
    tenon_dim_t dims[TENON_RANK_LIMIT];
    const uint32_t rank = input->type.rank > TENON_RANK_LIMIT ? TENON_RANK_LIMIT : input->type.rank;
    for (uint32_t d = 0; d + 1 < rank; ++d) {
      dims[d] = input->type.dims[d < axis ? d : d + 1];
    }
    TENON_TRY(adopt_shape(control, parameter, rank - 1, dims, inout_changed));
    drop_contents(control, parameter, inout_changed);
  }
  return TENON_OK;
}

static tenon_status_t adopt_carried(const tenon__control_work_t* control, uint32_t body,
                                    bool* inout_changed) {
  const tenon__control_layout_t* layout = &control->layout;
  for (uint32_t i = 0; i < layout->carried_count; ++i) {
    const tenon__value_node_t* input = tenon__control_input(control, layout->first_value + i);
    tenon__value_node_t* parameter =
        tenon__control_parameter(control, body, layout->first_parameter + i);
    TENON_TRY(tenon__control_same_type(control, parameter, "parameter", input, "initial value"));
    if (input->type.is_vacant) { /* the body determines its items */
      parameter->type.is_vacant = parameter->type.rank == TENON_NONE;
      continue;
    }
    const bool stays_open = !control->first_time && parameter->type.rank == TENON_NONE;
    TENON_TRY(adopt_shape(control, parameter, stays_open ? TENON_NONE : input->type.rank,
                          input->type.dims, inout_changed));
    drop_contents(control, parameter, inout_changed);
  }
  return TENON_OK;
}

/* Makes extent `axis` of a parameter a symbol of its own. */
static tenon_status_t widen(const tenon__control_work_t* control, uint32_t body, uint32_t index,
                            uint32_t axis) {
  tenon__network_t* network = control->network;
  const uint32_t value = network->graphs[body]->inputs[index];
  tenon__value_node_t* parameter = value_of(control, body, value);
  tenon_dim_t* dims = tenon__arena_copy(&network->arena, parameter->type.dims,
                                        parameter->type.rank * sizeof(*parameter->type.dims));
  TENON_TRY_MEMORY(dims != NULL);
  TENON_TRY(tenon__value_extent(network, body, value, axis, &dims[axis]));
  parameter->type.dims = dims;
  return TENON_OK;
}

/* The carried value is empty at first: its items are those that the body puts in. An extent that is
 * not a number can differ from item to item. */
static tenon_status_t take_items(const tenon__control_work_t* control, uint32_t body,
                                 uint32_t index, const tenon__type_t* items) {
  tenon__value_node_t* parameter = tenon__control_parameter(control, body, index);
  parameter->type.is_vacant = false;
  parameter->type.rank = items->rank;
  parameter->type.dims = items->dims;
  for (uint32_t d = 0; d < items->rank; ++d) {
    int64_t extent = 0;
    if (!tenon__dim_known(control->network->pool, items->dims[d], &extent)) {
      TENON_TRY(widen(control, body, index, d));
    }
  }
  return TENON_OK;
}

/* Compares what a carried value is with what the body makes of it. */
static tenon_status_t resolve_carried(const tenon__control_work_t* control, uint32_t body,
                                      uint32_t index, bool* inout_changed) {
  const tenon__control_layout_t* layout = &control->layout;
  const uint32_t place = layout->first_parameter + index;
  tenon__value_node_t* parameter = tenon__control_parameter(control, body, place);
  const tenon__value_node_t* result =
      tenon__control_result(control, body, layout->first_result + index);
  TENON_TRY(tenon__control_same_type(control, result, "result", parameter, "carried value"));
  if (parameter->type.is_vacant && result->type.rank != TENON_NONE) {
    *inout_changed = true;
    return take_items(control, body, place, &result->type);
  }
  if (parameter->type.rank == TENON_NONE) {
    return TENON_OK;
  }
  if (result->type.rank != parameter->type.rank) {
    if (parameter->type.kind == TENON_ARGUMENT_TENSOR) {
      return tenon__fail(control->inference->sink, TENON_ERROR_UNSUPPORTED,
                         "carried value '%s' changes its rank from %d to %d", parameter->name,
                         (int)parameter->type.rank, (int)result->type.rank);
    }
    parameter->type.rank = TENON_NONE;
    parameter->type.dims = NULL;
    *inout_changed = true;
    return TENON_OK;
  }
  tenon_status_t status = TENON_OK;
  for (uint32_t d = 0; status == TENON_OK && d < parameter->type.rank; ++d) {
    if (!tenon__dim_equal(parameter->type.dims[d], result->type.dims[d]) &&
        !is_own_symbol(control, parameter->type.dims[d], parameter, TENON_SYMBOL_EXTENT)) {
      status = widen(control, body, place, d);
      *inout_changed = true;
    }
  }
  return status;
}

tenon_status_t tenon__control_adopt(const tenon__control_work_t* control, uint32_t body,
                                    bool* inout_changed) {
  if (control->layout.passes_iteration) {
    TENON_TRY(adopt_scalar(control, body, 0, TENON_DTYPE_INT64, inout_changed));
    TENON_TRY(adopt_scalar(control, body, 1, TENON_DTYPE_BOOL, inout_changed));
  }
  TENON_TRY(adopt_carried(control, body, inout_changed));
  TENON_TRY(adopt_slices(control, body, inout_changed));
  return adopt_captured(control, body, inout_changed);
}

tenon_status_t tenon__control_resolve(const tenon__control_work_t* control, uint32_t body) {
  bool changed = false;
  TENON_TRY(tenon__control_adopt(control, body, &changed));
  tenon_status_t status = TENON_OK;
  do {
    if (changed) {
      status = control->inference->infer_graph(control->network, body, control->inference->sink);
    }
    changed = false;
    for (uint32_t i = 0; status == TENON_OK && i < control->layout.carried_count; ++i) {
      status = resolve_carried(control, body, i, &changed);
    }
  } while (status == TENON_OK && changed);
  return status;
}
