/* The code of tenon/reader.h: protocol buffers' text format, but for the values (literal.h). */
#ifndef TENON_READER_TEXT_H_
#define TENON_READER_TEXT_H_

#include <stdio.h>
#include <string.h>

#include "tenon/reader.h"
#include "tenon/reader/memory.h"

/* ---- Characters ---- */

static inline bool tenon_reader_is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* A part of a name, a word, a number. */
static inline bool tenon_reader_is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || tenon_reader_is_digit(c);
}

/* '\0' at the end; a NUL of the file is no part of any token either. */
static inline char tenon_reader_text_look(const tenon_reader_text_t* text) {
  if (text->at == text->end) {
    return '\0';
  }
  return *text->at;
}

/* Over white space and comments, to the next token; '\0' at the end. */
static inline char tenon_reader_text_skip(tenon_reader_text_t* text) {
  bool is_comment = false;
  for (; text->at < text->end; ++text->at) {
    const char c = *text->at;
    if (c == '\n') {
      is_comment = false;
      ++text->line;
      text->line_start = text->at + 1;
    } else if (c == '#') {
      is_comment = true;
    } else if (!is_comment && c != ' ' && c != '\t' && c != '\r' && c != '\f' && c != '\v') {
      return c;
    }
  }
  return '\0';
}

/* Takes the next token if it is `c`. */
static inline bool tenon_reader_text_take(tenon_reader_text_t* text, char c) {
  if (tenon_reader_text_skip(text) != c || text->at == text->end) {
    return false;
  }
  ++text->at;
  return true;
}

/* The characters of the word that stands here, perhaps none; ends with NUL. */
static inline tenon_status_t tenon_reader_text_word(tenon_reader_text_t* text,
                                                    const char** out_word) {
  const char* begin = text->at;
  while (tenon_reader_is_word(tenon_reader_text_look(text))) {
    ++text->at;
  }
  const size_t length = (size_t)(text->at - begin);
  char* word = (char*)tenon_reader_allocate(text->reader, length + 1, 1);
  if (word == NULL) {
    return tenon_reader_fail_memory(text->reader);
  }
  memcpy(word, begin, length);
  *out_word = word;
  return TENON_OK;
}

/* ---- Messages ---- */

static inline uint32_t tenon_reader_text_column(const tenon_reader_text_t* text) {
  const size_t column = (size_t)(text->at - text->line_start) + 1;
  return column < UINT32_MAX ? (uint32_t)column : UINT32_MAX;
}

static inline tenon_status_t tenon_reader_text_fail(const tenon_reader_text_t* text,
                                                    const char* expected) {
  char found[32] = "the end of the file";
  if (text->at < text->end) {
    const unsigned char c = (unsigned char)*text->at;
    (void)snprintf(found, sizeof(found), c > ' ' && c < 0x7F ? "'%c'" : "the byte 0x%02x", c);
  }
  return TENON_READER_FAIL(text->reader, TENON_ERROR_INVALID_DATA,
                           "line %u, column %u: %s, found %s", text->line,
                           tenon_reader_text_column(text), expected, found);
}

static inline tenon_status_t tenon_reader_literal_fail(const tenon_reader_text_t* text,
                                                       const tenon_reader_literal_t* literal,
                                                       const char* what) {
  return TENON_READER_FAIL(text->reader, TENON_ERROR_INVALID_DATA, "line %u, column %u: %s",
                           literal->line, literal->column, what);
}

/* ---- Messages ---- */

static inline void tenon_reader_text_open(tenon_reader_text_t* text, const void* data,
                                          size_t size_bytes) {
  static const char mark[] = "\xEF\xBB\xBF"; /* of UTF-8, by some editors */
  const char* begin = size_bytes == 0 ? "" : (const char*)data;
  memset(text, 0, sizeof(*text));
  text->at = begin + (size_bytes >= 3 && memcmp(begin, mark, 3) == 0 ? 3 : 0);
  text->end = begin + size_bytes;
  text->line_start = text->at;
  text->line = 1;
}

static inline tenon_status_t tenon_reader_text_begin_message(tenon_reader_text_t* text, char close,
                                                             tenon_reader_message_t* out_message) {
  if (text->depth >= text->depth_limit) {
    char what[64];
    (void)snprintf(what, sizeof(what), "messages are nested more than %u deep", text->depth_limit);
    return tenon_reader_text_fail(text, what);
  }
  ++text->depth;
  memset(out_message, 0, sizeof(*out_message));
  out_message->close = close;
  out_message->begin_line = text->line;
  return TENON_OK;
}

static inline tenon_status_t tenon_reader_text_begin(tenon_reader_t* reader, const void* data,
                                                     size_t size_bytes, uint32_t depth_limit,
                                                     tenon_reader_text_t* out_text,
                                                     tenon_reader_message_t* out_message) {
  tenon_reader_text_open(out_text, data, size_bytes);
  out_text->reader = reader;
  out_text->depth_limit = depth_limit;
  return tenon_reader_text_begin_message(out_text, '\0', out_message);
}

static inline tenon_status_t tenon_reader_text_enter(tenon_reader_text_t* text,
                                                     tenon_reader_message_t* out_message) {
  const char close = tenon_reader_text_skip(text) == '{' ? '}' : '>';
  if (!tenon_reader_text_take(text, '{') && !tenon_reader_text_take(text, '<')) {
    return tenon_reader_text_fail(text, "expected '{'");
  }
  return tenon_reader_text_begin_message(text, close, out_message);
}

/* Whether the message has ended; past its brace. */
static inline tenon_status_t tenon_reader_text_end(tenon_reader_text_t* text,
                                                   const tenon_reader_message_t* message,
                                                   bool* out_is_end) {
  (void)tenon_reader_text_skip(text);
  const bool is_file_end = text->at == text->end;
  if (is_file_end && message->close != '\0') {
    return TENON_READER_FAIL(
        text->reader, TENON_ERROR_INVALID_DATA,
        "line %u, column %u: the file ends before the message that begins in line %u", text->line,
        tenon_reader_text_column(text), message->begin_line);
  }
  *out_is_end =
      is_file_end || (message->close != '\0' && tenon_reader_text_take(text, message->close));
  return TENON_OK;
}

/* Of an extension the last part is what it is called. */
static inline tenon_status_t tenon_reader_text_name(tenon_reader_text_t* text,
                                                    const char** out_name) {
  const bool is_extension = tenon_reader_text_take(text, '[');
  do {
    const char c = tenon_reader_text_skip(text);
    if (!tenon_reader_is_word(c) || tenon_reader_is_digit(c)) {
      return tenon_reader_text_fail(text, "expected a field's name");
    }
    TENON_READER_TRY(tenon_reader_text_word(text, out_name));
  } while (is_extension && tenon_reader_text_take(text, '.'));
  return is_extension && !tenon_reader_text_take(text, ']')
             ? tenon_reader_text_fail(text, "expected ']' after an extension's name")
             : TENON_OK;
}

static inline tenon_status_t tenon_reader_text_field(tenon_reader_text_t* text,
                                                     tenon_reader_message_t* message) {
  bool is_end = false;
  TENON_READER_TRY(tenon_reader_text_end(text, message, &is_end));
  message->name = NULL;
  if (is_end) {
    --text->depth;
    return TENON_OK;
  }
  message->line = text->line;
  message->column = tenon_reader_text_column(text);
  TENON_READER_TRY(tenon_reader_text_name(text, &message->name));
  message->has_colon = tenon_reader_text_take(text, ':');
  message->is_list = tenon_reader_text_take(text, '[');
  message->is_first = true;
  return TENON_OK;
}

/* Whether the field has a further value; past what stands between them, or behind the last one. */
static inline tenon_status_t tenon_reader_text_further(tenon_reader_text_t* text,
                                                       tenon_reader_message_t* message) {
  const bool is_first = message->is_first;
  message->is_first = false;
  message->has_value = message->is_list ? !is_first && tenon_reader_text_take(text, ',') : is_first;
  if (message->has_value) {
    return TENON_OK;
  }
  if (message->is_list && !tenon_reader_text_take(text, ']')) {
    message->has_value = is_first;
    return is_first ? TENON_OK
                    : tenon_reader_text_fail(text, "expected ',' or ']' after a list's value");
  }
  (void)(tenon_reader_text_take(text, ',') || tenon_reader_text_take(text, ';'));
  return TENON_OK;
}

static inline tenon_status_t tenon_reader_text_value(tenon_reader_text_t* text,
                                                     tenon_reader_message_t* message) {
  TENON_READER_TRY(tenon_reader_text_further(text, message));
  const char c = tenon_reader_text_skip(text);
  message->is_message = message->has_value && (c == '{' || c == '<');
  const bool is_bare = !message->has_colon && !message->is_list && !message->is_message;
  return message->has_value && is_bare
             ? tenon_reader_text_fail(text, "expected ':' or '{' after a field's name")
             : TENON_OK;
}

static inline bool tenon_reader_text_begins_with(const void* data, size_t size_bytes,
                                                 const char* name) {
  tenon_reader_text_t text;
  const size_t length = strlen(name);
  tenon_reader_text_open(&text, data, size_bytes);
  (void)tenon_reader_text_skip(&text);
  if ((size_t)(text.end - text.at) <= length || memcmp(text.at, name, length) != 0) {
    return false;
  }
  text.at += length;
  const char c = tenon_reader_text_skip(&text);
  return c == ':' || c == '{' || c == '<';
}

#endif /* TENON_READER_TEXT_H_ */
