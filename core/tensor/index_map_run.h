/* Index maps in numbers: strides of views, boxes of affine moves, at the extents of a profile or of
 * a run. Nothing is allocated. */
#ifndef TENON_CORE_TENSOR_INDEX_MAP_RUN_H_
#define TENON_CORE_TENSOR_INDEX_MAP_RUN_H_

#include "core/dimension/extents.h"
#include "core/tensor/index_map.h"

/* A value read at the source's coordinates, affine in those of a space of `space_rank` axes, as
 * strides over the space and an offset, in elements, given the value's own strides. UNSUPPORTED
 * when a coordinate is not affine or not known. */
tenon_status_t tenon__coordinates_view(const tenon__extents_t* extents,
                                       const tenon__map_source_t* source, uint32_t space_rank,
                                       const int64_t* strides, int64_t* out_strides,
                                       int64_t* out_offset);
/* A view's strides and offset, in elements, given the input's strides. LINEAR: only when the input
 * is dense enough (fails with UNSUPPORTED otherwise). */
tenon_status_t tenon__index_map_view(const tenon__extents_t* extents, const tenon__index_map_t* map,
                                     const int64_t* input_dims, const int64_t* input_strides,
                                     int64_t* out_strides, int64_t* out_offset);

/* The caller's memory for the pieces of a move. source_count * (2 * rank + 1) pieces suffice, and
 * 3 * rank numbers for each. */
typedef struct tenon__piece_room_t {
  uint32_t capacity;
  tenon_move_piece_t* pieces;
  int64_t* numbers; /* begins, extents and strides of the pieces point in here */
} tenon__piece_room_t;

/* AFFINE: the boxes that each source supplies, for views with these strides (one array for each
 * source). Overlapping sources are cut so that the first wins; UNSUPPORTED when that makes more
 * pieces than there is room for. */
tenon_status_t tenon__index_map_pieces(const tenon__extents_t* extents,
                                       const tenon__index_map_t* map,
                                       const int64_t* const* source_strides,
                                       const tenon__piece_room_t* room, tenon_move_t* out_move);

#endif
