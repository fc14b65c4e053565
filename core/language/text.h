/* Texts of statements, of calls, and of one expression: parsed into trees. */
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
 * its strings lie in the arena of the parse; `source` is a copy beside them. */
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
/* The statement `target.member = ...`, or `target = ...` with member NULL; NULL: there is none. */
const tenon__statement_t* tenon__text_statement(const tenon__text_t* text, const char* target,
                                                const char* member);
/* Parses one expression (a condition, a check). Anything after it is a fault. */
tenon_status_t tenon__text_parse_expression(tenon__arena_t* arena, const char* source,
                                            const tenon_sink_t* sink,
                                            const tenon__syntax_t** out_expression);

/* Texts of calls, as decompositions and patterns are written: "a, b = domain.op/1(x, _){k=v}; ...".
 * The arguments are names alone, so that a pattern can be matched against a graph and a
 * decomposition be built from it node by node; only attributes hold expressions. */

/* {name=value}: a literal, or an expression over the attributes of the node that is decomposed.
 * Positions, here and below, are bytes of the source, for messages. */
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

/* Parses the statements; INVALID_DATA with the column and what was expected, or OUT_OF_MEMORY.
 * Whether the operators exist, and whether a name is defined before it is read, is for the caller
 * to see. Everything lies in the arena: the source may go. */
tenon_status_t tenon__calls_parse(tenon__arena_t* arena, const char* source,
                                  const tenon_sink_t* sink, tenon__calls_t* out_calls);

#endif
