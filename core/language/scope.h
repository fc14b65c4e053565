/*
 * What a text may look up when it is instantiated for one node. Filled by the network for a node,
 * and for texts without one (a rewrite's guard, the work of a kernel) by whoever asks: the language
 * knows nodes by this alone.
 *
 * Borrowed in every member: lists live in the filler's memory, dims and contents in the network's
 * arena, and all of it for as long as texts are evaluated with it. Nothing here changes a scope.
 */
#ifndef TENON_CORE_LANGUAGE_SCOPE_H_
#define TENON_CORE_LANGUAGE_SCOPE_H_

#include <stdbool.h>

#include "core/tensor/type.h"

/* One tensor that stands at a port (an item of a variadic port). Present false: an optional input
 * that the node lacks, or an output that nobody reads; the rest means nothing but `argument`. */
typedef struct tenon__scope_value_t {
  bool present;
  tenon__type_t type; /* of a sequence: that of its items, as the value's own */
  uint32_t argument;  /* its number among the node's inputs */
  /* In guards: the elements of a short constant of floats that has no contents, NULL elsewhere. */
  uint32_t number_count;
  const double* numbers;
} tenon__scope_value_t;

/* Ports stand in the operator's order. `values` has `count` entries, one after the other with those
 * of the next port; NULL where outputs are not known at all. */
typedef struct tenon__scope_port_t {
  const char* name;
  uint32_t flags;   /* TENON_PORT_* */
  const char* type; /* as declared: "T", "i64", "$to" */
  uint32_t count;   /* 1, or the number of items of a variadic port */
  const tenon__scope_value_t* values;
} tenon__scope_port_t;

/* An attribute as the node has it, default applied. Which member holds it follows from `kind`:
 * FLOATS are `numbers`, STRINGS `strings`, each with `count`; the others are zero. */
typedef struct tenon__scope_attribute_t {
  const char* name;
  uint32_t kind;   /* TENON_ATTRIBUTE_* */
  bool defined;    /* set by the node, not defaulted */
  int64_t integer; /* INT, DTYPE */
  double number;   /* FLOAT */
  const char* string;
  const int64_t* integers;
  const double* numbers;
  const char* const* strings;
  size_t count;
} tenon__scope_attribute_t;

/* UNDEFINED while no input has bound it. */
typedef struct tenon__scope_type_t {
  const char* name; /* type variable */
  tenon_dtype_t dtype;
} tenon__scope_type_t;

typedef struct tenon__scope_t {
  tenon__dim_pool_t* pool;
  uint32_t input_count;
  const tenon__scope_port_t* inputs;
  uint32_t output_count;
  const tenon__scope_port_t* outputs; /* dtypes set; dims NULL until inferred */
  uint32_t attribute_count;
  const tenon__scope_attribute_t* attributes;
  uint32_t type_count;
  const tenon__scope_type_t* types;
} tenon__scope_t;

/* ---- Looking up ----
 * Everything that is found is borrowed from the scope. Names of ports and attributes are unique
 * within an operator, so the order of looking does not matter. */

/* Ports as an operator declares them over the values of a node; values past the end of
 * `value_count` are absent, and there is one for each port at least. In the arena; NULL when memory
 * is out. */
const tenon__scope_port_t* tenon__scope_ports(tenon__arena_t* arena, const tenon_port_t* ports,
                                              uint32_t count, const tenon__scope_value_t* values,
                                              uint32_t value_count);
/* The input or output port of that name; NULL when there is none. */
const tenon__scope_port_t* tenon__scope_port(const tenon__scope_t* scope, const char* name,
                                             bool* out_is_output);
/* The input port of that name; NULL when there is none. */
const tenon__scope_port_t* tenon__scope_input(const tenon__scope_t* scope, const char* name);
/* Defined or at its default; NULL only for a name that the operator does not declare. */
const tenon__scope_attribute_t* tenon__scope_attribute(const tenon__scope_t* scope,
                                                       const char* name);
/* The INT attribute of that name; `otherwise` when the operator has none. */
int64_t tenon__scope_integer(const tenon__scope_t* scope, const char* name, int64_t otherwise);
/* The type that a name means, as stored: a type variable, a DTYPE attribute, a type's mnemonic;
 * UNDEFINED when it is none of them. In that order, so that an operator may call a variable as it
 * likes. */
tenon_dtype_t tenon__scope_dtype(const tenon__scope_t* scope, const char* name);
/* Output items are numbered through all ports: the port of item `output` and the item's number
 * there (NULL beyond the last), and the way back. Of ports y (1 item), zs (3 items) output 2 is
 * item 1 of zs. */
const tenon__scope_port_t* tenon__scope_output(const tenon__scope_t* scope, uint32_t output,
                                               uint32_t* out_item);
uint32_t tenon__scope_output_number(const tenon__scope_t* scope, const tenon__scope_port_t* port,
                                    uint32_t item);

#endif
