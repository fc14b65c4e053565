/* Owners, modes and private groups. */
#include "plugin_registry/trust.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* For the text of one entry of the user or group database; a group with more members than fit is
 * not private. */
#define DATABASE_BYTES 4096

void tenon__trust_initialize(tenon__trust_t* out_trust) {
  memset(out_trust, 0, sizeof(*out_trust));
  out_trust->user = geteuid();
}

/* A private group has its owner's name (or number, where nobody gave it a name) and no other
 * member. */
static bool look_up_group(uid_t owner, gid_t group) {
  char user_text[DATABASE_BYTES];
  char group_text[DATABASE_BYTES];
  struct passwd user_entry;
  struct passwd* user = NULL;
  struct group group_entry;
  struct group* entry = NULL;
  (void)getpwuid_r(owner, &user_entry, user_text, sizeof(user_text), &user);
  const int failure = getgrgid_r(group, &group_entry, group_text, sizeof(group_text), &entry);
  if (failure == ERANGE) {
    return false;
  }
  if (user == NULL || entry == NULL) {
    const bool has_members = entry != NULL && entry->gr_mem[0] != NULL;
    return owner == group && !has_members;
  }
  for (char** member = entry->gr_mem; *member != NULL; ++member) {
    if (strcmp(*member, user->pw_name) != 0) {
      return false;
    }
  }
  return user->pw_gid == group && strcmp(entry->gr_name, user->pw_name) == 0;
}

static bool is_private_group(tenon__trust_t* trust, uid_t owner, gid_t group) {
  if (!trust->has_group || trust->owner != owner || trust->group != group) {
    trust->group_is_private = look_up_group(owner, group);
    trust->owner = owner;
    trust->group = group;
    trust->has_group = true;
  }
  return trust->group_is_private;
}

static tenon__finding_t writable(const char* detail) {
  return tenon__finding(TENON_PLUGIN_REASON_WRITABLE_BY_OTHERS, detail);
}

static tenon__finding_t check(tenon__trust_t* trust, tenon__arena_t* arena, const char* path,
                              const struct stat* status, bool sticky_is_fine) {
  if (status->st_uid != 0 && status->st_uid != trust->user) {
    return writable(tenon__arena_format(arena,
                                        "'%s' belongs to user %lu, not to you or root: "
                                        "chown %lu '%s'",
                                        path, (unsigned long)status->st_uid,
                                        (unsigned long)trust->user, path));
  }
  const bool is_sticky = S_ISDIR(status->st_mode) && (status->st_mode & S_ISVTX) != 0;
  if (is_sticky && sticky_is_fine) {
    return TENON_FINDING_NONE;
  }
  const bool by_all = (status->st_mode & S_IWOTH) != 0;
  const bool by_group =
      (status->st_mode & S_IWGRP) != 0 && !is_private_group(trust, status->st_uid, status->st_gid);
  if (by_all || by_group) {
    const char* mend = by_all && by_group ? "go-w" : by_all ? "o-w" : "g-w";
    return writable(tenon__arena_format(arena, "'%s' has mode %04o: chmod %s '%s'", path,
                                        (unsigned)(status->st_mode & 07777), mend, path));
  }
  return TENON_FINDING_NONE;
}

tenon__finding_t tenon__trust_file(tenon__trust_t* trust, tenon__arena_t* arena, const char* path,
                                   const struct stat* status) {
  return check(trust, arena, path, status, false);
}

tenon__finding_t tenon__trust_directory(tenon__trust_t* trust, tenon__arena_t* arena,
                                        const char* real_path) {
  char path[PATH_MAX];
  const size_t length = strlen(real_path);
  if (length == 0 || length >= sizeof(path) || real_path[0] != '/') {
    return (tenon__finding_t){TENON_PLUGIN_REASON_UNREADABLE, "its path is too long"};
  }
  memcpy(path, real_path, length + 1);
  bool is_above = false;
  for (;;) {
    struct stat status;
    if (lstat(path, &status) != 0) {
      const char* detail = tenon__arena_format(arena, "'%s': %s", path, strerror(errno));
      return tenon__finding(TENON_PLUGIN_REASON_UNREADABLE, detail);
    }
    if (!S_ISDIR(status.st_mode)) {
      return (tenon__finding_t){TENON_PLUGIN_REASON_UNREADABLE, "it is not a directory"};
    }
    const tenon__finding_t finding = check(trust, arena, path, &status, is_above);
    if (finding.reason != TENON_PLUGIN_REASON_NONE || path[1] == '\0') {
      return finding;
    }
    char* slash = strrchr(path, '/');
    slash[slash == path] = '\0'; /* "/tmp" becomes "/" */
    is_above = true;
  }
}
