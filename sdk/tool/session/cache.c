/* See cache.h. */
#include "session/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "data/file.h"
#include "text/console.h"
#include "text/memory.h"

static const char file_mark[] = "file ";
static const char note_mark[] = "note ";
enum { DIGEST_BY_STAMP_BYTES = 64 << 10, WRITING_SECONDS = 600 };

char* tool_cache_path(void) {
  const char* base = getenv("XDG_CACHE_HOME");
  const char* home = getenv("HOME");
  if (base != NULL && base[0] == '/') {
    return tool_format("%s/tenon", base);
  }
  return home != NULL && home[0] == '/' ? tool_format("%s/.cache/tenon", home) : NULL;
}

char* tool_cache_folder(const char** out_message) {
  char* folder = tool_cache_path();
  if (folder == NULL) {
    *out_message = "neither XDG_CACHE_HOME nor HOME is set";
    return NULL;
  }
  char* plans = tool_format("%s/plans", folder);
  tool_console_soften(true);
  const bool made = tool_folder_make(plans) == TENON_OK && access(plans, W_OK) == 0;
  tool_console_soften(false);
  tool_free(plans);
  if (!made) {
    *out_message = "the cache folder cannot be written";
    tool_free(folder);
    return NULL;
  }
  return folder;
}

/* FNV-1a, 64 bits, from two bases. */
static uint64_t hash(const char* text, uint64_t state) {
  for (; *text != '\0'; ++text) {
    state = (state ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
  }
  return state;
}

void tool_cache_entry_make(const char* folder, char* key, tool_cache_entry_t* out_entry) {
  const uint64_t a = hash(key, UINT64_C(0xCBF29CE484222325));
  const uint64_t b = hash(key, UINT64_C(0x84222325CBF29CE4));
  out_entry->key = key;
  out_entry->folder = tool_format("%s/plans", folder);
  out_entry->plan_path =
      tool_format("%s/%016" PRIx64 "%016" PRIx64 ".plan", out_entry->folder, a, b);
  out_entry->key_path = tool_format("%s/%016" PRIx64 "%016" PRIx64 ".key", out_entry->folder, a, b);
}

void tool_cache_entry_free(tool_cache_entry_t* entry) {
  tool_free(entry->folder);
  tool_free(entry->plan_path);
  tool_free(entry->key_path);
  tool_free(entry->key);
  *entry = (tool_cache_entry_t){0};
}

/* ---- Stamps ---- */

/* snprintf is not async-signal-safe. */
static char* add_text(char* end, const char* text) {
  while (*text != '\0') {
    *end++ = *text++;
  }
  return end;
}

static char* add_number(char* end, long long number, int min_digits) {
  char digits[24] = "";
  size_t at = sizeof(digits) - 1;
  const bool is_negative = number < 0;
  unsigned long long rest =
      is_negative ? 0 - (unsigned long long)number : (unsigned long long)number;
  for (; rest > 0 || min_digits > 0; rest /= 10, --min_digits) {
    digits[--at] = (char)('0' + rest % 10);
  }
  return add_text(add_text(end, is_negative ? "-" : ""), digits + at);
}

void tool_file_stamp(const char* path, char out_stamp[TOOL_STAMP_BYTES]) {
  struct stat about;
  char* end = out_stamp;
  if (strlen(path) < PATH_MAX && stat(path, &about) == 0) {
    end = add_text(add_text(end, path), " ");
    end = add_text(add_number(end, (long long)about.st_size, 1), " ");
    end = add_text(add_number(end, (long long)about.st_mtim.tv_sec, 1), ".");
    end = add_text(add_number(end, about.st_mtim.tv_nsec, 9), "\n");
  }
  *end = '\0';
}

/* The last two words of a stamp are numbers, the path may hold spaces. */
char* tool_file_stamp_path(const char* stamp) {
  char now[TOOL_STAMP_BYTES];
  const size_t length = strcspn(stamp, "\n");
  char* path = tool_copy_bytes(stamp, length);
  for (int i = 0; i < 2; ++i) {
    char* space = strrchr(path, ' ');
    if (space != NULL) {
      *space = '\0';
    }
  }
  tool_file_stamp(path, now);
  if (length == 0 || strlen(now) != length + 1 || strncmp(now, stamp, length) != 0) {
    tool_free(path);
    return NULL;
  }
  return path;
}

/* ---- Entries ---- */

/* What follows a mark at the beginning of a line; NULL: it has another. */
static const char* behind(const char* line, const char* mark) {
  return strncmp(line, mark, strlen(mark)) == 0 ? line + strlen(mark) : NULL;
}

/* Do the lines after the key hold: is every file as it was? */
static bool check_lines(const char* lines) {
  bool same = true;
  char* line = NULL;
  while (same && (line = tool_take_line(&lines)) != NULL) {
    const char* stamp = behind(line, file_mark);
    char* path = stamp != NULL ? tool_file_stamp_path(stamp) : NULL;
    same = stamp == NULL || path != NULL;
    tool_free(path);
    tool_free(line);
  }
  return same;
}

static void print_notes(const char* lines) {
  char* line = NULL;
  while ((line = tool_take_line(&lines)) != NULL) {
    const char* note = behind(line, note_mark);
    if (note != NULL) {
      tool_warn("%s", note);
    }
    tool_free(line);
  }
}

bool tool_cache_find(const tool_cache_entry_t* entry) {
  uint8_t* text = NULL;
  size_t size = 0;
  if (!tool_file_exists(entry->plan_path) || !tool_file_exists(entry->key_path)) {
    return false;
  }
  tool_console_soften(true);
  const bool read = tool_file_read(entry->key_path, &text, &size) == TENON_OK;
  tool_console_soften(false);
  const size_t key_size = strlen(entry->key);
  const bool good = read && size >= key_size && memcmp(text, entry->key, key_size) == 0 &&
                    check_lines((const char*)text + key_size);
  if (good) {
    print_notes((const char*)text + key_size);
    (void)utimensat(AT_FDCWD, entry->plan_path, NULL, 0); /* used now */
  }
  tool_free(text);
  return good;
}

tenon_status_t tool_cache_keep(const tool_cache_entry_t* entry, const char* const* files,
                               size_t file_count, const char* notes) {
  char* text = tool_copy_text(entry->key);
  for (size_t i = 0; i < file_count; ++i) {
    char stamp[TOOL_STAMP_BYTES];
    tool_file_stamp(files[i], stamp);
    tool_append(&text, "%s%s", file_mark, stamp);
  }
  char* note = NULL;
  while ((note = tool_take_line(&notes)) != NULL) {
    tool_append(&text, "%s%s\n", note_mark, note);
    tool_free(note);
  }
  const tenon_status_t status = tool_file_write(entry->key_path, text, strlen(text));
  tool_free(text);
  return status;
}

void tool_cache_drop(const tool_cache_entry_t* entry) {
  (void)unlink(entry->key_path);
}

/* ---- The limit ---- */

typedef struct kept_t {
  char* path;
  uint64_t bytes;
  struct timespec used;
} kept_t;

static int compare_age(const void* a, const void* b) {
  const struct timespec* x = &((const kept_t*)a)->used;
  const struct timespec* y = &((const kept_t*)b)->used;
  if (x->tv_sec != y->tv_sec) {
    return x->tv_sec < y->tv_sec ? -1 : 1;
  }
  return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static kept_t* list_plans(const char* folder, size_t* out_count, uint64_t* out_bytes) {
  kept_t* plans = NULL;
  size_t capacity = 0;
  size_t count = 0;
  uint64_t bytes = 0;
  DIR* directory = opendir(folder);
  const struct dirent* entry = NULL;
  while (directory != NULL && (entry = readdir(directory)) != NULL) {
    struct stat about;
    char* path = tool_format("%s/%s", folder, entry->d_name);
    if (tool_path_has_suffix(path, ".plan") && stat(path, &about) == 0) {
      plans = tool_grow(plans, &capacity, count + 1, sizeof(*plans));
      plans[count++] = (kept_t){path, (uint64_t)about.st_size, about.st_mtim};
      bytes += (uint64_t)about.st_size;
    } else {
      tool_free(path);
    }
  }
  if (directory != NULL) {
    (void)closedir(directory);
  }
  *out_count = count;
  *out_bytes = bytes;
  return plans;
}

void tool_cache_trim(const char* folder, uint64_t limit_bytes, const char* keep) {
  size_t count = 0;
  uint64_t bytes = 0;
  char* plans_folder = tool_format("%s/plans", folder);
  kept_t* plans = list_plans(plans_folder, &count, &bytes);
  if (count > 0) {
    qsort(plans, count, sizeof(*plans), compare_age);
  }
  for (size_t i = 0; i < count; ++i) {
    if (bytes > limit_bytes && strcmp(plans[i].path, keep) != 0) {
      char* key = tool_format("%.*s.key", (int)(strlen(plans[i].path) - 5), plans[i].path);
      (void)unlink(key);
      (void)unlink(plans[i].path);
      tool_free(key);
      bytes -= plans[i].bytes;
    }
    tool_free(plans[i].path);
  }
  tool_free(plans);
  tool_free(plans_folder);
}

/* "timings"; in the folder of the plans the names of plans, keys and remembered digests. */
static bool is_cache_name(const char* name, size_t length) {
  static const struct {
    size_t digits;
    const char* end;
  } forms[] = {{0, "timings"}, {32, ".plan"}, {32, ".key"}, {16, ".digest"}};
  const size_t digits = strspn(name, "0123456789abcdef");
  for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); ++i) {
    const size_t end = strlen(forms[i].end);
    if (digits == forms[i].digits && length == digits + end &&
        strncmp(name + digits, forms[i].end, end) == 0) {
      return true;
    }
  }
  return false;
}

/* Files that are being written are called NAME.tmp-PID. A process that still writes has written
 * lately. */
static void collect(const char* path) {
  DIR* folder = opendir(path);
  const struct dirent* entry = NULL;
  while (folder != NULL && (entry = readdir(folder)) != NULL) {
    struct stat about;
    const char* mark = strstr(entry->d_name, ".tmp-");
    if (mark != NULL && is_cache_name(entry->d_name, (size_t)(mark - entry->d_name)) &&
        fstatat(dirfd(folder), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(about.st_mode) && time(NULL) - about.st_mtim.tv_sec > WRITING_SECONDS) {
      (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
  }
  if (folder != NULL) {
    (void)closedir(folder);
  }
}

void tool_cache_collect(const char* folder) {
  char* plans = tool_format("%s/plans", folder);
  collect(folder);
  collect(plans);
  tool_free(plans);
}

void tool_cache_count(const char* folder, size_t* out_plans, uint64_t* out_bytes) {
  char* plans_folder = tool_format("%s/plans", folder);
  kept_t* plans = list_plans(plans_folder, out_plans, out_bytes);
  for (size_t i = 0; i < *out_plans; ++i) {
    tool_free(plans[i].path);
  }
  tool_free(plans);
  tool_free(plans_folder);
}

/* ---- Digests ---- */

tenon_status_t tool_cache_digest(const char* folder, const char* path, char out_digest[65]) {
  struct stat about;
  char* real = realpath(path, NULL);
  if (real == NULL || stat(real, &about) != 0 || !S_ISREG(about.st_mode)) {
    free(real);
    return tool_fail(TENON_ERROR_NOT_FOUND, "%s: there is no such file", path);
  }
  const bool large = folder != NULL && about.st_size >= DIGEST_BY_STAMP_BYTES;
  char stamp[TOOL_STAMP_BYTES];
  tool_file_stamp(real, stamp);
  char* memo = large ? tool_format("%s/plans/%016" PRIx64 ".digest", folder,
                                   hash(real, UINT64_C(0xCBF29CE484222325)))
                     : NULL;
  uint8_t* text = NULL;
  size_t size = 0;
  tenon_status_t status = TENON_OK;
  if (memo != NULL && tool_file_exists(memo) && tool_file_read(memo, &text, &size) == TENON_OK &&
      size == strlen(stamp) + 64 && memcmp(text, stamp, strlen(stamp)) == 0) {
    memcpy(out_digest, text + strlen(stamp), 65);
  } else {
    status = tenon_digest_file(real, out_digest);
    if (status != TENON_OK) {
      (void)tool_fail(status, "%s: cannot be read", path);
    } else if (memo != NULL) {
      char* content = tool_format("%s%s", stamp, out_digest);
      tool_console_soften(true);
      (void)tool_file_write(memo, content, strlen(content));
      tool_console_soften(false);
      tool_free(content);
    }
  }
  tool_free(text);
  tool_free(memo);
  free(real);
  return status;
}
