/* What a build decided, told to whoever listens. */
#ifndef TENON_CORE_BUILD_REPORT_H_
#define TENON_CORE_BUILD_REPORT_H_

#include "core/build/building.h"

/* Tells the sink what was decided. At severity INFO; the plan is the same whether anybody listens.
 */
void tenon__building_report(const tenon__building_t* building);

#endif
