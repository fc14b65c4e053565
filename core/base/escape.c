/* UTF-8, decoded character by character. Control characters and broken bytes are replaced by
 * escapes. */
#include "core/base/escape.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The character that begins at `text`, and how many bytes it has; 0 for what is none: a byte that
 * cannot stand there, a form longer than need be, half of a surrogate, what is beyond Unicode. */
static size_t decode(const unsigned char* text, uint32_t* out_point) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char first = text[0];
  const size_t size = first < 0x80   ? 1
                      : first < 0xC2 ? 0
                      : first < 0xE0 ? 2
                      : first < 0xF0 ? 3
                      : first < 0xF5 ? 4
                                     : 0;
  uint32_t point = size < 2 ? first : first & (0x7Fu >> size);
  for (size_t i = 1; i < size; ++i) {
    if ((text[i] & 0xC0u) != 0x80u) {
      return 0;
    }
    point = point << 6 | (text[i] & 0x3Fu);
  }
  if (size == 0 || point < least[size] || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) {
    return 0;
  }
  *out_point = point;
  return size;
}

/* Does showing it do something else than show it? */
static bool is_control(uint32_t point) {
  return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x61C ||
         (point >= 0x200E && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069);
}

/* The whole text, or as much as fits. */
typedef struct escape_t {
  char* out;
  size_t size;
  size_t used;  /* written */
  size_t whole; /* all of it */
} escape_t;

static void add(escape_t* e, const char* bytes, size_t count) {
  if (e->used == e->whole && e->used + count < e->size) {
    memcpy(e->out + e->used, bytes, count);
    e->used += count;
  }
  e->whole += count;
}

static void add_hexadecimal(escape_t* e, const unsigned char* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    char text[8];
    (void)snprintf(text, sizeof(text), "\\x%02x", bytes[i]);
    add(e, text, 4);
  }
}

size_t tenon__escape(const char* text, char* out, size_t size) {
  escape_t e = {.out = out, .size = size};
  const unsigned char* at = (const unsigned char*)text;
  size_t length = strlen(text);
  while (length > 0 && text[length - 1] == '\n') {
    --length;
  }
  const unsigned char* end = at + length;
  while (at < end) {
    uint32_t point = 0;
    const size_t count = decode(at, &point);
    if (count == 1 && point == '\n') {
      const bool is_indented = end - at > 2 && at[1] == ' ' && at[2] == ' ';
      add(&e, "\n  ", is_indented ? 1 : 3);
    } else if (count == 0 || is_control(point)) {
      add_hexadecimal(&e, at, count == 0 ? 1 : count);
    } else {
      add(&e, (const char*)at, count);
    }
    at += count == 0 ? 1 : count;
  }
  if (size > 0) {
    out[e.used] = '\0';
  }
  return e.whole;
}

size_t tenon__character_size(const char* text) {
  uint32_t point = 0;
  return decode((const unsigned char*)text, &point);
}

bool tenon__needs_escape(const char* text) {
  const unsigned char* at = (const unsigned char*)text;
  while (*at >= 0x20 && *at < 0x7F) {
    ++at;
  }
  if (*at == '\0') {
    return false; /* nearly all messages */
  }
  uint32_t point = 0;
  for (size_t count = 0; *at != '\0'; at += count) {
    count = decode(at, &point);
    const bool is_line = count == 1 && point == '\n' && at[1] == ' ' && at[2] == ' ';
    if (count == 0 || (is_control(point) && !is_line)) {
      return true;
    }
  }
  return false;
}
