/*
 * Steps beside one another. What a device records together may go on several of its streams, lanes:
 * then steps that do not need one another are at work at the same time. The plan says which step is
 * on which lane; what a step has to wait for is not in the plan, but follows from the memory that
 * it and the steps before it read and write, whatever lanes they are on: here by places, and once
 * more by addresses where steps are recorded (step/lanes.h), so that memory which several values
 * have in turn is waited for as well.
 *
 * Lanes are worth what the times of the steps say, one of which at least must be left waiting
 * otherwise. What takes long fills its device by itself and stays on lane 0.
 */
#ifndef TENON_CORE_PLAN_BRANCHES_H_
#define TENON_CORE_PLAN_BRANCHES_H_

#include "core/plan/plan.h"

/* May the step be recorded, as far as the plan knows? The device, and whether it waits for extents,
 * are not asked. */
bool tenon__step_is_recordable(const tenon__schedule_t* schedule, const tenon__step_t* step);

/* One argument of a step. What nobody writes during a run is left out. `begin`, `end`: the memory
 * of its root, NULL while it has none. */
typedef struct tenon__memory_use_t {
  uint32_t place;
  uint32_t root;
  bool writes;
  const char* begin;
  const char* end;
} tenon__memory_use_t;

/* Numbers of steps count from 1 here, 0 is none: what is done before something, on each lane the
 * last step. */
typedef struct tenon__before_t {
  uint32_t steps[TENON_LANE_LIMIT];
} tenon__before_t;

/* Consecutive steps of a schedule, in order: `first` and the `count` - 1 behind it. */
typedef struct tenon__ordering_t {
  const tenon__schedule_t* schedule;
  uint32_t first;
  uint32_t count;
  uint32_t* use_begin; /* count + 1: whose uses begin where */
  tenon__memory_use_t* uses;
  tenon__before_t* done; /* per step: before its end, itself included */
  tenon__before_t last;  /* on each lane */
  uint32_t placed_count; /* steps that are on a lane already */
} tenon__ordering_t;

/* Lists lie in the arena; OUT_OF_MEMORY only. `begin` and `end` of the uses are the caller's to
 * fill in. */
tenon_status_t tenon__ordering_begin(tenon__arena_t* arena, const tenon__schedule_t* schedule,
                                     uint32_t first, uint32_t count, tenon__ordering_t* out_order);
/* For the next step: the latest on each lane that it needs and of which `known`, what it comes
 * behind anyway, does not say that they are done. `inout_known`: and then all that is done before
 * it. */
void tenon__ordering_needs(const tenon__ordering_t* order, tenon__before_t* inout_known,
                           tenon__before_t* out_needs);
/* Puts the next step on a lane, behind what is there; `known` is done before it besides. */
void tenon__ordering_place(tenon__ordering_t* order, uint32_t lane, const tenon__before_t* known);

/* Lanes for the steps of one graph, on devices that have several, whatever lanes they had; where
 * they are not worth it all is on lane 0. Of a schedule that is classified (is_dynamic).
 * OUT_OF_MEMORY only. */
tenon_status_t tenon__branches_find(tenon__plan_t* plan, uint32_t graph, tenon__arena_t* arena);
/* For each step the last one, in the schedule's order, that may be at work at the same time: itself
 * where none is. OUT_OF_MEMORY only. */
tenon_status_t tenon__branches_overlaps(const tenon__schedule_t* schedule, tenon__arena_t* arena,
                                        uint32_t** out_last);

#endif
