/* Confined opening: openat2 where the kernel has it, else one openat for each folder on the way. */
#include "core/base/file_inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TENON_OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, TENON_OPEN_RETRIES = 16 };

/* The first component of `path`, its length; what follows it, without slashes. */
static size_t split(const char** inout_path) {
  const char* path = *inout_path;
  const size_t length = strcspn(path, "/");
  *inout_path = path + length + strspn(path + length, "/");
  return length;
}

bool tenon__path_stays_inside(const char* path) {
  if (path[0] == '\0' || path[0] == '/') {
    return false;
  }
  while (*path != '\0') {
    const char* component = path;
    if (split(&path) == 2 && memcmp(component, "..", 2) == 0) {
      return false;
    }
  }
  return true;
}

/* One step: a symbolic link gives ELOOP. */
static int open_step(int folder, const char* component, size_t length, bool last) {
  char name[NAME_MAX + 1];
  if (length >= sizeof(name)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(name, component, length);
  name[length] = '\0';
  const int flags = last ? TENON_OPEN_FLAGS : O_PATH | O_DIRECTORY | O_CLOEXEC;
  const int descriptor = openat(folder, name, flags | O_NOFOLLOW);
  if (descriptor < 0 && errno == ENOTDIR) {
    struct stat status;
    const bool link =
        fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
    errno = link ? ELOOP : ENOTDIR;
  }
  return descriptor;
}

int tenon__open_inside_by_steps(int folder, const char* path) {
  int at = folder;
  do {
    const char* component = path;
    const size_t length = split(&path);
    const int next = open_step(at, component, length, *path == '\0');
    if (at != folder) {
      const int reason = errno;
      (void)close(at);
      errno = reason;
    }
    at = next;
  } while (at >= 0 && *path != '\0');
  return at;
}

int tenon__open_inside(int folder, const char* path) {
  const struct open_how how = {.flags = (uint64_t)TENON_OPEN_FLAGS,
                               .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
  /* EAGAIN: a rename nearby made the kernel unsure. */
  for (int i = 0; i < TENON_OPEN_RETRIES; ++i) {
    const long descriptor = syscall(SYS_openat2, folder, path, &how, sizeof(how));
    if (descriptor >= 0) {
      return (int)descriptor;
    }
    if (errno == ENOSYS || errno == EPERM) { /* old, or a filter that does not know the call */
      return tenon__open_inside_by_steps(folder, path);
    }
    if (errno != EAGAIN && errno != EINTR) {
      break;
    }
  }
  return -1;
}
