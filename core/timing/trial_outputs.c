/* The outputs of trials. What the region's kernel finds the extents of it allocates itself; the
 * rest is a block, as strings are: memory that grows. */
#include "core/timing/trial_outputs.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/kernel/align.h"
#include "core/region/retype.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"
#include "core/timing/red_zone.h"
#include "core/timing/trial_memory.h"

static const tenon__value_node_t* value_of(const tenon__trial_data_t* data, uint32_t output) {
  const struct tenon_region_t* region = data->region;
  return &region->network->graphs[region->graph]->values[region->outputs[output].value];
}

/* ---- Making ---- */

/* A copy makes the value that it reads, and finds nothing. */
static bool is_made_here(const struct tenon_region_t* region, uint32_t value) {
  bool is_made = false;
  TENON_EACH_REGION_OUTPUT(k, region) {
    is_made = is_made || region->outputs[k].value == value;
  }
  TENON_EACH_REGION_INPUT(k, region) {
    is_made = is_made && region->inputs[k].value != value;
  }
  return is_made;
}

/* Is it an extent that the region's kernel finds? */
static bool is_found_here(const struct tenon_region_t* region, tenon_dim_t dim) {
  const tenon__network_t* network = region->network;
  const tenon__dim_view_t view = tenon__dim_get(network->pool, dim);
  uint32_t graph = 0;
  uint32_t value = 0;
  uint32_t axis = 0;
  if (view.kind == TENON_DIM_SYMBOL) {
    const tenon__symbol_t* symbol = tenon__symbol_get(network->pool, view.index);
    const bool is_own = symbol->kind == TENON_SYMBOL_EXTENT &&
                        tenon__symbol_source(network, symbol, &graph, &value, &axis) &&
                        graph == region->graph;
    return is_own && is_made_here(region, value);
  }
  for (uint32_t k = 0; k < view.operand_count; ++k) {
    if (is_found_here(region, view.operands[k])) {
      return true;
    }
  }
  return false;
}

static bool is_allocated(const tenon__trial_data_t* data, const tenon__value_node_t* value) {
  bool is_found = value->type.rank == TENON_NONE;
  for (uint32_t k = 0; !is_found && k < value->type.rank; ++k) {
    is_found = is_found_here(data->region, value->type.dims[k]);
  }
  return is_found;
}

static tenon_status_t make_buffer(tenon__trial_data_t* data, tenon_dtype_t dtype,
                                  tenon__dynamic_buffer_t** out_buffer) {
  tenon__dynamic_buffer_t* buffer = tenon__arena_allocate(&data->arena, 1, sizeof *buffer);
  TENON_TRY_MEMORY(buffer != NULL);
  tenon__dynamic_buffer_initialize(
      buffer,
      tenon__tuning_memory(data->tuning, dtype == TENON_DTYPE_STRING ? 0 : data->region->device),
      TENON_ARGUMENT_TENSOR, dtype);
  *out_buffer = buffer;
  return TENON_OK;
}

/* The host has memory for what is looked at alone. */
static tenon_status_t make_part(tenon__trial_data_t* data, tenon__trial_output_t* output) {
  const tenon_tensor_view_t* whole = &output->whole;
  output->part = tenon__trial_data_part(data, whole->rank, whole->dims, output->whole_bytes);
  if (tenon__part_is_whole(&output->part)) {
    return TENON_OK;
  }
  int64_t* dims = tenon__arena_copy(&data->arena, whole->dims, whole->rank * sizeof *dims);
  TENON_TRY_MEMORY(dims != NULL);
  dims[0] = tenon__part_extent(&output->part);
  output->view.dims = dims;
  output->size_bytes = output->whole_bytes / (size_t)whole->dims[0] * (size_t)dims[0];
  return TENON_OK;
}

static tenon_status_t make_output(tenon__trial_data_t* data, uint32_t k,
                                  tenon__trial_outputs_t* outputs) {
  const struct tenon_region_t* region = data->region;
  tenon__trial_output_t* output = &outputs->items[k];
  if (region->output_values[k] == TENON_NONE) {
    return TENON_OK;
  }
  const tenon__value_node_t* value = value_of(data, k);
  if (value->type.kind != TENON_ARGUMENT_TENSOR) {
    return TENON_ERROR_UNSUPPORTED;
  }
  if (is_allocated(data, value)) {
    output->kind = TENON_ARGUMENT_ALLOCATE;
    output->view = (tenon_tensor_view_t){.dtype = value->type.dtype, .layout = TENON_NONE};
    return make_buffer(data, value->type.dtype, &outputs->buffers[k]);
  }
  output->kind = TENON_ARGUMENT_TENSOR;
  TENON_TRY(tenon__trial_data_describe(data, &region->values[region->output_values[k]],
                                       &output->whole, &output->whole_bytes));
  output->view = output->whole;
  output->size_bytes = output->whole_bytes;
  if (tenon__dtype_bits(value->type.dtype) % 8 == 0 && value->type.dtype != TENON_DTYPE_STRING) {
    TENON_TRY(make_part(data, output));
    data->parts[k] = output->part;
  }
  if (value->type.dtype == TENON_DTYPE_STRING) {
    return make_buffer(data, value->type.dtype, &outputs->buffers[k]);
  }
  if (tenon__trial_data_boxes(data, false, k)) {
    return tenon__trial_data_take_box(data, value->type.dtype, &output->view.data);
  }
  output->view.data = tenon__trial_data_take_zoned(data, output->size_bytes);
  output->zoned_bytes = output->size_bytes;
  return output->view.data == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t make_outputs(tenon__trial_data_t* data,
                                   tenon__trial_outputs_t** out_outputs) {
  const uint32_t count = data->region->output_count + 1u;
  tenon__trial_outputs_t* outputs = tenon__arena_allocate(&data->arena, 1, sizeof *outputs);
  TENON_TRY_MEMORY(outputs != NULL);
  outputs->next = data->all;
  data->all = outputs;
  outputs->items = tenon__arena_allocate(&data->arena, count, sizeof *outputs->items);
  outputs->arguments = tenon__arena_allocate(&data->arena, count, sizeof *outputs->arguments);
  outputs->buffers = tenon__arena_allocate(&data->arena, count, sizeof(tenon__dynamic_buffer_t*));
  TENON_TRY_MEMORY(outputs->items != NULL && outputs->arguments != NULL &&
                   outputs->buffers != NULL);
  for (uint32_t k = 0; k + 1 < count; ++k) {
    TENON_TRY(make_output(data, k, outputs));
    outputs->items[k].buffer = outputs->buffers[k];
  }
  *out_outputs = outputs;
  return TENON_OK;
}

/* ---- Lending ---- */

static tenon_status_t align(tenon__trial_data_t* data, uint32_t k,
                            const tenon_tensor_view_t* tensor, tenon_argument_t* out_argument) {
  int64_t* dims = tenon__arena_allocate(&data->arena, TENON_RANK_LIMIT, sizeof *dims);
  int64_t* strides = tenon__arena_allocate(&data->arena, TENON_RANK_LIMIT, sizeof *strides);
  TENON_TRY_MEMORY(dims != NULL && strides != NULL);
  return tenon__region_align_output(data->region, k, &data->region->profile->optimum, tensor,
                                    (tenon__axes_t){dims, strides}, &out_argument->tensor);
}

static void count_bytes(const tenon_tensor_view_t* view, size_t* out_bytes) {
  uint64_t count = 0;
  if (view->dtype != TENON_DTYPE_STRING && tenon__element_count(view->rank, view->dims, &count)) {
    (void)tenon__dtype_bytes(view->dtype, count, out_bytes);
  }
}

/* The whole, or a part in the order of the whole, where its pieces lie in one piece; else rows. */
static tenon_status_t set_view(tenon__trial_data_t* data, tenon__trial_output_t* output) {
  tenon_tensor_view_t* view = &output->view;
  view->dtype = output->whole.dtype;
  view->strides = output->whole.strides;
  count_bytes(view, &output->size_bytes);
  if (tenon__part_is_whole(&output->part) || tenon__part_lies_together(&output->whole)) {
    return TENON_OK;
  }
  int64_t* rows = tenon__arena_allocate(&data->arena, view->rank + 1u, sizeof *rows);
  TENON_TRY_MEMORY(rows != NULL);
  view->strides = rows;
  return tenon__strides_row_major(view->rank, view->dims, rows) ? TENON_OK
                                                                : TENON_ERROR_UNSUPPORTED;
}

static tenon_status_t set_output(tenon__trial_data_t* data, uint32_t k,
                                 const tenon_argument_rule_t* rule,
                                 tenon__trial_outputs_t* outputs) {
  tenon__trial_output_t* output = &outputs->items[k];
  tenon_tensor_view_t* view = &output->view;
  outputs->arguments[k] = (tenon_argument_t){.kind = output->kind};
  if (output->kind == TENON_ARGUMENT_ALLOCATE) {
    outputs->arguments[k].tensor =
        (tenon_tensor_view_t){.dtype = view->dtype, .layout = TENON_NONE};
  }
  if (output->kind != TENON_ARGUMENT_TENSOR) {
    return TENON_OK;
  }
  int64_t* strides = tenon__arena_allocate(&data->arena, view->rank + 1u, sizeof *strides);
  TENON_TRY_MEMORY(strides != NULL);
  output->whole.strides = strides;
  output->whole.dtype = tenon__region_output_dtype(data->region, k, rule);
  output->whole.data = view->data;
  count_bytes(&output->whole, &output->whole_bytes);
  TENON_TRY(tenon__trial_data_boxes(data, false, k)
                ? tenon__trial_data_box_strides(data, strides)
                : tenon__trial_data_strides(data, rule, &output->whole, strides));
  TENON_TRY(align(data, k, &output->whole, &outputs->arguments[k]));
  return set_view(data, output);
}

tenon_status_t tenon__trial_outputs_provide(tenon__trial_data_t* data,
                                            const tenon__step_tactic_t* tactic,
                                            tenon__trial_outputs_t** out_outputs) {
  const tenon_argument_rule_t* rules =
      data->conversion != NULL ? &data->conversion->to : tactic->output_rules;
  if (data->spare == NULL) {
    TENON_TRY(make_outputs(data, &data->spare));
  }
  tenon__trial_outputs_t* outputs = data->spare;
  for (uint32_t k = 0; k < data->region->output_count; ++k) {
    TENON_TRY(set_output(data, k, tenon__rule_at(rules, k), outputs));
  }
  data->spare = NULL;
  *out_outputs = outputs;
  return TENON_OK;
}

void tenon__trial_outputs_give_back(tenon__trial_data_t* data, tenon__trial_outputs_t* outputs) {
  if (outputs != NULL) {
    data->spare = outputs;
  }
}

/* ---- Around a run ---- */

static tenon__zoned_t zoned_of(const tenon__trial_output_t* output) {
  return (tenon__zoned_t){output->view.data, output->size_bytes, output->zoned_bytes};
}

tenon__overrun_t tenon__trial_outputs_overrun(const tenon__trial_outputs_t* outputs, uint32_t count,
                                              uint32_t* out_output) {
  tenon__overrun_t overrun = TENON_OVERRUN_NONE;
  for (uint32_t k = 0; k < count && overrun == TENON_OVERRUN_NONE; ++k) {
    const tenon__zoned_t zoned = zoned_of(&outputs->items[k]);
    overrun = zoned.capacity_bytes == 0 ? overrun : tenon__red_zones_check(&zoned);
    *out_output = k;
  }
  return overrun;
}

tenon_status_t tenon__trial_outputs_clear(tenon__trial_outputs_t* outputs, uint32_t count,
                                          uint32_t pattern) {
  for (uint32_t k = 0; k < count; ++k) {
    tenon__trial_output_t* output = &outputs->items[k];
    tenon__dynamic_buffer_t* buffer = output->buffer;
    if (buffer != NULL) {
      tenon__dynamic_buffer_clear(buffer);
    }
    if (buffer != NULL && output->kind == TENON_ARGUMENT_TENSOR) {
      TENON_TRY(tenon__dynamic_buffer_resize(buffer, output->view.dtype, output->view.rank,
                                             output->view.dims));
      output->view.data = buffer->data;
      outputs->arguments[k].tensor.data = buffer->data;
    } else if (output->view.data != NULL && output->size_bytes > 0) {
      tenon__pattern_fill(output->view.data, output->view.dtype, output->size_bytes, pattern);
    }
    if (output->zoned_bytes > 0) {
      const tenon__zoned_t zoned = zoned_of(output);
      tenon__red_zones_fill(&zoned);
    }
  }
  return TENON_OK;
}

void tenon__trial_outputs_collect(tenon__trial_outputs_t* outputs, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    tenon__trial_output_t* output = &outputs->items[k];
    const tenon__dynamic_buffer_t* buffer = output->buffer;
    uint64_t elements = 0;
    if (output->kind != TENON_ARGUMENT_ALLOCATE) {
      continue;
    }
    output->view = tenon__dynamic_buffer_argument(buffer).tensor;
    output->size_bytes = 0;
    if (buffer->dtype != TENON_DTYPE_STRING &&
        tenon__element_count(buffer->rank, buffer->dims, &elements)) {
      (void)tenon__dtype_bytes(buffer->dtype, elements, &output->size_bytes);
    }
  }
}
