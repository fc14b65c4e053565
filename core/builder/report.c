/* What a build decided, for whoever listens: the algebra, each step's kernel and tactic, and, in
 * more detail, why the others were not chosen. */
#include "core/builder/building.h"

#include <string.h>

#include "core/base/status.h"
#include "core/catalog/catalog.h"
#include "core/plan/work.h"

/* From so much on a step on a reference kernel is worth a word: it takes a millisecond or so. */
static const double heavy_operations = 1e6;
static const double heavy_bytes = 1e6;
enum { HEAVY_NAMED = 3 };

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

/* Heavy, and left to a kernel that is there to be right, not to be fast? */
static bool is_left_to_reference(const tenon__building_t* b, uint32_t graph, uint32_t index) {
  const tenon__step_t* step = &b->plan->schedules[graph].steps[index];
  tenon__work_t work;
  if (step->kind != TENON_STEP_KERNEL) {
    return false;
  }
  const tenon__kernel_entry_t* entry =
      tenon__catalog_kernel(b->catalog, step->plugin, step->kernel, b->options->sink);
  return entry != NULL && (entry->kernel.flags & TENON_KERNEL_REFERENCE) != 0 &&
         tenon__step_work(b->plan, graph, index, &b->plan->profile.optimum, &work) == TENON_OK &&
         (work.operations >= heavy_operations ||
          work.bytes_read + work.bytes_written >= heavy_bytes);
}

static void report_references(const tenon__building_t* b) {
  const char* names[HEAVY_NAMED] = {"", "", ""};
  uint32_t count = 0;
  for (uint32_t g = 0; g < b->plan->schedule_count; ++g) {
    for (uint32_t k = 0; k < b->plan->schedules[g].step_count; ++k) {
      if (!is_left_to_reference(b, g, k)) {
        continue;
      }
      if (count < HEAVY_NAMED) {
        names[count] = b->plan->schedules[g].steps[k].name;
      }
      ++count;
    }
  }
  if (count > 0) {
    tenon__report(b->options->sink, TENON_SEVERITY_WARNING,
                  "%u heavy step%s run%s on reference kernels, which are right but slow: '%s'%s%s%s"
                  "%s%s%s%s; the plan's refusals say why no faster kernel takes them",
                  count, count == 1 ? "" : "s", count == 1 ? "s" : "", names[0],
                  count > 1 ? ", '" : "", names[1], count > 1 ? "'" : "", count > 2 ? ", '" : "",
                  names[2], count > 2 ? "'" : "", count > HEAVY_NAMED ? ", ..." : "");
  }
}

/* The devices that the build names, the host aside, and no kernel there takes a node? */
static void report_idle_devices(const tenon__building_t* b) {
  const tenon__plan_t* plan = b->plan;
  uint32_t count = 0;
  bool is_used = plan->device_count < 2;
  for (uint32_t g = 0; g < plan->schedule_count && !is_used; ++g) {
    for (uint32_t k = 0; k < plan->schedules[g].step_count && !is_used; ++k) {
      const tenon__step_t* step = &plan->schedules[g].steps[k];
      count += step->kind == TENON_STEP_KERNEL ? 1 : 0;
      is_used = step->kind == TENON_STEP_KERNEL && step->device != 0;
    }
  }
  if (!is_used && count > 0) {
    tenon__report(b->options->sink, TENON_SEVERITY_WARNING,
                  "device '%s' computes nothing: its kernels take no node of the network; all %u "
                  "steps run on '%s'",
                  plan->device, count, plan->devices[0].name);
  }
}

static void report_spent(const tenon_sink_t* sink, const tenon__spent_t* spent) {
  if (spent->count == 0) {
    return;
  }
  tenon__report(sink, TENON_SEVERITY_INFO,
                "%u trials took %.2f s: %.2f to prepare, %.2f to bind, %.2f to compare, %.2f to "
                "time, the rest for data and memory; %u of them, %.2f s, were second looks",
                spent->count, spent->seconds, spent->preparing, spent->binding, spent->comparing,
                spent->timing, spent->again_count, spent->again);
  for (const tenon__kernel_spent_t* k = spent->kernels; k != NULL; k = k->next) {
    tenon__report(sink, TENON_SEVERITY_INFO, "%s:%s: %u trials, %.2f s to prepare and bind",
                  k->kernel->owner->plugin, k->kernel->kernel.name, k->count, k->preparing);
  }
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
  if (!b->options->tuning.reference_only) {
    report_references(b);
    report_idle_devices(b);
  }
  tenon__report(b->options->sink, TENON_SEVERITY_INFO,
                "%u times were measured, %u were known from the timing cache",
                b->tuning.measured_count, b->tuning.cached_count);
  report_spent(b->options->sink, &b->tuning.spent);
}
