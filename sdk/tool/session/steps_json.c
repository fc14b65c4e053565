/* Steps as objects of JSON. See steps.h. */
#include <math.h>

#include "session/step_text.h"
#include "session/steps.h"
#include "text/console.h"
#include "text/json.h"

/* Source of the steps' times, and times of whole runs if it was run. */
static void write_times(FILE* file, const tool_steps_t* steps) {
  const tool_timing_t* timing = steps->timing;
  tool_json_t json;
  tool_json_begin(&json, file);
  tool_json_text(&json, "times",
                 timing != NULL             ? "runs"
                 : steps->total_seconds > 0 ? "build"
                                            : "none");
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

static void add_texts(tool_json_t* json, uint32_t index, const tenon_step_info_t* step) {
  tool_json_unsigned(json, "step", index);
  tool_json_text(json, "name", step->name);
  tool_json_text(json, "kind", step->kind);
  tool_json_text(json, "plugin", step->plugin);
  tool_json_text(json, "kernel", step->kernel);
  tool_json_text(json, "tactic", step->tactic);
  tool_json_text(json, "nodes", step->nodes);
  tool_json_text(json, "expression", step->expression);
  tool_json_text(json, "inputs", step->inputs);
  tool_json_text(json, "outputs", step->outputs);
  tool_json_text(json, "type", tool_step_form(step).type);
  tool_json_text(json, "layout", step->layout);
  tool_json_text(json, "device", step->device);
  tool_json_unsigned(json, "stream", step->stream);
  tool_json_unsigned(json, "depth", step->depth);
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
static tenon_status_t write_step(FILE* file, const tool_steps_t* steps, uint32_t index) {
  const tenon_step_info_t* step = &steps->infos[index];
  const tool_timing_t* timing = steps->timing;
  tenon_step_work_t work = TENON_OPTIONS(tenon_step_work_t);
  tool_spread_t spread = {NAN, NAN, NAN};
  work.operations = -1;
  if (timing != NULL) {
    spread = timing->steps[index];
    TOOL_TRY(tenon_context_get_step_work(steps->execution->context, index, &work));
  }
  tool_json_t json;
  tool_json_begin(&json, file);
  add_texts(&json, index, step);
  tool_json_number(&json, "measured_us",
                   step->measured_seconds > 0 ? step->measured_seconds * 1e6 : NAN);
  tool_json_number(&json, "low_us", spread.low * 1e6);
  tool_json_number(&json, "median_us", spread.median * 1e6);
  tool_json_number(&json, "high_us", spread.high * 1e6);
  tool_json_number(
      &json, "share",
      timing != NULL && steps->total_seconds > 0 ? spread.median / steps->total_seconds : NAN);
  tool_json_number(&json, "operations", work.operations >= 0 ? work.operations : NAN);
  tool_json_number(&json, "bytes", timing != NULL ? work.bytes_read + work.bytes_written : NAN);
  add_traits(&json, work.flags);
  const tenon_status_t status = add_sources(&json, steps->execution->engine, index);
  tool_json_lines(&json, "refusals", step->refusals);
  tool_json_end(&json);
  return status;
}

tenon_status_t tool_steps_write_json(FILE* file, const tool_steps_t* steps) {
  write_times(file, steps);
  for (uint32_t i = 0; i < steps->count; ++i) {
    TOOL_TRY(write_step(file, steps, i));
  }
  return TENON_OK;
}
