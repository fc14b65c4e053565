/* What `tenon run` was asked for: the flow is in run.c, what is checked before anything is built in
 * run_check.c, what is shown and drawn of the outputs in run_show.c. */
#ifndef TOOL_COMMAND_RUN_H_
#define TOOL_COMMAND_RUN_H_

#include "session/common.h"
#include "session/session.h"
#include "session/timing.h"

typedef struct run_t {
  tool_common_t common;
  tool_building_t building;
  tool_feeding_t feeding;
  const char* output;
  const char* record;
  double rtol;
  double atol;
  uint32_t top;
  const char* labels;
  const char* picture;
  const char* overlay;
  const char* truth;
  double truth_at_least; /* negative: not given */
  bool profile_steps;
  const char* model;
  const tool_arguments_t* arguments;
  tenon_registry_t* registry;
  bool different;
} run_t;

/* What the options alone tell to be impossible: names of pictures, folders, a truth that is none.
 */
tenon_status_t run_check_options(const run_t* run);
/* The same with the data: an overlay needs a picture, and what is read is not written over. */
tenon_status_t run_check_data(const run_t* run, const tool_feed_t* feed);
/* The folder below `base` for a data set; with several each has one of its own. */
char* run_result_folder(const run_t* run, const char* base, const char* data_set);

/* Beside a comparison, outputs are shown where something that shows them is asked for. */
bool run_asks_for_outputs(const run_t* run);
tenon_status_t run_show_outputs(run_t* run, const tool_execution_t* execution,
                                const tool_feed_t* feed);

#endif
