/* How a region's inputs lie where they are views: for trials of what takes them as they lie. */
#ifndef TENON_CORE_FUSION_VIEW_ORDERS_H_
#define TENON_CORE_FUSION_VIEW_ORDERS_H_

#include "core/timing/tuning.h"

/* Sets the order of each input that is made by views alone of something that lies in rows, at the
 * optimum; others stay in rows. OUT_OF_MEMORY only. */
tenon_status_t tenon__view_orders_find(tenon__tuning_t* tuning,
                                       struct tenon_region_t* inout_region);

#endif
