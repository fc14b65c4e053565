/* What `tenon inspect` was asked for: the flow is in inspect.c, what it prints of a plan in
 * inspect_plan.c, of a model that is not built in inspect_model.c. */
#ifndef TOOL_COMMAND_INSPECT_H_
#define TOOL_COMMAND_INSPECT_H_

#include "session/common.h"
#include "session/session.h"
#include "session/timing.h"

typedef struct inspect_t {
  tool_common_t common;
  tool_building_t building;
  tool_feeding_t feeding;
  const char* html;
  bool verify;
  bool no_run;
  bool refusals;
  bool network;
  bool no_build;
  const char* model;
  const tool_arguments_t* arguments;
} inspect_t;

/* What a plan is and takes: device, bytes, plugins, inputs, outputs. */
tenon_status_t inspect_print_plan(const inspect_t* inspect, const tool_execution_t* execution);
/* All steps; `timing` NULL: as measured when it was built, and said so. */
tenon_status_t inspect_print_steps(const inspect_t* inspect, const tool_execution_t* execution,
                                   const tool_timing_t* timing);

/* The text of a network. */
void inspect_print_text(const char* text);
/* A model as it is, without building it: inputs, outputs, operators, weights; with --network also
 * its text. */
tenon_status_t inspect_read_model(const inspect_t* inspect, tenon_registry_t* registry,
                                  const tool_feed_t* feed);

#endif
