/*
 * The registry finds shared objects, reads their manifests without running them, declares their
 * offers to the catalogue, and loads plugins when one of their items is looked up.
 *
 *   scan: checks each file *.so in each directory of the search path, in order of name: write
 *   permissions, kind of file, manifest, versions, ELF audit, policy. No code of a plugin runs.
 *   load: repeats the checks on one descriptor, then calls dlopen through that descriptor, queries
 *   the plugin, compares its description with the manifest, starts it, and adds its items to the
 *   catalogue.
 *
 * The search path has absolute paths only; the working directory is never searched. Of several
 * plugins with one name the newest version is used, of equal versions the first that is found; a
 * plugin in use keeps its name. A plugin is refused if a plugin that it requires is not used. The
 * policies are "any" and "listed" (by SHA-256).
 *
 * Several registries may live in one process. An image is loaded once for all of them and for the
 * life of the process; each registry starts it separately and has its own state. Several threads
 * may call all functions, unless stated otherwise.
 */
#ifndef TENON_PLUGIN_REGISTRY_REGISTRY_H_
#define TENON_PLUGIN_REGISTRY_REGISTRY_H_

#include <stdbool.h>

#include "plugin_registry/reason.h"

#include "core/base/digest.h"
#include "core/catalog/entry.h"

/* Owned by its creator; it implements the application's tenon_registry_t. */
typedef struct tenon__registry_t tenon__registry_t;

/* ANY: all files that comply with the rules. LISTED: only those with a listed digest, which is
 * checked again on the loaded bytes. */
typedef enum tenon__registry_policy_t {
  TENON_REGISTRY_POLICY_ANY = 0,
  TENON_REGISTRY_POLICY_LISTED = 1,
} tenon__registry_policy_t;

/* Zeros are the defaults, except for allocator and catalogue. */
typedef struct tenon__registry_options_t {
  const char* const* paths;        /* searched first; absolute, NULL-terminated; NULL: none */
  bool only_paths;                 /* else TENON_PLUGIN_PATH and the installed directory follow */
  const char* installed_directory; /* NULL: TENON_PLUGIN_DIRECTORY, if defined at compile time */
  tenon__registry_policy_t policy;
  const char* const* digests;   /* LISTED: 64 hexadecimal digits each, NULL-terminated */
  const char* const* set_aside; /* absolute paths of files that are refused; NULL-terminated */
  /* Names of plugins whose converters, parsers and devices take precedence over those of all
   * others, the first name first. They are listed first. NULL-terminated; NULL: none. */
  const char* const* prefer;
  /* Versions of the contract that this host claims to support; 0: the actual ones. For checkers. */
  uint32_t abi_min_minor;
  uint32_t abi_max_minor;
  tenon_allocator_t allocator;
  tenon_sink_t sink; /* passed to plugins; must be callable from several threads */
  tenon__catalog_t* catalog;
} tenon__registry_options_t;

/* Copies the options; the allocator, the sink's user and the catalogue must live as long as the
 * registry. Searches nothing yet. Returns INVALID_ARGUMENT for a relative path or an invalid digest
 * in the options. */
tenon_status_t tenon__registry_create(const tenon__registry_options_t* options,
                                      tenon__registry_t** out_registry);
/* Stops the plugins that it has started, the last one first. Call it after the catalogue and all
 * objects that use its entries are destroyed. One thread. Images stay in the process. */
void tenon__registry_destroy(tenon__registry_t* registry);

/* Searches for files, lists them, and declares their items. A later call adds new files, checks
 * refused ones again, and reads changed ones again, except loaded ones. A refused file is reported
 * to the sink once and is not a failure. Inspects each file and runs no plugin's code. Other
 * threads may look items up in parallel. Indices of candidates may change; the candidates stay.
 * Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__registry_scan(tenon__registry_t* registry, const tenon_sink_t* sink);

/* ---- Results. Strings live as long as the registry. ---- */

/* A candidate may be refused by the scan, or when it is loaded. A later scan checks it again. */
typedef enum tenon__candidate_state_t {
  TENON_CANDIDATE_AVAILABLE = 0, /* loaded when one of its items is looked up */
  TENON_CANDIDATE_LOADED = 1,
  TENON_CANDIDATE_REFUSED = 2,
} tenon__candidate_state_t;

/* The current state; a later scan may change it. */
typedef struct tenon__candidate_info_t {
  const char* path;
  const char* name; /* "" if the manifest could not be read, as the next members */
  const char* version;
  const char* vendor;
  const char* licence;
  const char* url;
  const char* offers; /* lines: "operator acme.swish/1\n" */
  uint32_t built;
  uint32_t needed;
  tenon__candidate_state_t state;
  tenon__plugin_reason_t reason; /* REFUSED: the reason */
  const char* message; /* REFUSED: one sentence with reason and detail, else "" or a remark */
} tenon__candidate_info_t;

/* Returns the number of inspected files, plugins or not, in the order of the search path. */
uint32_t tenon__registry_candidate_count(tenon__registry_t* registry);
/* Returns INVALID_ARGUMENT past the end. */
tenon_status_t tenon__registry_candidate(tenon__registry_t* registry, uint32_t index,
                                         tenon__candidate_info_t* out_info);
/* Loads candidate `index` now, regardless of its offers. If it is refused, a message is sent and
 * the status depends on the reason: DENIED for policy and permissions, UNSUPPORTED for another
 * machine or version, INVALID_DATA for a faulty file, NOT_FOUND for one that has changed. */
tenon_status_t tenon__registry_load(tenon__registry_t* registry, uint32_t index,
                                    const tenon_sink_t* sink);
/* Computes SHA-256 of the whole file: of the image if it is loaded, else of the present file.
 * Stored after the plugin is loaded. */
tenon_status_t tenon__registry_digest(tenon__registry_t* registry, uint32_t index,
                                      const tenon_sink_t* sink, tenon__digest_t* out_digest);

/* A directory of the search path, from the last scan. */
typedef struct tenon__directory_info_t {
  const char* path;
  const char* origin;            /* "options", "TENON_PLUGIN_PATH", "installed" */
  tenon__plugin_reason_t reason; /* NONE: it is searched */
  const char* message;           /* the reason why it is not searched, and the remedy */
} tenon__directory_info_t;
uint32_t tenon__registry_directory_count(tenon__registry_t* registry);
tenon_status_t tenon__registry_directory(tenon__registry_t* registry, uint32_t index,
                                         tenon__directory_info_t* out_info);

#endif
