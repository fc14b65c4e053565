/* See temporary.h. */
#include "session/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "text/console.h"
#include "text/interrupt.h"
#include "text/memory.h"

enum { PLACES_MAX = 4, TRIES = 8, WRITING_SECONDS = 60 };

typedef struct place_t {
  char* parent;
  char* folder;
  int lock; /* the folder, open and locked */
  pid_t owner;
} place_t;

static place_t places[PLACES_MAX];
static size_t place_count;
static unsigned name_count;

const char* tool_temporary_parent(void) {
  const char* folder = getenv("TMPDIR");
  return folder != NULL && folder[0] == '/' ? folder : "/tmp";
}

/* ---- What others left ---- */

/* "tenon-123-..."; NAME.tmp-123 or NAME.tmp-123-1: the process, 0 for other names. */
static pid_t process_of(const char* digits, bool whole) {
  char* end = NULL;
  const long process = digits[0] >= '1' && digits[0] <= '9' ? strtol(digits, &end, 10) : 0;
  return process > 0 && (*end == '-' || (whole && *end == '\0')) ? (pid_t)process : 0;
}

/* Nobody holds its lock: the process that made it is dead. */
static bool is_left(int parent, const char* name, bool* out_is_folder) {
  struct stat about;
  const int file = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  const bool left = file >= 0 && fstat(file, &about) == 0 && about.st_uid == geteuid() &&
                    (S_ISDIR(about.st_mode) || S_ISREG(about.st_mode)) &&
                    flock(file, LOCK_EX | LOCK_NB) == 0;
  *out_is_folder = left && S_ISDIR(about.st_mode);
  if (file >= 0) {
    (void)close(file);
  }
  return left;
}

static bool is_dead(pid_t process) {
  return kill(process, 0) != 0 && errno == ESRCH;
}

/* A number may belong to another machine's or container's process: one that still writes has
 * written lately. */
static bool is_abandoned(int parent, const char* name, pid_t process) {
  struct stat about;
  return is_dead(process) && fstatat(parent, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(about.st_mode) && about.st_uid == geteuid() &&
         time(NULL) - about.st_mtim.tv_sec > WRITING_SECONDS;
}

static void collect_entry(const char* parent, int descriptor, const char* name) {
  static const char ours[] = "tenon-";
  static const char writing[] = ".tmp-";
  bool is_folder = false;
  const bool begins = strncmp(name, ours, sizeof(ours) - 1) == 0;
  const pid_t maker = begins ? process_of(name + sizeof(ours) - 1, false) : 0;
  const char* mark = strstr(name, writing);
  const pid_t writer = mark != NULL ? process_of(mark + sizeof(writing) - 1, true) : 0;
  const bool left = maker != 0 && is_left(descriptor, name, &is_folder);
  if ((left && (is_folder || is_dead(maker))) ||
      (writer != 0 && is_abandoned(descriptor, name, writer))) {
    char* path = tool_format("%s/%s", parent, name);
    tool_remove_path(path);
    tool_free(path);
  }
}

void tool_temporary_collect(const char* parent) {
  DIR* folder = opendir(parent);
  const struct dirent* entry = NULL;
  while (folder != NULL && (entry = readdir(folder)) != NULL) {
    collect_entry(parent, dirfd(folder), entry->d_name);
  }
  if (folder != NULL) {
    (void)closedir(folder);
  }
}

/* ---- Our own ---- */

static place_t* find_place(const char* parent) {
  for (size_t i = 0; i < place_count; ++i) {
    if (strcmp(places[i].parent, parent) == 0) {
      return &places[i];
    }
  }
  return NULL;
}

/* A new folder, locked; -1 and errno. Between making and locking, one that collects may take it. */
static int make_folder(const char* parent, char** out_folder) {
  for (int i = 0; i < TRIES; ++i) {
    struct stat about;
    char* folder = tool_format("%s/tenon-%ld-XXXXXX", parent, (long)getpid());
    if (mkdtemp(folder) == NULL) {
      tool_free(folder);
      return -1;
    }
    const int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0 && flock(lock, LOCK_EX) == 0 && fstat(lock, &about) == 0 && about.st_nlink > 0) {
      *out_folder = folder;
      return lock;
    }
    if (lock >= 0) {
      (void)close(lock);
    }
    (void)rmdir(folder);
    tool_free(folder);
  }
  return -1;
}

tenon_status_t tool_temporary_begin(const char* parent) {
  char* folder = NULL;
  if (find_place(parent) != NULL) {
    return TENON_OK;
  }
  tool_temporary_collect(parent);
  const int lock = place_count < PLACES_MAX ? make_folder(parent, &folder) : -1;
  if (lock < 0) {
    return tool_fail(TENON_ERROR_IO, "%s: a temporary folder cannot be made there: %s", parent,
                     strerror(errno));
  }
  places[place_count++] = (place_t){tool_copy_text(parent), folder, lock, getpid()};
  tool_interrupt_guard(folder);
  return TENON_OK;
}

tenon_status_t tool_temporary_name(const char* parent, char** out_path) {
  const tenon_status_t status = tool_temporary_begin(parent);
  if (status == TENON_OK) {
    *out_path =
        tool_format("%s/%ld-%u.plan", find_place(parent)->folder, (long)getpid(), name_count++);
  }
  return status;
}

void tool_temporary_remove_of(pid_t child) {
  char* prefix = tool_format("%ld-", (long)child);
  for (size_t i = 0; i < place_count; ++i) {
    DIR* folder = opendir(places[i].folder);
    const struct dirent* entry = NULL;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
      if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
      }
    }
    if (folder != NULL) {
      (void)closedir(folder);
    }
  }
  tool_free(prefix);
}

void tool_temporary_end(void) {
  for (size_t i = 0; i < place_count; ++i) {
    if (places[i].owner == getpid()) {
      tool_remove_path(places[i].folder);
      tool_interrupt_release(places[i].folder);
    }
    (void)close(places[i].lock);
    tool_free(places[i].folder);
    tool_free(places[i].parent);
  }
  place_count = 0;
}
