/* The top of a page: how fast, what is slow, is that slow for this machine, what could be
 * better. What it cannot know without a run is left out, and said. */
#ifndef TOOL_PAGE_OVERVIEW_H_
#define TOOL_PAGE_OVERVIEW_H_

#include <stdio.h>

#include "page/facts.h"

void tool_overview_write(FILE* file, const char* title, const tool_facts_t* facts);

#endif
