#include "command/commands.h"
#include "text/console.h"
static int nothing(int argc, char** argv) {
  (void)argc, (void)argv;
  return tool_exit_status(tool_fail(TENON_ERROR_UNSUPPORTED, "later"));
}
const tool_command_t tool_command_bench = {"bench", "", 0, 100, "later", "", "", nothing};
