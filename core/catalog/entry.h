/* What stands in the catalogue: something on offer, whose it is, and what turned out about it. */
#ifndef TENON_CORE_CATALOG_ENTRY_H_
#define TENON_CORE_CATALOG_ENTRY_H_

#include "core/base/digest.h"

typedef struct tenon__catalog_t tenon__catalog_t;

/* Who offers something. Filled by the registry; the strings outlive the catalogue. */
typedef struct tenon__owner_t {
  const char* plugin;
  const char* version;
  const char* path;     /* "" for static ones */
  uint32_t built;       /* the version of the contract it was compiled with; 0: this host's */
  bool is_installed;    /* ships with the library */
  uint32_t search_rank; /* on the search path; the lower is heard first */
  void* state;          /* what `start` returned; set by the time make_ready returns OK */
  /* Called once, when something that this owner promised is looked for: loads the plugin and calls
   * tenon__catalog_add for each offering. A failure is remembered; its message goes to the sink.
   * NULL: everything was added already. */
  tenon_status_t (*make_ready)(void* user, struct tenon__owner_t* owner, tenon__catalog_t* catalog,
                               const tenon_sink_t* sink);
  void* user;
  /* Digest of the whole file, made when a plan asks. NULL for static owners. */
  tenon_status_t (*digest)(void* user, const struct tenon__owner_t* owner, const tenon_sink_t* sink,
                           tenon__digest_t* out_digest);
} tenon__owner_t;

/* What turned out about something on offer after it was added. Under the catalogue's lock. */
typedef struct tenon__admission_t {
  const char* fault; /* why it is left out, NULL: it is not */
  bool is_checked;   /* its texts */
  bool is_tried;     /* a rewrite, on numbers */
} tenon__admission_t;

/* Entries: the plugin's descriptor in full size (what it lacks reads as zero), whose it is, and the
 * verdict. In the catalogue's arena, at one address for its life; only the verdict changes. */
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

/* What was left out, and why, among the plugins loaded so far; in order of discovery. Strings are
 * the catalogue's. */
typedef struct tenon__left_out_t {
  const char* kind; /* "converter" */
  const char* name;
  const tenon__owner_t* owner;
  const char* message;
} tenon__left_out_t;

#endif
