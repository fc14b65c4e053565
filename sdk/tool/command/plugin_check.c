/* tenon plugin check: is a plugin what the contract asks for? */
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "check/check.h"
#include "command/commands.h"
#include "session/task.h"
#include "text/console.h"

typedef struct plugin_check_t {
  tool_task_t task;
  uint32_t seed;
  uint32_t cases;
  uint32_t jobs;
  double seconds;
  const char* only;
} plugin_check_t;

#define FIELD(name) offsetof(plugin_check_t, name)

static const tool_option_t options[] = {
    {"--seed", NULL, "N", TOOL_OPTION_COUNT, FIELD(seed), 0,
     "set the seed of shapes, attributes and numbers (default: 1)"},
    {"--cases", NULL, "N", TOOL_OPTION_POSITIVE, FIELD(cases), 0,
     "draw N cases for each operator of a kernel (default: 24)"},
    {"--seconds", NULL, "S", TOOL_OPTION_AMOUNT, FIELD(seconds), 0,
     "end a check after S seconds, which is then failed (default: 60)"},
    {"--only", NULL, "REGEX", TOOL_OPTION_TEXT, FIELD(only), 0,
     "run only checks whose name and subject match, such as 'values .*softmax'"},
    {"--jobs", "j", "N", TOOL_OPTION_POSITIVE, FIELD(jobs), 0,
     "run N checks at a time (default: the number of processors)"},
};

static tenon_status_t run_plugin_check(void* user) {
  plugin_check_t* self = user;
  uint32_t failed = 0;
  regex_t only;
  tool_console_configure(self->task.common.json, self->task.common.verbose);
  if (self->only != NULL && regcomp(&only, self->only, REG_EXTENDED | REG_NOSUB) != 0) {
    return tool_misuse("--only wants a regular expression, not \"%s\"", self->only);
  }
  check_t check = {.common = &self->task.common,
                   .path = realpath(self->task.model, NULL),
                   .seed = self->seed,
                   .cases = self->cases,
                   .seconds = self->seconds,
                   .jobs = self->jobs > 0 ? self->jobs : (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
                   .only = self->only != NULL ? &only : NULL};
  tenon_status_t status =
      check.path != NULL ? tool_check_run(&check, &failed)
                         : tool_fail(TENON_ERROR_NOT_FOUND, "%s: no such file", self->task.model);
  if (self->only != NULL) {
    regfree(&only);
  }
  free(check.path);
  self->task.different = failed > 0;
  return status;
}

static int plugin_check_command(int argc, char** argv) {
  plugin_check_t self = {.seed = 1, .cases = 24, .seconds = 60};
  const tool_option_group_t groups[] = {TOOL_OPTION_GROUP("checking", options, &self),
                                        TOOL_COMMON_GROUP(&self.task.common)};
  const tool_subcommand_t subcommand = {&tool_command_plugin_check, groups, 2, &self.task,
                                        run_plugin_check,           &self};
  return tool_task_run(&subcommand, argc, argv);
}

const tool_command_t tool_command_plugin_check = {
    .name = "plugin check",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "checks a plugin file against the contract",
    .description =
        "Each check runs in a process of its own and prints one line. The exit status is 0 if all "
        "checks\npassed or were skipped.",
    .examples =
        "  tenon plugin check build/plugins/acme.so\n"
        "  tenon plugin check build/plugins/acme.so --seed 7 --json\n",
    .run = plugin_check_command,
};
