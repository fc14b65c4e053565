/* Inputs and outputs in words, the same everywhere: name, type, shape, and what open extents are
 * called. */
#ifndef TOOL_SESSION_IO_TEXT_H_
#define TOOL_SESSION_IO_TEXT_H_

#include <stdbool.h>

#include "tenon/tenon.h"
#include "text/json.h"

/* Does it leave an extent of a known rank open? False for sequences and optionals. */
bool tool_io_is_open(const tenon_io_info_t* info);
/* "image: f32 ?x1x8x8 (? is batch)", "a: sequence"; freed by tool_free. */
char* tool_io_text(const tenon_io_info_t* info);
/* The same as fields of the object begun: `what` is the key of the name ("input"); "shape" has
 * -1 for open extents, "symbols" what they are called. */
void tool_io_json(tool_json_t* json, const char* what, const tenon_io_info_t* info);

#endif
