/* Entries of the catalogue: a descriptor, its owner, and the results of checks. */
#ifndef TENON_CORE_CATALOG_ENTRY_H_
#define TENON_CORE_CATALOG_ENTRY_H_

#include "core/base/digest.h"

typedef struct tenon__catalog_t tenon__catalog_t;

/* The source of descriptors. Filled by the registry; the strings outlive the catalogue. */
typedef struct tenon__owner_t {
  const char* plugin;
  const char* version;
  const char* path;     /* "" for static ones */
  uint32_t built;       /* the version of the contract it was compiled with; 0: this host's */
  bool is_installed;    /* ships with the library */
  bool is_preferred;    /* the application prefers its converters, parsers and devices */
  uint32_t search_rank; /* position on the search path; lower takes precedence */
  void* state;          /* the result of `start`; set when make_ready returns OK */
  /* Called once, at the first look-up of an item that this owner has declared. Loads the plugin and
   * calls tenon__catalog_add for each offering. A failure is remembered; its message is sent to the
   * sink. NULL: everything has been added already. */
  tenon_status_t (*make_ready)(void* user, struct tenon__owner_t* owner, tenon__catalog_t* catalog,
                               const tenon_sink_t* sink);
  void* user;
  /* Computes the digest of the whole file, when a plan needs it. NULL for static owners. */
  tenon_status_t (*digest)(void* user, const struct tenon__owner_t* owner, const tenon_sink_t* sink,
                           tenon__digest_t* out_digest);
} tenon__owner_t;

/* Results of checks of an entry after it was added. Under the catalogue's lock. */
typedef struct tenon__admission_t {
  const char* fault; /* reason of its rejection; NULL: accepted */
  bool is_checked;   /* its expressions were checked */
  bool is_tried;     /* a rewrite was tried on numbers */
} tenon__admission_t;

/* An entry has the plugin's descriptor in full size (absent members are zero), its owner, and the
 * check result. Entries are in the catalogue's arena and never move; only the check result
 * changes. */
#define TENON_ENTRIES(X)               \
  X(kernel, tenon_kernel_t)            \
  X(device, tenon_device_descriptor_t) \
  X(parser, tenon_parser_t)            \
  X(converter, tenon_converter_t)      \
  X(rewrite, tenon_rewrite_t)
#define TENON_ENTRY(name, type)            \
  typedef struct tenon__##name##_entry_t { \
    type name;                             \
    const tenon__owner_t* owner;           \
    tenon__admission_t* verdict;           \
  } tenon__##name##_entry_t;
TENON_ENTRIES(TENON_ENTRY)
#undef TENON_ENTRY

/* A rejected offer with its reason, among the plugins loaded so far; in order of discovery. Strings
 * belong to the catalogue. */
typedef struct tenon__left_out_t {
  const char* kind; /* "converter" */
  const char* name;
  const tenon__owner_t* owner;
  const char* message;
} tenon__left_out_t;

#endif
