/* The memory that a trial lends: patterns that reveal unwritten elements, checksums that reveal
 * changes, and copies in other orders of dimensions. */
#ifndef TENON_CORE_TIMING_TRIAL_MEMORY_H_
#define TENON_CORE_TIMING_TRIAL_MEMORY_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Two patterns for each type, NaNs if it has any. An element with the first pattern after one run
 * and the second after another was not written. Types smaller than a byte are counted in bytes. */
enum { TENON_PATTERN_FIRST = 0, TENON_PATTERN_SECOND = 1, TENON_PATTERN_COUNT = 2 };

/* size_bytes need not be a multiple of the element size. */
void tenon__pattern_fill(void* data, tenon_dtype_t dtype, size_t size_bytes, uint32_t pattern);
/* Counts elements with the pattern. If `inout_marks` is not NULL, it has one byte for each element.
 * Elements with mark 0, which lacked an earlier pattern, are not counted, and marks of elements
 * without this pattern become 0. */
uint64_t tenon__pattern_count(const void* data, tenon_dtype_t dtype, size_t size_bytes,
                              uint32_t pattern, uint8_t* inout_marks);
/* Returns the number of elements in `size_bytes`, as the functions above count them. */
uint64_t tenon__pattern_elements(tenon_dtype_t dtype, size_t size_bytes);

/* A fast checksum that detects accidental changes by kernels. It is not cryptographic. */
uint64_t tenon__memory_checksum(const void* data, size_t size_bytes);

#endif
