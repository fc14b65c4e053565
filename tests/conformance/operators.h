/* The groups of device_operators. Each group makes random nodes of several operators from a
 * seed. */
#ifndef TESTS_CONFORMANCE_OPERATORS_H_
#define TESTS_CONFORMANCE_OPERATORS_H_

#include <stdint.h>

void operators_check_round(uint32_t seed);
/* Checks data errors. */
void operators_check_faults(void);
void operators_check_windows(uint32_t seed);
void operators_check_layers(uint32_t seed);

#endif
