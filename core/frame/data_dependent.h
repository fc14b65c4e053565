/*
 * Data-dependent extents. A kernel that finds an extent, or data that contain one, make a symbol
 * known in the middle of a run, and later steps that use it are bound only then. This file decides
 * when a symbol is known, and checks that its value agrees with the plan.
 */
#ifndef TENON_CORE_FRAME_DATA_DEPENDENT_H_
#define TENON_CORE_FRAME_DATA_DEPENDENT_H_

#include "core/frame/frame_state.h"

/* Lists the extents that the graph's steps find, and the views that contain extents, in the
 * context's arena. Called once, when the frame is created. Linear in symbols and places. Returns
 * OUT_OF_MEMORY only. */
tenon_status_t tenon__frame_list_data_dependent(tenon__frame_t* frame);
/* Returns true if the step itself finds all unknown extents of its output. Then it may run before
 * its outputs' extents are known. */
bool tenon__frame_finds(const tenon__frame_t* frame, const tenon__step_t* step,
                        const tenon__value_node_t* value);
/* Sets the symbols that follow from known ones: symbols for an extent of a value whose shape
 * expresses this extent by other symbols. Called when a run begins and whenever a step has found
 * extents. */
void tenon__frame_follow(tenon__frame_t* frame);
/* Clears the extents that the last run or iteration has found. */
void tenon__frame_forget_data_dependent(tenon__frame_t* frame);
/* Checks that the memory of a place, not a view, has the plan's extents. Returns INVALID_DATA with
 * the value's name if it does not, or if the place is read before it is written. */
tenon_status_t tenon__frame_check_memory(const tenon__frame_t* frame, uint32_t place);
/* Sets the symbols of a value's dims from numbers, if they are unknown or stand for exactly these
 * extents. Returns INVALID_DATA with the value's name if the rank differs or a number is outside of
 * the plan's range. */
tenon_status_t tenon__run_learn_shape(tenon__run_state_t* run, uint32_t graph, uint32_t value,
                                      uint32_t rank, const int64_t* dims, bool* out_changed);
/* Same for extents that a run finds. All of the value's dims must then have these numbers, else it
 * returns INVALID_DATA. */
tenon_status_t tenon__run_find_shape(tenon__run_state_t* run, uint32_t graph, uint32_t value,
                                     uint32_t rank, const int64_t* dims);

#endif
