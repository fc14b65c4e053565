/* The steps of a plan as rows: sorted by a click on a head, filtered by words, opened for what a
 * step computes and why its tactic was chosen. */
#ifndef TOOL_PAGE_STEP_ROWS_H_
#define TOOL_PAGE_STEP_ROWS_H_

#include <stdio.h>

#include "page/facts.h"

void tool_step_rows_write(FILE* file, const tool_facts_t* facts);

#endif
