/* The pieces of protocol buffers' text format: words, numbers, strings. text.c says how they stand
 * together. */
#ifndef TENON_PARSER_UFF_LITERAL_H_
#define TENON_PARSER_UFF_LITERAL_H_

#include "context.h"

/* One value as it is written. */
typedef struct tenon__uff_literal_t {
  enum { TENON__UFF_LITERAL_NUMBER, TENON__UFF_LITERAL_WORD, TENON__UFF_LITERAL_STRING } kind;
  bool is_integer; /* NUMBER: without point and exponent */
  int64_t integer; /* saturated to 64 bits, signed or not */
  double number;
  const char* text; /* WORD: ends with NUL; STRING: size bytes */
  size_t size;
  uint32_t line;
  uint32_t column;
} tenon__uff_literal_t;

typedef struct tenon__uff_text_t {
  tenon__uff_context_t* context;
  const char* at;
  const char* end;
  const char* line_start;
  uint32_t line;
  uint32_t depth;
  size_t field_count;     /* text.c */
  uint32_t unknown_count; /* likewise */
} tenon__uff_text_t;

bool tenon__uff_text_is_digit(char c);
bool tenon__uff_text_is_name(char c);
/* Over white space and comments, to the next token; '\0' at the end. */
char tenon__uff_text_skip(tenon__uff_text_t* reader);
/* Takes the next token if it is `c`. */
bool tenon__uff_text_take(tenon__uff_text_t* reader, char c);
uint32_t tenon__uff_text_column(const tenon__uff_text_t* reader);
/* INVALID_DATA, with the place and what is found there, or where the literal stands. */
tenon_status_t tenon__uff_text_fail(tenon__uff_text_t* reader, const char* expected);
tenon_status_t tenon__uff_text_fail_literal(const tenon__uff_text_t* reader,
                                            const tenon__uff_literal_t* field, const char* what);
tenon_status_t tenon__uff_text_word(tenon__uff_text_t* reader, const char** out_word);
tenon_status_t tenon__uff_text_literal(tenon__uff_text_t* reader, tenon__uff_literal_t* value);

#endif
