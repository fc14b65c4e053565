/* See advice.h. Each sort of finding is a row of a table: which steps it is about, and what a run
 * would gain. */
#include "page/advice.h"

#include <stdio.h>
#include <string.h>

#include "page/format.h"

/* A step is slow that reaches less than this part of what the machine can do, and could come up to
 * what good kernels reach. */
static const double slow_share = 0.5;
static const double good_share = 0.8;
static const double least_gain = 0.005;

/* Seconds to be gained at a step; 0 when the finding is not about it. */
typedef double (*gain_t)(const tool_facts_t* facts, const tool_fact_t* fact);

static double gain_of_reference(const tool_facts_t* facts, const tool_fact_t* fact) {
  (void)facts;
  return (fact->flags & TENON_STEP_IS_REFERENCE) != 0 ? fact->seconds * 0.9 : 0;
}

static double gain_of_constant(const tool_facts_t* facts, const tool_fact_t* fact) {
  (void)facts;
  return (fact->flags & TENON_STEP_IS_CONSTANT) != 0 ? fact->seconds : 0;
}

static double gain_of_copy(const tool_facts_t* facts, const tool_fact_t* fact) {
  (void)facts;
  return (fact->flags & TENON_STEP_IS_COPY) != 0 ? fact->seconds : 0;
}

/* An expression that reads one earlier step, which is a kernel of another sort: it might have been
 * that kernel's epilogue. */
static double gain_of_fusion(const tool_facts_t* facts, const tool_fact_t* fact) {
  if ((fact->flags & TENON_STEP_IS_ELEMENTWISE) == 0 || fact->source_count != 1) {
    return 0;
  }
  const tool_fact_t* source = &facts->steps[fact->sources[0]];
  const bool might =
      strcmp(source->info.kind, "kernel") == 0 && (source->flags & TENON_STEP_IS_ELEMENTWISE) == 0;
  return might ? fact->seconds * 0.8 : 0;
}

static double gain_of_speed(const tool_facts_t* facts, const tool_fact_t* fact) {
  const double share = tool_fact_share(fact);
  (void)facts;
  return share >= 0 && share < slow_share ? fact->seconds - fact->floor_seconds / good_share : 0;
}

typedef struct finding_t {
  gain_t gain;
  const char* one; /* behind "1 step, 3 us, " */
  const char* many;
} finding_t;

/* A step belongs to the first finding that is about it. */
static const finding_t findings[] = {
    {gain_of_reference, "runs on a reference kernel: no faster one accepts it",
     "run on reference kernels: no faster ones accept them"},
    {gain_of_copy, "only changes a layout: kernels beside it ask for different ones",
     "only change layouts: kernels beside them ask for different ones"},
    {gain_of_constant,
     "computes the same in every run: it reads no input, and folding it would make the plan larger",
     "compute the same in every run: they read no input, and folding them would make the plan "
     "larger"},
    {gain_of_fusion,
     "is elementwise arithmetic behind a kernel that might do it as well: its row, and that of the "
     "step before it, say what stands in the way",
     "are elementwise arithmetic behind kernels that might do it as well: their rows, and those of "
     "the steps before them, say what stands in the way"},
    {gain_of_speed, "reaches less than half of what this machine can do",
     "reach less than half of what this machine can do"},
};
enum { FINDING_COUNT = sizeof(findings) / sizeof(findings[0]) };

/* The finding that a step belongs to; FINDING_COUNT: none. */
static uint32_t finding_of(const tool_facts_t* facts, const tool_fact_t* fact, double* out_gain) {
  uint32_t f = fact->info.depth == 0 ? 0 : FINDING_COUNT;
  for (; f < FINDING_COUNT; ++f) {
    *out_gain = findings[f].gain(facts, fact);
    if (*out_gain > 0) {
      break;
    }
  }
  return f;
}

/* Puts a step among the slowest of the advice. */
static void keep_slowest(const tool_facts_t* facts, uint32_t step, tool_advice_t* advice) {
  uint32_t at = advice->step_count < TOOL_ADVICE_STEPS ? advice->step_count++ : TOOL_ADVICE_STEPS;
  for (; at > 0 && facts->steps[advice->steps[at - 1]].seconds < facts->steps[step].seconds; --at) {
    if (at < TOOL_ADVICE_STEPS) {
      advice->steps[at] = advice->steps[at - 1];
    }
  }
  if (at < TOOL_ADVICE_STEPS) {
    advice->steps[at] = step;
  }
}

static bool examine(const tool_facts_t* facts, uint32_t finding, tool_advice_t* advice) {
  uint32_t count = 0;
  double seconds = 0;
  *advice = (tool_advice_t){.seconds = 0};
  for (uint32_t i = 0; i < facts->count; ++i) {
    double gain = 0;
    if (finding_of(facts, &facts->steps[i], &gain) == finding) {
      ++count;
      seconds += facts->steps[i].seconds;
      advice->seconds += gain;
      keep_slowest(facts, i, advice);
    }
  }
  char time[32];
  tool_format_time(seconds, time);
  (void)snprintf(advice->message, sizeof(advice->message), "%u %s, %s, %s", count,
                 count == 1 ? "step" : "steps", time,
                 count == 1 ? findings[finding].one : findings[finding].many);
  return advice->seconds > least_gain * facts->total_seconds;
}

/* What a run takes beyond its steps. */
static bool examine_rest(const tool_facts_t* facts, tool_advice_t* advice) {
  char time[32];
  *advice = (tool_advice_t){.seconds = facts->timing->outside.median};
  tool_format_time(advice->seconds, time);
  (void)snprintf(
      advice->message, sizeof(advice->message),
      "%s of a run pass outside of its steps: inputs and outputs are copied, threads woken", time);
  return advice->seconds > 0.05 * facts->total_seconds;
}

static void insert(const tool_advice_t* advice, tool_advice_t* list, uint32_t* inout_count) {
  uint32_t at = (*inout_count)++;
  for (; at > 0 && list[at - 1].seconds < advice->seconds; --at) {
    list[at] = list[at - 1];
  }
  list[at] = *advice;
}

uint32_t tool_advice_find(const tool_facts_t* facts, tool_advice_t out_advice[TOOL_ADVICE_MOST]) {
  uint32_t count = 0;
  tool_advice_t advice;
  for (uint32_t f = 0; f < FINDING_COUNT; ++f) {
    if (examine(facts, f, &advice)) {
      insert(&advice, out_advice, &count);
    }
  }
  if (facts->timing != NULL && examine_rest(facts, &advice)) {
    insert(&advice, out_advice, &count);
  }
  return count;
}
