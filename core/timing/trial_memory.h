/* The memory that a trial lends: patterns that show what was not written, checksums that show what
 * was, and copies in another order of dimensions. */
#ifndef TENON_CORE_TIMING_TRIAL_MEMORY_H_
#define TENON_CORE_TIMING_TRIAL_MEMORY_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Two patterns for each type, NaNs where it has any: what holds the first after one run and the
 * second after another was written by neither. Types of less than a byte count by bytes. */
enum { TENON_PATTERN_FIRST = 0, TENON_PATTERN_SECOND = 1, TENON_PATTERN_COUNT = 2 };

/* size_bytes need not be whole elements. */
void tenon__pattern_fill(void* data, tenon_dtype_t dtype, size_t size_bytes, uint32_t pattern);
/* How many elements hold it; `marks`, if not NULL, has one byte for each element: those that held
 * none of the earlier patterns (0) do not count, and the others that do not hold this one become 0.
 */
uint64_t tenon__pattern_count(const void* data, tenon_dtype_t dtype, size_t size_bytes,
                              uint32_t pattern, uint8_t* inout_marks);
/* Elements of `size_bytes`, as the functions above count them. */
uint64_t tenon__pattern_elements(tenon_dtype_t dtype, size_t size_bytes);

/* Fast and no digest: it notices what a kernel does by mistake, and need not resist anybody. */
uint64_t tenon__memory_checksum(const void* data, size_t size_bytes);

#endif
