/*
 * Matching a pattern of calls against a graph: for rewrites, and for kernels of several nodes.
 *
 * A pattern is matched backwards from its last statement, each call against the node that makes the
 * value in question. Only structure and attributes are compared; the pattern's guard, or the
 * kernel's match, checks types and extents.
 */
#ifndef TENON_CORE_NETWORK_MATCH_H_
#define TENON_CORE_NETWORK_MATCH_H_

#include "core/language/text.h"
#include "core/network/network.h"

enum { TENON_MATCH_NAMES = 64, TENON_MATCH_ATTRIBUTES = 32 };

/* The name is the pattern's string and lives as long as its text. TENON_NONE is an absent optional
 * input. */
typedef struct tenon__match_name_t {
  const char* name;
  uint32_t value;
} tenon__match_name_t;

/* The values of the pattern's names. It has a fixed size, so that it can be on the stack and be
 * copied. Attributes borrow from their nodes, except the names, which are the pattern's. Values and
 * nodes are ids of `graph`, valid until a pass changes it. */
typedef struct tenon__match_t {
  uint32_t graph;
  uint32_t root;       /* the node of the last statement */
  uint32_t result;     /* the value of the last name */
  uint32_t name_count; /* inputs of the pattern and names that its statements define */
  tenon__match_name_t names[TENON_MATCH_NAMES];
  uint32_t attribute_count; /* attributes that the pattern names */
  tenon__scope_attribute_t attributes[TENON_MATCH_ATTRIBUTES];
  uint32_t node_count;
  uint32_t nodes[TENON_MATCH_NAMES]; /* statement by statement, the root last */
  uint32_t input_count;
  uint32_t inputs[TENON_MATCH_NAMES]; /* values of the pattern's inputs, in order of occurrence */
} tenon__match_t;

/* The matcher's access to uses. read_outside returns true if the value has a reader that is not
 * among the match's nodes: another node, the graph's outputs, or a state. */
typedef struct tenon__match_uses_t {
  bool (*read_outside)(const void* user, const tenon__match_t* match, uint32_t value);
  const void* user;
} tenon__match_uses_t;

/* Returns true if the pattern matches with its last statement at `root`. Each statement has its own
 * node. Intermediate values are read only inside the match. Inputs match exactly: "_" is an absent
 * one, and inputs after the call's arguments must be absent. A repeated name must be the same
 * value, a repeated attribute name must have equal values, and a literal must equal the attribute.
 * The last statement has one result, which is read outside, and the root has no other output. Also
 * returns false if the match exceeds its arrays; out_match is then invalid. The arena is for
 * literals of the pattern. */
bool tenon__match_pattern(const tenon__network_t* network, const tenon__match_uses_t* uses,
                          const tenon__calls_t* pattern, uint32_t graph, uint32_t root,
                          tenon__arena_t* arena, tenon__match_t* out_match);
/* Lists the nodes in the order of regions: the root first, then backwards. */
void tenon__match_nodes(const tenon__match_t* match, uint32_t* out_nodes);
/* Returns the value of a name, or TENON_NONE. */
uint32_t tenon__match_value(const tenon__match_t* match, const char* name);
/* Returns true if a name is bound, also to TENON_NONE for an absent optional input. */
bool tenon__match_has(const tenon__match_t* match, const char* name);
/* Sets the value of a name, replacing the old one. Returns false if there are too many. */
bool tenon__match_bind(tenon__match_t* match, const char* name, uint32_t value);

#endif
