/* The parser: precedence climbing over one table of binary signs, and statements above it. Depth of
 * the tree is counted as it grows, so that whoever walks it may recurse. */
#include "core/language/text.h"

#include <math.h>
#include <string.h>

#include "core/base/status.h"
#include "core/language/text_lexer.h"

enum { NESTING_LIMIT = 64, WEAKEST_BINARY = 1 };

/* On the stack of a parse; `nesting` counts the recursion through parentheses and signs, which is
 * refused beyond 64. */
typedef struct parser_t {
  tenon__lexer_t lexer;
  tenon__arena_t* arena;
  uint32_t nesting;
} parser_t;

/* Fills a statement, which is zeros at first. */
typedef tenon_status_t parse_statement_t(parser_t* parser, void* out_statement);

static tenon_status_t parse_expression(parser_t* parser, const tenon__syntax_t** out_syntax);

/* Stands at the first token afterwards. With dotted_names "acme.swish/1" is one name, and a
 * division by a digit has to be written with a blank. */
static tenon_status_t parser_begin(parser_t* out_parser, tenon__arena_t* arena, const char* source,
                                   bool dotted_names, const tenon_sink_t* sink) {
  *out_parser = (parser_t){.arena = arena};
  TENON_TRY(tenon__lexer_begin(&out_parser->lexer, source, sink));
  out_parser->lexer.dotted_names = dotted_names;
  return tenon__lexer_next(&out_parser->lexer);
}

/* Between two items of a list: nothing before the first one. */
static tenon_status_t parse_separator(parser_t* parser, uint32_t count) {
  return count == 0 ? TENON_OK : tenon__lexer_expect(&parser->lexer, ',');
}

/* Statements up to the end of the text, ";" after each but the last: an array in the arena. */
static tenon_status_t parse_statements(parser_t* parser, parse_statement_t* parse, size_t size,
                                       const void** out_statements, uint32_t* out_count) {
  char* statements = NULL;
  uint32_t capacity = 0;
  uint32_t count = 0;
  while (parser->lexer.token.kind != TENON_TOKEN_END) {
    TENON_TRY_MEMORY(tenon__arena_grow(parser->arena, &statements, &capacity, count + 1, size));
    TENON_TRY(parse(parser, statements + count * size));
    if (parser->lexer.token.kind != TENON_TOKEN_END) {
      TENON_TRY(tenon__lexer_expect(&parser->lexer, ';'));
    }
    ++count;
  }
  *out_statements = statements;
  *out_count = count;
  return TENON_OK;
}

/* A node with copies of `children`. */
static tenon_status_t make_node(parser_t* parser, const tenon__syntax_t* fields,
                                const tenon__syntax_t* const* children, uint32_t count,
                                const tenon__syntax_t** out_syntax) {
  tenon__syntax_t* node = tenon__arena_copy(parser->arena, fields, sizeof(*fields));
  TENON_TRY_MEMORY(node != NULL);
  node->child_count = count;
  node->depth = 1;
  if (count > 0) {
    node->children = tenon__arena_copy(parser->arena, children, count * sizeof(void*));
    TENON_TRY_MEMORY(node->children != NULL);
  }
  for (uint32_t i = 0; i < count; ++i) {
    /* Each child is of a call that was TENON_OK. NOLINTNEXTLINE(clang-analyzer-core.*) */
    node->depth = children[i]->depth + 1 > node->depth ? children[i]->depth + 1 : node->depth;
  }
  if (node->depth > TENON_SYNTAX_DEPTH) {
    return tenon__lexer_fail(&parser->lexer, "a shorter expression");
  }
  *out_syntax = node;
  return TENON_OK;
}

/* Copies the current NAME and goes past it. INVALID_DATA says that `expected` was. */
static tenon_status_t parse_name(parser_t* parser, const char* expected, const char** out_name) {
  if (parser->lexer.token.kind != TENON_TOKEN_NAME) {
    (void)tenon__lexer_fail(&parser->lexer, expected);
    return TENON_ERROR_INVALID_DATA;
  }
  const char* name = tenon__lexer_copy(&parser->lexer, parser->arena);
  TENON_TRY_MEMORY(name != NULL);
  TENON_TRY(tenon__lexer_next(&parser->lexer));
  *out_name = name;
  return TENON_OK;
}

/* An expression, or a range of two: "a..b", "a..". */
static tenon_status_t parse_item(parser_t* parser, const tenon__syntax_t** out_syntax) {
  const tenon__syntax_t* parts[2] = {NULL, NULL};
  const uint32_t position = parser->lexer.token.position;
  TENON_TRY(parse_expression(parser, &parts[0]));
  if (!tenon__lexer_at(&parser->lexer, 'R')) {
    *out_syntax = parts[0];
    return TENON_OK;
  }
  TENON_TRY(tenon__lexer_next(&parser->lexer));
  uint32_t count = 1;
  if (!tenon__lexer_at(&parser->lexer, ')') && !tenon__lexer_at(&parser->lexer, ']') &&
      !tenon__lexer_at(&parser->lexer, ',')) {
    TENON_TRY(parse_expression(parser, &parts[1]));
    count = 2;
  }
  const tenon__syntax_t fields = {.kind = TENON_SYNTAX_RANGE, .position = position};
  return make_node(parser, &fields, parts, count, out_syntax);
}

/* Items up to `close`, which is passed; the opening sign has been. */
static tenon_status_t parse_items(parser_t* parser, char close, const tenon__syntax_t* fields,
                                  const tenon__syntax_t** out_syntax) {
  const tenon__syntax_t** items = NULL;
  uint32_t capacity = 0;
  uint32_t count = 0;
  while (!tenon__lexer_at(&parser->lexer, close)) {
    TENON_TRY(parse_separator(parser, count));
    TENON_TRY_MEMORY(TENON_ARENA_GROW(parser->arena, items, capacity, count + 1));
    TENON_TRY(parse_item(parser, &items[count]));
    ++count;
  }
  TENON_TRY(tenon__lexer_next(&parser->lexer));
  return make_node(parser, fields, items, count, out_syntax);
}

/* A name, a call, or one of the names that are numbers. */
static tenon_status_t parse_named(parser_t* parser, const tenon__syntax_t** out_syntax) {
  tenon__syntax_t fields = {.kind = TENON_SYNTAX_NAME, .position = parser->lexer.token.position};
  TENON_TRY(parse_name(parser, "a name", &fields.text));
  if (tenon__lexer_at(&parser->lexer, '(')) {
    TENON_TRY(tenon__lexer_next(&parser->lexer));
    fields.kind = TENON_SYNTAX_CALL;
    return parse_items(parser, ')', &fields, out_syntax);
  }
  if (strcmp(fields.text, "inf") == 0 || strcmp(fields.text, "nan") == 0) {
    fields.kind = TENON_SYNTAX_FLOAT;
    fields.number = fields.text[0] == 'i' ? HUGE_VAL : (double)NAN;
    fields.text = NULL;
  }
  return make_node(parser, &fields, NULL, 0, out_syntax);
}

static tenon_status_t parse_primary(parser_t* parser, const tenon__syntax_t** out_syntax) {
  const tenon__token_t token = parser->lexer.token;
  tenon__syntax_t fields = {
      .position = token.position, .integer = token.integer, .number = token.number};
  if (token.kind == TENON_TOKEN_NAME) {
    return parse_named(parser, out_syntax);
  }
  if (token.kind == TENON_TOKEN_INTEGER || token.kind == TENON_TOKEN_FLOAT) {
    const bool is_integer = token.kind == TENON_TOKEN_INTEGER;
    fields.kind = is_integer ? TENON_SYNTAX_INTEGER : TENON_SYNTAX_FLOAT;
  } else if (token.kind == TENON_TOKEN_STRING) {
    fields.kind = TENON_SYNTAX_STRING;
    fields.text = tenon__lexer_copy(&parser->lexer, parser->arena);
    TENON_TRY_MEMORY(fields.text != NULL);
  } else if (!tenon__lexer_at(&parser->lexer, '(') && !tenon__lexer_at(&parser->lexer, '[')) {
    return tenon__lexer_fail(&parser->lexer, "an expression");
  }
  TENON_TRY(tenon__lexer_next(&parser->lexer));
  if (token.sign == '(') {
    TENON_TRY(parse_expression(parser, out_syntax));
    return tenon__lexer_expect(&parser->lexer, ')');
  }
  if (token.sign == '[') {
    fields.kind = TENON_SYNTAX_LIST;
    return parse_items(parser, ']', &fields, out_syntax);
  }
  return make_node(parser, &fields, NULL, 0, out_syntax);
}

static tenon_status_t parse_postfix(parser_t* parser, const tenon__syntax_t** out_syntax) {
  TENON_TRY(parse_primary(parser, out_syntax));
  while (tenon__lexer_at(&parser->lexer, '[')) {
    const tenon__syntax_t fields = {.kind = TENON_SYNTAX_INDEX,
                                    .position = parser->lexer.token.position};
    const tenon__syntax_t* parts[2] = {*out_syntax, NULL};
    TENON_TRY(tenon__lexer_next(&parser->lexer));
    TENON_TRY(parse_expression(parser, &parts[1]));
    TENON_TRY(tenon__lexer_expect(&parser->lexer, ']'));
    TENON_TRY(make_node(parser, &fields, parts, 2, out_syntax));
  }
  return TENON_OK;
}

static tenon_status_t parse_unary(parser_t* parser, const tenon__syntax_t** out_syntax) {
  const bool is_sign = tenon__lexer_at(&parser->lexer, '-') || tenon__lexer_at(&parser->lexer, '!');
  if (!is_sign) {
    return parse_postfix(parser, out_syntax);
  }
  if (parser->nesting >= NESTING_LIMIT) {
    return tenon__lexer_fail(&parser->lexer, "less nesting");
  }
  const tenon__syntax_t fields = {.kind = TENON_SYNTAX_UNARY,
                                  .op = parser->lexer.token.sign,
                                  .position = parser->lexer.token.position};
  TENON_TRY(tenon__lexer_next(&parser->lexer));
  const tenon__syntax_t* operand = NULL;
  ++parser->nesting;
  TENON_TRY(parse_unary(parser, &operand));
  --parser->nesting;
  return make_node(parser, &fields, &operand, 1, out_syntax);
}

/* How tightly a binary sign binds, from WEAKEST_BINARY up; 0 for what is none. */
static uint32_t precedence_of(const tenon__token_t* token) {
  static const char* const levels[] = {"O", "A", "|^&", "EN", "<>LG", "+-", "*/%"};
  const uint32_t count = sizeof(levels) / sizeof(levels[0]);
  uint32_t level = 0;
  while (level < count && strchr(levels[level], token->sign) == NULL) {
    ++level;
  }
  return token->kind == TENON_TOKEN_SIGN && level < count ? WEAKEST_BINARY + level : 0;
}

static tenon_status_t parse_binary(parser_t* parser, uint32_t least,
                                   const tenon__syntax_t** out_syntax) {
  const tenon__syntax_t* parts[2] = {NULL, NULL};
  TENON_TRY(parse_unary(parser, &parts[0]));
  for (;;) {
    const uint32_t precedence = precedence_of(&parser->lexer.token);
    if (precedence < least || precedence == 0) {
      *out_syntax = parts[0];
      return TENON_OK;
    }
    const tenon__syntax_t fields = {.kind = TENON_SYNTAX_BINARY,
                                    .op = parser->lexer.token.sign,
                                    .position = parser->lexer.token.position};
    TENON_TRY(tenon__lexer_next(&parser->lexer));
    TENON_TRY(parse_binary(parser, precedence + 1, &parts[1]));
    TENON_TRY(make_node(parser, &fields, parts, 2, &parts[0]));
  }
}

/* One expression from the current token on, by precedence; the parser stands behind it then. */
static tenon_status_t parse_expression(parser_t* parser, const tenon__syntax_t** out_syntax) {
  if (parser->nesting >= NESTING_LIMIT) {
    return tenon__lexer_fail(&parser->lexer, "less nesting");
  }
  ++parser->nesting;
  const tenon__syntax_t* parts[3] = {NULL, NULL, NULL};
  TENON_TRY(parse_binary(parser, WEAKEST_BINARY, &parts[0]));
  if (tenon__lexer_at(&parser->lexer, '?')) {
    const tenon__syntax_t fields = {.kind = TENON_SYNTAX_SELECT,
                                    .position = parser->lexer.token.position};
    TENON_TRY(tenon__lexer_next(&parser->lexer));
    TENON_TRY(parse_expression(parser, &parts[1]));
    TENON_TRY(tenon__lexer_expect(&parser->lexer, ':'));
    TENON_TRY(parse_expression(parser, &parts[2]));
    TENON_TRY(make_node(parser, &fields, parts, 3, &parts[0]));
  }
  --parser->nesting;
  *out_syntax = parts[0];
  return TENON_OK;
}

/* ---- Statements ---- */

/* "[d]", "[0]", ".rank" after a target. */
static tenon_status_t parse_suffix(parser_t* parser, tenon__statement_t* statement) {
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
    return parse_name(parser, "a name", &statement->member);
  }
  return TENON_OK;
}

static tenon_status_t parse_statement(parser_t* parser, void* out_statement) {
  tenon__statement_t* statement = out_statement;
  statement->position = parser->lexer.token.position;
  TENON_TRY(parse_name(parser, "a statement", &statement->target));
  if (strcmp(statement->target, "let") == 0 && parser->lexer.token.kind == TENON_TOKEN_NAME) {
    statement->is_let = true;
    TENON_TRY(parse_name(parser, "a name", &statement->target));
  } else if (tenon__lexer_at(&parser->lexer, ':')) {
    statement->prefix = statement->target;
    TENON_TRY(tenon__lexer_next(&parser->lexer));
    TENON_TRY(parse_name(parser, "a name", &statement->target));
  }
  if (!statement->is_let) {
    TENON_TRY(parse_suffix(parser, statement));
  }
  TENON_TRY(tenon__lexer_expect(&parser->lexer, '='));
  return parse_expression(parser, &statement->value);
}

tenon_status_t tenon__text_parse(tenon__arena_t* arena, const char* source,
                                 const tenon_sink_t* sink, tenon__text_t* out_text) {
  parser_t parser;
  const void* statements = NULL;
  uint32_t count = 0;
  TENON_TRY(parser_begin(&parser, arena, source, false, sink));
  TENON_TRY(
      parse_statements(&parser, parse_statement, sizeof(tenon__statement_t), &statements, &count));
  const char* copy = tenon__arena_copy_string(arena, source);
  TENON_TRY_MEMORY(copy != NULL);
  *out_text = (tenon__text_t){.source = copy, .statement_count = count, .statements = statements};
  return TENON_OK;
}

const tenon__statement_t* tenon__text_statement(const tenon__text_t* text, const char* target,
                                                const char* member) {
  for (uint32_t i = 0; i < text->statement_count; ++i) {
    const tenon__statement_t* statement = &text->statements[i];
    if (!statement->is_let && statement->subscript == NULL &&
        strcmp(statement->target, target) == 0 &&
        (member == NULL ? statement->member == NULL
                        : statement->member != NULL && strcmp(statement->member, member) == 0)) {
      return statement;
    }
  }
  return NULL;
}

tenon_status_t tenon__text_parse_expression(tenon__arena_t* arena, const char* source,
                                            const tenon_sink_t* sink,
                                            const tenon__syntax_t** out_expression) {
  parser_t parser;
  const tenon__syntax_t* expression = NULL;
  TENON_TRY(parser_begin(&parser, arena, source, false, sink));
  TENON_TRY(parse_expression(&parser, &expression));
  if (parser.lexer.token.kind != TENON_TOKEN_END) {
    return tenon__lexer_fail(&parser.lexer, "the end");
  }
  *out_expression = expression;
  return TENON_OK;
}

/* ---- Calls ---- */

/* Names with commas between, and where they stand; in the arena. */
typedef struct names_t {
  const char** array;
  uint32_t capacity;
  uint32_t* positions;
  uint32_t position_capacity;
  uint32_t count;
} names_t;

static tenon_status_t add_name(parser_t* parser, const char* expected, names_t* names) {
  const uint32_t count = names->count;
  TENON_TRY_MEMORY(
      TENON_ARENA_GROW(parser->arena, names->array, names->capacity, count + 1) &&
      TENON_ARENA_GROW(parser->arena, names->positions, names->position_capacity, count + 1));
  names->positions[count] = parser->lexer.token.position;
  TENON_TRY(parse_name(parser, expected, &names->array[count]));
  ++names->count;
  return TENON_OK;
}

static tenon_status_t parse_arguments(parser_t* parser, tenon__call_statement_t* statement) {
  names_t names = {0};
  TENON_TRY(tenon__lexer_expect(&parser->lexer, '('));
  while (!tenon__lexer_at(&parser->lexer, ')')) {
    TENON_TRY(parse_separator(parser, names.count));
    TENON_TRY(add_name(parser, "an argument", &names));
  }
  TENON_TRY(tenon__lexer_next(&parser->lexer));
  statement->arguments = names.array;
  statement->argument_positions = names.positions;
  statement->argument_count = names.count;
  return TENON_OK;
}

static tenon_status_t parse_attributes(parser_t* parser, tenon__call_statement_t* statement) {
  tenon__call_attribute_t* attributes = NULL;
  uint32_t capacity = 0;
  uint32_t count = 0;
  if (!tenon__lexer_at(&parser->lexer, '{')) {
    return TENON_OK;
  }
  TENON_TRY(tenon__lexer_next(&parser->lexer));
  while (!tenon__lexer_at(&parser->lexer, '}')) {
    TENON_TRY(parse_separator(parser, count));
    TENON_TRY_MEMORY(TENON_ARENA_GROW(parser->arena, attributes, capacity, count + 1));
    tenon__call_attribute_t* attribute = &attributes[count];
    attribute->position = parser->lexer.token.position;
    TENON_TRY(parse_name(parser, "an attribute", &attribute->name));
    TENON_TRY(tenon__lexer_expect(&parser->lexer, '='));
    TENON_TRY(parse_expression(parser, &attribute->value));
    ++count;
  }
  TENON_TRY(tenon__lexer_next(&parser->lexer));
  statement->attributes = attributes;
  statement->attribute_count = count;
  return TENON_OK;
}

static tenon_status_t parse_call(parser_t* parser, void* out_statement) {
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
  TENON_TRY(parse_name(parser, "an operator", &statement->op));
  TENON_TRY(parse_arguments(parser, statement));
  return parse_attributes(parser, statement);
}

tenon_status_t tenon__calls_parse(tenon__arena_t* arena, const char* source,
                                  const tenon_sink_t* sink, tenon__calls_t* out_calls) {
  parser_t parser;
  const void* statements = NULL;
  uint32_t count = 0;
  TENON_TRY(parser_begin(&parser, arena, source, true, sink));
  TENON_TRY(
      parse_statements(&parser, parse_call, sizeof(tenon__call_statement_t), &statements, &count));
  *out_calls = (tenon__calls_t){.statement_count = count, .statements = statements};
  return TENON_OK;
}
