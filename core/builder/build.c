/* Building: the whole flow on one screen is `build_plan`, at the end of this file. */
#include "core/builder/build.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/builder/assignments.h"
#include "core/builder/building.h"
#include "core/builder/keep_original.h"
#include "core/builder/made.h"
#include "core/builder/merging.h"
#include "core/builder/streams.h"
#include "core/catalog/exclude.h"
#include "core/choice/choice.h"
#include "core/network/copy.h"
#include "core/network/judge.h"
#include "core/network/verify_rules.h"
#include "core/plan/plan_memory.h"
#include "core/plan_file/writer.h"
#include "core/schedule/schedule.h"

/* ---- Choosing ---- */

/* The units of one graph, unless they are chosen by the times as they are now. */
static tenon_status_t choose_graph(tenon__building_t* b, uint32_t graph, uint32_t* inout_look,
                                   tenon__units_t* inout_units, bool* inout_resolved) {
  if (!tenon__graph_alive(b->plan->network, graph) || *inout_look == b->tuning.look_count) {
    return TENON_OK;
  }
  *inout_resolved = false;
  TENON_TRY(tenon__units_choose(&b->tuning, graph, inout_units));
  *inout_look = b->tuning.look_count;
  return TENON_OK;
}

/* Units of all graphs that are used. Graphs share times: where one has measured again what another
 * has chosen by, the other chooses again, so that the same times always give the same choice. */
static tenon_status_t choose_units(tenon__building_t* b, tenon__units_t* units, uint32_t* looks) {
  const uint32_t count = b->plan->network->graph_count;
  bool is_resolved = false;
  memset(looks, 0xff, count * sizeof(*looks));
  while (!is_resolved) {
    is_resolved = true;
    for (uint32_t g = 0; g < count; ++g) {
      TENON_TRY(choose_graph(b, g, &looks[g], &units[g], &is_resolved));
    }
  }
  return TENON_OK;
}

static tenon_status_t choose(tenon__building_t* b) {
  tenon__plan_t* plan = b->plan;
  plan->schedule_count = plan->network->graph_count;
  plan->schedules =
      tenon__arena_allocate(&plan->arena, plan->schedule_count + 1u, sizeof *plan->schedules);
  tenon__units_t* units =
      tenon__arena_allocate(&plan->arena, plan->schedule_count + 1u, sizeof(*units));
  uint32_t* looks = tenon__arena_allocate(&plan->arena, plan->schedule_count + 1u, sizeof(*looks));
  TENON_TRY_MEMORY(plan->schedules != NULL && units != NULL && looks != NULL);
  TENON_TRY(choose_units(b, units, looks));
  tenon__body_spaces_t spaces;
  TENON_TRY(tenon__body_spaces_find(&b->tuning, units, plan->schedule_count, &spaces));
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    if (tenon__graph_alive(b->plan->network, g)) {
      TENON_TRY(tenon__schedule_make(&b->tuning, g, &spaces, plan, &plan->schedules[g]));
    }
  }
  return TENON_OK;
}

/* ---- Memory ---- */

static tenon_status_t lay_out(tenon__building_t* b) {
  const uint64_t limit = b->options->memory_limit_bytes;
  TENON_TRY(tenon__plan_memory(b->plan, b->options->sink));
  uint64_t needed = 0;
  for (uint32_t d = 0; d < b->plan->device_count; ++d) {
    needed += b->plan->schedules[0].memory_bytes[d] + b->plan->devices[d].scratch_bytes;
  }
  if (limit > 0 && needed > limit) {
    return tenon__fail(b->options->sink, TENON_ERROR_OUT_OF_MEMORY,
                       "activations and workspace need %llu bytes, the limit is %llu",
                       (unsigned long long)needed, (unsigned long long)limit);
  }
  return TENON_OK;
}

/* ---- The flow ---- */

/* From the network to steps, none of them prepared yet. */
static tenon_status_t plan_steps(tenon__building_t* b, const tenon__network_t* network) {
  const tenon_sink_t* sink = b->options->sink;
  TENON_TRY(tenon__exclude_check(b->catalog, b->options->tuning.exclude, sink));
  TENON_TRY(tenon__network_verify(network, sink));
  TENON_TRY(tenon__plan_create(b->allocator, &b->plan));
  TENON_TRY(tenon__network_copy(network, &b->plan->network));
  b->plan->network->interrupt = b->options->tuning.interrupt;
  TENON_TRY(tenon__building_narrow(b));
  TENON_TRY(tenon__network_judge(b->plan->network, sink));
  TENON_TRY(tenon__building_progress(b, "optimise", 0, 1));
  TENON_TRY(tenon__building_begin(b));
  TENON_TRY(tenon__building_keep_original(b));
  TENON_TRY(tenon__building_optimise(b));
  TENON_TRY(tenon__building_fingerprint(b));
  TENON_TRY(tenon__building_profile(b));
  TENON_TRY(tenon__building_assign_nodes(b));
  TENON_TRY(tenon__building_keep_types(b));
  TENON_TRY(tenon__building_progress(b, "choose", 0, 1));
  return choose(b);
}

static tenon_status_t finish_plan(tenon__building_t* b) {
  TENON_TRY(lay_out(b));
  TENON_TRY(tenon__building_explain_types(b));
  tenon__building_report(b);
  TENON_TRY(tenon__building_pack(b));
  TENON_TRY(tenon__building_progress(b, "write", 0, 1));
  return tenon__building_describe(b);
}

/* The better of two plans: with siblings apart, in `b`, and merged where there are any, in `other`.
 * What cannot be built so is left; `other` is empty, and ended by the caller before `b`. */
static tenon_status_t build_plan(tenon__building_t* b, tenon__building_t* other,
                                 tenon__build_options_t* other_options,
                                 const tenon__network_t* network, tenon__building_t** out_better) {
  bool may_merge = false;
  TENON_TRY(plan_steps(b, network));
  *out_better = b;
  TENON_TRY(tenon__building_may_merge(b, &may_merge));
  if (!may_merge) {
    return finish_plan(b);
  }
  *other_options = *b->options;
  other_options->merges_siblings = true;
  other_options->cache = b->tuning.cache;
  other_options->sink = NULL;
  *other = (tenon__building_t){
      .allocator = b->allocator, .catalog = b->catalog, .options = other_options};
  const tenon_status_t status = plan_steps(other, network);
  if (status == TENON_ERROR_OUT_OF_MEMORY || status == TENON_ERROR_CANCELLED) {
    return status;
  }
  if (status != TENON_OK || !tenon__building_merging_pays(b, other)) {
    return finish_plan(b);
  }
  *out_better = other;
  other_options->sink = b->options->sink;
  other->tuning.sink = b->options->sink;
  return finish_plan(other);
}

/* Its bytes, which are the caller's to free whatever this returns. */
static tenon_status_t write_plan(tenon__building_t* b, tenon__made_t* made) {
  TENON_TRY(tenon__plan_write(b->plan, made->allocator, b->options->tuning.interrupt,
                              b->options->sink, &made->data, &made->size_bytes));
  TENON_TRY(tenon__building_judge_streams(b, made));
  return tenon__building_progress(b, "write", 1, 1);
}

tenon_status_t tenon__build(const tenon__network_t* network, tenon__catalog_t* catalog,
                            const tenon__build_options_t* options, void** out_plan_data,
                            size_t* out_plan_size) {
  tenon__building_t b = {.allocator = options->allocator, .catalog = catalog, .options = options};
  tenon__building_t other = {.allocator = options->allocator};
  tenon__build_options_t other_options;
  tenon__made_t made = {.allocator = options->allocator};
  tenon__building_t* better = NULL;
  tenon_status_t status = build_plan(&b, &other, &other_options, network, &better);
  if (status == TENON_OK) {
    status = write_plan(better, &made);
  }
  tenon__building_end(&other);
  tenon__building_end(&b);
  if (status == TENON_OK) {
    *out_plan_data = made.data;
    *out_plan_size = made.size_bytes;
    return TENON_OK;
  }
  tenon__made_free(&made);
  return tenon__interrupt_is_wanted(options->tuning.interrupt)
             ? tenon__fail(options->sink, TENON_ERROR_CANCELLED, "the build was cancelled")
             : status;
}
