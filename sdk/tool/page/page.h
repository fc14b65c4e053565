/* One HTML page about a plan, without anything from elsewhere: totals, the graph as drawn, where
 * time goes, and for each step what it computes, why its tactic was chosen and why the others were
 * not. */
#ifndef TOOL_PAGE_PAGE_H_
#define TOOL_PAGE_PAGE_H_

#include <stdio.h>

#include "session/session.h"

typedef struct tool_page_t {
  const char* title; /* the model's or plan's name */
  const tool_execution_t* execution;
  const tool_step_times_t* times; /* NULL: as measured when it was built */
} tool_page_t;

/* `path` "-": to standard output. */
tenon_status_t tool_page_write(const char* path, const tool_page_t* page);

/* Text inside HTML: & < > " are escaped, control characters dropped. */
void tool_html_text(FILE* file, const char* text, size_t limit);

#endif
