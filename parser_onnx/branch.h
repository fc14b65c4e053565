/*
 * An If whose condition only a run knows. A branch that cannot be built becomes one that cannot
 * run, as long as the other can.
 *
 * A value of the network has one element type and one rank. Where the branches' results differ in
 * these, what follows the If in its block is tried with each branch's. What works with one alone
 * makes the other a branch that cannot run. What works with both is taken into both branches: then
 * the block's outputs are the If's. They must agree; if not, the types that the file declares
 * decide.
 */
#ifndef TENON_PARSER_ONNX_BRANCH_H_
#define TENON_PARSER_ONNX_BRANCH_H_

#include "rest.h"

typedef struct tenon__onnx_choice_t {
  uint32_t bodies[2];
  tenon__onnx_captures_t captures;
  uint32_t output_count;
  const tenon__onnx_rest_t* rest; /* what it took in; NULL: the outputs are the If's */
} tenon__onnx_choice_t;

tenon_status_t tenon__onnx_convert_choice(const tenon_source_t* source,
                                          const char* const* attributes,
                                          tenon__onnx_choice_t* out_choice);
/* With `rest`, once the node is made: its outputs get the names of the block's. */
tenon_status_t tenon__onnx_bind_rest(const tenon_source_t* source,
                                     const tenon__onnx_choice_t* choice,
                                     const tenon_value_t* outputs);

#endif
