/*
 * What must hold of the dimensions of a network and cannot be decided before it runs: two symbols
 * that an operator's rules take to be equal, say. Whoever verifies a network lends its pool a list;
 * the rules add to it what they cannot decide; the runtime looks at it whenever it has learned
 * extents.
 */
#ifndef TENON_CORE_DIMENSION_REQUIREMENT_H_
#define TENON_CORE_DIMENSION_REQUIREMENT_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"

/* The message says what is wrong where it does not hold, without the node: that is added when it is
 * told. */
typedef struct tenon__requirement_t {
  tenon_dim_t condition; /* 0: it does not hold */
  uint32_t graph;
  uint32_t node; /* whose rules say so */
  const char* message;
} tenon__requirement_t;

/* Made by whoever verifies, in memory that lives as long as the plan. `graph` and `node` are set
 * before each node's rules are asked. */
typedef struct tenon__requirements_t {
  tenon__arena_t* arena; /* of the list and its words */
  uint32_t count;
  uint32_t capacity;
  tenon__requirement_t* items; /* graph by graph */
  /* Whose rules are looked at now. */
  uint32_t graph;
  uint32_t node;
  bool failed; /* memory was out */
} tenon__requirements_t;

/* Until the next call the pool's users add to this list; NULL: they add to none. Whoever lends it
 * takes it back. */
void tenon__dim_pool_set_requirements(tenon__dim_pool_t* pool, tenon__requirements_t* requirements);
/* Adds a condition to the list that the pool was lent, if it is not known to hold and not there
 * yet. Words are copied. What is known not to hold is added too: its place may never be reached.
 * Where memory runs out the list says so. */
void tenon__dim_require(tenon__dim_pool_t* pool, tenon_dim_t condition, const char* message);
/* That a and b are the same, or one of them is 1. */
void tenon__dim_require_broadcast(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
/* Is a list lent? Where making a message costs something, ask first. */
bool tenon__dim_pool_collects(const tenon__dim_pool_t* pool);

#endif
