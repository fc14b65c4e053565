/* The network that a plan was made of, read from the plan. */
#ifndef TENON_CORE_BUILDER_ORIGINAL_H_
#define TENON_CORE_BUILDER_ORIGINAL_H_

#include "core/builder/build_options.h"
#include "core/catalog/entry.h"
#include "core/plan/plan.h"

/* The weights' bytes are the plan's; one block of zeros stands for all that it lacks. */
typedef struct tenon__original_t {
  tenon_allocator_t allocator;
  tenon__network_t* network; /* owned; NULL once it was given away */
  void* zeros;               /* for weights that the plan does not hold */
  size_t zeros_size;
} tenon__original_t;

/* The operator of that name in a catalogue, `user`, without words where there is none. */
const tenon__operator_t* tenon__original_find(void* user, const char* name);
/* What the plan was built with, but for measuring and its profile. Borrows from the plan. */
tenon__build_options_t tenon__original_options(const tenon__plan_t* plan,
                                               tenon_allocator_t allocator,
                                               const tenon_sink_t* sink);
/* The network with the plan's weights, which must live as long; zeros for those that the plan does
 * not hold. INVALID_DATA when it does not fit the plan. Destroyed whatever is returned. */
tenon_status_t tenon__original_read(const tenon__plan_t* plan, tenon__catalog_t* catalog,
                                    const tenon_sink_t* sink, tenon__original_t* out_original);
void tenon__original_deinitialize(tenon__original_t* original);
/* Do its outputs need weights that the plan does not hold? INVALID_DATA names one. */
tenon_status_t tenon__original_check_weights(const tenon__original_t* original,
                                             const tenon__plan_t* plan, const tenon_sink_t* sink);

#endif
