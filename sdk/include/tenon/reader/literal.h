/* The code of tenon/reader.h: the values of protocol buffers' text format. */
#ifndef TENON_READER_LITERAL_H_
#define TENON_READER_LITERAL_H_

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/reader.h"
#include "tenon/reader/memory.h"
#include "tenon/reader/text.h"

/* ---- Numbers ---- */

static inline bool tenon_reader_word_is(const char* word, const char* lower) {
  size_t i = 0;
  for (; word[i] != '\0' && lower[i] != '\0'; ++i) {
    if ((word[i] | 0x20) != lower[i]) {
      return false;
    }
  }
  return word[i] == lower[i];
}

/* inf and nan, with their sign, are numbers. */
static inline bool tenon_reader_take_special(tenon_reader_literal_t* literal, bool is_negative) {
  const bool is_infinite =
      tenon_reader_word_is(literal->text, "inf") || tenon_reader_word_is(literal->text, "infinity");
  if (!is_infinite && !tenon_reader_word_is(literal->text, "nan")) {
    return false;
  }
  literal->kind = TENON_READER_LITERAL_NUMBER;
  literal->number = !is_infinite ? (double)NAN : is_negative ? -(double)INFINITY : (double)INFINITY;
  return true;
}

static inline bool tenon_reader_is_hexadecimal(const char* text) {
  return text[0] == '0' && (text[1] | 0x20) == 'x';
}

/* The characters of a number, whether or not they make one. */
static inline size_t tenon_reader_number_length(const tenon_reader_text_t* text) {
  const char* at = text->at;
  for (; at < text->end; ++at) {
    const bool after_exponent = at > text->at && (at[-1] | 0x20) == 'e';
    const bool is_sign =
        (*at == '+' || *at == '-') && after_exponent && !tenon_reader_is_hexadecimal(text->at);
    if (!tenon_reader_is_word(*at) && *at != '.' && !is_sign) {
      break;
    }
  }
  return (size_t)(at - text->at);
}

static inline bool tenon_reader_parse_integer(const char* text, tenon_reader_literal_t* literal) {
  char* end = NULL;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 0);
  const bool is_decimal = text[0] != '0';
  literal->is_integer = true;
  literal->magnitude = value;
  literal->number = errno == ERANGE && is_decimal ? strtod(text, NULL) : (double)value;
  return *end == '\0';
}

/* Digits with a point or an exponent, perhaps followed by f. */
static inline bool tenon_reader_parse_decimal(char* text, tenon_reader_literal_t* literal) {
  const size_t length = strlen(text);
  char* end = NULL;
  if (length > 1 && (text[length - 1] | 0x20) == 'f') {
    text[length - 1] = '\0';
  }
  const size_t first = text[0] == '.' && length > 1 ? 1 : 0;
  literal->number = strtod(text, &end);
  return *end == '\0' && tenon_reader_is_digit(text[first]) && !tenon_reader_is_hexadecimal(text);
}

static inline tenon_status_t tenon_reader_read_number(tenon_reader_text_t* text, bool is_negative,
                                                      tenon_reader_literal_t* literal) {
  char number[TENON_READER_NUMBER_LIMIT + 1];
  const size_t length = tenon_reader_number_length(text);
  if (length >= sizeof(number)) {
    return tenon_reader_literal_fail(text, literal, "a number of more than 511 characters");
  }
  memcpy(number, text->at, length);
  number[length] = '\0';
  const char* marks = tenon_reader_is_hexadecimal(number) ? "." : ".eEfF";
  const bool is_good = strpbrk(number, marks) != NULL ? tenon_reader_parse_decimal(number, literal)
                                                      : tenon_reader_parse_integer(number, literal);
  if (!is_good) {
    return TENON_READER_FAIL(text->reader, TENON_ERROR_INVALID_DATA,
                             "line %u, column %u: '%.*s' is no number", literal->line,
                             literal->column, (int)length, text->at);
  }
  literal->kind = TENON_READER_LITERAL_NUMBER;
  literal->is_negative = literal->is_integer && is_negative;
  literal->number = is_negative ? -literal->number : literal->number;
  text->at += length;
  return TENON_OK;
}

static inline int64_t tenon_reader_literal_int64(const tenon_reader_literal_t* literal) {
  const uint64_t magnitude = literal->magnitude;
  if (magnitude > (uint64_t)INT64_MAX) {
    return literal->is_negative ? INT64_MIN : INT64_MAX;
  }
  return literal->is_negative ? -(int64_t)magnitude : (int64_t)magnitude;
}

/* ---- Strings ---- */

static inline int tenon_reader_hex_value(char c) {
  return tenon_reader_is_digit(c) ? c - '0'
         : c >= 'a' && c <= 'f'   ? c - 'a' + 10
         : c >= 'A' && c <= 'F'   ? c - 'A' + 10
                                  : -1;
}

/* At most `limit` digits of a base; -1 when there is none. */
static inline int64_t tenon_reader_read_digits(tenon_reader_text_t* text, int base, int limit) {
  int64_t value = -1;
  for (int i = 0; i < limit; ++i) {
    const int digit = tenon_reader_hex_value(tenon_reader_text_look(text));
    if (digit < 0 || digit >= base) {
      break;
    }
    value = (value < 0 ? 0 : value) * base + digit;
    ++text->at;
  }
  return value;
}

static inline size_t tenon_reader_write_utf8(uint32_t c, char* out) {
  if (c < 0x80u) {
    out[0] = (char)c;
    return 1;
  }
  if (c < 0x800u) {
    out[0] = (char)(0xC0u | c >> 6);
    out[1] = (char)(0x80u | (c & 0x3Fu));
    return 2;
  }
  if (c < 0x10000u) {
    out[0] = (char)(0xE0u | c >> 12);
    out[1] = (char)(0x80u | (c >> 6 & 0x3Fu));
    out[2] = (char)(0x80u | (c & 0x3Fu));
    return 3;
  }
  out[0] = (char)(0xF0u | c >> 18);
  out[1] = (char)(0x80u | (c >> 12 & 0x3Fu));
  out[2] = (char)(0x80u | (c >> 6 & 0x3Fu));
  out[3] = (char)(0x80u | (c & 0x3Fu));
  return 4;
}

/* What follows a backslash, as at most 4 bytes; 0: no escape. */
static inline size_t tenon_reader_read_escape(tenon_reader_text_t* text, char* out) {
  static const char letters[] = "abfnrtv\\'\"?";
  static const char meanings[] = "\a\b\f\n\r\t\v\\'\"?";
  const char c = tenon_reader_text_look(text);
  const char* letter = c == '\0' ? NULL : strchr(letters, c);
  if (letter != NULL) {
    ++text->at;
    out[0] = meanings[letter - letters];
    return 1;
  }
  if (tenon_reader_hex_value(c) >= 0 && tenon_reader_hex_value(c) < 8) {
    const int64_t value = tenon_reader_read_digits(text, 8, 3);
    out[0] = (char)value;
    return value < 256 ? 1 : 0;
  }
  if (c != 'x' && c != 'X' && c != 'u' && c != 'U') {
    return 0;
  }
  ++text->at;
  const bool is_byte = c == 'x' || c == 'X';
  const int64_t value = tenon_reader_read_digits(text, 16, is_byte ? 2 : c == 'u' ? 4 : 8);
  if (value < 0 || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
    return 0;
  }
  if (is_byte) {
    out[0] = (char)value;
    return 1;
  }
  return tenon_reader_write_utf8((uint32_t)value, out);
}

/* Bytes of a string that may consist of several. */
typedef struct tenon_reader_bytes_t {
  char* data;
  size_t size;
  size_t capacity;
} tenon_reader_bytes_t;

static inline tenon_status_t tenon_reader_append(tenon_reader_t* reader,
                                                 tenon_reader_bytes_t* bytes, const char* data,
                                                 size_t size_bytes) {
  if (bytes->capacity - bytes->size < size_bytes) {
    const size_t capacity = bytes->capacity * 2 + size_bytes + 16;
    char* larger = (char*)tenon_reader_enlarge(reader, bytes->data, bytes->size, capacity, 1);
    if (larger == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    bytes->data = larger;
    bytes->capacity = capacity;
  }
  if (size_bytes > 0) {
    memcpy(bytes->data + bytes->size, data, size_bytes);
    bytes->size += size_bytes;
  }
  return TENON_OK;
}

/* One string after its opening quote. */
static inline tenon_status_t tenon_reader_read_quoted(tenon_reader_text_t* text, char quote,
                                                      tenon_reader_bytes_t* bytes) {
  while (tenon_reader_text_look(text) != quote) {
    const char* begin = text->at;
    while (text->at < text->end && *text->at != quote && *text->at != '\\' && *text->at != '\n') {
      ++text->at;
    }
    TENON_READER_TRY(tenon_reader_append(text->reader, bytes, begin, (size_t)(text->at - begin)));
    if (text->at == text->end || *text->at == '\n') {
      return tenon_reader_text_fail(text, "expected the string's closing quote");
    }
    if (*text->at == '\\') {
      char escape[4] = {0};
      ++text->at;
      const size_t size = tenon_reader_read_escape(text, escape);
      if (size == 0) {
        return tenon_reader_text_fail(text, "expected an escape after '\\'");
      }
      TENON_READER_TRY(tenon_reader_append(text->reader, bytes, escape, size));
    }
  }
  ++text->at;
  return TENON_OK;
}

/* Strings that follow one another are one. */
static inline tenon_status_t tenon_reader_read_string(tenon_reader_text_t* text,
                                                      tenon_reader_literal_t* literal) {
  tenon_reader_bytes_t bytes = {NULL, 0, 0};
  char quote = tenon_reader_text_look(text);
  while (quote == '"' || quote == '\'') {
    ++text->at;
    TENON_READER_TRY(tenon_reader_read_quoted(text, quote, &bytes));
    quote = tenon_reader_text_skip(text);
  }
  literal->kind = TENON_READER_LITERAL_STRING;
  literal->text = bytes.size == 0 ? "" : bytes.data;
  literal->size = bytes.size;
  return TENON_OK;
}

/* ---- All of them ---- */

static inline tenon_status_t tenon_reader_text_literal(tenon_reader_text_t* text,
                                                       tenon_reader_literal_t* out_literal) {
  char c = tenon_reader_text_skip(text);
  memset(out_literal, 0, sizeof(*out_literal));
  out_literal->line = text->line;
  out_literal->column = tenon_reader_text_column(text);
  if (c == '"' || c == '\'') {
    return tenon_reader_read_string(text, out_literal);
  }
  const bool is_negative = c == '-';
  if (is_negative || c == '+') {
    ++text->at;
    c = tenon_reader_text_skip(text);
  }
  if (tenon_reader_is_digit(c) || c == '.') {
    return tenon_reader_read_number(text, is_negative, out_literal);
  }
  if (!tenon_reader_is_word(c)) {
    return tenon_reader_text_fail(text, "expected a value");
  }
  TENON_READER_TRY(tenon_reader_text_word(text, &out_literal->text));
  out_literal->size = strlen(out_literal->text);
  out_literal->kind = TENON_READER_LITERAL_WORD;
  if (!tenon_reader_take_special(out_literal, is_negative) && is_negative) {
    return tenon_reader_literal_fail(text, out_literal, "expected a number after '-'");
  }
  return TENON_OK;
}

#endif /* TENON_READER_LITERAL_H_ */
