/* What the steps of a context's last run did. */
#include "core/context/work.h"

#include "core/base/status.h"
#include "core/context/context_state.h"
#include "core/kernel/instance.h"

/* The graph, and the step of its schedule, that have that number over all graphs. */
static void locate(const tenon__plan_t* plan, uint32_t number, uint32_t* out_graph,
                   uint32_t* out_step) {
  uint32_t graph = 0;
  while (number >= plan->schedules[graph].step_count) {
    number -= plan->schedules[graph++].step_count;
  }
  *out_graph = graph;
  *out_step = number;
}

tenon_status_t tenon__context_step_work(const tenon__context_t* context, uint32_t step,
                                        tenon__work_t* out_work, bool* out_is_reference) {
  const tenon__engine_t* engine = context->run.engine;
  uint32_t graph = 0;
  uint32_t index = 0;
  if (step >= engine->step_count) {
    return tenon__fail(engine->options.sink, TENON_ERROR_INVALID_ARGUMENT,
                       "there is no step %u, only %u", step, engine->step_count);
  }
  if (!context->run.frames[0].is_bound) {
    return tenon__fail(engine->options.sink, TENON_ERROR_INVALID_STATE,
                       "the work of a step is known only after a run");
  }
  locate(engine->plan, step, &graph, &index);
  TENON_TRY(tenon__step_work(engine->plan, graph, index, &context->run.extents, out_work));
  const tenon__instance_t* instance = engine->steps[graph][index].instance;
  *out_is_reference = instance != NULL && tenon__instance_is_reference(instance);
  return TENON_OK;
}
