/* Which of the answers that candidates gave is the right one. */
#ifndef TENON_CORE_CANDIDATE_VERDICT_H_
#define TENON_CORE_CANDIDATE_VERDICT_H_

#include "core/candidate/rehearsal.h"

/* Of each answer of the rehearsal. */
typedef struct tenon__verdict_t {
  bool is_certain; /* the region's meaning says so; else more kernels, or better ones, do */
  bool is_right[REHEARSAL_MOST_ANSWERS];
  const char* message[REHEARSAL_MOST_ANSWERS]; /* of the wrong ones: what is wrong */
} tenon__verdict_t;

/* Computes the reference only where answers differ. */
tenon_status_t tenon__rehearsal_judge(tenon__rehearsal_t* rehearsal, tenon__verdict_t* out_verdict);

#endif
