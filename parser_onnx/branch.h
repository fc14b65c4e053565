/*
 * An If whose condition only a run knows. A branch that cannot be built becomes one that cannot run
 * (a run that takes it fails with the reason), as long as the other can.
 *
 * A value of the network has one element type and one rank. Where the branches' results differ in
 * these, what follows the If in its block is tried with each branch's. What works with one alone
 * makes the other a branch that cannot run. What works with both is taken into both branches: then
 * the block's outputs are the If's. They must agree; if not, the types that the file declares
 * decide (value_info and output of the graph around it); if these fit both or neither, both
 * branches stay, and the builder refuses the If for its results' types.
 *
 * An If whose condition is known never comes here: converters/control.c takes its branch in its
 * place.
 */
#ifndef TENON_PARSER_ONNX_BRANCH_H_
#define TENON_PARSER_ONNX_BRANCH_H_

#include "rest.h"

/* What the If becomes: the bodies of a TENON_CONTROL_CHOOSE, in the order of `attributes`. Both
 * take the captured values as their parameters, in that order; what the arrays hold lives until
 * the parse ends. */
typedef struct tenon__onnx_choice_t {
  uint32_t bodies[2];
  tenon__onnx_captures_t captures;
  /* The node's outputs, or with `rest` the results of the block's remainder. */
  uint32_t output_count;
  /* What both branches took in of what follows; NULL: the outputs are those of the If. */
  const tenon__onnx_rest_t* rest;
} tenon__onnx_choice_t;

/* Builds both bodies. `attributes`: the names of the two graph attributes, of the branch for
 * true first. INVALID_DATA when one of them is no graph; otherwise it fails only where the
 * machine does or too much was tried in vain: faults of a branch become its body. If both have
 * one, it is the builder that refuses the choice. With a host that cannot attempt, the first
 * fault of a branch is the node's. */
tenon_status_t tenon__onnx_convert_choice(const tenon_source_t* source,
                                          const char* const* attributes,
                                          tenon__onnx_choice_t* out_choice);
/* With `rest`, once the node is made: names its `outputs` (output_count of them) as the block's
 * outputs, and marks the scope done, so that no later node of the block is converted a second
 * time. */
tenon_status_t tenon__onnx_bind_rest(const tenon_source_t* source,
                                     const tenon__onnx_choice_t* choice,
                                     const tenon_value_t* outputs);

#endif
