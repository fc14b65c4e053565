/* The lexer. Numbers are read by hand where they are integers, so that what does not fit is
 * refused. */
#include "core/language/text_lexer.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/language/syntax.h"

enum { NUMBER_SIZE = 64 };

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* The character `ahead` of the position, NUL past the end. */
static char peek(const tenon__lexer_t* lexer, uint32_t ahead) {
  const uint32_t at = lexer->position + ahead;
  return lexer->source[at < lexer->size ? at : lexer->size]; /* the text ends with NUL */
}

static void skip_space(tenon__lexer_t* lexer) {
  for (;;) {
    const char c = peek(lexer, 0);
    if (c == '#') {
      while (lexer->position < lexer->size && peek(lexer, 0) != '\n') {
        ++lexer->position;
      }
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++lexer->position;
    } else {
      return;
    }
  }
}

static tenon_status_t fail_at(const tenon__lexer_t* lexer, uint32_t position, const char* what) {
  return tenon__fail(lexer->sink, TENON_ERROR_INVALID_DATA, "column %u: %s", position + 1, what);
}

static tenon_status_t lex_integer(tenon__lexer_t* lexer) {
  int64_t value = 0;
  for (; is_digit(peek(lexer, 0)); ++lexer->position) {
    if (!tenon__multiply_int64(value, 10, &value) ||
        !tenon__add_int64(value, peek(lexer, 0) - '0', &value)) {
      return fail_at(lexer, lexer->token.position, "the integer is too large");
    }
  }
  lexer->token.kind = TENON_TOKEN_INTEGER;
  lexer->token.integer = value;
  return TENON_OK;
}

/* How many characters from here make a float; 0 when it is an integer. "2..": an integer and a
 * range. */
static uint32_t float_length(const tenon__lexer_t* lexer) {
  uint32_t at = 0;
  bool is_float = false;
  while (is_digit(peek(lexer, at))) {
    ++at;
  }
  if (peek(lexer, at) == '.' && peek(lexer, at + 1) != '.') {
    is_float = true;
    ++at;
    while (is_digit(peek(lexer, at))) {
      ++at;
    }
  }
  if (peek(lexer, at) == 'e' || peek(lexer, at) == 'E') {
    const uint32_t sign = peek(lexer, at + 1) == '+' || peek(lexer, at + 1) == '-' ? 1 : 0;
    if (is_digit(peek(lexer, at + 1 + sign))) {
      is_float = true;
      at += 1 + sign;
      while (is_digit(peek(lexer, at))) {
        ++at;
      }
    }
  }
  return is_float ? at : 0;
}

static double read_float(const char* text, uint32_t length) {
  char digits[NUMBER_SIZE] = {0};
  memcpy(digits, text, length);
  return strtod(digits, NULL);
}

static tenon_status_t lex_number(tenon__lexer_t* lexer) {
  const uint32_t length = float_length(lexer);
  tenon_status_t status = TENON_OK;
  if (length == 0) {
    status = lex_integer(lexer);
  } else if (length >= NUMBER_SIZE) {
    status = fail_at(lexer, lexer->position, "the number is too long");
  } else {
    lexer->token.kind = TENON_TOKEN_FLOAT;
    lexer->token.number = read_float(lexer->source + lexer->position, length);
    lexer->position += length;
  }
  if (status == TENON_OK && is_letter(peek(lexer, 0))) {
    status = fail_at(lexer, lexer->position, "a letter follows a number");
  }
  return status;
}

static void lex_name(tenon__lexer_t* lexer) {
  while (is_letter(peek(lexer, 0)) || is_digit(peek(lexer, 0)) ||
         (lexer->dotted_names && peek(lexer, 0) == '.' && is_letter(peek(lexer, 1))) ||
         (lexer->dotted_names && peek(lexer, 0) == '/' && is_digit(peek(lexer, 1)))) {
    ++lexer->position;
  }
  lexer->token.kind = TENON_TOKEN_NAME;
}

static tenon_status_t lex_string(tenon__lexer_t* lexer) {
  const uint32_t begin = ++lexer->position;
  while (lexer->position < lexer->size && peek(lexer, 0) != '\'' && peek(lexer, 0) != '\n') {
    ++lexer->position;
  }
  if (peek(lexer, 0) != '\'') {
    return fail_at(lexer, begin - 1, "the string has no end");
  }
  lexer->token.kind = TENON_TOKEN_STRING;
  ++lexer->position;
  return TENON_OK;
}

static tenon_status_t lex_sign(tenon__lexer_t* lexer) {
  static const struct {
    char text[3];
    char sign;
  } pairs[] = {{"&&", 'A'}, {"||", 'O'}, {"==", 'E'}, {"!=", 'N'},
               {"<=", 'L'}, {">=", 'G'}, {"..", 'R'}};
  const char first = peek(lexer, 0);
  lexer->token.kind = TENON_TOKEN_SIGN;
  for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); ++i) {
    if (first == pairs[i].text[0] && peek(lexer, 1) == pairs[i].text[1]) {
      lexer->token.sign = pairs[i].sign;
      lexer->position += 2;
      return TENON_OK;
    }
  }
  if (first == '\0' || strchr("?:|^&<>+-*/%!()[]{},;=.", first) == NULL) {
    return fail_at(lexer, lexer->position, "unexpected character");
  }
  lexer->token.sign = first;
  ++lexer->position;
  return TENON_OK;
}

tenon_status_t tenon__lexer_next(tenon__lexer_t* lexer) {
  skip_space(lexer);
  lexer->token = (tenon__token_t){.position = lexer->position};
  tenon_status_t status = TENON_OK;
  const char c = peek(lexer, 0);
  if (lexer->position >= lexer->size) {
    lexer->token.kind = TENON_TOKEN_END;
  } else if (is_letter(c)) {
    lex_name(lexer);
  } else if (is_digit(c)) {
    status = lex_number(lexer);
  } else if (c == '\'') {
    status = lex_string(lexer);
  } else {
    status = lex_sign(lexer);
  }
  lexer->token.size = lexer->position - lexer->token.position;
  return status;
}

tenon_status_t tenon__lexer_begin(tenon__lexer_t* out_lexer, const char* source,
                                  const tenon_sink_t* sink) {
  const size_t size = source == NULL ? 0 : strlen(source);
  if (source == NULL || size > TENON_TEXT_BYTES) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                       source == NULL ? "there is no text" : "the text is longer than 16 KiB");
  }
  *out_lexer = (tenon__lexer_t){.source = source, .size = (uint32_t)size, .sink = sink};
  return TENON_OK;
}

bool tenon__lexer_at(const tenon__lexer_t* lexer, char sign) {
  return lexer->token.kind == TENON_TOKEN_SIGN && lexer->token.sign == sign;
}

tenon_status_t tenon__lexer_fail(const tenon__lexer_t* lexer, const char* expected) {
  const tenon__token_t* token = &lexer->token;
  if (token->kind == TENON_TOKEN_END) {
    return tenon__fail(lexer->sink, TENON_ERROR_INVALID_DATA,
                       "column %u: expected %s, found the end", token->position + 1, expected);
  }
  return tenon__fail(lexer->sink, TENON_ERROR_INVALID_DATA,
                     "column %u: expected %s, found \"%.*s\"", token->position + 1, expected,
                     (int)token->size, lexer->source + token->position);
}

tenon_status_t tenon__lexer_expect(tenon__lexer_t* lexer, char sign) {
  if (!tenon__lexer_at(lexer, sign)) {
    const char expected[4] = {'"', sign, '"', '\0'};
    return tenon__lexer_fail(lexer, expected);
  }
  return tenon__lexer_next(lexer);
}

const char* tenon__lexer_copy(const tenon__lexer_t* lexer, tenon__arena_t* arena) {
  const uint32_t quotes = lexer->token.kind == TENON_TOKEN_STRING ? 1 : 0;
  return tenon__arena_copy_text(arena, lexer->source + lexer->token.position + quotes,
                                lexer->token.size - 2 * quotes);
}
