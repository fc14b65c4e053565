/*
 * Index maps: what a move does. Each output element is one input element, or the fill. A coordinate
 * of an input is a dimension expression over the output's coordinate symbols
 * (tenon__dim_coordinate). The first source whose coordinates are all in range supplies the
 * element.
 */
#ifndef TENON_CORE_TENSOR_INDEX_MAP_H_
#define TENON_CORE_TENSOR_INDEX_MAP_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/tensor/dtype.h"
#include "core/tensor/type.h"

typedef enum tenon__map_kind_t {
  TENON_MAP_LINEAR, /* same place in row-major order */
  TENON_MAP_AFFINE, /* every coordinate affine in at most one output coordinate, or constant */
  TENON_MAP_GENERAL,
} tenon__map_kind_t;

/* One input that is moved. A coordinate for each of its axes, over as many of the output's. */
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
/* One source, no fill needed, every element in range, each coordinate affine (in any number of
 * output coordinates): a view of its input. */
bool tenon__index_map_is_view(tenon__dim_pool_t* pool, const tenon__index_map_t* map);
/* The sources one after the other along one axis, each whole: boxes of the output that lie apart
 * and leave nothing of it. Such a source can be written where it will lie. */
bool tenon__index_map_joins(tenon__dim_pool_t* pool, const tenon__index_map_t* map);
/* The output is its one source, element by element and of the same extents. */
bool tenon__index_map_is_identity(tenon__dim_pool_t* pool, const tenon__index_map_t* map);
/* May the map take a source of that type? A LINEAR one takes as many elements as it gives, where
 * both are known; others take any. */
bool tenon__index_map_keeps_elements(const tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                                     const tenon__type_t* source);
/* The map of outer(inner(x)): `outer` reads, as its source's input, the output of `inner`; both
 * have one source. Not possible (linear with affine, fills): UNSUPPORTED, nothing is reported. The
 * result lies in the arena; its source is inner's. */
tenon_status_t tenon__index_map_compose(tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                        const tenon__index_map_t* outer,
                                        const tenon__index_map_t* inner,
                                        tenon__index_map_t* out_map);

/* The coordinates of a source in the output's coordinates, of a LINEAR map too (divisions and
 * remainders of the place in row-major order, simplified where extents allow). UNSUPPORTED when
 * they overflow. */
tenon_status_t tenon__index_map_coordinates(tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                            const tenon__index_map_t* map, uint32_t source_index,
                                            const tenon_dim_t** out_coordinates);

#endif
