/* A plan as JSON, one object a line: the output of --json, and the data of the page of --html. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "command/inspect.h"
#include "session/io_text.h"
#include "session/step_text.h"
#include "text/console.h"
#include "text/json.h"

static void write_info(FILE* file, const inspect_t* inspect, const tenon_engine_t* engine,
                       const tenon_engine_info_t* info) {
  tool_json_t json;
  tool_json_begin(&json, file);
  tool_json_text(&json, "model", inspect->task.model);
  tool_json_text(&json, "device", info->device);
  tool_json_text(&json, "fingerprint", info->fingerprint);
  tool_json_unsigned(&json, "threads", info->thread_count);
  tool_json_unsigned(&json, "steps", tenon_engine_step_count(engine));
  tool_json_unsigned(&json, "plan_bytes", info->plan_bytes);
  tool_json_unsigned(&json, "weights_bytes", info->weights_bytes);
  tool_json_unsigned(&json, "arena_bytes", info->arena_bytes);
  tool_json_unsigned(&json, "peak_alive_bytes", info->peak_alive_bytes);
  tool_json_unsigned(&json, "scratch_bytes", info->scratch_bytes);
  tool_json_unsigned(&json, "state_bytes", info->state_bytes);
  tool_json_bool(&json, "tuned_only", info->tuned_only != 0);
  tool_json_lines(&json, "plugins", info->plugins);
  tool_json_lines(&json, "patches", info->patches);
  tool_json_end(&json);
}

static void write_io(FILE* file, const char* role, const tenon_engine_t* engine, uint32_t index,
                     const tenon_io_info_t* info) {
  static const char* const points[] = {"min", "optimum", "max"};
  tool_json_t json;
  tool_json_begin(&json, file);
  tool_io_json(&json, role, info);
  if (info->kind == TENON_ARGUMENT_TENSOR && strcmp(role, "input") == 0) {
    for (uint32_t which = 0; which < 3; ++which) {
      const int64_t* dims = NULL;
      if (tenon_engine_get_profile(engine, index, which, &dims) == TENON_OK) {
        tool_json_integers(&json, points[which], dims, info->rank);
      }
    }
  }
  tool_json_end(&json);
}

static bool was_measured(const tenon_engine_t* engine) {
  tenon_step_info_t step = {.size = sizeof(step)};
  const uint32_t count = tenon_engine_step_count(engine);
  bool found = false;
  for (uint32_t i = 0; i < count && !found; ++i) {
    found = tenon_engine_get_step(engine, i, &step) == TENON_OK && step.measured_seconds > 0;
  }
  return found;
}

/* Source of the steps' times, and times of whole runs if it was run. */
static void write_times(FILE* file, const tenon_engine_t* engine, const tool_timing_t* timing) {
  tool_json_t json;
  tool_json_begin(&json, file);
  tool_json_text(&json, "times", timing != NULL ? "runs" : was_measured(engine) ? "build" : "none");
  tool_json_unsigned(&json, "runs", timing != NULL ? timing->run_count : 0);
  if (timing != NULL) {
    tool_json_number(&json, "low_us", timing->whole.low * 1e6);
    tool_json_number(&json, "median_us", timing->whole.median * 1e6);
    tool_json_number(&json, "high_us", timing->whole.high * 1e6);
    tool_json_number(&json, "outside_us", timing->outside.median * 1e6);
    tool_json_text(&json, "busy", timing->busy.message);
  }
  tool_json_end(&json);
}

static void add_traits(tool_json_t* json, uint32_t flags) {
  static const struct {
    uint32_t flag;
    const char* name;
  } traits[] = {{TENON_STEP_IS_CONSTANT, "constant"},
                {TENON_STEP_IS_COPY, "copy"},
                {TENON_STEP_IS_REFERENCE, "reference"},
                {TENON_STEP_IS_ELEMENTWISE, "elementwise"},
                {TENON_STEP_IS_SHAPE, "shape"}};
  tool_json_list_begin(json, "traits");
  for (size_t i = 0; i < sizeof(traits) / sizeof(traits[0]); ++i) {
    if ((flags & traits[i].flag) != 0) {
      tool_json_text(json, NULL, traits[i].name);
    }
  }
  tool_json_list_end(json);
}

static tenon_status_t add_sources(tool_json_t* json, const tenon_engine_t* engine, uint32_t index) {
  const uint32_t* sources = NULL;
  uint32_t count = 0;
  const tenon_status_t status = tenon_engine_get_step_sources(engine, index, &sources, &count);
  tool_json_list_begin(json, "sources");
  for (uint32_t i = 0; i < count; ++i) {
    tool_json_unsigned(json, NULL, sources[i]);
  }
  tool_json_list_end(json);
  return status;
}

/* Numbers that are not known are null. */
static tenon_status_t write_step(FILE* file, const tool_execution_t* execution,
                                 const tool_timing_t* timing, uint32_t index) {
  tenon_step_info_t step = {.size = sizeof(step)};
  tenon_step_work_t work = TENON_OPTIONS(tenon_step_work_t);
  tool_spread_t spread = {NAN, NAN, NAN};
  work.operations = -1;
  TOOL_TRY(tenon_engine_get_step(execution->engine, index, &step));
  if (timing != NULL) {
    spread = timing->steps[index];
    TOOL_TRY(tenon_context_get_step_work(execution->context, index, &work));
  }
  tool_json_t json;
  tool_json_begin(&json, file);
  tool_step_json(&json, index, &step);
  tool_json_number(&json, "measured_us",
                   step.measured_seconds > 0 ? step.measured_seconds * 1e6 : NAN);
  tool_json_number(&json, "low_us", spread.low * 1e6);
  tool_json_number(&json, "median_us", spread.median * 1e6);
  tool_json_number(&json, "high_us", spread.high * 1e6);
  tool_json_number(&json, "operations", work.operations >= 0 ? work.operations : NAN);
  tool_json_number(&json, "bytes", timing != NULL ? work.bytes_read + work.bytes_written : NAN);
  add_traits(&json, work.flags);
  const tenon_status_t status = add_sources(&json, execution->engine, index);
  tool_json_lines(&json, "refusals", step.refusals);
  tool_json_end(&json);
  return status;
}

/* A block of memory for activations, and the steps between which it is in use. */
static tenon_status_t write_block(FILE* file, const tenon_engine_t* engine, uint32_t index) {
  tenon_block_info_t block = {.size = sizeof(block)};
  tool_json_t json;
  TOOL_TRY(tenon_engine_get_block(engine, index, &block));
  tool_json_begin(&json, file);
  tool_json_text(&json, "block", block.name);
  tool_json_unsigned(&json, "bytes", block.size_bytes);
  tool_json_unsigned(&json, "first_step", block.first_step);
  tool_json_unsigned(&json, "last_step", block.last_step);
  tool_json_end(&json);
  return TENON_OK;
}

tenon_status_t inspect_write_json(FILE* file, const inspect_t* inspect,
                                  const tool_execution_t* execution, const tool_timing_t* timing) {
  const tenon_engine_t* engine = execution->engine;
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  TOOL_TRY(tenon_engine_get_info(engine, &info));
  write_info(file, inspect, engine, &info);
  for (uint32_t i = 0; i < execution->input_count; ++i) {
    write_io(file, "input", engine, i, &execution->inputs[i]);
  }
  for (uint32_t i = 0; i < execution->output_count; ++i) {
    write_io(file, "output", engine, i, &execution->outputs[i]);
  }
  write_times(file, engine, timing);
  const uint32_t step_count = tenon_engine_step_count(engine);
  for (uint32_t i = 0; i < step_count; ++i) {
    TOOL_TRY(write_step(file, execution, timing, i));
  }
  const uint32_t block_count = tenon_engine_block_count(engine);
  for (uint32_t i = 0; i < block_count; ++i) {
    TOOL_TRY(write_block(file, engine, i));
  }
  return TENON_OK;
}
