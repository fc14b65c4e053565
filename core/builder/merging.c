/* The sum of all measured steps decides between the network with merged siblings and without. Steps
 * that both have cannot decide: the noise is a share of those that differ. */
#include "core/builder/merging.h"

#include "core/base/noise.h"
#include "core/optimizer/siblings.h"

tenon_status_t tenon__building_may_merge(const tenon__building_t* b, bool* out_may) {
  const tenon__build_options_t* o = b->options;
  *out_may = !o->merges_siblings && !o->no_rewrites && o->optimizer_limit == 0 &&
             !o->tuning.strict && !o->tuning.reference_only &&
             tenon__tuning_may_measure(&b->tuning);
  return *out_may ? tenon__network_has_siblings(b->plan->network, out_may) : TENON_OK;
}

/* Does the step compute a node that the other network lacks? Both were copied from one, so that
 * what they share has the same numbers. */
static bool is_gone(const tenon__step_t* step, const tenon__graph_t* other) {
  for (uint32_t k = 0; k < step->region->covered_count; ++k) {
    const uint32_t node = step->region->covered[k];
    if (node >= other->node_count || !other->nodes[node].alive) {
      return true;
    }
  }
  return false;
}

typedef struct total_t {
  double seconds;
  double gone_seconds; /* of steps that the other lacks */
  bool is_measured;
} total_t;

static total_t total_of(const tenon__plan_t* plan, const tenon__network_t* other) {
  total_t total = {.is_measured = true};
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    const tenon__schedule_t* schedule = &plan->schedules[g];
    for (uint32_t k = 0; k < schedule->step_count; ++k) {
      const tenon__step_t* step = &schedule->steps[k];
      if (step->kind == TENON_STEP_KERNEL) {
        total.is_measured = total.is_measured && step->measured_seconds > 0;
        total.seconds += step->measured_seconds;
        total.gone_seconds += is_gone(step, other->graphs[g]) ? step->measured_seconds : 0;
      }
    }
  }
  return total;
}

bool tenon__building_merging_pays(const tenon__building_t* apart, const tenon__building_t* merged) {
  const total_t a = total_of(apart->plan, merged->plan->network);
  const total_t b = total_of(merged->plan, apart->plan->network);
  return a.is_measured && b.is_measured &&
         a.seconds - b.seconds > TENON_NOISE_SHARE * a.gone_seconds;
}
