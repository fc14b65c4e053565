/* Index maps in numbers: strides of views, boxes of affine moves, at the extents of a profile or of
 * a run. These functions do not allocate. */
#ifndef TENON_CORE_TENSOR_INDEX_MAP_RUN_H_
#define TENON_CORE_TENSOR_INDEX_MAP_RUN_H_

#include "core/dimension/extents.h"
#include "core/tensor/index_map.h"

/* Computes strides over a space of `space_rank` axes and an offset, in elements, for a value with
 * strides `strides` that is read at the source's coordinates. Returns UNSUPPORTED if a coordinate
 * is not affine or not known. */
tenon_status_t tenon__coordinates_view(const tenon__extents_t* extents,
                                       const tenon__map_source_t* source, uint32_t space_rank,
                                       const int64_t* strides, int64_t* out_strides,
                                       int64_t* out_offset);
/* Computes a view's strides and offset, in elements, from the input's strides. Returns UNSUPPORTED
 * for a LINEAR map if the input has gaps that prevent a view. */
tenon_status_t tenon__index_map_view(const tenon__extents_t* extents, const tenon__index_map_t* map,
                                     const int64_t* input_dims, const int64_t* input_strides,
                                     int64_t* out_strides, int64_t* out_offset);

/* The caller's memory for the pieces (chunks) of a move. source_count * (2 * rank + 1) pieces
 * suffice, with 3 * rank numbers for each. */
typedef struct tenon__piece_room_t {
  uint32_t capacity;
  tenon_move_piece_t* pieces;
  int64_t* numbers; /* begins, extents and strides of the pieces point in here */
} tenon__piece_room_t;

/* AFFINE: computes the boxes that each source supplies, for views with these strides (one array for
 * each source). Overlapping sources are divided so that the first takes precedence. Returns
 * UNSUPPORTED if there are more pieces than `room` has. */
tenon_status_t tenon__index_map_pieces(const tenon__extents_t* extents,
                                       const tenon__index_map_t* map,
                                       const int64_t* const* source_strides,
                                       const tenon__piece_room_t* room, tenon_move_t* out_move);

#endif
