/* The parser of expressions, and what the two kinds of texts share. */
#ifndef TENON_CORE_LANGUAGE_TEXT_PARSER_H_
#define TENON_CORE_LANGUAGE_TEXT_PARSER_H_

#include "core/language/syntax.h"
#include "core/language/text_lexer.h"

/* On the stack of a parse; `nesting` counts the recursion through parentheses and signs, which is
 * refused beyond 64. */
typedef struct tenon__parser_t {
  tenon__lexer_t lexer;
  tenon__arena_t* arena;
  uint32_t nesting;
} tenon__parser_t;

/* One expression from the current token on, by precedence; the parser stands behind it then. The
 * tree lies in the arena. */
tenon_status_t tenon__parse_expression(tenon__parser_t* parser, const tenon__syntax_t** out_syntax);

/* Stands at the first token afterwards. With dotted_names "acme.swish/1" is one name, and a
 * division by a digit has to be written with a blank. */
tenon_status_t tenon__parser_begin(tenon__parser_t* out_parser, tenon__arena_t* arena,
                                   const char* source, bool dotted_names, const tenon_sink_t* sink);
/* Copies the current NAME and goes past it. INVALID_DATA says that `expected` was. */
tenon_status_t tenon__parse_name(tenon__parser_t* parser, const char* expected,
                                 const char** out_name);
/* Between two items of a list: nothing before the first one. */
tenon_status_t tenon__parse_separator(tenon__parser_t* parser, uint32_t count);
/* Statements up to the end of the text, ";" after each but the last: an array in the arena of what
 * `parse` fills, `size` bytes each, zeros at first. */
typedef tenon_status_t tenon__parse_statement_t(tenon__parser_t* parser, void* out_statement);
tenon_status_t tenon__parse_statements(tenon__parser_t* parser, tenon__parse_statement_t* parse,
                                       size_t size, const void** out_statements,
                                       uint32_t* out_count);

#endif
