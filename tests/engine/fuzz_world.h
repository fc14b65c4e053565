/*
 * What the fuzz targets of the whole engine have in common: this build's plugins, with kernels that
 * the sanitizers watch, memory that ends, and runs of which every byte is looked at.
 */
#ifndef TENON_TESTS_ENGINE_FUZZ_WORLD_H_
#define TENON_TESTS_ENGINE_FUZZ_WORLD_H_

#include <stdbool.h>

#include "tenon/tenon.h"

/* Its allocator is counted; without a limit for the time being. Aborts when there are no plugins.
 */
tenon_registry_t* fuzz_registry(void);
/* From now on, `bytes` more than are in use are to be had. */
void fuzz_limit_memory(size_t bytes);
/* Describes the engine and runs it twice, on the largest and the usual extents, with small inputs
 * and few steps; weights are replaced between the two when it refits. Reads every byte of every
 * output. */
void fuzz_use(tenon_engine_t* engine, bool refits);

#endif
