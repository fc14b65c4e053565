/* Looks through the search path and keeps the list of candidates. A scan makes a new list in the
 * order of the search path; what is loaded, and what did not change, is taken over from the old
 * one. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/catalog/catalog.h"
#include "plugin_registry/names.h"
#include "plugin_registry/state.h"

#define SUFFIX ".so"
/* Ranks: preferred plugins, then those of the library's own folder, then all others. */
#define INSTALLED (1u << 29)
#define FAR (1u << 30)

/* One scan; lives under both of the registry's locks. */
typedef struct scan_t {
  tenon__registry_t* registry;
  tenon__string_map_t known; /* path -> the candidate of the last scan */
  tenon__plugin_candidate_t** found;
  size_t found_count;
  size_t found_capacity;
  bool is_installed; /* the folder that is looked through is the library's own */
} scan_t;

static tenon__plugin_candidate_t* find(const tenon__string_map_t* map, const char* key) {
  return tenon__string_map_pointer(map, key);
}

static bool set(tenon__string_map_t* map, const char* key, tenon__plugin_candidate_t* candidate) {
  return tenon__string_map_set(map, key, (tenon__map_value_t){.pointer = candidate});
}

static bool list(scan_t* scan, tenon__plugin_candidate_t* candidate) {
  if (!TENON_GROW(scan->registry->allocator, scan->found, scan->found_capacity,
                  scan->found_count + 1)) {
    return false;
  }
  scan->found[scan->found_count++] = candidate;
  candidate->seen = true;
  return true;
}

/* ---- One file ---- */

tenon__finding_t tenon__registry_permit(const tenon__registry_t* registry, int descriptor,
                                        uint64_t size_bytes) {
  if (registry->policy == TENON_REGISTRY_POLICY_ANY) {
    return TENON_FINDING_NONE;
  }
  tenon__digest_t digest;
  if (!tenon__inspect_digest(descriptor, size_bytes, &digest)) {
    return (tenon__finding_t){TENON_PLUGIN_REASON_UNREADABLE, ""};
  }
  for (size_t i = 0; i < registry->digest_count; ++i) {
    if (memcmp(&registry->digests[i], &digest, sizeof(digest)) == 0) {
      return TENON_FINDING_NONE;
    }
  }
  return (tenon__finding_t){TENON_PLUGIN_REASON_NOT_LISTED, ""};
}

/* Returns the position of `text` in the NULL-terminated list, or the list's length. */
static size_t position(const char* const* list, const char* text) {
  size_t k = 0;
  while (list[k] != NULL && strcmp(list[k], text) != 0) {
    ++k;
  }
  return k;
}

static void fill_owner(tenon__plugin_candidate_t* candidate, bool is_installed, size_t place) {
  const char* const* prefer = candidate->registry->prefer;
  const size_t preference = position(prefer, candidate->manifest->name);
  const bool is_preferred = prefer[preference] != NULL;
  candidate->owner = (tenon__owner_t){
      .plugin = candidate->manifest->name,
      .version = candidate->manifest->version,
      .path = candidate->path,
      .built = candidate->manifest->built,
      .is_installed = is_installed,
      .is_preferred = is_preferred,
      .search_rank =
          is_preferred ? (uint32_t)preference : (uint32_t)place + (is_installed ? INSTALLED : FAR),
      .make_ready = tenon__candidate_make_ready,
      .user = candidate,
      .digest = tenon__candidate_digest};
}

static bool is_set_aside(const tenon__registry_t* registry, const char* path) {
  return registry->set_aside[position(registry->set_aside, path)] != NULL;
}

static tenon__plugin_candidate_t* make_candidate(const scan_t* scan, const char* path) {
  static const tenon__owner_t nobody = {
      .plugin = "", .version = "", .path = "", .make_ready = tenon__candidate_make_ready};
  tenon__registry_t* registry = scan->registry;
  tenon__plugin_candidate_t* candidate =
      tenon__arena_allocate(&registry->arena, 1, sizeof(*candidate));
  if (candidate == NULL) {
    return NULL;
  }
  candidate->registry = registry;
  candidate->path = path;
  candidate->owner = nobody;
  candidate->owner.user = candidate;
  candidate->message = "";
  candidate->finding = TENON_FINDING_NONE;
  tenon__inspection_t inspection;
  tenon__inspect_plugin(&registry->trust, &registry->arena, path, registry->range, &inspection);
  tenon__finding_t finding = inspection.finding;
  if (inspection.descriptor >= 0) {
    finding =
        tenon__registry_permit(registry, inspection.descriptor, inspection.identity.size_bytes);
    (void)close(inspection.descriptor);
  }
  candidate->identity = inspection.identity;
  candidate->manifest = inspection.manifest;
  if (candidate->manifest != NULL) {
    fill_owner(candidate, scan->is_installed, scan->found_count);
  }
  if (finding.reason == TENON_PLUGIN_REASON_NONE && is_set_aside(registry, path)) {
    finding =
        (tenon__finding_t){TENON_PLUGIN_REASON_SET_ASIDE, "replace its file to have it used again"};
  }
  if (finding.reason != TENON_PLUGIN_REASON_NONE) {
    tenon__candidate_refuse(candidate, finding);
  }
  return finding.reason == TENON_PLUGIN_REASON_MEMORY ? NULL : candidate;
}

static bool is_unchanged(const tenon__plugin_candidate_t* candidate) {
  struct stat status;
  if (stat(candidate->path, &status) != 0) {
    return false;
  }
  const tenon__file_identity_t identity = tenon__file_identity(&status);
  return tenon__same_file(&identity, &candidate->identity);
}

/* Takes the file over from the last scan, or looks at it. False when memory is out. */
static bool take_file(scan_t* scan, const char* path) {
  tenon__plugin_candidate_t* known = find(&scan->known, path);
  if (known != NULL && known->state != TENON_CANDIDATE_REFUSED) {
    const bool unchanged = is_unchanged(known);
    if (known->state == TENON_CANDIDATE_LOADED) {
      known->message = unchanged ? "" : "its file has changed since; a new process will use that";
    }
    if (unchanged || known->state == TENON_CANDIDATE_LOADED) {
      return list(scan, known);
    }
  }
  const char* copy =
      known != NULL ? known->path : tenon__arena_copy_string(&scan->registry->arena, path);
  tenon__plugin_candidate_t* candidate = copy == NULL ? NULL : make_candidate(scan, copy);
  if (candidate == NULL) {
    return false;
  }
  if (known != NULL) {
    known->seen = true;
    known->state = TENON_CANDIDATE_REFUSED;
    known->finding = (tenon__finding_t){TENON_PLUGIN_REASON_CHANGED, ""};
    candidate->reported = candidate->state == TENON_CANDIDATE_REFUSED && known->reported &&
                          strcmp(candidate->message, known->message) == 0;
  }
  return list(scan, candidate);
}

/* ---- Directories ---- */

static bool is_plugin_name(const char* name) {
  const size_t length = strlen(name);
  return name[0] != '.' && length > strlen(SUFFIX) &&
         strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
}

static int compare_names(const void* a, const void* b) {
  return strcmp(*(const char* const*)a, *(const char* const*)b);
}

/* Full paths of files; the texts are the arena's. */
typedef struct paths_t {
  tenon_allocator_t allocator;
  tenon__arena_t texts;
  const char** items;
  size_t count;
  size_t capacity;
} paths_t;

/* What could be plugins, in order of name. */
static bool list_files(paths_t* paths, DIR* stream, const char* folder) {
  for (const struct dirent* entry = readdir(stream); entry != NULL; entry = readdir(stream)) {
    if (!is_plugin_name(entry->d_name)) {
      continue;
    }
    const char* path = tenon__arena_format(&paths->texts, "%s/%s",
                                           strcmp(folder, "/") == 0 ? "" : folder, entry->d_name);
    if (path == NULL ||
        !TENON_GROW(paths->allocator, paths->items, paths->capacity, paths->count + 1)) {
      return false;
    }
    paths->items[paths->count++] = path;
  }
  if (paths->count > 0) {
    qsort((void*)paths->items, paths->count, sizeof(const char*), compare_names);
  }
  return true;
}

static bool scan_directory(scan_t* scan, tenon__directory_t* directory) {
  DIR* stream = opendir(directory->real_path);
  if (stream == NULL) {
    const char* message = tenon__arena_copy_string(&scan->registry->arena, strerror(errno));
    directory->finding = (tenon__finding_t){TENON_PLUGIN_REASON_UNREADABLE, message};
    return message != NULL;
  }
  paths_t paths = {.allocator = scan->registry->allocator};
  tenon__arena_initialize(&paths.texts, paths.allocator);
  scan->is_installed = directory->is_installed;
  bool good = list_files(&paths, stream, directory->real_path);
  (void)closedir(stream);
  for (size_t i = 0; good && i < paths.count; ++i) {
    good = take_file(scan, paths.items[i]);
  }
  tenon__free(paths.allocator, (void*)paths.items, paths.capacity * sizeof(const char*));
  tenon__arena_deinitialize(&paths.texts);
  return good;
}

/* ---- The list ---- */

/* What was there before and is not any more: loaded plugins stay, the others are listed once. */
static bool take_gone(scan_t* scan) {
  const tenon__registry_t* registry = scan->registry;
  for (size_t i = 0; i < registry->candidate_count; ++i) {
    tenon__plugin_candidate_t* candidate = registry->candidates[i];
    if (candidate->seen || candidate->finding.reason == TENON_PLUGIN_REASON_GONE) {
      continue;
    }
    if (candidate->state == TENON_CANDIDATE_LOADED) {
      candidate->message = "its file is no longer there";
    } else {
      tenon__candidate_refuse(candidate, (tenon__finding_t){TENON_PLUGIN_REASON_GONE, ""});
    }
    if (!list(scan, candidate)) {
      return false;
    }
  }
  return true;
}

/* Moves preferred plugins to the front, in the order of their names in the options. */
static void move_preferred(scan_t* scan) {
  size_t front = 0;
  for (const char* const* name = scan->registry->prefer; *name != NULL; ++name) {
    for (size_t i = front; i < scan->found_count; ++i) {
      tenon__plugin_candidate_t* candidate = scan->found[i];
      if (strcmp(candidate->owner.plugin, *name) == 0) {
        memmove((void*)&scan->found[front + 1], (const void*)&scan->found[front],
                (i - front) * sizeof(void*));
        scan->found[front++] = candidate;
      }
    }
  }
}

static bool make_list(scan_t* scan) {
  tenon__registry_t* registry = scan->registry;
  for (size_t i = 0; i < registry->candidate_count; ++i) {
    registry->candidates[i]->seen = false;
    if (!set(&scan->known, registry->candidates[i]->path, registry->candidates[i])) {
      return false;
    }
  }
  if (!tenon__search_path_check(&registry->search_path, &registry->trust, &registry->arena)) {
    return false;
  }
  for (size_t i = 0; i < registry->search_path.count; ++i) {
    tenon__directory_t* directory = &registry->search_path.directories[i];
    if (directory->finding.reason == TENON_PLUGIN_REASON_NONE && !scan_directory(scan, directory)) {
      return false;
    }
  }
  if (!take_gone(scan)) {
    return false;
  }
  move_preferred(scan);
  return tenon__names_resolve(registry, scan->found, scan->found_count);
}

static bool replace_list(tenon__registry_t* registry) {
  scan_t scan = {.registry = registry};
  tenon__string_map_initialize(&scan.known, registry->allocator);
  const bool good = make_list(&scan);
  if (good) {
    void* old = registry->candidates;
    const size_t old_capacity = registry->candidate_capacity;
    registry->candidates = scan.found;
    registry->candidate_count = scan.found_count;
    registry->candidate_capacity = scan.found_capacity;
    scan.found = old;
    scan.found_capacity = old_capacity;
  }
  tenon__free(registry->allocator, scan.found, scan.found_capacity * sizeof(void*));
  tenon__string_map_deinitialize(&scan.known);
  return good;
}

/* ---- Promises and reports: without the mutex ---- */

static tenon_status_t promise(tenon__registry_t* registry, tenon__plugin_candidate_t* candidate) {
  const tenon__manifest_t* manifest = candidate->manifest;
  for (size_t i = 0; i < manifest->offer_count; ++i) {
    const tenon__manifest_offer_t* offer = &manifest->offers[i];
    const char* name = offer->op[0] != '\0' ? offer->op : offer->name;
    TENON_TRY(tenon__catalog_promise(registry->catalog, &candidate->owner, offer->kind, name));
  }
  return TENON_OK;
}

/* Candidate `index` once more: what is to be done about it now? */
static tenon__plugin_candidate_t* next_task(tenon__registry_t* registry, size_t index,
                                            bool* out_promise, const char** out_message) {
  (void)pthread_mutex_lock(&registry->mutex);
  tenon__plugin_candidate_t* candidate = registry->candidates[index];
  *out_promise = candidate->state == TENON_CANDIDATE_AVAILABLE && !candidate->promised;
  candidate->promised |= *out_promise;
  const bool is_refused = candidate->state == TENON_CANDIDATE_REFUSED && !candidate->reported;
  candidate->reported |= is_refused;
  *out_message = is_refused ? candidate->message : NULL;
  (void)pthread_mutex_unlock(&registry->mutex);
  return candidate;
}

static tenon_status_t promise_and_report(tenon__registry_t* registry, const tenon_sink_t* sink) {
  tenon_status_t status = TENON_OK;
  for (size_t i = 0; status == TENON_OK && i < registry->candidate_count; ++i) {
    bool is_new = false;
    const char* message = NULL;
    tenon__plugin_candidate_t* candidate = next_task(registry, i, &is_new, &message);
    if (is_new) {
      status = promise(registry, candidate);
    }
    if (message != NULL) {
      tenon__report(sink, TENON_SEVERITY_WARNING, "plugin candidate '%s' is not used: it %s",
                    candidate->path, message);
    }
  }
  return status;
}

/* That nothing was installed yet is no reason for a warning. */
static void report_directories(const tenon__registry_t* registry, const tenon_sink_t* sink) {
  for (size_t i = 0; i < registry->search_path.count; ++i) {
    tenon__directory_t* directory = &registry->search_path.directories[i];
    const tenon__plugin_reason_t reason = directory->finding.reason;
    if (reason == TENON_PLUGIN_REASON_NONE || directory->reported) {
      continue;
    }
    const bool is_shadowed = reason == TENON_PLUGIN_REASON_SHADOWED; /* its words say all */
    const bool is_quiet = is_shadowed || (reason == TENON_PLUGIN_REASON_UNREADABLE &&
                                          strcmp(directory->origin, TENON_ORIGIN_INSTALLED) == 0);
    tenon__report(sink, is_quiet ? TENON_SEVERITY_INFO : TENON_SEVERITY_WARNING,
                  "plugin directory '%s' (%s) is not searched: %s%s%s%s", directory->path,
                  directory->origin, is_shadowed ? "" : "it ",
                  is_shadowed ? "" : tenon__plugin_reason_text(reason), is_shadowed ? "" : ": ",
                  directory->finding.detail);
    directory->reported = true;
  }
}

tenon_status_t tenon__registry_scan(tenon__registry_t* registry, const tenon_sink_t* sink) {
  (void)pthread_mutex_lock(&registry->scan_mutex);
  (void)pthread_mutex_lock(&registry->mutex);
  const bool good = replace_list(registry);
  (void)pthread_mutex_unlock(&registry->mutex);
  tenon_status_t status = TENON_ERROR_OUT_OF_MEMORY;
  if (good) {
    report_directories(registry, sink);
    status = promise_and_report(registry, sink);
  }
  (void)pthread_mutex_unlock(&registry->scan_mutex);
  return status;
}
