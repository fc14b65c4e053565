/*
 * What one build knows while it chooses: who may compute a region, on what device, how times are
 * got, and what was found out already. Everything else of this room works on it.
 *
 * One tuning lives as long as one build, on the build's thread; the thread pool is used by kernels
 * that are tried, not by the search. Candidates, texts and lists lie in its arena, which lives
 * until the plan is made, so that a plan's makers can point at tactics. README.md says which file
 * does what; the room `choice` picks from what is found here.
 */
#ifndef TENON_CORE_TIMING_TUNING_H_
#define TENON_CORE_TIMING_TUNING_H_

#include "core/base/interrupt.h"
#include "core/base/string_map.h"
#include "core/base/thread_pool.h"
#include "core/catalog/entry.h"
#include "core/device/memory.h"
#include "core/kernel/blob_folder.h"
#include "core/kernel/kernel_binding.h"
#include "core/plan/plan.h"
#include "core/timing/blocks.h"
#include "core/timing/timing_cache.h"

/* Of one step that is made of expressions. */
enum { GROUP_MOST_NODES = 64, GROUP_MOST_INSTRUCTIONS = 96, GROUP_MOST_OPERANDS = 24 };

/* What is permitted besides what the network says. The public ones' numbers, and plans'. */
enum {
  TENON__PERMIT_TF32 = 1u << 0,
  TENON__PERMIT_F16 = 1u << 1,
  TENON__PERMIT_BF16 = 1u << 2,
  TENON__PERMIT_NONDETERMINISTIC = 1u << 3,
  TENON__PERMIT_ALL = (1u << 4) - 1
};

/* The types in which a build may keep values of f32, the one that keeps its range first; how many.
 */
enum { TENON_NARROW_TYPE_LIMIT = 2 };
uint32_t tenon__permitted_types(uint32_t permits, tenon_dtype_t out_types[TENON_NARROW_TYPE_LIMIT]);

/* The build's policy, copied from its options. strict, no_fusion and the like are read by the room
 * choice. */
typedef struct tenon__tuning_options_t {
  uint32_t thread_count;
  uint64_t workspace_limit_bytes; /* 0: none */
  double time_budget_seconds;     /* 0: none */
  bool no_measuring;
  bool no_fusion;
  bool reference_only;
  bool strict;
  uint32_t permits; /* TENON__PERMIT_* */
  bool keep_refusals;
  const char* const* exclude;    /* "plugin" or "plugin:kernel", NULL-terminated; may be NULL */
  tenon__interrupt_t* interrupt; /* told how far the build is; NULL: it runs to its end */
} tenon__tuning_options_t;

/* Where a time comes from. Times of different sorts do not compare: what was measured is preferred
 * to what is only said, and that to nothing at all. */
typedef enum tenon__figure_t {
  TENON_FIGURE_NONE,
  TENON_FIGURE_ESTIMATED,
  TENON_FIGURE_MEASURED
} tenon__figure_t;

typedef struct tenon__time_t {
  tenon__figure_t figure;
  double seconds; /* at the optimum; 0 where there is no figure */
} tenon__time_t;

/* Below 0: `a` is preferred; 0: nothing speaks for either. */
static inline int tenon__time_compare(tenon__time_t a, tenon__time_t b) {
  return a.figure != b.figure ? (a.figure > b.figure ? -1 : 1)
                              : (a.seconds > b.seconds) - (a.seconds < b.seconds);
}

/* One after the other: known as well as the part that is known worst. */
static inline tenon__time_t tenon__time_sum(tenon__time_t a, tenon__time_t b) {
  return (tenon__time_t){a.figure < b.figure ? a.figure : b.figure, a.seconds + b.seconds};
}

/* One tactic of one kernel for one region, with its time. The tactic's arrays lie in the tuning's
 * arena: the plugin's own went when its function returned. `key` is all zero where no time was
 * asked for. */
typedef struct tenon__candidate_t {
  const tenon__kernel_entry_t* kernel;
  tenon__step_tactic_t tactic;
  tenon__time_t time;
  tenon__digest_t key; /* of the timing cache, where it has a time from there or for it */
  bool is_fresh;       /* measured once, in this build */
  bool is_disturbed;   /* it may take much less */
} tenon__candidate_t;

/* Shared by all regions of one signature, and remembered for the build; only remeasuring changes
 * it. count 0: nobody, and `refusals` says why. */
typedef struct tenon__candidates_t {
  uint32_t serial; /* of the build's, in the order in which they were found */
  uint32_t count;
  tenon__candidate_t* items; /* the preferred first */
  /* The preferred of each set of rules for arguments: what others pay for a choice depends on the
   * rules alone. */
  uint32_t pick_count;
  const uint32_t* picks;
  const char* refusals; /* lines, NULL unless kept */
  uint32_t input_count; /* of the region */
  uint32_t output_count;
  bool is_unsorted; /* times have changed since */
} tenon__candidates_t;

/* A node that is to be computed by one device, whoever else could. */
typedef struct tenon__assignment_t {
  const char* node;
  uint32_t device;
} tenon__assignment_t;

/* What preparing one kernel's tactics took. In the tuning's arena. */
typedef struct tenon__kernel_spent_t {
  struct tenon__kernel_spent_t* next;
  const tenon__kernel_entry_t* kernel;
  double preparing; /* and binding, seconds */
  uint32_t count;
} tenon__kernel_spent_t;

/* What trials took, by the host's clock: for reports. */
typedef struct tenon__spent_t {
  double seconds; /* the whole of them */
  double preparing;
  double binding;
  double comparing; /* run once or twice, looked at */
  double timing;
  uint32_t count;
  uint32_t again_count;           /* of them, to look a second time */
  double again;                   /* those, seconds */
  tenon__kernel_spent_t* kernels; /* those that were tried */
} tenon__spent_t;

/* Who makes the build fills it in, begins and ends it, and frees the blocks; the rest is borrowed
 * and outlives it. */
typedef struct tenon__tuning_t {
  tenon_allocator_t allocator;
  tenon__arena_t* arena; /* lives until the plan is made */
  tenon__network_t* network;
  tenon__catalog_t* catalog;
  const tenon__profile_t* profile;
  const tenon__device_t* devices; /* number 0 has the host's memory */
  tenon_stream_t* const* streams; /* of each, for trials; NULL where work is done at once */
  uint32_t device_count;
  const tenon__assignment_t* assignments;
  uint32_t assignment_count;
  /* Values that stay in their own types whatever is permitted: [graph][value], not 0; NULL: none.
   */
  const uint8_t* const* kept;
  tenon__thread_pool_t* pool;
  tenon__timing_cache_t* cache;
  tenon__blob_folder_t* blobs; /* what kernels compiled before; NULL: nothing is kept */
  tenon__blocks_t blocks;      /* for trials */
  tenon__tuning_options_t options;
  const tenon_sink_t* sink;
  double deadline;              /* tenon__seconds() after which nothing is measured; 0: none */
  tenon__string_map_t known;    /* region signature -> tenon__candidates_t* */
  tenon__string_map_t expected; /* signatures of regions for which something was begun ahead */
  uint32_t look_count;          /* of times that were measured again */
  uint32_t serial;              /* of the next candidates */
  tenon__spent_t spent;
  uint32_t measured_count; /* for reports */
  uint32_t cached_count;
} tenon__tuning_t;

/* Nothing is known yet. The allocator is there. */
void tenon__tuning_begin(tenon__tuning_t* tuning);
/* What is known goes. */
void tenon__tuning_end(tenon__tuning_t* tuning);

/* The kernel with what belongs to it, on the region's device. */
tenon__kernel_binding_t tenon__tuning_binding(const tenon__tuning_t* tuning,
                                              const struct tenon_region_t* region,
                                              const tenon__kernel_entry_t* kernel);

/* Does the build's policy leave the kernel out? */
bool tenon__tuning_excludes(const tenon__tuning_t* tuning, const tenon__kernel_entry_t* entry);
/* May times be measured, and is there time left for it? */
bool tenon__tuning_may_measure(const tenon__tuning_t* tuning);
/* Is it a kernel of the device that the build is for (the host only where there is no other), which
 * the build's policy does not leave out? */
bool tenon__candidates_consider(const tenon__tuning_t* tuning, const tenon__kernel_entry_t* entry);
/* A device's, in the order of the stream for trials. */
tenon__memory_t tenon__tuning_memory(const tenon__tuning_t* tuning, uint32_t device);
/* Does it run on the device of that number? One that names none runs on all. */
bool tenon__tuning_runs_on(const tenon__tuning_t* tuning, const tenon__kernel_entry_t* entry,
                           uint32_t device);
/* On any of the build's devices? */
bool tenon__tuning_runs_somewhere(const tenon__tuning_t* tuning,
                                  const tenon__kernel_entry_t* entry);

/* "measured 12.3 us", in the tuning's arena; NULL when memory is out. Or "estimated ...", or that
 * there is neither. */
const char* tenon__time_text(const tenon__tuning_t* tuning, tenon__time_t time);

/* "node 'blur1' (acme.blur/1)", for messages; in the tuning's arena. Never NULL. */
const char* tenon__region_text(const tenon__tuning_t* tuning, const struct tenon_region_t* region);

/* In order of preference; what came first stays first where times say nothing. Stable, so that a
 * build without times takes the catalogue's order each time. Quadratic: lists are short. */
void tenon__candidates_sort(tenon__candidate_t* items, uint32_t count);

#endif
