/* The choice: which nodes together, by which kernels, so that the whole graph costs least. */
#ifndef TENON_CORE_CHOICE_CHOICE_H_
#define TENON_CORE_CHOICE_CHOICE_H_

#include "core/candidate/tuning.h"
#include "core/choice/unit.h"

/* Which nodes together, by which tactics and in which orders, so that the whole is fastest. */
tenon_status_t tenon__units_choose(tenon__tuning_t* tuning, uint32_t graph,
                                   tenon__units_t* out_units);

#endif
