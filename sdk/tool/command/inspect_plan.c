/* See inspect.h. */
#include <string.h>

#include "command/inspect.h"
#include "session/io_text.h"
#include "session/network_facts.h"
#include "text/console.h"
#include "text/memory.h"
#include "text/units.h"

static void print_io(const char* what, const tenon_engine_t* engine, uint32_t index,
                     const tenon_io_info_t* info) {
  char* text = tool_io_text(info);
  tool_say("%-7s %s", what, text);
  const bool open = tool_io_is_open(info) && strcmp(what, "input") == 0;
  if (open) {
    for (uint32_t which = 0; which < 3; ++which) {
      const int64_t* dims = NULL;
      char shape[512];
      if (tenon_engine_get_profile(engine, index, which, &dims) == TENON_OK) {
        tool_shape_print(info->rank, dims, shape, sizeof(shape));
        tool_say("%s%s", which == 0 ? ", profile " : " : ", shape);
      }
    }
  }
  tool_say("\n");
  tool_free(text);
}

static void print_lines(const char* indent, const char* lines) {
  char* line = NULL;
  while ((line = tool_take_line(&lines)) != NULL) {
    tool_say("%s%s\n", indent, line);
    tool_free(line);
  }
}

tenon_status_t inspect_print_plan(const inspect_t* inspect, const tool_execution_t* execution) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  TOOL_TRY(tenon_engine_get_info(execution->engine, &info));
  char* weights = tool_weights_text(&info);
  tool_say("device  %s, tuned for %s, %u threads\n", info.device, info.fingerprint,
           info.thread_count);
  tool_say("bytes   plan %.2f MiB; %s; activations %.2f (at least %.2f); workspace %.2f",
           tool_mib(info.plan_bytes), weights, tool_mib(info.arena_bytes),
           tool_mib(info.peak_alive_bytes), tool_mib(info.scratch_bytes));
  if (info.state_bytes > 0) {
    tool_say("; states %.2f", tool_mib(info.state_bytes));
  }
  tool_say("\n");
  tool_free(weights);
  tool_say("plugins\n");
  print_lines("        ", info.plugins);
  if (inspect->task.common.verbose > 0 && info.patches[0] != '\0') {
    tool_say("optimiser\n");
    print_lines("        ", info.patches);
  }
  for (uint32_t i = 0; i < execution->input_count; ++i) {
    print_io("input", execution->engine, i, &execution->inputs[i]);
  }
  for (uint32_t i = 0; i < execution->output_count; ++i) {
    print_io("output", execution->engine, i, &execution->outputs[i]);
  }
  return TENON_OK;
}
