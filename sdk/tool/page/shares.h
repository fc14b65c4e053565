/* Where time goes: a bar of all steps, a table of kernels, and blocks that come again and again.
 * Of the main graph's steps alone. */
#ifndef TOOL_PAGE_SHARES_H_
#define TOOL_PAGE_SHARES_H_

#include <stdio.h>

#include "page/facts.h"

void tool_shares_write_bar(FILE* file, const tool_facts_t* facts);
void tool_shares_write_kernels(FILE* file, const tool_facts_t* facts);
void tool_shares_write_repeats(FILE* file, const tool_facts_t* facts);

#endif
