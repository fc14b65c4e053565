/* Words on a device: their offsets are given when a frame is made. After a run they are copied to
 * the host if a value was found at its bound or a step can report a fault. */
#include "core/step/device_words.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/frame/data_dependent.h"
#include "core/frame/requirements.h"
#include "core/kernel/fault.h"
#include "core/plan/bounded.h"
#include "core/plan/place.h"
#include "core/tensor/layout.h"

/* Work of the host tells its faults at once. */
static bool tells_faults(const tenon__engine_t* engine, uint32_t graph, uint32_t step) {
  return engine->plan->schedules[graph].steps[step].device != 0 &&
         tenon__instance_has_faults(engine->steps[graph][step].instance);
}

uint64_t tenon__engine_words_bytes(const tenon__engine_t* engine, uint32_t device) {
  uint64_t faults = 0;
  for (uint32_t g = 0; g < engine->plan->schedule_count; ++g) {
    const tenon__schedule_t* schedule = &engine->plan->schedules[g];
    for (uint32_t s = 0; s < schedule->step_count; ++s) {
      faults += tells_faults(engine, g, s) && schedule->steps[s].device == device ? 1 : 0;
    }
  }
  return tenon__plan_extent_words(engine->plan, device) * sizeof(int64_t) +
         faults * sizeof(tenon_fault_t);
}

/* ---- Values at their bound ---- */

static tenon_status_t add_output(tenon__frame_t* frame, uint32_t step, uint32_t place,
                                 uint64_t* inout_offsets) {
  if (place == TENON_NONE || !frame->schedule->places[place].at_bound) {
    return TENON_OK;
  }
  tenon__arena_t* arena = &frame->run->arena;
  const tenon__place_t* p = &frame->schedule->places[place];
  const uint32_t rank = tenon__frame_value(frame, place)->type.rank;
  tenon__at_bound_t* at_bound = &frame->at_bounds[frame->at_bound_count++];
  *at_bound = (tenon__at_bound_t){
      .place = place,
      .step = step,
      .offset = inout_offsets[p->space],
      .dims = tenon__arena_allocate(arena, rank + 1u, sizeof(int64_t)),
      .strides = tenon__arena_allocate(arena, rank + 1u, sizeof(int64_t)),
  };
  inout_offsets[p->space] += rank * sizeof(int64_t);
  frame->places[place].at_bound = at_bound;
  return at_bound->dims == NULL || at_bound->strides == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* Of a context with such values alone. */
static tenon_status_t need_bounds(tenon__run_state_t* run) {
  const bool is_there = run->has_bounds;
  run->has_bounds = true;
  return is_there
             ? TENON_OK
             : tenon__extents_create(&run->arena, run->engine->plan->network->pool, &run->bounds);
}

static tenon_status_t list_at_bound(tenon__frame_t* frame, uint64_t* inout_offsets) {
  const tenon__schedule_t* schedule = frame->schedule;
  uint32_t count = 0;
  for (uint32_t p = 0; p < schedule->place_count; ++p) {
    count += schedule->places[p].at_bound ? 1u : 0u;
  }
  if (count == 0) {
    return TENON_OK;
  }
  TENON_TRY(need_bounds(frame->run));
  frame->at_bounds = tenon__arena_allocate(&frame->run->arena, count, sizeof *frame->at_bounds);
  TENON_TRY_MEMORY(frame->at_bounds != NULL);
  for (uint32_t s = 0; s < schedule->step_count; ++s) {
    const tenon__step_t* step = &schedule->steps[s];
    for (uint32_t k = 0; k < step->output_count; ++k) {
      TENON_TRY(add_output(frame, s, step->outputs[k], inout_offsets));
    }
  }
  return TENON_OK;
}

static void list_faults(tenon__frame_t* frame, uint64_t* inout_offsets) {
  tenon__run_state_t* run = frame->run;
  for (uint32_t s = 0; s < frame->schedule->step_count; ++s) {
    const uint32_t device = frame->schedule->steps[s].device;
    if (tells_faults(run->engine, frame->graph, s)) {
      char* words = run->spaces[device].words + inout_offsets[device];
      frame->steps[s].fault = (tenon_fault_t*)(void*)words;
      inout_offsets[device] += sizeof(tenon_fault_t);
      run->has_faults = true;
    }
  }
}

tenon_status_t tenon__frame_list_words(tenon__frame_t* frame, uint64_t* inout_offsets) {
  list_faults(frame, inout_offsets);
  return list_at_bound(frame, inout_offsets);
}

/* ---- Bounds ---- */

/* What is known, and the bound of what a run is to find. */
static void set_bounds(tenon__run_state_t* run) {
  const tenon__extents_t* known = &run->extents;
  tenon__extents_t* bounds = &run->bounds;
  memcpy(bounds->symbol_values, known->symbol_values, known->symbol_count * sizeof(int64_t));
  memcpy(bounds->symbol_known, known->symbol_known, known->symbol_count * sizeof(uint8_t));
  for (uint32_t k = 0; k < known->symbol_count; ++k) {
    const tenon__symbol_t* symbol = tenon__symbol_get(known->pool, k);
    int64_t most = 0;
    if (known->symbol_known[k] == 0 && symbol->kind == TENON_SYMBOL_EXTENT &&
        symbol->bound.id != TENON_NONE &&
        !tenon__dims_are_dynamic(known->pool, 1, &symbol->bound) &&
        tenon__extents_get(known, symbol->bound, &most)) {
      tenon__extents_set(bounds, k, most);
    }
  }
  tenon__extents_update(bounds);
}

static tenon_status_t set_bound(const tenon__frame_t* frame, tenon__at_bound_t* at_bound) {
  const tenon__run_state_t* run = frame->run;
  const tenon__plan_t* plan = run->engine->plan;
  const tenon__place_t* place = &frame->schedule->places[at_bound->place];
  const tenon__value_node_t* value = tenon__frame_value(frame, at_bound->place);
  uint64_t bytes = 0;
  const bool is_known =
      tenon__extents_shape(&run->bounds, value->type.rank, value->type.dims, at_bound->dims) &&
      tenon__strides_row_major(value->type.rank, at_bound->dims, at_bound->strides) &&
      tenon__place_bytes(plan->network, frame->graph, place, &run->bounds, &bytes);
  if (is_known && bytes <= place->size_bytes) {
    return TENON_OK;
  }
  return tenon__fail(run->engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                     is_known ? "value '%s' needs up to %llu bytes for these inputs, the plan has "
                                "%llu; build with a wider profile"
                              : "the bound of value '%s' is not known before the run",
                     value->name, (unsigned long long)bytes, (unsigned long long)place->size_bytes);
}

tenon_status_t tenon__frame_find_bounds(tenon__frame_t* frame) {
  if (frame->at_bound_count > 0) {
    set_bounds(frame->run);
  }
  for (uint32_t k = 0; k < frame->at_bound_count; ++k) {
    TENON_TRY(set_bound(frame, &frame->at_bounds[k]));
  }
  return TENON_OK;
}

/* ---- Reading ---- */

void tenon__frame_forget_extents(tenon__frame_t* frame) {
  for (uint32_t k = 0; k < frame->at_bound_count; ++k) {
    frame->at_bounds[k].is_read = false;
  }
}

static tenon_status_t ask(tenon__space_t* space) {
  space->is_busy = true;
  space->run.edge = 0;
  return tenon__device_copy(space->memory.device, space->memory.stream, TENON_COPY_TO_HOST,
                            space->words_seen, space->words, space->words_bytes);
}

/* They were copied to the host. */
static tenon_status_t learn(tenon__frame_t* frame, tenon__at_bound_t* at_bound) {
  const tenon__place_t* place = &frame->schedule->places[at_bound->place];
  const tenon__value_node_t* value = tenon__frame_value(frame, at_bound->place);
  int64_t dims[TENON_RANK_LIMIT];
  memcpy(dims, frame->run->spaces[place->space].words_seen + at_bound->offset,
         value->type.rank * sizeof *dims);
  for (uint32_t d = 0; d < value->type.rank; ++d) {
    if (dims[d] < 0 || dims[d] > at_bound->dims[d]) {
      return tenon__fail(frame->run->engine->options.sink, TENON_ERROR_INVALID_DATA,
                         "step '%s' finds extent %lld on axis %u of '%s', whose bound is %lld",
                         frame->schedule->steps[at_bound->step].name, (long long)dims[d], d,
                         value->name, (long long)at_bound->dims[d]);
    }
  }
  at_bound->is_read = true;
  TENON_TRY(tenon__run_find_shape(frame->run, frame->graph, place->value, value->type.rank, dims));
  tenon__frame_follow(frame);
  return TENON_OK;
}

/* Of all graphs, as they were copied to the host. */
static tenon_status_t tell_faults(const tenon__run_state_t* run) {
  const tenon__engine_t* engine = run->engine;
  const uint32_t graph_count = run->has_faults ? engine->plan->schedule_count : 0;
  for (uint32_t g = 0; g < graph_count; ++g) {
    const tenon__frame_t* frame = &run->frames[g];
    for (uint32_t s = 0; s < frame->schedule->step_count; ++s) {
      const tenon__space_t* space = &run->spaces[frame->schedule->steps[s].device];
      tenon_fault_t fault = {0};
      if (frame->steps[s].fault != NULL) {
        memcpy(&fault, space->words_seen + ((char*)frame->steps[s].fault - space->words),
               sizeof fault);
      }
      if (fault.code != 0) {
        return tenon__instance_tell_fault(engine->steps[g][s].instance, &fault,
                                          engine->options.sink);
      }
    }
  }
  return TENON_OK;
}

static tenon_status_t learn_before(tenon__frame_t* frame, uint32_t step) {
  for (uint32_t k = 0; k < frame->at_bound_count && frame->at_bounds[k].step < step; ++k) {
    if (!frame->at_bounds[k].is_read) {
      TENON_TRY(learn(frame, &frame->at_bounds[k]));
    }
  }
  return tenon__frame_check(frame);
}

tenon_status_t tenon__frame_read_extents(tenon__frame_t* frame, uint32_t step) {
  bool is_asked[TENON_DEVICE_LIMIT] = {false};
  bool any = false;
  for (uint32_t k = 0; k < frame->at_bound_count && frame->at_bounds[k].step < step; ++k) {
    const uint32_t device = frame->schedule->places[frame->at_bounds[k].place].space;
    if (!frame->at_bounds[k].is_read && !is_asked[device]) {
      TENON_TRY(ask(&frame->run->spaces[device]));
      is_asked[device] = true;
      any = true;
    }
  }
  for (uint32_t d = 1; d < TENON_DEVICE_LIMIT; ++d) {
    TENON_TRY(is_asked[d] ? tenon__space_settle(&frame->run->spaces[d]) : TENON_OK);
  }
  TENON_TRY(any ? tell_faults(frame->run) : TENON_OK);
  return any ? learn_before(frame, step) : TENON_OK;
}

/* ---- The end of a run ---- */

static bool has_unread(const tenon__frame_t* frame, uint32_t device) {
  bool has = false;
  for (uint32_t k = 0; k < frame->at_bound_count && !has; ++k) {
    has = !frame->at_bounds[k].is_read &&
          frame->schedule->places[frame->at_bounds[k].place].space == device;
  }
  return has;
}

/* Of all devices that have some. */
static tenon_status_t ask_all(tenon__run_state_t* run) {
  for (uint32_t d = 1; d < run->engine->plan->device_count; ++d) {
    TENON_TRY(run->spaces[d].words_bytes > 0 ? ask(&run->spaces[d]) : TENON_OK);
  }
  return TENON_OK;
}

tenon_status_t tenon__run_ask_words(tenon__run_state_t* run) {
  for (uint32_t d = 1; d < run->engine->plan->device_count; ++d) {
    run->awaits_words = run->awaits_words || has_unread(&run->frames[0], d);
  }
  run->awaits_faults = run->has_faults && !run->awaits_words;
  return run->awaits_words ? ask_all(run) : TENON_OK;
}

tenon_status_t tenon__run_take_words(tenon__run_state_t* run) {
  if (run->awaits_faults) {
    run->awaits_faults = false;
    TENON_TRY(ask_all(run));
    for (uint32_t d = 1; d < run->engine->plan->device_count; ++d) {
      TENON_TRY(tenon__space_settle(&run->spaces[d]));
    }
    return tell_faults(run);
  }
  if (!run->awaits_words) {
    return TENON_OK;
  }
  run->awaits_words = false;
  TENON_TRY(tell_faults(run));
  return learn_before(&run->frames[0], TENON_NONE);
}
