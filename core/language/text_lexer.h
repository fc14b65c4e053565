/*
 * Tokens of both languages. Each token is a view into the text. Blanks and line ends separate
 * tokens and mean nothing else; from a # to the end of its line is comment. The lexer reads bytes
 * from a plugin: whatever they are, it ends with a token or a fault.
 */
#ifndef TENON_CORE_LANGUAGE_TEXT_LEXER_H_
#define TENON_CORE_LANGUAGE_TEXT_LEXER_H_

#include <stdbool.h>

#include "core/base/arena.h"

typedef enum tenon__token_kind_t {
  TENON_TOKEN_END,
  TENON_TOKEN_NAME,
  TENON_TOKEN_INTEGER,
  TENON_TOKEN_FLOAT,
  TENON_TOKEN_STRING,
  TENON_TOKEN_SIGN, /* `sign`: the character, or a letter for signs of two, as in
                       tenon__syntax_t.op; 'R' for .. */
} tenon__token_kind_t;

/* `position` and `size` are bytes of the source, quotes of a string included; the column of a
 * message is position + 1. integer and number are of the kinds called so. */
typedef struct tenon__token_t {
  tenon__token_kind_t kind;
  char sign;
  uint32_t position;
  uint32_t size;
  int64_t integer;
  double number;
} tenon__token_t;

/* One token ahead: that is all the grammar needs. It owns nothing and borrows source and sink. */
typedef struct tenon__lexer_t {
  const char* source;
  uint32_t size;
  uint32_t position;
  bool dotted_names; /* "domain.name/1" is one NAME: texts of calls */
  const tenon_sink_t* sink;
  tenon__token_t token; /* the current one */
} tenon__lexer_t;

/* Stands before the first token: tenon__lexer_next makes it the current one. NULL and texts above
 * 16 KiB are INVALID_DATA. */
tenon_status_t tenon__lexer_begin(tenon__lexer_t* out_lexer, const char* source,
                                  const tenon_sink_t* sink);
/* INVALID_DATA with the column: a character that begins nothing, a number that is out of range or
 * ends in a letter, a string without an end. At the end of the text it stays there. */
tenon_status_t tenon__lexer_next(tenon__lexer_t* lexer);
/* A string or a name that looks like the sign is none. */
bool tenon__lexer_at(const tenon__lexer_t* lexer, char sign);
/* Goes past `sign` or says what was expected. */
tenon_status_t tenon__lexer_expect(tenon__lexer_t* lexer, char sign);
/* INVALID_DATA: "column 7: expected ..., found 'x'". */
tenon_status_t tenon__lexer_fail(const tenon__lexer_t* lexer, const char* expected);
/* The current token's text (of a string: without quotes) as a string; NULL when memory is out. */
const char* tenon__lexer_copy(const tenon__lexer_t* lexer, tenon__arena_t* arena);

#endif
