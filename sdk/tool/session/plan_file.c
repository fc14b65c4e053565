/* A plan to load: the file given, one out of the cache, or one built now. See model.h. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
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

/* ---- Building ---- */

static int32_t on_progress(void* user, const char* phase, uint32_t done, uint32_t total) {
  (void)user;
  tool_progress(phase, done, total);
  return tool_console_interrupted() ? 1 : 0;
}

static char* timing_cache_path(const tool_building_t* building) {
  const char* words = NULL;
  if (building->no_timing_cache || building->no_measuring) {
    return NULL;
  }
  if (building->timing_cache != NULL) {
    return tool_copy_text(building->timing_cache);
  }
  char* folder = tool_cache_folder(&words);
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

tenon_status_t tool_build_to_file(tenon_registry_t* registry, tenon_network_t* network,
                                  const tool_building_t* building, const char* plan_path,
                                  uint32_t* out_timing_entries) {
  tool_build_profile_t profile;
  tenon_build_options_t options;
  tenon_timing_cache_t* timings = NULL;
  tenon_plan_t* plan = NULL;
  char* timing_path = timing_cache_path(building);
  tool_building_fill(building, &profile, &options);
  tenon_status_t status = check_timing_cache(building->timing_cache);
  if (status == TENON_OK && timing_path != NULL) {
    status = tenon_timing_cache_create(registry, timing_path, &timings);
  }
  options.timing_cache = timings;
  options.progress = on_progress;
  if (status == TENON_OK) {
    status = tenon_build(network, &options, &plan);
    tool_progress_end();
  }
  /* What was measured is kept even when the build failed or was cancelled. */
  if (timings != NULL && tenon_timing_cache_entry_count(timings) > 0) {
    const tenon_status_t saved = tenon_timing_cache_save(timings, timing_path);
    status = status == TENON_OK && building->timing_cache != NULL ? saved : status;
  }
  *out_timing_entries = tenon_timing_cache_entry_count(timings);
  if (status == TENON_OK) {
    status = tenon_plan_save(plan, plan_path);
  }
  tenon_plan_destroy(plan);
  tenon_timing_cache_destroy(timings);
  tool_build_profile_free(&profile);
  tool_free(timing_path);
  return status;
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
    char* stamp = tool_file_stamp(about.dli_fname);
    (void)fputs(stamp, file);
    tool_free(stamp);
  }
  (void)fputc('\n', file);
}

static void add_plugins(tenon_registry_t* registry, FILE* file) {
  const uint32_t count = tenon_registry_plugin_count(registry);
  for (uint32_t i = 0; i < count; ++i) {
    tenon_plugin_info_t info;
    if (tenon_registry_get_plugin(registry, i, &info) == TENON_OK &&
        info.state != TENON_PLUGIN_REFUSED) {
      char* stamp = tool_file_stamp(info.path);
      (void)fprintf(file, "plugin %s %s %s", info.name, info.version, stamp);
      tool_free(stamp);
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
  add_plugins(registry, file);
  (void)tenon_registry_print_devices(registry, tool_write_file, file);
  (void)fclose(file);
  if (status != TENON_OK) {
    free(text);
    return NULL;
  }
  return text;
}

/* ---- Obtaining ---- */

static tenon_status_t build_network(tenon_registry_t* registry, const char* model,
                                    const tool_building_t* building, const tool_feed_t* feed,
                                    const tool_cache_entry_t* entry, tool_plan_file_t* file) {
  tenon_network_t* network = NULL;
  char* notes = NULL;
  const double begin = tool_seconds();
  tenon_status_t status = tool_network_open(registry, model, building, feed, &network, &notes);
  if (status != TENON_OK) {
    return status;
  }
  status = tool_build_to_file(registry, network, building, file->path, &file->timing_entries);
  file->build_seconds = tool_seconds() - begin;
  if (status == TENON_OK && entry != NULL) {
    const uint32_t count = tenon_network_file_count(network);
    const char** files = tool_allocate(count + (size_t)1, sizeof(*files));
    for (uint32_t i = 0; i < count; ++i) {
      files[i] = tenon_network_get_file(network, i);
    }
    /* The model itself stands in the key. */
    status = tool_cache_keep(entry, files + 1, count > 0 ? count - 1 : 0, notes);
    tool_free((void*)files);
  }
  tenon_network_destroy(network);
  tool_free(notes);
  return status;
}

static const char* temporary_folder(void) {
  const char* folder = getenv("TMPDIR");
  return folder != NULL && folder[0] == '/' ? folder : "/tmp";
}

/* What the names of a process's temporary files begin with. */
static char* temporary_prefix(pid_t process) {
  return tool_format("tenon-%ld-", (long)process);
}

tenon_status_t tool_plan_file_make_temporary(tool_plan_file_t* out_file) {
  char* prefix = temporary_prefix(getpid());
  char* path = tool_format("%s/%sXXXXXX", temporary_folder(), prefix);
  tool_free(prefix);
  const int descriptor = mkstemp(path);
  if (descriptor < 0) {
    const tenon_status_t status =
        tool_fail(TENON_ERROR_IO, "%s: a temporary file cannot be made", path);
    tool_free(path);
    return status;
  }
  (void)close(descriptor);
  out_file->path = path;
  out_file->is_temporary = true;
  return TENON_OK;
}

void tool_plan_files_remove(pid_t process) {
  char* prefix = temporary_prefix(process);
  DIR* folder = opendir(temporary_folder());
  const struct dirent* entry = NULL;
  while (folder != NULL && (entry = readdir(folder)) != NULL) {
    if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
      (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
  }
  if (folder != NULL) {
    (void)closedir(folder);
  }
  tool_free(prefix);
}

static tenon_status_t build_into_cache(tenon_registry_t* registry, const char* model,
                                       const tool_building_t* building, const tool_feed_t* feed,
                                       const tool_cache_entry_t* entry, tool_plan_file_t* file) {
  tool_cache_drop(entry);
  file->use = TOOL_CACHE_MISS;
  const tenon_status_t status = build_network(registry, model, building, feed, entry, file);
  if (status != TENON_OK) {
    tool_cache_drop(entry);
  }
  return status;
}

static tenon_status_t obtain(tenon_registry_t* registry, const char* model,
                             const tool_building_t* building, const tool_feed_t* feed, bool rebuild,
                             tool_plan_file_t* file) {
  const char* words = "";
  char* folder = building->no_cache ? NULL : tool_cache_folder(&words);
  if (folder == NULL) {
    if (!building->no_cache) {
      tool_warn("plans are not kept: %s", words);
    }
    file->use = TOOL_CACHE_OFF;
    const tenon_status_t status = tool_plan_file_make_temporary(file);
    return status == TENON_OK ? build_network(registry, model, building, feed, NULL, file) : status;
  }
  char* key = make_key(registry, folder, model, building, feed);
  tenon_status_t status = key != NULL ? TENON_OK : TENON_ERROR_NOT_FOUND;
  if (status == TENON_OK) {
    tool_cache_entry_t entry;
    tool_cache_entry_make(folder, key, &entry);
    file->path = tool_copy_text(entry.plan_path);
    file->use = TOOL_CACHE_HIT;
    if (rebuild || !tool_cache_find(&entry)) {
      status = build_into_cache(registry, model, building, feed, &entry, file);
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
  if (file->is_temporary) {
    (void)unlink(file->path);
  }
  tool_free(file->path);
  *file = (tool_plan_file_t){0};
}
