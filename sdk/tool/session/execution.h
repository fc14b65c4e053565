/* An engine with a context, inputs and outputs: what run, bench, compare and suite have in
 * common. Used by one thread. */
#ifndef TOOL_SESSION_EXECUTION_H_
#define TOOL_SESSION_EXECUTION_H_

#include "data/difference.h"
#include "session/feed.h"
#include "session/model.h"

/* All zeros is none. The names in `inputs` and `outputs` are the engine's. */
typedef struct tool_execution_t {
  tenon_engine_t* engine;
  tenon_context_t* context;
  /* At work in a run: those asked for, else those that the plan was tuned for. */
  uint32_t thread_count;
  double load_seconds; /* engine and context */
  uint32_t input_count;
  tenon_io_info_t* inputs;
  /* One for each input, once fed: set in the context as they lie, so they must not change
   * between runs. */
  tool_value_t* values;
  uint32_t output_count;
  tenon_io_info_t* outputs;
} tool_execution_t;

/* Loads a plan and makes a context. `thread_count` 0: as the plan says. On failure nothing
 * is open, and the library has said why. */
tenon_status_t tool_execution_open(tenon_registry_t* registry, const tool_plan_file_t* file,
                                   uint32_t thread_count, uint32_t verify,
                                   tool_execution_t* out_execution);
/* Takes one that was never opened, if it is all zeros. */
void tool_execution_close(tool_execution_t* execution);

/* Fills and sets all inputs: from the feed, else with seeded random numbers and a warning. An
 * open extent of an input that is not given is, in this order, what `shapes` (may be NULL) says,
 * what another input with the same symbol has, --batch on the first axis, the profile's optimum,
 * 1. A misuse where `shapes` and the inputs contradict; sequences and optionals must be given. */
tenon_status_t tool_execution_feed(tool_execution_t* execution, const tool_feed_t* feed,
                                   const tool_named_shapes_t* shapes);
/* Sets all inputs, once they are fed, in a context of the same engine. */
tenon_status_t tool_execution_set(const tool_execution_t* execution, tenon_context_t* context);
/* Another context instead, with so many threads and no inputs set. */
tenon_status_t tool_execution_renew(tool_execution_t* execution, uint32_t thread_count);
/* One run. `message`: what the bar on a terminal says meanwhile, step by step; NULL: no bar, for
 * what is measured (a bar takes a profiler). CANCELLED after an interrupt, also when the run
 * itself ended well. */
tenon_status_t tool_execution_run(tool_execution_t* execution, const char* message);
/* A copy of output `index` after a run, which the caller frees. */
tenon_status_t tool_execution_get(const tool_execution_t* execution, uint32_t index,
                                  tool_value_t* out_value);
/* DIR/output_<index>_<name>.npy for every output; makes the folder. Of a name, other characters
 * than letters, digits and "-_." become '_', and 120 are kept. */
tenon_status_t tool_execution_write(const tool_execution_t* execution, const char* folder);

/* One recorded output against ours; missing and extra ones are failures too, with the reason in
 * the difference. */
typedef struct tool_verdict_t {
  char* name;
  tool_difference_t difference;
} tool_verdict_t;
typedef struct tool_verdicts_t {
  tool_verdict_t* items;
  size_t count;
  bool equal; /* all of them are */
} tool_verdicts_t;

/* Compares all outputs with output_<i>.pb (or .npy) of a folder; with `batch` above 1 recorded
 * values are repeated along axis 0 where ours are a multiple. A difference is no failure: OK,
 * with equal false. */
tenon_status_t tool_execution_compare(const tool_execution_t* execution, const char* folder,
                                      const tool_tolerance_t* tolerance, int64_t batch,
                                      tool_verdicts_t* out_verdicts);
void tool_verdicts_free(tool_verdicts_t* verdicts);

#endif
