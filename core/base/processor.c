/* Counting processors: sched_getaffinity, and cpu.max of the control groups (version 2) on the way
 * up. */
#include "core/base/processor.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static uint32_t affinity_count(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) {
    return 1;
  }
  const int count = CPU_COUNT(&set);
  return count > 0 ? (uint32_t)count : 1;
}

/* The quota of one group in whole processors, rounded up; UINT32_MAX when it has none. */
static uint32_t group_quota(const char* group) {
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
  FILE* file = length > 0 && length < PATH_MAX ? fopen(path, "re") : NULL;
  if (file == NULL) {
    return UINT32_MAX;
  }
  unsigned long quota = 0;
  unsigned long period = 0;
  /* "max 100000" or "150000 100000". NOLINTNEXTLINE(cert-err34-c) */
  const bool limited = fscanf(file, "%lu %lu", &quota, &period) == 2 && quota > 0 && period > 0;
  (void)fclose(file);
  const unsigned long count = limited ? (quota - 1) / period + 1 : UINT32_MAX;
  return count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/* The group of this process, "" for the root. */
static void find_group(char out_group[PATH_MAX]) {
  out_group[0] = '\0';
  FILE* file = fopen("/proc/self/cgroup", "re");
  if (file == NULL) {
    return;
  }
  char line[PATH_MAX];
  while (fgets(line, sizeof(line), file) != NULL) {
    if (strncmp(line, "0::/", 4) == 0) {
      line[strcspn(line, "\n")] = '\0';
      (void)snprintf(out_group, PATH_MAX, "%s", strcmp(line, "0::/") == 0 ? "" : line + 3);
    }
  }
  (void)fclose(file);
}

uint32_t tenon__processor_count(void) {
  uint32_t count = affinity_count();
  char group[PATH_MAX];
  find_group(group);
  for (;;) {
    const uint32_t quota = group_quota(group);
    count = quota < count ? quota : count;
    char* slash = strrchr(group, '/');
    if (slash == NULL) {
      return count;
    }
    *slash = '\0';
  }
}

uint64_t tenon__machine_memory_bytes(void) {
  struct sysinfo about;
  if (sysinfo(&about) != 0) {
    return UINT64_MAX;
  }
  return ((uint64_t)about.totalram + about.totalswap) * about.mem_unit;
}

/* "ran waited slices", in nanoseconds. */
static double waited_seconds_of(const char* thread) {
  char path[64];
  char text[128];
  (void)snprintf(path, sizeof(path), "/proc/self/task/%.20s/schedstat", thread);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : read(file, text, sizeof(text) - 1);
  if (file >= 0) {
    (void)close(file);
  }
  text[size < 0 ? 0 : size] = '\0';
  const char* second = strchr(text, ' ');
  return second == NULL ? 0 : strtod(second, NULL) * 1e-9;
}

double tenon__waited_seconds(void) {
  double sum = 0;
  DIR* threads = opendir("/proc/self/task");
  const struct dirent* entry = NULL;
  while (threads != NULL &&
         (entry = readdir(threads)) != NULL) { /* NOLINT(concurrency-mt-unsafe) */
    sum += entry->d_name[0] == '.' ? 0 : waited_seconds_of(entry->d_name);
  }
  if (threads != NULL) {
    (void)closedir(threads);
  }
  return sum;
}
