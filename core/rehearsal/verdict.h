/* Decides which of the candidates' answers is right. */
#ifndef TENON_CORE_REHEARSAL_VERDICT_H_
#define TENON_CORE_REHEARSAL_VERDICT_H_

#include "core/rehearsal/rehearsal.h"

/* The verdict on each answer of the rehearsal. Entries from answer_count on are unset. Messages are
 * in the tuning's arena. */
typedef struct tenon__verdict_t {
  /* True if the region's definition decides, or, if that would take long, several kernels against
   * single ones. False if the decision is by the number or the numerics of kernels. */
  bool is_certain;
  bool is_right[REHEARSAL_MOST_ANSWERS];
  const char* messages[REHEARSAL_MOST_ANSWERS]; /* the errors of wrong answers */
} tenon__verdict_t;

/* Computes the reference only if answers differ. A single answer is right but not certain. If there
 * is no reference, or it would take seconds, the answer of most kernels is right. If two have
 * equally many, the order of preference is: the one computed by nodes, the one with better
 * numerics, the earlier one. */
tenon_status_t tenon__rehearsal_judge(tenon__rehearsal_t* rehearsal, tenon__verdict_t* out_verdict);

#endif
