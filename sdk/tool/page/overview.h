/* The top of a page: how fast, what is slow, is that slow for this machine, what could be better.
 */
#ifndef TOOL_PAGE_OVERVIEW_H_
#define TOOL_PAGE_OVERVIEW_H_

#include <stdio.h>

#include "page/facts.h"

void tool_overview_write(FILE* file, const char* title, const tool_facts_t* facts);

#endif
