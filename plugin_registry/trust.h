/*
 * Who can change a file. Fine are files and directories that belong to root or to this process's
 * user and that nobody else can write. The owner's private group is not somebody else (umask 002 is
 * common). A plugin runs with the rights of the process that loads it: whoever can write the file,
 * or rename something into its place, has those rights too.
 */
#ifndef TENON_PLUGIN_REGISTRY_TRUST_H_
#define TENON_PLUGIN_REGISTRY_TRUST_H_

#include <stdbool.h>
#include <sys/stat.h>

#include "core/base/arena.h"
#include "plugin_registry/reason.h"

/* Remembers what the user database said last. Not thread safe. The effective user counts, as it was
 * when this was initialised. */
typedef struct tenon__trust_t {
  uid_t user;
  bool has_group;
  bool group_is_private;
  uid_t owner; /* the pair that the answer belongs to */
  gid_t group;
} tenon__trust_t;

/* Nothing is looked up yet, and nothing has to be freed. */
void tenon__trust_initialize(tenon__trust_t* out_trust);

/* A file, as fstat gave it. Reasons: WRITABLE_BY_OTHERS with what mends it, MEMORY. */
tenon__finding_t tenon__trust_file(tenon__trust_t* trust, tenon__arena_t* arena, const char* path,
                                   const struct stat* status);
/* A directory without symbolic links in its path, and all above it; above it a sticky directory
 * that all can write
 * (/tmp) is fine. Also UNREADABLE. */
tenon__finding_t tenon__trust_directory(tenon__trust_t* trust, tenon__arena_t* arena,
                                        const char* real_path);

#endif
