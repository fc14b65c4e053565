/* Which of the answers that candidates gave is the right one. */
#ifndef TENON_CORE_REHEARSAL_VERDICT_H_
#define TENON_CORE_REHEARSAL_VERDICT_H_

#include "core/rehearsal/rehearsal.h"

/* Of each answer of the rehearsal. Entries from answer_count on mean nothing. Messages lie in the
 * tuning's arena. */
typedef struct tenon__verdict_t {
  /* The region's meaning says so, or, where that would take long, several kernels against single
   * ones; else more kernels, or better ones, do. */
  bool is_certain;
  bool is_right[REHEARSAL_MOST_ANSWERS];
  const char* messages[REHEARSAL_MOST_ANSWERS]; /* of the wrong ones: what is wrong */
} tenon__verdict_t;

/* Computes the reference only where answers differ. With one answer there is nothing to judge: it
 * is right and not certain. Where no reference is to be had, or it would take seconds, the answer
 * of most kernels counts, of two the one by the nodes, then that of better numerics, then the
 * earlier. */
tenon_status_t tenon__rehearsal_judge(tenon__rehearsal_t* rehearsal, tenon__verdict_t* out_verdict);

#endif
