/* Texts of statements, of calls, and of one expression: parsed into trees. */
#ifndef TENON_CORE_LANGUAGE_TEXT_H_
#define TENON_CORE_LANGUAGE_TEXT_H_

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/language/syntax.h"
#include "tenon/plugin.h"

/* One statement. `let`: is_let. `y = e`: target "y". `y[d] = e`: subscript "d"; with a number,
 * subscript "0". `y.rank = e`: member "rank". `y: x[d] = e`: prefix "y", target "x", subscript "d".
 * Other members are NULL. `target` of a let is its name. */
typedef struct tenon__statement_t {
  bool is_let;
  const char* prefix;
  const char* target;
  const char* subscript;
  const char* member;
  const tenon__syntax_t* value;
  uint32_t position;
} tenon__statement_t;

/* Statements in the order of the text; a let may be named only by later ones. The tree, its strings
 * and the copy `source` are in the arena of the parse. */
typedef struct tenon__text_t {
  const char* source;
  uint32_t statement_count;
  const tenon__statement_t* statements;
} tenon__text_t;

/* Parses statements to a tree in the arena. Linear in the text. Names are not resolved, so a text
 * may parse but be undefined for all nodes. Returns INVALID_DATA and reports the error with its
 * position and the expected syntax. */
tenon_status_t tenon__text_parse(tenon__arena_t* arena, const char* source,
                                 const tenon_sink_t* sink, tenon__text_t* out_text);
/* Returns the statement `target.member = ...`, or `target = ...` with member NULL; NULL if there is
 * none. */
const tenon__statement_t* tenon__text_statement(const tenon__text_t* text, const char* target,
                                                const char* member);
/* Parses one expression (a condition, a check). Any further text is an error. */
tenon_status_t tenon__text_parse_expression(tenon__arena_t* arena, const char* source,
                                            const tenon_sink_t* sink,
                                            const tenon__syntax_t** out_expression);

/* Texts of calls, for decompositions and patterns: "a, b = domain.op/1(x, _){k=v}; ...". Arguments
 * are only names, so that a pattern can be matched against a graph and a decomposition can be built
 * node by node; only attributes have expressions. */

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

/* Parses the statements. The caller checks that operators exist, and that names are defined before
 * they are read. Everything is in the arena; the source may be freed. Returns INVALID_DATA with the
 * column and the expected syntax, or OUT_OF_MEMORY. */
tenon_status_t tenon__calls_parse(tenon__arena_t* arena, const char* source,
                                  const tenon_sink_t* sink, tenon__calls_t* out_calls);

#endif
