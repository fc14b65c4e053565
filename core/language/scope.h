/*
 * The names that a text may use when it is instantiated for one node. The network fills it for a
 * node; callers fill it for texts without a node (a rewrite's guard, the work of a kernel). The
 * language accesses nodes only through this structure.
 *
 * All members are borrowed: lists from the caller's memory, dims and contents from the network's
 * arena. They must live as long as texts are evaluated with the scope. No function here changes a
 * scope.
 */
#ifndef TENON_CORE_LANGUAGE_SCOPE_H_
#define TENON_CORE_LANGUAGE_SCOPE_H_

#include <stdbool.h>

#include "core/tensor/type.h"

/* One tensor of a port (an item of a variadic port). `present` is false for an absent optional
 * input or an unused output; then only `argument` is valid. */
typedef struct tenon__scope_value_t {
  bool present;
  tenon__type_t type; /* for a sequence: the type of its items */
  uint32_t argument;  /* its number among the node's inputs */
  /* In guards: the elements of a short float constant without contents, else NULL. */
  uint32_t number_count;
  const double* numbers;
} tenon__scope_value_t;

/* Ports are in the operator's order. `values` has `count` entries, followed by those of the next
 * port; NULL if outputs are unknown. */
typedef struct tenon__scope_port_t {
  const char* name;
  uint32_t flags;   /* TENON_PORT_* */
  const char* type; /* as declared: "T", "i64", "$to" */
  uint32_t count;   /* 1, or the number of items of a variadic port */
  const tenon__scope_value_t* values;
} tenon__scope_port_t;

/* An attribute of the node, with its default applied. `kind` determines the member with the value:
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

/* UNDEFINED until an input has bound it. */
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

/* ---- Look-ups ----
 * Results are borrowed from the scope. Names of ports and attributes are unique within an operator,
 * so the order of look-ups does not matter. */

/* Makes an operator's ports with the values of a node. Values after `value_count` are absent; each
 * port has at least one. In the arena; NULL if out of memory. */
const tenon__scope_port_t* tenon__scope_ports(tenon__arena_t* arena, const tenon_port_t* ports,
                                              uint32_t count, const tenon__scope_value_t* values,
                                              uint32_t value_count);
/* Returns the input or output port of that name, or NULL. */
const tenon__scope_port_t* tenon__scope_port(const tenon__scope_t* scope, const char* name,
                                             bool* out_is_output);
/* Returns the input port of that name, or NULL. */
const tenon__scope_port_t* tenon__scope_input(const tenon__scope_t* scope, const char* name);
/* Returns the attribute, set or at its default; NULL only for an undeclared name. */
const tenon__scope_attribute_t* tenon__scope_attribute(const tenon__scope_t* scope,
                                                       const char* name);
/* Returns the INT attribute of that name; `otherwise` if the operator has none. */
int64_t tenon__scope_integer(const tenon__scope_t* scope, const char* name, int64_t otherwise);
/* Returns the type for a name: a type variable, a DTYPE attribute, or a type's mnemonic, in this
 * order, so that an operator may use any name for a variable. UNDEFINED for other names. */
tenon_dtype_t tenon__scope_dtype(const tenon__scope_t* scope, const char* name);
/* Output items are numbered consecutively over all ports. The first returns the port of item
 * `output` and the item's number in it (NULL beyond the last); the second is the inverse. For ports
 * y (1 item) and zs (3 items), output 2 is item 1 of zs. */
const tenon__scope_port_t* tenon__scope_output(const tenon__scope_t* scope, uint32_t output,
                                               uint32_t* out_item);
uint32_t tenon__scope_output_number(const tenon__scope_t* scope, const tenon__scope_port_t* port,
                                    uint32_t item);

#endif
