#include "core/runtime/chains.h"

#include "core/base/status.h"
#include "core/plan/place.h"

/* ---- Finding ---- */

/* In the device's own memory, where no run moves it. */
static bool lies_still(const tenon__frame_t* frame, uint32_t space, const uint32_t* places,
                       uint32_t count) {
  bool lies = true;
  for (uint32_t k = 0; k < count && lies; ++k) {
    const uint32_t root =
        places[k] == TENON_NONE ? TENON_NONE : tenon__place_root(frame->schedule, places[k]);
    const tenon__storage_t storage =
        root == TENON_NONE ? TENON_STORAGE_ARENA : frame->schedule->places[root].storage;
    lies = (root == TENON_NONE || frame->schedule->places[root].space == space) &&
           (storage == TENON_STORAGE_ARENA || storage == TENON_STORAGE_WEIGHTS);
  }
  return lies;
}

static bool can_be_recorded(const tenon__frame_t* frame, const tenon__step_t* step) {
  const uint32_t flags = step->tactic.flags;
  return step->kind == TENON_STEP_KERNEL && step->device != 0 && !step->is_dynamic &&
         tenon__device_records(&frame->context->engine->devices[step->device]) &&
         (flags & TENON_TACTIC_RECORDABLE) != 0 && (flags & TENON_TACTIC_HOST_WAITS) == 0 &&
         lies_still(frame, step->device, step->inputs, step->input_count) &&
         lies_still(frame, step->device, step->outputs, step->output_count);
}

tenon_status_t tenon__frame_find_chains(tenon__frame_t* frame) {
  const tenon__schedule_t* schedule = frame->schedule;
  tenon__arena_t* arena = &frame->context->arena;
  const uint32_t step_count =
      frame->context->engine->plan->device_count > 1 ? schedule->step_count : 0;
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

/* ---- Running ---- */

static tenon_status_t enqueue(tenon__frame_t* frame, const tenon__chain_t* chain,
                              tenon_status_t (*run)(tenon__frame_t*, uint32_t step)) {
  for (uint32_t k = 0; k < chain->count; ++k) {
    TENON_TRY(run(frame, chain->first + k));
  }
  return TENON_OK;
}

/* A stream is left as it was, also where a step cannot be recorded. */
static tenon_status_t record(tenon__frame_t* frame, tenon__chain_t* chain,
                             tenon_status_t (*run)(tenon__frame_t*, uint32_t step)) {
  const tenon__memory_t* memory = &frame->context->spaces[chain->device].memory;
  void* recording = NULL;
  TENON_TRY(tenon__device_begin_record(memory->device, memory->stream));
  frame->context->spaces[chain->device].run.edge = 0;
  tenon_status_t status = enqueue(frame, chain, run);
  const tenon_status_t ended = tenon__device_end_record(memory->device, memory->stream, &recording);
  status = status == TENON_OK ? ended : status;
  if (status != TENON_OK) {
    tenon__device_destroy_recording(memory->device, recording);
    return status;
  }
  chain->recording = recording;
  return TENON_OK;
}

tenon_status_t tenon__frame_run_chain(tenon__frame_t* frame, tenon__chain_t* chain,
                                      tenon_status_t (*run)(tenon__frame_t*, uint32_t step)) {
  tenon__space_t* space = &frame->context->spaces[chain->device];
  if (tenon__interrupt_is_wanted(&frame->context->interrupt)) {
    return TENON_ERROR_CANCELLED;
  }
  if (!chain->was_enqueued) {
    TENON_TRY(enqueue(frame, chain, run));
    chain->was_enqueued = true;
    return TENON_OK;
  }
  if (chain->recording == NULL) {
    TENON_TRY(record(frame, chain, run));
  }
  space->is_busy = true;
  space->run.edge = 0;
  return tenon__device_replay(space->memory.device, space->memory.stream, chain->recording);
}

/* ---- Forgetting ---- */

static void forget(tenon__frame_t* frame, tenon__chain_t* chain) {
  tenon__device_destroy_recording(frame->context->spaces[chain->device].memory.device,
                                  chain->recording);
  chain->recording = NULL;
  chain->was_enqueued = false;
}

void tenon__frame_forget_recording(tenon__frame_t* frame, uint32_t step) {
  tenon__chain_t* chain = find_chain(frame, step);
  if (chain != NULL) {
    forget(frame, chain);
  }
}

void tenon__frame_forget_recordings(tenon__frame_t* frame) {
  for (uint32_t k = 0; k < frame->chain_count; ++k) {
    forget(frame, &frame->chains[k]);
  }
}
