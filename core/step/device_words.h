/*
 * The status block (words) of a device, which kernels write and the host reads: extents of values
 * that are stored at their bound (core/plan/bounded.h), and data errors. It is copied to the host
 * when the host needs an extent, and at the end of a run.
 */
#ifndef TENON_CORE_STEP_DEVICE_WORDS_H_
#define TENON_CORE_STEP_DEVICE_WORDS_H_

#include "core/frame/frame_state.h"

/* Returns the size of the status block of the engine's plan on a device, in bytes. */
uint64_t tenon__engine_words_bytes(const tenon__engine_t* engine, uint32_t device);
/* Assigns entries of the status blocks to the values of a graph that are stored at their bound, and
 * to its steps that may report data errors. Called when the frame is created. `inout_offsets` has
 * the next free offset of each device. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__frame_list_words(tenon__frame_t* frame, uint64_t* inout_offsets);
/* Computes the bounds for the current extents, before steps are bound. Returns INVALID_ARGUMENT if
 * a value at its bound does not fit into its planned memory. */
tenon_status_t tenon__frame_find_bounds(tenon__frame_t* frame);
/* Marks these extents unknown, before the graph's steps run. */
void tenon__frame_forget_extents(tenon__frame_t* frame);
/* Waits for and reads the extents that earlier steps have found and the host has not read. Returns
 * at once if there are none. Returns INVALID_DATA with the name of a step that exceeded its bound
 * or found a data error. */
tenon_status_t tenon__frame_read_extents(tenon__frame_t* frame, uint32_t step);
/* At the end of a run, enqueues copies of status blocks with unread extents. Blocks with data errors
 * alone stay on the devices: the first error of several runs is kept until the host clears it. */
tenon_status_t tenon__run_ask_words(tenon__run_state_t* run);
/* Reads extents and data errors, after the host has waited for the devices. */
tenon_status_t tenon__run_take_words(tenon__run_state_t* run);

#endif
