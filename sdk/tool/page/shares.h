/* Where time goes: a bar of all steps, and a table of kernels. */
#ifndef TOOL_PAGE_SHARES_H_
#define TOOL_PAGE_SHARES_H_

#include "page/drawing.h"

void tool_shares_write(FILE* file, const tool_drawing_t* drawing);

#endif
