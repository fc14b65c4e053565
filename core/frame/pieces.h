/* Device copies of tensors of any strides, in as few chunks as are contiguous on both sides. */
#ifndef TENON_CORE_FRAME_PIECES_H_
#define TENON_CORE_FRAME_PIECES_H_

#include "core/frame/space.h"

/* The axes are those with more than one chunk, the largest stride first. Strides are in bytes. */
typedef struct tenon__pieces_t {
  const char* source;
  char* target;
  size_t bytes; /* of each */
  uint32_t rank;
  int64_t dims[TENON_RANK_LIMIT];
  int64_t source_strides[TENON_RANK_LIMIT];
  int64_t target_strides[TENON_RANK_LIMIT];
} tenon__pieces_t;

/* Divides a copy of a tensor to another of the same extents, which are read from the source, into
 * chunks. The tensor has elements. Returns false if the size overflows, and for elements smaller
 * than a byte that are not contiguous. */
bool tenon__pieces_cut(const tenon_tensor_view_t* source, const tenon_tensor_view_t* target,
                       tenon__pieces_t* out_pieces);
/* Enqueues the copy with one call for each chunk. `direction` is TENON_COPY_*. */
tenon_status_t tenon__pieces_copy(const tenon__space_t* space, int32_t direction,
                                  const tenon__pieces_t* pieces);

#endif
