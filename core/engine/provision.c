/* Whether what a plan needs is here. */
#include "core/engine/provision.h"

#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/catalog/catalog.h"

enum { DIGEST_TEXT_SIZE = 65 };

/* ---- Telling ---- */

static bool can_be_made_again(const tenon__engine_t* engine) {
  return engine->options.out_is_stale != NULL && engine->plan->original.data != NULL;
}

tenon_status_t tenon__engine_lacks(const tenon__engine_t* engine, tenon_status_t status,
                                   const char* format, ...) {
  char text[1024];
  const bool again = can_be_made_again(engine);
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (again) {
    *engine->options.out_is_stale = true;
  }
  tenon__report(engine->options.sink, again ? TENON_SEVERITY_WARNING : TENON_SEVERITY_ERROR, "%s%s",
                text,
                engine->plan->original.data != NULL
                    ? ""
                    : "; the plan holds its weights only as its own plugins packed them "
                      "(tuned_only): build it again");
  return status;
}

/* ---- Plugins ---- */

/* How a plugin here differs from the plan's. */
typedef enum difference_t { SAME, GONE, ANOTHER } difference_t;

/* Of the image, once it is loaded: so that the file that is compared is the one that is used. */
static tenon_status_t compare(const tenon__engine_t* engine, const tenon__plan_plugin_t* plugin,
                              tenon__owner_t** out_owner, tenon__digest_t* out_digest,
                              difference_t* out_difference) {
  const tenon_sink_t* sink = engine->options.sink;
  tenon__owner_t* owner = tenon__catalog_owner(engine->catalog, plugin->name);
  *out_owner = owner;
  *out_digest = (tenon__digest_t){{0}}; /* of what is no file */
  if (owner == NULL || tenon__catalog_make_ready(engine->catalog, owner, sink) != TENON_OK) {
    *out_difference = GONE;
    return TENON_OK;
  }
  TENON_TRY(owner->digest == NULL ? TENON_OK : owner->digest(owner->user, owner, sink, out_digest));
  *out_difference = memcmp(out_digest, &plugin->digest, sizeof *out_digest) == 0 ? SAME : ANOTHER;
  return TENON_OK;
}

static tenon_status_t check_plugin(const tenon__engine_t* engine,
                                   const tenon__plan_plugin_t* plugin, bool accepts_others) {
  tenon__owner_t* owner = NULL;
  tenon__digest_t digest;
  difference_t difference = SAME;
  char here[DIGEST_TEXT_SIZE];
  char there[DIGEST_TEXT_SIZE];
  TENON_TRY(compare(engine, plugin, &owner, &digest, &difference));
  tenon__digest_text(&digest, here);
  tenon__digest_text(&plugin->digest, there);
  if (difference == GONE) {
    return tenon__engine_lacks(engine, TENON_ERROR_NOT_FOUND,
                               "plugin '%s' %s, which the plan names, is not there", plugin->name,
                               plugin->version);
  }
  if (difference == SAME) {
    return TENON_OK;
  }
  if (accepts_others) {
    tenon__report(engine->options.sink, TENON_SEVERITY_WARNING,
                  "plugin '%s' (%s) is not the file that the plan was built with: its SHA-256 is "
                  "%s, the plan's %s",
                  plugin->name, owner->path, here, there);
    return TENON_OK;
  }
  return tenon__engine_lacks(engine, TENON_ERROR_INVALID_DATA,
                             "plugin '%s' (%s) is not the file that the plan was built with: its "
                             "SHA-256 is %s, the plan's %s",
                             plugin->name, owner->path, here, there);
}

/* All that differ are named. */
static tenon_status_t check_all(const tenon__engine_t* engine, bool accepts_others) {
  tenon_status_t first = TENON_OK;
  for (uint32_t k = 0; k < engine->plan->plugin_count; ++k) {
    const tenon_status_t status = check_plugin(engine, &engine->plan->plugins[k], accepts_others);
    first = first == TENON_OK ? status : first;
  }
  return first;
}

/* ---- The plan names every plugin that it needs ---- */

static bool names(const tenon__plan_t* plan, const char* plugin) {
  bool is_named = false;
  for (uint32_t k = 0; k < plan->plugin_count; ++k) {
    is_named = is_named || strcmp(plan->plugins[k].name, plugin) == 0;
  }
  return is_named;
}

static tenon_status_t check_names(const tenon__engine_t* engine) {
  const tenon__plan_t* plan = engine->plan;
  const char* missing = NULL;
  for (uint32_t d = 0; d < plan->device_count; ++d) {
    const char* plugin = engine->devices[d].source.plugin;
    missing = names(plan, plugin) ? missing : plugin;
  }
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    for (uint32_t s = 0; s < plan->schedules[g].step_count; ++s) {
      const tenon__step_t* step = &plan->schedules[g].steps[s];
      const bool is_named = step->kind != TENON_STEP_KERNEL || names(plan, step->plugin);
      missing = is_named ? missing : step->plugin;
    }
  }
  return missing == NULL
             ? TENON_OK
             : tenon__fail(engine->options.sink, TENON_ERROR_INVALID_DATA,
                           "the plan is broken: it uses plugin '%s' and does not say which file "
                           "that was",
                           missing);
}

tenon_status_t tenon__engine_check_plugins(const tenon__engine_t* engine) {
  TENON_TRY(check_names(engine));
  return check_all(engine, engine->options.accepts_others);
}

tenon_status_t tenon__engine_compare_plugins(const tenon__engine_t* engine) {
  return check_all(engine, false);
}

/* ---- Kernels ---- */

const tenon__kernel_entry_t* tenon__engine_find_kernel(tenon__engine_t* engine,
                                                       const tenon__step_t* step) {
  const tenon__kernel_entry_t* entry =
      tenon__catalog_kernel(engine->catalog, step->plugin, step->kernel, engine->options.sink);
  if (entry == NULL || entry->kernel.version != step->kernel_version) {
    (void)tenon__engine_lacks(
        engine, TENON_ERROR_NOT_FOUND, "step '%s' needs kernel '%s' version %u of plugin '%s', %s",
        step->name, step->kernel, step->kernel_version, step->plugin,
        entry == NULL ? "which is not found" : "which has another version here");
    return NULL;
  }
  if (!tenon__device_has(&engine->devices[step->device], entry->kernel.isa)) {
    (void)tenon__engine_lacks(
        engine, TENON_ERROR_NOT_FOUND,
        "step '%s': kernel '%s' needs instruction set %s, which this machine lacks", step->name,
        step->kernel, entry->kernel.isa);
    return NULL;
  }
  return entry;
}
