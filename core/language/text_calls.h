/*
 * Texts of calls, as decompositions and patterns are written: "a, b = domain.op/1(x, _){k=v}; ...".
 *
 * The arguments are names alone, so that a pattern can be matched against a graph and a
 * decomposition be built from it node by node; only attributes hold expressions.
 */
#ifndef TENON_CORE_LANGUAGE_TEXT_CALLS_H_
#define TENON_CORE_LANGUAGE_TEXT_CALLS_H_

#include "core/base/arena.h"
#include "core/language/syntax.h"

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
