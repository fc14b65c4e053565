/* Building a network into a plan, with progress and the timing cache; writing the plan. See
 * model.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/cache.h"
#include "session/model.h"
#include "session/samples.h"
#include "text/console.h"
#include "text/interrupt.h"
#include "text/memory.h"

static int32_t on_progress(void* user, const char* phase, uint32_t done, uint32_t total) {
  (void)user;
  tool_progress(phase, done, total);
  return tool_interrupted() ? 1 : 0;
}

/* What was measured; what kernels compiled lies beside it. NULL: nothing is kept. */
static char* timing_cache_path(const tool_building_t* building) {
  const char* message = NULL;
  if (building->no_timing_cache) {
    return NULL;
  }
  if (building->timing_cache != NULL) {
    return tool_copy_text(building->timing_cache);
  }
  char* folder = tool_cache_folder(&message);
  char* path = folder != NULL ? tool_format("%s/timings", folder) : NULL;
  tool_free(folder);
  return path;
}

/* A file that is given is written to: it must be none that is worth keeping. */
static tenon_status_t check_timing_cache(const char* path) {
  static const char mark[] = "tenon timing cache ";
  char head[sizeof(mark) - 1] = {0};
  FILE* file = path != NULL ? fopen(path, "rbe") : NULL;
  if (file == NULL) {
    return TENON_OK;
  }
  const size_t got = fread(head, 1, sizeof(head), file);
  (void)fclose(file);
  if (got > 0 && (got < sizeof(head) || memcmp(head, mark, sizeof(head)) != 0)) {
    return tool_fail(TENON_ERROR_INVALID_DATA,
                     "--timing-cache %s: is no timing cache, and is not overwritten; remove it or "
                     "give another name",
                     path);
  }
  return TENON_OK;
}

/* The library writes beside the file first. */
static char* guard_writing(const char* path) {
  char* real = realpath(path, NULL);
  char* temporary = tool_format("%s.tmp-%ld", real != NULL ? real : path, (long)getpid());
  free(real);
  tool_interrupt_guard(temporary);
  return temporary;
}

static void release_writing(char* temporary) {
  tool_interrupt_release(temporary);
  tool_free(temporary);
}

/* What was measured is kept even when the build failed or was cancelled. A cache that was not asked
 * for may fail. */
static tenon_status_t save_timings(tenon_timing_cache_t* timings, const char* path,
                                   bool asked_for) {
  if (timings == NULL || tenon_timing_cache_entry_count(timings) == 0) {
    return TENON_OK;
  }
  char* temporary = guard_writing(path);
  tool_console_soften(!asked_for);
  const tenon_status_t status = tenon_timing_cache_save(timings, path);
  tool_console_soften(false);
  release_writing(temporary);
  return asked_for ? status : TENON_OK;
}

tenon_status_t tool_build_plan(tenon_registry_t* registry, tenon_network_t* network,
                               const tool_building_t* building, tenon_plan_t** out_plan,
                               uint32_t* out_timing_entries) {
  tool_build_profile_t profile;
  tenon_build_options_t options;
  tenon_timing_cache_t* timings = NULL;
  tenon_plan_t* plan = NULL;
  tool_samples_t samples = {0};
  char* timing_path = timing_cache_path(building);
  tool_building_fill(building, &profile, &options);
  tenon_status_t status = check_timing_cache(building->timing_cache);
  char* blob_folder = timing_path != NULL ? tool_format("%s.code", timing_path) : NULL;
  if (status == TENON_OK && timing_path != NULL && !building->no_measuring) {
    /* One that was not asked for may be anything. */
    const bool asked_for = building->timing_cache != NULL;
    tool_console_soften(!asked_for);
    status = tenon_timing_cache_create(registry, timing_path, &timings);
    tool_console_soften(false);
    status = asked_for || status == TENON_ERROR_OUT_OF_MEMORY ? status : TENON_OK;
  }
  if (status == TENON_OK && building->samples.count > 0) {
    status = tool_samples_load(&building->samples, network, &samples);
  }
  options.samples = (tenon_list_t){samples.items, samples.count, sizeof(*samples.items)};
  options.timing_cache = timings;
  options.blob_folder = blob_folder;
  options.progress = on_progress;
  if (status == TENON_OK) {
    status = tenon_build(network, &options, &plan);
    tool_progress_end();
  }
  const tenon_status_t saved = save_timings(timings, timing_path, building->timing_cache != NULL);
  status = status == TENON_OK ? saved : status;
  if (out_timing_entries != NULL) {
    *out_timing_entries = tenon_timing_cache_entry_count(timings);
  }
  tenon_timing_cache_destroy(timings);
  tool_samples_free(&samples);
  tool_build_profile_free(&profile);
  tool_free(blob_folder);
  tool_free(timing_path);
  /* The last phase may not have looked. */
  status = status == TENON_OK && tool_interrupted() ? TENON_ERROR_CANCELLED : status;
  if (status != TENON_OK) {
    tenon_plan_destroy(plan);
    return status;
  }
  *out_plan = plan;
  return TENON_OK;
}

tenon_status_t tool_plan_write(const tenon_plan_t* plan, const char* path) {
  char* temporary = guard_writing(path);
  const tenon_status_t status = tenon_plan_save(plan, path);
  release_writing(temporary);
  return status;
}
