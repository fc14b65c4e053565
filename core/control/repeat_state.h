/* State of a step that repeats a body: its layout and buffers, which it keeps between runs. */
#ifndef TENON_CORE_CONTROL_REPEAT_STATE_H_
#define TENON_CORE_CONTROL_REPEAT_STATE_H_

#include "core/frame/frame_state.h"
#include "core/network/control.h"

/* The state of one step. Buffers grow and are kept. The layout gives the length of each list.
 * carried[0] and carried[1] are exchanged after each iteration, so that a body never overwrites its
 * inputs. */
typedef struct tenon__repeat_state_t {
  tenon_allocator_t allocator;
  tenon__control_layout_t layout;
  const int64_t* directions;           /* of sliced, then of collected values; NULL: all forwards */
  tenon__dynamic_buffer_t* carried[2]; /* double-buffered: one read, one written */
  bool* is_direct; /* of each carried value: the body writes it directly to carried[1] */
  tenon__dynamic_buffer_t* slices;
  tenon__dynamic_buffer_t* collected; /* [iterations, ...], capacity doubles */
  int64_t iteration;                  /* read by the body if it is passed */
  uint8_t condition;                  /* 1: the loop continues */
  uint8_t holds;                      /* 1: the condition as the body reads it */
  bool lead_is_copied; /* steps of the body copy it to a device later; until then it is valid */
} tenon__repeat_state_t;

/* Creates the state for a control node of the context's plan, with buffers in the memories of the
 * body's places. The caller owns it and destroys it before the context's spaces. */
tenon_status_t tenon__repeat_state_create(tenon__run_state_t* run, uint32_t graph, uint32_t node,
                                          tenon__repeat_state_t** out_state);
/* Destroys the states of all steps of a frame. */
void tenon__frame_destroy_repeats(const tenon__frame_t* frame);

#endif
