/* A plan to load: the file given, one out of the cache, or one that is built. See model.h. */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/file.h"
#include "session/cache.h"
#include "session/common.h"
#include "session/model.h"
#include "text/console.h"
#include "text/memory.h"

const char* tool_cache_use_text(tool_cache_use_t use) {
  static const char* const texts[] = {"plan", "off", "hit", "miss"};
  return texts[use];
}

tenon_status_t tool_file_is_plan(const char* path, bool* out_is_plan) {
  char head[16] = {0};
  struct stat about;
  FILE* file = fopen(path, "rbe");
  if (file == NULL) {
    return tool_fail(TENON_ERROR_NOT_FOUND, "%s: cannot be opened: %s", path, strerror(errno));
  }
  if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) {
    const bool folder = S_ISDIR(about.st_mode);
    (void)fclose(file);
    return tool_fail(TENON_ERROR_INVALID_ARGUMENT, "%s: is %s; a model or a plan is wanted", path,
                     folder ? "a folder" : "no regular file");
  }
  const size_t got = fread(head, 1, sizeof(head), file);
  (void)fclose(file);
  *out_is_plan = tenon_plan_sniff(head, got) != 0;
  return TENON_OK;
}

tenon_status_t tool_operand_check(const tool_arguments_t* arguments, const char* path,
                                  bool* out_is_plan) {
  tenon_status_t status = tool_file_is_plan(path, out_is_plan);
  if (status == TENON_OK && *out_is_plan) {
    char* because = tool_format("%s is a plan already", path);
    status = tool_arguments_check(arguments, TOOL_FOR_PLANS | TOOL_FOR_RUNNING, because);
    tool_free(because);
  }
  return status;
}

tenon_status_t tool_output_check(const char* option, const char* path, const char* model,
                                 const tool_building_t* building, const tool_feed_t* feed) {
  const tool_constants_t* constants = &building->constants;
  tenon_status_t status = tool_file_check_other(option, path, model);
  for (size_t i = 0; i < building->parts.count && status == TENON_OK; ++i) {
    status = tool_file_check_other(option, path, building->parts.items[i]);
  }
  for (size_t i = 0; i < constants->count && status == TENON_OK; ++i) {
    status = tool_file_check_other(option, path, constants->items[i].path);
  }
  for (size_t i = 0; i < feed->count && status == TENON_OK; ++i) {
    status = tool_file_check_other(option, path, feed->items[i].path);
  }
  return status == TENON_OK ? tool_file_check(option, path) : status;
}

/* ---- The key ---- */

/* The library's own file: one that is built anew may decide otherwise. */
static void add_library(FILE* file) {
  Dl_info about;
  void* address = NULL;
  const char* (*function)(void) = tenon_version;
  memcpy(&address, &function, sizeof(address));
  (void)fprintf(file, "tenon %s ", tenon_version());
  if (dladdr(address, &about) != 0 && about.dli_fname != NULL) {
    char stamp[TOOL_STAMP_BYTES];
    tool_file_stamp(about.dli_fname, stamp);
    (void)fputs(stamp, file);
  }
  (void)fputc('\n', file);
}

/* By contents: a plugin that is installed again, or touched, is the same. */
static void add_plugins(tenon_registry_t* registry, const char* folder, FILE* file) {
  const uint32_t count = tenon_registry_plugin_count(registry);
  for (uint32_t i = 0; i < count; ++i) {
    /* Without left_out, for which plugins would be loaded. */
    tenon_plugin_info_t info = {.size = offsetof(tenon_plugin_info_t, left_out)};
    if (tenon_registry_get_plugin(registry, i, &info) == TENON_OK &&
        info.state != TENON_PLUGIN_REFUSED) {
      char digest[65] = "";
      (void)tool_cache_digest(folder, info.path, digest);
      (void)fprintf(file, "plugin %s %s %s %s\n", info.name, info.version, info.path, digest);
    }
  }
}

/* Everything that the plan depends on, as text; NULL after an error. */
static char* make_key(tenon_registry_t* registry, const char* folder, const char* model,
                      const tool_building_t* building, const tool_feed_t* feed) {
  char* text = NULL;
  size_t size = 0;
  char digest[65];
  FILE* file = open_memstream(&text, &size);
  if (file == NULL) {
    return NULL;
  }
  add_library(file);
  tenon_status_t status = tool_cache_digest(folder, model, digest);
  char* real = realpath(model, NULL);
  /* The folder counts: files that the model names lie there. */
  (void)fprintf(file, "model %s %s\n", status == TENON_OK ? digest : "", real != NULL ? real : "");
  free(real);
  for (size_t i = 0; i < building->parts.count && status == TENON_OK; ++i) {
    status = tool_cache_digest(folder, building->parts.items[i], digest);
    (void)fprintf(file, "part %s\n", digest);
  }
  for (size_t i = 0; i < building->constants.count && status == TENON_OK; ++i) {
    status = tool_cache_digest(folder, building->constants.items[i].path, digest);
    (void)fprintf(file, "constant %s %s\n", building->constants.items[i].input, digest);
  }
  char* options = tool_building_describe(building);
  char* given = tool_feed_describe(feed);
  (void)fprintf(file, "%s%s", options, building->has_profile ? "" : given);
  tool_free(options);
  tool_free(given);
  add_plugins(registry, folder, file);
  (void)tenon_registry_print_devices(registry, tool_write_file, file);
  (void)fclose(file);
  if (status != TENON_OK) {
    free(text);
    return NULL;
  }
  return text;
}

/* ---- Obtaining ---- */

/* Writes the plan into the cache, for the next command. If this fails, the current command uses the
 * plan in memory. */
static bool keep(const tool_cache_entry_t* entry, const tenon_network_t* network, const char* notes,
                 const tenon_plan_t* plan) {
  const uint32_t count = tenon_network_file_count(network);
  const char** files = tool_allocate(count + (size_t)1, sizeof(*files));
  for (uint32_t i = 0; i < count; ++i) {
    files[i] = tenon_network_get_file(network, i);
  }
  tool_cache_drop(entry);
  tool_console_soften(true);
  const bool is_written = tool_plan_write(plan, entry->plan_path) == TENON_OK;
  /* The model itself stands in the key. */
  const bool is_kept =
      is_written && tool_cache_keep(entry, files + 1, count > 0 ? count - 1 : 0, notes) == TENON_OK;
  tool_console_soften(false);
  if (!is_kept) {
    tool_warn("%s: the plan is not kept in the cache", entry->plan_path);
  }
  if (is_written && !is_kept) {
    (void)unlink(entry->plan_path);
  }
  tool_free((void*)files);
  return is_kept;
}

/* `entry` NULL: not kept. */
static tenon_status_t build_model(tenon_registry_t* registry, const char* model,
                                  const tool_building_t* building, const tool_feed_t* feed,
                                  const tool_cache_entry_t* entry, tool_plan_file_t* file) {
  tenon_network_t* network = NULL;
  char* notes = NULL;
  const double begin = tool_seconds();
  tenon_status_t status = tool_network_open(registry, model, building, feed, &network, &notes);
  if (status == TENON_OK) {
    status = tool_build_plan(registry, network, building, &file->plan, NULL);
  }
  if (status == TENON_OK && entry != NULL && keep(entry, network, notes, file->plan)) {
    file->path = tool_copy_text(entry->plan_path);
    tenon_plan_destroy(file->plan);
    file->plan = NULL;
  }
  file->build_seconds = tool_seconds() - begin;
  tenon_network_destroy(network);
  tool_free(notes);
  return status;
}

static tenon_status_t obtain(tenon_registry_t* registry, const char* model,
                             const tool_building_t* building, const tool_feed_t* feed, bool rebuild,
                             tool_plan_file_t* file) {
  const char* message = "";
  char* folder = building->no_cache ? NULL : tool_cache_folder(&message);
  if (folder == NULL) {
    if (!building->no_cache) {
      tool_warn("plans are not kept: %s", message);
    }
    file->use = TOOL_CACHE_OFF;
    return build_model(registry, model, building, feed, NULL, file);
  }
  char* key = make_key(registry, folder, model, building, feed);
  tenon_status_t status = key != NULL ? TENON_OK : TENON_ERROR_NOT_FOUND;
  if (status == TENON_OK) {
    tool_cache_entry_t entry;
    tool_cache_entry_make(folder, key, &entry);
    tool_cache_collect(folder);
    if (!rebuild && tool_cache_find(&entry)) {
      file->path = tool_copy_text(entry.plan_path);
      file->use = TOOL_CACHE_HIT;
      tool_inform(
          "%s: was built before, of the same model and plugins, with the same options, on this "
          "machine; its decisions are not printed again: --no-cache builds anew, tenon inspect "
          "shows the plan",
          entry.plan_path);
    } else {
      file->use = TOOL_CACHE_MISS;
      status = build_model(registry, model, building, feed, &entry, file);
      tool_cache_trim(folder, TOOL_CACHE_LIMIT_BYTES, entry.plan_path);
    }
    tool_cache_entry_free(&entry);
  }
  tool_free(folder);
  return status;
}

tenon_status_t tool_plan_file_obtain(tenon_registry_t* registry, const char* model,
                                     const tool_building_t* building, const tool_feed_t* feed,
                                     bool rebuild, tool_plan_file_t* out_file) {
  tool_plan_file_t file = {0};
  bool is_plan = false;
  tenon_status_t status = tool_file_is_plan(model, &is_plan);
  if (status == TENON_OK && is_plan) {
    file.path = tool_copy_text(model);
    file.use = TOOL_CACHE_PLAN;
  } else if (status == TENON_OK) {
    status = obtain(registry, model, building, feed, rebuild, &file);
  }
  if (status != TENON_OK) {
    tool_plan_file_free(&file);
    return status;
  }
  *out_file = file;
  return TENON_OK;
}

void tool_plan_file_free(tool_plan_file_t* file) {
  tenon_plan_destroy(file->plan);
  tool_free(file->path);
  *file = (tool_plan_file_t){0};
}
