/* Results (answers) that candidates of one region computed in their trials: the state that a
 * rehearsal and the checks of its runs share. */
#ifndef TENON_CORE_REHEARSAL_ANSWER_H_
#define TENON_CORE_REHEARSAL_ANSWER_H_

#include "core/rehearsal/difference.h"
#include "core/rehearsal/subject.h"
#include "core/timing/trial_data.h"

/* Maximum number of different answers, after which a candidate counts as wrong, and of kernels
 * counted for an answer. */
enum { REHEARSAL_MOST_ANSWERS = 8, REHEARSAL_MOST_KERNELS = 8 };

/* A result that several candidates compute. In the rehearsal's data, until it ends. A kernel counts
 * once, even if several of its tactics agree. */
typedef struct tenon__answer_t {
  const tenon_tensor_view_t* outputs; /* data NULL: absent, or not compared */
  double* magnitudes;                 /* of each; below 0 until computed */
  const tenon__candidate_t* first;    /* NULL: the nodes one by one */
  uint32_t kernel_count;              /* independent kernels that agree, limited */
  const void* kernels[REHEARSAL_MOST_KERNELS];
} tenon__answer_t;

/* Trial data are made when the first candidate is tried. `compares` is false for regions with
 * impure nodes, which have no answers. */
typedef struct tenon__rehearsal_t {
  const tenon__subject_t* subject;
  tenon__trial_data_t data;
  bool has_data;
  bool can_be_tried;      /* alone: no sequences */
  bool compares;          /* the same inputs give the same outputs */
  tenon_status_t failure; /* status that ends the build */
  uint32_t answer_count;
  tenon__answer_t answers[REHEARSAL_MOST_ANSWERS];
} tenon__rehearsal_t;

/* The outcome for one candidate. Only FAILED and WRONGLY are reasons to drop it. With NOT it keeps
 * its estimate. */
typedef enum tenon__tried_t {
  TENON_TRIED_NOT, /* cannot be tried alone */
  TENON_TRIED_WELL,
  TENON_TRIED_FAILED,  /* returned an error */
  TENON_TRIED_WRONGLY, /* violated the contract */
} tenon__tried_t;

typedef struct tenon__outcome_t {
  tenon__tried_t tried;
  tenon_refusal_t refusal; /* FAILED, WRONGLY */
  double seconds;          /* WELL, if requested */
  bool is_disturbed;       /* same: it may be much faster */
  uint32_t answer;         /* WELL; TENON_NONE: not compared */
} tenon__outcome_t;

#endif
