/* See usage.h. */
#include "session/usage.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "text/memory.h"

/* "VmHWM:   1234 kB" of /proc/self/status in bytes, 0 where there is none. */
static uint64_t status_bytes(const char* key) {
  char line[256];
  unsigned long long kilobytes = 0;
  FILE* file = fopen("/proc/self/status", "re");
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    if (strncmp(line, key, strlen(key)) == 0) {
      kilobytes = strtoull(line + strlen(key), NULL, 10);
    }
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return (uint64_t)kilobytes * 1024;
}

static uint64_t peak_bytes(void) {
  const uint64_t peak = status_bytes("VmHWM:");
  struct rusage usage;
  if (peak > 0) {
    return peak;
  }
  /* Coarser: it also remembers what the process was before it became this program. */
  return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

uint64_t tool_memory_begin(void) {
  const int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
  if (file >= 0) {
    const ssize_t wrote = write(file, "5", 1); /* proc(5): the peak becomes what is resident now */
    (void)wrote;
    (void)close(file);
  }
  return peak_bytes();
}

uint64_t tool_memory_added(uint64_t begin) {
  const uint64_t peak = peak_bytes();
  return peak > begin ? peak - begin : 0;
}

void tool_times_add(tool_times_t* times, double seconds) {
  times->seconds =
      tool_grow(times->seconds, &times->capacity, times->count + 1, sizeof(*times->seconds));
  times->seconds[times->count++] = seconds;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return x < y ? -1 : x > y;
}

void tool_times_sort(tool_times_t* times) {
  tool_free(times->sorted);
  times->sorted = tool_allocate(times->count, sizeof(*times->sorted));
  if (times->count > 0) {
    memcpy(times->sorted, times->seconds, times->count * sizeof(*times->sorted));
    qsort(times->sorted, times->count, sizeof(*times->sorted), compare);
  }
}

double tool_times_percentile(const tool_times_t* times, double part) {
  if (times->count == 0) {
    return 0;
  }
  const double position = part * (double)(times->count - 1);
  const size_t below = (size_t)position;
  const size_t above = below + 1 < times->count ? below + 1 : below;
  const double weight = position - (double)below;
  return times->sorted[below] * (1 - weight) + times->sorted[above] * weight;
}

tool_spread_t tool_times_spread(tool_times_t* times) {
  tool_times_sort(times);
  return (tool_spread_t){.low = tool_times_percentile(times, 0.1),
                         .median = tool_times_percentile(times, 0.5),
                         .high = tool_times_percentile(times, 0.9)};
}

double tool_times_mean(const tool_times_t* times) {
  double sum = 0;
  for (size_t i = 0; i < times->count; ++i) {
    sum += times->seconds[i];
  }
  return times->count > 0 ? sum / (double)times->count : 0;
}

double tool_times_variation(const tool_times_t* times) {
  const double mean = tool_times_mean(times);
  double squares = 0;
  for (size_t i = 0; i < times->count; ++i) {
    const double away = times->seconds[i] - mean;
    squares += away * away;
  }
  return times->count > 1 && mean > 0 ? sqrt(squares / (double)(times->count - 1)) / mean : 0;
}

void tool_times_free(tool_times_t* times) {
  tool_free(times->sorted);
  tool_free(times->seconds);
  *times = (tool_times_t){0};
}
