/* Blocks of steps that come again and again, as the layers of a transformer do. */
#ifndef TOOL_PAGE_REPEATS_H_
#define TOOL_PAGE_REPEATS_H_

#include "page/facts.h"

/* `times` blocks of `length` steps each, one after the other, beginning at step `first`. */
typedef struct tool_repeat_t {
  uint32_t first;
  uint32_t length;
  /* At least two; `first` is the number of the first block's first step. */
  uint32_t times;
} tool_repeat_t;

/* Finds blocks of the main graph that do not overlap, those that cover the most steps first taken;
 * in order of `first`. Steps are alike when they are of the same sort and write the same shapes.
 * The caller frees *out_repeats with tool_free. */
uint32_t tool_repeats_find(const tool_facts_t* facts, tool_repeat_t** out_repeats);

#endif
