/* Index maps in numbers: strides of views, boxes of affine moves. Nothing is allocated. */
#ifndef TENON_CORE_TENSOR_INDEX_MAP_RUN_H_
#define TENON_CORE_TENSOR_INDEX_MAP_RUN_H_

#include "core/tensor/index_map.h"

/* Numbers at run time: values[] and known[] as tenon__dim_pool_evaluate leaves them. */
/* A value read at `coordinates` (affine in the coordinates of a space of `space_rank` axes), as
 * strides over the space and an offset, in elements. UNSUPPORTED when a coordinate is not affine or
 * not known. */
tenon_status_t tenon__coordinates_view(const tenon__dim_pool_t* pool,
                                       const tenon_dim_t* coordinates, uint32_t rank,
                                       uint32_t space_rank, const int64_t* values,
                                       const uint8_t* known, const int64_t* strides,
                                       int64_t* out_strides, int64_t* out_offset);
/* A view's strides and offset, in elements, given the input's strides. LINEAR: only when the input
 * is dense enough (fails with UNSUPPORTED otherwise). */
tenon_status_t tenon__index_map_view(const tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                                     const int64_t* values, const uint8_t* known,
                                     const int64_t* input_dims, const int64_t* input_strides,
                                     int64_t* out_strides, int64_t* out_offset);
/* AFFINE: the boxes that each source supplies, for views with these strides (one array for each
 * source). Arrays in `storage`, sized by the caller: 3 * rank * (source_count * (2 * rank + 1))
 * int64 suffice; pieces likewise source_count * (2 * rank + 1). Overlapping sources are cut so that
 * the first wins; UNSUPPORTED when that makes more pieces than there is room for. */
tenon_status_t tenon__index_map_pieces(const tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                                       const int64_t* values, const uint8_t* known,
                                       const int64_t* const* source_strides,
                                       tenon_move_piece_t* pieces, uint32_t piece_capacity,
                                       int64_t* storage, tenon_move_t* out_move);

#endif
