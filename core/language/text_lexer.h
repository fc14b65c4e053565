/*
 * Tokens of both languages. Each token is a view into the text. Blanks and line ends only separate
 * tokens. A comment extends from # to the end of its line. The lexer reads untrusted bytes of a
 * plugin and always ends with a token or an error.
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

/* `position` and `size` are in bytes of the source, quotes of a string included; the column of a
 * message is position + 1. `integer` and `number` are for INTEGER and FLOAT. */
typedef struct tenon__token_t {
  tenon__token_kind_t kind;
  char sign;
  uint32_t position;
  uint32_t size;
  int64_t integer;
  double number;
} tenon__token_t;

/* The grammar needs one token of look-ahead. The lexer owns nothing and borrows source and sink. */
typedef struct tenon__lexer_t {
  const char* source;
  uint32_t size;
  uint32_t position;
  bool dotted_names; /* "domain.name/1" is one NAME: texts of calls */
  const tenon_sink_t* sink;
  tenon__token_t token; /* the current one */
} tenon__lexer_t;

/* Begins before the first token; call tenon__lexer_next to get it. Returns INVALID_DATA for NULL
 * and texts above 16 KiB. */
tenon_status_t tenon__lexer_begin(tenon__lexer_t* out_lexer, const char* source,
                                  const tenon_sink_t* sink);
/* Advances to the next token; at the end of the text it stays there. Returns INVALID_DATA with the
 * column for an unexpected character, a number that is out of range or followed by a letter, and an
 * unterminated string. */
tenon_status_t tenon__lexer_next(tenon__lexer_t* lexer);
/* Returns true if the current token is the sign (not a string or name with the same text). */
bool tenon__lexer_at(const tenon__lexer_t* lexer, char sign);
/* Advances past `sign`, or reports the expected sign. */
tenon_status_t tenon__lexer_expect(tenon__lexer_t* lexer, char sign);
/* Reports "column 7: expected ..., found 'x'" and returns INVALID_DATA. */
tenon_status_t tenon__lexer_fail(const tenon__lexer_t* lexer, const char* expected);
/* Returns a copy of the current token's text (of a string: without quotes); NULL if out of
 * memory. */
const char* tenon__lexer_copy(const tenon__lexer_t* lexer, tenon__arena_t* arena);

#endif
