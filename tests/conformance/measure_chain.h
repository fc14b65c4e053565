/*
 * Times of kernels on a device. A step is the difference of a long and a short recorded chain of
 * launches, divided by the launches that it has more; medians of several replays, timed by the
 * device's events.
 */
#ifndef TESTS_CONFORMANCE_MEASURE_CHAIN_H_
#define TESTS_CONFORMANCE_MEASURE_CHAIN_H_

#include "kernel_case.h"

/* Sorts them. */
double measure_median(double* seconds, size_t count);
/* Seconds of one replay. */
double measure_replay(tenon_stream_t* stream, void* recording);
/* Seconds of one call, from chains of `few` and of `many`. */
double measure_step(const kernel_life_t* life, int few, int many);

#endif
