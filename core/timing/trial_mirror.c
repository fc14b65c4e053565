/* Data of a trial on a device: inputs are copied there once for each layout, outputs or their
 * examined part before and after a run. */
#include "core/timing/trial_mirror.h"

#include <string.h>

#include "core/base/status.h"
#include "core/tensor/layout.h"

/* Bytes of an input that are compared as a whole; of larger ones three pieces. */
enum { COMPARED_WHOLE = 1 << 20, COMPARED_PIECE = 1 << 18 };

bool tenon__trial_mirror_is_used(const tenon__trial_mirror_t* mirror) {
  return mirror->memory.device != NULL;
}

/* ---- Making ---- */

/* The same argument in the mirror, whose memory begins where the host's does. */
static void mirror_argument(void* device, const void* host, const tenon_argument_t* argument,
                            tenon_argument_t* out_argument) {
  *out_argument = *argument;
  if (device != NULL) {
    out_argument->tensor.data =
        (char*)device + ((const char*)argument->tensor.data - (const char*)host);
  }
}

/* Where the device has no room left, what other tactics read makes some. */
static bool make_room(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data) {
  bool made = false;
  for (uint32_t k = 0; k < mirror->input_count; ++k) {
    tenon__trial_input_t* input = &data->inputs[k];
    for (tenon__trial_copy_t* copy = &input->rows; copy != NULL;
         copy = copy == &input->rows ? input->copies : copy->next) {
      if (copy->device != NULL && copy != input->current) {
        tenon__memory_free(&mirror->memory, copy->device, input->size_bytes);
        copy->device = NULL;
        made = true;
      }
    }
  }
  return made &&
         tenon__device_synchronize(mirror->memory.device, mirror->memory.stream) == TENON_OK;
}

static tenon_status_t send_input(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                 uint32_t k) {
  const tenon__trial_input_t* input = &data->inputs[k];
  tenon__trial_copy_t* current = input->current;
  if (current->device != NULL) {
    return TENON_OK;
  }
  tenon_status_t status =
      tenon__memory_allocate(&mirror->memory, input->size_bytes, &current->device);
  if (status == TENON_ERROR_OUT_OF_MEMORY && make_room(mirror, data)) {
    status = tenon__memory_allocate(&mirror->memory, input->size_bytes, &current->device);
  }
  TENON_TRY(status);
  status =
      tenon__memory_write(&mirror->memory, current->device, current->view.data, input->size_bytes);
  if (status != TENON_OK) {
    tenon__memory_free(&mirror->memory, current->device, input->size_bytes);
    current->device = NULL; /* nobody takes what lies there for the input */
  }
  return status;
}

/* What the tactic reads on the host stays there. */
static tenon_status_t mirror_inputs(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                    const tenon_argument_rule_t* rules) {
  for (uint32_t k = 0; k < mirror->input_count; ++k) {
    const tenon__trial_input_t* input = &data->inputs[k];
    const bool is_there =
        input->is_there && input->current != NULL && !tenon__rule_is_host(tenon__rule_at(rules, k));
    if (is_there) {
      TENON_TRY(send_input(mirror, data, k));
    }
    mirror_argument(is_there ? input->current->device : NULL,
                    is_there ? input->current->view.data : NULL, &data->arguments[k],
                    &mirror->input_arguments[k]);
  }
  return TENON_OK;
}

static tenon_status_t mirror_outputs(tenon__trial_mirror_t* mirror,
                                     const tenon__trial_outputs_t* outputs) {
  for (uint32_t k = 0; k < mirror->output_count; ++k) {
    const tenon__trial_output_t* output = &outputs->items[k];
    tenon__mirrored_t* block = &mirror->outputs[k];
    if (output->kind == TENON_ARGUMENT_TENSOR) {
      block->size_bytes = output->whole_bytes;
      TENON_TRY(tenon__trial_mirror_take_zoned(mirror, block->size_bytes, &block->device));
    }
    mirror_argument(block->device, output->view.data, &outputs->arguments[k],
                    &mirror->output_arguments[k]);
  }
  return TENON_OK;
}

static tenon_status_t make_lists(tenon__trial_mirror_t* mirror, tenon__arena_t* arena) {
  mirror->outputs =
      tenon__arena_allocate(arena, mirror->output_count + 1u, sizeof *mirror->outputs);
  mirror->input_arguments =
      tenon__arena_allocate(arena, mirror->input_count + 1u, sizeof *mirror->input_arguments);
  mirror->output_arguments =
      tenon__arena_allocate(arena, mirror->output_count + 1u, sizeof *mirror->output_arguments);
  mirror->zone = tenon__arena_allocate(arena, TENON_RED_ZONE_BYTES, 1);
  mirror->seen = tenon__arena_allocate(arena, TENON_RED_ZONE_BYTES, 1);
  TENON_TRY_MEMORY(mirror->outputs != NULL && mirror->input_arguments != NULL &&
                   mirror->output_arguments != NULL && mirror->zone != NULL &&
                   mirror->seen != NULL);
  tenon__red_zone_pattern(mirror->zone);
  return TENON_OK;
}

tenon_status_t tenon__trial_mirror_begin(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
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

void tenon__trial_mirror_end(tenon__trial_mirror_t* mirror) {
  if (!tenon__trial_mirror_is_used(mirror)) {
    return;
  }
  const uint32_t count = mirror->outputs != NULL ? mirror->output_count : 0;
  (void)tenon__device_synchronize(mirror->memory.device, mirror->memory.stream);
  for (uint32_t k = 0; k < count; ++k) {
    tenon__trial_mirror_free_zoned(mirror, mirror->outputs[k].device,
                                   mirror->outputs[k].size_bytes);
  }
  tenon__device_destroy_event(mirror->memory.device, mirror->begin);
  tenon__device_destroy_event(mirror->memory.device, mirror->end);
  *mirror = (tenon__trial_mirror_t){0};
}

/* ---- Red zones ---- */

tenon_status_t tenon__trial_mirror_take_zoned(const tenon__trial_mirror_t* mirror,
                                              size_t size_bytes, void** out_data) {
  const size_t block_bytes = tenon__red_zone_block_bytes(size_bytes);
  void* block = NULL;
  *out_data = NULL;
  if (block_bytes < size_bytes) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  TENON_TRY(tenon__memory_allocate(&mirror->memory, block_bytes, &block));
  *out_data = tenon__red_zone_data(block);
  const tenon__zoned_t zoned = {*out_data, size_bytes, size_bytes};
  return block == NULL ? TENON_OK : tenon__red_zones_send(&mirror->memory, &zoned, mirror->zone);
}

void tenon__trial_mirror_free_zoned(const tenon__trial_mirror_t* mirror, void* data,
                                    size_t size_bytes) {
  if (data != NULL) {
    tenon__memory_free(&mirror->memory, tenon__red_zone_block(data),
                       tenon__red_zone_block_bytes(size_bytes));
  }
}

tenon_status_t tenon__trial_mirror_overrun(const tenon__trial_mirror_t* mirror,
                                           uint32_t* out_output, tenon__overrun_t* out_overrun) {
  *out_overrun = TENON_OVERRUN_NONE;
  for (uint32_t k = 0; k < mirror->output_count; ++k) {
    const size_t size_bytes = mirror->outputs[k].size_bytes;
    const tenon__zoned_t zoned = {mirror->outputs[k].device, size_bytes, size_bytes};
    if (zoned.data == NULL) {
      continue;
    }
    TENON_TRY(tenon__red_zones_fetch(&mirror->memory, &zoned, mirror->seen, out_overrun));
    if (*out_overrun != TENON_OVERRUN_NONE) {
      *out_output = k;
      return TENON_OK;
    }
  }
  return TENON_OK;
}

/* ---- There and back ---- */

typedef enum way_t { SEND, FETCH } way_t;

static tenon_status_t move(tenon__trial_mirror_t* mirror, way_t way, void* host, void* device,
                           size_t size_bytes) {
  return way == SEND ? tenon__memory_write(&mirror->memory, device, host, size_bytes)
                     : tenon__memory_read(&mirror->memory, host, device, size_bytes);
}

/* Piece by piece: each is a block of memory on both sides. */
static tenon_status_t move_pieces(tenon__trial_mirror_t* mirror, way_t way,
                                  const tenon__trial_output_t* output, char* device) {
  const size_t index_bytes = output->whole_bytes / (size_t)output->whole.dims[0];
  const size_t piece_bytes = (size_t)output->part.length * index_bytes;
  for (size_t k = 0; k < TENON_PART_PIECES; ++k) {
    TENON_TRY(move(mirror, way, (char*)output->view.data + k * piece_bytes,
                   device + (size_t)output->part.begin[k] * index_bytes, piece_bytes));
  }
  return TENON_OK;
}

/* By way of the whole on the host, since an order of dimensions scatters the part. */
static tenon_status_t move_whole(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                 way_t way, const tenon__trial_output_t* output, char* device) {
  tenon_tensor_view_t whole = output->whole;
  whole.data = tenon__trial_data_take(data, output->whole_bytes);
  TENON_TRY_MEMORY(whole.data != NULL);
  const size_t repeated = way == SEND ? output->whole_bytes : 0;
  for (size_t at = 0; at < repeated;) { /* a pattern */
    const size_t left = output->whole_bytes - at;
    const size_t bytes = left < output->size_bytes ? left : output->size_bytes / 64 * 64;
    memcpy((char*)whole.data + at, output->view.data, bytes);
    at += bytes;
  }
  TENON_TRY(move(mirror, way, whole.data, device, output->whole_bytes));
  TENON_TRY(tenon__device_synchronize(mirror->memory.device, mirror->memory.stream));
  if (way == FETCH) {
    tenon__part_cut(&output->part, &whole, &output->view);
  }
  return TENON_OK;
}

static tenon_status_t move_output(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                  way_t way, const tenon__trial_output_t* output, void* device) {
  if (device == NULL || tenon__part_is_whole(&output->part)) {
    return device == NULL ? TENON_OK
                          : move(mirror, way, output->view.data, device, output->whole_bytes);
  }
  return tenon__part_lies_together(&output->whole) ? move_pieces(mirror, way, output, device)
                                                   : move_whole(mirror, data, way, output, device);
}

tenon_status_t tenon__trial_mirror_send(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                        const tenon__trial_outputs_t* outputs) {
  for (uint32_t k = 0; k < mirror->output_count; ++k) {
    TENON_TRY(move_output(mirror, data, SEND, &outputs->items[k], mirror->outputs[k].device));
  }
  return tenon__device_synchronize(mirror->memory.device, mirror->memory.stream);
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
  for (uint32_t k = 0; k < mirror->output_count; ++k) {
    tenon__trial_output_t* output = &outputs->items[k];
    TENON_TRY(output->kind == TENON_ARGUMENT_ALLOCATE
                  ? fetch_allocated(mirror, data, output)
                  : move_output(mirror, data, FETCH, output, mirror->outputs[k].device));
  }
  return tenon__device_synchronize(mirror->memory.device, mirror->memory.stream);
}

/* ---- Is it as it was? ---- */

/* Bytes from `at` on, compared with the host's. */
static tenon_status_t compare_bytes(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                    const tenon__trial_copy_t* copy, size_t at, size_t size_bytes,
                                    bool* inout_same) {
  void* bytes = tenon__blocks_take(&data->tuning->blocks, size_bytes);
  TENON_TRY_MEMORY(bytes != NULL);
  tenon_status_t status =
      tenon__memory_read(&mirror->memory, bytes, (const char*)copy->device + at, size_bytes);
  if (status == TENON_OK) {
    status = tenon__device_synchronize(mirror->memory.device, mirror->memory.stream);
  }
  *inout_same = *inout_same && status == TENON_OK &&
                memcmp(bytes, (const char*)copy->view.data + at, size_bytes) == 0;
  tenon__blocks_give_back(&data->tuning->blocks, bytes);
  return status;
}

static tenon_status_t compare_input(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                    const tenon__trial_copy_t* copy, size_t size_bytes,
                                    bool* out_same) {
  *out_same = true;
  if (size_bytes <= COMPARED_WHOLE) {
    return size_bytes == 0 ? TENON_OK : compare_bytes(mirror, data, copy, 0, size_bytes, out_same);
  }
  for (size_t k = 0; k < TENON_PART_PIECES; ++k) {
    const size_t at = (size_bytes - COMPARED_PIECE) / (TENON_PART_PIECES - 1) * k;
    TENON_TRY(compare_bytes(mirror, data, copy, at, COMPARED_PIECE, out_same));
  }
  return TENON_OK;
}

tenon_status_t tenon__trial_mirror_changed(tenon__trial_mirror_t* mirror, tenon__trial_data_t* data,
                                           const tenon__instance_t* instance, uint32_t* out_input) {
  *out_input = TENON_NONE;
  for (uint32_t k = 0; k < mirror->input_count; ++k) {
    const tenon__trial_input_t* input = &data->inputs[k];
    const tenon__trial_copy_t* current = input->current;
    bool is_same = true;
    if (current == NULL || current->device == NULL ||
        tenon__instance_packs(instance, data->region->input_values[k])) {
      continue;
    }
    TENON_TRY(compare_input(mirror, data, current, input->size_bytes, &is_same));
    if (!is_same) {
      *out_input = k;
      TENON_TRY(tenon__memory_write(&mirror->memory, current->device, current->view.data,
                                    input->size_bytes));
      return tenon__device_synchronize(mirror->memory.device, mirror->memory.stream);
    }
  }
  return TENON_OK;
}

/* ---- Time ---- */

tenon_status_t tenon__trial_mirror_mark(tenon__trial_mirror_t* mirror, tenon_event_t* event) {
  return tenon__device_record_event(mirror->memory.device, mirror->memory.stream, event);
}

tenon_status_t tenon__trial_mirror_elapsed(tenon__trial_mirror_t* mirror, double* out_seconds) {
  TENON_TRY(tenon__device_synchronize(mirror->memory.device, mirror->memory.stream));
  return tenon__device_elapsed(mirror->memory.device, mirror->begin, mirror->end, out_seconds);
}
