/*
 * The candidates of one region, tried one after the other on the same data. Those that compute the
 * same give one answer; where there are several answers, the region's meaning decides which is
 * right.
 *
 * Begun for a region, asked once for each candidate, then judged (verdict.h) and ended. Only then
 * are times written down. It drops nobody itself.
 */
#ifndef TENON_CORE_REHEARSAL_REHEARSAL_H_
#define TENON_CORE_REHEARSAL_REHEARSAL_H_

#include "core/rehearsal/answer.h"

/* Nothing is allocated, and nothing can fail. The subject outlives it. */
void tenon__rehearsal_begin(const tenon__subject_t* subject, tenon__rehearsal_t* out_rehearsal);
void tenon__rehearsal_end(tenon__rehearsal_t* rehearsal);
/* Tries a candidate, which lives as long as the rehearsal; measures it if `best_so_far` is not
 * NULL. Fails where the build cannot go on. A candidate is run two or three times with different
 * patterns in its outputs (what holds both was not written), its inputs are checked to be
 * unchanged, its outputs compared, and only then it is timed. INTERNAL where it wrote to a constant
 * that the network needs. A message of the kernel is passed on as information. */
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

/* True when an output of both differs by more than its tolerance: *out_output is the first such
 * one, and *out_difference how. `second_maker` NULL: by the definition. Outputs without data are
 * passed over; magnitudes of `first` are worked out on demand and kept. */
bool tenon__answers_differ(tenon__rehearsal_t* rehearsal, tenon__answer_t* first,
                           const tenon_tensor_view_t* second,
                           const tenon__candidate_t* second_maker, uint32_t* out_output,
                           tenon__difference_t* out_difference);

#endif
