/*
 * What `tenon inspect` was asked for: the flow is in inspect.c, the text of a plan in inspect_plan.c,
 * its JSON in inspect_json.c, its page in inspect_page.c, and a model that is not built in
 * inspect_model.c.
 */
#ifndef TOOL_COMMAND_INSPECT_H_
#define TOOL_COMMAND_INSPECT_H_

#include <stdio.h>

#include "session/session.h"
#include "session/steps.h"
#include "session/task.h"

/* On the subcommand's stack; filled by tool_options_parse. */
typedef struct inspect_t {
  tool_task_t task;
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
} inspect_t;

/* As text for a person: device, bytes, plugins, inputs and outputs of a plan. */
tenon_status_t inspect_print_plan(const inspect_t* inspect, const tool_execution_t* execution);
/* All of the plan as JSON, steps and blocks of memory too: one object a line. */
tenon_status_t inspect_write_json(FILE* file, const inspect_t* inspect, const tool_steps_t* steps);
/* The page of --html: these objects, and what the page needs besides. */
tenon_status_t inspect_write_page(const inspect_t* inspect, const tool_steps_t* steps);

/* The text of a network, as tool_network_text gives it: not escaped, which is done here. */
void inspect_print_text(const char* text);
/* A model as it is, without building it: inputs, outputs, operators, weights; with `network`
 * also its text. Where nodes lack a converter, what the file says of itself is printed
 * nevertheless, and the status is the parser's. */
tenon_status_t inspect_read_model(const inspect_t* inspect);

#endif
