/* Where plugins are looked for: the caller's directories, TENON_PLUGIN_PATH, the installed
 * directory. Order is precedence: of two plugins of one name the one that is found first is used.
 */
#ifndef TENON_PLUGIN_REGISTRY_SEARCH_PATH_H_
#define TENON_PLUGIN_REGISTRY_SEARCH_PATH_H_

#include "plugin_registry/trust.h"

#define TENON_ORIGIN_OPTIONS "options"
#define TENON_ORIGIN_VARIABLE "TENON_PLUGIN_PATH"
#define TENON_ORIGIN_INSTALLED "installed"

/* In the order of the path, refused ones too, so that a listing can show them. path and finding
 * hold from one check to the next. */
typedef struct tenon__directory_t {
  const char* path;      /* as it was given */
  const char* real_path; /* without symbolic links, once it was found; else "" */
  const char* origin;    /* TENON_ORIGIN_* */
  tenon__finding_t finding;
  bool reported;
  bool is_installed; /* it is the library's own, wherever on the path it stands */
} tenon__directory_t;

typedef struct tenon__search_path_t {
  tenon__directory_t* directories;
  size_t count;
  const char* installed; /* the library's own folder, searched or not; NULL: it has none */
} tenon__search_path_t;

/* `paths` and `installed` may be NULL. Under elevated privilege the environment is not looked at.
 * Everything lies in the arena. False when memory is out. Nothing is looked up on disk yet. Empty
 * parts of the variable are passed over. */
bool tenon__search_path_make(tenon__arena_t* arena, const char* const* paths, bool only_paths,
                             const char* installed, tenon__search_path_t* out_path);
/* Finds and checks each directory, again if need be: `real_path` and `finding` are set. A directory
 * that stands there twice is SHADOWED by the first. False when memory is out. Called before each
 * scan, since directories come and go. */
bool tenon__search_path_check(tenon__search_path_t* path, tenon__trust_t* trust,
                              tenon__arena_t* arena);

#endif
