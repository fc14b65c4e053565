/* Types of values, where the build permits narrower ones. For this module alone. */
#ifndef TENON_CORE_LAYOUT_LAYOUT_TYPES_H_
#define TENON_CORE_LAYOUT_LAYOUT_TYPES_H_

#include "core/layout/choosing.h"

/* Searches from two starts: all values in their own types, and all in each other permitted type.
 * Returns to the first result unless the whole graph becomes faster. */
tenon_status_t tenon__choosing_types(choosing_t* choosing, tenon__copies_t* inout_copies);

#endif
