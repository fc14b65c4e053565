/* How the inputs and outputs of a control node correspond to its bodies' parameters and results:
 * tenon_control_t with the node's attributes put in. Used by inference, verification, the optimiser
 * and the runtime. */
#ifndef TENON_CORE_NETWORK_CONTROL_H_
#define TENON_CORE_NETWORK_CONTROL_H_

#include "core/network/network.h"

/* What corresponds to what, in numbers. Valid while node, attributes and bodies are as they were:
 * `axes` points into the attribute, and nothing else is borrowed. For a loop with two carried
 * values, one scanned and one captured, that passes its iteration, the node takes (trip count,
 * condition, c0, c1, s, k), its body (iteration, condition, c0, c1, slice of s, k), and the body
 * gives (condition, c0, c1, collected...). */
typedef struct tenon__control_layout_t {
  /* TENON_CONTROL_* */
  uint32_t form;
  /* 2 of a choice, 1 of any other form. */
  uint32_t body_count;
  bool passes_iteration;
  /* Of the node's inputs: TENON_NONE where the form has none or the node lacks it. */
  uint32_t trip_count_input;
  uint32_t condition_input;
  /* Of the node's inputs, from first_value on: carried, scanned, captured. */
  uint32_t first_value;
  uint32_t carried_count;
  uint32_t scanned_count;
  uint32_t captured_count;
  /* Of a body's parameters: [iteration, condition], carried, scanned, captured. */
  uint32_t first_parameter; /* 2 with passes_iteration, else 0 */
  /* Of a body's results: [condition], outputs. Of the node's outputs: carried, collected. */
  uint32_t first_result; /* 1 with passes_iteration, else 0 */
  uint32_t collected_count;
  uint32_t output_count;
  const int64_t* axes; /* as the attribute has them; entries may be missing */
  size_t axis_count;
} tenon__control_layout_t;

/* A node that may not be there yet: attributes as the operator declares them, all of them; inputs
 * are values of `graph`, TENON_NONE where absent. Everything is borrowed for the call. */
typedef struct tenon__control_request_t {
  uint32_t graph;
  const tenon__operator_t* op;
  uint32_t attribute_count;
  const tenon__scope_attribute_t* attributes;
  uint32_t input_count;
  const uint32_t* inputs;
  uint32_t body_count;
  const uint32_t* bodies;
} tenon__control_request_t;
/* INVALID_DATA, with the reason, when inputs, attributes and bodies do not fit one another. When no
 * body can run it is the first body's own status instead. Linear in attributes and bodies; nothing
 * is allocated or kept. */
tenon_status_t tenon__control_layout(const tenon__network_t* network,
                                     const tenon__control_request_t* request,
                                     const tenon_sink_t* sink, tenon__control_layout_t* out_layout);
/* The same for a node that is there. */
tenon_status_t tenon__control_layout_of(const tenon__network_t* network, uint32_t graph,
                                        uint32_t node, const tenon_sink_t* sink,
                                        tenon__control_layout_t* out_layout);
/* Axis of sliced input `index`, or of collected output scanned_count + index, of a tensor of `rank`
 * dimensions (the output's own); TENON_NONE when it is out of range. Negative axes count from the
 * end; one that the attribute does not have is 0. Scanned input 1 of rank 3 with axes [0, -1] is
 * cut along axis 2. */
uint32_t tenon__control_axis(const tenon__control_layout_t* layout, uint32_t index, uint32_t rank);
/* The branch of a choice that is taken for certain; TENON_NONE when only the run knows, or for
 * another form. 0 is the branch of a condition that holds, 1 the other; the condition's contents
 * must be one known number. */
uint32_t tenon__control_taken(const tenon__network_t* network, uint32_t graph,
                              const tenon__control_layout_t* layout, const uint32_t* inputs);

#endif
