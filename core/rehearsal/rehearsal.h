/*
 * The cross-check (rehearsal) of the candidates of one region, which are tried one after another on
 * the same data. Candidates with equal results give one answer. If there are several answers, the
 * region's definition decides which is right.
 *
 * Begin it for a region, try each candidate once, then judge (verdict.h) and end it. Only then are
 * times stored. It drops no candidate itself.
 */
#ifndef TENON_CORE_REHEARSAL_REHEARSAL_H_
#define TENON_CORE_REHEARSAL_REHEARSAL_H_

#include "core/rehearsal/answer.h"

/* Begins a rehearsal. Allocates nothing and cannot fail. The subject outlives it. */
void tenon__rehearsal_begin(const tenon__subject_t* subject, tenon__rehearsal_t* out_rehearsal);
void tenon__rehearsal_end(tenon__rehearsal_t* rehearsal);
/* Tries a candidate, which lives as long as the rehearsal; measures it if `best_so_far` is not
 * NULL. A candidate is run 2 or 3 times with different patterns in its outputs, which reveal
 * unwritten elements. Its inputs are checked to be unchanged, and its outputs are compared. Only
 * then is it timed. The kernel's messages are passed on as information. Returns a failure only if
 * the build cannot continue; INTERNAL if it overwrote a constant that the network needs. */
tenon_status_t tenon__rehearsal_try(tenon__rehearsal_t* rehearsal,
                                    const tenon__candidate_t* candidate, const double* best_so_far,
                                    tenon__outcome_t* out_outcome);
/* Adds an independent result if a single kernel has produced one: the region's nodes, computed one
 * by one. An operator that only its own kernel computes goes to its reference kernel. Adds nothing
 * if no reference accepts the node or if the result takes too long to compute. The core's evaluator
 * needs nanoseconds for each instruction and element. */
tenon_status_t tenon__rehearsal_ask_nodes(tenon__rehearsal_t* rehearsal);
/* Reports whether the region performs more than `most_operations` at the profile's optimum. */
tenon_status_t tenon__rehearsal_exceeds(const tenon__rehearsal_t* rehearsal, double most_operations,
                                        bool* out_exceeds);

/* Returns true if an output differs by more than its tolerance; *out_output is the first such
 * output, and *out_difference the difference. `second_maker` NULL: by the definition. Outputs
 * without data are skipped. Magnitudes of `first` are computed on demand and kept. */
bool tenon__answers_differ(tenon__rehearsal_t* rehearsal, tenon__answer_t* first,
                           const tenon_tensor_view_t* second,
                           const tenon__candidate_t* second_maker, uint32_t* out_output,
                           tenon__difference_t* out_difference);

#endif
