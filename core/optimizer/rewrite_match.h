/* Matching a pattern of calls against the network. */
#ifndef TENON_CORE_OPTIMIZER_REWRITE_MATCH_H_
#define TENON_CORE_OPTIMIZER_REWRITE_MATCH_H_

#include "core/optimizer/passes.h"

enum { TENON_MATCH_NAMES = 64, TENON_MATCH_ATTRIBUTES = 32 };

typedef struct tenon__match_name_t {
  const char* name;
  uint32_t value;
} tenon__match_name_t;

typedef struct tenon__match_t {
  uint32_t graph;
  uint32_t root;       /* the node of the last statement */
  uint32_t result;     /* the value of the last name */
  uint32_t name_count; /* inputs of the pattern and what its statements define */
  tenon__match_name_t names[TENON_MATCH_NAMES];
  uint32_t attribute_count; /* those that the pattern names */
  tenon__scope_attribute_t attributes[TENON_MATCH_ATTRIBUTES];
  uint32_t node_count;
  uint32_t nodes[TENON_MATCH_NAMES]; /* statement by statement, the root last */
  uint32_t input_count;
  uint32_t inputs[TENON_MATCH_NAMES]; /* values of the pattern's inputs, in order of occurrence */
} tenon__match_t;

bool tenon__match_pattern(tenon__bench_t* bench, const tenon__calls_t* pattern, uint32_t graph,
                          uint32_t root, tenon__arena_t* arena, tenon__match_t* out_match);
/* The value of a name; TENON_NONE. */
uint32_t tenon__match_value(const tenon__match_t* match, const char* name);
/* Whether a name was bound: to TENON_NONE where an optional input is absent. */
bool tenon__match_has(const tenon__match_t* match, const char* name);
/* Gives a name a value, replacing what it had; false when there are too many. */
bool tenon__match_bind(tenon__match_t* match, const char* name, uint32_t value);

/* One statement of a text: adds its node, with arguments and attributes by name, and binds its
 * results. *out_value: the last of them. UNSUPPORTED when nobody offers the operator. */
tenon_status_t tenon__rewrite_add_call(tenon__bench_t* bench, tenon__match_t* match,
                                       const tenon__call_statement_t* call, tenon__arena_t* arena,
                                       uint32_t* out_value);

/* The replacement by a plugin's function. UNSUPPORTED when it declines. */
tenon_status_t tenon__rewrite_by_code(tenon__bench_t* bench, const tenon__rewrite_entry_t* entry,
                                      const tenon__match_t* match, tenon__arena_t* arena,
                                      uint32_t* out_value);

#endif
