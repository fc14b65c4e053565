/*
 * Devices for parameters and results of bodies, and for inputs and outputs of control steps: the
 * device that computes a parameter's next value, else the one that reads it. Corresponding values
 * are in the same memory, so that a body begins and ends without copies between memories. For this
 * module only.
 */
#ifndef TENON_CORE_SCHEDULE_BODY_SPACES_H_
#define TENON_CORE_SCHEDULE_BODY_SPACES_H_

#include "core/fusion/unit.h"
#include "core/timing/tuning.h"

/* Numbers of devices. Lists are in the tuning's arena; units are borrowed. */
typedef struct tenon__body_spaces_t {
  const tenon__tuning_t* tuning;
  const tenon__units_t* units; /* of each graph */
  uint32_t** parameters;       /* of each graph: of each of its inputs; the main graph's: 0 */
  uint32_t** results;          /* same for outputs */
} tenon__body_spaces_t;

/* Called when the units of all graphs are chosen. Bodies have greater numbers than the graphs of
 * their nodes. */
tenon_status_t tenon__body_spaces_find(const tenon__tuning_t* tuning, const tenon__units_t* units,
                                       uint32_t graph_count, tenon__body_spaces_t* out_spaces);
/* Return the device of a control node's input, and of its output. */
uint32_t tenon__control_input_space(const tenon__body_spaces_t* spaces, uint32_t graph,
                                    uint32_t node, uint32_t input);
uint32_t tenon__control_output_space(const tenon__body_spaces_t* spaces, uint32_t graph,
                                     uint32_t node, uint32_t output);
/* Returns the device that computes the value, possibly the host. TENON_NONE: no step does. */
uint32_t tenon__maker_space(const tenon__body_spaces_t* spaces, uint32_t graph, uint32_t value);
/* Returns true if a symbol refers to an element of the value. Then the host must read it. */
bool tenon__value_is_looked_at(const tenon__network_t* network, uint32_t graph, uint32_t value);

#endif
