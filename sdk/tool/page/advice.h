/*
 * What could be better in a plan: found in its steps, largest gain first. Rules over facts, each a
 * row in advice.c: steps on reference kernels, copies between layouts, constant work, arithmetic
 * that might be fused, kernels far from the machine's best, and what a run takes beside its steps.
 * A gain is an estimate from above, not a promise.
 */
#ifndef TOOL_PAGE_ADVICE_H_
#define TOOL_PAGE_ADVICE_H_

#include "page/facts.h"

/* Of a message; steps named by one; pieces of advice that there can be at most. */
enum { TOOL_ADVICE_BYTES = 320, TOOL_ADVICE_STEPS = 8, TOOL_ADVICE_MOST = 8 };

/* One piece: a sentence, what it could save, and where. */
typedef struct tool_advice_t {
  char message[TOOL_ADVICE_BYTES];
  /* A run would be so much shorter at most. */
  double seconds;
  /* Of `steps`, the slowest that it is about, slowest first; 0 for what is about none. */
  uint32_t step_count;
  uint32_t steps[TOOL_ADVICE_STEPS]; /* numbers in tool_facts_t */
} tool_advice_t;

/* Returns how many there are. Gains below half a percent of the steps' time are not worth a
 * line, nor is less than 5 % beside them. Needs facts->timing. */
uint32_t tool_advice_find(const tool_facts_t* facts, tool_advice_t out_advice[TOOL_ADVICE_MOST]);

#endif
