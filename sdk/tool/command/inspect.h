/*
 * The options of `tenon inspect`. inspect.c runs the command, inspect_plan.c prints a plan as text,
 * inspect_json.c as JSON, inspect_page.c as a page, and inspect_model.c prints a model that is not
 * built.
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
  /* The page's file. "-": standard output, which then has nothing else. NULL: none. */
  const char* html;
  /* Check the digests of all weights and plugins, which reads every byte. */
  bool verify;
  /* Do not run the plan. Times of steps are those of the build, if it measured them. */
  bool no_run;
  /* After each step, print the reasons for which other kernels were not chosen. */
  bool refusals;
  /* Print the network's text: of a model as it was read, of a plan after the optimiser. */
  bool network;
  bool no_build; /* a model is read and not built */
} inspect_t;

/* Prints device, bytes, plugins, inputs and outputs of a plan as text. */
tenon_status_t inspect_print_plan(const inspect_t* inspect, const tool_execution_t* execution);
/* Writes the plan with its steps and blocks of memory as JSON, one object per line. */
tenon_status_t inspect_write_json(FILE* file, const inspect_t* inspect, const tool_steps_t* steps);
/* Writes the page of --html: these objects, the network, the title and the machine's best rates. */
tenon_status_t inspect_write_page(const inspect_t* inspect, const tool_steps_t* steps);

/* Prints the text of a network and escapes it. */
void inspect_print_text(const char* text);
/* Prints inputs, outputs, operators and weights of a model without building it, and with `network`
 * its text. If nodes lack a converter, the facts that the file itself gives are printed, and the
 * status is the parser's. */
tenon_status_t inspect_read_model(const inspect_t* inspect);

#endif
