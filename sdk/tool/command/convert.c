/* tenon convert: a model in, an ONNX file out. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "command/commands.h"
#include "data/file.h"
#include "export/export.h"
#include "session/common.h"
#include "session/model.h"
#include "text/console.h"
#include "text/json.h"

typedef struct convert_t {
  tool_common_t common;
  tool_building_t building;
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

static tenon_status_t convert_model(convert_t* convert, const char* model,
                                    tenon_registry_t** out_registry) {
  const tool_feed_t feed = {.batch = 0};
  tenon_network_t* network = NULL;
  bool is_plan = false;
  tenon_status_t status = tool_building_prepare(&convert->building);
  if (status == TENON_OK) {
    status = tool_file_is_plan(model, &is_plan);
  }
  if (status == TENON_OK && is_plan) {
    status = tool_misuse("%s: is a plan, which is for running alone", model);
  }
  if (status == TENON_OK && !tool_path_has_suffix(convert->output, ".onnx")) {
    status = tool_misuse("-o %s: the command writes ONNX; use a name that ends with .onnx",
                         convert->output);
  }
  if (status == TENON_OK && convert->building.states.count > 0) {
    status = tool_misuse("--state %s: a file has no states; build the model with it",
                         convert->building.states.items[0]);
  }
  if (status == TENON_OK) {
    status = tool_output_check("-o", convert->output, model, &convert->building, &feed);
  }
  if (status == TENON_OK) {
    status = tool_common_begin(&convert->common, out_registry);
  }
  if (status == TENON_OK) {
    status = tool_network_read(*out_registry, model, &convert->building, &feed, &network);
  }
  if (status == TENON_OK) {
    status = write_model(network, convert);
  }
  tenon_network_destroy(network);
  return status;
}

static int convert_command(int argc, char** argv) {
  convert_t convert = {0};
  tool_arguments_t arguments = {0};
  tenon_registry_t* registry = NULL;
  int exit_status = TOOL_EXIT_OK;
  const tool_option_group_t groups[] = {TOOL_OPTION_GROUP("output", options, &convert),
                                        TOOL_READING_GROUP(&convert.building),
                                        TOOL_COMMON_GROUP(&convert.common)};
  if (tool_options_parse(&tool_command_convert, groups, 3, argc, argv, &arguments, &exit_status)) {
    if (convert.output == NULL) {
      (void)tool_misuse("-o FILE is missing; see tenon convert --help");
      exit_status = TOOL_EXIT_USAGE;
    } else {
      exit_status =
          tool_exit_status(convert_model(&convert, arguments.operands.items[0], &registry));
    }
  }
  tenon_registry_release(registry);
  tool_building_free(&convert.building);
  tool_list_free(&convert.common.plugins);
  tool_arguments_free(&arguments);
  return exit_status;
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
