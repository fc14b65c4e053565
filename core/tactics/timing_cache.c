/* The timing cache: lines "<64 hexadecimal digits> <seconds>" after a header line. */
#include "core/tactics/timing_cache.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/base/string_map.h"

static const char header_line[] = "tenon timing cache 1\n";

struct tenon__timing_cache_t {
  tenon_allocator_t allocator;
  pthread_mutex_t mutex;
  tenon__string_map_t map; /* digest in hexadecimal -> bits of the seconds */
};

static uint64_t bits_of(double seconds) {
  uint64_t bits = 0;
  memcpy(&bits, &seconds, sizeof bits);
  return bits;
}

static double seconds_of(uint64_t bits) {
  double seconds = 0;
  memcpy(&seconds, &bits, sizeof seconds);
  return seconds;
}

tenon_status_t tenon__timing_cache_create(tenon_allocator_t allocator,
                                          tenon__timing_cache_t** out_cache) {
  tenon__timing_cache_t* cache = tenon__allocate(allocator, 1, sizeof *cache);
  if (cache == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  cache->allocator = allocator;
  (void)pthread_mutex_init(&cache->mutex, NULL);
  tenon__string_map_initialize(&cache->map, allocator);
  *out_cache = cache;
  return TENON_OK;
}

void tenon__timing_cache_destroy(tenon__timing_cache_t* cache) {
  if (cache == NULL) {
    return;
  }
  tenon__string_map_deinitialize(&cache->map);
  (void)pthread_mutex_destroy(&cache->mutex);
  tenon__free(cache->allocator, cache, sizeof *cache);
}

bool tenon__timing_cache_find(tenon__timing_cache_t* cache, const tenon__digest_t* key,
                              double* out_seconds) {
  char text[65];
  tenon__digest_text(key, text);
  (void)pthread_mutex_lock(&cache->mutex);
  const tenon__map_value_t* found = tenon__string_map_find(&cache->map, text);
  if (found != NULL) {
    *out_seconds = seconds_of(found->number);
  }
  (void)pthread_mutex_unlock(&cache->mutex);
  return found != NULL;
}

static tenon_status_t add_text(tenon__timing_cache_t* cache, const char* key, double seconds) {
  (void)pthread_mutex_lock(&cache->mutex);
  bool good = true;
  if (tenon__string_map_find(&cache->map, key) == NULL) {
    good =
        tenon__string_map_set(&cache->map, key, (tenon__map_value_t){.number = bits_of(seconds)});
  }
  (void)pthread_mutex_unlock(&cache->mutex);
  return good ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

tenon_status_t tenon__timing_cache_add(tenon__timing_cache_t* cache, const tenon__digest_t* key,
                                       double seconds) {
  char text[65];
  tenon__digest_text(key, text);
  return add_text(cache, text, seconds);
}

uint32_t tenon__timing_cache_count(tenon__timing_cache_t* cache) {
  (void)pthread_mutex_lock(&cache->mutex);
  const size_t count = tenon__string_map_count(&cache->map);
  (void)pthread_mutex_unlock(&cache->mutex);
  return (uint32_t)count;
}

/* A line without its newline. False when it is no entry. */
static bool parse_line(const char* line, size_t size, char key[65], double* out_seconds) {
  char number[40];
  if (size < 66 || size - 65 >= sizeof number || line[64] != ' ') {
    return false;
  }
  if (strspn(line, "0123456789abcdef") < 64) {
    return false;
  }
  memcpy(key, line, 64);
  key[64] = 0;
  memcpy(number, line + 65, size - 65);
  number[size - 65] = 0;
  char* end = NULL;
  *out_seconds = strtod(number, &end);
  return end != number && *end == 0 && *out_seconds >= 0 && *out_seconds < 1e6;
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
    double seconds = 0;
    const bool fits = length > 0 && length < sizeof line;
    if (fits) {
      memcpy(line, text + at, length);
      line[length] = 0;
    }
    if (fits && newline != NULL && parse_line(line, length, key, &seconds)) {
      TENON_TRY(add_text(cache, key, seconds));
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
  const size_t capacity = sizeof header_line + count * 96;
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
      const tenon__map_value_t* value = tenon__string_map_find(&cache->map, keys[k]);
      /* All digits: who reads the file must choose as who measured did. */
      at += (size_t)snprintf(text + at, capacity - at, "%s %.17g\n", keys[k],
                             seconds_of(value->number));
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
