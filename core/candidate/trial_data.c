#include "core/candidate/trial_data.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/candidate/rule_strides.h"
#include "core/candidate/trial_inputs.h"
#include "core/candidate/trial_memory.h"
#include "core/dimension/dimension_pool.h"
#include "core/kernel/align.h"
#include "core/tensor/layout.h"
#include "core/tensor/strided_copy.h"

enum { MAX_RANK = 64 };

typedef struct tenon__trial_block_t {
  void* data;
  struct tenon__trial_block_t* next;
} tenon__trial_block_t;

void* tenon__trial_data_take(tenon__trial_data_t* data, size_t size_bytes) {
  tenon__trial_block_t* block = tenon__arena_allocate(&data->arena, 1, sizeof *block);
  if (block == NULL) {
    return NULL;
  }
  block->data = tenon__blocks_take(&data->tuning->blocks, size_bytes);
  block->next = data->blocks;
  data->blocks = block;
  return block->data;
}

static const tenon__value_node_t* graph_value(const tenon__trial_data_t* data, uint32_t value) {
  return &data->region->network->graphs[data->region->graph]->values[value];
}

tenon_status_t tenon__trial_data_begin(tenon__tuning_t* tuning, const struct tenon_region_t* region,
                                       const tenon_tensor_view_t* given,
                                       tenon__trial_data_t* out_data) {
  tenon__trial_data_t* data = out_data;
  *data = (tenon__trial_data_t){.tuning = tuning, .region = region};
  tenon__arena_initialize(&data->arena, tuning->allocator);
  data->inputs =
      tenon__arena_allocate(&data->arena, region->input_count + 1u, sizeof *data->inputs);
  data->arguments =
      tenon__arena_allocate(&data->arena, region->input_count + 1u, sizeof *data->arguments);
  if (data->inputs == NULL || data->arguments == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < region->input_count; ++k) {
    TENON_TRY(tenon__trial_input_begin(data, k, given));
  }
  return TENON_OK;
}

void tenon__trial_data_end(tenon__trial_data_t* data) {
  for (tenon__trial_outputs_t* outputs = data->all; outputs != NULL; outputs = outputs->next) {
    for (uint32_t k = 0; outputs->growing != NULL && k < data->region->output_count; ++k) {
      if (outputs->growing[k] != NULL) {
        tenon__growing_deinitialize(outputs->growing[k]);
      }
    }
  }
  for (const tenon__trial_block_t* b = data->blocks; b != NULL; b = b->next) {
    tenon__blocks_give_back(&data->tuning->blocks, b->data);
  }
  tenon__arena_deinitialize(&data->arena);
}

/* ---- Lending ---- */

/* The input with these strides. */
static tenon_status_t copy_for(tenon__trial_data_t* data, tenon__trial_input_t* input,
                               const int64_t* strides, tenon__trial_copy_t** out_copy) {
  const tenon_tensor_view_t* rows = &input->rows.view;
  *out_copy = &input->rows;
  if (tenon__strides_equal(rows->rank, rows->dims, rows->strides, strides)) {
    return TENON_OK;
  }
  for (*out_copy = input->copies; *out_copy != NULL; *out_copy = (*out_copy)->next) {
    if (tenon__strides_equal(rows->rank, rows->dims, (*out_copy)->view.strides, strides)) {
      return TENON_OK;
    }
  }
  if (tenon__dtype_bits(rows->dtype) % 8 != 0) {
    return TENON_ERROR_UNSUPPORTED; /* elements within a byte lie in rows alone */
  }
  tenon__trial_copy_t* copy = tenon__arena_allocate(&data->arena, 1, sizeof *copy);
  int64_t* own = tenon__arena_copy(&data->arena, strides, (rows->rank + 1u) * sizeof *own);
  if (copy == NULL || own == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  copy->view = *rows;
  copy->view.strides = own;
  copy->view.data = tenon__trial_data_take(data, input->size_bytes);
  if (copy->view.data == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon__strided_copy(rows, &copy->view);
  copy->next = input->copies;
  input->copies = copy;
  *out_copy = copy;
  return TENON_OK;
}

static tenon_status_t align(tenon__trial_data_t* data, bool is_output, uint32_t index,
                            const tenon_tensor_view_t* tensor, tenon_argument_t* out_argument) {
  int64_t* dims = tenon__arena_allocate(&data->arena, MAX_RANK, sizeof *dims);
  int64_t* strides = tenon__arena_allocate(&data->arena, MAX_RANK, sizeof *strides);
  if (dims == NULL || strides == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon__extents_t* extents = &data->region->profile->optimum;
  out_argument->kind = TENON_ARGUMENT_TENSOR;
  return is_output ? tenon__region_align_output(data->region, index, extents, tensor, dims, strides,
                                                &out_argument->tensor)
                   : tenon__region_align_input(data->region, index, extents, tensor, dims, strides,
                                               &out_argument->tensor);
}

static const tenon_argument_rule_t* rule_of(const tenon_argument_rule_t* rules, uint32_t k) {
  return rules == NULL ? NULL : &rules[k];
}

/* The tensor whose order of dimensions a rule follows, if it is lent already. */
static const tenon_tensor_view_t* followed(const tenon__trial_data_t* data,
                                           const tenon_argument_rule_t* rule) {
  if (rule == NULL || rule->kind != TENON_LAYOUT_FOLLOWS ||
      data->inputs[rule->argument].lent == NULL) {
    return NULL;
  }
  return &data->inputs[rule->argument].lent->view;
}

static tenon_status_t lend_input(tenon__trial_data_t* data, uint32_t k,
                                 const tenon_argument_rule_t* rule) {
  tenon__trial_input_t* input = &data->inputs[k];
  const tenon_tensor_view_t* rows = &input->rows.view;
  int64_t strides[MAX_RANK + 1] = {0};
  input->lent = &input->rows;
  if (data->region->values[data->region->input_values[k]].constant_data == NULL ||
      !tenon__rule_takes_rows(rule)) {
    if (!tenon__rule_strides(rule, rows->rank, rows->dims, followed(data, rule), strides)) {
      return TENON_ERROR_UNSUPPORTED;
    }
    TENON_TRY(copy_for(data, input, strides, &input->lent));
  }
  return align(data, false, k, &input->lent->view, &data->arguments[k]);
}

/* Those that follow another come behind it. */
static tenon_status_t lend_inputs(tenon__trial_data_t* data, const tenon_argument_rule_t* rules) {
  for (uint32_t k = 0; k < data->region->input_count; ++k) {
    data->inputs[k].lent = NULL;
  }
  for (int follows = 0; follows < 2; ++follows) {
    for (uint32_t k = 0; k < data->region->input_count; ++k) {
      const tenon_argument_rule_t* rule = rule_of(rules, k);
      const int is_follower = rule != NULL && rule->kind == TENON_LAYOUT_FOLLOWS ? 1 : 0;
      if (data->inputs[k].is_there && is_follower == follows) {
        TENON_TRY(lend_input(data, k, rule));
      }
    }
  }
  return TENON_OK;
}

/* ---- Outputs ---- */

/* Is it an extent that the region's kernel finds? */
static bool is_found_here(const struct tenon_region_t* region, tenon_dim_t dim) {
  const tenon__network_t* network = region->network;
  const tenon__dim_view_t view = tenon__dim_get(network->pool, dim);
  uint32_t graph = 0;
  uint32_t value = 0;
  uint32_t axis = 0;
  if (view.kind == TENON_DIM_SYMBOL) {
    const tenon__symbol_t* symbol = tenon__symbol_get(network->pool, view.index);
    bool is_own = symbol->kind == TENON_SYMBOL_EXTENT &&
                  tenon__symbol_source(network, symbol, &graph, &value, &axis) &&
                  graph == region->graph;
    bool is_output = false;
    for (uint32_t k = 0; k < region->output_count && is_own; ++k) {
      is_output = is_output || region->outputs[k].value == value;
    }
    return is_own && is_output;
  }
  for (uint32_t k = 0; k < view.operand_count; ++k) {
    if (is_found_here(region, view.operands[k])) {
      return true;
    }
  }
  return false;
}

static bool is_allocated(const tenon__trial_data_t* data, const tenon__value_node_t* value) {
  for (uint32_t k = 0; value->type.rank != TENON_NONE && k < value->type.rank; ++k) {
    if (is_found_here(data->region, value->type.dims[k])) {
      return true;
    }
  }
  return value->type.rank == TENON_NONE;
}

static tenon_status_t make_growing(tenon__trial_data_t* data, tenon_dtype_t dtype,
                                   tenon__growing_t** out_growing) {
  tenon__growing_t* growing = tenon__arena_allocate(&data->arena, 1, sizeof *growing);
  if (growing == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon__growing_initialize(growing, data->tuning->allocator, dtype);
  *out_growing = growing;
  return TENON_OK;
}

static tenon_status_t make_output(tenon__trial_data_t* data, uint32_t k,
                                  tenon__trial_outputs_t* outputs) {
  const struct tenon_region_t* region = data->region;
  tenon__trial_output_t* output = &outputs->items[k];
  if (region->output_values[k] == TENON_NONE) {
    return TENON_OK;
  }
  const tenon__value_node_t* value = graph_value(data, region->outputs[k].value);
  if (value->type.kind != TENON_ARGUMENT_TENSOR) {
    return TENON_ERROR_UNSUPPORTED;
  }
  if (is_allocated(data, value)) {
    output->kind = TENON_ARGUMENT_ALLOCATE;
    output->view = (tenon_tensor_view_t){.dtype = value->type.dtype, .layout = TENON_NONE};
    return make_growing(data, value->type.dtype, &outputs->growing[k]);
  }
  output->kind = TENON_ARGUMENT_TENSOR;
  TENON_TRY(tenon__trial_data_describe(data, &region->values[region->output_values[k]],
                                       &output->view, &output->size_bytes));
  if (value->type.dtype == TENON_DTYPE_STRING) {
    return make_growing(data, value->type.dtype, &outputs->growing[k]);
  }
  output->view.data = tenon__trial_data_take(data, output->size_bytes);
  return output->view.data == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

static tenon_status_t make_outputs(tenon__trial_data_t* data,
                                   tenon__trial_outputs_t** out_outputs) {
  const uint32_t count = data->region->output_count + 1u;
  tenon__trial_outputs_t* outputs = tenon__arena_allocate(&data->arena, 1, sizeof *outputs);
  if (outputs == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  outputs->next = data->all;
  data->all = outputs;
  outputs->items = tenon__arena_allocate(&data->arena, count, sizeof *outputs->items);
  outputs->arguments = tenon__arena_allocate(&data->arena, count, sizeof *outputs->arguments);
  outputs->growing = tenon__arena_allocate(&data->arena, count, sizeof *outputs->growing);
  if (outputs->items == NULL || outputs->arguments == NULL || outputs->growing == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k + 1 < count; ++k) {
    TENON_TRY(make_output(data, k, outputs));
    outputs->items[k].growing = outputs->growing[k];
  }
  *out_outputs = outputs;
  return TENON_OK;
}

static tenon_status_t lend_output(tenon__trial_data_t* data, uint32_t k,
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
  if (strides == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  view->strides = strides;
  if (!tenon__rule_strides(rule, view->rank, view->dims, followed(data, rule), strides)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  return align(data, true, k, view, &outputs->arguments[k]);
}

tenon_status_t tenon__trial_data_lend(tenon__trial_data_t* data, const tenon__step_tactic_t* tactic,
                                      tenon__trial_outputs_t** out_outputs) {
  TENON_TRY(lend_inputs(data, tactic->input_rules));
  if (data->spare == NULL) {
    TENON_TRY(make_outputs(data, &data->spare));
  }
  tenon__trial_outputs_t* outputs = data->spare;
  for (uint32_t k = 0; k < data->region->output_count; ++k) {
    TENON_TRY(lend_output(data, k, rule_of(tactic->output_rules, k), outputs));
  }
  data->spare = NULL;
  *out_outputs = outputs;
  return TENON_OK;
}

void tenon__trial_data_give_back(tenon__trial_data_t* data, tenon__trial_outputs_t* outputs) {
  if (outputs != NULL) {
    data->spare = outputs;
  }
}

/* ---- Around a run ---- */

tenon_status_t tenon__trial_outputs_clear(tenon__trial_outputs_t* outputs, uint32_t count,
                                          uint32_t pattern) {
  for (uint32_t k = 0; k < count; ++k) {
    tenon__trial_output_t* output = &outputs->items[k];
    tenon__growing_t* growing = output->growing;
    if (growing != NULL) {
      tenon__growing_clear(growing);
    }
    if (growing != NULL && output->kind == TENON_ARGUMENT_TENSOR) {
      TENON_TRY(
          tenon__growing_resize(growing, output->view.dtype, output->view.rank, output->view.dims));
      output->view.data = growing->data;
      outputs->arguments[k].tensor.data = growing->data;
    } else if (output->view.data != NULL && output->size_bytes > 0) {
      tenon__pattern_fill(output->view.data, output->view.dtype, output->size_bytes, pattern);
    }
  }
  return TENON_OK;
}

void tenon__trial_outputs_collect(tenon__trial_outputs_t* outputs, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    tenon__trial_output_t* output = &outputs->items[k];
    const tenon__growing_t* growing = output->growing;
    uint64_t elements = 0;
    if (output->kind != TENON_ARGUMENT_ALLOCATE) {
      continue;
    }
    output->view = (tenon_tensor_view_t){.data = growing->data,
                                         .dims = growing->dims,
                                         .strides = growing->strides,
                                         .rank = growing->rank,
                                         .dtype = growing->dtype,
                                         .layout = TENON_NONE};
    output->size_bytes = 0;
    if (growing->dtype != TENON_DTYPE_STRING &&
        tenon__element_count(growing->rank, growing->dims, &elements)) {
      (void)tenon__dtype_bytes(growing->dtype, elements, &output->size_bytes);
    }
  }
}

const tenon_tensor_view_t* tenon__trial_data_rows(const tenon__trial_data_t* data, uint32_t k) {
  return data->inputs[k].is_there ? &data->inputs[k].rows.view : NULL;
}
