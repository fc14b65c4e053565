/*
 * One HTML page about a plan, without anything from elsewhere. At the top what one comes for: what
 * is slow, is that slow for this machine, what could be better. Then where time and memory go, the
 * graph as drawn, and for each step what it computes and why its tactic was chosen.
 */
#ifndef TOOL_PAGE_PAGE_H_
#define TOOL_PAGE_PAGE_H_

#include "page/facts.h"

/* `title`: the model's or plan's name. `path` "-": to standard output. */
tenon_status_t tool_page_write(const char* path, const char* title,
                               const tool_execution_t* execution, const tool_facts_t* facts);

#endif
