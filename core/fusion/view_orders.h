/* Orders of a region's inputs that are views, for trials of kernels that accept any order. */
#ifndef TENON_CORE_FUSION_VIEW_ORDERS_H_
#define TENON_CORE_FUSION_VIEW_ORDERS_H_

#include "core/timing/tuning.h"

/* Sets the order, at the optimum, of each input that is a sequence of views of a row-major value;
 * others stay row-major. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__view_orders_find(tenon__tuning_t* tuning,
                                       struct tenon_region_t* inout_region);

#endif
