/*
 * What `tenon run` was asked for: the flow is in run.c, what is checked before anything is built in
 * run_check.c, what is shown and drawn of the outputs in run_show.c. A build may take minutes:
 * whatever can be seen to be impossible is said before it.
 */
#ifndef TOOL_COMMAND_RUN_H_
#define TOOL_COMMAND_RUN_H_

#include "session/session.h"
#include "session/task.h"
#include "session/timing.h"

/* On the subcommand's stack; filled by tool_options_parse. */
typedef struct run_t {
  tool_task_t task; /* `different`: a comparison or the truth failed */
  /* Folder for .npy files; `record`: for a data set (.pb), inputs included. With several data
   * sets each has a folder below. */
  const char* output;
  const char* record;
  /* Negative: not given, see data/difference.h. */
  double rtol;
  double atol;
  /* How many classes to name; 0: none, or 5 with `labels`. */
  uint32_t top;
  const char* labels;
  /* A file for the first output as a picture; `overlay`: for input, mask and both. */
  const char* picture;
  const char* overlay;
  /* A class, a .npy of classes, or a picture of a mask: session/truth.h. */
  const char* truth;
  /* Negative: not given; then 1 for a single class, else 0. */
  double truth_at_least;
  bool no_verify;
  bool profile_steps;
  uint32_t repeat; /* 0: once */
} run_t;

/* What the options alone tell to be impossible: names of pictures, folders that cannot be made,
 * two data sets of one name, a truth that is none. Most are misuses. */
tenon_status_t run_check_options(const run_t* run);
/* The same with the data: an overlay needs a picture among the inputs, and what is read (model,
 * parts, data, labels, truth) is not written over. */
tenon_status_t run_check_data(const run_t* run, const tool_feed_t* feed);
/* The folder below `base` for a data set: `base` itself with one, else one of the data set's
 * name. Freed by tool_free. */
char* run_result_folder(const run_t* run, const char* base, const char* data_set);

/* Beside a comparison, outputs are shown only where something that shows them is asked for. */
bool run_asks_for_outputs(const run_t* run);
/* Prints, draws and judges the outputs of the last run; sets run->task.different where the truth is
 * another. */
tenon_status_t run_show_outputs(run_t* run, const tool_execution_t* execution,
                                const tool_feed_t* feed);

#endif
