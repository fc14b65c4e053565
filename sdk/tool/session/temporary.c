/* See temporary.h. */
#include "session/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* Past digits, past `word`; NULL for other text. */
static const char* after_number(const char* text) {
  const size_t count = text != NULL ? strspn(text, "0123456789") : 0;
  return count > 0 ? text + count : NULL;
}

static const char* after_word(const char* text, const char* word) {
  const size_t length = strlen(word);
  return text != NULL && strncmp(text, word, length) == 0 ? text + length : NULL;
}

/* "tenon-PID-XXXXXX", as mkdtemp makes it. */
static bool is_folder_name(const char* name) {
  enum { LETTERS = 6 };
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  const char* end = after_word(after_number(after_word(name, "tenon-")), "-");
  return end != NULL && strlen(end) == LETTERS && strspn(end, letters) == LETTERS;
}

/* ".tmp-PID" or ".tmp-PID-1", and no more: the process; 0 for other text. */
static pid_t writer_of(const char* suffix) {
  const char* digits = after_word(suffix, ".tmp-");
  const char* end = after_number(digits);
  const char* more = after_word(end, "-");
  const char* last = more != NULL ? after_number(more) : end;
  errno = 0;
  const long process = last != NULL && *last == '\0' ? strtol(digits, NULL, 10) : 0;
  return errno == 0 && process <= INT_MAX ? (pid_t)process : 0;
}

/* "PID-1.plan", or while it is written "PID-1.plan.tmp-PID". */
static bool is_plan_name(const char* name) {
  const char* end = after_word(after_number(after_word(after_number(name), "-")), ".plan");
  return end != NULL && (*end == '\0' || writer_of(end) != 0);
}

/* Opens a folder that tool_temporary_begin made and whose maker is dead: nobody holds its lock. It
 * is locked now, until it is closed; -1 for any other. */
static int open_left(int parent, const char* name) {
  struct stat about;
  const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) {
    return -1;
  }
  if (fstat(folder, &about) == 0 && about.st_uid == geteuid() &&
      (about.st_mode & ~(mode_t)S_IFMT) == S_IRWXU && flock(folder, LOCK_EX | LOCK_NB) == 0) {
    return folder;
  }
  (void)close(folder);
  return -1;
}

/* Locked until it is gone: who has made it this moment and waits for the lock makes another. What
 * is no plan of ours stays, and the folder with it. */
static void collect_folder(int parent, const char* name) {
  const int left = open_left(parent, name);
  DIR* folder = left >= 0 ? fdopendir(left) : NULL;
  const struct dirent* entry = NULL;
  if (folder == NULL) {
    if (left >= 0) {
      (void)close(left);
    }
    return;
  }
  while ((entry = readdir(folder)) != NULL) {
    if (is_plan_name(entry->d_name)) {
      (void)unlinkat(left, entry->d_name, 0);
    }
  }
  (void)unlinkat(parent, name, AT_REMOVEDIR);
  (void)closedir(folder);
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

static void collect_written(int parent, const char* name, tool_temporary_is_ours_t is_ours) {
  const char* mark = strstr(name, ".tmp-");
  const pid_t writer = mark != NULL && is_ours(name, (size_t)(mark - name)) ? writer_of(mark) : 0;
  if (writer != 0 && is_abandoned(parent, name, writer)) {
    (void)unlinkat(parent, name, 0);
  }
}

void tool_temporary_collect(const char* parent, tool_temporary_is_ours_t is_ours) {
  DIR* folder = opendir(parent);
  const struct dirent* entry = NULL;
  while (folder != NULL && (entry = readdir(folder)) != NULL) {
    if (is_folder_name(entry->d_name)) {
      collect_folder(dirfd(folder), entry->d_name);
    } else if (is_ours != NULL) {
      collect_written(dirfd(folder), entry->d_name, is_ours);
    }
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

/* Is the open folder still what the path names? */
static bool is_there(int folder, const char* path) {
  struct stat opened;
  struct stat named;
  return fstat(folder, &opened) == 0 && stat(path, &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

/* A new folder, locked; -1 and errno. Between making and locking, one that collects may take it:
 * then it has the lock until the folder is gone. */
static int make_folder(const char* parent, char** out_folder) {
  for (int i = 0; i < TRIES; ++i) {
    char* folder = tool_format("%s/tenon-%ld-XXXXXX", parent, (long)getpid());
    if (mkdtemp(folder) == NULL) {
      tool_free(folder);
      return -1;
    }
    const int lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0 && flock(lock, LOCK_EX) == 0 && is_there(lock, folder)) {
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
  tool_temporary_collect(parent, NULL);
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
