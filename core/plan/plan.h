/*
 * A plan in memory: the portable part (the optimised network) and the tuned part (kernels, layouts,
 * order of steps, memory).
 *
 * Each graph has a schedule: its steps in order and its *places*. A place is one tensor in memory:
 * a value of the graph in one layout, in the memory of one device. Views are places without memory
 * of their own.
 *
 * A plan's devices are numbered. Number 0 has the host's memory, with the application's tensors,
 * numbers from which shapes are computed, strings, sequences and control. Each other device has its
 * own memory, a *space* of the same number, and steps that copy places between memories.
 *
 * A build (choice, then plan_memory) or a reader makes it; afterwards only refit changes it. All
 * its data are in its arena, its network's arena, or the bytes from which it was read.
 */
#ifndef TENON_CORE_PLAN_PLAN_H_
#define TENON_CORE_PLAN_PLAN_H_

#include "core/base/digest.h"
#include "core/device/device.h"
#include "core/dimension/requirement.h"
#include "core/region/region.h"

/* Maximum number of streams of a device on which a context's steps are recorded; 0 is the context's
 * own. */
enum { TENON_LANE_LIMIT = 8 };

/* Owner of a place's memory, which determines its writers and its lifetime. */
typedef enum tenon__storage_t {
  TENON_STORAGE_ARENA = 0, /* at `offset` in the arena; the size is known from the profile */
  TENON_STORAGE_GROWING,   /* memory of its own that grows: extents are known only in a run */
  TENON_STORAGE_WEIGHTS,   /* network weights number `index`, or a device's copy of them */
  TENON_STORAGE_INPUT,     /* main graph: the application's input number `index` */
  TENON_STORAGE_OUTPUT,    /* main graph: output number `index`, the application's memory or ours */
  TENON_STORAGE_PARAMETER, /* bodies: borrowed from the control step */
  TENON_STORAGE_STATE, /* state number `index`: previous value, or next value written in place */
  TENON_STORAGE_VIEW,  /* of place `base` through `map` */
  TENON_STORAGE_PART,  /* part of place `base`: box `map` inverted; its producer writes it there */
  TENON_STORAGE_NEXT,  /* next value of state number `index`, double-buffered from run to run */
} tenon__storage_t;

/* A place without memory of its own (VIEW, PART) uses the memory of its root, the end of the chain
 * of `base`. tenon__place_strides (place_view.h) resolves the chain. */
typedef struct tenon__place_t {
  uint32_t value; /* of the graph */
  tenon__storage_t storage;
  uint32_t index;
  uint32_t base;
  const tenon__index_map_t*
      map;               /* VIEW: source 0 is the base. PART: source `index` of the base's map */
  const uint32_t* order; /* physical order of dimensions; NULL: row-major */
  tenon_dtype_t dtype;   /* type of its elements; UNDEFINED: the value's own type */
  uint32_t space;        /* number of the device with the memory; of VIEW and PART: the base's */
  bool is_dynamic;       /* its extents are known only in a run */
  bool at_bound;         /* ARENA: dynamic, but stored at its bound: bounded.h */
  uint64_t offset;       /* ARENA: in bytes from the start of the graph's memory */
  uint64_t size_bytes;   /* ARENA: at the profile's maximum */
  uint32_t alias;        /* ARENA: shares the memory of this place (in place), or TENON_NONE */
} tenon__place_t;

/* Control steps run their node's bodies, each by the schedule of its own graph. A copy has one
 * input and one output: places of one value, row-major or in one order. One of the two is in the
 * host's memory and the other in its device's. */
typedef enum tenon__step_kind_t {
  TENON_STEP_KERNEL = 0,
  TENON_STEP_CONTENTS, /* the core writes the numbers of a value whose contents are dimensions */
  TENON_STEP_CHOOSE,
  TENON_STEP_REPEAT,
  TENON_STEP_MAP,
  TENON_STEP_COPY,
} tenon__step_kind_t;

/* The kernel's tactic: a copy of the result of tenon_kernel_t.tactics when the step was chosen, so
 * that a plan needs the kernel only to run. Bytes are its requirements at the profile's maximum.
 * Pointers are into the arena. `flags` and `launches` are as in tenon_tactic_t. */
typedef struct tenon__step_tactic_t {
  const char* name;
  const void* configuration;
  size_t configuration_size;
  const tenon_argument_rule_t* input_rules; /* region->input_count; NULL: row-major */
  const tenon_argument_rule_t* output_rules;
  tenon_numerics_t numerics;
  uint64_t scratch_bytes;            /* for all threads together, */
  uint64_t scratch_bytes_per_thread; /* followed by these for each */
  uint64_t zeroed_bytes;
  uint64_t persistent_bytes;
  uint32_t flags;
  uint32_t launches;
} tenon__step_tactic_t;

/* One action of a run, in the order of its schedule. The step of an If selects the body that runs.
 * Members after a comment with kinds are valid for these kinds only. `node` is TENON_NONE for
 * kernels and copies. */
typedef struct tenon__step_t {
  tenon__step_kind_t kind;
  const char* name; /* of its main node */
  uint32_t device;  /* KERNEL, COPY: number of the device that executes it; others: 0 */
  uint32_t lane;    /* KERNEL: index of the device's stream on which it is recorded: branches.h */
  /* KERNEL */
  const char* plugin;
  const char* kernel;
  uint32_t kernel_version;
  const char* validity; /* the kernel's declared dependencies; NULL, "": none */
  const struct tenon_region_t* region;
  tenon__step_tactic_t tactic;
  /* 0 if it was estimated and not measured. */
  double measured_seconds;
  /* Reasons why other kernels were not taken, one line each; NULL unless the build keeps them. */
  const char* refusals;
  /* CONTENTS, control: the node. The inputs and outputs of control steps are the node's, as
   * places. */
  uint32_t node;
  /* Places, one for each region input and output (TENON_NONE: absent). */
  uint32_t input_count;
  const uint32_t* inputs;
  uint32_t output_count;
  const uint32_t* outputs;
  bool is_dynamic; /* bound in each run */
  bool at_bound;   /* bound once, at the bounds of extents that it and earlier steps find */
  /* Control: offset of its bodies' memory in this graph's memory, for each device. */
  uint64_t body_offset[TENON_DEVICE_LIMIT];
  uint64_t zeroed_offset; /* within the context's zeroed and persistent memory on its device */
  uint64_t persistent_offset;
} tenon__step_t;

/* Returns true if it runs bodies. */
static inline bool tenon__step_is_control(const tenon__step_t* step) {
  return step->kind == TENON_STEP_CHOOSE || step->kind == TENON_STEP_REPEAT ||
         step->kind == TENON_STEP_MAP;
}

/* The schedule of one graph of the network; schedules[g] is of graph g. Steps read places that
 * earlier steps write, so this order is sufficient to run them. TENON_NONE among outputs:
 * unused. */
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
  /* For each device: size of the arena, and of the largest set of values alive at once, bodies
   * included. */
  uint64_t memory_bytes[TENON_DEVICE_LIMIT];
  uint64_t alive_bytes[TENON_DEVICE_LIMIT];
} tenon__schedule_t;

/* Weights packed by a kernel, found by their key. Only the kernel that has written the bytes reads
 * them. */
typedef struct tenon__packed_t {
  tenon__digest_t key; /* of sources' digests, format, parameters */
  const char* format;
  const void* data;
  size_t size_bytes;
} tenon__packed_t;

/* A plugin that a step needs. Loading the plan compares it with the installed plugin. */
typedef struct tenon__plan_plugin_t {
  const char* name;
  const char* version;
  tenon__digest_t digest; /* zeros: static */
} tenon__plan_plugin_t;

/* A device for which the plan was built. An engine must find a device of that name, and opens the
 * one of that index unless the options give another. If the fingerprint differs, the plan runs with
 * a warning that it may be slower. Bytes are the sum over all steps, except scratch, which is the
 * maximum over the steps of each lane for the plan's number of threads. */
typedef struct tenon__plan_device_t {
  const char* name;
  uint32_t index;
  const char* fingerprint;
  uint64_t scratch_bytes;
  uint64_t zeroed_bytes;
  uint64_t persistent_bytes;
  uint32_t lane_limit; /* of a build: streams of a context there, 0 means 1; not in files */
} tenon__plan_device_t;

/* A list of strings. It ends with NULL if it was made by a build, or copied for one. */
typedef struct tenon__names_t {
  uint32_t count;
  const char* const* items;
} tenon__names_t;

/* The network before the optimiser, and build options that the plan's flags do not contain. A refit
 * computes derived weights from it when other weights are replaced, and the whole plan is rebuilt
 * from it if its plugins have changed. Its weights are the first ones of the plan's network. */
typedef struct tenon__plan_original_t {
  const void* data; /* written by tenon__network_write; NULL: neither is possible */
  size_t size_bytes;
  uint32_t patch_limit; /* of the optimiser */
  uint64_t workspace_limit_bytes;
  tenon__names_t exclude;      /* excluded plugins and kernels */
  tenon__names_t node_devices; /* "NODE=DEVICE" */
  tenon__names_t kept;         /* values that keep their own types, regardless of permissions */
  tenon__digest_t optimised;   /* signature of the optimised network */
} tenon__plan_original_t;

/* Made by a build, or read from a file, whose bytes must outlive it, because weights, packed
 * weights and the original point into them. */
typedef struct tenon__plan_t {
  tenon_allocator_t allocator;
  tenon__arena_t arena;
  tenon__network_t* network; /* owned: the portable part */
  tenon__profile_t profile;
  /* If read from a file: shape constraints for the run, ordered by graph. */
  uint32_t requirement_count;
  const tenon__requirement_t* requirements;
  uint32_t schedule_count; /* one for each graph of the network */
  tenon__schedule_t* schedules;
  uint32_t packed_count;
  tenon__packed_t* packed;
  uint32_t plugin_count;
  tenon__plan_plugin_t* plugins;
  /* Number 0 has the host's memory. `device` lists all others in the syntax of a build's options,
   * "name:0,name:1"; the host's name if there are none. */
  const char* device;
  uint32_t device_count;
  tenon__plan_device_t devices[TENON_DEVICE_LIMIT];
  const char* patches; /* patches that the optimiser applied */
  uint32_t thread_count;
  uint32_t flags;           /* TENON_PLAN_* */
  const bool* weights_kept; /* for each of the network's: the bytes are in the plan; NULL: all */
  /* For each of the network's: true if every run reads all of its bytes. The file stores the others
   * separately: originals of packed weights, and tables from which a run reads a few rows. NULL: all
   * are true. For the writer. */
  const bool* weights_hot;
  /* Location of the others, if read from a file. */
  const void* cold_data;
  size_t cold_size;
  tenon__plan_original_t original;
  const tenon__digest_t* packed_digests; /* of packed[k]'s bytes; NULL when not read from a file */
} tenon__plan_t;

/* Options of the build. They are in the file, so their numbers never change. */
enum {
  TENON_PLAN_TUNED_ONLY = 1u << 0,
  TENON_PLAN_STRICT = 1u << 1,
  TENON_PLAN_REFERENCE_ONLY = 1u << 2,
  TENON_PLAN_NO_REWRITES = 1u << 3, /* built without rewrites and passes that rely on traits */
  TENON_PLAN_NO_FUSION = 1u << 4,
  TENON_PLAN_MERGES_SIBLINGS = 1u << 6, /* siblings are merged, which was faster */
  TENON_PLAN_PERMITS_SHIFT = 8,         /* 8 bits: permissions of the build (tuning.h) */
  TENON_PLAN_STREAMS_SHIFT = 16,        /* 8 bits: maximum number of streams of a device */
  TENON_PLAN_BYTE = 0xff
};

/* Creates an empty plan for the host only, without a network, which the caller adds. Returns
 * OUT_OF_MEMORY only. */
tenon_status_t tenon__plan_create(tenon_allocator_t allocator, tenon__plan_t** out_plan);
/* Frees the plan and its network, but not the bytes from which it was read. */
void tenon__plan_destroy(tenon__plan_t* plan);
/* Sets `device` from the devices. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__plan_name_devices(tenon__plan_t* plan);
/* Returns the number of the device for which it was built; the host if there is no other. */
uint32_t tenon__plan_main_device(const tenon__plan_t* plan);
/* Returns the number of lanes that the steps of a device use: at least 1. */
uint32_t tenon__plan_lane_count(const tenon__plan_t* plan, uint32_t device);
/* Compute the scratch of one step, and of a device, for `thread_count` threads. A device has the
 * maximum over the steps of each lane, one lane after another. `out_offsets` gets the start of each
 * lane; may be NULL. Return false if the size overflows. */
bool tenon__tactic_scratch_bytes(const tenon__step_tactic_t* tactic, uint32_t thread_count,
                                 uint64_t* out_bytes);
bool tenon__plan_scratch_bytes(const tenon__plan_t* plan, uint32_t device, uint32_t thread_count,
                               uint64_t* out_bytes, uint64_t out_offsets[TENON_LANE_LIMIT]);

#endif
