/* See timing.h. */
#include "session/timing.h"

#include <string.h>

#include "session/common.h"
#include "text/console.h"
#include "text/interrupt.h"
#include "text/memory.h"

enum { MOST_RUNS = 1000, LEAST_RUNS = 3 };
static const double enough_seconds = 1.0;

typedef struct recording_t {
  uint32_t step_count;
  uint32_t main_count; /* of the main graph: the first ones */
  uint32_t run_count;
  double* seconds;     /* of each step in this run so far */
  tool_times_t* steps; /* of each run */
  tool_times_t whole;  /* without the profiler */
  tool_times_t outside;
} recording_t;

static void on_step(void* user, uint32_t step, double seconds) {
  recording_t* recording = user;
  if (step < recording->step_count) {
    recording->seconds[step] += seconds;
  }
}

static tenon_status_t timed_run(const tool_execution_t* execution, double* out_seconds) {
  const double begin = tool_seconds();
  const tenon_status_t status =
      tool_interrupted() ? TENON_ERROR_CANCELLED : tenon_context_run(execution->context);
  *out_seconds = tool_seconds() - begin;
  return status;
}

static uint32_t runs_for(double seconds) {
  const double runs = seconds > 0 ? enough_seconds / (2 * seconds) : MOST_RUNS;
  return runs > MOST_RUNS ? MOST_RUNS : runs < LEAST_RUNS ? LEAST_RUNS : (uint32_t)runs;
}

static tenon_status_t run_with_profiler(const tool_execution_t* execution, recording_t* recording) {
  double outside = 0;
  memset(recording->seconds, 0, recording->step_count * sizeof(double));
  tenon_status_t status = tenon_context_set_profiler(execution->context, on_step, recording);
  if (status == TENON_OK) {
    status = timed_run(execution, &outside);
  }
  (void)tenon_context_set_profiler(execution->context, NULL, NULL);
  if (status == TENON_OK) {
    for (uint32_t step = 0; step < recording->step_count; ++step) {
      tool_times_add(&recording->steps[step], recording->seconds[step]);
      outside -= step < recording->main_count ? recording->seconds[step] : 0;
    }
  }
  if (status == TENON_OK) {
    tool_times_add(&recording->outside, outside);
  }
  return status;
}

static tenon_status_t record(const tool_execution_t* execution, recording_t* recording) {
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < recording->run_count && status == TENON_OK; ++k) {
    double seconds = 0;
    tool_progress("timing the steps", k, recording->run_count);
    status = timed_run(execution, &seconds);
    if (status == TENON_OK) {
      tool_times_add(&recording->whole, seconds);
      status = run_with_profiler(execution, recording);
    }
  }
  tool_progress_end();
  return status;
}

static void summarise(recording_t* recording, tool_timing_t* timing) {
  timing->step_count = recording->step_count;
  timing->run_count = recording->run_count;
  timing->whole = tool_times_spread(&recording->whole);
  timing->outside = tool_times_spread(&recording->outside);
  timing->steps = tool_allocate(recording->step_count, sizeof(*timing->steps));
  for (uint32_t step = 0; step < recording->step_count; ++step) {
    timing->steps[step] = tool_times_spread(&recording->steps[step]);
  }
}

static void free_recording(recording_t* recording) {
  for (uint32_t step = 0; step < recording->step_count; ++step) {
    tool_times_free(&recording->steps[step]);
  }
  tool_free(recording->steps);
  tool_free(recording->seconds);
  tool_times_free(&recording->whole);
  tool_times_free(&recording->outside);
}

/* Steps of bodies follow those of the main graph. */
static uint32_t count_main(const tenon_engine_t* engine, uint32_t step_count) {
  uint32_t count = 0;
  tenon_step_info_t info = {.size = sizeof(info)};
  while (count < step_count && tenon_engine_get_step(engine, count, &info) == TENON_OK &&
         info.depth == 0) {
    ++count;
  }
  return count;
}

tenon_status_t tool_timing_measure(const tool_execution_t* execution, tool_timing_t* out_timing) {
  recording_t recording = {.step_count = tenon_engine_step_count(execution->engine)};
  tool_timing_t timing = {0};
  tool_load_t before;
  tool_load_t after;
  double seconds = 0;
  tenon_status_t status = timed_run(execution, &seconds);
  if (status == TENON_OK) {
    status = timed_run(execution, &seconds);
  }
  if (status != TENON_OK) {
    return status;
  }
  recording.main_count = count_main(execution->engine, recording.step_count);
  recording.run_count = runs_for(seconds);
  recording.seconds = tool_allocate(recording.step_count, sizeof(*recording.seconds));
  recording.steps = tool_allocate(recording.step_count, sizeof(*recording.steps));
  tool_load_read(&before);
  status = record(execution, &recording);
  tool_load_read(&after);
  if (status == TENON_OK) {
    summarise(&recording, &timing);
    tool_busy_find(&before, &after, execution->thread_count, &timing.busy);
    *out_timing = timing;
  }
  free_recording(&recording);
  return status;
}

void tool_timing_free(tool_timing_t* timing) {
  tool_free(timing->steps);
  *timing = (tool_timing_t){0};
}
