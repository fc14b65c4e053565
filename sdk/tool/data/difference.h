/*
 * Is a result the recorded one? Floats agree when |ours - recorded| <= atol + rtol * |recorded|;
 * NaN equals NaN, infinities match by sign; everything else, types, extents and the number of items
 * included, is exact.
 */
#ifndef TOOL_DATA_DIFFERENCE_H_
#define TOOL_DATA_DIFFERENCE_H_

#include "data/value.h"

typedef struct tool_tolerance_t {
  double rtol; /* negative: 2^-6 for bf16, 2^-9 for f16, 1e-3 for other types */
  double atol; /* negative: 1e-4 times the standard deviation of the recorded finite values, at
                  least 1e-7 */
} tool_tolerance_t;

typedef struct tool_difference_t {
  bool equal; /* within the tolerance */
  double max_absolute;
  double max_relative; /* where the recorded value is not 0 */
  double atol;         /* that was used */
  double deviation;    /* standard deviation of the recorded finite values */
  uint64_t count;      /* of elements */
  uint64_t wrong_count;
  char reason[256]; /* "" when equal */
} tool_difference_t;

void tool_difference_find(const tool_value_t* ours, const tool_value_t* recorded,
                          const tool_tolerance_t* tolerance, tool_difference_t* out_difference);

#endif
