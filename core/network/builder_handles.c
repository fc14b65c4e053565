#include "core/network/builder_handles.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/network/builder_parts.h"

const tenon__value_node_t* tenon__builder_look(const tenon_builder_t* builder,
                                               tenon_value_t handle) {
  if (handle.id == 0 || handle.id > builder->handle_count) {
    return NULL;
  }
  const tenon__handle_t* place = &builder->handles[handle.id - 1];
  const tenon__value_node_t* value = &builder->network->graphs[place->graph]->values[place->value];
  return value->alive ? value : NULL; /* what was cancelled is gone */
}

tenon_status_t tenon__builder_resolve(tenon_builder_t* builder, tenon_value_t handle,
                                      uint32_t* out_value) {
  const tenon__value_node_t* value = tenon__builder_look(builder, handle);
  if (value == NULL) {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_ARGUMENT, "handle %u is no value",
                       handle.id);
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
