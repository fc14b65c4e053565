/*
 * The candidates of one region, tried one after the other on the same data. Those that compute the
 * same give one answer; where there are several answers, the region's meaning decides which is
 * right.
 *
 * Begun for a region, asked once for each candidate, then judged (verdict.h) and ended. Only then
 * are times written down. It drops nobody itself.
 */
#ifndef TENON_CORE_CANDIDATE_REHEARSAL_H_
#define TENON_CORE_CANDIDATE_REHEARSAL_H_

#include "core/candidate/difference.h"
#include "core/candidate/search.h"
#include "core/candidate/trial_data.h"

/* Beyond so many answers a candidate counts as wrong; beyond so many kernels the votes of an answer
 * are not counted further. */
enum { REHEARSAL_MOST_ANSWERS = 8, REHEARSAL_MOST_KERNELS = 8 };

/* What several candidates compute. In the rehearsal's data, until it ends. A kernel counts once,
 * however many of its tactics agree. */
typedef struct tenon__answer_t {
  const tenon_tensor_view_t* outputs; /* data NULL: absent, or not to be compared */
  double* magnitudes;                 /* of each; below 0 until somebody asks */
  const tenon__candidate_t* first;    /* NULL: the nodes one by one */
  uint32_t kernel_count;              /* independent ones that agree, as far as they are kept */
  const void* kernels[REHEARSAL_MOST_KERNELS];
} tenon__answer_t;

/* Trial data are made when the first candidate is tried. `compares` is false for regions with
 * impure nodes, whose answers are none. */
typedef struct tenon__rehearsal_t {
  search_t* search;
  tenon__trial_data_t data;
  bool has_data;
  bool can_be_tried;      /* alone: no sequences */
  bool compares;          /* the same inputs give the same outputs */
  tenon_status_t failure; /* why the build cannot go on */
  uint32_t answer_count;
  tenon__answer_t answers[REHEARSAL_MOST_ANSWERS];
} tenon__rehearsal_t;

/* What became of one candidate. Only FAILED and WRONGLY are reasons to drop it; of NOT it keeps its
 * estimate. */
typedef enum tenon__tried_t {
  TENON_TRIED_NOT, /* cannot be tried alone: nothing is known */
  TENON_TRIED_WELL,
  TENON_TRIED_FAILED,  /* said that it failed */
  TENON_TRIED_WRONGLY, /* did what it must not, whatever others do */
} tenon__tried_t;

typedef struct tenon__outcome_t {
  tenon__tried_t tried;
  tenon_refusal_t refusal; /* FAILED, WRONGLY */
  double seconds;          /* WELL, where they were wanted */
  bool is_disturbed;       /* likewise: it may take much less */
  uint32_t answer;         /* WELL; TENON_NONE: not compared */
} tenon__outcome_t;

/* Nothing is allocated, and nothing can fail. The search outlives it. */
void tenon__rehearsal_begin(search_t* search, tenon__rehearsal_t* out_rehearsal);
void tenon__rehearsal_end(tenon__rehearsal_t* rehearsal);
/* Tries a candidate, which lives as long as the rehearsal; measures it if `best_so_far` is not
 * NULL. Fails where the build cannot go on. A candidate is run two or three times with different
 * patterns in its outputs (what holds both was not written), its inputs are checked to be
 * unchanged, its outputs compared, and only then it is timed. INTERNAL where it wrote to a constant
 * that the network needs. A message of the kernel is passed on as information. */
tenon_status_t tenon__rehearsal_try(tenon__rehearsal_t* rehearsal,
                                    const tenon__candidate_t* candidate, const double* best_so_far,
                                    tenon__outcome_t* out_outcome);
/* Adds what the nodes compute one by one, as one more kernel, where the region has several, or
 * filled slots, or a node with an expression, and one kernel alone has given answers. Not where
 * that would take long: the core's evaluator needs nanoseconds for each instruction and element. */
tenon_status_t tenon__rehearsal_ask_nodes(tenon__rehearsal_t* rehearsal);

/* "element [0, 3] of output 'y'", in the tuning's arena. */
const char* tenon__element_name(const tenon__rehearsal_t* rehearsal, uint32_t output,
                                const int64_t* index, uint32_t rank);
/* True when an output of both differs by more than its tolerance: *out_output is the first such
 * one, and *out_difference how. `second_maker` NULL: by the definition. Outputs without data are
 * passed over; magnitudes of `first` are worked out on demand and kept. */
bool tenon__answers_differ(tenon__rehearsal_t* rehearsal, tenon__answer_t* first,
                           const tenon_tensor_view_t* second,
                           const tenon__candidate_t* second_maker, uint32_t* out_output,
                           tenon__difference_t* out_difference);

#endif
