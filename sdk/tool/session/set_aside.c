/* See set_aside.h. The file grows by one line for each crash; lines of changed files are removed
 * when the list is read. */
#include "session/set_aside.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/cache.h"
#include "text/memory.h"

static char folder[PATH_MAX];
static char file[PATH_MAX];

void tool_set_aside_prepare(void) {
  const char* base = getenv("XDG_CACHE_HOME");
  const char* home = getenv("HOME");
  int used = 0;
  if (base != NULL && base[0] == '/') {
    used = snprintf(folder, sizeof folder, "%s/tenon", base);
  } else if (home != NULL && home[0] == '/') {
    used = snprintf(folder, sizeof folder, "%s/.cache/tenon", home);
  }
  const int length = snprintf(file, sizeof file, "%.*s/set_aside", used, folder);
  if (used <= 0 || used >= (int)sizeof folder || length >= (int)sizeof file) {
    file[0] = '\0';
  }
}

/* ---- Within a signal handler ---- */

typedef struct line_t {
  char text[PATH_MAX + 64];
  size_t used;
} line_t;

static void add_text(line_t* line, const char* text) {
  while (*text != '\0' && line->used < sizeof line->text) {
    line->text[line->used++] = *text++;
  }
}

static void add_number(line_t* line, long long number, int least_digits) {
  char digits[24];
  size_t at = sizeof digits - 1;
  digits[at] = '\0';
  do {
    digits[--at] = (char)('0' + number % 10);
    number /= 10;
    --least_digits;
  } while ((number > 0 || least_digits > 0) && at > 0);
  add_text(line, digits + at);
}

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
  struct stat about;
  line_t line = {.used = 0};
  if (file[0] == '\0' || strchr(path, '\n') != NULL || stat(path, &about) != 0) {
    return "";
  }
  add_text(&line, path);
  add_text(&line, " ");
  add_number(&line, (long long)about.st_size, 1);
  add_text(&line, " ");
  add_number(&line, (long long)about.st_mtim.tv_sec, 1);
  add_text(&line, ".");
  add_number(&line, about.st_mtim.tv_nsec, 9);
  add_text(&line, "\n");
  make_folder();
  const int descriptor =
      open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  const bool is_written =
      descriptor >= 0 && write(descriptor, line.text, line.used) == (ssize_t)line.used;
  if (descriptor >= 0) {
    (void)close(descriptor);
  }
  return is_written ? file : "";
}

/* ---- Reading ---- */

/* The path of a line if its file is as it was, else NULL. Freed by tool_free. */
static char* unchanged_path(const char* line) {
  char* path = tool_copy_text(line);
  for (int k = 0; k < 2; ++k) { /* without size and time */
    char* space = strrchr(path, ' ');
    if (space != NULL) {
      *space = '\0';
    }
  }
  char* stamp = tool_file_stamp(path);
  const bool is_same = path[0] == '/' && strcmp(stamp, line) == 0;
  tool_free(stamp);
  if (!is_same) {
    tool_free(path);
    return NULL;
  }
  return path;
}

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
  FILE* stream = file[0] == '\0' ? NULL : fopen(file, "re");
  while (stream != NULL && getline(&line, &capacity, stream) > 0) {
    char* path = unchanged_path(line);
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
