/*
 * Which weights a plan keeps, and which of them every run reads. A weight that every kernel reads
 * packed need not be there as it was, but for refit; a table of which a run reads some rows lies
 * apart, so that mapping a plan does not read it whole.
 */
#ifndef TENON_CORE_BUILD_WEIGHTS_H_
#define TENON_CORE_BUILD_WEIGHTS_H_

#include "core/build/building.h"
#include "core/kernel/instance.h"

/* Who reads which weights, step by step as they are prepared. Begin before packing, mark for each
 * step that was prepared, keep at the end. */
tenon_status_t tenon__building_begin_reads(tenon__building_t* building);
void tenon__building_mark_reads(tenon__building_t* building, const tenon__step_t* step,
                                const tenon__instance_t* instance);
/* Which weights the plan keeps, and which of them every run reads. */
tenon_status_t tenon__building_keep_weights(tenon__building_t* building);

#endif
