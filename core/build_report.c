/* What a build decided, for whoever listens: the algebra, each step's kernel and tactic, and, in
 * more detail, why the others were not chosen. */
#include <string.h>

#include "core/base/status.h"
#include "core/build_parts.h"

static void report_lines(const tenon__building_t* b, int32_t severity, const char* indent,
                         const char* lines) {
  while (lines != NULL && *lines != '\0') {
    const size_t length = strcspn(lines, "\n");
    tenon__report(b->options->sink, severity, "%s%.*s", indent, (int)length, lines);
    lines += length + (lines[length] == '\n' ? 1 : 0);
  }
}

static void report_step(const tenon__building_t* b, uint32_t index, const tenon__step_t* step) {
  const tenon_sink_t* sink = b->options->sink;
  if (step->kind != TENON_STEP_KERNEL) {
    tenon__report(sink, TENON_SEVERITY_INFO, "step %u '%s': by the core itself", index, step->name);
    return;
  }
  const uint32_t nodes = step->region->covered_count;
  const char* plural = nodes == 1 ? "" : "s";
  if (step->measured_seconds > 0) {
    tenon__report(sink, TENON_SEVERITY_INFO, "step %u '%s', %u node%s: %s:%s (%s), %.4g us", index,
                  step->name, nodes, plural, step->plugin, step->kernel, step->tactic.name,
                  step->measured_seconds * 1e6);
  } else {
    tenon__report(sink, TENON_SEVERITY_INFO, "step %u '%s', %u node%s: %s:%s (%s)", index,
                  step->name, nodes, plural, step->plugin, step->kernel, step->tactic.name);
  }
  report_lines(b, TENON_SEVERITY_DEBUG, "  not ", step->refusals);
}

void tenon__building_report(const tenon__building_t* b) {
  const tenon__plan_t* plan = b->plan;
  report_lines(b, TENON_SEVERITY_INFO, "", plan->patches);
  uint32_t index = 0;
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    for (uint32_t k = 0; k < plan->schedules[g].step_count; ++k) {
      report_step(b, index++, &plan->schedules[g].steps[k]);
    }
  }
  tenon__report(b->options->sink, TENON_SEVERITY_INFO,
                "%u times were measured, %u were known from the timing cache",
                b->tuning.measured_count, b->tuning.cached_count);
}
