/*
 * What one build knows while it chooses: who can compute a region, how fast that is here, and the
 * choice.
 *
 *   candidates  kernels that accept a region, and why the others refused
 *   collect     their tactics: what the build permits and a plan can carry out
 *   times       how fast they are; rehearsal, verdict: and whether they compute the same
 *   trial_data, timer  one tactic tried on made-up data
 *   meaning     what a region computes, node by node
 *   timing_cache  what was measured before
 *   alternatives  what else could be done: claims, and epilogues that stay apart
 *   regions     one covering: the claims that are taken, epilogues, runs of expressions
 *   layouts     tactic and layout of a covering, conversions included, and what all that costs
 *   choice      the covering that costs least; remeasure: a second look where it is close
 *   schedule    steps and places from the choice
 */
#ifndef TENON_CORE_TACTICS_TUNING_H_
#define TENON_CORE_TACTICS_TUNING_H_

#include "core/base/interrupt.h"
#include "core/base/string_map.h"
#include "core/base/thread_pool.h"
#include "core/catalog/catalog.h"
#include "core/plan/instance.h"
#include "core/plan/plan.h"
#include "core/tactics/blocks.h"
#include "core/tactics/timing_cache.h"

typedef struct tenon__tuning_options_t {
  uint32_t thread_count;
  uint64_t workspace_limit_bytes; /* 0: none */
  double time_budget_seconds;     /* 0: none */
  bool no_measuring;
  bool no_fusion;
  bool reference_only;
  bool strict;
  bool permit_reduced_precision;
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

/* One tactic of one kernel for one region, with its time. */
typedef struct tenon__candidate_t {
  const tenon__kernel_entry_t* kernel;
  tenon__step_tactic_t tactic;
  tenon__time_t time;
  tenon__digest_t key; /* of the timing cache, where it has a time from there or for it */
  bool is_fresh;       /* measured once, in this build */
  bool is_disturbed;   /* it may take much less */
} tenon__candidate_t;

typedef struct tenon__candidates_t {
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

typedef struct tenon__tuning_t {
  tenon_allocator_t allocator;
  tenon__arena_t* arena; /* lives until the plan is made */
  tenon__network_t* network;
  tenon__catalog_t* catalog;
  const tenon__profile_t* profile;
  const tenon_device_descriptor_t* device;
  tenon_device_t* device_handle;
  const char* device_name;
  const char* fingerprint;
  tenon__thread_pool_t* pool;
  tenon__timing_cache_t* cache;
  tenon__blocks_t blocks; /* for trials */
  tenon__tuning_options_t options;
  const tenon_sink_t* sink;
  double deadline;           /* tenon__seconds() after which nothing is measured; 0: none */
  tenon__string_map_t known; /* region signature -> tenon__candidates_t* */
  uint32_t look_count;       /* of times that were measured again */
  uint32_t measured_count;   /* for reports */
  uint32_t cached_count;
} tenon__tuning_t;

/* The kernel with what belongs to it, on the device that is tuned for. */
tenon__kernel_binding_t tenon__tuning_binding(const tenon__tuning_t* tuning,
                                              const tenon__kernel_entry_t* kernel);
/* What regions share whose candidates are the same. */
enum { TENON_REGION_KEY_SIZE = 96 };
void tenon__region_key(const struct tenon_region_t* region, char out_key[TENON_REGION_KEY_SIZE]);
/* Everyone who accepts the region, fastest first. Results are remembered for the build. An empty
 * list is no error: `refusals` says why (always filled then). */
tenon_status_t tenon__candidates_find(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                      const tenon__candidates_t** out_candidates);
/* In order of preference; what came first stays first where times say nothing. */
void tenon__candidates_sort(tenon__candidate_t* items, uint32_t count);
/* Measures once more whoever is fresh among those that could be the fastest, and keeps the smaller
 * of both times. Who finds the candidates next finds them sorted anew: what was picked of them
 * before is void. */
tenon_status_t tenon__candidates_remeasure(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                           const tenon__candidates_t* candidates);
/* Sorts them anew where times have changed. */
tenon_status_t tenon__candidates_renew(tenon__tuning_t* tuning,
                                       const tenon__candidates_t* candidates);
/* Is there anybody to be measured once more? */
bool tenon__candidates_are_fresh(const tenon__candidates_t* candidates);
/* Is a kernel of this device, which the build's policy does not leave out? */
bool tenon__candidates_consider(const tenon__tuning_t* tuning, const tenon__kernel_entry_t* entry);
/* "measured 12.3 us", in the tuning's arena; NULL when memory is out. */
const char* tenon__time_text(const tenon__tuning_t* tuning, tenon__time_t time);
/* Why the others were not taken: the notes, the refusals, and a line for each that was slower (or,
 * unmeasured, of higher estimate). NULL unless they are kept, or when memory is out. In the
 * tuning's arena. */
const char* tenon__candidates_reasons(tenon__tuning_t* tuning,
                                      const tenon__candidates_t* candidates, uint32_t pick,
                                      const char* notes);
/* Does any kernel that is not the reference accept it? Asks `match` alone. `out_fitting`: the
 * largest accepted_instructions among refusals because of a slot. */
bool tenon__candidates_any(tenon__tuning_t* tuning, const struct tenon_region_t* region,
                           uint32_t* out_fitting);
/* The first tactic of a reference kernel that accepts it; *out_candidate NULL: there is none. In
 * the tuning's arena. */
tenon_status_t tenon__candidates_reference(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                           const tenon__candidate_t** out_candidate);
/* "node 'conv1' (standard.convolution/1)", for messages; in the tuning's arena. Never NULL. */
const char* tenon__region_text(const tenon__tuning_t* tuning, const struct tenon_region_t* region);
/* Strides that a rule asks for, at the given extents; `followed`: the view of the region's input
 * that FOLLOWS refers to, or NULL. False: the rule cannot be met by strides alone. */
bool tenon__rule_strides(const tenon_argument_rule_t* rule, uint32_t rank, const int64_t* dims,
                         const tenon_tensor_view_t* followed, int64_t* out_strides);

/* One region chosen for the plan, and with whom. */
typedef struct tenon__chosen_t {
  struct tenon_region_t* region;
  const tenon__candidates_t* candidates;
  uint32_t pick;         /* of candidates */
  const uint32_t* order; /* of the dimensions of output 0 in memory; NULL: row-major */
  const char* notes;     /* lines about larger steps that were not taken; NULL */
} tenon__chosen_t;

/* A unit of a graph's schedule before places are made. */
typedef enum tenon__unit_kind_t {
  TENON_UNIT_REGION,
  TENON_UNIT_VIEW, /* a node whose output is a view of its input */
  TENON_UNIT_CONTENTS,
  TENON_UNIT_CONTROL,
} tenon__unit_kind_t;

typedef struct tenon__unit_t {
  tenon__unit_kind_t kind;
  uint32_t node;   /* VIEW, CONTENTS, CONTROL; REGION: its first node, for order */
  uint32_t output; /* VIEW: of the node */
  tenon__chosen_t chosen;
  uint32_t epilogue;     /* of the alternatives: what its slot could hold; TENON_NONE */
  double own_seconds;    /* its step */
  double copies_seconds; /* of what it reads and makes */
} tenon__unit_t;

typedef struct tenon__units_t {
  uint32_t count;
  tenon__unit_t* items; /* in an order in which they can run */
} tenon__units_t;

/* Can the numbers of all wanted outputs of a node be written from dimensions alone? */
bool tenon__node_is_contents(const tenon__network_t* network, const tenon__graph_t* g,
                             const tenon__node_t* node);
/* Which nodes together, by which tactics and in which orders, so that the whole is fastest. */
tenon_status_t tenon__units_choose(tenon__tuning_t* tuning, uint32_t graph,
                                   tenon__units_t* out_units);
/* Steps' copies of what lies otherwise. */
typedef struct tenon__copies_t {
  uint32_t count;
  double seconds;
} tenon__copies_t;
/* Picks tactics and orders for these units, whose regions are finished. A unit that nobody computes
 * has no candidates then. */
tenon_status_t tenon__layouts_choose(tenon__tuning_t* tuning, uint32_t graph,
                                     tenon__units_t* inout_units, tenon__copies_t* out_copies);
/* Steps and places of one graph. */
tenon_status_t tenon__schedule_make(tenon__tuning_t* tuning, uint32_t graph,
                                    const tenon__units_t* units, tenon__plan_t* plan,
                                    tenon__schedule_t* out_schedule);

#endif
