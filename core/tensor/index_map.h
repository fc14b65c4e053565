/*
 * Index maps define moves. Each output element is one input element, or the fill. A coordinate of
 * an input is a dimension expression over the output's coordinate symbols (tenon__dim_coordinate).
 * The first source whose coordinates are all in range supplies the element.
 */
#ifndef TENON_CORE_TENSOR_INDEX_MAP_H_
#define TENON_CORE_TENSOR_INDEX_MAP_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/tensor/dtype.h"
#include "core/tensor/type.h"

typedef enum tenon__map_kind_t {
  TENON_MAP_LINEAR, /* same row-major index */
  TENON_MAP_AFFINE, /* every coordinate affine in at most one output coordinate, or constant */
  TENON_MAP_GENERAL,
} tenon__map_kind_t;

/* One source of a move, with one coordinate for each of its axes, in terms of the output's
 * coordinates. */
typedef struct tenon__map_source_t {
  uint32_t input;                 /* of the node */
  uint32_t rank;                  /* of that input */
  const tenon_dim_t* dims;        /* of that input */
  const tenon_dim_t* coordinates; /* NULL for LINEAR */
} tenon__map_source_t;

typedef enum tenon__fill_t {
  TENON_FILL_NONE,  /* out of range is an error when running (never the case for affine maps in
                       range) */
  TENON_FILL_VALUE, /* fill_value, in fill_dtype's arithmetic type */
  TENON_FILL_INPUT, /* the one element of input fill_input */
} tenon__fill_t;

typedef struct tenon__index_map_t {
  tenon__map_kind_t kind;
  uint32_t rank; /* of the output */
  const tenon_dim_t* dims;
  uint32_t source_count;
  const tenon__map_source_t* sources;
  tenon__fill_t fill;
  uint32_t fill_input;
  tenon_dtype_t fill_dtype;
  tenon__scalar_t fill_value;
} tenon__index_map_t;

/* Derives `kind` from the coordinates; LINEAR, which has none, stays. */
void tenon__index_map_classify(tenon__dim_pool_t* pool, tenon__index_map_t* inout_map);
/* Returns true for a view of its input: one source, no fill needed, all elements in range, each
 * coordinate affine (in any number of output coordinates). */
bool tenon__index_map_is_view(tenon__dim_pool_t* pool, const tenon__index_map_t* map);
/* Returns true for a concatenation of whole sources along one axis: disjoint boxes that cover the
 * output. Such a source can be written directly to its box. */
bool tenon__index_map_joins(tenon__dim_pool_t* pool, const tenon__index_map_t* map);
/* Returns true if the output equals its only source, with the same extents. */
bool tenon__index_map_is_identity(tenon__dim_pool_t* pool, const tenon__index_map_t* map);
/* Returns true if the map accepts a source of that type. A LINEAR map needs as many elements as it
 * has outputs, if both are known; others accept any. */
bool tenon__index_map_keeps_elements(const tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                                     const tenon__type_t* source);
/* Composes the map of outer(inner(x)). `outer` reads the output of `inner`; both have one source.
 * The result is in the arena, with inner's source. Returns UNSUPPORTED without a message if that is
 * impossible (linear with affine, fills). */
tenon_status_t tenon__index_map_compose(tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                        const tenon__index_map_t* outer,
                                        const tenon__index_map_t* inner,
                                        tenon__index_map_t* out_map);

/* Returns the coordinates of a source in terms of the output's coordinates, also for a LINEAR map
 * (divisions and remainders of the row-major index, simplified if extents allow). Returns
 * UNSUPPORTED if they overflow. */
tenon_status_t tenon__index_map_coordinates(tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                            const tenon__index_map_t* map, uint32_t source_index,
                                            const tenon_dim_t** out_coordinates);

#endif
