/*
 * A plugin's manifest: the text of its note, line by line. plugin.h, section 11, defines it.
 * Additional rules:
 *   - UTF-8 without control characters, except newlines, and without marks that reverse the writing
 *     direction;
 *   - at most 64 KiB with the final NUL, at most 1024 bytes in each line; empty lines are skipped;
 *   - name, version, vendor, licence, url, abi, needed and threads at most once;
 *   - keys are lower-case letters and -; unknown keys (of later versions) are skipped, unknown
 *     values are errors.
 *
 * It gives names, versions, offers and requirements of a plugin before any of its code runs. It is
 * untrusted until the audit has succeeded.
 */
#ifndef TENON_PLUGIN_REGISTRY_MANIFEST_H_
#define TENON_PLUGIN_REGISTRY_MANIFEST_H_

#include <stdbool.h>

#include "core/base/arena.h"
#include "plugin_registry/reason.h"

enum { TENON_MANIFEST_LIMIT = 65536, TENON_MANIFEST_LINE_LIMIT = 1024 };

/* "kernel swish_avx2 acme.swish/1 cpu" is `text`, with single spaces if the kind is known. Strings
 * of all three types are in the arena of the parse. */
typedef struct tenon__manifest_offer_t {
  const char* text;
  const char* kind;
  const char* name; /* the first word after a known kind; "*": any */
  const char* op;   /* kernels: the operator, "*expressions", "*moves", "*"; else "" */
} tenon__manifest_offer_t;

typedef struct tenon__manifest_library_t {
  const char* soname;
  bool opened; /* true: at run time, through library/1; false: linked */
} tenon__manifest_library_t;

/* A plugin that must be used for this plugin to be used. */
typedef struct tenon__manifest_requirement_t {
  const char* name;
  const char* version; /* the least version, compared by version.h; "" for any */
} tenon__manifest_requirement_t;

/* `built` and `needed` are versions in the format of TENON_ABI_VERSION. Lists have the order of the
 * lines. */
typedef struct tenon__manifest_t {
  const char* name;
  const char* version;
  const char* vendor; /* "" if absent, as the next two */
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
  const tenon__manifest_requirement_t* requirements;
  size_t requirement_count;
} tenon__manifest_t;

/* Parses `text`, the note's descriptor including its NUL. Everything is copied to the arena. Linear
 * in the text. After an error *out_manifest is invalid. Reasons: MANIFEST, with the number of the
 * line; MEMORY. */
tenon__finding_t tenon__manifest_parse(tenon__arena_t* arena, const char* text, size_t size,
                                       tenon__manifest_t* out_manifest);

#endif
