/* What candidates of one region computed when they were tried, and what is kept of that meanwhile:
 * the state that a rehearsal and the checks of its runs share. */
#ifndef TENON_CORE_REHEARSAL_ANSWER_H_
#define TENON_CORE_REHEARSAL_ANSWER_H_

#include "core/rehearsal/difference.h"
#include "core/rehearsal/subject.h"
#include "core/timing/trial_data.h"

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
  const tenon__subject_t* subject;
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

#endif
