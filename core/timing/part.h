/*
 * The part of a large tensor on a device that is compared: some indices of its first axis, at the
 * start, in the middle and at the end. A wrong kernel is rarely right there, and fetching and
 * comparing 100 MB for each tactic would dominate the time of a build.
 *
 * On the host a part is a contiguous tensor. Its first axis has `length` indices of each piece, one
 * piece after another.
 */
#ifndef TENON_CORE_TIMING_PART_H_
#define TENON_CORE_TIMING_PART_H_

#include <stdbool.h>
#include <stddef.h>

#include "tenon/plugin.h"

enum { TENON_PART_PIECES = 3 };

/* All zero: the whole tensor. */
typedef struct tenon__part_t {
  int64_t begin[TENON_PART_PIECES]; /* along the first axis, ascending; pieces do not overlap */
  int64_t length;                   /* of each */
} tenon__part_t;

/* Returns the part of a tensor of `size_bytes`. It is the whole tensor up to a few megabytes, or if
 * its first axis is too short. */
tenon__part_t tenon__part_of(uint32_t rank, const int64_t* dims, size_t size_bytes);
static inline bool tenon__part_is_whole(const tenon__part_t* part) {
  return part->length == 0;
}
/* Converts index `index` of the part to the index of the whole's first axis. */
int64_t tenon__part_index(const tenon__part_t* part, int64_t index);
/* Returns the part's extent along the first axis. */
static inline int64_t tenon__part_extent(const tenon__part_t* part) {
  return TENON_PART_PIECES * part->length;
}
/* Returns true if the indices of the first axis are consecutive blocks of memory without gaps. */
bool tenon__part_lies_together(const tenon_tensor_view_t* whole);
/* Copies the part of `whole` to `part_view`, which has the part's extents, in any order and
 * type. */
void tenon__part_cut(const tenon__part_t* part, const tenon_tensor_view_t* whole,
                     const tenon_tensor_view_t* part_view);

#endif
