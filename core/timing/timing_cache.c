/* The timing cache: lines "<64 hexadecimal digits> <seconds> <alone, agrees, wrong or ended>", and
 * " disturbed" behind it where the machine was busy, after a header line. */
#include "core/timing/timing_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/arena.h"
#include "core/base/status.h"
#include "core/base/string_map.h"
#include "core/timing/trial_journal.h"

static const char disturbed_word[] = " disturbed";
static const char header_line[] = "tenon timing cache 2\n";

struct tenon__timing_cache_t {
  tenon_allocator_t allocator;
  pthread_mutex_t mutex;
  tenon__string_map_t map; /* digest in hexadecimal -> tenon__timing_t */
  tenon__arena_t arena;
  tenon__trial_journal_t journal;
};

static const char* const checked_words[] = {"alone", "agrees", "wrong", "ended"};

tenon_status_t tenon__timing_cache_create(tenon_allocator_t allocator,
                                          tenon__timing_cache_t** out_cache) {
  tenon__timing_cache_t* cache = tenon__allocate(allocator, 1, sizeof *cache);
  TENON_TRY_MEMORY(cache != NULL);
  cache->allocator = allocator;
  (void)pthread_mutex_init(&cache->mutex, NULL);
  tenon__string_map_initialize(&cache->map, allocator);
  tenon__arena_initialize(&cache->arena, allocator);
  *out_cache = cache;
  return TENON_OK;
}

void tenon__timing_cache_destroy(tenon__timing_cache_t* cache) {
  if (cache == NULL) {
    return;
  }
  tenon__trial_journal_close(&cache->journal);
  tenon__string_map_deinitialize(&cache->map);
  tenon__arena_deinitialize(&cache->arena);
  (void)pthread_mutex_destroy(&cache->mutex);
  tenon__free(cache->allocator, cache, sizeof *cache);
}

bool tenon__timing_cache_find(tenon__timing_cache_t* cache, const tenon__digest_t* key,
                              tenon__timing_t* out_timing) {
  char text[65];
  tenon__digest_text(key, text);
  (void)pthread_mutex_lock(&cache->mutex);
  const tenon__map_value_t* found = tenon__string_map_find(&cache->map, text);
  if (found != NULL) {
    *out_timing = *(const tenon__timing_t*)found->pointer;
  }
  (void)pthread_mutex_unlock(&cache->mutex);
  return found != NULL;
}

/* Under the lock. */
static bool enter(tenon__timing_cache_t* cache, const char* key, tenon__timing_t timing) {
  const tenon__map_value_t* found = tenon__string_map_find(&cache->map, key);
  if (found != NULL) {
    tenon__timing_t* known = found->pointer;
    known->checked = timing.checked > known->checked ? timing.checked : known->checked;
    if (known->is_disturbed && !timing.is_disturbed) {
      known->seconds = timing.seconds;
      known->is_disturbed = false;
    }
    return true;
  }
  tenon__timing_t* entry = tenon__arena_copy(&cache->arena, &timing, sizeof timing);
  return entry != NULL &&
         tenon__string_map_set(&cache->map, key, (tenon__map_value_t){.pointer = entry});
}

static tenon_status_t add_text(tenon__timing_cache_t* cache, const char* key,
                               tenon__timing_t timing) {
  (void)pthread_mutex_lock(&cache->mutex);
  const bool good = enter(cache, key, timing);
  (void)pthread_mutex_unlock(&cache->mutex);
  return good ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

tenon_status_t tenon__timing_cache_add(tenon__timing_cache_t* cache, const tenon__digest_t* key,
                                       tenon__timing_t timing) {
  char text[65];
  tenon__digest_text(key, text);
  return add_text(cache, text, timing);
}

tenon_status_t tenon__timing_cache_keep_journal(tenon__timing_cache_t* cache, const char* path,
                                                bool* out_found) {
  char key[TENON_JOURNAL_KEY_SIZE];
  *out_found = false;
  TENON_TRY(tenon__trial_journal_open(cache->allocator, path, &cache->journal, key));
  if (key[0] == '\0') {
    return TENON_OK;
  }
  *out_found = true;
  return add_text(cache, key,
                  (tenon__timing_t){.seconds = TENON_TIMING_LEAST, .checked = TENON_CHECKED_ENDED});
}

void tenon__timing_cache_begin_trial(tenon__timing_cache_t* cache, const tenon__digest_t* key) {
  tenon__trial_journal_begin(&cache->journal, key);
}

void tenon__timing_cache_end_trial(tenon__timing_cache_t* cache) {
  tenon__trial_journal_end(&cache->journal);
}

void tenon__timing_cache_renew(tenon__timing_cache_t* cache, const tenon__digest_t* key,
                               double seconds, bool is_disturbed) {
  char text[65];
  tenon__digest_text(key, text);
  (void)pthread_mutex_lock(&cache->mutex);
  const tenon__map_value_t* found = tenon__string_map_find(&cache->map, text);
  tenon__timing_t* known = found == NULL ? NULL : found->pointer;
  if (known != NULL && seconds > 0) {
    known->seconds = seconds;
    known->is_disturbed = is_disturbed;
  }
  (void)pthread_mutex_unlock(&cache->mutex);
}

uint32_t tenon__timing_cache_count(tenon__timing_cache_t* cache) {
  (void)pthread_mutex_lock(&cache->mutex);
  const size_t count = tenon__string_map_count(&cache->map);
  (void)pthread_mutex_unlock(&cache->mutex);
  return (uint32_t)count;
}

/* A line without its newline. False when it is no entry. */
static bool parse_line(const char* line, char key[65], tenon__timing_t* out_timing) {
  char* end = NULL;
  if (strlen(line) < 66 || line[64] != ' ' || strspn(line, "0123456789abcdef") < 64) {
    return false;
  }
  memcpy(key, line, 64);
  key[64] = 0;
  out_timing->seconds = strtod(line + 65, &end);
  if (end == line + 65 || *end != ' ' || !(out_timing->seconds > 0) || out_timing->seconds >= 1e6) {
    return false;
  }
  for (int k = TENON_CHECKED_ALONE; k <= TENON_CHECKED_ENDED; ++k) {
    const size_t length = strlen(checked_words[k]);
    const char* rest = end + 1 + length;
    if (strncmp(end + 1, checked_words[k], length) == 0 &&
        (*rest == 0 || strcmp(rest, disturbed_word) == 0)) {
      out_timing->checked = (tenon__checked_t)k;
      out_timing->is_disturbed = *rest != 0;
      return true;
    }
  }
  return false;
}

tenon_status_t tenon__timing_cache_read(tenon__timing_cache_t* cache, const char* text, size_t size,
                                        const char* name, const tenon_sink_t* sink) {
  const size_t header = sizeof header_line - 1;
  if (size < header || memcmp(text, header_line, header) != 0) {
    tenon__report(sink, TENON_SEVERITY_WARNING,
                  "%s: not a timing cache of this version; it is ignored and measured anew", name);
    return TENON_OK;
  }
  uint32_t bad = 0;
  for (size_t at = header; at < size;) {
    const char* newline = memchr(text + at, '\n', size - at);
    const size_t length = newline == NULL ? size - at : (size_t)(newline - (text + at));
    char line[128];
    char key[65];
    tenon__timing_t timing = {0};
    const bool fits = length > 0 && length < sizeof line;
    if (fits) {
      memcpy(line, text + at, length);
      line[length] = 0;
    }
    if (fits && newline != NULL && parse_line(line, key, &timing)) {
      TENON_TRY(add_text(cache, key, timing));
    } else if (length > 0) {
      ++bad;
    }
    at += length + 1;
  }
  if (bad > 0) {
    tenon__report(sink, TENON_SEVERITY_WARNING, "%s: %u damaged lines of the timing cache skipped",
                  name, bad);
  }
  return TENON_OK;
}

static int compare_keys(const void* a, const void* b) {
  return strcmp(*(const char* const*)a, *(const char* const*)b);
}

tenon_status_t tenon__timing_cache_write(tenon__timing_cache_t* cache, char** out_text,
                                         size_t* out_size) {
  (void)pthread_mutex_lock(&cache->mutex);
  const size_t count = tenon__string_map_count(&cache->map);
  const size_t capacity = sizeof header_line + count * 128;
  const char** keys = tenon__allocate(cache->allocator, count + 1, sizeof *keys);
  char* text = tenon__allocate(cache->allocator, capacity, 1);
  char* result = NULL;
  if (keys != NULL && text != NULL) {
    for (size_t k = 0; k < count; ++k) {
      keys[k] = tenon__string_map_key(&cache->map, k);
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    size_t at = (size_t)snprintf(text, capacity, "%s", header_line);
    for (size_t k = 0; k < count; ++k) {
      const tenon__timing_t* timing = tenon__string_map_find(&cache->map, keys[k])->pointer;
      /* All digits: who reads the file must choose as who measured did. */
      at += (size_t)snprintf(text + at, capacity - at, "%s %.17g %s%s\n", keys[k], timing->seconds,
                             checked_words[timing->checked],
                             timing->is_disturbed ? disturbed_word : "");
    }
    result = tenon__allocate(cache->allocator, at + 1, 1);
    if (result != NULL) {
      memcpy(result, text, at + 1);
      *out_text = result;
      *out_size = at;
    }
  }
  tenon__free(cache->allocator, text, capacity);
  tenon__free(cache->allocator, keys, (count + 1) * sizeof *keys);
  (void)pthread_mutex_unlock(&cache->mutex);
  return result == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}
