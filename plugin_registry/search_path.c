/* The list of directories to search. */
#include "plugin_registry/search_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t count_texts(const char* const* texts) {
  size_t count = 0;
  while (texts != NULL && texts[count] != NULL) {
    ++count;
  }
  return count;
}

static size_t count_parts(const char* text) {
  size_t count = 1;
  for (; *text != '\0'; ++text) {
    count += *text == ':';
  }
  return count;
}

static void add(tenon__search_path_t* path, const char* directory, const char* origin) {
  path->directories[path->count++] =
      (tenon__directory_t){directory, "", origin, TENON_FINDING_NONE, false, false};
}

bool tenon__search_path_make(tenon__arena_t* arena, const char* const* paths, bool only_paths,
                             const char* installed, tenon__search_path_t* out_path) {
  const char* variable = only_paths ? NULL : secure_getenv(TENON_ORIGIN_VARIABLE);
  const size_t path_count = count_texts(paths);
  const size_t room = path_count + (variable == NULL ? 0 : count_parts(variable)) + 1;
  tenon__search_path_t path = {tenon__arena_allocate(arena, room, sizeof(*path.directories)), 0,
                               NULL};
  bool good = path.directories != NULL;
  if (good && installed != NULL) {
    path.installed = tenon__arena_copy_string(arena, installed);
    good = path.installed != NULL;
  }
  for (size_t i = 0; good && i < path_count; ++i) {
    const char* copy = tenon__arena_copy_string(arena, paths[i]);
    add(&path, copy, TENON_ORIGIN_OPTIONS);
    good = copy != NULL;
  }
  if (good && variable != NULL) {
    char* rest = tenon__arena_copy_string(arena, variable);
    good = rest != NULL;
    for (char* part = good ? strsep(&rest, ":") : NULL; part != NULL; part = strsep(&rest, ":")) {
      if (*part != '\0') {
        add(&path, part, TENON_ORIGIN_VARIABLE);
      }
    }
  }
  if (good && !only_paths && installed != NULL) {
    add(&path, path.installed, TENON_ORIGIN_INSTALLED);
  }
  if (good) {
    *out_path = path;
  }
  return good;
}

static tenon__finding_t check_directory(tenon__directory_t* directory, tenon__trust_t* trust,
                                        tenon__arena_t* arena) {
  char real_path[PATH_MAX];
  directory->real_path = "";
  if (directory->path[0] != '/') {
    return (tenon__finding_t){
        TENON_PLUGIN_REASON_UNREADABLE,
        "it is not an absolute path; the working directory is never searched"};
  }
  if (realpath(directory->path, real_path) == NULL) {
    const char* detail = tenon__arena_copy_string(arena, strerror(errno));
    return tenon__finding(TENON_PLUGIN_REASON_UNREADABLE, detail);
  }
  const char* copy = tenon__arena_copy_string(arena, real_path);
  if (copy == NULL) {
    return TENON_FINDING_MEMORY;
  }
  directory->real_path = copy;
  return tenon__trust_directory(trust, arena, copy);
}

bool tenon__search_path_check(tenon__search_path_t* path, tenon__trust_t* trust,
                              tenon__arena_t* arena) {
  char installed[PATH_MAX];
  if (path->installed == NULL || realpath(path->installed, installed) == NULL) {
    installed[0] = '\0';
  }
  for (size_t i = 0; i < path->count; ++i) {
    tenon__directory_t* directory = &path->directories[i];
    directory->finding = check_directory(directory, trust, arena);
    directory->is_installed = installed[0] != '\0' && strcmp(directory->real_path, installed) == 0;
    for (size_t k = 0; k < i; ++k) {
      if (directory->real_path[0] != '\0' &&
          strcmp(path->directories[k].real_path, directory->real_path) == 0) {
        directory->finding =
            (tenon__finding_t){TENON_PLUGIN_REASON_SHADOWED, "it is on the search path twice"};
      }
    }
    if (directory->finding.reason == TENON_PLUGIN_REASON_MEMORY) {
      return false;
    }
  }
  return true;
}
