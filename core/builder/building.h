/* A build under way: what it was given, what it has in hand, the plan that it makes. Every part of
 * a build takes it; core/builder/build.c calls them in order. */
#ifndef TENON_CORE_BUILDER_BUILDING_H_
#define TENON_CORE_BUILDER_BUILDING_H_

#include "core/builder/build_options.h"
#include "core/builder/devices.h"
#include "core/catalog/entry.h"
#include "core/kernel/packed_store.h"

/* Begun with all zero but what was given; ended once, however far it came. `plan` is owned until it
 * is written. What is marked of weights is for packing. */
typedef struct tenon__building_t {
  tenon_allocator_t allocator;
  tenon__catalog_t* catalog;
  const tenon__build_options_t* options;
  tenon__plan_t* plan;
  tenon__build_devices_t devices; /* opened here, closed at the end */
  tenon__thread_pool_t* pool;
  /* Where the options give none: forgotten with the build. `tuning.cache` is the one in use. */
  tenon__timing_cache_t* own_cache;
  /* What is copied from above for those who measure; `has_known` once its tables are there. */
  tenon__tuning_t tuning;
  bool has_known;
  tenon__packed_store_t* store;
  uint32_t original_count; /* weights that were there before the optimiser */
  bool* is_original;       /* of each of them: does a refit start from it? */
  bool* is_read;           /* of each of the network's weights: does a step read its own bytes? */
  bool* is_table;          /* and do all who do read some elements of many? */
} tenon__building_t;

/* Devices, threads, timing cache; the plan and its network are there. The time budget runs from now
 * on. */
tenon_status_t tenon__building_begin(tenon__building_t* building);
/* Cache and threads of its own, device, packed weights and the plan. The options' cache stays. */
void tenon__building_end(tenon__building_t* building);
/* Tells how far a phase is; CANCELLED when the application wants no more of it. */
tenon_status_t tenon__building_progress(const tenon__building_t* building, const char* phase,
                                        uint32_t done, uint32_t total);

/* ---- Its parts, each in a source of its name ---- */

/* Narrows the symbols of the inputs to the profile's ranges. Before the optimiser, so that it may
 * use them. INVALID_ARGUMENT for a range that does not fit its input or names none. */
tenon_status_t tenon__building_narrow(tenon__building_t* building);
/* Numbers for all dimensions at minimum, optimum and maximum. INVALID_ARGUMENT where the numbers at
 * the optimum break an operator's rules: such a run could never succeed. */
tenon_status_t tenon__building_profile(tenon__building_t* building);

/* Algebra: the network's patches; folding through kernels. Folding runs kernels on the device at
 * hand with estimates alone: nothing is measured for a node that goes away. Patches are written
 * down in the plan. */
tenon_status_t tenon__building_optimise(tenon__building_t* building);

/* Prepares every step once, so that the plan holds the packed weights. The instances go again; what
 * they packed stays in the store, and so in the plan. */
tenon_status_t tenon__building_pack(tenon__building_t* building);
/* Plugins, fingerprint, which weights the plan keeps. */
tenon_status_t tenon__building_describe(tenon__building_t* building);

/* Tells the sink what was decided. At severity INFO; the plan is the same whether anybody listens.
 */
void tenon__building_report(const tenon__building_t* building);

#endif
