/* See file.h. */
#include "data/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text/console.h"
#include "text/interrupt.h"
#include "text/memory.h"

static tenon_status_t fail_with_errno(const char* path, const char* what) {
  const tenon_status_t status = errno == ENOENT ? TENON_ERROR_NOT_FOUND : TENON_ERROR_IO;
  return tool_fail(status, "%s: %s: %s", path, what, strerror(errno));
}

static tenon_status_t read_open_file(const char* path, int file, uint8_t** out_data,
                                     size_t* out_size) {
  struct stat about;
  if (fstat(file, &about) != 0) {
    return fail_with_errno(path, "cannot be read");
  }
  if (!S_ISREG(about.st_mode)) {
    return tool_fail(TENON_ERROR_INVALID_ARGUMENT, "%s: not a regular file", path);
  }
  const size_t size = (size_t)about.st_size;
  uint8_t* data = tool_allocate(size + 1, 1);
  size_t done = 0;
  while (done < size) {
    const ssize_t got = read(file, data + done, size - done);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      tool_free(data);
      return fail_with_errno(path, "cannot be read");
    }
    if (got == 0) {
      break; /* it became shorter meanwhile */
    }
    done += (size_t)got;
  }
  *out_data = data;
  *out_size = done;
  return TENON_OK;
}

tenon_status_t tool_file_read(const char* path, uint8_t** out_data, size_t* out_size) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    return fail_with_errno(path, "cannot be opened");
  }
  const tenon_status_t status = read_open_file(path, file, out_data, out_size);
  (void)close(file);
  return status;
}

/* One step along a link; NULL where `path` is none that can be read. */
static char* link_target(const char* path) {
  struct stat about;
  char next[PATH_MAX];
  const ssize_t length = lstat(path, &about) == 0 && S_ISLNK(about.st_mode)
                             ? readlink(path, next, sizeof(next) - 1)
                             : -1;
  if (length < 0) {
    return NULL;
  }
  next[length] = '\0';
  const int folder = next[0] == '/' ? 0 : (int)(tool_path_base(path) - path);
  return tool_format("%.*s%s", folder, path, next);
}

/* The file to replace, or to make, behind all links, as the library finds it for plans; tool_free()
 * releases it. */
static tenon_status_t find_target(const char* path, char** out_target) {
  enum { MOST_LINKS = 40 };
  struct stat about;
  char* target = tool_copy_text(path);
  int links = 0;
  while (stat(target, &about) != 0 && links < MOST_LINKS) {
    char* next = link_target(target);
    if (next == NULL) {
      *out_target = target; /* a new file */
      return TENON_OK;
    }
    tool_free(target);
    target = next;
    ++links;
  }
  const bool is_other = links < MOST_LINKS && !S_ISREG(about.st_mode);
  char* found = links < MOST_LINKS && !is_other ? realpath(target, NULL) : NULL;
  tool_free(target);
  if (is_other) {
    return tool_fail(TENON_ERROR_INVALID_ARGUMENT,
                     "%s: is not a regular file, and is not replaced by one", path);
  }
  if (found == NULL) {
    return fail_with_errno(path, "cannot be written");
  }
  *out_target = tool_copy_text(found);
  free(found);
  return TENON_OK;
}

/* A new file beside the target, which nobody else has and no link leads away from; -1 and errno.
 * Its name, which is guarded, goes to *out_name in either case. */
static int create_beside(const char* target, char** out_name) {
  enum { TRIES = 64 };
  for (int i = 0;; ++i) {
    char* name = i == 0 ? tool_format("%s.tmp-%ld", target, (long)getpid())
                        : tool_format("%s.tmp-%ld-%d", target, (long)getpid(), i);
    tool_interrupt_guard(name);
    const int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST || i == TRIES) {
      *out_name = name;
      return file;
    }
    tool_interrupt_release(name);
    tool_free(name);
  }
}

static bool write_piece(int file, const uint8_t* data, size_t size) {
  for (size_t done = 0; done < size;) {
    const ssize_t wrote = write(file, data + done, size - done);
    if (wrote < 0 && errno != EINTR) {
      return false;
    }
    done += wrote > 0 ? (size_t)wrote : 0;
  }
  return true;
}

static bool write_all(int file, const tool_pieces_t* pieces) {
  bool wrote = true;
  for (size_t i = 0; i < pieces->count && wrote; ++i) {
    wrote = write_piece(file, pieces->items[i].data, pieces->items[i].size);
  }
  return wrote;
}

tenon_status_t tool_file_write(const char* path, const void* data, size_t size) {
  tool_piece_t piece = {.data = data, .size = size};
  const tool_pieces_t pieces = {.items = &piece, .count = 1, .size = size};
  return tool_file_write_pieces(path, &pieces);
}

tenon_status_t tool_file_write_pieces(const char* path, const tool_pieces_t* pieces) {
  char* target = NULL;
  char* temporary = NULL;
  tenon_status_t status = find_target(path, &target);
  if (status != TENON_OK) {
    return status;
  }
  const int file = create_beside(target, &temporary);
  if (file < 0) {
    status = fail_with_errno(path, "cannot be written");
  } else {
    const bool wrote = write_all(file, pieces);
    const int reason = errno;
    const bool closed = close(file) == 0;
    errno = wrote ? errno : reason;
    if (!wrote || !closed || rename(temporary, target) != 0) {
      status = fail_with_errno(path, "cannot be written");
      (void)unlink(temporary);
    }
  }
  tool_interrupt_release(temporary);
  tool_free(temporary);
  tool_free(target);
  return status;
}

/* The folder that `path` lies in; freed by tool_free. */
static char* folder_of(const char* path) {
  const char* base = tool_path_base(path);
  if (base == path) {
    return tool_copy_text(".");
  }
  return base == path + 1 ? tool_copy_text("/") : tool_copy_bytes(path, (size_t)(base - path) - 1);
}

tenon_status_t tool_file_check(const char* option, const char* path) {
  struct stat about;
  if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
    return tool_misuse("%s %s: is %s; name a file", option, path,
                       S_ISDIR(about.st_mode) ? "a folder" : "no regular file");
  }
  char* folder = folder_of(path);
  const bool good = access(folder, W_OK | X_OK) == 0;
  const int reason = errno;
  tool_free(folder);
  return good ? TENON_OK
              : tool_fail(TENON_ERROR_IO, "%s %s: cannot be written: %s", option, path,
                          strerror(reason));
}

tenon_status_t tool_file_check_other(const char* option, const char* path, const char* read) {
  struct stat a;
  struct stat b;
  const bool same = read != NULL && stat(path, &a) == 0 && stat(read, &b) == 0 &&
                    a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  return same ? tool_misuse("%s %s: would be written over %s, which is read; name another file",
                            option, path, read)
              : TENON_OK;
}

tenon_status_t tool_folder_check(const char* option, const char* path) {
  char* part = tool_copy_text(path);
  tenon_status_t status = TENON_OK;
  struct stat about;
  /* The nearest that is there. */
  while (stat(part, &about) != 0 && errno == ENOENT) {
    char* above = folder_of(part);
    tool_free(part);
    part = above;
  }
  if (stat(part, &about) == 0 && !S_ISDIR(about.st_mode)) {
    status = tool_fail(TENON_ERROR_INVALID_ARGUMENT, "%s %s: %s is no folder", option, path, part);
  } else if (access(part, W_OK | X_OK) != 0) {
    status =
        tool_fail(TENON_ERROR_IO, "%s %s: cannot be written: %s", option, path, strerror(errno));
  }
  tool_free(part);
  return status;
}

bool tool_file_exists(const char* path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

bool tool_folder_exists(const char* path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

tenon_status_t tool_folder_make(const char* path) {
  char* part = tool_copy_text(path);
  tenon_status_t status = TENON_OK;
  for (char* end = part + 1; status == TENON_OK && end != NULL;) {
    end = strchr(end, '/');
    if (end != NULL) {
      *end = '\0';
    }
    if (!tool_folder_exists(part) && mkdir(part, 0700) != 0 && errno != EEXIST) {
      status = fail_with_errno(part, "cannot be made");
    }
    if (end != NULL) {
      *end++ = '/';
    }
  }
  tool_free(part);
  return status;
}

const char* tool_path_base(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

char* tool_path_copy_trimmed(const char* path) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') {
    --length;
  }
  return tool_copy_bytes(path, length);
}

bool tool_path_has_suffix(const char* path, const char* suffix) {
  const size_t length = strlen(path);
  const size_t wanted = strlen(suffix);
  return length >= wanted && strcasecmp(path + length - wanted, suffix) == 0;
}
