/*
 * Extents that only a run finds. A kernel that finds an extent, or data that say one, make a symbol
 * known in the middle of a run; steps behind it are bound only then. Everything here is about when
 * a symbol is known, and that what is found agrees with what the plan was made for.
 */
#ifndef TENON_CORE_FRAME_DATA_DEPENDENT_H_
#define TENON_CORE_FRAME_DATA_DEPENDENT_H_

#include "core/frame/frame_state.h"

/* Lists the extents that the graph's steps find, and the views that say extents, in the context's
 * arena. Once, when the frame is made: linear in symbols and places. OUT_OF_MEMORY only. */
tenon_status_t tenon__frame_list_data_dependent(tenon__frame_t* frame);
/* Are the extents of a step's output, as far as they are unknown, such as the step itself finds?
 * Whether a step may run before its outputs' extents are known. */
bool tenon__frame_finds(const tenon__frame_t* frame, const tenon__step_t* step,
                        const tenon__value_node_t* value);
/* Makes the symbols known that follow from what is known now: those that stand for an extent of a
 * value whose shape says this extent by other symbols. Called when a run begins and whenever a step
 * has found extents. */
void tenon__frame_follow(tenon__frame_t* frame);
/* What the last run, or the last iteration, found says nothing about this one. */
void tenon__frame_forget_data_dependent(tenon__frame_t* frame);
/* Has the memory of a place that is no view the extents that the plan says? INVALID_DATA names the
 * value. Also where it is read before anything wrote it. */
tenon_status_t tenon__frame_check_memory(const tenon__frame_t* frame, uint32_t place);
/* Sets those symbols among a value's dims that nobody knows yet, or that stand for just these
 * extents, from numbers; INVALID_DATA, with the value's name, when the rank is another or a number
 * is not one that the plan was made for. */
tenon_status_t tenon__run_learn_shape(tenon__run_state_t* run, uint32_t graph, uint32_t value,
                                      uint32_t rank, const int64_t* dims, bool* out_changed);
/* The same for what a run finds; then all of the value's dims, symbols or not, must say these
 * numbers: INVALID_DATA otherwise. */
tenon_status_t tenon__run_find_shape(tenon__run_state_t* run, uint32_t graph, uint32_t value,
                                     uint32_t rank, const int64_t* dims);

#endif
