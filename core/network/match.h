/*
 * Matching a pattern of calls against a graph: for rewrites, and for kernels of several nodes.
 *
 * A pattern is matched backwards from its last statement, each call against the one node that makes
 * the value in question. What matches is about structure and attributes alone: types and extents
 * are for the pattern's guard, or the kernel's match.
 */
#ifndef TENON_CORE_NETWORK_MATCH_H_
#define TENON_CORE_NETWORK_MATCH_H_

#include "core/language/text.h"
#include "core/network/network.h"

enum { TENON_MATCH_NAMES = 64, TENON_MATCH_ATTRIBUTES = 32 };

/* The name is the pattern's string and lives as long as its text; a value TENON_NONE is an absent
 * optional input. */
typedef struct tenon__match_name_t {
  const char* name;
  uint32_t value;
} tenon__match_name_t;

/* What the pattern's names stand for. Of fixed size, so that it can stand on the stack and be
 * copied; attributes borrow from their nodes, but for the names, which are the pattern's. Values
 * and nodes are ids of `graph` and hold until a pass changes it. */
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

/* What the matcher asks of who knows the uses: does anybody read the value who is not among the
 * match's nodes: another node, the graph's outputs, a state? */
typedef struct tenon__match_uses_t {
  bool (*read_outside)(const void* user, const tenon__match_t* match, uint32_t value);
  const void* user;
} tenon__match_uses_t;

/* Does the pattern end at `root`? Each statement has a node of its own. Values that it makes on the
 * way are read inside alone. Exact about inputs: "_" is an absent one, and inputs past the call's
 * arguments must be absent. A name that stands twice must be the same value, an attribute's name
 * the same value everywhere; a literal must equal the attribute. The last statement has one result;
 * it must be read outside, and the root has no other output. False also where the match does not
 * fit its arrays; out_match means nothing then. The arena is for literals of the pattern. */
bool tenon__match_pattern(const tenon__network_t* network, const tenon__match_uses_t* uses,
                          const tenon__calls_t* pattern, uint32_t graph, uint32_t root,
                          tenon__arena_t* arena, tenon__match_t* out_match);
/* The nodes as regions list them: the root, which the pattern matched, first; then backwards. */
void tenon__match_nodes(const tenon__match_t* match, uint32_t* out_nodes);
/* The value of a name; TENON_NONE. */
uint32_t tenon__match_value(const tenon__match_t* match, const char* name);
/* Whether a name was bound: to TENON_NONE where an optional input is absent. */
bool tenon__match_has(const tenon__match_t* match, const char* name);
/* Gives a name a value, replacing what it had; false when there are too many. */
bool tenon__match_bind(tenon__match_t* match, const char* name, uint32_t value);

#endif
