/* Numbers for the dimensions of a pool: at a profile's minimum, optimum or maximum, or in a running
 * context. */
#ifndef TENON_CORE_DIMENSION_EXTENTS_H_
#define TENON_CORE_DIMENSION_EXTENTS_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"

/* The end of a profile to which the numbers belong. An extent can have its maximum inside the range
 * of a symbol, so its value at the largest symbols is no bound; use tenon__extents_bound. */
typedef enum tenon__extents_end_t {
  TENON_EXTENTS_POINT, /* no end, only these numbers */
  TENON_EXTENTS_LEAST,
  TENON_EXTENTS_MOST,
} tenon__extents_end_t;

/* Values of all symbols and of all dimensions of a pool. Arrays are in the arena of creation; entry
 * i is symbol i, or dimension i. Later dimensions of the pool are evaluated on demand. */
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

/* A profile: three sets of numbers over one pool. Data-dependent symbols are unknown in `min` and
 * `max` unless they have a bound. In `optimum` they are guesses, so that kernels can be timed. min
 * <= optimum <= max for each symbol that the caller has given. */
typedef struct tenon__profile_t {
  tenon__extents_t min;
  tenon__extents_t optimum;
  tenon__extents_t max;
  /* A condition of the network fails at the optimum: guesses do not fit together, or a branch
   * cannot run there. */
  bool is_contradictory;
} tenon__profile_t;

/* Creates extents with unknown symbols, for the present dimensions of the pool. Everything,
 * including constants, is unknown before an update. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__extents_create(tenon__arena_t* arena, const tenon__dim_pool_t* pool,
                                     tenon__extents_t* out_extents);
/* Creates a profile in which only constants are known; its three points share their arrays. */
tenon_status_t tenon__profile_open(tenon__arena_t* arena, const tenon__dim_pool_t* pool,
                                   tenon__profile_t* out_profile);
/* Sets a symbol's value, which is not checked against its range. */
void tenon__extents_set(tenon__extents_t* extents, uint32_t symbol, int64_t value);
/* Evaluates all dimensions. Call it again after changes of symbols. Allocates nothing. */
void tenon__extents_update(tenon__extents_t* extents);
/* Returns false if it is unknown. */
bool tenon__extents_get(const tenon__extents_t* extents, tenon_dim_t dim, int64_t* out_value);
/* Same for a bound. At the LEAST end of a profile it is a lower bound of the dimension's values
 * within the profile, at the MOST end an upper bound. At a POINT it is the value. */
bool tenon__extents_bound(const tenon__extents_t* extents, tenon_dim_t dim, int64_t* out_bound);
/* Evaluates a shape. Returns false if an extent is unknown (out_dims[k] is then -1). */
bool tenon__extents_shape(const tenon__extents_t* extents, uint32_t rank, const tenon_dim_t* dims,
                          int64_t* out_dims);
bool tenon__extents_bounds(const tenon__extents_t* extents, uint32_t rank, const tenon_dim_t* dims,
                           int64_t* out_dims);

#endif
