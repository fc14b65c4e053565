/* Runs on samples for the guard: results and values of the exact plan, and the changes of the
 * results if some values are rounded. For core/builder/guard.c only. */
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
  tenon_dtype_t dtype;     /* type to which runs round it */
  tenon_dtype_t harm_type; /* if only it is rounded to this type, the results change by `harm` */
  double harm;
} seen_value_t;

/* A value that a plan keeps in a type of lower precision. */
typedef struct narrow_value_t {
  const char* name;
  tenon_dtype_t dtype;
  uint32_t seen; /* index, or TENON_NONE: the exact plan does not write it */
  double harm;   /* change of the results by it alone; infinite if unknown */
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

/* Adopts the exact plan, also on failure, and runs it on the options' samples. The caller must call
 * tenon__guard_runs_end in any case. */
tenon_status_t tenon__guard_runs_begin(guard_runs_t* out_runs, tenon__catalog_t* catalog,
                                       const tenon__build_options_t* options,
                                       const tenon__made_t* made);
void tenon__guard_runs_end(guard_runs_t* runs);
/* Makes an engine of a plan that the caller owns. Release the engine before the plan is freed. */
tenon_status_t tenon__guard_load(const guard_runs_t* runs, const tenon__made_t* made,
                                 tenon__engine_t** out_engine);
/* Returns the largest difference between its results and the exact plan's. For floats it is the
 * norm of the difference divided by the norm of the result, for other types the fraction of
 * elements that differ. It is infinite if extents differ. */
tenon_status_t tenon__guard_error(guard_runs_t* runs, tenon__engine_t* engine, double* out_error);
/* Lists the plan's values in types of lower precision, except constants; each value once. */
tenon_status_t tenon__guard_narrow_values(const guard_runs_t* runs, const tenon__engine_t* engine,
                                          tenon__arena_t* arena, narrow_value_t** out_values,
                                          uint32_t* out_count);
/* Returns the exact plan's error on the first `sample_count` samples if these values are
 * rounded. */
tenon_status_t tenon__guard_rounded(guard_runs_t* runs, const narrow_value_t* values,
                                    uint32_t count, uint32_t sample_count, double* out_error);
/* Measures the error of one value alone, on the first sample. It is run once for all builds. */
tenon_status_t tenon__guard_find_harm(guard_runs_t* runs, narrow_value_t* value);

#endif
