/* The signature of a region: a digest of all properties that determine its cost. */
#ifndef TENON_CORE_REGION_REGION_SIGNATURE_H_
#define TENON_CORE_REGION_REGION_SIGNATURE_H_

#include "core/region/region.h"

/* Computes the digest of a finished region for the timing cache, from operators, attributes, types,
 * extents at the profile's points, constancy of inputs, and programs. Names do not matter. Equal in
 * all processes, so that a timing cache can be copied between machines of one kind. Other
 * properties, such as the values of constants, must not affect the choice of the fastest kernel. */
tenon__digest_t tenon__region_signature(const struct tenon_region_t* region);

#endif
