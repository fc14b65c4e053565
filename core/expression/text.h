/*
 * The two languages of docs/expressions.md: lexer and parser. One syntax tree serves both; what a
 * name means is decided when a text is instantiated for a node (expression/program.h,
 * expression/shape_rule.h).
 */
#ifndef TENON_CORE_EXPRESSION_TEXT_H_
#define TENON_CORE_EXPRESSION_TEXT_H_

#include <stdbool.h>

#include "core/base/arena.h"
#include "tenon/plugin.h"

typedef enum tenon__syntax_kind_t {
  TENON_SYNTAX_INTEGER,
  TENON_SYNTAX_FLOAT,
  TENON_SYNTAX_STRING,
  TENON_SYNTAX_NAME,
  TENON_SYNTAX_CALL,   /* name(children) */
  TENON_SYNTAX_INDEX,  /* children[0] [ children[1] ] */
  TENON_SYNTAX_UNARY,  /* op: '-' '!' */
  TENON_SYNTAX_BINARY, /* op: '+' '-' '*' '/' '%' '|' '^' '&', 'A' &&, 'O' ||, 'E' ==, 'N' !=, '<',
                          'L' <=, '>', 'G' >= */
  TENON_SYNTAX_SELECT, /* c ? a : b */
  TENON_SYNTAX_LIST,   /* [a, b] */
  TENON_SYNTAX_RANGE,  /* a..b ; b may be absent (child_count 1) */
} tenon__syntax_kind_t;

enum { TENON_SYNTAX_DEPTH = 256, TENON_TEXT_BYTES = 16384 };

/* `true` and `false` are NAMEs; `inf` and `nan` are FLOATs. */
typedef struct tenon__syntax_t {
  tenon__syntax_kind_t kind;
  char op;
  uint32_t position; /* in the text, for messages */
  uint32_t child_count;
  uint32_t depth; /* of the tree below and with this node; at most TENON_SYNTAX_DEPTH */
  int64_t integer;
  double number;
  const char* text; /* NAME, CALL, STRING */
  const struct tenon__syntax_t* const* children;
} tenon__syntax_t;

/* One statement. `let`: is_let. `y = e`: target "y". `y[d] = e`: member NULL, subscript "d".
 * `y[0] = e`: subscript "0". `y.rank = e`: member "rank". `y: x[d] = e`: prefix "y", target "x",
 * subscript "d". */
typedef struct tenon__statement_t {
  bool is_let;
  const char* prefix;
  const char* target;
  const char* subscript;
  const char* member;
  const tenon__syntax_t* value;
  uint32_t position;
} tenon__statement_t;

typedef struct tenon__text_t {
  const char* source;
  uint32_t statement_count;
  const tenon__statement_t* statements;
} tenon__text_t;

/* Parses statements. A fault is reported with its position and what was expected; INVALID_DATA. The
 * tree lives in the arena. */
tenon_status_t tenon__text_parse(tenon__arena_t* arena, const char* source,
                                 const tenon_sink_t* sink, tenon__text_t* out_text);
/* Parses one expression (a condition, a check). */
tenon_status_t tenon__text_parse_expression(tenon__arena_t* arena, const char* source,
                                            const tenon_sink_t* sink,
                                            const tenon__syntax_t** out_expression);

/* "t = domain.word/1(a, b){flag=1, mode=mode}; y = ...": decompositions and patterns.
 */
typedef struct tenon__call_attribute_t {
  const char* name;
  const tenon__syntax_t* value;
  uint32_t position;
} tenon__call_attribute_t;
typedef struct tenon__call_statement_t {
  uint32_t result_count;
  const char* const* results; /* "a, b = op(...)" */
  const char* op;
  uint32_t op_position;
  uint32_t argument_count;
  const char* const* arguments; /* "_" for absent */
  const uint32_t* argument_positions;
  uint32_t attribute_count;
  const tenon__call_attribute_t* attributes;
} tenon__call_statement_t;
typedef struct tenon__calls_t {
  uint32_t statement_count;
  const tenon__call_statement_t* statements;
} tenon__calls_t;
tenon_status_t tenon__calls_parse(tenon__arena_t* arena, const char* source,
                                  const tenon_sink_t* sink, tenon__calls_t* out_calls);

#endif
