/* Inputs of a case, from hints or by chance. */
#ifndef TOOL_CHECK_DRAW_INPUTS_H_
#define TOOL_CHECK_DRAW_INPUTS_H_

#include "check/drawing.h"

/* After the attributes. False: the draw failed, or no input would be fed. */
bool check_draw_inputs(check_drawing_t* d);

#endif
