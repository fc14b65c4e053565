/* Texts of statements, and of one expression: parsed into trees. */
#ifndef TENON_CORE_LANGUAGE_TEXT_H_
#define TENON_CORE_LANGUAGE_TEXT_H_

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/language/syntax.h"
#include "tenon/plugin.h"

/* One statement. `let`: is_let. `y = e`: target "y". `y[d] = e`: subscript "d"; with a number,
 * subscript "0". `y.rank = e`: member "rank". `y: x[d] = e`: prefix "y", target "x", subscript "d".
 * Members that the form lacks are NULL; of a let `target` is its name. */
typedef struct tenon__statement_t {
  bool is_let;
  const char* prefix;
  const char* target;
  const char* subscript;
  const char* member;
  const tenon__syntax_t* value;
  uint32_t position;
} tenon__statement_t;

/* Statements in the order of the text, which is the order in which lets may be named. The tree and
 * its strings lie in the arena of the parse; `source` is the caller's. */
typedef struct tenon__text_t {
  const char* source;
  uint32_t statement_count;
  const tenon__statement_t* statements;
} tenon__text_t;

/* Parses statements. A fault is reported with its position and what was expected; INVALID_DATA. The
 * tree lives in the arena. Names are not looked up: a text may parse and mean nothing for any node.
 * Linear in the text. */
tenon_status_t tenon__text_parse(tenon__arena_t* arena, const char* source,
                                 const tenon_sink_t* sink, tenon__text_t* out_text);
/* Parses one expression (a condition, a check). Anything after it is a fault. */
tenon_status_t tenon__text_parse_expression(tenon__arena_t* arena, const char* source,
                                            const tenon_sink_t* sink,
                                            const tenon__syntax_t** out_expression);

#endif
