/* A build in progress: its arguments, its resources, and the plan that it makes. All parts of a
 * build take it, and core/builder/build.c calls them in order. */
#ifndef TENON_CORE_BUILDER_BUILDING_H_
#define TENON_CORE_BUILDER_BUILDING_H_

#include "core/builder/build_options.h"
#include "core/builder/devices.h"
#include "core/catalog/entry.h"
#include "core/kernel/packed_store.h"

/* Before tenon__building_begin, everything except the arguments is zero. It is ended once, after
 * success and failure. It owns `plan` until that is written. The marks of weights are for
 * packing. */
typedef struct tenon__building_t {
  tenon_allocator_t allocator;
  tenon__catalog_t* catalog;
  const tenon__build_options_t* options;
  tenon__plan_t* plan;
  tenon__build_devices_t devices; /* opened by begin, closed by end */
  tenon__thread_pool_t* pool;
  /* Used if the options give none, and freed with the build. `tuning.cache` is the one in use. */
  tenon__timing_cache_t* own_cache;
  /* Copies of members above for the code that measures. `has_known`: its tables exist. */
  tenon__tuning_t tuning;
  bool has_known;
  tenon__packed_store_t* store;
  uint32_t original_count; /* weights that existed before the optimiser */
  bool* is_original;       /* of each of them: a refit starts from it */
  bool* is_read;           /* of each of the network's weights: a step reads its own bytes */
  bool* is_table;          /* and all such steps read a few of many elements */
} tenon__building_t;

/* Opens devices, threads and the timing cache. The plan and its network exist. The time budget
 * starts now. */
tenon_status_t tenon__building_begin(tenon__building_t* building);
/* Frees the build's own cache, threads, devices, packed weights and plan. The options' cache
 * stays. */
void tenon__building_end(tenon__building_t* building);
/* Reports the progress of a phase. Returns CANCELLED if the application cancels. */
tenon_status_t tenon__building_progress(const tenon__building_t* building, const char* phase,
                                        uint32_t done, uint32_t total);

/* ---- Parts of a build, each in a source of its name ---- */

/* Narrows the symbols of the inputs to the profile's ranges. Called before the optimiser, which
 * uses the ranges. Returns INVALID_ARGUMENT for a range that does not fit its input or names
 * none. */
tenon_status_t tenon__building_narrow(tenon__building_t* building);
/* Computes all dimensions at minimum, optimum and maximum. Returns INVALID_ARGUMENT if the optimum
 * breaks an operator's rules, because such a run could never succeed. */
tenon_status_t tenon__building_profile(tenon__building_t* building);

/* Applies patches to the network, and folds constants with kernels. Folding runs kernels on the
 * present device by their estimates; no time is measured for a node that vanishes. The plan records
 * the patches. */
tenon_status_t tenon__building_optimise(tenon__building_t* building);

/* Prepares each step once, so that the plan holds the packed weights. The instances are destroyed.
 * The packed weights stay in the store and hence in the plan. */
tenon_status_t tenon__building_pack(tenon__building_t* building);
/* Adds the plugins, the fingerprint and the list of the weights that the plan keeps. */
tenon_status_t tenon__building_describe(tenon__building_t* building);

/* Sends the decisions to the sink at severity INFO. The plan does not depend on the sink. */
void tenon__building_report(const tenon__building_t* building);

#endif
