/* What a build decided, told to whoever listens. */
#ifndef TENON_CORE_BUILD_REPORT_H_
#define TENON_CORE_BUILD_REPORT_H_

#include "core/build/building.h"

/* Tells the sink what was decided. */
void tenon__building_report(const tenon__building_t* building);

#endif
