/* Seeded chance: equal seeds draw equal cases on every machine. */
#ifndef TOOL_CHECK_RANDOM_H_
#define TOOL_CHECK_RANDOM_H_

#include <stdbool.h>
#include <stdint.h>

typedef struct check_random_t {
  uint64_t state;
} check_random_t;

/* SplitMix64 (Steele, Lea, Flood 2014). */
static inline uint64_t check_random_next(check_random_t* random) {
  uint64_t z = random->state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}
/* From 0 to count - 1. */
static inline uint32_t check_random_pick(check_random_t* random, uint32_t count) {
  return (uint32_t)(check_random_next(random) % count);
}
/* True in `percent` of 100 cases. */
static inline bool check_random_chance(check_random_t* random, uint32_t percent) {
  return check_random_pick(random, 100) < percent;
}
/* From 0 to below 1. */
static inline double check_random_unit(check_random_t* random) {
  return (double)(check_random_next(random) >> 11) * 0x1p-53;
}

#endif
