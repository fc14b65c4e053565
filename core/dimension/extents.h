/* Numbers for the dimensions of a pool: at a profile's minimum, optimum or maximum, or in a running
 * context. */
#ifndef TENON_CORE_DIMENSION_EXTENTS_H_
#define TENON_CORE_DIMENSION_EXTENTS_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"

/* Which end of a profile the numbers are. An extent can be largest inside the range of a symbol, so
 * its value at the largest symbols bounds nothing: tenon__extents_bound does. */
typedef enum tenon__extents_end_t {
  TENON_EXTENTS_POINT, /* no end: only these numbers */
  TENON_EXTENTS_LEAST,
  TENON_EXTENTS_MOST,
} tenon__extents_end_t;

/* Values of all symbols and of all dimensions of a pool. Arrays lie in the arena it was made in;
 * entry i is symbol i, or dimension i. Dimensions that the pool got later are worked out when asked
 * for. */
typedef struct tenon__extents_t {
  const tenon__dim_pool_t* pool;
  uint32_t symbol_count;
  uint32_t dim_count;
  int64_t* symbol_values;
  uint8_t* symbol_known;
  int64_t* values;
  uint8_t* known;
  uint64_t version; /* grows with each update */
  tenon__extents_end_t end;
} tenon__extents_t;

/* A profile: three sets of numbers. Symbols that only the run knows are unknown in `min` and `max`
 * unless they have a bound; in `optimum` they are guesses, so that kernels can be timed. All three
 * are over one pool. min <= optimum <= max holds for each symbol that the caller gave. */
typedef struct tenon__profile_t {
  tenon__extents_t min;
  tenon__extents_t optimum;
  tenon__extents_t max;
  /* A condition of the network fails at the optimum: guesses do not fit together, or a branch
   * cannot run there. */
  bool is_contradictory;
} tenon__profile_t;

/* All symbols unknown. Room for what the pool has now; nothing is known before an update, numbers
 * included. OUT_OF_MEMORY only. */
tenon_status_t tenon__extents_create(tenon__arena_t* arena, const tenon__dim_pool_t* pool,
                                     tenon__extents_t* out_extents);
/* All three points of a profile where nothing but numbers is known; they share their arrays. */
tenon_status_t tenon__profile_open(tenon__arena_t* arena, const tenon__dim_pool_t* pool,
                                   tenon__profile_t* out_profile);
/* It is not checked against the symbol's range. */
void tenon__extents_set(tenon__extents_t* extents, uint32_t symbol, int64_t value);
/* Evaluates all dimensions; again after symbols changed. Allocates nothing. */
void tenon__extents_update(tenon__extents_t* extents);
/* False when it is unknown. */
bool tenon__extents_get(const tenon__extents_t* extents, tenon_dim_t dim, int64_t* out_value);
/* The same for a bound. At the least end of a profile no value of the dimension within the profile
 * is below it, and at the most end none is above it. At a point it is the value. */
bool tenon__extents_bound(const tenon__extents_t* extents, tenon_dim_t dim, int64_t* out_bound);
/* All of a shape; false when one is unknown (out_dims[k] is -1 there). */
bool tenon__extents_shape(const tenon__extents_t* extents, uint32_t rank, const tenon_dim_t* dims,
                          int64_t* out_dims);
bool tenon__extents_bounds(const tenon__extents_t* extents, uint32_t rank, const tenon_dim_t* dims,
                           int64_t* out_dims);

#endif
