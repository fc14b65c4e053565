/*
 * What this machine can do at best: the fastest of a large matrix product, and the fastest stream
 * through memory, both run through Tenon on the plan's device with the plan's threads. A step is
 * held against these: it cannot be faster than its arithmetic or its bytes allow.
 */
#ifndef TOOL_PAGE_PEAK_H_
#define TOOL_PAGE_PEAK_H_

#include "tenon/tenon.h"

typedef struct tool_peak_t {
  double operations_per_second; /* 0: not known */
  double bytes_per_second;      /* 0: not known */
} tool_peak_t;

/* Takes about half a second, most of it building. What cannot be measured is 0. */
tool_peak_t tool_peak_measure(tenon_registry_t* registry, const char* device,
                              uint32_t thread_count);

#endif
