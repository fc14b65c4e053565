/*
 * Steps in parallel. A device may record consecutive steps on several of its streams (lanes), so
 * that independent steps run at the same time. The plan gives the lane of each step. It does not
 * contain the dependencies: these follow from the memory that a step and its predecessors on all
 * lanes read and write. They are computed here from places, and again from addresses when steps are
 * recorded (step/lanes.h), so that values which share memory one after another also wait for each
 * other.
 *
 * The steps' times decide whether several lanes are used: at least one step must otherwise wait. A
 * long step fills its device alone and stays on lane 0.
 */
#ifndef TENON_CORE_PLAN_BRANCHES_H_
#define TENON_CORE_PLAN_BRANCHES_H_

#include "core/plan/plan.h"

/* Returns true if the step can be recorded according to the plan. The device, and waits for
 * extents, are not considered. */
bool tenon__step_is_recordable(const tenon__schedule_t* schedule, const tenon__step_t* step);

/* One argument of a step. Memory that no step writes during a run is omitted. `begin` and `end` are
 * the memory of its root, or NULL. */
typedef struct tenon__memory_use_t {
  uint32_t place;
  uint32_t root;
  bool writes;
  const char* begin;
  const char* end;
} tenon__memory_use_t;

/* The last step on each lane that is complete before a given point. Numbers of steps count from 1
 * here; 0: none. */
typedef struct tenon__before_t {
  uint32_t steps[TENON_LANE_LIMIT];
} tenon__before_t;

/* Consecutive steps of a schedule, in order: `first` and the next `count` - 1. */
typedef struct tenon__ordering_t {
  const tenon__schedule_t* schedule;
  uint32_t first;
  uint32_t count;
  uint32_t* use_begin; /* count + 1 entries: index of each step's first use */
  tenon__memory_use_t* uses;
  tenon__before_t* done; /* per step: complete at its end, itself included */
  tenon__before_t last;  /* on each lane */
  uint32_t placed_count; /* steps that have a lane already */
} tenon__ordering_t;

/* Lists are in the arena. The caller fills `begin` and `end` of the uses. Returns OUT_OF_MEMORY
 * only. */
tenon_status_t tenon__ordering_begin(tenon__arena_t* arena, const tenon__schedule_t* schedule,
                                     uint32_t first, uint32_t count, tenon__ordering_t* out_order);
/* Finds the predecessors of the next step: on each lane the last step that it needs and that is not
 * already complete according to `inout_known`. Then adds them and their predecessors to
 * `inout_known`. */
void tenon__ordering_needs(const tenon__ordering_t* order, tenon__before_t* inout_known,
                           tenon__before_t* out_needs);
/* Appends the next step to a lane. The steps of `known` are complete before it too. */
void tenon__ordering_place(tenon__ordering_t* order, uint32_t lane, const tenon__before_t* known);

/* Assigns lanes to the steps of one graph, on devices that have several. Previous lanes are
 * ignored. If several lanes do not pay, all steps are on lane 0. The schedule is classified
 * (is_dynamic). Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__branches_find(tenon__plan_t* plan, uint32_t graph, tenon__arena_t* arena);
/* Finds for each step the last step, in the schedule's order, that may run at the same time; the
 * step itself if there is none. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__branches_overlaps(const tenon__schedule_t* schedule, tenon__arena_t* arena,
                                        uint32_t** out_last);

#endif
