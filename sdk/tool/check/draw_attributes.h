/* Attributes of a case, from hints or by chance. */
#ifndef TOOL_CHECK_DRAW_ATTRIBUTES_H_
#define TOOL_CHECK_DRAW_ATTRIBUTES_H_

#include "check/drawing.h"

/* False: the draw failed. */
bool check_draw_attributes(check_drawing_t* d);
/* Of the choices of an attribute; NULL: a small number, or an extent. */
int64_t check_draw_integer(check_drawing_t* d, const char* choices);
/* Axes in some order, small numbers, ones, or extents. False: the pool is full. */
bool check_draw_integers(check_drawing_t* d, tenon_attribute_t* out_attribute);

#endif
