/* What could be better in a plan: found in its steps, largest gain first. */
#ifndef TOOL_PAGE_ADVICE_H_
#define TOOL_PAGE_ADVICE_H_

#include "page/facts.h"

enum { TOOL_ADVICE_BYTES = 320, TOOL_ADVICE_STEPS = 8, TOOL_ADVICE_MOST = 8 };

typedef struct tool_advice_t {
  char message[TOOL_ADVICE_BYTES];
  double seconds; /* a run would be so much shorter at most */
  uint32_t step_count;
  uint32_t steps[TOOL_ADVICE_STEPS]; /* the slowest that it is about */
} tool_advice_t;

/* Returns how many there are; gains below half a percent are not worth a line. */
uint32_t tool_advice_find(const tool_facts_t* facts, tool_advice_t out_advice[TOOL_ADVICE_MOST]);

#endif
