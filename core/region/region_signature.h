/* The signature of a region: a digest of all that its cost depends on. */
#ifndef TENON_CORE_REGION_REGION_SIGNATURE_H_
#define TENON_CORE_REGION_REGION_SIGNATURE_H_

#include "core/region/region.h"

/* A text that says what the region is, for the timing cache: operators, attributes, types, extents
 * at the profile's points, which inputs are constant, programs. Names do not matter. The same in
 * every process, so that a timing cache can be carried from one machine to another of its kind. The
 * region is finished. What is not in it must not change which kernel is fastest: the values of
 * constants, say. */
tenon__digest_t tenon__region_signature(const struct tenon_region_t* region);

#endif
