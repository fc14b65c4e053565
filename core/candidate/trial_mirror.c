#include "core/candidate/trial_mirror.h"

#include "core/base/status.h"
#include "core/tensor/layout.h"

bool tenon__trial_mirror_is_used(const tenon__trial_mirror_t* mirror) {
  return mirror->memory.device != NULL;
}

/* ---- Making ---- */

static tenon_status_t mirror_block(tenon__trial_mirror_t* mirror, void* host, size_t size_bytes,
                                   tenon__mirrored_t* out_block) {
  *out_block = (tenon__mirrored_t){.host = host, .size_bytes = size_bytes};
  return tenon__memory_allocate(&mirror->memory, size_bytes, &out_block->device);
}

/* The same argument in the mirror: a view may begin in the middle of its block. */
static void mirror_argument(const tenon__mirrored_t* block, const tenon_argument_t* argument,
                            tenon_argument_t* out_argument) {
  *out_argument = *argument;
  if (block->device != NULL) {
    out_argument->tensor.data =
        (char*)block->device + ((char*)argument->tensor.data - (char*)block->host);
  }
}

/* What the tactic reads on the host stays there. */
static tenon_status_t mirror_inputs(tenon__trial_mirror_t* mirror, const tenon__trial_data_t* data,
                                    const tenon_argument_rule_t* rules) {
  for (uint32_t k = 0; k < mirror->input_count; ++k) {
    const tenon__trial_input_t* input = &data->inputs[k];
    if (input->is_there && input->current != NULL &&
        !tenon__rule_is_host(tenon__rule_at(rules, k))) {
      TENON_TRY(
          mirror_block(mirror, input->current->view.data, input->size_bytes, &mirror->inputs[k]));
    }
    mirror_argument(&mirror->inputs[k], &data->arguments[k], &mirror->input_arguments[k]);
  }
  return TENON_OK;
}

static tenon_status_t mirror_outputs(tenon__trial_mirror_t* mirror,
                                     const tenon__trial_outputs_t* outputs) {
  for (uint32_t k = 0; k < mirror->output_count; ++k) {
    const tenon__trial_output_t* output = &outputs->items[k];
    if (output->kind == TENON_ARGUMENT_TENSOR) {
      TENON_TRY(mirror_block(mirror, output->view.data, output->size_bytes, &mirror->outputs[k]));
    }
    mirror_argument(&mirror->outputs[k], &outputs->arguments[k], &mirror->output_arguments[k]);
  }
  return TENON_OK;
}

static tenon_status_t make_lists(tenon__trial_mirror_t* mirror, tenon__arena_t* arena) {
  mirror->inputs = tenon__arena_allocate(arena, mirror->input_count + 1u, sizeof *mirror->inputs);
  mirror->outputs =
      tenon__arena_allocate(arena, mirror->output_count + 1u, sizeof *mirror->outputs);
  mirror->input_arguments =
      tenon__arena_allocate(arena, mirror->input_count + 1u, sizeof *mirror->input_arguments);
  mirror->output_arguments =
      tenon__arena_allocate(arena, mirror->output_count + 1u, sizeof *mirror->output_arguments);
  TENON_TRY_MEMORY(mirror->inputs != NULL && mirror->outputs != NULL &&
                   mirror->input_arguments != NULL && mirror->output_arguments != NULL);
  return TENON_OK;
}

tenon_status_t tenon__trial_mirror_begin(tenon__trial_mirror_t* mirror,
                                         const tenon__trial_data_t* data,
                                         const tenon__trial_outputs_t* outputs,
                                         const tenon_argument_rule_t* input_rules,
                                         tenon__arena_t* arena, const tenon_sink_t* sink) {
  const tenon__tuning_t* tuning = data->tuning;
  const uint32_t device = data->region->device;
  *mirror = (tenon__trial_mirror_t){0};
  if (device == 0) {
    return TENON_OK;
  }
  mirror->device = tuning->devices[device];
  mirror->device.sink = sink;
  mirror->memory = tenon__tuning_memory(tuning, device);
  mirror->memory.device = &mirror->device;
  mirror->input_count = data->region->input_count;
  mirror->output_count = data->region->output_count;
  TENON_TRY(make_lists(mirror, arena));
  TENON_TRY(mirror_inputs(mirror, data, input_rules));
  TENON_TRY(mirror_outputs(mirror, outputs));
  TENON_TRY(tenon__device_create_event(mirror->memory.device, &mirror->begin));
  return tenon__device_create_event(mirror->memory.device, &mirror->end);
}

static void free_blocks(tenon__trial_mirror_t* mirror, tenon__mirrored_t* blocks, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    tenon__memory_free(&mirror->memory, blocks[k].device, blocks[k].size_bytes);
  }
}

void tenon__trial_mirror_end(tenon__trial_mirror_t* mirror) {
  if (!tenon__trial_mirror_is_used(mirror)) {
    return;
  }
  const bool has_lists = mirror->inputs != NULL && mirror->outputs != NULL;
  (void)tenon__device_synchronize(mirror->memory.device, mirror->memory.stream);
  free_blocks(mirror, mirror->inputs, has_lists ? mirror->input_count : 0);
  free_blocks(mirror, mirror->outputs, has_lists ? mirror->output_count : 0);
  tenon__device_destroy_event(mirror->memory.device, mirror->begin);
  tenon__device_destroy_event(mirror->memory.device, mirror->end);
  *mirror = (tenon__trial_mirror_t){0};
}

/* ---- There and back ---- */

static tenon_status_t send(tenon__trial_mirror_t* mirror, const tenon__mirrored_t* blocks,
                           uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    if (blocks[k].device != NULL) {
      TENON_TRY(tenon__memory_write(&mirror->memory, blocks[k].device, blocks[k].host,
                                    blocks[k].size_bytes));
    }
  }
  return TENON_OK;
}

static tenon_status_t fetch(tenon__trial_mirror_t* mirror, const tenon__mirrored_t* block) {
  return block->device == NULL
             ? TENON_OK
             : tenon__memory_read(&mirror->memory, block->host, block->device, block->size_bytes);
}

tenon_status_t tenon__trial_mirror_send(tenon__trial_mirror_t* mirror) {
  TENON_TRY(send(mirror, mirror->inputs, mirror->input_count));
  TENON_TRY(send(mirror, mirror->outputs, mirror->output_count));
  return tenon__device_synchronize(mirror->memory.device, mirror->memory.stream);
}

/* Constants are the network's own bytes: what a kernel did to the mirror's is seen in a copy. */
static tenon_status_t fetch_input(tenon__trial_mirror_t* mirror, const tenon__trial_data_t* data,
                                  uint32_t k) {
  const uint32_t value = data->region->input_values[k];
  const bool is_constant =
      value != TENON_NONE && data->region->values[value].constant_data == mirror->inputs[k].host;
  return is_constant ? TENON_OK : fetch(mirror, &mirror->inputs[k]);
}

static tenon_status_t fetch_allocated(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                      tenon__trial_output_t* output) {
  const void* device = output->view.data;
  output->view.data = tenon__trial_data_take(data, output->size_bytes);
  TENON_TRY_MEMORY(output->view.data != NULL);
  return output->size_bytes == 0
             ? TENON_OK
             : tenon__memory_read(&mirror->memory, output->view.data, device, output->size_bytes);
}

tenon_status_t tenon__trial_mirror_fetch(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                         tenon__trial_outputs_t* outputs) {
  for (uint32_t k = 0; k < mirror->input_count; ++k) {
    TENON_TRY(fetch_input(mirror, data, k));
  }
  for (uint32_t k = 0; k < mirror->output_count; ++k) {
    TENON_TRY(outputs->items[k].kind == TENON_ARGUMENT_ALLOCATE
                  ? fetch_allocated(mirror, data, &outputs->items[k])
                  : fetch(mirror, &mirror->outputs[k]));
  }
  return tenon__device_synchronize(mirror->memory.device, mirror->memory.stream);
}

/* ---- Time ---- */

tenon_status_t tenon__trial_mirror_mark(tenon__trial_mirror_t* mirror, tenon_event_t* event) {
  return tenon__device_record_event(mirror->memory.device, mirror->memory.stream, event);
}

tenon_status_t tenon__trial_mirror_elapsed(tenon__trial_mirror_t* mirror, double* out_seconds) {
  TENON_TRY(tenon__device_synchronize(mirror->memory.device, mirror->memory.stream));
  return tenon__device_elapsed(mirror->memory.device, mirror->begin, mirror->end, out_seconds);
}
