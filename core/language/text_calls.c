/* Texts of calls: "a, b = domain.op/1(x, _){k=v}; ...". */
#include "core/language/text_calls.h"

#include "core/base/status.h"
#include "core/language/text_parser.h"

/* Names with commas between, and where they stand; in the arena. */
typedef struct names_t {
  const char** array;
  uint32_t capacity;
  uint32_t* positions;
  uint32_t position_capacity;
  uint32_t count;
} names_t;

static tenon_status_t add_name(tenon__parser_t* parser, const char* expected, names_t* names) {
  const uint32_t count = names->count;
  TENON_TRY_MEMORY(
      TENON_ARENA_GROW(parser->arena, names->array, names->capacity, count + 1) &&
      TENON_ARENA_GROW(parser->arena, names->positions, names->position_capacity, count + 1));
  names->positions[count] = parser->lexer.token.position;
  TENON_TRY(tenon__parse_name(parser, expected, &names->array[count]));
  ++names->count;
  return TENON_OK;
}

static tenon_status_t parse_arguments(tenon__parser_t* parser, tenon__call_statement_t* statement) {
  names_t names = {0};
  TENON_TRY(tenon__lexer_expect(&parser->lexer, '('));
  while (!tenon__lexer_at(&parser->lexer, ')')) {
    TENON_TRY(tenon__parse_separator(parser, names.count));
    TENON_TRY(add_name(parser, "an argument", &names));
  }
  TENON_TRY(tenon__lexer_next(&parser->lexer));
  statement->arguments = names.array;
  statement->argument_positions = names.positions;
  statement->argument_count = names.count;
  return TENON_OK;
}

static tenon_status_t parse_attributes(tenon__parser_t* parser,
                                       tenon__call_statement_t* statement) {
  tenon__call_attribute_t* attributes = NULL;
  uint32_t capacity = 0;
  uint32_t count = 0;
  if (!tenon__lexer_at(&parser->lexer, '{')) {
    return TENON_OK;
  }
  TENON_TRY(tenon__lexer_next(&parser->lexer));
  while (!tenon__lexer_at(&parser->lexer, '}')) {
    TENON_TRY(tenon__parse_separator(parser, count));
    TENON_TRY_MEMORY(TENON_ARENA_GROW(parser->arena, attributes, capacity, count + 1));
    tenon__call_attribute_t* attribute = &attributes[count];
    attribute->position = parser->lexer.token.position;
    TENON_TRY(tenon__parse_name(parser, "an attribute", &attribute->name));
    TENON_TRY(tenon__lexer_expect(&parser->lexer, '='));
    TENON_TRY(tenon__parse_expression(parser, &attribute->value));
    ++count;
  }
  TENON_TRY(tenon__lexer_next(&parser->lexer));
  statement->attributes = attributes;
  statement->attribute_count = count;
  return TENON_OK;
}

static tenon_status_t parse_call(tenon__parser_t* parser, void* out_statement) {
  tenon__call_statement_t* statement = out_statement;
  names_t results = {0};
  TENON_TRY(add_name(parser, "a result", &results));
  while (tenon__lexer_at(&parser->lexer, ',')) {
    TENON_TRY(tenon__lexer_next(&parser->lexer));
    TENON_TRY(add_name(parser, "a result", &results));
  }
  statement->results = results.array;
  statement->result_count = results.count;
  TENON_TRY(tenon__lexer_expect(&parser->lexer, '='));
  statement->op_position = parser->lexer.token.position;
  TENON_TRY(tenon__parse_name(parser, "an operator", &statement->op));
  TENON_TRY(parse_arguments(parser, statement));
  return parse_attributes(parser, statement);
}

tenon_status_t tenon__calls_parse(tenon__arena_t* arena, const char* source,
                                  const tenon_sink_t* sink, tenon__calls_t* out_calls) {
  tenon__parser_t parser;
  const void* statements = NULL;
  uint32_t count = 0;
  TENON_TRY(tenon__parser_begin(&parser, arena, source, true, sink));
  TENON_TRY(tenon__parse_statements(&parser, parse_call, sizeof(tenon__call_statement_t),
                                    &statements, &count));
  *out_calls = (tenon__calls_t){.statement_count = count, .statements = statements};
  return TENON_OK;
}
