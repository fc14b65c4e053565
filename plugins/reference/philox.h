/* Philox4x32-10: random numbers as a function of a key and a counter (Salmon et al., SC 2011). */
#ifndef PLUGINS_REFERENCE_PHILOX_H_
#define PLUGINS_REFERENCE_PHILOX_H_

#include <stdint.h>

/* Four words for key and counter (low words first; the upper half of the counter is 0). */
void tenon__philox(uint64_t key, uint64_t counter, uint32_t out_words[4]);
/* Word 0 as a number in [0, 1) of 24 bits; words 0 and 1 as one of 53 bits. */
double tenon__philox_uniform(uint64_t key, uint64_t counter);
double tenon__philox_uniform53(uint64_t key, uint64_t counter);

#endif
