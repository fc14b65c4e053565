/* The time of the whole plan decides between streams and one sequence. The timing cache knows both
 * times by a signature of all steps. If they are not known, the plan runs both ways. */
#include "core/builder/streams.h"

#include <string.h>

#include "core/base/noise.h"
#include "core/base/status.h"
#include "core/builder/stream_runs.h"
#include "core/plan/plan_memory.h"
#include "core/plan_file/writer.h"
#include "core/region/region_signature.h"

static bool has_branches(const tenon__plan_t* plan) {
  bool has = false;
  for (uint32_t d = 1; d < plan->device_count && !has; ++d) {
    has = tenon__plan_lane_count(plan, d) > 1;
  }
  return has;
}

/* ---- In the timing cache ---- */

static void add_text(tenon__digest_state_t* state, const char* text) {
  tenon__digest_add(state, text, strlen(text) + 1);
}

static void add_numbers(tenon__digest_state_t* state, const uint32_t* numbers, uint32_t count) {
  tenon__digest_add(state, &count, sizeof count);
  tenon__digest_add(state, numbers, count * sizeof *numbers);
}

/* What it does and where, and which others it waits for. */
static void add_step(tenon__digest_state_t* state, const tenon__step_t* step) {
  const uint32_t numbers[] = {(uint32_t)step->kind, step->device, step->lane};
  add_numbers(state, numbers, 3);
  add_numbers(state, step->inputs, step->input_count);
  add_numbers(state, step->outputs, step->output_count);
  if (step->kind == TENON_STEP_KERNEL) {
    const tenon__digest_t signature = tenon__region_signature(step->region);
    tenon__digest_add(state, &signature, sizeof signature);
    add_text(state, step->plugin);
    add_text(state, step->kernel);
    add_text(state, step->tactic.name);
    if (step->tactic.configuration_size > 0) {
      tenon__digest_add(state, step->tactic.configuration, step->tactic.configuration_size);
    }
  }
}

/* Of the whole plan on these machines. */
static tenon__digest_t sign(const tenon__plan_t* plan) {
  tenon__digest_state_t state;
  tenon__digest_begin(&state);
  add_numbers(&state, &plan->thread_count, 1);
  for (uint32_t d = 0; d < plan->device_count; ++d) {
    add_text(&state, plan->devices[d].fingerprint);
  }
  for (uint32_t k = 0; k < plan->plugin_count; ++k) {
    tenon__digest_add(&state, &plan->plugins[k].digest, sizeof plan->plugins[k].digest);
  }
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    add_numbers(&state, &g, 1);
    for (uint32_t k = 0; k < plan->schedules[g].step_count; ++k) {
      add_step(&state, &plan->schedules[g].steps[k]);
    }
  }
  return tenon__digest_end(&state);
}

static tenon__digest_t make_key(const tenon__digest_t* signature, const char* way) {
  tenon__digest_state_t state;
  tenon__digest_begin(&state);
  tenon__digest_add(&state, signature, sizeof *signature);
  add_text(&state, way);
  return tenon__digest_end(&state);
}

/* False where they are not known and cannot be measured. */
static tenon_status_t find_times(const tenon__building_t* b, const tenon__made_t* made,
                                 tenon__stream_times_t* out_times, bool* out_found) {
  const tenon__digest_t signature = sign(b->plan);
  const tenon__digest_t keys[] = {make_key(&signature, "on streams"),
                                  make_key(&signature, "in a row")};
  tenon__timing_t times[2];
  tenon__timing_cache_t* cache = b->tuning.cache;
  *out_found = true;
  if (tenon__timing_cache_find(cache, &keys[0], &times[0]) &&
      tenon__timing_cache_find(cache, &keys[1], &times[1])) {
    *out_times = (tenon__stream_times_t){times[0].seconds, times[1].seconds};
    return TENON_OK;
  }
  const tenon_status_t status = tenon__building_time_streams(b, made, out_times);
  *out_found = status == TENON_OK && out_times->on_streams > 0 && out_times->in_a_row > 0;
  if (!*out_found) {
    return status == TENON_ERROR_CANCELLED ? status : TENON_OK;
  }
  TENON_TRY(tenon__timing_cache_add(cache, &keys[0],
                                    (tenon__timing_t){.seconds = out_times->on_streams}));
  return tenon__timing_cache_add(cache, &keys[1],
                                 (tenon__timing_t){.seconds = out_times->in_a_row});
}

/* ---- The other way ---- */

/* What is made again from the plan stays so. */
static tenon_status_t put_in_a_row(const tenon__building_t* b, tenon__made_t* made) {
  tenon__plan_t* plan = b->plan;
  for (uint32_t d = 0; d < plan->device_count; ++d) {
    plan->devices[d].lane_limit = 1;
  }
  plan->flags &= ~((uint32_t)TENON_PLAN_BYTE << TENON_PLAN_STREAMS_SHIFT);
  plan->flags |= 1u << TENON_PLAN_STREAMS_SHIFT;
  TENON_TRY(tenon__plan_memory(plan, b->options->sink));
  tenon__made_free(made);
  return tenon__plan_write(plan, made->allocator, b->options->tuning.interrupt, b->options->sink,
                           &made->data, &made->size_bytes);
}

tenon_status_t tenon__building_judge_streams(tenon__building_t* b, tenon__made_t* made) {
  tenon__stream_times_t times;
  bool is_found = false;
  if (!has_branches(b->plan) || !tenon__tuning_may_measure(&b->tuning)) {
    return TENON_OK;
  }
  TENON_TRY(tenon__building_progress(b, "write", 0, 1));
  TENON_TRY(find_times(b, made, &times, &is_found));
  if (!is_found) {
    return TENON_OK;
  }
  const bool pays = times.on_streams < (1 - TENON_NOISE_RUN_SHARE) * times.in_a_row;
  tenon__report(b->options->sink, TENON_SEVERITY_INFO,
                "a run takes %.4g us with branches on streams, %.4g us in a row: %s",
                times.on_streams * 1e6, times.in_a_row * 1e6,
                pays ? "they are on streams" : "they are in a row");
  return pays ? TENON_OK : put_in_a_row(b, made);
}
