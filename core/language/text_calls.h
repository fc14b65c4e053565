/* Texts of calls, as decompositions and patterns are written: "a, b = domain.op/1(x, _){k=v}; ...".
 */
#ifndef TENON_CORE_LANGUAGE_TEXT_CALLS_H_
#define TENON_CORE_LANGUAGE_TEXT_CALLS_H_

#include "core/base/arena.h"
#include "core/language/syntax.h"

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
