/* See facts.h. */
#include "page/facts.h"

#include "text/memory.h"

static tenon_status_t collect_step(const tool_execution_t* execution, uint32_t index,
                                   tool_facts_t* facts) {
  tool_fact_t* fact = &facts->steps[index];
  fact->info.size = sizeof(fact->info);
  tenon_status_t status = tenon_engine_get_step(execution->engine, index, &fact->info);
  if (status == TENON_OK) {
    status = tenon_engine_get_step_sources(execution->engine, index, &fact->sources,
                                           &fact->source_count);
  }
  fact->seconds = fact->low = fact->high = fact->info.measured_seconds;
  fact->operations = -1;
  if (status != TENON_OK || facts->timing == NULL) {
    return status;
  }
  tenon_step_work_t work = TENON_OPTIONS(tenon_step_work_t);
  status = tenon_context_get_step_work(execution->context, index, &work);
  if (status == TENON_OK) {
    const tool_spread_t* spread = &facts->timing->steps[index];
    fact->seconds = spread->median;
    fact->low = spread->low;
    fact->high = spread->high;
    fact->operations = work.operations;
    fact->bytes = work.bytes_read + work.bytes_written;
    fact->flags = work.flags;
  }
  return status;
}

/* How long each step would take at the machine's best, which the steps may raise. */
static void find_floors(tool_facts_t* facts) {
  for (uint32_t i = 0; i < facts->count; ++i) {
    const tool_fact_t* fact = &facts->steps[i];
    tool_peak_raise(&facts->peak, fact->seconds > 0 ? fact->operations / fact->seconds : 0);
  }
  for (uint32_t i = 0; i < facts->count; ++i) {
    tool_fact_t* fact = &facts->steps[i];
    fact->floor_seconds = tool_peak_floor(&facts->peak, fact->operations, fact->bytes);
  }
}

tenon_status_t tool_facts_collect(const tool_execution_t* execution, const tool_timing_t* timing,
                                  const tool_peak_t* peak, tool_facts_t* out_facts) {
  tool_facts_t facts = {.engine = execution->engine,
                        .count = tenon_engine_step_count(execution->engine),
                        .timing = timing,
                        .peak = *peak};
  facts.steps = tool_allocate(facts.count, sizeof(*facts.steps));
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < facts.count && status == TENON_OK; ++i) {
    status = collect_step(execution, i, &facts);
    const tool_fact_t* fact = &facts.steps[i];
    facts.total_seconds += fact->info.depth == 0 ? fact->seconds : 0;
    facts.longest = fact->seconds > facts.longest ? fact->seconds : facts.longest;
  }
  if (status != TENON_OK) {
    tool_facts_free(&facts);
    return status;
  }
  find_floors(&facts);
  *out_facts = facts;
  return TENON_OK;
}

void tool_facts_free(tool_facts_t* facts) {
  tool_free(facts->steps);
  facts->steps = NULL;
}

double tool_fact_share(const tool_fact_t* fact) {
  if (fact->floor_seconds <= 0 || fact->seconds <= 0) {
    return -1;
  }
  const double share = fact->floor_seconds / fact->seconds;
  return share > 1 ? 1 : share;
}

const char* tool_fact_bound(const tool_facts_t* facts, const tool_fact_t* fact) {
  return tool_peak_floor(&facts->peak, fact->operations, 0) >
                 tool_peak_floor(&facts->peak, -1, fact->bytes)
             ? "arithmetic"
             : "memory";
}

uint32_t tool_facts_slowest(const tool_facts_t* facts, uint32_t most, uint32_t* out_steps) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < facts->count; ++i) {
    if (facts->steps[i].info.depth > 0) {
      continue;
    }
    uint32_t at = count < most ? count++ : most;
    for (; at > 0 && facts->steps[out_steps[at - 1]].seconds < facts->steps[i].seconds; --at) {
      if (at < most) {
        out_steps[at] = out_steps[at - 1];
      }
    }
    if (at < most) {
      out_steps[at] = i;
    }
  }
  return count;
}
