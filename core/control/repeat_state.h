/* What a step that repeats a body keeps from run to run: its layout and buffers. */
#ifndef TENON_CORE_CONTROL_REPEAT_STATE_H_
#define TENON_CORE_CONTROL_REPEAT_STATE_H_

#include "core/frame/frame_state.h"
#include "core/network/control.h"

/* One step's. Buffers grow and are kept; each list has as many as the layout says. carried[0] and
 * carried[1] change places after each iteration, so that a body never overwrites what it reads. */
typedef struct tenon__repeat_state_t {
  tenon_allocator_t allocator;
  tenon__control_layout_t layout;
  const int64_t* directions; /* of what is sliced, then of what is collected; NULL: all forwards */
  tenon__dynamic_buffer_t* carried[2]; /* read and written by turns */
  bool* is_direct; /* of each carried value: the body writes it into carried[1] at once */
  tenon__dynamic_buffer_t* slices;
  tenon__dynamic_buffer_t* collected; /* [iterations, ...], capacity doubles */
  int64_t iteration;                  /* which the body reads where it is passed */
  uint8_t condition;                  /* does it go on? */
  uint8_t holds;                      /* 1: the condition as the body reads it, when it runs */
  bool
      lead_is_copied; /* to a device, by steps of the body: late, so that it must stay until then */
} tenon__repeat_state_t;

/* For a control node of the context's plan; buffers lie where the body's places do. Owned by the
 * caller, who ends it before the context's spaces. */
tenon_status_t tenon__repeat_state_create(tenon__run_state_t* run, uint32_t graph, uint32_t node,
                                          tenon__repeat_state_t** out_state);
/* Of all steps of a frame. */
void tenon__frame_destroy_repeats(const tenon__frame_t* frame);

#endif
