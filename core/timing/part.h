/*
 * What is looked at of a large tensor on a device: some indices of its first axis, at the begin, in
 * the middle and at the end. What a kernel gets wrong it hardly gets right there, and to fetch and
 * compare a hundred megabytes for each tactic takes longer than all else in a build.
 *
 * On the host a part is a tensor of its own, dense, whose first axis has `length` indices of each
 * piece, one piece behind the other.
 */
#ifndef TENON_CORE_TIMING_PART_H_
#define TENON_CORE_TIMING_PART_H_

#include <stdbool.h>
#include <stddef.h>

#include "tenon/plugin.h"

enum { TENON_PART_PIECES = 3 };

/* All zero: the whole tensor. */
typedef struct tenon__part_t {
  int64_t begin[TENON_PART_PIECES]; /* along the first axis, rising; pieces do not overlap */
  int64_t length;                   /* of each */
} tenon__part_t;

/* Of a tensor of so many bytes: the whole up to some millions of them, or where its first axis is
 * too short to leave anything out. */
tenon__part_t tenon__part_of(uint32_t rank, const int64_t* dims, size_t size_bytes);
static inline bool tenon__part_is_whole(const tenon__part_t* part) {
  return part->length == 0;
}
/* Index of the whole's first axis that the part has as `index`. */
int64_t tenon__part_index(const tenon__part_t* part, int64_t index);
/* Indices of the first axis that the part has. */
static inline int64_t tenon__part_extent(const tenon__part_t* part) {
  return TENON_PART_PIECES * part->length;
}
/* Are indices of the first axis blocks of memory, one behind the other, without gaps? */
bool tenon__part_lies_together(const tenon_tensor_view_t* whole);
/* The part of `whole` into `part_view`, which has the part's extents, in any order and type. */
void tenon__part_cut(const tenon__part_t* part, const tenon_tensor_view_t* whole,
                     const tenon_tensor_view_t* part_view);

#endif
