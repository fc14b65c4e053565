/* Results against the truth: classes against labels, a mask against a picture of the right one. */
#ifndef TOOL_SESSION_TRUTH_H_
#define TOOL_SESSION_TRUTH_H_

#include "data/value.h"

/* `truth`: a whole number (the class of every row), a .npy file with the class of each row, or a
 * picture whose bright half is the mask. Prints how many are right, or the overlap: pixels in both
 * masks by pixels in either (IoU), the output counting from 0.5 on. */
typedef struct tool_truth_t {
  double share;   /* of rows that are right, or the overlap */
  bool is_single; /* one row with one class */
} tool_truth_t;
tenon_status_t tool_truth_check(const char* truth, const char* output, const tool_value_t* value,
                                tool_truth_t* out_truth);

#endif
