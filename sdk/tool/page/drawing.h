/* The graph of a plan's steps as an SVG picture. */
#ifndef TOOL_PAGE_DRAWING_H_
#define TOOL_PAGE_DRAWING_H_

#include <stdbool.h>
#include <stdio.h>

#include "tenon/tenon.h"

typedef struct tool_drawing_t {
  const tenon_engine_t* engine;
  const tenon_step_info_t* steps;
  const double* seconds; /* one for each step */
  uint32_t step_count;
  double total_seconds;
} tool_drawing_t;

/* Steps of the main graph, or those of all bodies, with inputs and outputs where they are known. */
tenon_status_t tool_drawing_write(FILE* file, const tool_drawing_t* drawing, bool bodies);
/* Seconds of the slowest step. */
double tool_drawing_longest(const tool_drawing_t* drawing);

#endif
