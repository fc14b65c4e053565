/*
 * A plugin's manifest: the text of its note, line by line. plugin.h, section 11, says what it
 * holds. Rules beyond that:
 *   - UTF-8 without control characters (newlines apart) and without marks that reverse the writing;
 *   - at most 64 KiB with the NUL that ends it, at most 1024 bytes a line; empty lines are skipped;
 *   - name, version, vendor, licence, url, abi, needed and threads at most once;
 *   - keys are lower-case letters and -; a key that is not known is skipped (a later version's), a
 * value that is not known is a fault.
 *
 * It is what is known of a plugin before any of its code runs, and so what a process starts with:
 * names, versions, offers, needs. Whoever wrote it is a stranger until the audit has agreed.
 */
#ifndef TENON_PLUGIN_REGISTRY_MANIFEST_H_
#define TENON_PLUGIN_REGISTRY_MANIFEST_H_

#include <stdbool.h>

#include "core/base/arena.h"
#include "plugin_registry/reason.h"

enum { TENON_MANIFEST_LIMIT = 65536, TENON_MANIFEST_LINE_LIMIT = 1024 };

/* "kernel swish_avx2 acme.swish/1 cpu": `text`, with single spaces where the kind is known. Strings
 * of all three types lie in the arena of the parse. */
typedef struct tenon__manifest_offer_t {
  const char* text;
  const char* kind;
  const char* name; /* the first word after a known kind; "*": any */
  const char* op;   /* kernels: the operator, "*expressions", "*moves", "*"; else "" */
} tenon__manifest_offer_t;

typedef struct tenon__manifest_library_t {
  const char* soname;
  bool opened; /* later, through library/1; else linked */
} tenon__manifest_library_t;

/* built and needed: versions as TENON_ABI_VERSION makes them. Lists keep the order of the lines. */
typedef struct tenon__manifest_t {
  const char* name;
  const char* version;
  const char* vendor; /* "" when absent, as the next two */
  const char* licence;
  const char* url;
  uint32_t built;
  uint32_t needed;
  bool own_threads;
  const tenon__manifest_offer_t* offers;
  size_t offer_count;
  const char* offers_text; /* one line each */
  const tenon__manifest_library_t* libraries;
  size_t library_count;
  const char* const* isas;
  size_t isa_count;
  const char* const* services;
  size_t service_count;
} tenon__manifest_t;

/* `text` is the note's descriptor, its NUL included. Everything is copied into the arena. Reason
 * MANIFEST, with the number of the line; or MEMORY. Linear in the text; *out_manifest is void where
 * there is a fault. */
tenon__finding_t tenon__manifest_parse(tenon__arena_t* arena, const char* text, size_t size,
                                       tenon__manifest_t* out_manifest);

#endif
