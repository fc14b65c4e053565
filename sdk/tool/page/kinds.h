/* Steps of one kind: alike but for the numbers in their names, as the layers of a deep network
 * are. A table of kinds is short where one of steps is not. */
#ifndef TOOL_PAGE_KINDS_H_
#define TOOL_PAGE_KINDS_H_

#include "page/facts.h"

/* One kind, or a single step. */
typedef struct tool_kind_t {
  char* pattern;    /* NULL: it is a single step */
  const char* name; /* "layer*.fc", or of a single step its own */
  uint32_t count;
  uint32_t slowest; /* the number of the slowest step */
  /* Of them all; so are operations, bytes and the floor. */
  double seconds;
  double operations; /* negative: not known of one of them */
  double bytes;
  double floor_seconds; /* 0: not known of one of them */
} tool_kind_t;

/* All kinds of the main graph, those that take longest first. Alike are steps of one kernel that
 * write one shape. The caller frees *out_kinds. */
uint32_t tool_kinds_find(const tool_facts_t* facts, tool_kind_t** out_kinds);
void tool_kinds_free(tool_kind_t* kinds, uint32_t count);

#endif
