/*
 * Inspection of one file without running it. A shared object runs code as soon as it is loaded, so
 * all checks are done before, on a descriptor. Each step relies on the previous one: write
 * permissions, kind, note, versions, instruction sets, symbols.
 */
#ifndef TENON_PLUGIN_REGISTRY_INSPECT_H_
#define TENON_PLUGIN_REGISTRY_INSPECT_H_

#include "core/base/digest.h"
#include "plugin_registry/audit.h"
#include "plugin_registry/file_identity.h"
#include "plugin_registry/manifest.h"
#include "plugin_registry/trust.h"

/* The finding is NONE if and only if there is a descriptor. The manifest may be present together
 * with a finding, for listings. */
typedef struct tenon__inspection_t {
  tenon__finding_t finding;
  int descriptor; /* of the inspected file; -1 if it is refused */
  tenon__file_identity_t identity;
  const tenon__manifest_t* manifest; /* NULL if it could not be read */
} tenon__inspection_t;

/* Opens the file at an absolute path in a directory that was checked. A symbolic link is followed,
 * and the directories of its target are checked too. On success the caller owns the descriptor. The
 * call never waits for the file (a pipe). The descriptor is that of the checked file, even if its
 * name changes. Reasons: UNREADABLE, NOT_A_FILE, WRITABLE_BY_OTHERS, MEMORY. */
tenon__finding_t tenon__inspect_open(tenon__trust_t* trust, tenon__arena_t* arena, const char* path,
                                     int* out_descriptor, tenon__file_identity_t* out_identity);

/* Inspects a plugin. Detail and manifest are in `keep`. The caller owns a descriptor in the result.
 * Reads a few kilobytes of most files. `trust` is a cache and must not be shared between
 * threads. */
void tenon__inspect_plugin(tenon__trust_t* trust, tenon__arena_t* keep, const char* path,
                           tenon__abi_range_t range, tenon__inspection_t* out_result);

/* Computes SHA-256 of a whole file from its present bytes, read through the descriptor, which stays
 * open. Its position does not matter. Returns false if the file cannot be read. */
bool tenon__inspect_digest(int descriptor, uint64_t size_bytes, tenon__digest_t* out_digest);

#endif
