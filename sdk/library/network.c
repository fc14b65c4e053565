/* tenon.h: networks. */
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "sdk/library/library.h"

const tenon__operator_t* tenon__library_find_operator(void* user, const char* name) {
  tenon_registry_t* registry = user;
  return tenon__catalog_operator(registry->catalog, name, &registry->logger);
}

TENON_API tenon_status_t tenon_network_create(tenon_registry_t* registry,
                                              tenon_network_t** out_network) {
  if (registry == NULL || out_network == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon_network_t* network = tenon__allocate(registry->allocator, 1, sizeof *network);
  if (network == NULL) {
    return tenon__fail_memory(&registry->logger);
  }
  network->registry = registry;
  tenon_registry_retain(registry);
  tenon__arena_initialize(&network->arena, registry->allocator);
  tenon_status_t status = tenon__network_create(registry->allocator, &network->network);
  if (status == TENON_OK) {
    status = tenon__builder_create(network->network, tenon__library_find_operator, registry,
                                   &registry->logger, &network->builder);
  }
  if (status != TENON_OK) {
    tenon_network_destroy(network);
    return status;
  }
  *out_network = network;
  return TENON_OK;
}

TENON_API void tenon_network_destroy(tenon_network_t* network) {
  if (network == NULL) {
    return;
  }
  tenon_registry_t* registry = network->registry;
  tenon__builder_destroy(network->builder);
  tenon__network_destroy(network->network);
  while (network->files != NULL) {
    tenon__model_file_t* file = network->files;
    network->files = file->next;
    tenon__file_unmap(&file->file);
    tenon__free(registry->allocator, file, sizeof *file);
  }
  tenon__arena_deinitialize(&network->arena);
  tenon__free(registry->allocator, network, sizeof *network);
  tenon_registry_release(registry);
}

TENON_API tenon_builder_t* tenon_network_get_builder(tenon_network_t* network) {
  return network == NULL ? NULL : network->builder;
}

TENON_API const tenon_builder_table_t* tenon_builder_get_table(void) {
  return tenon__builder_table();
}

static tenon_status_t set_attribute(tenon_builder_t* builder, const tenon_attribute_t* a) {
  const tenon_builder_table_t* table = tenon__builder_table();
  switch (a->kind) {
    case TENON_ATTRIBUTE_INT:
      return table->attribute_int(builder, a->name, a->integer);
    case TENON_ATTRIBUTE_FLOAT:
      return table->attribute_float(builder, a->name, a->number);
    case TENON_ATTRIBUTE_STRING:
      return table->attribute_string(builder, a->name, a->string);
    case TENON_ATTRIBUTE_INTS:
      return table->attribute_ints(builder, a->name, a->integers, a->count);
    case TENON_ATTRIBUTE_FLOATS:
      return table->attribute_floats(builder, a->name, a->numbers, a->count);
    case TENON_ATTRIBUTE_DTYPE:
      return table->attribute_dtype(builder, a->name, (tenon_dtype_t)a->integer);
    default:
      return TENON_ERROR_INVALID_ARGUMENT;
  }
}

TENON_API tenon_status_t tenon_network_add(tenon_network_t* network, const char* op,
                                           const char* name, const tenon_value_t* inputs,
                                           uint32_t input_count,
                                           const tenon_attribute_t* attributes,
                                           uint32_t attribute_count, tenon_value_t* out_values,
                                           uint32_t output_count) {
  if (network == NULL || op == NULL || (input_count > 0 && inputs == NULL) ||
      (attribute_count > 0 && attributes == NULL) || (output_count > 0 && out_values == NULL)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const tenon_builder_table_t* table = tenon__builder_table();
  TENON_TRY(table->begin(network->builder, op, name));
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < attribute_count && status == TENON_OK; ++k) {
    status = set_attribute(network->builder, &attributes[k]);
  }
  for (uint32_t k = 0; k < input_count && status == TENON_OK; ++k) {
    status = table->add_input(network->builder, inputs[k]);
  }
  if (status != TENON_OK) {
    table->cancel(network->builder);
    return status;
  }
  return table->end(network->builder, out_values, output_count);
}

TENON_API tenon_status_t tenon_network_add_input(tenon_network_t* network, const char* name,
                                                 tenon_dtype_t dtype, uint32_t rank,
                                                 const int64_t* dims, tenon_value_t* out_value) {
  if (network == NULL || name == NULL || out_value == NULL || (rank > 0 && dims == NULL)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  return tenon__builder_table()->input(network->builder, name, dtype, rank, dims, NULL, out_value);
}

TENON_API tenon_status_t tenon_network_add_constant(tenon_network_t* network, const char* name,
                                                    tenon_dtype_t dtype, uint32_t rank,
                                                    const int64_t* dims, const void* data,
                                                    tenon_value_t* out_value) {
  int64_t strides[64];
  if (network == NULL || rank > 64 || (rank > 0 && dims == NULL) || out_value == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  int64_t stride = 1;
  for (uint32_t k = rank; k-- > 0;) {
    strides[k] = stride;
    if (!tenon__multiply_int64(stride, dims[k] == 0 ? 1 : dims[k], &stride)) {
      return TENON_ERROR_INVALID_ARGUMENT;
    }
  }
  const tenon_tensor_view_t view = {.data = (void*)(uintptr_t)data,
                                    .dims = dims,
                                    .strides = strides,
                                    .rank = rank,
                                    .dtype = dtype,
                                    .layout = TENON_NONE};
  return tenon__builder_table()->constant(network->builder, name, &view, 0, out_value);
}

TENON_API tenon_status_t tenon_network_add_output(tenon_network_t* network, tenon_value_t value,
                                                  const char* name) {
  return network == NULL ? TENON_ERROR_INVALID_ARGUMENT
                         : tenon__builder_table()->output(network->builder, value, name);
}

/* How many characters two names share at the beginning or the end: enough to suggest one. */
static size_t likeness(const char* a, const char* b) {
  size_t front = 0;
  size_t back = 0;
  const size_t left = strlen(a);
  const size_t right = strlen(b);
  while (front < left && front < right && a[front] == b[front]) {
    ++front;
  }
  while (back < left && back < right && a[left - 1 - back] == b[right - 1 - back]) {
    ++back;
  }
  return front > back ? front : back;
}

TENON_API tenon_status_t tenon_network_mark_output(tenon_network_t* network, const char* name) {
  if (network == NULL || name == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const tenon__graph_t* g = network->network->graphs[0];
  const char* near = "";
  size_t most = 0;
  for (uint32_t v = 0; v < g->value_count; ++v) {
    if (!g->values[v].alive) {
      continue;
    }
    if (strcmp(g->values[v].name, name) == 0) {
      return (g->values[v].flags & TENON_VALUE_IS_OUTPUT) != 0
                 ? TENON_OK
                 : tenon__graph_add_output(network->network, 0, v, name);
    }
    if (likeness(g->values[v].name, name) > most) {
      most = likeness(g->values[v].name, name);
      near = g->values[v].name;
    }
  }
  return tenon__fail(&network->registry->logger, TENON_ERROR_NOT_FOUND,
                     "there is no tensor '%s'%s%s%s", name, near[0] == 0 ? "" : "; did you mean '",
                     near, near[0] == 0 ? "" : "'?");
}

TENON_API tenon_status_t tenon_network_clear_outputs(tenon_network_t* network) {
  if (network == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon__graph_t* g = network->network->graphs[0];
  for (uint32_t k = 0; k < g->output_count; ++k) {
    g->values[g->outputs[k]].flags &= ~(uint32_t)TENON_VALUE_IS_OUTPUT;
  }
  g->output_count = 0;
  return TENON_OK;
}

tenon_status_t tenon__io_describe(tenon__arena_t* arena, const tenon__network_t* network,
                                  uint32_t value, const char* name, tenon_io_info_t* out_info) {
  const tenon__value_node_t* v = &network->graphs[0]->values[value];
  const uint32_t rank = v->rank == TENON_NONE ? 0 : v->rank;
  int64_t* dims = tenon__arena_allocate(arena, rank + 1u, sizeof *dims);
  const char** symbols = tenon__arena_allocate(arena, rank + 1u, sizeof *symbols);
  if (dims == NULL || symbols == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < rank; ++k) {
    if (!tenon__dim_known(network->pool, v->dims[k], &dims[k])) {
      dims[k] = -1;
      symbols[k] = tenon__dim_text(network->pool, v->dims[k], arena);
    }
  }
  *out_info = (tenon_io_info_t){.name = name,
                                .kind = v->kind,
                                .dtype = v->dtype,
                                .rank = v->rank,
                                .dims = dims,
                                .symbols = symbols};
  return TENON_OK;
}

TENON_API uint32_t tenon_network_input_count(const tenon_network_t* network) {
  return network == NULL ? 0 : network->network->graphs[0]->input_count;
}

TENON_API uint32_t tenon_network_output_count(const tenon_network_t* network) {
  return network == NULL ? 0 : network->network->graphs[0]->output_count;
}

TENON_API tenon_status_t tenon_network_get_input(const tenon_network_t* network, uint32_t index,
                                                 tenon_io_info_t* out_info) {
  if (index >= tenon_network_input_count(network) || out_info == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const tenon__graph_t* g = network->network->graphs[0];
  return tenon__io_describe((tenon__arena_t*)(uintptr_t)&network->arena, network->network,
                            g->inputs[index], g->values[g->inputs[index]].name, out_info);
}

TENON_API tenon_status_t tenon_network_get_output(const tenon_network_t* network, uint32_t index,
                                                  tenon_io_info_t* out_info) {
  if (index >= tenon_network_output_count(network) || out_info == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const tenon__graph_t* g = network->network->graphs[0];
  return tenon__io_describe((tenon__arena_t*)(uintptr_t)&network->arena, network->network,
                            g->outputs[index], g->output_names[index], out_info);
}

TENON_API void tenon_network_print(const tenon_network_t* network, tenon_write_t write,
                                   void* user) {
  tenon__network_print(network->network, write, user);
}

TENON_API void tenon_network_print_values(const tenon_network_t* network, tenon_write_t write,
                                          void* user) {
  const tenon__graph_t* g = network->network->graphs[0];
  for (uint32_t v = 0; v < g->value_count; ++v) {
    if (g->values[v].alive) {
      write(user, g->values[v].name);
      write(user, "\n");
    }
  }
}
