/* Networks: life, building by hand, looking. Parsing is in parse.c, marking in network_outputs.c.
 */
#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/c_locale.h"
#include "core/network/builder.h"
#include "core/network/order.h"
#include "core/network/print.h"
#include "core/tensor/layout.h"
#include "sdk/library/description.h"

/* ---- Life ---- */

static void release_files(tenon_network_t* network) {
  for (size_t i = 0; i < network->file_count; ++i) {
    tenon__file_unmap(&network->files[i].file);
  }
  tenon__free(network->registry->allocator, network->files,
              network->file_capacity * sizeof(*network->files));
  network->files = NULL;
  network->file_count = 0;
  network->file_capacity = 0;
}

static void release_core(tenon_network_t* network) {
  tenon__builder_destroy(network->builder);
  tenon__network_destroy(network->network);
  network->builder = NULL;
  network->network = NULL;
  release_files(network);
}

tenon_status_t tenon__network_reset(tenon_network_t* network) {
  tenon_registry_t* registry = network->registry;
  tenon__network_t* core = NULL;
  tenon_builder_t* builder = NULL;
  tenon_status_t status = tenon__network_create(registry->allocator, &core);
  if (status == TENON_OK) {
    status = tenon__builder_create(core, tenon__library_find_operator, registry,
                                   &network->sink.sink, &builder);
  }
  if (status != TENON_OK) {
    tenon__network_destroy(core);
    return tenon__fail_memory(&registry->sink);
  }
  tenon__builder_set_suggest(builder, tenon__library_suggest_operator);
  release_core(network);
  network->network = core;
  network->builder = builder;
  return TENON_OK;
}

tenon_status_t tenon_network_create(tenon_registry_t* registry, tenon_network_t** out_network) {
  TENON_TRY(tenon__enter(__func__, "registry", registry != NULL));
  TENON_TRY(tenon__need(&registry->sink, __func__, "out_network", out_network != NULL));
  tenon_network_t* network = tenon__allocate(registry->allocator, 1, sizeof(*network));
  if (network == NULL) {
    return tenon__fail_memory(&registry->sink);
  }
  network->registry = registry;
  tenon__arena_initialize(&network->arena, registry->allocator);
  tenon__prefix_sink_initialize(&network->sink, &registry->sink, "");
  const tenon_status_t status = tenon__network_reset(network);
  if (status != TENON_OK) {
    tenon__arena_deinitialize(&network->arena);
    tenon__free(registry->allocator, network, sizeof(*network));
    return status;
  }
  tenon_registry_retain(registry);
  *out_network = network;
  return TENON_OK;
}

void tenon_network_destroy(tenon_network_t* network) {
  if (network == NULL) {
    return;
  }
  tenon_registry_t* registry = network->registry;
  release_core(network);
  tenon__arena_deinitialize(&network->arena);
  tenon__free(registry->allocator, network, sizeof(*network));
  tenon_registry_release(registry);
}

tenon_status_t tenon__network_adopt_file(tenon_network_t* network, const char* path,
                                         const char* name, tenon__mapped_file_t* file,
                                         const tenon__model_file_t** out_file) {
  const char* path_copy = tenon__arena_copy_string(&network->arena, path);
  const char* name_copy = tenon__arena_copy_string(&network->arena, name);
  if (path_copy == NULL || name_copy == NULL ||
      !TENON_GROW(network->registry->allocator, network->files, network->file_capacity,
                  network->file_count + 1)) {
    tenon__file_unmap(file);
    return tenon__fail_memory(&network->registry->sink);
  }
  tenon__model_file_t* entry = &network->files[network->file_count++];
  *entry = (tenon__model_file_t){.path = path_copy, .name = name_copy, .file = *file};
  *out_file = entry;
  return TENON_OK;
}

uint32_t tenon_network_file_count(const tenon_network_t* network) {
  return network != NULL ? (uint32_t)network->file_count : 0;
}

const char* tenon_network_get_file(const tenon_network_t* network, uint32_t index) {
  return network != NULL && index < network->file_count ? network->files[index].path : NULL;
}

/* ---- Building by hand ---- */

tenon_builder_t* tenon_network_get_builder(tenon_network_t* network) {
  return network != NULL ? network->builder : NULL;
}

static tenon_status_t set_attribute(tenon_builder_t* builder, const tenon_attribute_t* attribute) {
  const tenon_builder_table_t* table = tenon__builder_table();
  switch (attribute->kind) {
    case TENON_ATTRIBUTE_INT:
      return table->attribute_int(builder, attribute->name, attribute->integer);
    case TENON_ATTRIBUTE_FLOAT:
      return table->attribute_float(builder, attribute->name, attribute->number);
    case TENON_ATTRIBUTE_STRING:
      return table->attribute_string(builder, attribute->name, attribute->string);
    case TENON_ATTRIBUTE_INTS:
      return table->attribute_ints(builder, attribute->name, attribute->integers, attribute->count);
    case TENON_ATTRIBUTE_FLOATS:
      return table->attribute_floats(builder, attribute->name, attribute->numbers,
                                     attribute->count);
    case TENON_ATTRIBUTE_STRINGS:
      return table->attribute_strings(builder, attribute->name, attribute->strings,
                                      attribute->count);
    case TENON_ATTRIBUTE_DTYPE:
      return table->attribute_dtype(builder, attribute->name, (tenon_dtype_t)attribute->integer);
    default:
      return tenon__fail(table->sink(builder), TENON_ERROR_INVALID_ARGUMENT,
                         "tenon_network_add: attribute '%s' has kind %u, which is set through the "
                         "builder's table",
                         attribute->name, attribute->kind);
  }
}

static tenon_status_t set_attributes(tenon_builder_t* builder, const tenon_list_t* attributes) {
  const uint32_t count = attributes == NULL ? 0 : attributes->count;
  for (uint32_t i = 0; i < count; ++i) {
    TENON_TRY(set_attribute(builder, tenon__list_item(attributes, i)));
  }
  return TENON_OK;
}

static tenon_status_t add_inputs(tenon_builder_t* builder, const tenon_value_t* inputs,
                                 uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    TENON_TRY(tenon__builder_table()->add_input(builder, inputs[i]));
  }
  return TENON_OK;
}

/* A whole node in one call. NOLINTNEXTLINE(readability-function-size) */
tenon_status_t tenon_network_add(tenon_network_t* network, const char* op, const char* name,
                                 const tenon_value_t* inputs, uint32_t input_count,
                                 const tenon_list_t* attributes, tenon_value_t* out_values,
                                 uint32_t output_count) {
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  const tenon_sink_t* sink = &network->registry->sink;
  TENON_TRY(tenon__need(sink, __func__, "op", op != NULL));
  TENON_TRY(tenon__need(sink, __func__, "inputs", input_count == 0 || inputs != NULL));
  TENON_TRY(tenon__need(sink, __func__, "out_values", output_count == 0 || out_values != NULL));
  if (attributes != NULL) {
    TENON_TRY(tenon__check_list(sink, __func__, "attributes", attributes));
  }
  const tenon_builder_table_t* table = tenon__builder_table();
  TENON_TRY(tenon__tell(sink, __func__, table->begin(network->builder, op, name)));
  tenon_status_t status = set_attributes(network->builder, attributes);
  if (status == TENON_OK) {
    status = add_inputs(network->builder, inputs, input_count);
  }
  if (status == TENON_OK) {
    status = table->end(network->builder, out_values, output_count);
  }
  if (status != TENON_OK) {
    table->cancel(network->builder);
  }
  return tenon__tell(sink, __func__, status);
}

static tenon_status_t check_dims(const tenon_sink_t* sink, const char* function, const char* name,
                                 uint32_t rank, const int64_t* dims) {
  if (rank > TENON_RANK_LIMIT || (rank > 0 && dims == NULL)) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT, "%s: '%s' has %s", function,
                       name != NULL ? name : "",
                       rank > TENON_RANK_LIMIT ? "too high a rank" : "no dims");
  }
  return TENON_OK;
}

tenon_status_t tenon_network_add_input(tenon_network_t* network, const char* name,
                                       tenon_dtype_t dtype, uint32_t rank, const int64_t* dims,
                                       tenon_value_t* out_value) {
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  const tenon_sink_t* sink = &network->registry->sink;
  TENON_TRY(tenon__need(sink, __func__, "name", name != NULL));
  TENON_TRY(tenon__need(sink, __func__, "out_value", out_value != NULL));
  TENON_TRY(check_dims(sink, __func__, name, rank, dims));
  return tenon__tell(
      sink, __func__,
      tenon__builder_table()->input(network->builder, name, dtype, rank, dims, NULL, out_value));
}

tenon_status_t tenon_network_add_constant(tenon_network_t* network, const char* name,
                                          tenon_dtype_t dtype, uint32_t rank, const int64_t* dims,
                                          const void* data, tenon_value_t* out_value) {
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  const tenon_sink_t* sink = &network->registry->sink;
  int64_t strides[TENON_RANK_LIMIT];
  uint64_t count = 0;
  TENON_TRY(tenon__need(sink, __func__, "out_value", out_value != NULL));
  TENON_TRY(check_dims(sink, __func__, name, rank, dims));
  if (!tenon__element_count(rank, dims, &count) || !tenon__strides_row_major(rank, dims, strides)) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                       "tenon_network_add_constant: the extents of '%s' are negative or too large",
                       name != NULL ? name : "");
  }
  if (count > 0) {
    TENON_TRY(tenon__need(sink, __func__, "data", data != NULL));
  }
  const tenon_tensor_view_t view = {.data = tenon__drop_const(data), /* only read */
                                    .dims = dims,
                                    .strides = strides,
                                    .rank = rank,
                                    .dtype = dtype,
                                    .layout = TENON_NONE};
  return tenon__tell(sink, __func__,
                     tenon__builder_table()->constant(network->builder, name, &view, 0, out_value));
}

tenon_status_t tenon_network_add_output(tenon_network_t* network, tenon_value_t value,
                                        const char* name) {
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  return tenon__tell(&network->registry->sink, __func__,
                     tenon__builder_table()->output(network->builder, value, name));
}

/* ---- Looking ---- */

uint32_t tenon_network_input_count(const tenon_network_t* network) {
  const tenon__description_t* file = network != NULL ? tenon__description_of(network) : NULL;
  return file != NULL      ? file->inputs.count
         : network != NULL ? network->network->graphs[0]->input_count
                           : 0;
}

uint32_t tenon_network_output_count(const tenon_network_t* network) {
  const tenon__description_t* file = network != NULL ? tenon__description_of(network) : NULL;
  return file != NULL      ? file->outputs.count
         : network != NULL ? network->network->graphs[0]->output_count
                           : 0;
}

static tenon_status_t get_info(const tenon_network_t* network, const char* function, uint32_t value,
                               const char* name, tenon_io_info_t* out_info) {
  /* The arena is where what is lent lies: filling it does not change the network. */
  tenon__arena_t* arena = &((tenon_network_t*)tenon__drop_const(network))->arena;
  tenon_io_info_t info;
  if (tenon__io_info(network->network, NULL, value, name, arena, &info) != TENON_OK) {
    return tenon__fail_memory(&network->registry->sink);
  }
  const tenon__result_t result = {"out_info", "tenon_io_info_t", &info, sizeof(info)};
  return tenon__result_fill(&network->registry->sink, function, &result, out_info);
}

tenon_status_t tenon_network_get_input(const tenon_network_t* network, uint32_t index,
                                       tenon_io_info_t* out_info) {
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  const tenon__graph_t* graph = network->network->graphs[0];
  const tenon__description_t* file = tenon__description_of(network);
  if (file != NULL && index < file->inputs.count) {
    return TENON_RESULT_FILL(&network->registry->sink, tenon_io_info_t, &file->inputs.items[index],
                             out_info);
  }
  if (index >= graph->input_count) {
    return tenon__fail(&network->registry->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "tenon_network_get_input: there is no input %u, only %u", index,
                       tenon_network_input_count(network));
  }
  return get_info(network, __func__, graph->inputs[index], NULL, out_info);
}

tenon_status_t tenon_network_get_output(const tenon_network_t* network, uint32_t index,
                                        tenon_io_info_t* out_info) {
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  const tenon__graph_t* graph = network->network->graphs[0];
  const tenon__description_t* file = tenon__description_of(network);
  if (file != NULL && index < file->outputs.count) {
    return TENON_RESULT_FILL(&network->registry->sink, tenon_io_info_t, &file->outputs.items[index],
                             out_info);
  }
  if (index >= graph->output_count) {
    return tenon__fail(&network->registry->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "tenon_network_get_output: there is no output %u, only %u", index,
                       tenon_network_output_count(network));
  }
  return get_info(network, __func__, graph->outputs[index], graph->output_names[index], out_info);
}

void tenon_network_print(const tenon_network_t* network, tenon_write_t write, void* user) {
  if (network != NULL && write != NULL) {
    const locale_t outer = tenon__c_locale_enter();
    tenon__network_print(network->network, write, user);
    tenon__c_locale_leave(outer);
  }
}

static void print_names(const tenon__graph_t* graph, const tenon__node_t* node, tenon_write_t write,
                        void* user) {
  for (uint32_t k = 0; k < node->output_count; ++k) {
    if (node->outputs[k] != TENON_NONE) {
      write(user, graph->values[node->outputs[k]].name);
      write(user, "\n");
    }
  }
}

void tenon_network_print_values(const tenon_network_t* network, tenon_write_t write, void* user) {
  if (network == NULL || write == NULL) {
    return;
  }
  const tenon__graph_t* graph = network->network->graphs[0];
  tenon__arena_t arena;
  const uint32_t* order = NULL;
  uint32_t count = 0;
  tenon__arena_initialize(&arena, network->registry->allocator);
  if (tenon__graph_order(network->network, 0, &arena, NULL, &order, &count) == TENON_OK) {
    for (uint32_t i = 0; i < count; ++i) {
      print_names(graph, &graph->nodes[order[i]], write, user);
    }
  }
  tenon__arena_deinitialize(&arena);
}
