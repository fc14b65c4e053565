/* See timing.h. */
#include "page/timing.h"

#include <stdlib.h>

#include "session/common.h"
#include "text/console.h"
#include "text/interrupt.h"
#include "text/memory.h"

enum { MOST_RUNS = 100, LEAST_RUNS = 3 };
static const double enough_seconds = 1.0;

static int compare_samples(const void* a, const void* b) {
  const double* x = a;
  const double* y = b;
  return (*x > *y) - (*x < *y);
}

tool_spread_t tool_spread_of(double* samples, size_t count) {
  qsort(samples, count, sizeof(*samples), compare_samples);
  const double middle = samples[count / 2];
  return (tool_spread_t){.low = samples[count / 10],
                         .median = count % 2 == 1 ? middle : (samples[count / 2 - 1] + middle) / 2,
                         .high = samples[count - 1 - count / 10]};
}

typedef struct recording_t {
  uint32_t step_count;
  uint32_t main_count; /* of the main graph: the first ones */
  uint32_t run_count;
  double* samples; /* of each run, all steps */
  double* whole;   /* of each run without the profiler */
  double* outside; /* of each run with it: less its steps */
  uint32_t run;
} recording_t;

static void on_step(void* user, uint32_t step, double seconds) {
  recording_t* recording = user;
  if (step < recording->step_count) {
    recording->samples[(size_t)recording->run * recording->step_count + step] += seconds;
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

static tenon_status_t record_run(const tool_execution_t* execution, recording_t* recording) {
  const uint32_t k = recording->run;
  tenon_status_t status = timed_run(execution, &recording->whole[k]);
  if (status == TENON_OK) {
    status = tenon_context_set_profiler(execution->context, on_step, recording);
  }
  if (status == TENON_OK) {
    status = timed_run(execution, &recording->outside[k]);
  }
  (void)tenon_context_set_profiler(execution->context, NULL, NULL);
  for (uint32_t step = 0; step < recording->main_count; ++step) {
    recording->outside[k] -= recording->samples[(size_t)k * recording->step_count + step];
  }
  return status;
}

static tenon_status_t record(const tool_execution_t* execution, recording_t* recording) {
  tenon_status_t status = TENON_OK;
  for (uint32_t k = 0; k < recording->run_count && status == TENON_OK; ++k) {
    tool_progress("timing the steps", k, recording->run_count);
    recording->run = k;
    status = record_run(execution, recording);
  }
  tool_progress_end();
  return status;
}

static void summarise(const recording_t* recording, tool_timing_t* timing) {
  double* samples = tool_allocate(recording->run_count, sizeof(*samples));
  timing->whole = tool_spread_of(recording->whole, recording->run_count);
  timing->outside = tool_spread_of(recording->outside, recording->run_count);
  for (uint32_t step = 0; step < recording->step_count; ++step) {
    for (uint32_t k = 0; k < recording->run_count; ++k) {
      samples[k] = recording->samples[(size_t)k * recording->step_count + step];
    }
    timing->steps[step] = tool_spread_of(samples, recording->run_count);
  }
  tool_free(samples);
}

/* Steps of bodies follow those of the main graph. */
static uint32_t count_main(const tenon_engine_t* engine, uint32_t step_count) {
  uint32_t count = 0;
  tenon_step_info_t info;
  while (count < step_count && tenon_engine_get_step(engine, count, &info) == TENON_OK &&
         info.depth == 0) {
    ++count;
  }
  return count;
}

tenon_status_t tool_timing_measure(const tool_execution_t* execution, tool_timing_t* out_timing) {
  recording_t recording = {.step_count = tenon_engine_step_count(execution->engine)};
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
  recording.samples =
      tool_allocate((size_t)recording.run_count * recording.step_count, sizeof(double));
  recording.whole = tool_allocate(recording.run_count, sizeof(double));
  recording.outside = tool_allocate(recording.run_count, sizeof(double));
  status = record(execution, &recording);
  if (status == TENON_OK) {
    *out_timing = (tool_timing_t){
        .step_count = recording.step_count,
        .run_count = recording.run_count,
        .steps = tool_allocate(recording.step_count, sizeof(*out_timing->steps)),
    };
    summarise(&recording, out_timing);
  }
  tool_free(recording.samples);
  tool_free(recording.whole);
  tool_free(recording.outside);
  return status;
}

void tool_timing_free(tool_timing_t* timing) {
  tool_free(timing->steps);
  *timing = (tool_timing_t){0};
}
