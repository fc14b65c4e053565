/* See busy.h. */
#include "session/busy.h"

#include <dirent.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include "session/common.h"

/* Shares below these are what an idle machine shows as well. */
static const double share_seen = 0.02;
static const double others_seen = 0.1;
/* The kernel counts processors' time in hundredths of a second. */
static const double shortest_seconds = 0.1;

/* Nanoseconds that a thread was ready and waited: the second number of schedstat. */
static double thread_wait(const char* thread) {
  char path[64];
  unsigned long long ran = 0;
  unsigned long long waited = 0;
  (void)snprintf(path, sizeof(path), "/proc/self/task/%.20s/schedstat", thread);
  FILE* file = fopen(path, "re");
  const int got = file != NULL ? fscanf(file, "%llu %llu", &ran, &waited) : 0; /* NOLINT */
  if (file != NULL) {
    (void)fclose(file);
  }
  return got == 2 ? (double)waited * 1e-9 : NAN;
}

static double read_wait(void) {
  double sum = 0;
  DIR* threads = opendir("/proc/self/task");
  const struct dirent* entry = NULL;
  while (threads != NULL && (entry = readdir(threads)) != NULL) {
    sum += entry->d_name[0] != '.' ? thread_wait(entry->d_name) : 0;
  }
  if (threads != NULL) {
    (void)closedir(threads);
  }
  return threads != NULL ? sum : NAN;
}

/* "cpu3 user nice system idle iowait irq softirq steal ...", for the processors that we may use. */
static void read_processors(tool_load_t* load) {
  char line[512];
  cpu_set_t ours;
  const double ticks = (double)sysconf(_SC_CLK_TCK);
  if (sched_getaffinity(0, sizeof(ours), &ours) != 0) {
    CPU_ZERO(&ours);
  }
  load->processors = (uint32_t)CPU_COUNT(&ours);
  FILE* file = fopen("/proc/stat", "re");
  bool any = false;
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    unsigned index = 0;
    unsigned long long n[8];
    const int got = sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", /* NOLINT */
                           &index, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6], &n[7]);
    if (strncmp(line, "cpu ", 4) != 0 && got == 9 && index < CPU_SETSIZE &&
        CPU_ISSET(index, &ours)) {
      load->busy += (double)(n[0] + n[1] + n[2] + n[5] + n[6]) / ticks;
      load->stolen += (double)n[7] / ticks;
      any = true;
    }
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  load->busy = any ? load->busy : NAN;
  load->stolen = any ? load->stolen : NAN;
}

void tool_load_read(tool_load_t* out_load) {
  struct rusage usage;
  tool_load_t load = {.seconds = tool_seconds(), .waited = read_wait(), .own = NAN};
  read_processors(&load);
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    load.own = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    load.preemptions = (uint64_t)usage.ru_nivcsw;
  }
  *out_load = load;
}

static void explain(const tool_busy_t* busy, bool waited, bool stolen, bool shared,
                    char out_message[160]) {
  int used = 0;
  if (waited) {
    used += snprintf(out_message + used, 160 - (size_t)used,
                     "its threads waited %.0f %% of the time for a processor, ",
                     busy->waited_share * 100);
  }
  if (stolen) {
    used += snprintf(out_message + used, 160 - (size_t)used, "the hypervisor took %.0f %%, ",
                     busy->stolen_share * 100);
  }
  if (shared) {
    used += snprintf(out_message + used, 160 - (size_t)used, "others used %.1f of %u processors, ",
                     busy->others, busy->processors);
  }
  out_message[used >= 2 ? used - 2 : 0] = '\0';
}

void tool_busy_find(const tool_load_t* begin, const tool_load_t* end, uint32_t threads,
                    tool_busy_t* out_busy) {
  const double seconds = end->seconds - begin->seconds;
  const double workers = threads > 0 ? threads : 1;
  tool_busy_t busy = {.waited_share = NAN,
                      .others = NAN,
                      .stolen_share = NAN,
                      .processors = end->processors,
                      .preemptions = end->preemptions - begin->preemptions};
  if (seconds > 0) {
    busy.waited_share = (end->waited - begin->waited) / (seconds * workers);
  }
  if (seconds >= shortest_seconds && end->processors > 0) {
    const double others = (end->busy - begin->busy - (end->own - begin->own)) / seconds;
    busy.others = others > 0 || isnan(others) ? others : 0;
    busy.stolen_share = (end->stolen - begin->stolen) / (seconds * end->processors);
  }
  /* Comparisons with what is not known are false. */
  const bool waited = busy.waited_share >= share_seen;
  const bool stolen = busy.stolen_share >= share_seen;
  const bool shared = busy.others >= others_seen && (busy.others + workers > end->processors ||
                                                     busy.others >= 0.5 * end->processors);
  busy.is_busy = waited || stolen || shared;
  explain(&busy, waited, stolen, shared, busy.message);
  *out_busy = busy;
}
