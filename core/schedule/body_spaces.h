/*
 * In whose memory parameters and results of bodies lie, and with them what a control step takes and
 * gives: on the device that makes what a parameter becomes, else on the one that reads it. What
 * corresponds lies in one memory, so that nothing crosses where a body begins and ends. For this
 * room alone.
 */
#ifndef TENON_CORE_SCHEDULE_BODY_SPACES_H_
#define TENON_CORE_SCHEDULE_BODY_SPACES_H_

#include "core/fusion/unit.h"
#include "core/timing/tuning.h"

/* Numbers of devices. Lists lie in the tuning's arena, units are borrowed. */
typedef struct tenon__body_spaces_t {
  const tenon__tuning_t* tuning;
  const tenon__units_t* units; /* of each graph */
  uint32_t** parameters;       /* of each graph: of each of its inputs; the main graph's: 0 */
  uint32_t** results;          /* likewise outputs */
} tenon__body_spaces_t;

/* When the units of all graphs are chosen. Bodies have greater numbers than the graphs that hold
 * their nodes. */
tenon_status_t tenon__body_spaces_find(const tenon__tuning_t* tuning, const tenon__units_t* units,
                                       uint32_t graph_count, tenon__body_spaces_t* out_spaces);
/* Where a control node wants its input, and leaves its output. */
uint32_t tenon__control_input_space(const tenon__body_spaces_t* spaces, uint32_t graph,
                                    uint32_t node, uint32_t input);
uint32_t tenon__control_output_space(const tenon__body_spaces_t* spaces, uint32_t graph,
                                     uint32_t node, uint32_t output);
/* Where the value is made: by the host too, if it makes it. TENON_NONE: by no step. */
uint32_t tenon__maker_space(const tenon__body_spaces_t* spaces, uint32_t graph, uint32_t value);
/* Does a symbol stand for a number of the value? Then the host has to look at it. */
bool tenon__value_is_looked_at(const tenon__network_t* network, uint32_t graph, uint32_t value);

#endif
