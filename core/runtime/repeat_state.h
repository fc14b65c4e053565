/* What a step that repeats a body keeps from run to run: its layout and buffers. */
#ifndef TENON_CORE_RUNTIME_REPEAT_STATE_H_
#define TENON_CORE_RUNTIME_REPEAT_STATE_H_

#include "core/kernel/dynamic_buffer.h"
#include "core/network/control.h"

/* One step's. Buffers grow and are kept; each list has as many as the layout says. carried[0] and
 * carried[1] change places after each iteration, so that a body never overwrites what it reads. */
typedef struct tenon__repeat_state_t {
  tenon_allocator_t allocator;
  tenon__control_layout_t layout;
  const int64_t* directions; /* of what is sliced, then of what is collected; NULL: all forwards */
  tenon__dynamic_buffer_t* carried[2]; /* read and written by turns */
  tenon__dynamic_buffer_t* slices;
  tenon__dynamic_buffer_t* collected; /* [iterations, ...], capacity doubles */
  int64_t iteration;                  /* which the body reads where it is passed */
  uint8_t condition;                  /* likewise */
} tenon__repeat_state_t;

/* For a control node of a graph, which outlives it. Owned by the caller. */
tenon_status_t tenon__repeat_state_create(tenon_allocator_t allocator,
                                          const tenon__network_t* network, uint32_t graph,
                                          uint32_t node, const tenon_sink_t* sink,
                                          tenon__repeat_state_t** out_state);
/* NULL is fine. */
void tenon__repeat_state_destroy(tenon__repeat_state_t* state);

#endif
