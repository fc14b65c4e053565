/*
 * Checks of write permissions. Accepted are files and directories that belong to root or to this
 * process's user and that no other user can write. The owner's private group is accepted (umask 002
 * is common). A plugin runs with the rights of the process that loads it, so any user who can write
 * or replace the file would gain these rights.
 */
#ifndef TENON_PLUGIN_REGISTRY_TRUST_H_
#define TENON_PLUGIN_REGISTRY_TRUST_H_

#include <stdbool.h>
#include <sys/stat.h>

#include "core/base/arena.h"
#include "plugin_registry/reason.h"

/* Caches the last result of the user database. Not thread-safe. The effective user at
 * initialisation is used. */
typedef struct tenon__trust_t {
  uid_t user;
  bool has_group;
  bool group_is_private;
  uid_t owner; /* the pair of the cached result */
  gid_t group;
} tenon__trust_t;

/* Looks nothing up yet. Nothing has to be freed. */
void tenon__trust_initialize(tenon__trust_t* out_trust);

/* Checks a file by the result of fstat. Reasons: WRITABLE_BY_OTHERS with the remedy, MEMORY. */
tenon__finding_t tenon__trust_file(tenon__trust_t* trust, tenon__arena_t* arena, const char* path,
                                   const struct stat* status);
/* Checks a directory, without symbolic links in its path, and all its parents. A sticky directory
 * that all can write (/tmp) is accepted as a parent. Same reasons, and UNREADABLE. */
tenon__finding_t tenon__trust_directory(tenon__trust_t* trust, tenon__arena_t* arena,
                                        const char* real_path);

#endif
