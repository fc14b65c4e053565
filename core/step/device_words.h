/*
 * What kernels leave in a device's memory for the host to read: extents of values that lie at their
 * bound (core/plan/bounded.h), and faults that work found in data. Each device has a few words for
 * it, which are copied to the host when somebody there needs an extent, and at the end of a run.
 */
#ifndef TENON_CORE_STEP_DEVICE_WORDS_H_
#define TENON_CORE_STEP_DEVICE_WORDS_H_

#include "core/frame/frame_state.h"

/* Bytes of the words that the engine's plan needs on a device. */
uint64_t tenon__engine_words_bytes(const tenon__engine_t* engine, uint32_t device);
/* Gives words to the values of a graph that lie at their bound, and to its steps that may tell a
 * fault, when the frame is made; `inout_offsets`: of each device, where its next words lie.
 * OUT_OF_MEMORY only. */
tenon_status_t tenon__frame_list_words(tenon__frame_t* frame, uint64_t* inout_offsets);
/* The bounds for the extents that are known now, before steps are bound. INVALID_ARGUMENT where a
 * value at its bound does not fit where the plan put it. */
tenon_status_t tenon__frame_find_bounds(tenon__frame_t* frame);
/* Before the graph's steps run. */
void tenon__frame_forget_extents(tenon__frame_t* frame);
/* Waits for, and learns, what steps before this one found and the host has not read. INVALID_DATA
 * names the step that found more than its bound, or a fault. Nothing to do: costs nothing. */
tenon_status_t tenon__frame_read_extents(tenon__frame_t* frame, uint32_t step);
/* At the end of a run: asks for the words that nobody has read; and looks at them, once the host
 * has waited for the devices. */
tenon_status_t tenon__run_ask_words(tenon__run_state_t* run);
tenon_status_t tenon__run_take_words(tenon__run_state_t* run);

#endif
