/* See set_aside.h. The file grows by one line for each crash; lines of changed files are removed
 * when the list is read. */
#include "session/set_aside.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/cache.h"
#include "text/memory.h"

/* Found before a crash, for a signal handler allocates nothing. NULL: there is no cache folder. */
static char* folder;
static char* file;

void tool_set_aside_prepare(void) {
  folder = tool_cache_path();
  file = folder != NULL ? tool_format("%s/set_aside", folder) : NULL;
}

/* ---- Within a signal handler ---- */

/* And the folder that it is in. */
static void make_folder(void) {
  char* slash = strrchr(folder, '/');
  if (slash != NULL && slash != folder) {
    *slash = '\0';
    (void)mkdir(folder, 0700);
    *slash = '/';
  }
  (void)mkdir(folder, 0700);
}

const char* tool_set_aside_note(const char* path) {
  char stamp[TOOL_STAMP_BYTES];
  tool_file_stamp(path, stamp);
  if (file == NULL || stamp[0] == '\0' || strchr(path, '\n') != NULL) {
    return "";
  }
  make_folder();
  const int descriptor =
      open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  const bool is_written =
      descriptor >= 0 && write(descriptor, stamp, strlen(stamp)) == (ssize_t)strlen(stamp);
  if (descriptor >= 0) {
    (void)close(descriptor);
  }
  return is_written ? file : "";
}

/* ---- Reading ---- */

static bool holds(const tool_list_t* list, const char* path) {
  bool found = false;
  for (size_t k = 0; k < list->count; ++k) {
    found = found || strcmp(list->items[k], path) == 0;
  }
  return found;
}

static void write_again(const tool_list_t* paths) {
  (void)unlink(file);
  for (size_t k = 0; k < paths->count; ++k) {
    (void)tool_set_aside_note(paths->items[k]);
  }
}

void tool_set_aside_list(tool_list_t* out_paths) {
  char* line = NULL;
  size_t capacity = 0;
  bool has_stale = false;
  FILE* stream = file == NULL ? NULL : fopen(file, "re");
  while (stream != NULL && getline(&line, &capacity, stream) > 0) {
    char* path = tool_file_stamp_path(line);
    const bool is_new = path != NULL && !holds(out_paths, path);
    has_stale = has_stale || !is_new;
    if (is_new) {
      tool_list_add(out_paths, path);
    } else {
      tool_free(path);
    }
  }
  free(line);
  if (stream != NULL) {
    (void)fclose(stream);
  }
  if (has_stale) {
    write_again(out_paths);
  }
}
