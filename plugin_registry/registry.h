/*
 * The registry: finds shared objects, reads their manifests without running them, promises to the
 * catalogue what they offer, and loads those of which something is looked for.
 *
 *   scan:  for each directory of the search path, each file *.so in order of name: who can change
 * it, what kind of file it is, its manifest, the versions, the ELF audit, the policy. Nothing is
 * run. load:  the same again on one descriptor, then dlopen through that descriptor, query, compare
 * the descriptor with the manifest, start, and add everything to the catalogue.
 *
 * The search path holds absolute paths alone; the working directory is never searched. A plugin
 * that is found first hides later ones of the same name. The policies are "any" and "listed" (by
 * SHA-256); signatures are a later part.
 *
 * Several registries may live in one process. An image is loaded once for all of them and for the
 * life of the process; each registry starts it for itself and has a state of its own. All functions
 * may be called from several threads, unless they say otherwise.
 */
#ifndef TENON_PLUGIN_REGISTRY_REGISTRY_H_
#define TENON_PLUGIN_REGISTRY_REGISTRY_H_

#include <stdbool.h>

#include "plugin_registry/reason.h"

#include "core/base/digest.h"
#include "core/catalog/entry.h"

/* Owned by whoever created it; behind the application's tenon_registry_t. */
typedef struct tenon__registry_t tenon__registry_t;

/* ANY: every file that keeps the rules. LISTED: of these only those whose digest is listed, asked
 * again of the very bytes that are loaded. */
typedef enum tenon__registry_policy_t {
  TENON_REGISTRY_POLICY_ANY = 0,
  TENON_REGISTRY_POLICY_LISTED = 1,
} tenon__registry_policy_t;

/* Zeros but for allocator and catalogue are the usual ones. */
typedef struct tenon__registry_options_t {
  const char* const* paths; /* searched first; absolute, NULL-terminated; NULL: none */
  bool only_paths;          /* else TENON_PLUGIN_PATH and the installed directory follow */
  const char*
      installed_directory; /* NULL: TENON_PLUGIN_DIRECTORY, if that was defined when compiling */
  tenon__registry_policy_t policy;
  const char* const* digests;   /* LISTED: 64 hexadecimal digits each, NULL-terminated */
  const char* const* set_aside; /* absolute paths of files that are refused; NULL-terminated */
  /* Versions of the contract that this host pretends to serve; 0: those that it does. For checkers.
   */
  uint32_t abi_min_minor;
  uint32_t abi_max_minor;
  tenon_allocator_t allocator;
  tenon_sink_t sink; /* lent to plugins; must be callable from several threads */
  tenon__catalog_t* catalog;
} tenon__registry_options_t;

/* Copies the options; the allocator, the sink's user and the catalogue must live as long as the
 * registry. INVALID_ARGUMENT for a relative path among the options or a digest that is none.
 * Nothing is searched yet.
 */
tenon_status_t tenon__registry_create(const tenon__registry_options_t* options,
                                      tenon__registry_t** out_registry);
/* Stops the plugins that it started, the last one first. After the catalogue, and everything that
 * was made of what it listed, is gone. One thread. Images stay in the process. */
void tenon__registry_destroy(tenon__registry_t* registry);

/* Searches, lists and promises; called again, it looks again: new files are added, refused ones get
 * another chance, changed ones are read again (one that is loaded stays as it is). A file that is
 * refused is not a failure; only memory is. What was refused is reported to the sink, the first
 * time. Costs one look at each file and no plugin's code. It may run while others look things up:
 * indices of candidates change with it, the candidates themselves stay. */
tenon_status_t tenon__registry_scan(tenon__registry_t* registry, const tenon_sink_t* sink);

/* ---- What was found. Strings live as long as the registry. ---- */

/* A candidate may be refused by the scan or only when it is loaded; a later scan gives it another
 * chance. */
typedef enum tenon__candidate_state_t {
  TENON_CANDIDATE_AVAILABLE = 0, /* used when something it offers is looked for */
  TENON_CANDIDATE_LOADED = 1,
  TENON_CANDIDATE_REFUSED = 2,
} tenon__candidate_state_t;

/* As it is at this moment; a later scan may say otherwise. */
typedef struct tenon__candidate_info_t {
  const char* path;
  const char* name; /* "" where the manifest could not be read, like all that follow from it */
  const char* version;
  const char* vendor;
  const char* licence;
  const char* url;
  const char* offers; /* lines: "operator acme.swish/1\n" */
  uint32_t built;
  uint32_t needed;
  tenon__candidate_state_t state;
  tenon__plugin_reason_t reason; /* REFUSED: why */
  const char* message; /* REFUSED: one sentence with reason and detail, else "" or a remark */
} tenon__candidate_info_t;

/* Files that were looked at, plugins or not, in the order of the search path. */
uint32_t tenon__registry_candidate_count(tenon__registry_t* registry);
/* INVALID_ARGUMENT past the end. */
tenon_status_t tenon__registry_candidate(tenon__registry_t* registry, uint32_t index,
                                         tenon__candidate_info_t* out_info);
/* Loads candidate `index` now, whatever it offers; DENIED, UNSUPPORTED and so on when it is
 * refused. Each reason has its status: policy and permission DENIED, another machine or version
 * UNSUPPORTED, a faulty file INVALID_DATA, one that changed NOT_FOUND. The words were told. */
tenon_status_t tenon__registry_load(tenon__registry_t* registry, uint32_t index,
                                    const tenon_sink_t* sink);
/* SHA-256 of the whole file: of the image when it is loaded, else of what is there now. Remembered
 * once the plugin is loaded. */
tenon_status_t tenon__registry_digest(tenon__registry_t* registry, uint32_t index,
                                      const tenon_sink_t* sink, tenon__digest_t* out_digest);

/* A directory of the search path. Of the last scan. */
typedef struct tenon__directory_info_t {
  const char* path;
  const char* origin;            /* "options", "TENON_PLUGIN_PATH", "installed" */
  tenon__plugin_reason_t reason; /* NONE: it is searched */
  const char* message;           /* why it is not searched, and what mends it */
} tenon__directory_info_t;
uint32_t tenon__registry_directory_count(tenon__registry_t* registry);
tenon_status_t tenon__registry_directory(tenon__registry_t* registry, uint32_t index,
                                         tenon__directory_info_t* out_info);

#endif
