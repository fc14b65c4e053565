/* For tests of this module: a pool with three symbols. */
#ifndef TENON_CORE_DIMENSION_TEST_DIMENSION_H_
#define TENON_CORE_DIMENSION_TEST_DIMENSION_H_

#include "core/base/arena.h"
#include "core/base/test.h"
#include "core/dimension/dimension.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"

typedef struct fixture_t {
  tenon__dim_pool_t* pool;
  tenon__arena_t arena;
  tenon_dim_t b; /* 1.. */
  tenon_dim_t s; /* 1.. */
  tenon_dim_t p; /* 0.. */
} fixture_t;

static inline tenon_dim_t input(tenon__dim_pool_t* pool, const char* name, int64_t min) {
  const tenon__symbol_t symbol = {.kind = TENON_SYMBOL_INPUT,
                                  .name = name,
                                  .min = min,
                                  .max = INT64_MAX,
                                  .bound = TENON_DIM_INVALID};
  return tenon__dim_symbol(pool, &symbol);
}

static inline bool set_up(fixture_t* fixture, tenon_allocator_t allocator) {
  memset(fixture, 0, sizeof(*fixture));
  tenon__arena_initialize(&fixture->arena, allocator);
  if (tenon__dim_pool_create(allocator, &fixture->pool) != TENON_OK) {
    return false;
  }
  fixture->b = input(fixture->pool, "b", 1);
  fixture->s = input(fixture->pool, "s", 1);
  fixture->p = input(fixture->pool, "p", 0);
  return true;
}

static inline void tear_down(fixture_t* fixture) {
  tenon__dim_pool_destroy(fixture->pool);
  tenon__arena_deinitialize(&fixture->arena);
}

static inline tenon_dim_t num(const fixture_t* f, int64_t value) {
  return tenon__dim_constant(f->pool, value);
}
static inline tenon_dim_t op(const fixture_t* f, uint32_t opcode, tenon_dim_t a, tenon_dim_t b) {
  return tenon__dim_combine(f->pool, opcode, a, b);
}
#define WITH_FIXTURE                                     \
  fixture_t fixture;                                     \
  REQUIRE(set_up(&fixture, tenon__allocator_default())); \
  fixture_t* const f = &fixture;                         \
  const tenon_dim_t b = fixture.b;                       \
  const tenon_dim_t s = fixture.s;                       \
  const tenon_dim_t p = fixture.p;                       \
  (void)b;                                               \
  (void)s;                                               \
  (void)p

#endif
