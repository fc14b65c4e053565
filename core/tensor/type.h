/*
 * The type of a value: everything known before a run. Inference computes the types of a network's
 * values; expressions and plans use them.
 *
 * Types are small and copied freely. Their arrays are borrowed from the arena of the network or of
 * the inference, and never change: equal types share them, and a dimension has the same meaning in
 * all types of one pool.
 */
#ifndef TENON_CORE_TENSOR_TYPE_H_
#define TENON_CORE_TENSOR_TYPE_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"

/* Contents are tracked for tensors of at most this number of elements. */
enum { TENON_CONTENT_LIMIT = 1024 };

typedef struct tenon__type_t {
  uint32_t kind;       /* TENON_ARGUMENT_*; the other members of a container describe its items */
  tenon_dtype_t dtype; /* UNDEFINED only during inference */
  /* TENON_NONE: unknown, as items of a sequence may differ, or a shape was not inferred yet. */
  uint32_t rank;
  uint32_t content_count;
  const tenon_dim_t* dims; /* one for each axis; may be NULL if there are none */
  /* The elements, row-major, of small tensors of integers (bools, integers, integral floats) on
   * which shapes may depend. NULL: not tracked. Not NULL with content_count 0: tracked, without
   * elements. */
  const tenon_dim_t* contents;
  /* A container of unknown rank that is certainly empty: an empty sequence, or an optional without
   * an element. It takes the rank and the extents of the containers that it is combined with. Only
   * inference reads this member. Plans do not store it. */
  bool is_vacant;
} tenon__type_t;

/* Returns the type of a tensor without tracked contents. */
static inline tenon__type_t tenon__type_tensor(tenon_dtype_t dtype, uint32_t rank,
                                               const tenon_dim_t* dims) {
  return (tenon__type_t){.kind = TENON_ARGUMENT_TENSOR, .dtype = dtype, .rank = rank, .dims = dims};
}

/* Returns "tensor", "sequence", "optional" or "optional sequence"; NULL for an invalid kind. */
const char* tenon__type_kind_name(uint32_t kind);
/* Returns the kind of a container's items. */
static inline uint32_t tenon__type_item_kind(uint32_t kind) {
  return kind == TENON_ARGUMENT_OPTIONAL_SEQUENCE ? TENON_ARGUMENT_SEQUENCE : TENON_ARGUMENT_TENSOR;
}

/* Returns true if kind and element type are equal; a difference is an error in all runs. */
bool tenon__type_same_elements(const tenon__type_t* a, const tenon__type_t* b);
/* Returns true if ranks are equal, known or not, and extents are known to be equal. */
bool tenon__type_same_shape(const tenon__type_t* a, const tenon__type_t* b);
/* Returns true if no known property differs: elements, ranks, and extents that are both numbers. */
bool tenon__type_agrees(const tenon__dim_pool_t* pool, const tenon__type_t* a,
                        const tenon__type_t* b);
/* Returns the element of a tensor whose contents are one known number. */
bool tenon__type_known(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                       int64_t* out_number);
/* Returns true if neither has tracked contents, or both have equal ones. */
bool tenon__type_same_contents(const tenon__type_t* a, const tenon__type_t* b);

/* Returns true for a tensor of known rank with elements that are not strings. */
bool tenon__type_is_plain(const tenon__type_t* type);
/* Writes extents as numbers, -1: data-dependent. Returns true if the rank and all extents are
 * known. */
bool tenon__type_extents(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                         int64_t* out_extents);
/* Returns true for a tensor of exactly these extents. */
bool tenon__type_is_tensor_of(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                              tenon_dtype_t dtype, uint32_t rank, const int64_t* extents);
/* Computes the number of elements of a tensor. Returns false if it is unknown or overflows. */
bool tenon__type_element_count(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                               uint64_t* out_count);

/* Returns true if all extents are known and contents of this number of elements are tracked, with
 * extents and number of elements. `out_extents` has TENON_RANK_LIMIT entries. */
bool tenon__type_is_small(const tenon__dim_pool_t* pool, uint32_t rank, const tenon_dim_t* dims,
                          int64_t* out_extents, uint32_t* out_count);
/* The result of a look-up of the content at coordinates, one for each axis. */
typedef enum tenon__content_at_t {
  TENON_CONTENT_UNKNOWN, /* not tracked, or an extent is unknown */
  TENON_CONTENT_OUTSIDE, /* there is no such element */
  TENON_CONTENT_FOUND,
} tenon__content_at_t;
tenon__content_at_t tenon__type_content(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                                        const int64_t* coordinates, tenon_dim_t* out_content);

/* Returns "f32[batch, 3, 224, 224]", or "sequence i64[...]" if the rank is unknown; in the arena,
 * "?" if out of memory. */
const char* tenon__type_text(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                             tenon__arena_t* arena);

#endif
