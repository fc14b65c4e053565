/* See inspect.h: the data of the page. */
#include <stdlib.h>
#include <time.h>

#include "command/inspect.h"
#include "data/file.h"
#include "page/page.h"
#include "page/peak.h"
#include "session/network_facts.h"
#include "text/console.h"
#include "text/interrupt.h"
#include "text/json.h"
#include "text/memory.h"

/* The file's name with its folder's: many are called model.onnx. */
static const char* page_title(const char* path) {
  const char* base = tool_path_base(path);
  while (base > path + 1 && base[-2] != '/') {
    --base;
  }
  return base > path + 1 ? base - 1 : path;
}

/* Title, version and date, and the best that the machine can do, 0 if it is not known. */
static void write_head(FILE* file, const inspect_t* inspect, const tool_peak_t* peak) {
  char day[64] = "";
  const time_t now = time(NULL);
  struct tm parts;
  tool_json_t json;
  if (localtime_r(&now, &parts) != NULL) {
    (void)strftime(day, sizeof(day), "%Y-%m-%d %H:%M", &parts);
  }
  tool_json_begin(&json, file);
  tool_json_text(&json, "title", page_title(inspect->task.model));
  tool_json_text(&json, "tenon", tenon_version());
  tool_json_text(&json, "written", day);
  tool_json_number(&json, "operations_per_second", peak->operations_per_second);
  tool_json_number(&json, "bytes_per_second", peak->bytes_per_second);
  tool_json_end(&json);
}

static tenon_status_t write_lines(FILE* file, const inspect_t* inspect, const tool_peak_t* peak,
                                  const tool_steps_t* steps) {
  const tenon_status_t status = inspect_write_json(file, inspect, steps);
  tool_json_t json;
  char* network = tool_engine_text(steps->execution->engine);
  tool_json_begin(&json, file);
  tool_json_lines(&json, "network", network);
  tool_json_end(&json);
  tool_free(network);
  write_head(file, inspect, peak);
  return status;
}

tenon_status_t inspect_write_page(const inspect_t* inspect, const tool_steps_t* steps) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  tool_peak_t peak = {0};
  char* lines = NULL;
  size_t size = 0;
  TOOL_TRY(tenon_engine_get_info(steps->execution->engine, &info));
  if (steps->timing != NULL) {
    peak = tool_peak_measure(inspect->task.registry, info.device, info.thread_count);
    TOOL_TRY(tool_interrupted() ? TENON_ERROR_CANCELLED : TENON_OK);
  }
  FILE* file = open_memstream(&lines, &size);
  if (file == NULL) {
    return tool_fail(TENON_ERROR_OUT_OF_MEMORY, "out of memory");
  }
  tenon_status_t status = write_lines(file, inspect, &peak, steps);
  (void)fclose(file);
  if (status == TENON_OK) {
    status = tool_page_write(inspect->html, lines);
  }
  free(lines);
  if (status == TENON_OK) {
    tool_say("%s: written\n", inspect->html);
  }
  return status;
}
