/* An engine with a context, inputs and outputs: what run, bench, compare and suite have in common.
 */
#ifndef TOOL_SESSION_EXECUTION_H_
#define TOOL_SESSION_EXECUTION_H_

#include "data/difference.h"
#include "session/feed.h"
#include "session/model.h"

typedef struct tool_execution_t {
  tenon_engine_t* engine;
  tenon_context_t* context;
  uint32_t thread_count; /* at work in a run */
  double load_seconds;   /* engine and context */
  uint32_t input_count;
  tenon_io_info_t* inputs;
  tool_value_t* values; /* one for each input */
  uint32_t output_count;
  tenon_io_info_t* outputs;
} tool_execution_t;

/* Loads a plan file and makes a context. */
tenon_status_t tool_execution_open(tenon_registry_t* registry, const char* plan_path,
                                   uint32_t thread_count, tool_execution_t* out_execution);
void tool_execution_close(tool_execution_t* execution);

/* Fills and sets all inputs: from the feed, else with seeded random numbers and a warning. `shapes`
 * may be NULL. */
tenon_status_t tool_execution_feed(tool_execution_t* execution, const tool_feed_t* feed,
                                   const tool_named_shapes_t* shapes);
/* One run. `words`: what the bar on a terminal says meanwhile, step by step; NULL: no bar, for what
 * is measured. CANCELLED after an interrupt. */
tenon_status_t tool_execution_run(tool_execution_t* execution, const char* message);
/* A copy of output `index` after a run. */
tenon_status_t tool_execution_get(const tool_execution_t* execution, uint32_t index,
                                  tool_value_t* out_value);
/* DIR/output_<index>_<name>.npy for every output; makes the folder. */
tenon_status_t tool_execution_write(const tool_execution_t* execution, const char* folder);

/* One recorded output; missing and extra ones are failures too. */
typedef struct tool_verdict_t {
  char* name;
  tool_difference_t difference;
} tool_verdict_t;
typedef struct tool_verdicts_t {
  tool_verdict_t* items;
  size_t count;
  bool equal;
} tool_verdicts_t;

/* Compares all outputs with output_<i>.pb (or .npy) of a folder; recorded values are repeated along
 * axis 0 where the batch is `batch` times as large. */
tenon_status_t tool_execution_compare(const tool_execution_t* execution, const char* folder,
                                      const tool_tolerance_t* tolerance, int64_t batch,
                                      tool_verdicts_t* out_verdicts);
void tool_verdicts_free(tool_verdicts_t* verdicts);

#endif
