/* A case while it is drawn. A palette of a few extents is what all tensors draw from, so that extents
 * that must agree often do. */
#ifndef TOOL_CHECK_DRAWING_H_
#define TOOL_CHECK_DRAWING_H_

#include "check/case.h"
#include "check/hints.h"

enum { CHECK_PALETTE = 4, CHECK_MOST_TYPES = 16 };

typedef struct check_drawing_t {
  check_case_t* c;
  const check_wish_t* wish;
  check_random_t* random;
  check_hint_t hint;
  int64_t palette[CHECK_PALETTE];
  uint32_t rank; /* that most inputs share */
  const char* type_names[CHECK_MOST_TYPES];
  tenon_dtype_t types[CHECK_MOST_TYPES];
  uint32_t type_count;
} check_drawing_t;

/* The palette and the rank. */
void check_drawing_begin(check_drawing_t* d);
int64_t check_drawing_extent(check_drawing_t* d);
/* Zeros from the pool of the case, with a copy of `data` unless it is NULL. NULL: the pool is full. */
void* check_drawing_take(check_drawing_t* d, const void* data, size_t data_bytes,
                         size_t size_bytes);

#endif
