/* What the process costs: memory, and percentiles of times. */
#ifndef TOOL_SESSION_USAGE_H_
#define TOOL_SESSION_USAGE_H_

#include <stddef.h>
#include <stdint.h>

/* Begins to watch memory: returns what is resident now, in bytes, and sets the peak back to that
 * where the system can; else the peak since the process began counts. */
uint64_t tool_memory_begin(void);
/* By how many bytes the resident memory rose above `begin` at its peak since then. */
uint64_t tool_memory_added(uint64_t begin);

/* Times in the order in which they came; all zeros is empty. Owned. */
typedef struct tool_times_t {
  double* seconds;
  size_t count;
  size_t capacity;
  /* Ascending, [count], by tool_times_sort; out of date once a time is added. */
  double* sorted;
} tool_times_t;

void tool_times_add(tool_times_t* times, double seconds);
/* For percentiles. */
void tool_times_sort(tool_times_t* times);
/* Of sorted times, interpolated between neighbours; `part` 0 to 1. 0 when there are none. */
double tool_times_percentile(const tool_times_t* times, double part);
/* Of one thing that was timed several times. */
typedef struct tool_spread_t {
  double low; /* 10th percentile; seconds */
  double median;
  double high; /* 90th percentile */
} tool_spread_t;
/* Sorts first. */
tool_spread_t tool_times_spread(tool_times_t* times);
double tool_times_mean(const tool_times_t* times);
/* Standard deviation by mean; 0 when there are fewer than two. */
double tool_times_variation(const tool_times_t* times);
void tool_times_free(tool_times_t* times);

#endif
