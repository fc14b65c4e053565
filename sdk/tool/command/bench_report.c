/* What is told of a measurement. See bench.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "command/bench.h"
#include "data/file.h"
#include "text/console.h"

/* A share of it: a smaller change is no reason to measure again. */
static const double clock_change_seen = 0.05;

tenon_status_t bench_report(const bench_t* bench, const tool_execution_t* execution) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  TOOL_TRY(tenon_engine_get_info(execution->engine, &info));
  if (tool_console_is_json()) {
    bench_print_json(bench, execution, &info);
  } else {
    bench_print_text(bench, execution, &info);
  }
  if (bench->busy.is_busy) {
    tool_warn("the machine was busy: %s; an idle one is faster", bench->busy.message);
  }
  if (fabs(bench_clock_change(&bench->device)) > clock_change_seen) {
    tool_warn("the clock of %s went from %.0f to %.0f MHz while it was measured: times are of both",
              bench->device.name, bench->device.before.clock_hertz / 1e6,
              bench->device.after.clock_hertz / 1e6);
  }
  return TENON_OK;
}

tenon_status_t bench_write_times(const bench_t* bench) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  if (file == NULL) {
    return tool_fail(TENON_ERROR_OUT_OF_MEMORY, "out of memory");
  }
  (void)fprintf(file, "# milliseconds of each run, in order\n");
  for (size_t i = 0; i < bench->times.count; ++i) {
    (void)fprintf(file, "%.9g\n", bench->times.seconds[i] * 1e3);
  }
  (void)fclose(file);
  const tenon_status_t status = tool_file_write(bench->times_path, text, size);
  free(text);
  return status;
}
