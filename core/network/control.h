/* The correspondence between inputs and outputs of a control node and its bodies' parameters and
 * results: tenon_control_t with the values of the node's attributes. Used by inference,
 * verification, the optimiser and the runtime. */
#ifndef TENON_CORE_NETWORK_CONTROL_H_
#define TENON_CORE_NETWORK_CONTROL_H_

#include "core/network/network.h"

/* The correspondence as indices and counts. Valid while node, attributes and bodies do not change.
 * Only `axes` is borrowed; it points into the attribute. For a loop with two carried values, one
 * scanned and one captured, that passes its iteration, the node takes (trip count, condition, c0,
 * c1, s, k), its body (iteration, condition, c0, c1, slice of s, k), and the body returns
 * (condition, c0, c1, collected...). */
typedef struct tenon__control_layout_t {
  /* TENON_CONTROL_* */
  uint32_t form;
  /* 2 for an If, 1 for any other form. */
  uint32_t body_count;
  bool passes_iteration;
  /* Of the node's inputs: TENON_NONE if the form or the node has none. */
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
  const int64_t* axes; /* values of the attribute; entries may be missing */
  size_t axis_count;
} tenon__control_layout_t;

/* A node that may not exist yet. It has all attributes that the operator declares. Inputs are
 * values of `graph`; TENON_NONE: absent. Everything is borrowed for the call. */
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
/* Computes the layout. Linear in attributes and bodies; allocates nothing. Returns INVALID_DATA,
 * with the reason, if inputs, attributes and bodies do not fit together, or the first body's own
 * status if no body can run. */
tenon_status_t tenon__control_layout(const tenon__network_t* network,
                                     const tenon__control_request_t* request,
                                     const tenon_sink_t* sink, tenon__control_layout_t* out_layout);
/* Same for an existing node. */
tenon_status_t tenon__control_layout_of(const tenon__network_t* network, uint32_t graph,
                                        uint32_t node, const tenon_sink_t* sink,
                                        tenon__control_layout_t* out_layout);
/* Returns the axis of sliced input `index`, or of collected output scanned_count + index, of a
 * tensor of `rank` dimensions (the output's own); TENON_NONE if it is out of range. Negative axes
 * count from the end. A missing axis is 0. For example, with axes [0, -1], scanned input 1 of rank
 * 3 is sliced along axis 2. */
uint32_t tenon__control_axis(const tenon__control_layout_t* layout, uint32_t index, uint32_t rank);
/* Returns the branch of an If that is certainly taken: 0 if the condition's contents are a known
 * true value, 1 if a known false one. TENON_NONE if it is data-dependent, or for other forms. */
uint32_t tenon__control_taken(const tenon__network_t* network, uint32_t graph,
                              const tenon__control_layout_t* layout, const uint32_t* inputs);

#endif
