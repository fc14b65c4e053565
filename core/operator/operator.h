/*
 * An admitted operator: a full-size copy of its descriptor, with its texts parsed and checked. An
 * error in a text disables the operator, with its position.
 *
 * It is in the arena of the catalogue, or of a network that was read, is immutable, and outlives
 * the networks whose nodes refer to it. Two operators of the same name have the same meaning if and
 * only if their contracts are equal.
 */
#ifndef TENON_CORE_OPERATOR_OPERATOR_H_
#define TENON_CORE_OPERATOR_OPERATOR_H_

#include <string.h>

#include "core/base/digest.h"
#include "core/language/scope.h"
#include "core/language/text.h"

/* One parsed case: `when` NULL means always. */
typedef struct tenon__operator_case_t {
  const tenon__syntax_t* when;
  tenon__text_t text;   /* cases, moves */
  tenon__calls_t calls; /* decompositions */
} tenon__operator_case_t;

/* Properties of the operator on which passes rely, parsed from its traits (plugin.h). A trait never
 * defines the computation, only permitted transformations. Traits that no pass uses are checked and
 * not kept. */
typedef struct tenon__operator_traits_t {
  bool impure;       /* equal nodes are neither merged nor folded */
  bool not_foldable; /* runs even if all inputs are constant */
  bool linear;       /* with the four below */
  uint32_t linear_input;
  int32_t linear_axis;        /* of that input */
  int32_t linear_output_axis; /* of output 0; negative from the end */
  uint32_t linear_bias;       /* input number, or TENON_NONE */
  bool concatenable;          /* with the three below */
  int32_t concatenable_axis;  /* of all inputs but the first */
  int32_t concatenable_output_axis;
  const char* concatenable_single; /* attribute that must be 1; NULL: none */
} tenon__operator_traits_t;

/* The core's copy of an admitted tenon_operator_t. Members that an older plugin lacks are zeros.
 * Its lists are typed arrays of full-size structures without strides. */
typedef struct tenon__descriptor_t {
  const char* name;
  const char* summary;
  const tenon_attribute_descriptor_t* attributes;
  const tenon_type_variable_t* types;
  const tenon_port_t* inputs;
  const tenon_port_t* outputs;
  const tenon_check_t* checks;
  const tenon_case_t* cases;
  const tenon_case_t* moves;
  const tenon_case_t* decompositions;
  const tenon_control_t* control;
  const char* shape;
  const char* contents;
  const char* traits;
  tenon_status_t (*infer)(void* state, tenon_shape_builder_t* builder,
                          const tenon_shape_table_t* table);
  const char* operations;
  uint32_t attribute_count;
  uint32_t type_count;
  uint32_t input_count;
  uint32_t output_count;
  uint32_t check_count;
  uint32_t case_count;
  uint32_t move_count;
  uint32_t decomposition_count;
} tenon__descriptor_t;

/* Cases, moves and decompositions are tried in their order; the conditions are over attributes,
 * ranks and presence. */
typedef struct tenon__operator_t {
  tenon__descriptor_t descriptor;
  const char* name;                         /* "domain.name/1" */
  const char* plugin;                       /* its plugin, for messages */
  void* state;                              /* the plugin's, for infer */
  const tenon__text_t* shape;               /* NULL when absent */
  const tenon__text_t* contents;            /* NULL when absent */
  const tenon__syntax_t* const* checks;     /* descriptor.check_count */
  const tenon__syntax_t* operations;        /* NULL when absent */
  const tenon__scope_attribute_t* defaults; /* descriptor.attribute_count; zeros where REQUIRED */
  /* descriptor.case_count, move_count, decomposition_count entries; the first with a true condition
   * is used. */
  const tenon__operator_case_t* cases;
  const tenon__operator_case_t* moves;
  const tenon__operator_case_t* decompositions;
  tenon__operator_traits_t traits;
  /* Digest of a canonical form, which does not depend on white space or on new optional attributes
   * at their default. */
  tenon__digest_t contract;
  /* Only name, ports and control form are known: read from a plan whose plugin is absent. */
  bool is_missing;
} tenon__operator_t;

/* Returns true if both have the same meaning. */
static inline bool tenon__operators_agree(const tenon__operator_t* a, const tenon__operator_t* b) {
  return memcmp(&a->contract, &b->contract, sizeof(a->contract)) == 0;
}

/* Return the index of a port or attribute by name, or TENON_NONE. */
uint32_t tenon__operator_port(const tenon_port_t* ports, uint32_t count, const char* name);
uint32_t tenon__operator_input(const tenon__descriptor_t* op, const char* name);
uint32_t tenon__operator_output(const tenon__descriptor_t* op, const char* name);
uint32_t tenon__operator_attribute(const tenon__descriptor_t* op, const char* name);
/* Same for a type variable. */
uint32_t tenon__operator_type(const tenon__descriptor_t* op, const char* name);

/* Returns an operator by name; NULL: unknown. May load plugins. */
typedef const tenon__operator_t* (*tenon__find_operator_t)(void* user, const char* name);

#endif
