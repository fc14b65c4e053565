#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_SIZE = 512, DESCRIPTION_SIZE = 32 };

typedef struct reader_t {
  tenon__caffe_context_t* context;
  const char* at;
  const char* end;
  const char* line_start;
  uint32_t line;
  uint32_t depth;
} reader_t;

/* ---- Characters ---- */

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

/* '\0' at the end; a NUL of the file is no part of any token either. */
static char look(const reader_t* reader) {
  if (reader->at == reader->end) {
    return '\0';
  }
  return *reader->at;
}

/* Over white space and comments, to the next token. */
static char skip(reader_t* reader) {
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

static bool take(reader_t* reader, char c) {
  if (skip(reader) != c || reader->at == reader->end) {
    return false;
  }
  ++reader->at;
  return true;
}

/* ---- Words for what is wrong ---- */

static uint32_t column_of(const reader_t* reader) {
  const size_t column = (size_t)(reader->at - reader->line_start) + 1;
  return column < UINT32_MAX ? (uint32_t)column : UINT32_MAX;
}

static tenon_status_t fail_at(const reader_t* reader, uint32_t line, uint32_t column,
                              const char* expected) {
  char found[DESCRIPTION_SIZE] = "the end of the file";
  if (reader->at < reader->end) {
    const unsigned char c = (unsigned char)*reader->at;
    (void)snprintf(found, sizeof(found), c > ' ' && c < 0x7F ? "'%c'" : "the byte 0x%02x", c);
  }
  return CAFFE_FAIL(reader->context, TENON_ERROR_INVALID_DATA, "line %u, column %u: %s, found %s",
                    line, column, expected, found);
}

static tenon_status_t fail(reader_t* reader, const char* expected) {
  return fail_at(reader, reader->line, column_of(reader), expected);
}

static tenon_status_t fail_field(const reader_t* reader, const tenon__caffe_field_t* field,
                                 const char* what) {
  return CAFFE_FAIL(reader->context, TENON_ERROR_INVALID_DATA, "line %u, column %u: %s",
                    field->line, field->column, what);
}

/* ---- Values ---- */

static tenon_status_t read_word(reader_t* reader, const char** out_word) {
  const char* begin = reader->at;
  while (is_name(look(reader))) {
    ++reader->at;
  }
  char* word = tenon__caffe_allocate(reader->context, (size_t)(reader->at - begin) + 1, 1);
  if (word == NULL) {
    return CAFFE_FAIL_MEMORY(reader->context);
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
static bool take_special(tenon__caffe_field_t* field, const char* word, bool is_negative) {
  const bool is_infinite = word_is(word, "inf") || word_is(word, "infinity");
  if (!is_infinite && !word_is(word, "nan")) {
    return false;
  }
  field->kind = TENON__CAFFE_VALUE_NUMBER;
  field->number = !is_infinite ? (double)NAN : is_negative ? -(double)INFINITY : (double)INFINITY;
  return true;
}

/* The characters of a number, whether or not they make one. */
static size_t number_length(const reader_t* reader) {
  const char* at = reader->at;
  while (at < reader->end) {
    const bool is_sign = *at == '+' || *at == '-';
    const bool after_exponent = at > reader->at && (at[-1] | 0x20) == 'e' &&
                                !(reader->at[0] == '0' && (reader->at[1] | 0x20) == 'x');
    if (!is_name(*at) && *at != '.' && !(is_sign && after_exponent)) {
      break;
    }
    ++at;
  }
  return (size_t)(at - reader->at);
}

static bool parse_integer(const char* text, bool is_negative, tenon__caffe_field_t* field) {
  char* end = NULL;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 0);
  const uint64_t limit = (uint64_t)INT64_MAX + (is_negative ? 1 : 0);
  const uint64_t kept = errno != 0 || value > limit ? limit : (uint64_t)value;
  if (*end != '\0') {
    return false;
  }
  field->is_integer = true;
  field->integer = !is_negative                 ? (int64_t)kept
                   : kept > (uint64_t)INT64_MAX ? INT64_MIN
                                                : -(int64_t)kept;
  field->number = is_negative ? -(double)value : (double)value;
  return true;
}

/* Digits with a point or an exponent, perhaps followed by f. */
static bool parse_decimal(char* text, bool is_negative, tenon__caffe_field_t* field) {
  const size_t length = strlen(text);
  char* end = NULL;
  if (length > 1 && (text[length - 1] | 0x20) == 'f') {
    text[length - 1] = '\0';
  }
  const double value = strtod(text, &end);
  field->number = is_negative ? -value : value;
  return *end == '\0' && (is_digit(text[0]) || is_digit(text[1])) && (text[1] | 0x20) != 'x';
}

static tenon_status_t read_number(reader_t* reader, bool is_negative, tenon__caffe_field_t* field) {
  char text[NUMBER_SIZE] = "";
  const size_t length = number_length(reader);
  if (length >= sizeof(text)) {
    return fail_field(reader, field, "a number of more than 511 characters");
  }
  memcpy(text, reader->at, length);
  text[length] = '\0';
  const bool is_hexadecimal = text[0] == '0' && (text[1] | 0x20) == 'x';
  const bool has_fraction = strpbrk(text, is_hexadecimal ? "." : ".eEfF") != NULL;
  field->kind = TENON__CAFFE_VALUE_NUMBER;
  if (!(has_fraction ? parse_decimal(text, is_negative, field)
                     : parse_integer(text, is_negative, field))) {
    return CAFFE_FAIL(reader->context, TENON_ERROR_INVALID_DATA,
                      "line %u, column %u: '%s' is no number", field->line, field->column, text);
  }
  reader->at += length;
  return TENON_OK;
}

static int hex_value(char c) {
  return is_digit(c)            ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

/* At most `limit` digits of a base; -1 when there is none. */
static int64_t read_digits(reader_t* reader, int base, int limit) {
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
static size_t read_escape(reader_t* reader, char* out) {
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

static tenon_status_t append(reader_t* reader, bytes_t* bytes, const char* data, size_t size) {
  if (bytes->capacity - bytes->size < size) {
    const size_t capacity = bytes->capacity * 2 + size + 16;
    char* larger = tenon__caffe_enlarge(reader->context, bytes->data, bytes->size, capacity, 1);
    if (larger == NULL) {
      return CAFFE_FAIL_MEMORY(reader->context);
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
static tenon_status_t read_quoted(reader_t* reader, char quote, bytes_t* bytes) {
  while (look(reader) != quote) {
    const char* begin = reader->at;
    while (reader->at < reader->end && *reader->at != quote && *reader->at != '\\' &&
           *reader->at != '\n') {
      ++reader->at;
    }
    CAFFE_TRY(append(reader, bytes, begin, (size_t)(reader->at - begin)));
    if (reader->at == reader->end || *reader->at == '\n') {
      return fail(reader, "expected the string's closing quote");
    }
    if (*reader->at == '\\') {
      char escape[4] = {0};
      ++reader->at;
      const size_t size = read_escape(reader, escape);
      if (size == 0) {
        return fail(reader, "expected an escape after '\\'");
      }
      CAFFE_TRY(append(reader, bytes, escape, size));
    }
  }
  ++reader->at;
  return TENON_OK;
}

/* Strings that follow one another are one. */
static tenon_status_t read_string(reader_t* reader, tenon__caffe_field_t* field) {
  bytes_t bytes = {0};
  char quote = look(reader);
  field->kind = TENON__CAFFE_VALUE_STRING;
  while (quote == '"' || quote == '\'') {
    ++reader->at;
    CAFFE_TRY(read_quoted(reader, quote, &bytes));
    quote = skip(reader);
  }
  field->text = tenon__caffe_readable(reader->context, bytes.data, bytes.size);
  return field->text == NULL ? CAFFE_FAIL_MEMORY(reader->context) : TENON_OK;
}

static tenon_status_t read_message(reader_t* reader, char close,
                                   tenon__caffe_message_t** out_message);

static tenon_status_t read_value(reader_t* reader, bool is_scalar, tenon__caffe_field_t* field) {
  char c = skip(reader);
  field->line = reader->line;
  field->column = column_of(reader);
  if (c == '{' || c == '<') {
    ++reader->at;
    field->kind = TENON__CAFFE_VALUE_MESSAGE;
    return read_message(reader, c == '{' ? '}' : '>', &field->message);
  }
  if (!is_scalar) {
    return fail(reader, "expected ':' or '{' after a field's name");
  }
  if (c == '"' || c == '\'') {
    return read_string(reader, field);
  }
  const bool is_negative = c == '-';
  if (is_negative || c == '+') {
    ++reader->at;
    c = skip(reader);
  }
  if (is_digit(c) || c == '.') {
    return read_number(reader, is_negative, field);
  }
  if (!is_name(c)) {
    return fail(reader, "expected a value");
  }
  CAFFE_TRY(read_word(reader, &field->text));
  field->kind = TENON__CAFFE_VALUE_WORD;
  if (!take_special(field, field->text, is_negative) && is_negative) {
    return fail_field(reader, field, "expected a number after '-'");
  }
  return TENON_OK;
}

static tenon_status_t add_value(reader_t* reader, tenon__caffe_message_t* message, const char* name,
                                bool is_scalar) {
  tenon__caffe_field_t* field = tenon__caffe_allocate(reader->context, 1, sizeof(*field));
  if (field == NULL) {
    return CAFFE_FAIL_MEMORY(reader->context);
  }
  field->name = name;
  CAFFE_TRY(read_value(reader, is_scalar, field));
  *(message->last == NULL ? &message->first : &message->last->next) = field;
  message->last = field;
  return TENON_OK;
}

/* Names of extensions stand in brackets: [caffe.my_param]. */
static tenon_status_t read_name(reader_t* reader, const char** out_name) {
  const bool is_extension = take(reader, '[');
  const char c = skip(reader);
  if (!is_name(c) || is_digit(c)) {
    return fail(reader, "expected a field's name");
  }
  CAFFE_TRY(read_word(reader, out_name));
  while (is_extension && take(reader, '.')) {
    CAFFE_TRY(read_word(reader, out_name)); /* the last part is what it is called */
  }
  return is_extension && !take(reader, ']') ? fail(reader, "expected ']' after an extension's name")
                                            : TENON_OK;
}

static tenon_status_t read_field(reader_t* reader, tenon__caffe_message_t* message) {
  const char* name = NULL;
  CAFFE_TRY(read_name(reader, &name));
  const bool has_colon = take(reader, ':');
  if (!take(reader, '[')) {
    CAFFE_TRY(add_value(reader, message, name, has_colon));
  } else if (!take(reader, ']')) {
    do {
      CAFFE_TRY(add_value(reader, message, name, true));
    } while (take(reader, ','));
    if (!take(reader, ']')) {
      return fail(reader, "expected ',' or ']' after a list's value");
    }
  }
  (void)(take(reader, ',') || take(reader, ';'));
  return TENON_OK;
}

/* Up to the brace `close`, or, '\0', the end of the file. */
static tenon_status_t read_message(reader_t* reader, char close,
                                   tenon__caffe_message_t** out_message) {
  const uint32_t line = reader->line;
  tenon__caffe_message_t* message = tenon__caffe_allocate(reader->context, 1, sizeof(*message));
  if (message == NULL) {
    return CAFFE_FAIL_MEMORY(reader->context);
  }
  *out_message = message;
  if (++reader->depth > TENON__CAFFE_TEXT_DEPTH_LIMIT) {
    return fail(reader, "messages are nested more than 100 deep");
  }
  for (;;) {
    (void)skip(reader);
    if (reader->at == reader->end) {
      break;
    }
    if (close != '\0' && take(reader, close)) {
      --reader->depth;
      return TENON_OK;
    }
    CAFFE_TRY(read_field(reader, message));
  }
  if (close != '\0') {
    return CAFFE_FAIL(reader->context, TENON_ERROR_INVALID_DATA,
                      "line %u, column %u: the file ends before the message that begins in line %u",
                      reader->line, column_of(reader), line);
  }
  --reader->depth;
  return TENON_OK;
}

tenon_status_t tenon__caffe_text_read(tenon__caffe_context_t* context, const void* data,
                                      size_t size_bytes, tenon__caffe_message_t** out_message) {
  static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, by some editors */
  const char* begin = size_bytes == 0 ? "" : data;
  const bool is_marked = size_bytes >= 3 && memcmp(begin, mark, 3) == 0;
  const char* first = begin + (is_marked ? 3 : 0);
  reader_t reader = {
      .context = context, .at = first, .end = begin + size_bytes, .line_start = first, .line = 1};
  return read_message(&reader, '\0', out_message);
}

tenon__caffe_field_t* tenon__caffe_field_find(tenon__caffe_field_t* field, const char* name) {
  while (field != NULL && strcmp(field->name, name) != 0) {
    field = field->next;
  }
  return field;
}

const char* tenon__caffe_field_describe(tenon__caffe_context_t* context,
                                        const tenon__caffe_field_t* field) {
  const char* text = NULL;
  switch (field->kind) {
    case TENON__CAFFE_VALUE_NUMBER:
      text = tenon__caffe_format(context, "the number %.9g", field->number);
      break;
    case TENON__CAFFE_VALUE_WORD:
      text = tenon__caffe_format(context, "the word %.40s", field->text);
      break;
    case TENON__CAFFE_VALUE_STRING:
      text = tenon__caffe_format(context, "the string '%.40s'", field->text);
      break;
    case TENON__CAFFE_VALUE_MESSAGE:
      text = "a message";
      break;
  }
  return text == NULL ? "another value" : text;
}
