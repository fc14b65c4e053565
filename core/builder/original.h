/* The network from which a plan was built, read from the plan. */
#ifndef TENON_CORE_BUILDER_ORIGINAL_H_
#define TENON_CORE_BUILDER_ORIGINAL_H_

#include "core/builder/build_options.h"
#include "core/catalog/entry.h"
#include "core/plan/plan.h"

/* The weights borrow the plan's bytes. One block of zeros replaces all weights that the plan does
 * not hold. */
typedef struct tenon__original_t {
  tenon_allocator_t allocator;
  tenon__network_t* network; /* owned; NULL after it was moved out */
  void* zeros;               /* for weights that the plan does not hold */
  size_t zeros_size;
} tenon__original_t;

/* Finds the operator of that name in a catalogue, `user`. Sends no message if there is none. */
const tenon__operator_t* tenon__original_find(void* user, const char* name);
/* Returns the options with which the plan was built, except those of measuring and its profile.
 * They borrow from the plan. */
tenon__build_options_t tenon__original_options(const tenon__plan_t* plan,
                                               tenon_allocator_t allocator,
                                               const tenon_sink_t* sink);
/* Reads the network with the plan's weights, which must live as long, and zeros for those that the
 * plan does not hold. Returns INVALID_DATA if it does not fit the plan. Call
 * tenon__original_deinitialize in any case. */
tenon_status_t tenon__original_read(const tenon__plan_t* plan, tenon__catalog_t* catalog,
                                    const tenon_sink_t* sink, tenon__original_t* out_original);
void tenon__original_deinitialize(tenon__original_t* original);
/* Returns INVALID_DATA if its outputs depend on weights that the plan does not hold; the message
 * names one. */
tenon_status_t tenon__original_check_weights(const tenon__original_t* original,
                                             const tenon__plan_t* plan, const tenon_sink_t* sink);

#endif
