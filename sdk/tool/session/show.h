/* Outputs as `tenon run` prints them: what one holds, or the classes with the largest scores. */
#ifndef TOOL_SESSION_SHOW_H_
#define TOOL_SESSION_SHOW_H_

#include <stdbool.h>

#include "data/value.h"

/* Type, shape, statistics and the first elements; as JSON all elements where these are not too
 * many. A warning where some are no numbers. `what`: "output", "file". `is_picture`: it is written
 * as one, and its first elements would tell nothing. */
void tool_value_print(const char* what, const char* name, uint32_t index, const tool_value_t* value,
                      bool is_picture);
/* The `top` largest elements of each row of numbers, with the names of a file, one a line; NULL:
 * without names. */
tenon_status_t tool_classes_print(const tool_value_t* value, uint32_t top, const char* labels_path);

#endif
