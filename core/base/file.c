/* Files: mapped for reading, written whole, and the clock. */
#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/allocator.h"
#include "core/base/status.h"

enum { TENON_OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, TENON_OPEN_RETRIES = 16 };

static tenon_status_t status_of(int reason) {
  switch (reason) {
    case ENOENT:
    case ENOTDIR:
      return TENON_ERROR_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
    case EXDEV:
      return TENON_ERROR_DENIED;
    case ENOMEM:
      return TENON_ERROR_OUT_OF_MEMORY;
    case ENAMETOOLONG:
    case EISDIR:
      return TENON_ERROR_INVALID_ARGUMENT;
    default:
      return TENON_ERROR_IO;
  }
}

/* "cannot WHAT 'path': reason", with the status that fits errno's value. */
static tenon_status_t fail_with_reason(const tenon_sink_t* sink, const char* what, const char* path,
                                       int reason) {
  char message[128];
  return tenon__fail(sink, status_of(reason), "cannot %s '%s': %s", what, path,
                     strerror_r(reason, message, sizeof(message)));
}

/* Owns `descriptor` only on success. */
static tenon_status_t map_regular(int descriptor, const char* path, const tenon_sink_t* sink,
                                  tenon__mapped_file_t* out_file) {
  static const uint8_t nothing[1] = {0};
  struct stat status;
  if (fstat(descriptor, &status) != 0) {
    return fail_with_reason(sink, "examine", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT, "'%s' is not a regular file", path);
  }
  const size_t size = (size_t)status.st_size;
  const void* data = nothing;
  if (size > 0) {
    data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) {
      return fail_with_reason(sink, "map", path, errno);
    }
  }
  *out_file = (tenon__mapped_file_t){.data = data, .size = size, .descriptor = descriptor};
  return TENON_OK;
}

static tenon_status_t map_descriptor(int descriptor, const char* path, const tenon_sink_t* sink,
                                     tenon__mapped_file_t* out_file) {
  const tenon_status_t status = map_regular(descriptor, path, sink, out_file);
  if (status != TENON_OK) {
    (void)close(descriptor);
  }
  return status;
}

tenon_status_t tenon__file_map(const char* path, const tenon_sink_t* sink,
                               tenon__mapped_file_t* out_file) {
  /* Not blocking: opening a pipe that nobody writes to must not wait. */
  const int descriptor = open(path, TENON_OPEN_FLAGS);
  if (descriptor < 0) {
    return fail_with_reason(sink, "open", path, errno);
  }
  return map_descriptor(descriptor, path, sink, out_file);
}

tenon_status_t tenon__file_map_inside(const char* folder, const char* path,
                                      const tenon_sink_t* sink, tenon__mapped_file_t* out_file) {
  const char* folder_path = folder[0] != '\0' ? folder : ".";
  if (!tenon__path_stays_inside(path)) {
    return tenon__fail(sink, TENON_ERROR_DENIED,
                       "'%s' is not a path inside '%s': it is empty, absolute or contains '..'",
                       path, folder_path);
  }
  const int folder_descriptor = open(folder_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder_descriptor < 0) {
    return fail_with_reason(sink, "open folder", folder_path, errno);
  }
  const int descriptor = tenon__open_inside(folder_descriptor, path);
  const int reason = errno;
  (void)close(folder_descriptor);
  if (descriptor < 0 && (reason == EXDEV || reason == ELOOP)) {
    return tenon__fail(sink, TENON_ERROR_DENIED, "'%s' leads outside of '%s' by a symbolic link",
                       path, folder_path);
  }
  if (descriptor < 0) {
    return fail_with_reason(sink, "open", path, reason);
  }
  return map_descriptor(descriptor, path, sink, out_file);
}

void tenon__file_expect_rare_reads(const tenon__mapped_file_t* file, const void* data,
                                   size_t size) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  const size_t skipped = (size_t)(-(uintptr_t)data % page); /* to the first whole page */
  const size_t whole = size < skipped ? 0 : (size - skipped) / page * page;
  if (file->size > 0 && whole > 0) {
    char* begin = tenon__drop_const(data);
    (void)madvise(begin + skipped, whole, MADV_NOHUGEPAGE);
  }
}

void tenon__file_unmap(tenon__mapped_file_t* file) {
  if (file->size > 0) {
    (void)munmap(tenon__drop_const(file->data), file->size);
  }
  if (file->descriptor >= 0) {
    (void)close(file->descriptor);
  }
  *file = (tenon__mapped_file_t){.data = NULL, .size = 0, .descriptor = -1};
}

const void* tenon__zeros_map(size_t size_bytes) {
  const void* zeros =
      mmap(NULL, size_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return zeros == MAP_FAILED ? NULL : zeros;
}

void tenon__zeros_unmap(const void* zeros, size_t size_bytes) {
  if (zeros != NULL) {
    (void)munmap(tenon__drop_const(zeros), size_bytes);
  }
}

/* Where a dangling link leads becomes the path. False and errno. */
static bool follow_link(char inout_path[PATH_MAX]) {
  char target[PATH_MAX];
  char joined[PATH_MAX];
  const ssize_t length = readlink(inout_path, target, sizeof(target) - 1);
  if (length < 0) {
    return false;
  }
  target[length] = '\0';
  const char* slash = target[0] == '/' ? NULL : strrchr(inout_path, '/');
  const int folder = slash == NULL ? 0 : (int)(slash - inout_path) + 1;
  const int size = snprintf(joined, sizeof(joined), "%.*s%s", folder, inout_path, target);
  if (size < 0 || size >= PATH_MAX) {
    errno = ENAMETOOLONG;
    return false;
  }
  memcpy(inout_path, joined, (size_t)size + 1);
  return true;
}

/* The file to replace, or to make, behind all links: they stay. What is no regular file is nobody's
 * to replace. */
static tenon_status_t find_target(const char* path, const tenon_sink_t* sink,
                                  char out_target[PATH_MAX]) {
  enum { MOST_LINKS = 40 };
  struct stat status;
  const int size = snprintf(out_target, PATH_MAX, "%s", path);
  if (size < 0 || size >= PATH_MAX) {
    return fail_with_reason(sink, "write", path, ENAMETOOLONG);
  }
  for (int links = 0; links < MOST_LINKS; ++links) {
    if (stat(out_target, &status) == 0) {
      char real[PATH_MAX];
      if (!S_ISREG(status.st_mode)) {
        return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                           "'%s' is not a regular file, and is not replaced by one", path);
      }
      if (realpath(out_target, real) == NULL) {
        return fail_with_reason(sink, "write", path, errno);
      }
      memcpy(out_target, real, strlen(real) + 1);
      return TENON_OK;
    }
    if (errno != ENOENT || lstat(out_target, &status) != 0) {
      /* A new file, or a folder that is not there: creating it will tell. */
      return errno == ENOENT ? TENON_OK : fail_with_reason(sink, "write", path, errno);
    }
    if (!follow_link(out_target)) {
      return fail_with_reason(sink, "write", path, errno);
    }
  }
  return fail_with_reason(sink, "write", path, ELOOP);
}

/* Creates a file beside `path` that nobody else has; its name goes to `out_name`. -1 and errno. */
static int create_beside(const char* path, char out_name[PATH_MAX]) {
  enum { TENON_NAME_TRIES = 64 };
  for (int i = 0; i < TENON_NAME_TRIES; ++i) {
    const int length = i == 0
                           ? snprintf(out_name, PATH_MAX, "%s.tmp-%ld", path, (long)getpid())
                           : snprintf(out_name, PATH_MAX, "%s.tmp-%ld-%d", path, (long)getpid(), i);
    if (length < 0 || length >= PATH_MAX) {
      errno = ENAMETOOLONG;
      return -1;
    }
    const int descriptor =
        open(out_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (descriptor >= 0 || errno != EEXIST) {
      return descriptor;
    }
  }
  return -1;
}

/* 0 or errno's value. */
static int write_all(int descriptor, const uint8_t* data, size_t size_bytes, size_t rare_offset) {
  enum { RARE_PIECE = 16 * 1024 };
  size_t done = 0;
  while (done < size_bytes) {
    size_t piece = size_bytes - done;
    if (done < rare_offset && rare_offset < size_bytes) {
      piece = rare_offset - done;
    } else if (done >= rare_offset && piece > RARE_PIECE) {
      piece = RARE_PIECE;
    }
    const ssize_t written = write(descriptor, data + done, piece);
    if (written < 0 && errno != EINTR) {
      return errno;
    }
    done += written > 0 ? (size_t)written : 0;
  }
  return fsync(descriptor) == 0 ? 0 : errno;
}

tenon_status_t tenon__file_write(const char* path, const void* data, size_t size_bytes,
                                 const tenon_sink_t* sink) {
  return tenon__file_write_rare(path, data, size_bytes, size_bytes, sink);
}

tenon_status_t tenon__file_write_rare(const char* path, const void* data, size_t size_bytes,
                                      size_t rare_offset, const tenon_sink_t* sink) {
  char name[PATH_MAX];
  char target[PATH_MAX];
  TENON_TRY(find_target(path, sink, target));
  const int descriptor = create_beside(target, name);
  if (descriptor < 0) {
    return fail_with_reason(sink, "create a file beside", path, errno);
  }
  int reason = write_all(descriptor, data, size_bytes, rare_offset);
  if (close(descriptor) != 0 && reason == 0) {
    reason = errno;
  }
  if (reason == 0 && rename(name, target) != 0) {
    reason = errno;
  }
  if (reason != 0) {
    (void)unlink(name);
    return fail_with_reason(sink, "write", path, reason);
  }
  return TENON_OK;
}

double tenon__seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- Confined: openat2 where the kernel has it, else one openat for each folder on the way ----
 */

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
