/*
 * A plan in memory: the portable part (the optimised network) and the tuned part (which kernel
 * computes what, in which layouts, in which order, where in memory).
 *
 * Each graph has a schedule: its steps in order and its *places*. A place is one tensor in memory:
 * a value of the graph in one layout, in the memory of one device. Views are places without memory
 * of their own.
 *
 * A plan's devices are numbered. Number 0 has the host's memory: the application's tensors, numbers
 * that shapes are made of, strings, sequences and control are there. Each of the others has memory
 * of its own, a *space* of the same number, and steps that copy a place from one into another.
 *
 * Made by a build (choice, then plan_memory) or by a reader, changed by nobody afterwards but for
 * refit. Everything in it lies in its arena, its network's, or the bytes that it was read from.
 */
#ifndef TENON_CORE_PLAN_PLAN_H_
#define TENON_CORE_PLAN_PLAN_H_

#include "core/base/digest.h"
#include "core/device/device.h"
#include "core/dimension/requirement.h"
#include "core/region/region.h"

/* Streams of a device on which a context's steps are recorded, at most; 0 is the context's own. */
enum { TENON_LANE_LIMIT = 8 };

/* Whose memory a place lies in, and so who may write it and how long it lives. */
typedef enum tenon__storage_t {
  TENON_STORAGE_ARENA = 0, /* at `offset` in the arena; the size is known from the profile */
  TENON_STORAGE_GROWING,   /* memory of its own that grows: extents are known only when running */
  TENON_STORAGE_WEIGHTS,   /* network weights number `index`, or a device's copy of them */
  TENON_STORAGE_INPUT,     /* main graph: the application's input number `index` */
  TENON_STORAGE_OUTPUT,    /* main graph: output number `index`, the application's memory or ours */
  TENON_STORAGE_PARAMETER, /* bodies: lent by the control step */
  TENON_STORAGE_STATE, /* state number `index`: as it was before the run, or, of what it becomes,
                          written over that in place */
  TENON_STORAGE_VIEW,  /* of place `base` through `map` */
  TENON_STORAGE_PART,  /* a part of place `base`: box `map` inverted; written by its producer in
                          place */
  TENON_STORAGE_NEXT,  /* what state number `index` becomes, beside what it was: the two take
                          turns from run to run */
} tenon__storage_t;

/* Of a place without memory of its own (VIEW, PART) the root, where `base` leads in the end, has
 * it; tenon__place_strides (place_view.h) resolves the way. */
typedef struct tenon__place_t {
  uint32_t value; /* of the graph */
  tenon__storage_t storage;
  uint32_t index;
  uint32_t base;
  const tenon__index_map_t*
      map;               /* VIEW: source 0 is the base. PART: source `index` of the base's map */
  const uint32_t* order; /* physical order of dimensions; NULL: row-major */
  tenon_dtype_t dtype;   /* as which its elements are kept; UNDEFINED: the value's own type */
  uint32_t space;        /* number of the device whose memory it is; of VIEW and PART: the base's */
  bool is_dynamic;       /* its extents are known only in a run */
  bool at_bound;   /* ARENA: so they do, but lie at their bound, the extents beside: bounded.h */
  uint64_t offset; /* ARENA: in bytes from the start of the graph's memory */
  uint64_t size_bytes; /* ARENA: at the profile's maximum */
  uint32_t alias;      /* ARENA: shares the memory of this place (in place), or TENON_NONE */
} tenon__place_t;

/* Control steps run their node's bodies, each by the schedule of its own graph. A copy has one
 * input and one output, places of one value in rows or in one order; one of the two is the host's
 * and the other its device's. */
typedef enum tenon__step_kind_t {
  TENON_STEP_KERNEL = 0,
  TENON_STEP_CONTENTS, /* the core writes the numbers of a value whose contents are dimensions */
  TENON_STEP_CHOOSE,
  TENON_STEP_REPEAT,
  TENON_STEP_MAP,
  TENON_STEP_COPY,
} tenon__step_kind_t;

/* How the kernel does it: what tenon_kernel_t.tactics gave when the step was chosen, copied, so
 * that a plan needs the kernel only to run. Bytes are those that it asks for at the profile's
 * maximum. Pointers are the arena's. `flags` and `launches` as tenon_tactic_t has them. */
typedef struct tenon__step_tactic_t {
  const char* name;
  const void* configuration;
  size_t configuration_size;
  const tenon_argument_rule_t* input_rules; /* region->input_count; NULL: row-major */
  const tenon_argument_rule_t* output_rules;
  tenon_numerics_t numerics;
  uint64_t scratch_bytes;            /* for all threads together, */
  uint64_t scratch_bytes_per_thread; /* and behind them for each */
  uint64_t zeroed_bytes;
  uint64_t persistent_bytes;
  uint32_t flags;
  uint32_t launches;
} tenon__step_tactic_t;

/* One thing that a run does, in the order of its schedule. Which of a choice's bodies runs is
 * decided inside its step. What follows a comment of kinds is meaningful for these alone; node is
 * TENON_NONE for kernels and copies. */
typedef struct tenon__step_t {
  tenon__step_kind_t kind;
  const char* name; /* of its main node */
  uint32_t device;  /* KERNEL, COPY: number of the device that does it; others: 0 */
  uint32_t lane;    /* KERNEL: on which of the device's streams it is recorded: branches.h */
  /* KERNEL */
  const char* plugin;
  const char* kernel;
  uint32_t kernel_version;
  const char* validity; /* what the kernel said it depends on; NULL, "": nothing */
  const struct tenon_region_t* region;
  tenon__step_tactic_t tactic;
  /* 0 where it was estimated and not measured. */
  double measured_seconds;
  /* Why other kernels were not taken for it, in lines; NULL unless the build was to keep them. */
  const char* refusals;
  /* CONTENTS, control: the node; control's inputs and outputs are the node's, as places. */
  uint32_t node;
  /* Places, one for each region input and output (TENON_NONE where absent). */
  uint32_t input_count;
  const uint32_t* inputs;
  uint32_t output_count;
  const uint32_t* outputs;
  bool is_dynamic; /* bound each time it runs */
  bool at_bound;   /* bound once, at the bounds of what it and the steps before it find */
  /* Control: where its bodies' memory begins in this graph's memory, of each device. */
  uint64_t body_offset[TENON_DEVICE_LIMIT];
  uint64_t zeroed_offset; /* within the context's zeroed and persistent memory on its device */
  uint64_t persistent_offset;
} tenon__step_t;

/* Does it run bodies? */
static inline bool tenon__step_is_control(const tenon__step_t* step) {
  return step->kind == TENON_STEP_CHOOSE || step->kind == TENON_STEP_REPEAT ||
         step->kind == TENON_STEP_MAP;
}

/* How one graph of the network runs. schedules[g] is of graph g. Steps read places that earlier
 * steps write: no order but this one is needed to run them. TENON_NONE among outputs: of no use. */
typedef struct tenon__schedule_t {
  uint32_t place_count;
  tenon__place_t* places;
  uint32_t step_count;
  tenon__step_t* steps;
  /* Places of the graph's inputs and outputs, in order. */
  uint32_t input_count;
  uint32_t* inputs;
  uint32_t output_count;
  uint32_t* outputs;
  /* Of each device: the arena, and the largest set of values alive at once, bodies included. */
  uint64_t memory_bytes[TENON_DEVICE_LIMIT];
  uint64_t alive_bytes[TENON_DEVICE_LIMIT];
} tenon__schedule_t;

/* Weights as a kernel packed them. Found by its key; the bytes are what the kernel's pack wrote and
 * nobody else reads. */
typedef struct tenon__packed_t {
  tenon__digest_t key; /* of sources' digests, format, parameters */
  const char* format;
  const void* data;
  size_t size_bytes;
} tenon__packed_t;

/* A plugin that some step needs, to be compared with what is there when the plan is loaded. */
typedef struct tenon__plan_plugin_t {
  const char* name;
  const char* version;
  tenon__digest_t digest; /* zeros: static */
} tenon__plan_plugin_t;

/* A device that it was built for: an engine must find one of that name, and opens the one of that
 * number unless it is told another. What it said of the machine: elsewhere the plan runs too, with
 * a warning that it may be slower. Bytes are all steps' together, but scratch: the largest step's
 * of each lane, with the plan's number of threads. */
typedef struct tenon__plan_device_t {
  const char* name;
  uint32_t index;
  const char* fingerprint;
  uint64_t scratch_bytes;
  uint64_t zeroed_bytes;
  uint64_t persistent_bytes;
  uint32_t lane_limit; /* of a build: streams of a context there, 0 as 1; not in files */
} tenon__plan_device_t;

/* A list of texts; NULL behind the last where it was made by a build, or copied for one. */
typedef struct tenon__names_t {
  uint32_t count;
  const char* const* items;
} tenon__names_t;

/* The network as it was before the optimiser, from which derived weights are made again when others
 * are replaced (refit), and the whole plan when its plugins are others. Its weights are the first
 * of the plan's network. And how it was built, as far as the plan's flags do not say. */
typedef struct tenon__plan_original_t {
  const void* data; /* as tenon__network_write writes it; NULL: neither is possible */
  size_t size_bytes;
  uint32_t patch_limit; /* of the optimiser */
  uint64_t workspace_limit_bytes;
  tenon__names_t exclude;      /* plugins and kernels that were not to be used */
  tenon__names_t node_devices; /* "NODE=DEVICE" */
  tenon__names_t kept;         /* values that stay in their own types, whatever is permitted */
  tenon__digest_t optimised;   /* signature of what the optimiser made of it */
} tenon__plan_original_t;

/* Made by a build, or read from a file, whose bytes must outlive it: weights, packed weights and
 * the original point into them. */
typedef struct tenon__plan_t {
  tenon_allocator_t allocator;
  tenon__arena_t arena;
  tenon__network_t* network; /* owned: the portable part */
  tenon__profile_t profile;
  /* When read from a file: what the network's rules leave to the run, graph by graph. */
  uint32_t requirement_count;
  const tenon__requirement_t* requirements;
  uint32_t schedule_count; /* one for each graph of the network */
  tenon__schedule_t* schedules;
  uint32_t packed_count;
  tenon__packed_t* packed;
  uint32_t plugin_count;
  tenon__plan_plugin_t* plugins;
  /* Number 0 has the host's memory. `device`: all others as text, "name:0,name:1", as a build's
   * options say it; the host's name where there are none. */
  const char* device;
  uint32_t device_count;
  tenon__plan_device_t devices[TENON_DEVICE_LIMIT];
  const char* patches; /* what the optimiser did */
  uint32_t thread_count;
  uint32_t flags;           /* TENON_PLAN_* */
  const bool* weights_kept; /* for each of the network's: are the bytes in the plan? NULL: all */
  /* For each of the network's: does every run read it whole? The others (what kernels have packed,
   * tables of which a run reads some rows) lie apart in the file. NULL: all. For the writer. */
  const bool* weights_hot;
  /* Where the others lie, when read from a file. */
  const void* cold_data;
  size_t cold_size;
  tenon__plan_original_t original;
  const tenon__digest_t* packed_digests; /* of packed[k]'s bytes; NULL when not read from a file */
} tenon__plan_t;

/* With what it was built; they are in the file, so their numbers stay. */
enum {
  TENON_PLAN_TUNED_ONLY = 1u << 0,
  TENON_PLAN_STRICT = 1u << 1,
  TENON_PLAN_REFERENCE_ONLY = 1u << 2,
  TENON_PLAN_NO_REWRITES = 1u << 3, /* built without rewrites and passes that believe traits */
  TENON_PLAN_NO_FUSION = 1u << 4,
  TENON_PLAN_MERGES_SIBLINGS = 1u << 6, /* found to be faster so */
  TENON_PLAN_PERMITS_SHIFT = 8,         /* from here on 8 bits of what was permitted (tuning.h) */
  TENON_PLAN_STREAMS_SHIFT = 16, /* from here on 8 bits: how many streams of a device, at most */
  TENON_PLAN_BYTE = 0xff
};

/* Empty, for the host alone, without a network: who fills it in does that. OUT_OF_MEMORY only. */
tenon_status_t tenon__plan_create(tenon_allocator_t allocator, tenon__plan_t** out_plan);
/* The network goes with it, the bytes that it was read from do not. */
void tenon__plan_destroy(tenon__plan_t* plan);
/* Sets `device` from the devices; OUT_OF_MEMORY only. */
tenon_status_t tenon__plan_name_devices(tenon__plan_t* plan);
/* Number of the device that it was built for: the host only where there is no other. */
uint32_t tenon__plan_main_device(const tenon__plan_t* plan);
/* How many lanes the steps of a device are on: at least one. */
uint32_t tenon__plan_lane_count(const tenon__plan_t* plan, uint32_t device);
/* Scratch of one step, and of a device, for so many threads: of each lane the step's that needs
 * most, one lane's behind another's. `out_offsets`: where each begins; may be NULL. False: more
 * than can be counted. */
bool tenon__tactic_scratch_bytes(const tenon__step_tactic_t* tactic, uint32_t thread_count,
                                 uint64_t* out_bytes);
bool tenon__plan_scratch_bytes(const tenon__plan_t* plan, uint32_t device, uint32_t thread_count,
                               uint64_t* out_bytes, uint64_t out_offsets[TENON_LANE_LIMIT]);

#endif
