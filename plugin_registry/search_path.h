/* The search path of plugins: the caller's directories, TENON_PLUGIN_PATH, the installed directory.
 * Of two plugins of one name, the first is used. */
#ifndef TENON_PLUGIN_REGISTRY_SEARCH_PATH_H_
#define TENON_PLUGIN_REGISTRY_SEARCH_PATH_H_

#include "plugin_registry/trust.h"

#define TENON_ORIGIN_OPTIONS "options"
#define TENON_ORIGIN_VARIABLE "TENON_PLUGIN_PATH"
#define TENON_ORIGIN_INSTALLED "installed"

/* One directory, in the order of the path. Refused ones are included for listings. `path` and
 * `finding` are valid until the next check. */
typedef struct tenon__directory_t {
  const char* path;      /* as given */
  const char* real_path; /* without symbolic links, if it was found, else "" */
  const char* origin;    /* TENON_ORIGIN_* */
  tenon__finding_t finding;
  bool reported;
  bool is_installed; /* the library's own directory, at any position of the path */
} tenon__directory_t;

typedef struct tenon__search_path_t {
  tenon__directory_t* directories;
  size_t count;
  const char* installed; /* the library's own folder, searched or not; may be NULL */
} tenon__search_path_t;

/* Makes the search path in the arena, without access to the disk. `paths` and `installed` may be
 * NULL. With elevated privileges the environment is ignored. Empty parts of the variable are
 * skipped. Returns false if out of memory. */
bool tenon__search_path_make(tenon__arena_t* arena, const char* const* paths, bool only_paths,
                             const char* installed, tenon__search_path_t* out_path);
/* Finds and checks each directory and sets `real_path` and `finding`. A repeated directory is
 * SHADOWED by the first. Called before each scan, because directories may change. Returns false if
 * out of memory. */
bool tenon__search_path_check(tenon__search_path_t* path, tenon__trust_t* trust,
                              tenon__arena_t* arena);

#endif
