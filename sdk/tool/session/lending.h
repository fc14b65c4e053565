/* Inputs and outputs of a context in the memory of its plan's device, so that a run is the network
 * alone. What cannot lie there (texts, sequences, outputs that nothing bounds) stays on the host.
 */
#ifndef TOOL_SESSION_LENDING_H_
#define TOOL_SESSION_LENDING_H_

#include "session/execution.h"

/* Memory there; NULL: none. */
typedef struct tool_lent_t {
  void* data;
  size_t size_bytes;
} tool_lent_t;

/* All zeros is none. `execution` and `context` are borrowed. */
typedef struct tool_lending_t {
  const tool_execution_t* execution;
  tenon_context_t* context;
  tool_lent_t* inputs;  /* of each of the engine's */
  tool_lent_t* outputs; /* likewise */
  uint32_t inputs_left; /* on the host */
  uint32_t outputs_left;
} tool_lending_t;

/* Has the plan a device with memory of its own? Its name as the build's options say it, else NULL.
 * The name is the engine's. */
const char* tool_execution_device(const tool_execution_t* execution);

/* Copies the inputs, which are fed, to the device, and has outputs of `context`, one of the
 * execution's engine whose inputs are set, written there. On failure nothing is lent. */
tenon_status_t tool_lending_begin(const tool_execution_t* execution, tenon_context_t* context,
                                  tool_lending_t* out_lending);
/* Gives all of it back: the context has the host's inputs again, and its own outputs. Takes one
 * that never began, if it is all zeros. */
void tool_lending_end(tool_lending_t* lending);

#endif
