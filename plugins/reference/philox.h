/*
 * Philox4x32-10: random numbers as a function of a key and a counter (Salmon et al., "Parallel
 * random numbers: as easy as 1, 2, 3", SC 2011). No state: element i of a call is the same whoever
 * computes it, in whatever order, so a kernel that is fast can be held against this one bit by bit.
 */
#ifndef PLUGINS_REFERENCE_PHILOX_H_
#define PLUGINS_REFERENCE_PHILOX_H_

#include <stdint.h>

/* Four words for key and counter (low words first; the upper half of the counter is 0). */
void tenon__philox(uint64_t key, uint64_t counter, uint32_t out_words[4]);
/* Word 0 as a number in [0, 1) of 24 bits, which f32 holds exactly; words 0 and 1 as one of 53
 * bits, for f64. */
double tenon__philox_uniform(uint64_t key, uint64_t counter);
double tenon__philox_uniform53(uint64_t key, uint64_t counter);

#endif
