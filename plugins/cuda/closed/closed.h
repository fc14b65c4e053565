/*
 * Operators that no expression says, as kernels written by hand. A family is a text, NAME.cuh,
 * which is compiled when a plan is made, behind arithmetic.cuh, frame.cuh and definitions: the
 * element types of its arguments, the operator's attributes, what is absent. Shapes are parameters
 * of a launch. An operator is a row of rows.h: its text, its attributes, and what a binding has to
 * find out on the host. What is here is the life that all rows share:
 *
 *   match      types and ranks of arguments, then the row's own reasons
 *   tactics    one; scratch by the row, for the profile's largest extents
 *   prepare    the text and its module
 *   bind       extents, the row's numbers, launches
 *   enqueue    addresses; the launches, one after the other
 *
 * Arguments are dense rows: the host copies what is not. Extents that a run finds: see found.c.
 */
#ifndef PLUGINS_CUDA_CLOSED_CLOSED_H_
#define PLUGINS_CUDA_CLOSED_CLOSED_H_

#include <stdbool.h>

#include "../compiler.h"
#include "../launch.h"

enum {
  TENON_CLOSED_INPUTS = 12,
  TENON_CLOSED_OUTPUTS = 4,
  TENON_CLOSED_AXES = 8,
  TENON_CLOSED_NUMBERS = 96,
  TENON_CLOSED_KERNELS = 12,
  TENON_CLOSED_LAUNCHES = 48,
  TENON_CLOSED_THREADS = 256,
  TENON_CLOSED_MOST_THREADS = 1024
};

/* One argument, as far as it is known: for the largest extents, or for those that are bound. */
typedef struct tenon__closed_shape_t {
  bool present;
  bool open; /* its largest extents are not known: `dims` has 0 */
  tenon_dtype_t dtype;
  uint32_t rank;
  int64_t dims[TENON_CLOSED_AXES];
  int64_t count; /* of elements */
} tenon__closed_shape_t;

/* A kernel of the row's list, how many threads have work, and how many are a block. Where blocks
 * work together `threads` is a multiple of `block`. `shared_bytes` are memory beside what the
 * kernel declares, or as much as the device has: p.shared tells the kernel; TENON_CLOSED_SHARED. */
typedef struct tenon__closed_launch_t {
  uint32_t kernel;
  uint32_t block;
  int64_t threads;
  int32_t pass; /* p.pass: of a kernel that is launched several times */
  int64_t shared_bytes;
} tenon__closed_launch_t;

typedef struct tenon__closed_row_t tenon__closed_row_t;

/* What a row's functions work on. */
typedef struct tenon__closed_work_t {
  const tenon__closed_row_t* row;
  const tenon_region_t* region;
  const tenon_region_table_t* table;
  tenon__closed_shape_t in[TENON_CLOSED_INPUTS];
  tenon__closed_shape_t out[TENON_CLOSED_OUTPUTS];
  uint32_t in_count;
  uint32_t out_count;
  /* Of `bind`: what the text reads as p.number. */
  int64_t number[TENON_CLOSED_NUMBERS];
  tenon__closed_launch_t launches[TENON_CLOSED_LAUNCHES];
  uint32_t launch_count;
  uint32_t finding; /* the row's, unless `bind` says otherwise */
} tenon__closed_work_t;

enum {
  /* Sums are in the type of output 0, not of input 0. */
  TENON_CLOSED_SUMS_OUTPUT = 1u << 0,
  /* Elements below a byte are taken, also as output 0, of which a thread then writes whole bytes.
   */
  TENON_CLOSED_PACKED = 1u << 1,
  /* Counts its calls in persistent memory. */
  TENON_CLOSED_COUNTS_CALLS = 1u << 2,
  /* Output 0 may overwrite input 0; elsewhere the first launch copies it. */
  TENON_CLOSED_IN_PLACE = 1u << 3,
  /* Adds up products in the order of the reference: differs from others' sums by rounding. */
  TENON_CLOSED_SUMS = 1u << 4,
  /* The scratch size does not depend on the extents. */
  TENON_CLOSED_SCRATCH_IS_FIXED = 1u << 5,
  /* Works without scratch, slowly: taken where extents have no bounds, and then has none. */
  TENON_CLOSED_SCRATCH_IF_BOUNDED = 1u << 6,
  /* The last kernel is launched with shared memory. */
  TENON_CLOSED_SHARED = 1u << 7
};

struct tenon__closed_row_t {
  const char* name; /* of the operator, and of the kernel on offer */
  const char* text;
  const char* building_blocks;   /* source or definitions in front of it; NULL if absent */
  const char* const* attributes; /* that the text reads, or a function here */
  const char* const* kernels;    /* of the text, NULL-terminated */
  /* Whether all data that may be wrong are constants that are right, or absent, for all extents.
   * The kernel NAME_known takes such nodes and reports no errors in data, so that no run waits for
   * them. NULL: rows that have no such kernel. */
  bool (*knows)(const tenon__closed_work_t* work);
  /* NULL, or why the node is not taken; shapes are the largest. */
  const char* (*refuse)(const tenon__closed_work_t* work);
  /* NULL: each kernel with a thread for each element of output 0. */
  void (*bind)(tenon__closed_work_t* work);
  /* NULL: none. */
  uint64_t (*scratch)(const tenon__closed_work_t* work);
  /* Of outputs whose extents a run finds: the first `finding` launches leave numbers at the
   * beginning of scratch; these are extents of an output by them. */
  void (*extents)(const tenon__closed_work_t* work, const int64_t* found, uint32_t output,
                  tenon__closed_shape_t* out_shape);
  uint32_t finding;
  uint32_t flags;
};

/* ---- For functions of rows ---- */

/* A value of the node's attribute; 0 where there is none. */
int64_t tenon__closed_int(const tenon__closed_work_t* work, const char* name);
/* Entry `index` of a list, or the default past its end. */
int64_t tenon__closed_item(const tenon__closed_work_t* work, const char* name, size_t index,
                           int64_t otherwise);
size_t tenon__closed_item_count(const tenon__closed_work_t* work, const char* name);
bool tenon__closed_is(const tenon__closed_work_t* work, const char* name, const char* value);
/* -1 is the last axis. */
uint32_t tenon__closed_axis(int64_t axis, uint32_t rank);
int64_t tenon__closed_product(const tenon__closed_shape_t* shape, uint32_t begin, uint32_t end);
/* number[at], at + 1, at + 2: the extents before an axis, along it, behind it. */
void tenon__closed_set_axis(tenon__closed_work_t* work, uint32_t at,
                            const tenon__closed_shape_t* shape, uint32_t axis);
/* One more launch, of so many threads, in blocks of the usual size; or one block for each. */
void tenon__closed_launch(tenon__closed_work_t* work, uint32_t kernel, int64_t threads);
void tenon__closed_launch_blocks(tenon__closed_work_t* work, uint32_t kernel, int64_t blocks);
/* The same with blocks of another size. */
void tenon__closed_launch_wide(tenon__closed_work_t* work, uint32_t kernel, int64_t blocks,
                               uint32_t block);

/* ---- Of the life: text.c, shapes.c, life.c, found.c ---- */

/* What a text reads; frame.cuh has the same. */
typedef struct tenon__closed_tensor_t {
  void* data;
  int64_t count;
  int64_t skip; /* elements below a byte that are in front */
  int64_t rank;
  int64_t dims[TENON_CLOSED_AXES];
} tenon__closed_tensor_t;

typedef struct tenon__closed_parameters_t {
  tenon__closed_tensor_t in[TENON_CLOSED_INPUTS];
  tenon__closed_tensor_t out[TENON_CLOSED_OUTPUTS];
  int64_t number[TENON_CLOSED_NUMBERS];
  int64_t* extents[TENON_CLOSED_OUTPUTS];
  void* scratch;
  uint64_t* persistent;
  tenon_fault_t* fault;
  int64_t threads;
  int32_t release;
  int32_t pass;
  int32_t shared;
  int32_t reserved;
} tenon__closed_parameters_t;

typedef struct tenon__closed_instance_t {
  tenon_device_t* device;
  tenon__cuda_module_t* module;
  tenon__closed_work_t work; /* without extents */
  CUfunction kernels[TENON_CLOSED_KERNELS];
} tenon__closed_instance_t;

typedef struct tenon__closed_bound_t {
  const tenon__closed_instance_t* instance;
  bool has_scratch;
  tenon__closed_work_t work;
  tenon__closed_parameters_t parameters;
} tenon__closed_bound_t;

/* NULL: none of that name. */
const tenon__closed_row_t* tenon__closed_find(const char* op);
/* Fills the arguments of the largest extents. NULL, or why they cannot be taken. */
const char* tenon__closed_read_region(tenon__closed_work_t* inout_work);
/* The text of a node's kernels. */
void tenon__closed_write(const tenon__closed_work_t* work, tenon__cuda_text_t* text);
/* Once a call is read, the ends of `begin_prepare` and of `prepare`: the first starts to compile the
 * node's text, the second finds the row's kernels in its module. */
void tenon__closed_begin(const tenon_prepare_t* call, const tenon__closed_instance_t* instance);
tenon_status_t tenon__closed_finish(const tenon_prepare_t* call, tenon__closed_instance_t* instance,
                                    void** out_instance);
/* The same of a kernel NAME_known. UNSUPPORTED if a refit has made constants wrong. */
tenon_status_t tenon__closed_finish_known(const tenon_prepare_t* call,
                                          tenon__closed_instance_t* instance, void** out_instance);
/* NULL, or why the row's kernel with faults, or the one whose data are known, takes no such data. */
const char* tenon__closed_refuse_data(const tenon__closed_work_t* work, bool is_known);
/* Launches [begin, end) of those that are bound. */
tenon_status_t tenon__closed_run(const tenon_enqueue_t* call, tenon__closed_bound_t* bound,
                                 uint32_t begin, uint32_t end);
/* Between finding and writing: waits, makes the outputs. */
tenon_status_t tenon__closed_make_outputs(const tenon_enqueue_t* call,
                                          tenon__closed_bound_t* bound);

int32_t tenon__closed_match(void* state, const tenon_region_t* region,
                            const tenon_region_table_t* table, tenon_refusal_t* out_refusal);
/* The same for the kernels NAME_known. */
int32_t tenon__closed_match_known(void* state, const tenon_region_t* region,
                                  const tenon_region_table_t* table, tenon_refusal_t* out_refusal);
tenon_status_t tenon__closed_tactics(void* state, const tenon_region_t* region,
                                     const tenon_region_table_t* table, tenon_emit_t* emit,
                                     tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*));
void tenon__closed_begin_prepare(const tenon_prepare_t* call);
tenon_status_t tenon__closed_prepare(const tenon_prepare_t* call, void** out_instance);
tenon_status_t tenon__closed_prepare_known(const tenon_prepare_t* call, void** out_instance);
tenon_status_t tenon__closed_bind(void* instance, tenon_binding_t* binding,
                                  const tenon_bind_table_t* host, void** out_bound);
tenon_status_t tenon__closed_enqueue(const tenon_enqueue_t* call);
void tenon__closed_destroy(void* instance);

#endif
