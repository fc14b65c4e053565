/* Escapes untrusted text (names in models, files and plugins). A model may call a node "\r\x1b[2J".
 * Messages are printed to terminals and logs, and must not contain control sequences. */
#ifndef TENON_CORE_BASE_ESCAPE_H_
#define TENON_CORE_BASE_ESCAPE_H_

#include <stdbool.h>
#include <stddef.h>

/* Control characters (of ASCII and Unicode), characters that change the writing direction, and
 * bytes that are not UTF-8 become "\x1b" and the like. Later lines are indented by two blanks, so
 * that none looks like another message. Final line ends are removed. Escaped text is unchanged by a
 * second call. Writes at most `size` bytes with the NUL, never a part of a character, and returns
 * the full length without NUL, as snprintf does. */
size_t tenon__escape(const char* text, char* out, size_t size);
/* Returns the number of bytes of the UTF-8 character at `text`; 0 if it is invalid, not the
 * shortest form, or a surrogate. */
size_t tenon__character_size(const char* text);
/* Returns false if tenon__escape would only copy it. */
bool tenon__needs_escape(const char* text);

#endif
