/* A plan as JSON, one object a line: the output of --json, and the data of the page of --html. */
#include <stdio.h>
#include <string.h>

#include "command/inspect.h"
#include "session/io_text.h"
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

tenon_status_t inspect_write_json(FILE* file, const inspect_t* inspect, const tool_steps_t* steps) {
  const tool_execution_t* execution = steps->execution;
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
  TOOL_TRY(tool_steps_write_json(file, steps));
  const uint32_t block_count = tenon_engine_block_count(engine);
  for (uint32_t i = 0; i < block_count; ++i) {
    TOOL_TRY(write_block(file, engine, i));
  }
  return TENON_OK;
}
