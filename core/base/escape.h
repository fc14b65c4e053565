/* Text that may hold anything (names of models, files and plugins) as it may be shown. A model may
 * call a node "\r\x1b[2J": messages go to terminals and logs, and must not be commands to them. */
#ifndef TENON_CORE_BASE_ESCAPE_H_
#define TENON_CORE_BASE_ESCAPE_H_

#include <stdbool.h>
#include <stddef.h>

/* Control characters (of ASCII and of Unicode), those that change the direction of writing, and
 * bytes that are no UTF-8 become "\x1b"; further lines are indented by two blanks, so that none
 * looks like another message; line ends at the end go. What is shown already stays as it is.
 * Writes as snprintf does: at most `size` bytes with the NUL, never a part of a character; returns
 * the bytes that all of it takes without it. */
size_t tenon__escape(const char* text, char* out, size_t size);
/* How many bytes the character at `text` has; 0 where none begins. UTF-8, the shortest form alone;
 * no halves of surrogates. */
size_t tenon__character_size(const char* text);
/* False: tenon__escape would copy it. */
bool tenon__needs_escape(const char* text);

#endif
