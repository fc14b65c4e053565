/* Loading a plan, and making its tuned part again. */
#include "core/builder/load.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/builder/build.h"
#include "core/builder/made.h"
#include "core/builder/original.h"
#include "core/catalog/exclude.h"
#include "core/engine/engine.h"
#include "core/plan_file/reader.h"

/* ---- Made again ---- */

static void release_made(void* user) {
  tenon__made_t* made = user;
  const tenon_allocator_t allocator = made->allocator;
  tenon__made_free(made);
  tenon__free(allocator, made, sizeof *made);
}

/* The profile that the plan was built for, input by input; in the plan's arena. */
static tenon_status_t make_ranges(tenon__plan_t* plan, tenon__build_range_t** out_ranges,
                                  uint32_t* out_count) {
  const tenon__graph_t* g = plan->network->graphs[0];
  const tenon__extents_t* const points[] = {&plan->profile.min, &plan->profile.optimum,
                                            &plan->profile.max};
  tenon__build_range_t* ranges =
      tenon__arena_allocate(&plan->arena, g->input_count + 1u, sizeof *ranges);
  *out_count = 0;
  *out_ranges = ranges;
  TENON_TRY_MEMORY(ranges != NULL);
  for (uint32_t k = 0; k < g->input_count; ++k) {
    const tenon__value_node_t* value = &g->values[g->inputs[k]];
    if (value->type.kind != TENON_ARGUMENT_TENSOR || value->type.rank == TENON_NONE) {
      continue;
    }
    int64_t* dims =
        tenon__arena_allocate(&plan->arena, 3u * (size_t)value->type.rank + 1u, sizeof *dims);
    TENON_TRY_MEMORY(dims != NULL);
    for (uint32_t point = 0; point < 3; ++point) {
      (void)tenon__extents_shape(points[point], value->type.rank, value->type.dims,
                                 dims + (size_t)point * value->type.rank);
    }
    ranges[(*out_count)++] = (tenon__build_range_t){.input = value->name,
                                                    .rank = value->type.rank,
                                                    .min = dims,
                                                    .optimum = dims + value->type.rank,
                                                    .max = dims + 2u * (size_t)value->type.rank};
  }
  return TENON_OK;
}

/* What was excluded and is here: what is not need not be. */
static const char* const* find_excluded(const tenon__plan_t* plan, tenon__catalog_t* catalog) {
  const char** kept = tenon__drop_const(plan->original.exclude.items);
  uint32_t count = 0;
  for (uint32_t k = 0; k < plan->original.exclude.count; ++k) {
    const char* const one[] = {kept[k], NULL};
    if (tenon__exclude_check(catalog, one, NULL) == TENON_OK) {
      kept[count++] = kept[k];
    }
  }
  kept[count] = NULL;
  return kept;
}

/* As it was built, but for measuring. */
static tenon_status_t build_again(tenon__plan_t* plan, tenon__catalog_t* catalog,
                                  const tenon_sink_t* sink, tenon__made_t* made) {
  tenon__build_options_t options = tenon__original_options(plan, made->allocator, sink);
  options.tuning.exclude = find_excluded(plan, catalog);
  tenon__build_range_t* ranges = NULL;
  tenon__original_t original = {0};
  TENON_TRY(make_ranges(plan, &ranges, &options.range_count));
  options.ranges = ranges;
  tenon_status_t status = tenon__original_read(plan, catalog, sink, &original);
  if (status == TENON_OK) {
    status = tenon__original_check_weights(&original, plan, sink);
  }
  if (status == TENON_OK) {
    status = tenon__build(original.network, catalog, &options, &made->data, &made->size_bytes);
  }
  tenon__original_deinitialize(&original);
  return status;
}

static tenon_status_t make_again(tenon__catalog_t* catalog, const void* data, size_t size_bytes,
                                 const tenon__engine_options_t* options, tenon__made_t* made) {
  tenon__plan_t* plan = NULL;
  const tenon__plan_source_t source = {
      .data = data, .size_bytes = size_bytes, .find = tenon__original_find, .find_user = catalog};
  TENON_TRY(tenon__plan_read(options->allocator, &source, options->sink, &plan));
  const tenon_status_t status = build_again(plan, catalog, options->sink, made);
  tenon__plan_destroy(plan);
  return status;
}

/* ---- Loading ---- */

static tenon_status_t load_again(tenon__catalog_t* catalog, const void* data, size_t size_bytes,
                                 const tenon__engine_options_t* options,
                                 tenon__engine_t** out_engine) {
  tenon__made_t* made = tenon__allocate(options->allocator, 1, sizeof *made);
  TENON_TRY_MEMORY(made != NULL);
  made->allocator = options->allocator;
  const tenon_status_t status = make_again(catalog, data, size_bytes, options, made);
  if (status != TENON_OK) {
    release_made(made);
    return status;
  }
  tenon__engine_options_t own = *options;
  own.release_data = release_made;
  own.release_user = made;
  return tenon__engine_create(catalog, made->data, made->size_bytes, &own, out_engine);
}

tenon_status_t tenon__load(tenon__catalog_t* catalog, const void* data, size_t size_bytes,
                           const tenon__engine_options_t* options, tenon__engine_t** out_engine,
                           bool* out_made_again) {
  tenon__engine_options_t own = *options;
  bool is_stale = false;
  own.out_is_stale = &is_stale;
  const tenon_status_t first = tenon__engine_create(catalog, data, size_bytes, &own, out_engine);
  *out_made_again = is_stale;
  if (first == TENON_OK || !is_stale) {
    return first;
  }
  tenon__report(
      options->sink, TENON_SEVERITY_WARNING,
      "kernels are chosen and weights packed again for the plugins that are here, without "
      "measuring: it takes time whenever the plan is loaded, and may run slower; build "
      "the plan again");
  own.out_is_stale = NULL;
  const tenon_status_t status = load_again(catalog, data, size_bytes, &own, out_engine);
  return status == TENON_OK
             ? TENON_OK
             : tenon__fail(options->sink, status,
                           "the plan cannot be made again with the plugins that are here: build it "
                           "again, or bring back those that it was built with");
}
