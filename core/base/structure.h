/* Structures that grow at their end from one version of a header to the next, and begin with their
 * size. */
#ifndef TENON_CORE_BASE_STRUCTURE_H_
#define TENON_CORE_BASE_STRUCTURE_H_

#include <stdbool.h>
#include <stddef.h>

/* A structure larger than this is not a structure. */
#define TENON_STRUCTURE_LIMIT ((size_t)1 << 16)

/* Copies a growing structure of at least `least` bytes into one of `full` bytes, the rest zero,
 * `size` = full. False when the source's `size` is smaller than `least`, larger than `room` (the
 * stride) or absurd. So a plugin of an older header is read as if it had said nothing of newer
 * members, and one of a newer header loses what this host does not know. The source need not be
 * aligned. */
bool tenon__structure_copy(const void* source, size_t least, size_t room, size_t full,
                           void* out_copy);

#endif
