/* The graph of a plan's steps as an SVG picture inside the page: graph.h places, this draws
 * boxes, edges and words. */
#ifndef TOOL_PAGE_DRAWING_H_
#define TOOL_PAGE_DRAWING_H_

#include <stdio.h>

#include "page/facts.h"

/* Steps of the main graph, or with `bodies` those of all bodies, with inputs and outputs where
 * they are known. Colours are shares of the slowest step's time. */
tenon_status_t tool_drawing_write(FILE* file, const tool_facts_t* facts, bool bodies);

#endif
