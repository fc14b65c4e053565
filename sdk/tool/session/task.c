/* See task.h. */
#include "session/task.h"

#include "text/console.h"

int tool_task_run(const tool_subcommand_t* subcommand, int argc, char** argv) {
  tool_task_t* task = subcommand->task;
  tool_arguments_t arguments = {0};
  int exit_status = TOOL_EXIT_OK;
  if (tool_options_parse(subcommand->command, subcommand->groups, subcommand->group_count, argc,
                         argv, &arguments, &exit_status)) {
    task->model = arguments.operands.count > 0 ? arguments.operands.items[0] : NULL;
    task->arguments = &arguments;
    task->building.prefer = &task->common.prefer;
    const tenon_status_t status = subcommand->run(subcommand->user);
    exit_status =
        status == TENON_OK && task->different ? (int)TOOL_EXIT_DIFFERENT : tool_exit_status(status);
  }
  tool_feed_free(&task->feed);
  tenon_registry_release(task->registry);
  tool_building_free(&task->building);
  tool_feeding_free(&task->feeding);
  tool_list_free(&task->common.plugins);
  tool_list_free(&task->common.prefer);
  tool_arguments_free(&arguments);
  return exit_status;
}
