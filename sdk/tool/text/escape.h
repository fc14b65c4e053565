/* What comes from models, plugins and files may hold anything: on a terminal it must be letters. */
#ifndef TOOL_TEXT_ESCAPE_H_
#define TOOL_TEXT_ESCAPE_H_

#include <stdbool.h>
#include <stdint.h>

/* Control characters of ASCII and C1, and those that embed, override or isolate a direction of
 * writing. */
bool tool_is_control(uint32_t code);

/* A copy in which control characters (those of C1 and those that turn the direction of writing
 * too) and bytes that are not UTF-8 stand as \x1b or \u202e. `keep_lines`: line ends and tabs stay
 * as they are. Freed by tool_free. */
char* tool_escape(const char* text, bool keep_lines);

#endif
