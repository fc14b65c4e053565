/*
 * What `tenon inspect` was asked for: the flow is in inspect.c, what it prints of a plan in
 * inspect_plan.c, of a model that is not built in inspect_model.c, the page of --html in page/.
 * Everything goes to standard output as text, or with --json as objects of the same facts.
 */
#ifndef TOOL_COMMAND_INSPECT_H_
#define TOOL_COMMAND_INSPECT_H_

#include "session/common.h"
#include "session/session.h"
#include "session/timing.h"

/* On the subcommand's stack; filled by tool_options_parse. */
typedef struct inspect_t {
  tool_common_t common;
  tool_building_t building;
  tool_feeding_t feeding;
  /* The page's file; "-": standard output, which then holds nothing else. NULL: none. */
  const char* html;
  /* Digests of all weights and plugins are checked: slow, since every byte is read. */
  bool verify;
  /* Steps are not timed here: their times are those of the build, as far as there are any. */
  bool no_run;
  /* After each step, why others were not chosen, as the plan keeps it. */
  bool refusals;
  /* The network's text: of a model as it was read, of a plan what it computes. */
  bool network;
  bool no_build; /* a model is read and not built */
  const char* model;
  const tool_arguments_t* arguments;
} inspect_t;

/* What a plan is and takes: device, bytes, plugins, inputs, outputs. */
tenon_status_t inspect_print_plan(const inspect_t* inspect, const tool_execution_t* execution);
/* All steps, those of bodies too. `timing` NULL: times are those measured when it was built, and
 * that is said. */
tenon_status_t inspect_print_steps(const inspect_t* inspect, const tool_execution_t* execution,
                                   const tool_timing_t* timing);

/* The text of a network, as tool_network_text gives it: not escaped, which is done here. */
void inspect_print_text(const char* text);
/* A model as it is, without building it: inputs, outputs, operators, weights; with `network`
 * also its text. Where nodes lack a converter, what the file says of itself is printed
 * nevertheless, and the status is the parser's. */
tenon_status_t inspect_read_model(const inspect_t* inspect, tenon_registry_t* registry,
                                  const tool_feed_t* feed);

#endif
