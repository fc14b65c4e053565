/* Copies by a device of tensors of any strides: as few pieces as follow one another on both sides.
 */
#ifndef TENON_CORE_FRAME_PIECES_H_
#define TENON_CORE_FRAME_PIECES_H_

#include "core/frame/space.h"

/* Axes are those along which there are several, the longest way first; strides in bytes. */
typedef struct tenon__pieces_t {
  const char* source;
  char* target;
  size_t bytes; /* of each */
  uint32_t rank;
  int64_t dims[TENON_RANK_LIMIT];
  int64_t source_strides[TENON_RANK_LIMIT];
  int64_t target_strides[TENON_RANK_LIMIT];
} tenon__pieces_t;

/* From one tensor into another of the same extents (the source's count), which has elements. False
 * where there are more bytes than can be counted, and for elements within a byte that do not follow
 * one another. */
bool tenon__pieces_cut(const tenon_tensor_view_t* source, const tenon_tensor_view_t* target,
                       tenon__pieces_t* out_pieces);
/* Enqueued, one call for each piece. `direction`: TENON_COPY_*. */
tenon_status_t tenon__pieces_copy(const tenon__space_t* space, int32_t direction,
                                  const tenon__pieces_t* pieces);

#endif
