/* What the operators' rules left to the run, looked at whenever extents were learned. */
#include "core/frame/requirements.h"

#include "core/plan/requirements.h"

#include "core/base/status.h"

void tenon__frame_list_requirements(tenon__frame_t* frame) {
  const tenon__plan_t* plan = frame->run->engine->plan;
  uint32_t first = 0;
  while (first < plan->requirement_count && plan->requirements[first].graph != frame->graph) {
    ++first;
  }
  uint32_t end = first;
  while (end < plan->requirement_count && plan->requirements[end].graph == frame->graph) {
    ++end;
  }
  frame->requirements = first < end ? &plan->requirements[first] : NULL;
  frame->requirement_count = end - first;
}

tenon_status_t tenon__frame_check(tenon__frame_t* frame) {
  const tenon__engine_t* engine = frame->run->engine;
  const tenon__extents_t* extents = &frame->run->extents;
  if (frame->checked_version == extents->version) {
    return TENON_OK;
  }
  TENON_TRY(tenon__requirements_check(frame->requirements, frame->requirement_count,
                                      engine->plan->network, extents, "", engine->options.sink));
  frame->checked_version = extents->version;
  return TENON_OK;
}
