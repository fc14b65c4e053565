/*
 * The syntax tree of a text, for both languages of docs/expressions.md. Names are resolved when a
 * text is instantiated for a node (language/instantiate.h, language/shape_rule.h).
 *
 * A tree is made once, usually when an operator is registered, and is immutable after parsing, so
 * several builds may read it at once. It is in the arena of the parse and lives as long.
 */
#ifndef TENON_CORE_LANGUAGE_SYNTAX_H_
#define TENON_CORE_LANGUAGE_SYNTAX_H_

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

/* Limits of depth and length. Walks are recursive, and the depth keeps them within a thread's
 * stack. The length is ample for text that people write. */
enum { TENON_SYNTAX_DEPTH = 256, TENON_TEXT_BYTES = 16384 };

/* `true` and `false` are NAMEs; `inf` and `nan` are FLOATs. Children are in the order of the text.
 * `integer` is for INTEGER, `number` for FLOAT, `op` for UNARY and BINARY; else they are zero. */
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

#endif
