/* Descriptions of a plan as text, for the tool's listing and the API's step information. They are
 * for people; no code reads them. */
#ifndef TENON_CORE_PLAN_REPORT_H_
#define TENON_CORE_PLAN_REPORT_H_

#include "core/plan/plan.h"

/* Returns "name:1", or the name alone for the host. NULL if out of memory. */
const char* tenon__plan_device_text(const tenon__plan_t* plan, uint32_t device,
                                    tenon__arena_t* arena);

/* Members are never NULL; "" if there is nothing. */
typedef struct tenon__step_report_t {
  const char* kind;       /* "kernel", "copy", "contents", "choose", "repeat", "map" */
  const char* nodes;      /* all nodes that it computes: "first, second" */
  const char* expression; /* fused: "max(in0, 0)"; several outputs or slots: "a; b" */
  const char* inputs;     /* "x f32[batch,3,224,224] row-major, w f32[64,3,7,7] row-major" */
  const char* outputs;
  const char* layout; /* of output 0 */
  const char* faults; /* of an If: a line "'branch' cannot run: reason" for each such branch */
} tenon__step_report_t;

/* Texts are in the arena. Nodes are in the order of their dependencies. Returns OUT_OF_MEMORY
 * only. */
tenon_status_t tenon__step_describe(const tenon__plan_t* plan, uint32_t graph, uint32_t step,
                                    tenon__arena_t* arena, tenon__step_report_t* out_report);

/* Returns "row-major", "channels last" (0-2-3-1, and the same for other ranks from 3), "order
 * 0-2-1", or a layout's own name; "view" for a view of other memory, "channels last, part of
 * joined" for a part that is written there. NULL if out of memory. */
const char* tenon__place_layout_text(const tenon__plan_t* plan, uint32_t graph, uint32_t place,
                                     tenon__arena_t* arena);
/* Returns "x f32[batch,3,224,224] row-major". NULL if out of memory. */
const char* tenon__place_text(const tenon__plan_t* plan, uint32_t graph, uint32_t place,
                              tenon__arena_t* arena);

#endif
