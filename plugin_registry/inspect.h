/*
 * One file, looked at without running it: who can change it, its kind, its manifest, its versions,
 * its ELF. A shared object runs code as soon as it is opened for running. Everything here happens
 * before, on a descriptor, in an order in which each step may rely on the one before: who can
 * change it, kind, note, versions, instruction sets, symbols.
 */
#ifndef TENON_PLUGIN_REGISTRY_INSPECT_H_
#define TENON_PLUGIN_REGISTRY_INSPECT_H_

#include "core/base/digest.h"
#include "plugin_registry/audit.h"
#include "plugin_registry/file_identity.h"
#include "plugin_registry/manifest.h"
#include "plugin_registry/trust.h"

/* The finding says NONE exactly where there is a descriptor. The manifest may be there with a
 * finding: for listings. */
typedef struct tenon__inspection_t {
  tenon__finding_t finding;
  int descriptor; /* of the file that was looked at; -1 when something is wrong with it */
  tenon__file_identity_t identity;
  const tenon__manifest_t* manifest; /* NULL when it could not be read */
} tenon__inspection_t;

/* Opens the file at an absolute path in a directory that was checked. A symbolic link is followed,
 * and the directories that its target stands in are checked too. Reasons: UNREADABLE, NOT_A_FILE,
 * WRITABLE_BY_OTHERS, MEMORY. On success the descriptor is the caller's. The file is never waited
 * for (a pipe), and is the one that was checked whatever happens to its name. */
tenon__finding_t tenon__inspect_open(tenon__trust_t* trust, tenon__arena_t* arena, const char* path,
                                     int* out_descriptor, tenon__file_identity_t* out_identity);

/* A plugin. Detail and manifest lie in `keep`. A descriptor in the result is the caller's. Reads
 * some kilobytes of most files. `trust` remembers a little and is no shared thing. */
void tenon__inspect_plugin(tenon__trust_t* trust, tenon__arena_t* keep, const char* path,
                           tenon__abi_range_t range, tenon__inspection_t* out_result);

/* SHA-256 of a whole file; false when it cannot be read. Of the bytes as they are now, read from
 * the descriptor; it stays open, and its position does not matter. */
bool tenon__inspect_digest(int descriptor, uint64_t size_bytes, tenon__digest_t* out_digest);

#endif
