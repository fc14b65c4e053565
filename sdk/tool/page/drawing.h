/* The graph of a plan's steps as an SVG picture. */
#ifndef TOOL_PAGE_DRAWING_H_
#define TOOL_PAGE_DRAWING_H_

#include <stdio.h>

#include "page/facts.h"

/* Steps of the main graph, or those of all bodies, with inputs and outputs where they are known. */
tenon_status_t tool_drawing_write(FILE* file, const tool_facts_t* facts, bool bodies);

#endif
