/* Data that all trials of one region share, and their memory: blocks of the tuning, with red zones
 * around outputs. */
#include "core/timing/trial_data.h"

#include <string.h>

#include "core/base/status.h"
#include "core/network/fault.h"
#include "core/tensor/layout.h"
#include "core/timing/red_zone.h"
#include "core/timing/rule_strides.h"

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

void* tenon__trial_data_take_zoned(tenon__trial_data_t* data, size_t size_bytes) {
  const size_t block_bytes = tenon__red_zone_block_bytes(size_bytes);
  return block_bytes < size_bytes ? NULL
                                  : tenon__red_zone_data(tenon__trial_data_take(data, block_bytes));
}

tenon_status_t tenon__trial_data_box_strides(const tenon__trial_data_t* data,
                                             int64_t* out_strides) {
  const tenon__box_t* box = data->box;
  return tenon__strides_ordered(box->rank, box->dims, box->order, out_strides)
             ? TENON_OK
             : TENON_ERROR_UNSUPPORTED;
}

tenon_status_t tenon__trial_data_take_box(tenon__trial_data_t* data, tenon_dtype_t dtype,
                                          void** out_data) {
  const tenon__box_t* box = data->box;
  int64_t strides[TENON_RANK_LIMIT];
  int64_t first = 0;
  uint64_t count = 0;
  size_t bytes = 0;
  TENON_TRY(tenon__trial_data_box_strides(data, strides));
  for (uint32_t d = 0; d < box->rank; ++d) {
    first += box->begin[d] * strides[d];
  }
  if (!tenon__element_count(box->rank, box->dims, &count) ||
      !tenon__dtype_bytes(dtype, count, &bytes)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  char* whole = tenon__trial_data_take(data, bytes);
  TENON_TRY_MEMORY(whole != NULL);
  *out_data = whole + first * (int64_t)tenon__dtype_bits(dtype) / 8;
  return TENON_OK;
}

/* Symbols that only the run knows are unknown at the minimum. */
static bool is_guessed(const struct tenon_region_t* region, uint32_t value) {
  const tenon__type_t* type = &region->network->graphs[region->graph]->values[value].type;
  const uint32_t rank = type->rank == TENON_NONE ? 0 : type->rank;
  int64_t number = 0;
  for (uint32_t d = 0; d < rank; ++d) {
    if (!tenon__extents_get(&region->profile->min, type->dims[d], &number)) {
      return true;
    }
  }
  return false;
}

/* Do the extents of the optimum perhaps not fit together here? A kernel counts on them. */
static bool is_doubtful(const struct tenon_region_t* region) {
  bool is_open = tenon__graph_branch(region->network, region->graph) != TENON_NONE;
  TENON_EACH_REGION_INPUT(k, region) {
    is_open = is_open || is_guessed(region, region->inputs[k].value);
  }
  TENON_EACH_REGION_OUTPUT(k, region) {
    is_open = is_open || is_guessed(region, region->outputs[k].value);
  }
  return is_open && region->profile->is_contradictory;
}

tenon_status_t tenon__trial_data_begin(tenon__tuning_t* tuning, const struct tenon_region_t* region,
                                       tenon__trial_data_t* out_data) {
  tenon__trial_data_t* data = out_data;
  *data = (tenon__trial_data_t){.tuning = tuning, .region = region};
  tenon__arena_initialize(&data->arena, tuning->allocator);
  data->inputs =
      tenon__arena_allocate(&data->arena, region->input_count + 1u, sizeof *data->inputs);
  data->arguments =
      tenon__arena_allocate(&data->arena, region->input_count + 1u, sizeof *data->arguments);
  data->parts = tenon__arena_allocate(&data->arena, region->output_count + 1u, sizeof *data->parts);
  TENON_TRY_MEMORY(data->inputs != NULL && data->arguments != NULL && data->parts != NULL);
  TENON_TRY(tenon__packed_store_create(tuning->allocator, &data->store));
  tenon__packed_store_use_folder(data->store, tuning->blobs);
  return is_doubtful(region) ? TENON_ERROR_UNSUPPORTED : TENON_OK;
}

tenon__part_t tenon__trial_data_part(const tenon__trial_data_t* data, uint32_t rank,
                                     const int64_t* dims, size_t size_bytes) {
  const bool is_apart = data->region->device != 0 && data->box == NULL && !data->is_whole;
  return is_apart ? tenon__part_of(rank, dims, size_bytes) : (tenon__part_t){.length = 0};
}

static void forget_device(tenon__trial_data_t* data) {
  const uint32_t count = data->inputs == NULL ? 0 : data->region->input_count;
  for (uint32_t k = 0; k < count; ++k) {
    tenon__trial_input_t* input = &data->inputs[k];
    const tenon__memory_t memory = tenon__tuning_memory(data->tuning, data->region->device);
    tenon__memory_free(&memory, input->rows.device, input->size_bytes);
    for (tenon__trial_copy_t* copy = input->copies; copy != NULL; copy = copy->next) {
      tenon__memory_free(&memory, copy->device, input->size_bytes);
    }
  }
}

void tenon__trial_data_end(tenon__trial_data_t* data) {
  if (data->region->device != 0) {
    forget_device(data);
  }
  for (tenon__trial_outputs_t* outputs = data->all; outputs != NULL; outputs = outputs->next) {
    const uint32_t count = outputs->buffers == NULL ? 0 : data->region->output_count;
    for (uint32_t k = 0; k < count; ++k) {
      if (outputs->buffers[k] != NULL) {
        tenon__dynamic_buffer_deinitialize(outputs->buffers[k]);
      }
    }
  }
  tenon__packed_store_destroy(data->store); /* trials have ended: no device reads it any more */
  for (const tenon__trial_block_t* b = data->blocks; b != NULL; b = b->next) {
    tenon__blocks_give_back(&data->tuning->blocks, b->data);
  }
  tenon__arena_deinitialize(&data->arena);
}

tenon_status_t tenon__trial_data_describe(tenon__trial_data_t* data,
                                          const tenon_value_info_t* value,
                                          tenon_tensor_view_t* out_view, size_t* out_bytes) {
  int64_t* dims = tenon__arena_allocate(&data->arena, value->rank + 1u, sizeof *dims);
  int64_t* strides = tenon__arena_allocate(&data->arena, value->rank + 1u, sizeof *strides);
  uint64_t count = 0;
  TENON_TRY_MEMORY(dims != NULL && strides != NULL);
  memcpy(dims, value->dims_opt, value->rank * sizeof *dims);
  *out_view = (tenon_tensor_view_t){.dims = dims,
                                    .strides = strides,
                                    .rank = value->rank,
                                    .dtype = value->dtype,
                                    .layout = TENON_NONE};
  return value->rank <= TENON_RANK_LIMIT && tenon__strides_row_major(value->rank, dims, strides) &&
                 tenon__element_count(value->rank, dims, &count) &&
                 tenon__dtype_bytes(value->dtype, count, out_bytes)
             ? TENON_OK
             : TENON_ERROR_UNSUPPORTED;
}

/* The tensor whose order of dimensions a rule follows, if it is lent already. */
static const tenon_tensor_view_t* followed(const tenon__trial_data_t* data,
                                           const tenon_argument_rule_t* rule) {
  if (rule == NULL || rule->kind != TENON_LAYOUT_FOLLOWS ||
      data->inputs[rule->argument].current == NULL) {
    return NULL;
  }
  return &data->inputs[rule->argument].current->view;
}

tenon_status_t tenon__trial_data_strides(const tenon__trial_data_t* data,
                                         const tenon_argument_rule_t* rule,
                                         const tenon_tensor_view_t* tensor, int64_t* out_strides) {
  return tenon__rule_strides(rule, tensor->rank, tensor->dims, followed(data, rule), out_strides)
             ? TENON_OK
             : TENON_ERROR_UNSUPPORTED;
}
