/* Recordings of chains, looked up by the addresses and bound kernels of all steps. Keys are
 * compared only if an address or a bound step may have changed since the last run. */
#include "core/step/chains.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/plan/branches.h"
#include "core/step/lanes.h"

/* ---- Finding ---- */

/* A step that finds extents waits for them, unless they stay on the device. */
static bool waits(const tenon__frame_t* frame, const tenon__step_t* step) {
  bool waits = (step->tactic.flags & TENON_TACTIC_HOST_WAITS) != 0;
  for (uint32_t k = 0; k < step->output_count && waits; ++k) {
    waits = step->outputs[k] == TENON_NONE || !frame->schedule->places[step->outputs[k]].at_bound;
  }
  return waits;
}

static bool can_be_recorded(const tenon__frame_t* frame, const tenon__step_t* step) {
  return tenon__step_is_recordable(frame->schedule, step) &&
         tenon__device_records(&frame->run->engine->devices[step->device]) && !waits(frame, step);
}

static tenon_status_t make_keys(tenon__frame_t* frame, tenon__chain_t* chain) {
  tenon__arena_t* arena = &frame->run->arena;
  for (uint32_t k = 0; k < chain->count; ++k) {
    const tenon__step_t* step = &frame->schedule->steps[chain->first + k];
    chain->key_count += 1 + step->input_count + step->output_count;
  }
  chain->key = tenon__arena_allocate(arena, chain->key_count, sizeof *chain->key);
  bool good = chain->key != NULL;
  for (uint32_t k = 0; k < TENON_FORM_LIMIT && good; ++k) {
    chain->recorded[k].key = tenon__arena_allocate(arena, chain->key_count, sizeof *chain->key);
    good = chain->recorded[k].key != NULL;
  }
  return good ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

static tenon_status_t name(const tenon__frame_t* frame, tenon__chain_t* chain) {
  const tenon__step_t* steps = &frame->schedule->steps[chain->first];
  if (frame->run->watched == NULL) {
    return TENON_OK;
  }
  chain->name = tenon__arena_format(&frame->run->arena, "replay of %u steps: %s ... %s",
                                    chain->count, steps[0].name, steps[chain->count - 1].name);
  return chain->name == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

tenon_status_t tenon__frame_find_chains(tenon__frame_t* frame) {
  const tenon__schedule_t* schedule = frame->schedule;
  tenon__arena_t* arena = &frame->run->arena;
  const uint32_t step_count = frame->run->engine->plan->device_count > 1 ? schedule->step_count : 0;
  frame->chains = tenon__arena_allocate(arena, step_count + 1u, sizeof *frame->chains);
  TENON_TRY_MEMORY(frame->chains != NULL);
  for (uint32_t k = 0; k < step_count; ++k) {
    const tenon__step_t* step = &schedule->steps[k];
    tenon__chain_t* last = frame->chain_count == 0 ? NULL : &frame->chains[frame->chain_count - 1];
    if (!can_be_recorded(frame, step)) {
      continue;
    }
    if (last != NULL && last->first + last->count == k && last->device == step->device) {
      last->count += 1;
    } else {
      frame->chains[frame->chain_count++] =
          (tenon__chain_t){.first = k, .count = 1, .device = step->device};
    }
  }
  for (uint32_t k = 0; k < frame->chain_count; ++k) {
    TENON_TRY(make_keys(frame, &frame->chains[k]));
    TENON_TRY(name(frame, &frame->chains[k]));
  }
  return TENON_OK;
}

/* The one that holds the step; they are in order. */
static tenon__chain_t* find_chain(const tenon__frame_t* frame, uint32_t step) {
  uint32_t begin = 0;
  uint32_t end = frame->chain_count;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    tenon__chain_t* chain = &frame->chains[middle];
    if (step < chain->first) {
      end = middle;
    } else if (step >= chain->first + chain->count) {
      begin = middle + 1;
    } else {
      return chain;
    }
  }
  return NULL;
}

tenon__chain_t* tenon__frame_chain_at(const tenon__frame_t* frame, uint32_t step) {
  tenon__chain_t* chain = find_chain(frame, step);
  return chain != NULL && chain->first == step ? chain : NULL;
}

/* ---- What a recording is for ---- */

static uint32_t add_addresses(const tenon__bound_argument_t* bindings, uint32_t count,
                              const void** out_key) {
  for (uint32_t k = 0; k < count; ++k) {
    const char* data = bindings[k].root == NULL ? NULL : bindings[k].root->data;
    out_key[k] = data == NULL ? NULL : data + bindings[k].byte_offset;
  }
  return count;
}

static void make_key(const tenon__frame_t* frame, tenon__chain_t* chain) {
  uint32_t at = 0;
  for (uint32_t k = 0; k < chain->count; ++k) {
    const tenon__step_t* step = &frame->schedule->steps[chain->first + k];
    const tenon__step_state_t* state = &frame->steps[chain->first + k];
    chain->key[at++] = state->bound;
    at += add_addresses(state->input_bindings, step->input_count, chain->key + at);
    at += add_addresses(state->output_bindings, step->output_count, chain->key + at);
  }
}

static void forget(const tenon__frame_t* frame, const tenon__chain_t* chain,
                   tenon__recorded_t* recorded) {
  tenon__device_destroy_recording(frame->run->spaces[chain->device].memory.device,
                                  recorded->recording);
  recorded->recording = NULL;
  recorded->was_enqueued = false;
  recorded->is_used = false;
}

/* The one with this run's key; a new one takes the place of the one that was not used for longest,
 * once nobody is at work with that. */
static tenon_status_t find_recorded(tenon__frame_t* frame, tenon__chain_t* chain,
                                    tenon__recorded_t** out_recorded) {
  const size_t bytes = chain->key_count * sizeof *chain->key;
  uint32_t oldest = 0;
  if (chain->version == frame->version) {
    *out_recorded = &chain->recorded[chain->current];
    return TENON_OK;
  }
  make_key(frame, chain);
  for (uint32_t k = 0; k < TENON_FORM_LIMIT; ++k) {
    const tenon__recorded_t* recorded = &chain->recorded[k];
    if (recorded->is_used &&
        memcmp((const void*)recorded->key, (const void*)chain->key, bytes) == 0) {
      chain->current = k;
      chain->version = frame->version;
      *out_recorded = &chain->recorded[k];
      return TENON_OK;
    }
    oldest = recorded->used_at < chain->recorded[oldest].used_at ? k : oldest;
  }
  tenon__recorded_t* recorded = &chain->recorded[oldest];
  if (recorded->recording != NULL) {
    TENON_TRY(tenon__space_settle(&frame->run->spaces[chain->device]));
  }
  forget(frame, chain, recorded);
  memcpy((void*)recorded->key, (const void*)chain->key, bytes);
  recorded->is_used = true;
  chain->current = oldest;
  chain->version = frame->version;
  *out_recorded = recorded;
  return TENON_OK;
}

/* ---- Running ---- */

static tenon_status_t enqueue(tenon__frame_t* frame, const tenon__chain_t* chain,
                              tenon_status_t (*run)(tenon__frame_t*, uint32_t step)) {
  for (uint32_t k = 0; k < chain->count; ++k) {
    TENON_TRY(run(frame, chain->first + k));
  }
  return TENON_OK;
}

/* A failed recording does not fail the run, so its messages are no errors. */
static void report_as_information(void* user, int32_t severity, const char* message) {
  tenon__report(user, severity == TENON_SEVERITY_ERROR ? TENON_SEVERITY_INFO : severity, "%s",
                message);
}

/* The device's stream is left as it was, also if a step cannot be recorded. */
static tenon_status_t record_with(tenon__frame_t* frame, const tenon__chain_t* chain,
                                  const tenon__device_t* device, void** out_recording,
                                  tenon_status_t (*run)(tenon__frame_t*, uint32_t step)) {
  tenon_stream_t* stream = frame->run->spaces[chain->device].memory.stream;
  void* recording = NULL;
  TENON_TRY(tenon__device_begin_record(device, stream));
  tenon_status_t status = tenon__chain_has_lanes(frame, chain)
                              ? tenon__frame_enqueue_lanes(frame, chain, run)
                              : enqueue(frame, chain, run);
  const tenon_status_t ended = tenon__device_end_record(device, stream, &recording);
  status = status == TENON_OK ? ended : status;
  if (status != TENON_OK) {
    tenon__device_destroy_recording(device, recording);
    return status;
  }
  *out_recording = recording;
  return TENON_OK;
}

/* Events for lanes are made before: a device need not make any while it records. */
static tenon_status_t record(tenon__frame_t* frame, const tenon__chain_t* chain,
                             void** out_recording,
                             tenon_status_t (*run)(tenon__frame_t*, uint32_t step)) {
  tenon__space_t* space = &frame->run->spaces[chain->device];
  const tenon_sink_t* sink = space->run.sink;
  const tenon_sink_t quiet = {tenon__drop_const(sink), report_as_information};
  tenon__device_t device = *space->memory.device;
  if (tenon__chain_has_lanes(frame, chain)) {
    TENON_TRY(tenon__space_provide_events(space, chain->count + 1));
  }
  device.sink = &quiet;
  space->run.sink = &quiet;
  space->run.edge = 0;
  const tenon_status_t status = record_with(frame, chain, &device, out_recording, run);
  space->run.sink = sink;
  return status;
}

/* After a recording that failed with `status`. */
static tenon_status_t enqueue_instead(tenon__frame_t* frame, tenon__chain_t* chain,
                                      tenon_status_t status,
                                      tenon_status_t (*run)(tenon__frame_t*, uint32_t step)) {
  const tenon__step_t* steps = &frame->schedule->steps[chain->first];
  chain->is_unrecordable = true;
  tenon__report(frame->run->spaces[chain->device].run.sink, TENON_SEVERITY_WARNING,
                "%u steps, '%s' to '%s', cannot be recorded (%s): each run enqueues them one by "
                "one, which takes longer",
                chain->count, steps[0].name, steps[chain->count - 1].name,
                tenon__status_text(status));
  return enqueue(frame, chain, run);
}

static tenon_status_t replay(const tenon__frame_t* frame, const tenon__chain_t* chain,
                             void* recording) {
  tenon__space_t* space = &frame->run->spaces[chain->device];
  const tenon__memory_t* memory = &space->memory;
  space->is_busy = true;
  space->run.edge = 0;
  if (chain->name == NULL) {
    return tenon__device_replay(memory->device, memory->stream, recording);
  }
  tenon__device_begin_range(frame->run->watched, chain->name);
  const tenon_status_t status = tenon__device_replay(memory->device, memory->stream, recording);
  tenon__device_end_range(frame->run->watched);
  return status;
}

tenon_status_t tenon__frame_run_chain(tenon__frame_t* frame, tenon__chain_t* chain,
                                      tenon_status_t (*run)(tenon__frame_t*, uint32_t step)) {
  if (tenon__interrupt_is_wanted(&frame->run->interrupt)) {
    return TENON_ERROR_CANCELLED;
  }
  tenon__recorded_t* recorded = NULL;
  TENON_TRY(find_recorded(frame, chain, &recorded));
  recorded->used_at = ++frame->clock;
  if (!recorded->was_enqueued) {
    TENON_TRY(enqueue(frame, chain, run));
    recorded->was_enqueued = true;
    return TENON_OK;
  }
  if (chain->is_unrecordable) {
    return enqueue(frame, chain, run);
  }
  if (recorded->recording == NULL) {
    const tenon_status_t status = record(frame, chain, &recorded->recording, run);
    if (status != TENON_OK) {
      return status == TENON_ERROR_CANCELLED ? status : enqueue_instead(frame, chain, status, run);
    }
  }
  return replay(frame, chain, recorded->recording);
}

bool tenon__frame_can_replay(const tenon__frame_t* frame, const tenon__chain_t* chain) {
  return chain->version == frame->version && chain->recorded[chain->current].recording != NULL;
}

tenon_status_t tenon__frame_replay(tenon__frame_t* frame, tenon__chain_t* chain) {
  tenon__recorded_t* recorded = &chain->recorded[chain->current];
  if (tenon__interrupt_is_wanted(&frame->run->interrupt)) {
    return TENON_ERROR_CANCELLED;
  }
  recorded->used_at = ++frame->clock;
  return replay(frame, chain, recorded->recording);
}

/* ---- Forgetting ---- */

/* What a step is bound to stands in front of its addresses. */
static uint32_t key_position(const tenon__frame_t* frame, const tenon__chain_t* chain,
                             uint32_t step) {
  uint32_t at = 0;
  for (uint32_t k = chain->first; k < step; ++k) {
    const tenon__step_t* before = &frame->schedule->steps[k];
    at += 1 + before->input_count + before->output_count;
  }
  return at;
}

void tenon__frame_forget_bound(tenon__frame_t* frame, uint32_t step, const tenon__bound_t* bound) {
  tenon__chain_t* chain = find_chain(frame, step);
  frame->version += 1;
  if (chain == NULL || bound == NULL) {
    return;
  }
  const uint32_t at = key_position(frame, chain, step);
  for (uint32_t k = 0; k < TENON_FORM_LIMIT; ++k) {
    if (chain->recorded[k].is_used && chain->recorded[k].key[at] == bound) {
      forget(frame, chain, &chain->recorded[k]);
    }
  }
}

void tenon__frame_forget_recordings(tenon__frame_t* frame) {
  frame->version += 1;
  for (uint32_t k = 0; k < frame->chain_count; ++k) {
    for (uint32_t r = 0; r < TENON_FORM_LIMIT; ++r) {
      forget(frame, &frame->chains[k], &frame->chains[k].recorded[r]);
    }
  }
}
