/* Events around runs and copies. The times are read when the application asks for them. */
#include "core/step/timing.h"

#include "core/base/status.h"

/* Two moments of a stream. */
typedef struct span_t {
  tenon_event_t* begin; /* NULL on devices where work is done at once: then it took no time */
  tenon_event_t* end;
} span_t;

/* A step of the main graph that copies between the host and a device. */
typedef struct crossing_t {
  uint32_t step;
  uint32_t device;
  bool is_in;
  bool is_recorded; /* since the host waited last */
  span_t span;
} crossing_t;

struct tenon__timing_t {
  tenon__timing_mode_t mode;
  span_t run;
  uint32_t run_count;  /* since the host waited last */
  uint32_t wait_count; /* of them */
  uint64_t waits_before;
  uint32_t crossing_count;
  crossing_t* crossings; /* in order */
};

static uint32_t main_device(const tenon__run_state_t* run) {
  return tenon__plan_main_device(run->engine->plan);
}

static const tenon__memory_t* memory_of(const tenon__run_state_t* run, uint32_t device) {
  return &run->spaces[device].memory;
}

/* ---- Its life ---- */

static tenon_status_t create_span(const tenon__device_t* device, span_t* out_span) {
  TENON_TRY(tenon__device_create_event(device, &out_span->begin));
  return tenon__device_create_event(device, &out_span->end);
}

static void destroy_span(const tenon__device_t* device, span_t* span) {
  tenon__device_destroy_event(device, span->begin);
  tenon__device_destroy_event(device, span->end);
}

/* Counts them where `out` is NULL. */
static uint32_t list_crossings(const tenon__run_state_t* run, crossing_t* out) {
  const tenon__schedule_t* schedule = run->frames[0].schedule;
  uint32_t count = 0;
  for (uint32_t k = 0; k < schedule->step_count; ++k) {
    const tenon__step_t* step = &schedule->steps[k];
    if (step->kind == TENON_STEP_COPY && step->device != 0) {
      if (out != NULL) {
        out[count] = (crossing_t){.step = k,
                                  .device = step->device,
                                  .is_in = schedule->places[step->outputs[0]].space != 0};
      }
      count += 1;
    }
  }
  return count;
}

static tenon_status_t create(tenon__run_state_t* run, tenon__timing_mode_t mode) {
  const uint32_t count = list_crossings(run, NULL);
  tenon__timing_t* timing = tenon__allocate(run->allocator, 1, sizeof *timing);
  TENON_TRY_MEMORY(timing != NULL);
  run->timing = timing;
  timing->mode = mode;
  timing->crossings = tenon__allocate(run->allocator, count + 1u, sizeof *timing->crossings);
  TENON_TRY_MEMORY(timing->crossings != NULL);
  timing->crossing_count = list_crossings(run, timing->crossings);
  TENON_TRY(create_span(memory_of(run, main_device(run))->device, &timing->run));
  for (uint32_t k = 0; k < count; ++k) {
    crossing_t* crossing = &timing->crossings[k];
    TENON_TRY(create_span(memory_of(run, crossing->device)->device, &crossing->span));
  }
  return TENON_OK;
}

void tenon__timing_free(tenon__run_state_t* run) {
  tenon__timing_t* timing = run->timing;
  if (timing == NULL) {
    return;
  }
  for (uint32_t k = 0; k < timing->crossing_count; ++k) {
    crossing_t* crossing = &timing->crossings[k];
    destroy_span(memory_of(run, crossing->device)->device, &crossing->span);
  }
  destroy_span(memory_of(run, main_device(run))->device, &timing->run);
  tenon__free(run->allocator, timing->crossings,
              (timing->crossing_count + 1u) * sizeof *timing->crossings);
  tenon__free(run->allocator, timing, sizeof *timing);
  run->timing = NULL;
}

tenon_status_t tenon__timing_set(tenon__run_state_t* run, tenon__timing_mode_t mode) {
  if (main_device(run) == 0) {
    return tenon__fail(run->engine->options.sink, TENON_ERROR_INVALID_STATE,
                       "the plan runs on the host alone: its runs are timed by the host's clock");
  }
  tenon__timing_free(run);
  const tenon_status_t status = mode != TENON_TIMING_OFF ? create(run, mode) : TENON_OK;
  if (status != TENON_OK) {
    tenon__timing_free(run);
  }
  return status;
}

/* ---- During runs ---- */

static uint64_t count_waits(const tenon__run_state_t* run) {
  uint64_t count = 0;
  for (uint32_t d = 1; d < run->engine->plan->device_count; ++d) {
    count += run->spaces[d].wait_count;
  }
  return count;
}

static tenon_status_t mark(const tenon__run_state_t* run, uint32_t device, tenon_event_t* event) {
  const tenon__memory_t* memory = memory_of(run, device);
  return tenon__device_record_event(memory->device, memory->stream, event);
}

static void begin_anew(tenon__timing_t* timing) {
  timing->run_count = 0;
  timing->wait_count = 0;
  for (uint32_t k = 0; k < timing->crossing_count; ++k) {
    timing->crossings[k].is_recorded = false;
  }
}

tenon_status_t tenon__timing_begin_run(tenon__run_state_t* run) {
  tenon__timing_t* timing = run->timing;
  if (timing == NULL) {
    return TENON_OK;
  }
  if (!run->awaits_collection) {
    begin_anew(timing);
  }
  timing->waits_before = count_waits(run);
  return timing->run_count == 0 ? mark(run, main_device(run), timing->run.begin) : TENON_OK;
}

static tenon_status_t mark_end(tenon__run_state_t* run) {
  const uint32_t device = main_device(run);
  run->spaces[device].is_busy = true; /* with the mark */
  return mark(run, device, run->timing->run.end);
}

tenon_status_t tenon__timing_end_run(tenon__run_state_t* run) {
  tenon__timing_t* timing = run->timing;
  if (timing == NULL) {
    return TENON_OK;
  }
  timing->run_count += 1;
  timing->wait_count += (uint32_t)(count_waits(run) - timing->waits_before);
  return timing->mode == TENON_TIMING_EACH_RUN ? mark_end(run) : TENON_OK;
}

tenon_status_t tenon__timing_begin_wait(tenon__run_state_t* run) {
  const tenon__timing_t* timing = run->timing;
  const bool ends_here =
      timing != NULL && timing->mode == TENON_TIMING_AT_WAIT && timing->run_count > 0;
  return ends_here ? mark_end(run) : TENON_OK;
}

void tenon__timing_forget(tenon__run_state_t* run) {
  if (run->timing != NULL) {
    begin_anew(run->timing);
  }
}

/* NULL: nobody asked, or the step is of a body. */
static crossing_t* find_crossing(const tenon__frame_t* frame, uint32_t step) {
  const tenon__timing_t* timing = frame->graph == 0 ? frame->run->timing : NULL;
  const uint32_t count = timing == NULL ? 0 : timing->crossing_count;
  for (uint32_t k = 0; k < count; ++k) {
    if (timing->crossings[k].step == step) {
      return &timing->crossings[k];
    }
  }
  return NULL;
}

tenon_status_t tenon__timing_begin_copy(tenon__frame_t* frame, uint32_t step) {
  const crossing_t* crossing = find_crossing(frame, step);
  return crossing == NULL ? TENON_OK : mark(frame->run, crossing->device, crossing->span.begin);
}

tenon_status_t tenon__timing_end_copy(tenon__frame_t* frame, uint32_t step) {
  crossing_t* crossing = find_crossing(frame, step);
  if (crossing == NULL) {
    return TENON_OK;
  }
  crossing->is_recorded = true;
  return mark(frame->run, crossing->device, crossing->span.end);
}

/* ---- What came of it ---- */

static tenon_status_t add_crossings(const tenon__run_state_t* run, tenon__run_times_t* times) {
  const tenon__timing_t* timing = run->timing;
  for (uint32_t k = 0; k < timing->crossing_count; ++k) {
    const crossing_t* crossing = &timing->crossings[k];
    double seconds = 0;
    if (crossing->is_recorded) {
      TENON_TRY(tenon__device_elapsed(memory_of(run, crossing->device)->device,
                                      crossing->span.begin, crossing->span.end, &seconds));
    }
    *(crossing->is_in ? &times->transfer_in_seconds : &times->transfer_out_seconds) += seconds;
  }
  return TENON_OK;
}

tenon_status_t tenon__timing_get(tenon__run_state_t* run, tenon__run_times_t* out_times) {
  const tenon__timing_t* timing = run->timing;
  if (timing == NULL || timing->run_count == 0 || run->awaits_collection) {
    return tenon__fail(run->engine->options.sink, TENON_ERROR_INVALID_STATE,
                       "there are no times: %s",
                       timing == NULL           ? "timing was not asked for"
                       : run->awaits_collection ? "a run is under way"
                                                : "no run ended well since it was asked for");
  }
  tenon__run_times_t times = {.run_count = timing->run_count, .wait_count = timing->wait_count};
  TENON_TRY(tenon__device_elapsed(memory_of(run, main_device(run))->device, timing->run.begin,
                                  timing->run.end, &times.seconds));
  TENON_TRY(add_crossings(run, &times));
  *out_times = times;
  return TENON_OK;
}
