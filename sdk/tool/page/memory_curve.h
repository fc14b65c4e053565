/* The bytes of activations that are alive at each step, as a curve, and who holds them at the
 * peak: what --memory-limit would have to act on. */
#ifndef TOOL_PAGE_MEMORY_CURVE_H_
#define TOOL_PAGE_MEMORY_CURVE_H_

#include <stdio.h>

#include "page/facts.h"

/* Nothing is written for a plan without activations. Fails when the engine does not tell of its
 * memory. */
tenon_status_t tool_memory_curve_write(FILE* file, const tool_facts_t* facts);

#endif
