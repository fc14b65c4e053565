/*
 * What the kernels of this plugin share: the instruction set that was chosen, a reader of regions
 * with fewer words, and the division of work among threads. A kernel is a file with a descriptor
 * (kernels.h); it knows no instruction set by name, but calls the tables of the one that its state
 * holds.
 */
#ifndef TENON_CPU_CPU_H_
#define TENON_CPU_CPU_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elements.h"
#include "integer.h"
#include "tenon/plugin.h"
#include "tile.h"
#include "window_kernels.h"

/* Everything that differs between instruction sets: tables of functions, compiled from the same
 * .inc files. Needs: baseline what the compiler's target has (SSE2 on x86-64), avx2 also FMA,
 * avx512 F, BW, DQ and VL. avx512vnni and amx are avx512 with other integer products; amx also
 * needs the system's permission to use tile registers. */
typedef struct tenon__cpu_isa_t {
  const char* name;
  const tenon__cpu_tiles_t* tiles;
  const tenon__cpu_elements_t* elements;
  const tenon__cpu_windows_t* windows;
  const tenon__cpu_integers_t* integers;
} tenon__cpu_isa_t;

/* The best that this processor runs, or what the environment's TENON_CPU names if it runs that.
 * Never NULL. */
const tenon__cpu_isa_t* tenon__cpu_isa_choose(void);
/* "baseline", "avx2", "avx512", "avx512vnni", "amx". Returns NULL if the processor or the build
 * lacks it. */
const tenon__cpu_isa_t* tenon__cpu_isa_find(const char* name);

/* What `start` gives to every callback: constant, one for each instruction set. */
typedef struct tenon__cpu_state_t {
  const tenon__cpu_isa_t* isa;
} tenon__cpu_state_t;
const tenon__cpu_state_t* tenon__cpu_state_of(const tenon__cpu_isa_t* isa);

/* ---- Regions ---- */

/* A region and its table, as every callback of a build gets them. Passed by value; nothing
 * outlives the callback. */
typedef struct tenon__cpu_region_t {
  const tenon_region_t* handle;
  const tenon_region_table_t* table;
} tenon__cpu_region_t;

/* Input or output `index` of node 0, by the operator's ports; NULL when it is absent. */
const tenon_value_info_t* tenon__cpu_region_input(tenon__cpu_region_t region, uint32_t index);
const tenon_value_info_t* tenon__cpu_region_output(tenon__cpu_region_t region, uint32_t index);
/* Its number among the region's inputs, which bind and enqueue count by: of what stands in its
 * place where a prologue makes it; TENON_NONE when it is absent. */
uint32_t tenon__cpu_region_argument(tenon__cpu_region_t region, uint32_t index);
/* Attributes of node 0; `otherwise`, or "", when it has none of that name and kind. */
int64_t tenon__cpu_region_int(tenon__cpu_region_t region, const char* name, int64_t otherwise);
double tenon__cpu_region_float(tenon__cpu_region_t region, const char* name, double otherwise);
const char* tenon__cpu_region_string(tenon__cpu_region_t region, const char* name);
/* Item `index` of a list of integers, `otherwise` past its end; and how many there are. */
int64_t tenon__cpu_region_item(tenon__cpu_region_t region, const char* name, size_t index,
                               int64_t otherwise);
size_t tenon__cpu_region_length(tenon__cpu_region_t region, const char* name);

/* Whole bytes of an element in memory; 0 for smaller ones, and for what is no type. */
size_t tenon__cpu_element_bytes(tenon_dtype_t dtype);

/* Writes the reason and returns 0, for `return refuse(...)` in match. `detail` is static, or
 * NULL. */
int32_t tenon__cpu_refuse(tenon_refusal_t* out_refusal, uint32_t reason, const char* detail);

/* What `prepare` allocates from, and the function that does: a tenon__cpu_allocate_t
 * (program.h). Memory is the host's, zeroed, and lives as long as the instance. */
typedef struct tenon__cpu_preparation_t {
  tenon_preparation_t* handle;
  const tenon_prepare_table_t* host;
} tenon__cpu_preparation_t;
void* tenon__cpu_allocate_prepared(void* preparation, size_t size_bytes);

/* ---- Layouts ---- */

/* Inputs of a region that a kernel has rules for; with more it takes none. */
enum { TENON_CPU_MAX_RULES = 64 };

/* Channels last for ranks 3, 4 and 5: order 0, 2, ..., 1. NULL for others. */
const tenon_layout_t* tenon__cpu_channels_last(uint32_t rank);

/* ---- Threads ---- */

/* `thread` is below the run's thread count: it picks a part of scratch that no other body uses
 * meanwhile. */
typedef void (*tenon__cpu_body_t)(void* user, uint32_t index, uint32_t thread);

/* Does nobody want the result any more? */
bool tenon__cpu_is_cancelled(const tenon_enqueue_t* call);
/* Runs body for [0, count). Inline where that is all the same. Leaves out what is left when nobody
 * wants the result any more. */
void tenon__cpu_parallel(const tenon_enqueue_t* call, uint32_t count, tenon__cpu_body_t body,
                         void* user);

#endif
