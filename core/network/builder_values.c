/* Values of a network being built: inputs, parameters, constants, states, and looking at them. */
#include "core/network/builder_values.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/dense.h"
#include "core/tensor/layout.h"

/* ---- Handles ---- */

const tenon__value_node_t* tenon__builder_look(const tenon_builder_t* builder,
                                               tenon_value_t handle) {
  if (handle.id == 0 || handle.id > builder->handle_count) {
    return NULL;
  }
  const tenon__handle_t* place = &builder->handles[handle.id - 1];
  const tenon__value_node_t* value = &builder->network->graphs[place->graph]->values[place->value];
  return value->alive ? value : NULL; /* what was cancelled is gone */
}

static tenon_status_t no_value(const tenon_builder_t* builder, tenon_value_t handle) {
  return handle.id == 0 ? tenon__fail(builder->sink, TENON_ERROR_INVALID_ARGUMENT,
                                      "an operand is absent: the node lacks an input")
                        : tenon__fail(builder->sink, TENON_ERROR_INVALID_ARGUMENT,
                                      "handle %u is no value", handle.id);
}

tenon_status_t tenon__builder_resolve(tenon_builder_t* builder, tenon_value_t handle,
                                      uint32_t* out_value) {
  const tenon__value_node_t* value = tenon__builder_look(builder, handle);
  if (value == NULL) {
    return no_value(builder, handle);
  }
  const tenon__handle_t place = builder->handles[handle.id - 1];
  const uint32_t graph = tenon__builder_graph(builder);
  if (place.graph == graph) {
    *out_value = place.value;
    return TENON_OK;
  }
  if (value->weights == TENON_NONE) {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "'%s' belongs to graph '%s'; graph '%s' must take it as a parameter",
                       value->name, builder->network->graphs[place.graph]->name,
                       builder->network->graphs[graph]->name);
  }
  return tenon__graph_add_constant(builder->network, graph, value->name, value->weights, out_value);
}

tenon_status_t tenon__builder_handle(tenon_builder_t* builder, uint32_t graph, uint32_t value,
                                     tenon_value_t* out_handle) {
  TENON_TRY_MEMORY(TENON_GROW(builder->network->allocator, builder->handles,
                              builder->handle_capacity, builder->handle_count + 1));
  builder->handles[builder->handle_count++] = (tenon__handle_t){graph, value};
  out_handle->id = (uint32_t)builder->handle_count;
  return TENON_OK;
}

/* ---- Values ---- */

static tenon_status_t only_in_main(const tenon_builder_t* builder, const char* what) {
  return builder->frame_count == 1 && !builder->is_fixed
             ? TENON_OK
             : tenon__fail(builder->sink, TENON_ERROR_INVALID_STATE,
                           "%s belong to the main graph and cannot be added here", what);
}

static tenon_status_t only_one(const tenon_builder_t* builder, const char* name) {
  return name == NULL || tenon__graph_input(builder->network->graphs[0], name) == NULL
             ? TENON_OK
             : tenon__fail(builder->sink, TENON_ERROR_INVALID_DATA, "two inputs are named '%s'",
                           name);
}

static tenon_status_t check_extents(const tenon_builder_t* builder, const char* name,
                                    tenon_dtype_t dtype, uint32_t rank, const int64_t* dims) {
  bool good =
      tenon__dtype_bits(dtype) != 0 && rank <= TENON_RANK_LIMIT && (rank == 0 || dims != NULL);
  for (uint32_t i = 0; good && i < rank; ++i) {
    good = dims[i] >= -1;
  }
  if (!good) {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "'%s': element type or extents are not valid", name);
  }
  return tenon__extents_fit(rank, dims)
             ? TENON_OK
             : tenon__fail(builder->sink, TENON_ERROR_INVALID_DATA,
                           "input '%s' has more than 2^48 elements", name);
}

/* The symbol of an extent that is not known: of the name that is given, or of a made one. */
static tenon_status_t input_symbol(tenon_builder_t* builder, const char* value_name, uint32_t axis,
                                   const char* name, tenon_dim_t* out_dim) {
  if (name == NULL || name[0] == '\0') {
    name = tenon__arena_format(&builder->arena, "%s:%u", value_name, axis);
    TENON_TRY_MEMORY(name != NULL);
  }
  const tenon__symbol_t symbol = {
      .kind = TENON_SYMBOL_INPUT, .name = name, .max = INT64_MAX, .bound = TENON_DIM_INVALID};
  *out_dim = tenon__dim_symbol(builder->network->pool, &symbol);
  return TENON_OK;
}

/* A tensor's, or a container's items', type as the caller gives it. */
typedef struct argument_type_t {
  uint32_t kind;
  tenon_dtype_t dtype;
  uint32_t rank;
  const int64_t* dims;
  const char* const* symbols; /* names for open extents, in the main graph; may be NULL */
} argument_type_t;

/* Extent `axis` of a new value. That of a container's items is each item's own. */
static tenon_status_t argument_extent(tenon_builder_t* builder, const argument_type_t* type,
                                      uint32_t value, uint32_t axis, tenon_dim_t* out_dim) {
  tenon__network_t* network = builder->network;
  if (type->dims[axis] >= 0) {
    *out_dim = tenon__dim_constant(network->pool, type->dims[axis]);
    return TENON_OK;
  }
  const char* name = network->graphs[tenon__builder_graph(builder)]->values[value].name;
  return builder->frame_count == 1 && type->kind == TENON_ARGUMENT_TENSOR
             ? input_symbol(builder, name, axis, type->symbols == NULL ? NULL : type->symbols[axis],
                            out_dim)
             : tenon__value_extent(network, tenon__builder_graph(builder), value, axis, out_dim);
}

/* A new value that is an input or parameter. */
static tenon_status_t add_argument(tenon_builder_t* builder, const char* name,
                                   const argument_type_t* type, tenon_value_t* out_value) {
  tenon__network_t* network = builder->network;
  const uint32_t graph = tenon__builder_graph(builder);
  uint32_t index = 0;
  const uint32_t rank = type->rank == TENON_NONE ? 0 : type->rank;
  tenon_dim_t* made = tenon__arena_allocate(&network->arena, rank + 1u, sizeof(*made));
  TENON_TRY_MEMORY(made != NULL);
  TENON_TRY(tenon__graph_add_value(network, graph, name, &index));
  for (uint32_t i = 0; i < rank; ++i) {
    TENON_TRY(argument_extent(builder, type, index, i, &made[i]));
  }
  network->graphs[graph]->values[index].type =
      (tenon__type_t){.kind = type->kind,
                      .dtype = type->dtype,
                      .rank = type->rank,
                      .dims = type->rank == TENON_NONE ? NULL : made};
  TENON_TRY_MEMORY(!tenon__dim_pool_failed(network->pool));
  TENON_TRY(tenon__graph_add_input(network, graph, index));
  return tenon__builder_handle(builder, graph, index, out_value);
}

/* ---- Inputs whose value is given ---- */

static tenon__given_input_t* find_given(const tenon_builder_t* builder, const char* name) {
  for (uint32_t i = 0; i < builder->given_count; ++i) {
    if (strcmp(builder->given[i].name, name) == 0) {
      return &builder->given[i];
    }
  }
  return NULL;
}

/* "i64[2, ?]" of extents that are known or -1. */
static const char* type_text(tenon_builder_t* builder, tenon_dtype_t dtype, uint32_t rank,
                             const int64_t* dims) {
  const char* text = tenon__arena_format(&builder->arena, "%s[", tenon__dtype_name(dtype));
  for (uint32_t i = 0; text != NULL && i < rank; ++i) {
    text = dims[i] < 0 ? tenon__arena_format(&builder->arena, "%s%s?", text, i > 0 ? ", " : "")
                       : tenon__arena_format(&builder->arena, "%s%s%" PRId64, text,
                                             i > 0 ? ", " : "", dims[i]);
  }
  text = text != NULL ? tenon__arena_format(&builder->arena, "%s]", text) : NULL;
  return text != NULL ? text : "?";
}

/* The input is this constant. */
static tenon_status_t add_given(tenon_builder_t* builder, tenon__given_input_t* given,
                                const argument_type_t* type, tenon_value_t* out_value) {
  const tenon_tensor_view_t* view = given->view;
  bool fits = view->dtype == type->dtype && view->rank == type->rank;
  for (uint32_t i = 0; fits && i < type->rank; ++i) {
    fits = type->dims[i] < 0 || type->dims[i] == view->dims[i];
  }
  if (!fits) {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "input '%s' is %s; the value given for it is %s", given->name,
                       type_text(builder, type->dtype, type->rank, type->dims),
                       type_text(builder, view->dtype, view->rank, view->dims));
  }
  given->is_used = true;
  return tenon__build_constant(builder, given->name, view, 0, out_value);
}

tenon_status_t tenon__build_input(tenon_builder_t* builder, const char* name, tenon_dtype_t dtype,
                                  uint32_t rank, const int64_t* dims, const char* const* symbols,
                                  tenon_value_t* out_value) {
  TENON_TRY(only_in_main(builder, "inputs"));
  TENON_TRY(only_one(builder, name));
  TENON_TRY(check_extents(builder, name, dtype, rank, dims));
  tenon__given_input_t* given = find_given(builder, name);
  const argument_type_t type = {TENON_ARGUMENT_TENSOR, dtype, rank, dims, symbols};
  return given != NULL ? add_given(builder, given, &type, out_value)
                       : add_argument(builder, name, &type, out_value);
}

/* Containers whose items' rank is not given have items of any shape. */
static tenon_status_t add_container(tenon_builder_t* builder, const char* name,
                                    const argument_type_t* type, tenon_value_t* out_value) {
  if (tenon__type_kind_name(type->kind) == NULL) {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_ARGUMENT, "'%s': no kind of value %u",
                       name, type->kind);
  }
  const bool is_any = type->rank == TENON_NONE && type->kind != TENON_ARGUMENT_TENSOR;
  TENON_TRY(check_extents(builder, name, type->dtype, is_any ? 0 : type->rank, type->dims));
  return add_argument(builder, name, type, out_value);
}

tenon_status_t tenon__build_input_container(tenon_builder_t* builder, const char* name,
                                            uint32_t kind, tenon_dtype_t dtype, uint32_t rank,
                                            const int64_t* dims, tenon_value_t* out_value) {
  TENON_TRY(only_in_main(builder, "inputs"));
  TENON_TRY(only_one(builder, name));
  const argument_type_t type = {kind, dtype, rank, dims, NULL};
  return add_container(builder, name, &type, out_value);
}

tenon_status_t tenon__build_output(tenon_builder_t* builder, tenon_value_t handle,
                                   const char* name) {
  TENON_TRY(only_in_main(builder, "outputs"));
  uint32_t value = 0;
  TENON_TRY(tenon__builder_resolve(builder, handle, &value));
  const tenon__graph_t* graph = builder->network->graphs[0];
  const char* own = name == NULL ? graph->values[value].name : name;
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    if (strcmp(graph->output_names[i], own) == 0) {
      return tenon__fail(builder->sink, TENON_ERROR_INVALID_DATA, "two outputs are named '%s'",
                         own);
    }
  }
  return tenon__graph_add_output(builder->network, 0, value, own);
}

tenon_status_t tenon__build_constant(tenon_builder_t* builder, const char* name,
                                     const tenon_tensor_view_t* view, int32_t borrow,
                                     tenon_value_t* out_value) {
  const uint32_t graph = tenon__builder_graph(builder);
  uint32_t weights = 0;
  uint32_t value = 0;
  TENON_TRY(
      tenon__weights_from_view(builder->network, name, view, borrow != 0, builder->sink, &weights));
  TENON_TRY(tenon__graph_add_constant(builder->network, graph, name, weights, &value));
  return tenon__builder_handle(builder, graph, value, out_value);
}

static tenon_status_t only_in_body(const tenon_builder_t* builder) {
  return builder->frame_count > 1
             ? TENON_OK
             : tenon__fail(builder->sink, TENON_ERROR_INVALID_STATE, "no body is being built");
}

tenon_status_t tenon__build_body_parameter(tenon_builder_t* builder, const char* name,
                                           uint32_t kind, tenon_dtype_t dtype, uint32_t rank,
                                           const int64_t* dims, tenon_value_t* out_value) {
  TENON_TRY(only_in_body(builder));
  const argument_type_t type = {kind, dtype, rank, dims, NULL};
  return add_container(builder, name, &type, out_value);
}

tenon_status_t tenon__build_body_parameter_like(tenon_builder_t* builder, const char* name,
                                                tenon_value_t like, tenon_value_t* out_value) {
  TENON_TRY(only_in_body(builder));
  const tenon__value_node_t* look = tenon__builder_look(builder, like);
  if (look == NULL) {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_ARGUMENT, "parameter '%s': like no value",
                       name);
  }
  const tenon__type_t type = look->type;
  const uint32_t graph = tenon__builder_graph(builder);
  uint32_t index = 0;
  TENON_TRY(tenon__graph_add_value(builder->network, graph, name, &index));
  TENON_TRY(tenon__graph_add_input(builder->network, graph, index));
  builder->network->graphs[graph]->values[index].type = type;
  return tenon__builder_handle(builder, graph, index, out_value);
}

tenon_status_t tenon__build_add_state(tenon_builder_t* builder,
                                      const tenon_state_descriptor_t* descriptor,
                                      tenon_value_t* out_read) {
  tenon__network_t* network = builder->network;
  TENON_TRY(only_in_main(builder, "states"));
  tenon_state_descriptor_t state = {0};
  memcpy(&state, descriptor, descriptor->size < sizeof(state) ? descriptor->size : sizeof(state));
  if (state.name == NULL) {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_ARGUMENT, "a state without a name");
  }
  TENON_TRY(check_extents(builder, state.name, state.dtype, state.rank, state.dims));
  if (state.dtype == TENON_DTYPE_STRING) {
    return tenon__fail(builder->sink, TENON_ERROR_UNSUPPORTED,
                       "state '%s': texts cannot be kept between executions", state.name);
  }
  tenon__state_node_t node = {.name = state.name,
                              .dtype = state.dtype,
                              .rank = state.rank,
                              .dims = state.dims,
                              .initial = TENON_NONE,
                              .update = TENON_NONE};
  for (uint32_t i = 0; i < state.rank; ++i) {
    if (state.dims[i] < 0) {
      return tenon__fail(builder->sink, TENON_ERROR_INVALID_ARGUMENT,
                         "state '%s': its extents must be known", state.name);
    }
  }
  if (state.initial_data != NULL) {
    /* The view only reads. */
    const tenon_tensor_view_t view = {.data = tenon__drop_const(state.initial_data),
                                      .dims = state.dims,
                                      .rank = state.rank,
                                      .dtype = state.dtype,
                                      .layout = TENON_NONE};
    TENON_TRY(
        tenon__weights_from_view(network, state.name, &view, false, builder->sink, &node.initial));
  }
  tenon_dim_t* dims = tenon__arena_allocate(&network->arena, state.rank + 1u, sizeof(*dims));
  TENON_TRY_MEMORY(dims != NULL);
  TENON_TRY(tenon__graph_add_value(network, 0, state.name, &node.read));
  for (uint32_t i = 0; i < state.rank; ++i) {
    dims[i] = tenon__dim_constant(network->pool, state.dims[i]);
  }
  network->graphs[0]->values[node.read].type = tenon__type_tensor(state.dtype, state.rank, dims);
  uint32_t index = 0;
  TENON_TRY(tenon__network_add_state(network, &node, builder->sink, &index));
  return tenon__builder_handle(builder, 0, node.read, out_read);
}

tenon_status_t tenon__build_write_state(tenon_builder_t* builder, const char* name,
                                        tenon_value_t handle) {
  tenon__network_t* network = builder->network;
  TENON_TRY(only_in_main(builder, "states"));
  uint32_t index = 0;
  TENON_TRY(tenon__builder_resolve(builder, handle, &index));
  const tenon__value_node_t* value = &network->graphs[0]->values[index];
  for (uint32_t i = 0; i < network->state_count; ++i) {
    tenon__state_node_t* state = &network->states[i];
    if (strcmp(state->name, name) != 0) {
      continue;
    }
    const tenon__type_t* type = &network->graphs[0]->values[state->read].type;
    if (!tenon__type_agrees(network->pool, &value->type, type)) {
      return tenon__fail(builder->sink, TENON_ERROR_INVALID_DATA,
                         "state '%s' is written with '%s', which has another type", name,
                         value->name);
    }
    state->update = index;
    return TENON_OK;
  }
  return tenon__fail(builder->sink, TENON_ERROR_INVALID_ARGUMENT, "there is no state '%s'", name);
}

tenon_status_t tenon__build_type(tenon_builder_t* builder, tenon_value_t handle,
                                 tenon_value_type_t* out_type) {
  const tenon__value_node_t* value = tenon__builder_look(builder, handle);
  if (value == NULL) {
    return no_value(builder, handle);
  }
  const tenon__type_t* type = &value->type;
  const uint32_t rank = type->rank == TENON_NONE ? 0 : type->rank;
  int64_t* dims = tenon__arena_allocate(&builder->arena, rank + 1u, sizeof(*dims));
  TENON_TRY_MEMORY(dims != NULL);
  (void)tenon__type_extents(builder->network->pool, type, dims);
  const tenon_value_type_t full = {
      .kind = type->kind,
      .dtype = type->dtype,
      .rank = type->rank,
      .has_contents = type->contents != NULL,
      .dims = dims,
      .constant_data =
          value->weights == TENON_NONE ? NULL : builder->network->weights[value->weights].data,
  };
  return tenon__structure_fill(&full, sizeof full, out_type)
             ? TENON_OK
             : tenon__fail(builder->sink, TENON_ERROR_INVALID_ARGUMENT,
                           "type: set out_type->size to sizeof(tenon_value_type_t)");
}

int32_t tenon__build_content(tenon_builder_t* builder, tenon_value_t handle, uint32_t index,
                             int64_t* out_value) {
  const tenon__value_node_t* value = tenon__builder_look(builder, handle);
  return value != NULL && value->type.contents != NULL && index < value->type.content_count &&
         tenon__dim_known(builder->network->pool, value->type.contents[index], out_value);
}

tenon_status_t tenon__build_set_name(tenon_builder_t* builder, tenon_value_t handle,
                                     const char* name) {
  if (tenon__builder_look(builder, handle) == NULL || name == NULL || name[0] == '\0') {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_ARGUMENT, "no value, or no name");
  }
  const tenon__handle_t place = builder->handles[handle.id - 1];
  tenon__graph_t* graph = builder->network->graphs[place.graph];
  tenon__value_node_t* value = &graph->values[place.value];
  if (strcmp(value->name, name) == 0) {
    return TENON_OK;
  }
  const char* unique = tenon__name_unique(builder->network, &graph->value_names, name);
  TENON_TRY_MEMORY(unique != NULL);
  value->name = unique;
  return TENON_OK;
}
