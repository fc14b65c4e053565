/*
 * Shape constraints (requirements) on the dimensions of a network that cannot be decided before a
 * run, for example that two symbols are equal. Verification lends a list to the network's pool. The
 * operators' rules add undecided constraints, and the runtime checks them whenever extents become
 * known.
 */
#ifndef TENON_CORE_DIMENSION_REQUIREMENT_H_
#define TENON_CORE_DIMENSION_REQUIREMENT_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"

/* `message` describes the violation, without the node, which is added when it is reported. */
typedef struct tenon__requirement_t {
  tenon_dim_t condition; /* 0: violated */
  uint32_t graph;
  uint32_t node; /* node whose rules require it */
  const char* message;
} tenon__requirement_t;

/* A list made by verification, in memory that lives as long as the plan. `graph` and `node` are set
 * before each node's rules are evaluated. */
typedef struct tenon__requirements_t {
  tenon__arena_t* arena; /* of the list and its messages */
  uint32_t count;
  uint32_t capacity;
  tenon__requirement_t* items; /* ordered by graph */
  /* The node whose rules are evaluated now. */
  uint32_t graph;
  uint32_t node;
  bool failed; /* out of memory */
} tenon__requirements_t;

/* Sets the list to which the pool's users add until the next call; NULL: none. The caller that
 * lends a list must remove it. */
void tenon__dim_pool_set_requirements(tenon__dim_pool_t* pool, tenon__requirements_t* requirements);
/* Adds a condition to the pool's borrowed list, unless it is known to be true or is there already.
 * The message is copied. A condition that is known to be false is added too, because its node may
 * never run. The list notes a failed allocation. */
void tenon__dim_require(tenon__dim_pool_t* pool, tenon_dim_t condition, const char* message);
/* Requires that a and b are equal, or one of them is 1. */
void tenon__dim_require_broadcast(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
/* Returns true if the pool has a borrowed list. Check it before making an expensive message. */
bool tenon__dim_pool_collects(const tenon__dim_pool_t* pool);

#endif
