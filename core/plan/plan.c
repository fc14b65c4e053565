/* The life of a plan in memory. */
#include "core/plan/plan.h"

#include "core/base/allocator.h"

tenon_status_t tenon__plan_create(tenon_allocator_t allocator, tenon__plan_t** out_plan) {
  tenon__plan_t* plan = tenon__allocate(allocator, 1, sizeof *plan);
  if (plan == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  plan->allocator = allocator;
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
