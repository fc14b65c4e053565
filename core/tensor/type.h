/*
 * The type of a value: what is known of it before anything runs. A network's values have one, and
 * it is what inference works out, texts ask about, and plans are made by.
 *
 * Types are small and copied freely. What they point at is borrowed, lies in the arena of the
 * network or of the inference that made it, and never changes once a type points at it: types that
 * are the same share it, and a dimension means the same to all types over one pool.
 */
#ifndef TENON_CORE_TENSOR_TYPE_H_
#define TENON_CORE_TENSOR_TYPE_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"

/* Contents are followed for tensors of up to this many elements. */
enum { TENON_CONTENT_LIMIT = 1024 };

typedef struct tenon__type_t {
  uint32_t kind;       /* TENON_ARGUMENT_*; of a container the rest is said of what it holds */
  tenon_dtype_t dtype; /* UNDEFINED only while it is being worked out */
  /* TENON_NONE: unknown: items of a sequence may differ, and a shape may not have been worked out.
   */
  uint32_t rank;
  uint32_t content_count;
  const tenon_dim_t* dims; /* one for each axis; may be NULL where there are none to look at */
  /* The elements themselves, row-major, where shapes may come to depend on them: of small tensors
   * of whole numbers (bools, integers, integral floats). NULL: not followed. Not NULL and
   * content_count 0: followed, and there are none. */
  const tenon_dim_t* contents;
  /* A container of unknown rank that surely holds nothing: an empty sequence, or an optional
   * without an element. It takes the rank and the extents of the containers that it is combined with.
   * Only inference reads this member. Plans do not store it. */
  bool is_vacant;
} tenon__type_t;

/* Of a tensor whose contents are not followed. */
static inline tenon__type_t tenon__type_tensor(tenon_dtype_t dtype, uint32_t rank,
                                               const tenon_dim_t* dims) {
  return (tenon__type_t){.kind = TENON_ARGUMENT_TENSOR, .dtype = dtype, .rank = rank, .dims = dims};
}

/* Kinds of values: "tensor", "sequence", "optional" or "optional sequence"; NULL for a number that
 * is none. */
const char* tenon__type_kind_name(uint32_t kind);
/* The kind of what a container holds. */
static inline uint32_t tenon__type_item_kind(uint32_t kind) {
  return kind == TENON_ARGUMENT_OPTIONAL_SEQUENCE ? TENON_ARGUMENT_SEQUENCE : TENON_ARGUMENT_TENSOR;
}

/* Kind and element type alike, which no run can mend. */
bool tenon__type_same_elements(const tenon__type_t* a, const tenon__type_t* b);
/* Ranks alike, known or not, and extents known to be. */
bool tenon__type_same_shape(const tenon__type_t* a, const tenon__type_t* b);
/* Nothing known tells them apart: elements and ranks alike, and extents where both are numbers. */
bool tenon__type_agrees(const tenon__dim_pool_t* pool, const tenon__type_t* a,
                        const tenon__type_t* b);
/* The one element of a tensor whose contents are one known number. */
bool tenon__type_known(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                       int64_t* out_number);
/* Neither is followed, or both are and are known to be alike. */
bool tenon__type_same_contents(const tenon__type_t* a, const tenon__type_t* b);

/* A tensor of known rank whose elements are numbers, not texts: bytes say all of it. */
bool tenon__type_is_plain(const tenon__type_t* type);
/* Extents as numbers, -1 where only a run knows; true when the rank is known and none is left open.
 */
bool tenon__type_extents(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                         int64_t* out_extents);
/* A tensor of exactly these extents? */
bool tenon__type_is_tensor_of(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                              tenon_dtype_t dtype, uint32_t rank, const int64_t* extents);
/* Elements of a tensor; false where that is not known, or more than can be counted. */
bool tenon__type_element_count(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                               uint64_t* out_count);

/* Extents as numbers and the count of elements, where all are known and the elements so few that
 * contents are followed; false otherwise. `out_extents`: TENON_RANK_LIMIT places. */
bool tenon__type_is_small(const tenon__dim_pool_t* pool, uint32_t rank, const tenon_dim_t* dims,
                          int64_t* out_extents, uint32_t* out_count);
/* The content at coordinates, one for each axis. */
typedef enum tenon__content_at_t {
  TENON_CONTENT_UNKNOWN, /* not followed, or an extent is not known */
  TENON_CONTENT_OUTSIDE, /* there is no such element */
  TENON_CONTENT_FOUND,
} tenon__content_at_t;
tenon__content_at_t tenon__type_content(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                                        const int64_t* coordinates, tenon_dim_t* out_content);

/* "f32[batch, 3, 224, 224]", "sequence i64[...]" when the rank is unknown; in the arena, "?" when
 * memory is out. */
const char* tenon__type_text(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                             tenon__arena_t* arena);

#endif
