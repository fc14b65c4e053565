#include "literal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_SIZE = 512, DESCRIPTION_SIZE = 32 };

/* ---- Characters ---- */

bool tenon__uff_text_is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool tenon__uff_text_is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         tenon__uff_text_is_digit(c);
}

/* '\0' at the end; a NUL of the file is no part of any token either. */
static char look(const tenon__uff_text_t* reader) {
  if (reader->at == reader->end) {
    return '\0';
  }
  return *reader->at;
}

/* Over white space and comments, to the next token. */
char tenon__uff_text_skip(tenon__uff_text_t* reader) {
  bool is_comment = false;
  for (; reader->at < reader->end; ++reader->at) {
    const char c = *reader->at;
    if (c == '\n') {
      is_comment = false;
      ++reader->line;
      reader->line_start = reader->at + 1;
    } else if (c == '#') {
      is_comment = true;
    } else if (!is_comment && c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v') {
      return c;
    }
  }
  return '\0';
}

bool tenon__uff_text_take(tenon__uff_text_t* reader, char c) {
  if (tenon__uff_text_skip(reader) != c || reader->at == reader->end) {
    return false;
  }
  ++reader->at;
  return true;
}

/* ---- Words for what is wrong ---- */

uint32_t tenon__uff_text_column(const tenon__uff_text_t* reader) {
  const size_t column = (size_t)(reader->at - reader->line_start) + 1;
  return column < UINT32_MAX ? (uint32_t)column : UINT32_MAX;
}

static tenon_status_t fail_at(const tenon__uff_text_t* reader, uint32_t line, uint32_t column,
                              const char* expected) {
  char found[DESCRIPTION_SIZE] = "the end of the file";
  if (reader->at < reader->end) {
    const unsigned char c = (unsigned char)*reader->at;
    (void)snprintf(found, sizeof(found), c > ' ' && c < 0x7F ? "'%c'" : "the byte 0x%02x", c);
  }
  return UFF_FAIL(reader->context, TENON_ERROR_INVALID_DATA, "line %u, column %u: %s, found %s",
                  line, column, expected, found);
}

tenon_status_t tenon__uff_text_fail(tenon__uff_text_t* reader, const char* expected) {
  return fail_at(reader, reader->line, tenon__uff_text_column(reader), expected);
}

tenon_status_t tenon__uff_text_fail_literal(const tenon__uff_text_t* reader,
                                            const tenon__uff_literal_t* field, const char* what) {
  return UFF_FAIL(reader->context, TENON_ERROR_INVALID_DATA, "line %u, column %u: %s", field->line,
                  field->column, what);
}

/* ---- Values ---- */

tenon_status_t tenon__uff_text_word(tenon__uff_text_t* reader, const char** out_word) {
  const char* begin = reader->at;
  while (tenon__uff_text_is_name(look(reader))) {
    ++reader->at;
  }
  char* word = tenon__uff_allocate(reader->context, (size_t)(reader->at - begin) + 1, 1);
  if (word == NULL) {
    return UFF_FAIL_MEMORY(reader->context);
  }
  memcpy(word, begin, (size_t)(reader->at - begin));
  *out_word = word;
  return TENON_OK;
}

static bool word_is(const char* word, const char* lower) {
  size_t i = 0;
  for (; word[i] != '\0' && lower[i] != '\0'; ++i) {
    if ((word[i] | 0x20) != lower[i]) {
      return false;
    }
  }
  return word[i] == lower[i];
}

/* inf and nan, with their sign, are numbers. */
static bool take_special(tenon__uff_literal_t* field, const char* word, bool is_negative) {
  const bool is_infinite = word_is(word, "inf") || word_is(word, "infinity");
  if (!is_infinite && !word_is(word, "nan")) {
    return false;
  }
  field->kind = TENON__UFF_LITERAL_NUMBER;
  field->number = !is_infinite ? (double)NAN : is_negative ? -(double)INFINITY : (double)INFINITY;
  return true;
}

/* The characters of a number, whether or not they make one. */
static size_t number_length(const tenon__uff_text_t* reader) {
  const char* at = reader->at;
  while (at < reader->end) {
    const bool is_sign = *at == '+' || *at == '-';
    const bool after_exponent = at > reader->at && (at[-1] | 0x20) == 'e' &&
                                !(reader->at[0] == '0' && (reader->at[1] | 0x20) == 'x');
    if (!tenon__uff_text_is_name(*at) && *at != '.' && !(is_sign && after_exponent)) {
      break;
    }
    ++at;
  }
  return (size_t)(at - reader->at);
}

static bool parse_integer(const char* text, bool is_negative, tenon__uff_literal_t* field) {
  char* end = NULL;
  const unsigned long long value = strtoull(text, &end, 0);
  const uint64_t limit = (uint64_t)INT64_MAX + 1;
  const uint64_t kept = is_negative && value > limit ? limit : (uint64_t)value;
  if (*end != '\0') {
    return false;
  }
  field->is_integer = true;
  const uint64_t bits = is_negative ? 0 - kept : kept;
  memcpy(&field->integer, &bits, sizeof(bits));
  field->number = is_negative ? -(double)value : (double)value;
  return true;
}

/* Digits with a point or an exponent, perhaps followed by f. */
static bool parse_decimal(char* text, bool is_negative, tenon__uff_literal_t* field) {
  const size_t length = strlen(text);
  char* end = NULL;
  if (length > 1 && (text[length - 1] | 0x20) == 'f') {
    text[length - 1] = '\0';
  }
  const double value = strtod(text, &end);
  field->number = is_negative ? -value : value;
  return *end == '\0' && (tenon__uff_text_is_digit(text[0]) || tenon__uff_text_is_digit(text[1])) &&
         (text[1] | 0x20) != 'x';
}

static tenon_status_t read_number(tenon__uff_text_t* reader, bool is_negative,
                                  tenon__uff_literal_t* field) {
  char text[NUMBER_SIZE] = "";
  const size_t length = number_length(reader);
  if (length >= sizeof(text)) {
    return tenon__uff_text_fail_literal(reader, field, "a number of more than 511 characters");
  }
  memcpy(text, reader->at, length);
  text[length] = '\0';
  const bool is_hexadecimal = text[0] == '0' && (text[1] | 0x20) == 'x';
  const bool has_fraction = strpbrk(text, is_hexadecimal ? "." : ".eEfF") != NULL;
  field->kind = TENON__UFF_LITERAL_NUMBER;
  if (!(has_fraction ? parse_decimal(text, is_negative, field)
                     : parse_integer(text, is_negative, field))) {
    return UFF_FAIL(reader->context, TENON_ERROR_INVALID_DATA,
                    "line %u, column %u: '%s' is no number", field->line, field->column, text);
  }
  reader->at += length;
  return TENON_OK;
}

static int hex_value(char c) {
  return tenon__uff_text_is_digit(c) ? c - '0'
         : c >= 'a' && c <= 'f'      ? c - 'a' + 10
         : c >= 'A' && c <= 'F'      ? c - 'A' + 10
                                     : -1;
}

/* At most `limit` digits of a base; -1 when there is none. */
static int64_t read_digits(tenon__uff_text_t* reader, int base, int limit) {
  int64_t value = -1;
  for (int i = 0; i < limit; ++i) {
    const int digit = hex_value(look(reader));
    if (digit < 0 || digit >= base) {
      break;
    }
    value = (value < 0 ? 0 : value) * base + digit;
    ++reader->at;
  }
  return value;
}

static size_t write_utf8(int64_t code, char* out) {
  const uint32_t c = (uint32_t)code;
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
static size_t read_escape(tenon__uff_text_t* reader, char* out) {
  static const char letters[] = "abfnrtv\\'\"?";
  static const char meanings[] = "\a\b\f\n\r\t\v\\'\"?";
  const char c = look(reader);
  const char* letter = c == '\0' ? NULL : strchr(letters, c);
  if (letter != NULL) {
    ++reader->at;
    out[0] = meanings[letter - letters];
    return 1;
  }
  if (hex_value(c) >= 0 && hex_value(c) < 8) {
    const int64_t value = read_digits(reader, 8, 3);
    out[0] = (char)value;
    return value < 256 ? 1 : 0;
  }
  ++reader->at;
  if (c != 'x' && c != 'X' && c != 'u' && c != 'U') {
    --reader->at;
    return 0;
  }
  const bool is_byte = c == 'x' || c == 'X';
  const int64_t value = read_digits(reader, 16, is_byte ? 2 : c == 'u' ? 4 : 8);
  if (value < 0 || value > 0x10FFFF || (!is_byte && value >= 0xD800 && value < 0xE000)) {
    return 0;
  }
  if (is_byte) {
    out[0] = (char)value;
    return 1;
  }
  return write_utf8(value, out);
}

/* Bytes of a string that may consist of several. */
typedef struct bytes_t {
  char* data;
  size_t size;
  size_t capacity;
} bytes_t;

static tenon_status_t append(tenon__uff_text_t* reader, bytes_t* bytes, const char* data,
                             size_t size) {
  if (bytes->capacity - bytes->size < size) {
    const size_t capacity = bytes->capacity * 2 + size + 16;
    char* larger = tenon__uff_enlarge(reader->context, bytes->data, bytes->size, capacity, 1);
    if (larger == NULL) {
      return UFF_FAIL_MEMORY(reader->context);
    }
    bytes->data = larger;
    bytes->capacity = capacity;
  }
  if (size > 0) {
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
  }
  return TENON_OK;
}

/* One string after its opening quote. */
static tenon_status_t read_quoted(tenon__uff_text_t* reader, char quote, bytes_t* bytes) {
  while (look(reader) != quote) {
    const char* begin = reader->at;
    while (reader->at < reader->end && *reader->at != quote && *reader->at != '\\' &&
           *reader->at != '\n') {
      ++reader->at;
    }
    UFF_TRY(append(reader, bytes, begin, (size_t)(reader->at - begin)));
    if (reader->at == reader->end || *reader->at == '\n') {
      return tenon__uff_text_fail(reader, "expected the string's closing quote");
    }
    if (*reader->at == '\\') {
      char escape[4] = {0};
      ++reader->at;
      const size_t size = read_escape(reader, escape);
      if (size == 0) {
        return tenon__uff_text_fail(reader, "expected an escape after '\\'");
      }
      UFF_TRY(append(reader, bytes, escape, size));
    }
  }
  ++reader->at;
  return TENON_OK;
}

/* Strings that follow one another are one. */
static tenon_status_t read_string(tenon__uff_text_t* reader, tenon__uff_literal_t* value) {
  bytes_t bytes = {0};
  char quote = look(reader);
  value->kind = TENON__UFF_LITERAL_STRING;
  while (quote == '"' || quote == '\'') {
    ++reader->at;
    UFF_TRY(read_quoted(reader, quote, &bytes));
    quote = tenon__uff_text_skip(reader);
  }
  value->text = bytes.data;
  value->size = bytes.size;
  return TENON_OK;
}

tenon_status_t tenon__uff_text_literal(tenon__uff_text_t* reader, tenon__uff_literal_t* value) {
  char c = tenon__uff_text_skip(reader);
  *value = (tenon__uff_literal_t){.line = reader->line, .column = tenon__uff_text_column(reader)};
  if (c == '"' || c == '\'') {
    return read_string(reader, value);
  }
  const bool is_negative = c == '-';
  if (is_negative || c == '+') {
    ++reader->at;
    c = tenon__uff_text_skip(reader);
  }
  if (tenon__uff_text_is_digit(c) || c == '.') {
    return read_number(reader, is_negative, value);
  }
  if (!tenon__uff_text_is_name(c)) {
    return tenon__uff_text_fail(reader, "expected a value");
  }
  UFF_TRY(tenon__uff_text_word(reader, &value->text));
  value->size = strlen(value->text);
  value->kind = TENON__UFF_LITERAL_WORD;
  if (!take_special(value, value->text, is_negative) && is_negative) {
    return tenon__uff_text_fail_literal(reader, value, "expected a number after '-'");
  }
  return TENON_OK;
}
