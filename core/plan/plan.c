/* The life of a plan in memory, and what its steps need to run. */
#include "core/plan/plan.h"

#include "core/base/allocator.h"
#include "core/base/status.h"

enum { ALIGNMENT_BYTES = 256 }; /* as devices align what they allocate */

tenon_status_t tenon__plan_create(tenon_allocator_t allocator, tenon__plan_t** out_plan) {
  tenon__plan_t* plan = tenon__allocate(allocator, 1, sizeof *plan);
  TENON_TRY_MEMORY(plan != NULL);
  plan->allocator = allocator;
  plan->device_count = 1;
  plan->devices[0] = (tenon__plan_device_t){.name = "", .fingerprint = ""};
  plan->device = "";
  tenon__arena_initialize(&plan->arena, allocator);
  *out_plan = plan;
  return TENON_OK;
}

void tenon__plan_destroy(tenon__plan_t* plan) {
  if (plan == NULL) {
    return;
  }
  tenon__network_destroy(plan->network);
  tenon__arena_deinitialize(&plan->arena);
  tenon__free(plan->allocator, plan, sizeof *plan);
}

bool tenon__tactic_scratch_bytes(const tenon__step_tactic_t* tactic, uint32_t thread_count,
                                 uint64_t* out_bytes) {
  const uint64_t most = UINT64_MAX / 4; /* leaves room for whoever aligns and adds */
  const uint64_t each = tactic->scratch_bytes_per_thread;
  if (tactic->scratch_bytes > most || (each > 0 && thread_count > most / each)) {
    return false;
  }
  *out_bytes = tactic->scratch_bytes + each * thread_count;
  return *out_bytes <= most;
}

tenon_status_t tenon__plan_name_devices(tenon__plan_t* plan) {
  const char* text = plan->device_count == 1 ? plan->devices[0].name : "";
  for (uint32_t d = 1; d < plan->device_count && text != NULL; ++d) {
    text = tenon__arena_format(&plan->arena, "%s%s%s:%u", text, d == 1 ? "" : ",",
                               plan->devices[d].name, plan->devices[d].index);
  }
  plan->device = text;
  return text == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

uint32_t tenon__plan_main_device(const tenon__plan_t* plan) {
  return plan->device_count > 1 ? 1 : 0;
}

uint32_t tenon__plan_lane_count(const tenon__plan_t* plan, uint32_t device) {
  uint32_t last = 0;
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    const tenon__schedule_t* schedule = &plan->schedules[g];
    for (uint32_t s = 0; s < schedule->step_count; ++s) {
      const tenon__step_t* step = &schedule->steps[s];
      last = step->device == device && step->lane > last ? step->lane : last;
    }
  }
  return last + 1;
}

static bool lane_scratch_bytes(const tenon__plan_t* plan, uint32_t device, uint32_t lane,
                               uint32_t thread_count, uint64_t* out_bytes) {
  uint64_t most = 0;
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    const tenon__schedule_t* schedule = &plan->schedules[g];
    for (uint32_t s = 0; s < schedule->step_count; ++s) {
      const tenon__step_t* step = &schedule->steps[s];
      uint64_t bytes = 0;
      if (step->kind == TENON_STEP_KERNEL && step->device == device && step->lane == lane &&
          !tenon__tactic_scratch_bytes(&step->tactic, thread_count, &bytes)) {
        return false;
      }
      most = bytes > most ? bytes : most;
    }
  }
  *out_bytes = most;
  return true;
}

bool tenon__plan_scratch_bytes(const tenon__plan_t* plan, uint32_t device, uint32_t thread_count,
                               uint64_t* out_bytes, uint64_t out_offsets[TENON_LANE_LIMIT]) {
  const uint32_t count = tenon__plan_lane_count(plan, device);
  uint64_t end = 0;
  for (uint32_t lane = 0; lane < count; ++lane) {
    uint64_t bytes = 0;
    const uint64_t begin = (end + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
    if (!lane_scratch_bytes(plan, device, lane, thread_count, &bytes) ||
        bytes > UINT64_MAX / 4 - begin) {
      return false;
    }
    if (out_offsets != NULL) {
      out_offsets[lane] = begin;
    }
    end = bytes == 0 ? end : begin + bytes;
  }
  *out_bytes = end;
  return true;
}
