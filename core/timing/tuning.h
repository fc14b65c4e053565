/*
 * The state of one build's choices: permitted kernels, devices, the way of timing, and known
 * results. All other files of this module work on it.
 *
 * A tuning lives as long as one build, on the build's thread. The thread pool is used by kernels in
 * trials, not by the search. Candidates, texts and lists are in its arena, which lives until the
 * plan is made, so that the schedule can point to tactics. README.md describes the files; the
 * module `choice` picks from the candidates.
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

/* Maximum of nodes, instructions and operands of one step made of expressions. */
enum { GROUP_MOST_NODES = 64, GROUP_MOST_INSTRUCTIONS = 96, GROUP_MOST_OPERANDS = 24 };

/* Permissions beyond the network's own precision. Same numbers as in the public header and in
 * plans. */
enum {
  TENON__PERMIT_TF32 = 1u << 0,
  TENON__PERMIT_F16 = 1u << 1,
  TENON__PERMIT_BF16 = 1u << 2,
  TENON__PERMIT_NONDETERMINISTIC = 1u << 3,
  TENON__PERMIT_ALL = (1u << 4) - 1
};

/* Lists the types in which a build may keep values of f32, the one with the same range first.
 * Returns their number. */
enum { TENON_NARROW_TYPE_LIMIT = 2 };
uint32_t tenon__permitted_types(uint32_t permits, tenon_dtype_t out_types[TENON_NARROW_TYPE_LIMIT]);

/* The build's policy, copied from its options. The module choice reads strict, no_fusion and
 * others. */
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
  tenon__interrupt_t* interrupt; /* for progress and cancellation; may be NULL */
} tenon__tuning_options_t;

/* Source of a time. Times of different sources are not compared: measured is preferred to
 * estimated, and estimated to none. */
typedef enum tenon__figure_t {
  TENON_FIGURE_NONE,
  TENON_FIGURE_ESTIMATED,
  TENON_FIGURE_MEASURED
} tenon__figure_t;

typedef struct tenon__time_t {
  tenon__figure_t figure;
  double seconds; /* at the optimum; 0: no figure */
} tenon__time_t;

/* Returns a value below 0 if `a` is preferred, and 0 if both are equal. */
static inline int tenon__time_compare(tenon__time_t a, tenon__time_t b) {
  return a.figure != b.figure ? (a.figure > b.figure ? -1 : 1)
                              : (a.seconds > b.seconds) - (a.seconds < b.seconds);
}

/* Sum of two times, with the less reliable source of both. */
static inline tenon__time_t tenon__time_sum(tenon__time_t a, tenon__time_t b) {
  return (tenon__time_t){a.figure < b.figure ? a.figure : b.figure, a.seconds + b.seconds};
}

/* One tactic of one kernel for one region, with its time. The tactic's arrays are copies in the
 * tuning's arena. `key` is all zero if no time was requested. */
typedef struct tenon__candidate_t {
  const tenon__kernel_entry_t* kernel;
  tenon__step_tactic_t tactic;
  tenon__time_t time;
  tenon__digest_t key; /* key in the timing cache, if its time is from there or for it */
  bool is_fresh;       /* measured once, in this build */
  bool is_disturbed;   /* it may be much faster */
} tenon__candidate_t;

/* Shared by all regions of one signature and kept for the build; only remeasuring changes it. count
 * 0: no candidate; `refusals` has the reasons. */
typedef struct tenon__candidates_t {
  uint32_t serial; /* number within the build, in order of discovery */
  uint32_t count;
  tenon__candidate_t* items; /* the preferred first */
  /* The preferred candidate for each set of argument rules. Costs for adjacent steps depend on the
   * rules only. */
  uint32_t pick_count;
  const uint32_t* picks;
  const char* refusals; /* lines; NULL unless kept */
  uint32_t input_count; /* of the region */
  uint32_t output_count;
  bool is_unsorted; /* times have changed since */
} tenon__candidates_t;

/* A node that must be computed by one device, even if others could. */
typedef struct tenon__assignment_t {
  const char* node;
  uint32_t device;
} tenon__assignment_t;

/* One kernel's trials: the time spent to prepare its tactics, and the operator whose reference gave
 * the same result. In the tuning's arena. */
typedef struct tenon__kernel_spent_t {
  struct tenon__kernel_spent_t* next;
  const tenon__kernel_entry_t* kernel;
  double preparing; /* and binding, seconds */
  uint32_t count;
  const tenon__operator_t* compared; /* with whose reference it agreed last; NULL: none */
  tenon_dtype_t compared_dtype;      /* of that node's first input */
} tenon__kernel_spent_t;

/* Time spent in trials, by the host's clock, for reports. */
typedef struct tenon__spent_t {
  double seconds; /* total */
  double preparing;
  double binding;
  double comparing; /* running once or twice, and comparing */
  double timing;
  uint32_t count;
  uint32_t again_count;           /* repeated measurements among them */
  double again;                   /* seconds of these */
  tenon__kernel_spent_t* kernels; /* kernels that were tried */
} tenon__spent_t;

/* The build fills it in, begins and ends it, and frees the blocks. All other members are borrowed
 * and outlive it. */
typedef struct tenon__tuning_t {
  tenon_allocator_t allocator;
  tenon__arena_t* arena; /* lives until the plan is made */
  tenon__network_t* network;
  tenon__catalog_t* catalog;
  const tenon__profile_t* profile;
  const tenon__device_t* devices; /* number 0 has the host's memory */
  tenon_stream_t* const* streams; /* of each, for trials; NULL if work is completed immediately */
  uint32_t device_count;
  const tenon__assignment_t* assignments;
  uint32_t assignment_count;
  /* Values that keep their own types, regardless of permissions: [graph][value] is not 0; NULL:
   * none. */
  const uint8_t* const* kept;
  tenon__thread_pool_t* pool;
  tenon__timing_cache_t* cache;
  tenon__blob_folder_t* blobs; /* compiled code of kernels; NULL: not kept */
  tenon__blocks_t blocks;      /* for trials */
  tenon__tuning_options_t options;
  const tenon_sink_t* sink;
  double deadline;              /* tenon__seconds() after which nothing is measured; 0: none */
  tenon__string_map_t known;    /* region signature -> tenon__candidates_t* */
  tenon__string_map_t expected; /* signatures of regions with preparations begun in advance */
  uint32_t look_count;          /* number of repeated measurements */
  uint32_t serial;              /* of the next candidates */
  tenon__spent_t spent;
  uint32_t measured_count; /* for reports */
  uint32_t cached_count;
} tenon__tuning_t;

/* Begins with no known results. The allocator is set. */
void tenon__tuning_begin(tenon__tuning_t* tuning);
/* Frees the known results. */
void tenon__tuning_end(tenon__tuning_t* tuning);

/* Returns the kernel with its plugin's data, on the region's device. */
tenon__kernel_binding_t tenon__tuning_binding(const tenon__tuning_t* tuning,
                                              const struct tenon_region_t* region,
                                              const tenon__kernel_entry_t* kernel);

/* Returns true if the build's policy excludes the kernel. */
bool tenon__tuning_excludes(const tenon__tuning_t* tuning, const tenon__kernel_entry_t* entry);
/* Returns true if times may be measured, and time is left. */
bool tenon__tuning_may_measure(const tenon__tuning_t* tuning);
/* Returns true for kernels of the build's device (the host only if there is no other) that the
 * build's policy does not exclude. */
bool tenon__candidates_consider(const tenon__tuning_t* tuning, const tenon__kernel_entry_t* entry);
/* Returns a device's memory, in the order of its stream for trials. */
tenon__memory_t tenon__tuning_memory(const tenon__tuning_t* tuning, uint32_t device);
/* Returns true if it runs on the device of that number. A kernel that names no device runs on
 * all. */
bool tenon__tuning_runs_on(const tenon__tuning_t* tuning, const tenon__kernel_entry_t* entry,
                           uint32_t device);
/* Same for any of the build's devices. */
bool tenon__tuning_runs_somewhere(const tenon__tuning_t* tuning,
                                  const tenon__kernel_entry_t* entry);

/* Returns "measured 12.3 us", "estimated ...", or a text for no time, in the tuning's arena; NULL
 * if out of memory. */
const char* tenon__time_text(const tenon__tuning_t* tuning, tenon__time_t time);

/* Returns "node 'blur1' (acme.blur/1)", for messages; in the tuning's arena. Never NULL. */
const char* tenon__region_text(const tenon__tuning_t* tuning, const struct tenon_region_t* region);

/* Sorts in order of preference. Stable, so that a build without times always takes the catalogue's
 * order. Quadratic, as lists are short. */
void tenon__candidates_sort(tenon__candidate_t* items, uint32_t count);

#endif
