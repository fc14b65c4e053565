#include "core/language/text.h"

#include <string.h>

#include "core/base/status.h"
#include "core/language/text_parser.h"

/* "[d]", "[0]", ".rank" after a target. */
static tenon_status_t parse_suffix(tenon__parser_t* parser, tenon__statement_t* statement) {
  if (tenon__lexer_at(&parser->lexer, '[')) {
    TENON_TRY(tenon__lexer_next(&parser->lexer));
    const tenon__token_kind_t kind = parser->lexer.token.kind;
    if (kind != TENON_TOKEN_NAME && kind != TENON_TOKEN_INTEGER) {
      return tenon__lexer_fail(&parser->lexer, "a name or a number");
    }
    statement->subscript = tenon__lexer_copy(&parser->lexer, parser->arena);
    TENON_TRY_MEMORY(statement->subscript != NULL);
    TENON_TRY(tenon__lexer_next(&parser->lexer));
    return tenon__lexer_expect(&parser->lexer, ']');
  }
  if (tenon__lexer_at(&parser->lexer, '.')) {
    TENON_TRY(tenon__lexer_next(&parser->lexer));
    return tenon__parse_name(parser, "a name", &statement->member);
  }
  return TENON_OK;
}

static tenon_status_t parse_statement(tenon__parser_t* parser, void* out_statement) {
  tenon__statement_t* statement = out_statement;
  statement->position = parser->lexer.token.position;
  TENON_TRY(tenon__parse_name(parser, "a statement", &statement->target));
  if (strcmp(statement->target, "let") == 0 && parser->lexer.token.kind == TENON_TOKEN_NAME) {
    statement->is_let = true;
    TENON_TRY(tenon__parse_name(parser, "a name", &statement->target));
  } else if (tenon__lexer_at(&parser->lexer, ':')) {
    statement->prefix = statement->target;
    TENON_TRY(tenon__lexer_next(&parser->lexer));
    TENON_TRY(tenon__parse_name(parser, "a name", &statement->target));
  }
  if (!statement->is_let) {
    TENON_TRY(parse_suffix(parser, statement));
  }
  TENON_TRY(tenon__lexer_expect(&parser->lexer, '='));
  return tenon__parse_expression(parser, &statement->value);
}

tenon_status_t tenon__text_parse(tenon__arena_t* arena, const char* source,
                                 const tenon_sink_t* sink, tenon__text_t* out_text) {
  tenon__parser_t parser;
  const void* statements = NULL;
  uint32_t count = 0;
  TENON_TRY(tenon__parser_begin(&parser, arena, source, false, sink));
  TENON_TRY(tenon__parse_statements(&parser, parse_statement, sizeof(tenon__statement_t),
                                    &statements, &count));
  const char* copy = tenon__arena_copy_string(arena, source);
  TENON_TRY_MEMORY(copy != NULL);
  *out_text = (tenon__text_t){.source = copy, .statement_count = count, .statements = statements};
  return TENON_OK;
}

tenon_status_t tenon__text_parse_expression(tenon__arena_t* arena, const char* source,
                                            const tenon_sink_t* sink,
                                            const tenon__syntax_t** out_expression) {
  tenon__parser_t parser;
  const tenon__syntax_t* expression = NULL;
  TENON_TRY(tenon__parser_begin(&parser, arena, source, false, sink));
  TENON_TRY(tenon__parse_expression(&parser, &expression));
  if (parser.lexer.token.kind != TENON_TOKEN_END) {
    return tenon__lexer_fail(&parser.lexer, "the end");
  }
  *out_expression = expression;
  return TENON_OK;
}
