/* Runs on samples for the guard: the exact plan's results, what its values are, and how results
 * change when some of them are rounded. For core/builder/guard.c alone. */
#ifndef TENON_CORE_BUILDER_GUARD_RUNS_H_
#define TENON_CORE_BUILDER_GUARD_RUNS_H_

#include "core/builder/build_options.h"
#include "core/builder/made.h"
#include "core/catalog/entry.h"
#include "core/engine/engine.h"

/* A value of the exact plan: an input, or one that it writes. */
typedef struct seen_value_t {
  const char* name; /* the exact plan's */
  uint32_t graph;
  uint32_t value;
  double largest;          /* magnitude over all samples */
  tenon_dtype_t dtype;     /* while runs round it: to which type */
  tenon_dtype_t harm_type; /* rounded alone to this one, it changes the results by `harm` */
  double harm;
} seen_value_t;

/* One that a plan keeps in a narrower type. */
typedef struct narrow_value_t {
  const char* name;
  tenon_dtype_t dtype;
  uint32_t seen; /* index, or TENON_NONE: the exact plan does not write it */
  double harm;   /* what it changes by itself; infinite where that cannot be seen */
} narrow_value_t;

typedef struct guard_runs_t {
  tenon__catalog_t* catalog;
  tenon_allocator_t allocator;
  const tenon_sink_t* sink;
  tenon__arena_t arena;
  tenon__made_t made; /* the exact plan */
  tenon__engine_t* exact;
  const tenon__input_sample_t* samples;
  uint32_t sample_count;
  uint32_t output_count;
  tenon_tensor_view_t* results; /* [sample * output_count + output], dense rows */
  uint32_t** index;             /* [graph][value] of the exact plan: in `seen`, or TENON_NONE */
  seen_value_t* seen;
  uint32_t seen_count;
} guard_runs_t;

/* Takes the exact plan, whatever it returns, and runs it on the options' samples. Ended in any
 * case. */
tenon_status_t tenon__guard_runs_begin(guard_runs_t* out_runs, tenon__catalog_t* catalog,
                                       const tenon__build_options_t* options,
                                       const tenon__made_t* made);
void tenon__guard_runs_end(guard_runs_t* runs);
/* Of a plan that stays the caller's; to be released before that is freed. */
tenon_status_t tenon__guard_load(const guard_runs_t* runs, const tenon__made_t* made,
                                 tenon__engine_t** out_engine);
/* By how much its results differ from the exact plan's, at most: of floats the norm of the
 * difference over that of the result, of others the part of the elements that differ; infinite
 * where extents do. */
tenon_status_t tenon__guard_error(guard_runs_t* runs, tenon__engine_t* engine, double* out_error);
/* What the plan keeps in narrower types, constants apart; each value once. */
tenon_status_t tenon__guard_narrow_values(const guard_runs_t* runs, const tenon__engine_t* engine,
                                          tenon__arena_t* arena, narrow_value_t** out_values,
                                          uint32_t* out_count);
/* The exact plan's error on the first `sample_count` samples when these values are rounded. */
tenon_status_t tenon__guard_rounded(guard_runs_t* runs, const narrow_value_t* values,
                                    uint32_t count, uint32_t sample_count, double* out_error);
/* What one value changes by itself, on the first sample. It is run once: the plans of all builds
 * are told the same. */
tenon_status_t tenon__guard_find_harm(guard_runs_t* runs, narrow_value_t* value);

#endif
