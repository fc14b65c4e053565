/* Functions that several families use to divide their work. Only files of this folder include this
 * header, so names have no prefix. */
#ifndef PLUGINS_CUDA_CLOSED_NUMBERS_H_
#define PLUGINS_CUDA_CLOSED_NUMBERS_H_

#include <stdint.h>

static inline int64_t least_of(int64_t a, int64_t b) {
  return a < b ? a : b;
}
/* number / by, rounded up. number: 0 or more. by: 1 or more. */
static inline int64_t rounded_up(int64_t number, int64_t by) {
  return (number + by - 1) / by;
}

#endif
