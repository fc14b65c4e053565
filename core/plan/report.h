/* What a plan says of itself, as text for people. For the tool's listing and the API's step
 * information: the words are for people, and no code reads them. */
#ifndef TENON_CORE_PLAN_REPORT_H_
#define TENON_CORE_PLAN_REPORT_H_

#include "core/plan/plan.h"

/* "name:1"; of the host the name alone. NULL when memory is out. */
const char* tenon__plan_device_text(const tenon__plan_t* plan, uint32_t device,
                                    tenon__arena_t* arena);

/* Never NULL; "" where there is nothing to say. */
typedef struct tenon__step_report_t {
  const char* kind;       /* "kernel", "copy", "contents", "choose", "repeat", "map" */
  const char* nodes;      /* all that it computes: "first, second" */
  const char* expression; /* what is fused: "max(in0, 0)"; several outputs or slots: "a; b" */
  const char* inputs;     /* "x f32[batch,3,224,224] row-major, w f32[64,3,7,7] row-major" */
  const char* outputs;
  const char* layout; /* of output 0 */
  const char* faults; /* of a choice: a line "'branch' cannot run: why" for each that cannot */
} tenon__step_report_t;

/* Texts lie in the arena. Fails only when memory is out. Nodes in the order in which they depend on
 * each other. */
tenon_status_t tenon__step_describe(const tenon__plan_t* plan, uint32_t graph, uint32_t step,
                                    tenon__arena_t* arena, tenon__step_report_t* out_report);

/* "row-major", "channels last" (0-2-3-1 and likewise for other ranks from 3), "order 0-2-1", a
 * layout's own name; "view" for what lies in another's memory, "channels last, part of joined" for
 * what is written there. NULL when memory is out. */
const char* tenon__place_layout_text(const tenon__plan_t* plan, uint32_t graph, uint32_t place,
                                     tenon__arena_t* arena);
/* "x f32[batch,3,224,224] row-major". NULL when memory is out. */
const char* tenon__place_text(const tenon__plan_t* plan, uint32_t graph, uint32_t place,
                              tenon__arena_t* arena);

#endif
