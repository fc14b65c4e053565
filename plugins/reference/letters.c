/* Locales as arguments. NOLINTNEXTLINE: POSIX names the macro. */
#define _POSIX_C_SOURCE 200809L
#include "letters.h"

#include <locale.h>
#include <stdint.h>
#include <wctype.h>

void* tenon__letters_begin(void) {
  return newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

void tenon__letters_end(void* letters) {
  if (letters != NULL) {
    freelocale(letters);
  }
}

/* A character, or a byte that belongs to none: then point is the byte with NO_POINT. */
enum { NO_POINT = 1 << 30 };

static size_t read_point(const char* text, size_t size, uint32_t* out_point) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const unsigned char first = (unsigned char)text[0];
  const size_t length = first < 0x80   ? 1
                        : first < 0xc0 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf8 ? 4
                                       : 0;
  uint32_t point = length == 1 ? first : first & (0x7fu >> length);
  *out_point = first | (uint32_t)NO_POINT;
  if (length == 0 || length > size) {
    return 1;
  }
  for (size_t k = 1; k < length; ++k) {
    const unsigned char next = (unsigned char)text[k];
    if ((next & 0xc0u) != 0x80u) {
      return 1;
    }
    point = point << 6 | (next & 0x3fu);
  }
  if (point < least[length] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) {
    return 1;
  }
  *out_point = point;
  return length;
}

static size_t write_point(uint32_t point, char* out) {
  const size_t length = point < 0x80 || point >= (uint32_t)NO_POINT ? 1
                        : point < 0x800                             ? 2
                        : point < 0x10000                           ? 3
                                                                    : 4;
  for (size_t k = length; k-- > 1; point >>= 6) {
    out[k] = (char)(unsigned char)(0x80u | (point & 0x3fu));
  }
  static const unsigned char mark[] = {0, 0, 0xc0, 0xe0, 0xf0};
  out[0] = (char)(unsigned char)(mark[length] | (point & 0xffu));
  return length;
}

static uint32_t change_point(void* letters, uint32_t point, int direction) {
  if (letters == NULL || point < 0x80) {
    const uint32_t first = direction > 0 ? 'a' : 'A';
    return point >= first && point < first + 26 ? point ^ 0x20u : point;
  }
  if (point >= (uint32_t)NO_POINT) {
    return point;
  }
  return direction > 0 ? (uint32_t)towupper_l((wint_t)point, letters)
                       : (uint32_t)towlower_l((wint_t)point, letters);
}

size_t tenon__letters_change(void* letters, const char* text, size_t size, int direction,
                             char* out) {
  size_t written = 0;
  for (size_t k = 0; k < size;) {
    uint32_t point = 0;
    k += read_point(text + k, size - k, &point);
    written += write_point(change_point(letters, point, direction), out + written);
  }
  return written;
}

bool tenon__letters_same(void* letters, const char* a, size_t a_size, const char* b,
                         size_t b_size) {
  size_t i = 0;
  size_t j = 0;
  bool same = true;
  while (same && i < a_size && j < b_size) {
    uint32_t left = 0;
    uint32_t right = 0;
    i += read_point(a + i, a_size - i, &left);
    j += read_point(b + j, b_size - j, &right);
    same = change_point(letters, left, -1) == change_point(letters, right, -1);
  }
  return same && i == a_size && j == b_size;
}
