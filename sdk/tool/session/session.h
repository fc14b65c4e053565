/* A model or plan opened for running: the plan is found or built, loaded, and rebuilt when the
 * cache's copy is damaged. */
#ifndef TOOL_SESSION_SESSION_H_
#define TOOL_SESSION_SESSION_H_

#include "session/execution.h"

typedef struct tool_session_t {
  tool_plan_file_t file;
  tool_execution_t execution;
} tool_session_t;

/* Says where the plan comes from: hit or miss, and how long building and loading took. `verify`: a
 * plan that was not built just now is checked, TENON_VERIFY_*. */
tenon_status_t tool_session_open(tenon_registry_t* registry, const char* model,
                                 const tool_building_t* building, const tool_feed_t* feed,
                                 uint32_t verify, tool_session_t* out_session);
void tool_session_close(tool_session_t* session);

#endif
