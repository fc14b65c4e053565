/* Characters of UTF-8. */
#ifndef TOOL_TEXT_UTF8_H_
#define TOOL_TEXT_UTF8_H_

#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at `text`, and its code; 0 when it is none (overlong, surrogate, cut
 * short). `size` > 0. */
size_t tool_utf8_read(const char* text, size_t size, uint32_t* out_code);

#endif
