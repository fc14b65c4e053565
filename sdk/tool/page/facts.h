/* All that a page knows of a plan's steps: texts, times, work, and how that compares with what
 * the machine can do. Collected once; every part of the page reads it and measures nothing. */
#ifndef TOOL_PAGE_FACTS_H_
#define TOOL_PAGE_FACTS_H_

#include <stdbool.h>

#include "page/peak.h"
#include "session/timing.h"

/* One step. Texts and sources are the engine's. */
typedef struct tool_fact_t {
  tenon_step_info_t info;
  uint32_t source_count; /* earlier steps that it reads from */
  /* [source_count]: earlier steps that it reads from, by number. */
  const uint32_t* sources;
  /* The median; as measured when it was built where it did not run, and then low and high are
   * the same. */
  double seconds;
  double low; /* 10th and 90th percentile */
  double high;
  /* Multiplications and additions; negative: not known. */
  double operations;
  /* Read and written; 0 where nothing is known. */
  double bytes;
  /* What the machine would need at its best; 0: not known. */
  double floor_seconds;
  uint32_t flags; /* TENON_STEP_IS_* */
} tool_fact_t;

/* Valid while the engine, and `timing`, live. Freed by tool_facts_free. */
typedef struct tool_facts_t {
  const tenon_engine_t* engine;
  uint32_t count;
  /* [count], in the order of the plan, those of bodies included. */
  tool_fact_t* steps;
  /* Borrowed. NULL: it did not run, times are those of the build. */
  const tool_timing_t* timing;
  /* At least what the fastest step reaches. */
  tool_peak_t peak;
  double total_seconds; /* of the main graph's steps */
  double longest;       /* of the slowest step */
} tool_facts_t;

/* `timing` NULL: not run, and then nothing is known of the steps' work. */
tenon_status_t tool_facts_collect(const tool_execution_t* execution, const tool_timing_t* timing,
                                  const tool_peak_t* peak, tool_facts_t* out_facts);
void tool_facts_free(tool_facts_t* facts);

/* The part of the machine's peak that a step reaches, 0 to 1; negative: not known. What lies in a
 * cache is read faster than memory: then it is 1. */
double tool_fact_share(const tool_fact_t* fact);
/* "arithmetic" or "memory": which of the two a step cannot be faster than. */
const char* tool_fact_bound(const tool_facts_t* facts, const tool_fact_t* fact);
/* Numbers of the main graph's steps, slowest first: writes at most `most`, returns how many. */
uint32_t tool_facts_slowest(const tool_facts_t* facts, uint32_t most, uint32_t* out_steps);

#endif
