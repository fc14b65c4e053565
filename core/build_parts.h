/* The parts of a build, in the order in which core/build.c calls them. */
#ifndef TENON_CORE_BUILD_PARTS_H_
#define TENON_CORE_BUILD_PARTS_H_

#include "core/build.h"
#include "core/plan/instance.h"

typedef struct tenon__building_t {
  tenon_allocator_t allocator;
  tenon__catalog_t* catalog;
  const tenon__build_options_t* options;
  tenon__plan_t* plan;
  const tenon__device_entry_t* device;
  tenon_device_t* device_handle;
  tenon__thread_pool_t* pool;
  tenon__timing_cache_t* own_cache;
  tenon__tuning_t tuning;
  bool has_known;
  tenon__packed_store_t* store;
  uint32_t original_count; /* weights that were there before the optimiser */
  bool* is_original;       /* of each of them: does a refit start from it? */
  bool* is_read;           /* of each of the network's weights: does a step read its own bytes? */
  bool* is_table;          /* and do all who do read some elements of many? */
} tenon__building_t;

/* Narrows the symbols of the inputs to the profile's ranges. */
tenon_status_t tenon__building_narrow(tenon__building_t* building);
/* For refit: the network before the optimiser, and afterwards what it became. Without it, plans
 * cannot be refitted. */
tenon_status_t tenon__building_remember(tenon__building_t* building);
tenon_status_t tenon__building_sign(tenon__building_t* building);
/* Which weights the outputs and the states need; `out_weights`: one for each, all false. In the
 * arena. */
tenon_status_t tenon__network_mark_needed(const tenon__network_t* network, tenon__arena_t* arena,
                                          bool* out_weights);
/* Two networks with the same signature are the same but for the bytes of their weights. */
tenon_status_t tenon__network_signature(const tenon__network_t* network,
                                        tenon__digest_t* out_digest);
/* Device, threads, timing cache. */
tenon_status_t tenon__building_begin(tenon__building_t* building);
void tenon__building_end(tenon__building_t* building);
/* Algebra: the network's patches; folding through kernels. */
tenon_status_t tenon__building_optimise(tenon__building_t* building);
/* Numbers for all dimensions at minimum, optimum and maximum. */
tenon_status_t tenon__building_profile(tenon__building_t* building);
/* Is the graph the main one, or a body of a node that is alive? */
bool tenon__building_graph_is_used(const tenon__building_t* building, uint32_t graph);
/* Tells the sink what was decided. */
void tenon__building_report(const tenon__building_t* building);
/* Tells how far a phase is; CANCELLED when the application wants no more of it. */
tenon_status_t tenon__building_progress(const tenon__building_t* building, const char* phase,
                                        uint32_t done, uint32_t total);
/* Who reads which weights, step by step as they are prepared. */
tenon_status_t tenon__building_begin_reads(tenon__building_t* building);
void tenon__building_mark_reads(tenon__building_t* building, const tenon__step_t* step,
                                const tenon__instance_t* instance);
/* Which weights the plan keeps, and which of them every run reads. */
tenon_status_t tenon__building_keep_weights(tenon__building_t* building);
/* Prepares every step once, so that the plan holds the packed weights. */
tenon_status_t tenon__building_pack(tenon__building_t* building);
/* Plugins, fingerprint, which weights the plan keeps. */
tenon_status_t tenon__building_describe(tenon__building_t* building);

#endif
