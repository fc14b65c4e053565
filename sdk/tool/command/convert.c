/* tenon convert: a model in, an ONNX file out. */
#include <stddef.h>
#include <stdio.h>

#include "command/commands.h"
#include "data/file.h"
#include "export/export.h"
#include "session/model.h"
#include "session/task.h"
#include "text/console.h"
#include "text/json.h"

typedef struct convert_t {
  tool_task_t task;
  const char* output;
} convert_t;

static const tool_option_t options[] = {
    {"--output", "o", "FILE", TOOL_OPTION_TEXT, offsetof(convert_t, output), 0,
     "write this ONNX file"},
};

static tenon_status_t write_model(tenon_network_t* network, const convert_t* convert) {
  tool_pieces_t pieces = {0};
  tenon_status_t status = tool_export_onnx(network, &pieces);
  if (status == TENON_OK) {
    status = tool_file_write_pieces(convert->output, &pieces);
  }
  const size_t size = pieces.size;
  tool_pieces_free(&pieces);
  if (status == TENON_OK && tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "file", convert->output);
    tool_json_text(&json, "format", "ONNX");
    tool_json_unsigned(&json, "bytes", size);
    tool_json_end(&json);
  } else if (status == TENON_OK) {
    tool_say("%s: %zu bytes of ONNX\n", convert->output, size);
  }
  return status;
}

static tenon_status_t convert_model(void* user) {
  convert_t* convert = user;
  tool_task_t* task = &convert->task;
  tenon_network_t* network = NULL;
  bool is_plan = false;
  if (convert->output == NULL) {
    return tool_misuse("-o FILE is missing; see tenon convert --help");
  }
  TOOL_TRY(tool_building_prepare(&task->building));
  TOOL_TRY(tool_file_is_plan(task->model, &is_plan));
  if (is_plan) {
    return tool_misuse("%s: is a plan, which is for running alone", task->model);
  }
  if (!tool_path_has_suffix(convert->output, ".onnx")) {
    return tool_misuse("-o %s: the command writes ONNX; use a name that ends with .onnx",
                       convert->output);
  }
  if (task->building.states.count > 0) {
    return tool_misuse("--state %s: a file has no states; build the model with it",
                       task->building.states.items[0]);
  }
  TOOL_TRY(tool_output_check("-o", convert->output, task->model, &task->building, &task->feed));
  TOOL_TRY(tool_common_begin(&task->common, &task->registry));
  tenon_status_t status =
      tool_network_read(task->registry, task->model, &task->building, &task->feed, &network);
  if (status == TENON_OK) {
    status = write_model(network, convert);
  }
  tenon_network_destroy(network);
  return status;
}

static int convert_command(int argc, char** argv) {
  convert_t convert = {0};
  const tool_option_group_t groups[] = {TOOL_OPTION_GROUP("output", options, &convert),
                                        TOOL_READING_GROUP(&convert.task.building),
                                        TOOL_COMMON_GROUP(&convert.task.common)};
  const tool_subcommand_t subcommand = {&tool_command_convert, groups,        3,
                                        &convert.task,         convert_model, &convert};
  return tool_task_run(&subcommand, argc, argv);
}

const tool_command_t tool_command_convert = {
    .name = "convert",
    .operands = "MODEL",
    .operands_min = 1,
    .operands_max = 1,
    .summary = "writes a model as an ONNX file",
    .description =
        "The network is written as it was read, not optimised. If ONNX has no "
        "counterpart for\nsome nodes, the command lists them and writes nothing.",
    .examples =
        "  tenon convert frozen.pb -o frozen.onnx\n"
        "  tenon convert model.onnx -o fixed.onnx --shapes image:1x1x8x8\n",
    .run = convert_command,
};
