/* Types of several units at once. For layouts.c alone. */
#ifndef TENON_CORE_LAYOUT_LAYOUT_TYPES_H_
#define TENON_CORE_LAYOUT_LAYOUT_TYPES_H_

#include "core/layout/choosing.h"

/* Begins where all is in its own type, then with all in each other type, and comes back to the
 * first unless the whole gets faster. */
tenon_status_t tenon__choosing_types(choosing_t* choosing, tenon__copies_t* inout_copies);

#endif
