/* The search for values that must not be narrow: build, run, compare. If the error is too large,
 * values are sorted by their own error, and a bisection finds how many of them stay narrow. Then it
 * builds again. */
#include "core/builder/guard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/noise.h"
#include "core/base/status.h"
#include "core/builder/build.h"
#include "core/builder/guard_runs.h"
#include "core/tensor/dtype.h"

enum { MOST_BUILDS = 8 };
static const uint32_t narrow_types = TENON__PERMIT_F16 | TENON__PERMIT_BF16;

typedef struct guard_t {
  const tenon__network_t* network;
  tenon__catalog_t* catalog;
  tenon__build_options_t options; /* of the builds; `kept` grows */
  tenon__arena_t arena;
  guard_runs_t runs;
  double bound;
  const char** kept; /* NULL behind the last */
  const char** why;
  uint32_t kept_capacity;
  uint32_t why_capacity;
  uint32_t kept_count;
} guard_t;

/* ---- What stays as it is ---- */

static bool is_kept(const guard_t* guard, const char* name) {
  for (uint32_t k = 0; k < guard->kept_count; ++k) {
    if (strcmp(guard->kept[k], name) == 0) {
      return true;
    }
  }
  return false;
}

static tenon_status_t keep(guard_t* guard, const char* name, const char* why) {
  const uint32_t count = guard->kept_count;
  if (is_kept(guard, name)) {
    return TENON_OK;
  }
  const char* copy = tenon__arena_copy_string(&guard->arena, name);
  TENON_TRY_MEMORY(copy != NULL && why != NULL &&
                   TENON_ARENA_GROW(&guard->arena, guard->kept, guard->kept_capacity, count + 2) &&
                   TENON_ARENA_GROW(&guard->arena, guard->why, guard->why_capacity, count + 1));
  guard->kept[count] = copy;
  guard->why[count] = why;
  guard->kept_count = count + 1;
  guard->options.kept = guard->kept;
  guard->options.kept_why = guard->why;
  tenon__report(guard->options.sink, TENON_SEVERITY_INFO, "'%s' stays as it is: %s", name, why);
  return TENON_OK;
}

/* What the application wants kept. */
static tenon_status_t keep_given(guard_t* guard, const tenon__build_options_t* options) {
  static const char* const none[] = {NULL};
  const char* const* names = options->kept == NULL ? none : options->kept;
  for (; *names != NULL; ++names) {
    TENON_TRY(keep(guard, *names, "the build was told so"));
  }
  return TENON_OK;
}

/* What f16 cannot hold: it ends at 65504. */
static tenon_status_t keep_large(guard_t* guard) {
  const double most = 65504;
  if ((guard->options.tuning.permits & TENON__PERMIT_F16) == 0) {
    return TENON_OK;
  }
  for (uint32_t k = 0; k < guard->runs.seen_count; ++k) {
    const seen_value_t* seen = &guard->runs.seen[k];
    if (seen->largest > most) {
      TENON_TRY(keep(guard, seen->name,
                     tenon__arena_format(&guard->arena, "it reaches %.3g, and f16 %.6g",
                                         seen->largest, most)));
    }
  }
  return TENON_OK;
}

/* ---- Who does harm ---- */

static int compare_harm(const void* a, const void* b) {
  const narrow_value_t* left = a;
  const narrow_value_t* right = b;
  return (left->harm > right->harm) - (left->harm < right->harm);
}

/* The most of the values, those that do least harm first, that together stay below `target`. */
static tenon_status_t find_harmless(guard_t* guard, const narrow_value_t* values, uint32_t count,
                                    double target, uint32_t* out_count) {
  uint32_t least = 0;
  uint32_t most = count;
  while (most > 0 && !(values[most - 1].harm <= target)) {
    --most;
  }
  while (least < most) {
    const uint32_t middle = (least + most + 1) / 2;
    double error = 0;
    TENON_TRY(tenon__guard_rounded(&guard->runs, values, middle, guard->runs.sample_count, &error));
    if (error <= target) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  *out_count = least;
  return TENON_OK;
}

/* Keeps what does most harm among what the plan has narrow, which was off by `error`. Kernels round
 * more than what they store, so the exact plan with all of it rounded is off by another number:
 * what is left is to be within what is permitted, as far as the one tells the other; at least one
 * in `parts` of the values is kept. */
static tenon_status_t keep_harmful(guard_t* guard, const tenon__engine_t* engine, double error,
                                   uint32_t parts) {
  narrow_value_t* values = NULL;
  uint32_t count = 0;
  uint32_t harmless = 0;
  uint32_t known = 0;
  double rounded = 0;
  TENON_TRY(tenon__guard_narrow_values(&guard->runs, engine, &guard->arena, &values, &count));
  for (uint32_t k = 0; k < count; ++k) {
    TENON_TRY(tenon__guard_find_harm(&guard->runs, &values[k]));
    known += isfinite(values[k].harm) ? 1 : 0;
  }
  qsort(values, count, sizeof *values, compare_harm);
  if (known > 0) {
    TENON_TRY(
        tenon__guard_rounded(&guard->runs, values, known, guard->runs.sample_count, &rounded));
  }
  const double ratio =
      isfinite(error) && isfinite(rounded) && rounded < error ? rounded / error : 1;
  TENON_TRY(find_harmless(guard, values, count, TENON_NOISE_ERROR_SHARE * ratio * guard->bound,
                          &harmless));
  harmless = harmless < count - count / parts ? harmless : count - count / parts;
  harmless = harmless < count ? harmless : count - 1;
  for (uint32_t k = harmless; k < count; ++k) {
    TENON_TRY(keep(
        guard, values[k].name,
        tenon__arena_format(&guard->arena,
                            "in %s, by itself, it changes the results by %.2g; %.2g is "
                            "permitted for all together",
                            tenon__dtype_name(values[k].dtype), values[k].harm, guard->bound)));
  }
  return TENON_OK;
}

/* ---- Builds ---- */

static uint32_t count_narrow(const tenon__engine_t* engine) {
  const tenon__plan_t* plan = tenon__engine_plan(engine);
  uint32_t count = 0;
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    for (uint32_t p = 0; p < plan->schedules[g].place_count; ++p) {
      count += plan->schedules[g].places[p].dtype != TENON_DTYPE_UNDEFINED ? 1u : 0u;
    }
  }
  return count;
}

/* One plan, run on the samples. Where it is not good enough its values that do harm are kept; of
 * one without narrow values nothing rough is permitted any more. */
static tenon_status_t try_plan(guard_t* guard, uint32_t parts, const tenon__made_t* made,
                               bool* out_good) {
  tenon__engine_t* engine = NULL;
  double error = 0;
  TENON_TRY(tenon__guard_load(&guard->runs, made, &engine));
  tenon_status_t status = tenon__guard_error(&guard->runs, engine, &error);
  const uint32_t narrow = count_narrow(engine);
  *out_good = status == TENON_OK && error <= guard->bound;
  if (*out_good) {
    tenon__report(guard->options.sink, TENON_SEVERITY_INFO,
                  "on %u sample%s the results differ by %.2g from exact ones, %.2g is permitted; "
                  "%u tensors are in narrower types",
                  guard->runs.sample_count, guard->runs.sample_count == 1 ? "" : "s", error,
                  guard->bound, narrow);
  } else if (status == TENON_OK && narrow > 0) {
    status = keep_harmful(guard, engine, error, parts);
  } else if (status == TENON_OK) { /* products alone are too rough */
    guard->options.tuning.permits &= TENON__PERMIT_NONDETERMINISTIC;
    tenon__report(guard->options.sink, TENON_SEVERITY_WARNING,
                  "on the samples the results differ by %.2g from exact ones, %.2g is permitted: "
                  "nothing is computed less exactly than the network says",
                  error, guard->bound);
  }
  tenon__engine_release(engine);
  return status;
}

/* Until the plan is good enough. Nothing narrow at all is, or is all that there is. */
static tenon_status_t make_good(guard_t* guard, tenon__made_t* made) {
  const uint32_t rough = narrow_types | TENON__PERMIT_TF32;
  bool is_good = false;
  for (uint32_t k = 0; !is_good; ++k) {
    if (k == MOST_BUILDS) {
      guard->options.tuning.permits &= ~narrow_types;
    }
    tenon__made_free(made);
    TENON_TRY(tenon__build(guard->network, guard->catalog, &guard->options, &made->data,
                           &made->size_bytes));
    if ((guard->options.tuning.permits & rough) == 0) {
      return TENON_OK;
    }
    TENON_TRY(try_plan(guard, k < MOST_BUILDS ? 1u << (MOST_BUILDS - 1 - k) : 1, made, &is_good));
  }
  return TENON_OK;
}

static tenon_status_t run_exactly(guard_t* guard, const tenon__build_options_t* options) {
  tenon__build_options_t exact = *options;
  tenon__made_t made = {.allocator = options->allocator};
  exact.samples = NULL;
  exact.device = NULL;
  exact.node_devices = NULL;
  exact.tuning.permits = 0;
  exact.tuning.no_fusion = true; /* so that every value is written */
  exact.tuning.no_measuring = true;
  TENON_TRY(tenon__build(guard->network, guard->catalog, &exact, &made.data, &made.size_bytes));
  return tenon__guard_runs_begin(&guard->runs, guard->catalog, options, &made);
}

static tenon_status_t guard_build(guard_t* guard, const tenon__build_options_t* options,
                                  tenon__made_t* made) {
  TENON_TRY(run_exactly(guard, options));
  TENON_TRY(keep_given(guard, options));
  TENON_TRY(keep_large(guard));
  return make_good(guard, made);
}

tenon_status_t tenon__build_guarded(const tenon__network_t* network, tenon__catalog_t* catalog,
                                    const tenon__build_options_t* options, void** out_plan_data,
                                    size_t* out_plan_size) {
  const uint32_t rough = narrow_types | TENON__PERMIT_TF32;
  if (options->sample_count == 0 || (options->tuning.permits & rough) == 0) {
    return tenon__build(network, catalog, options, out_plan_data, out_plan_size);
  }
  guard_t guard = {
      .network = network,
      .catalog = catalog,
      .options = *options,
      .bound = options->accuracy_bound > 0 ? options->accuracy_bound : TENON__ACCURACY_BOUND};
  tenon__made_t made = {.allocator = options->allocator};
  guard.options.kept = NULL;
  guard.options.names_may_lack = true; /* in the second of two ways to build it */
  tenon__arena_initialize(&guard.arena, options->allocator);
  const tenon_status_t status = guard_build(&guard, options, &made);
  if (status == TENON_OK) {
    *out_plan_data = made.data;
    *out_plan_size = made.size_bytes;
  } else {
    tenon__made_free(&made);
  }
  tenon__guard_runs_end(&guard.runs);
  tenon__arena_deinitialize(&guard.arena);
  return status;
}
