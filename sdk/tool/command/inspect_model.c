/* See inspect.h. */

#include "command/inspect.h"
#include "session/io_text.h"
#include "session/network_facts.h"
#include "text/console.h"
#include "text/json.h"
#include "text/memory.h"
#include "text/units.h"

static void print_io(const char* what, const tenon_io_info_t* info) {
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_io_json(&json, what, info);
    tool_json_end(&json);
    return;
  }
  char* text = tool_io_text(info);
  tool_say("%-9s %s\n", what, text);
  tool_free(text);
}

static tenon_status_t print_all_io(const tenon_network_t* network) {
  tenon_io_info_t info = {.size = sizeof(info)};
  for (uint32_t i = 0; i < tenon_network_input_count(network); ++i) {
    TOOL_TRY(tenon_network_get_input(network, i, &info));
    print_io("input", &info);
  }
  for (uint32_t i = 0; i < tenon_network_output_count(network); ++i) {
    TOOL_TRY(tenon_network_get_output(network, i, &info));
    print_io("output", &info);
  }
  return TENON_OK;
}

static void print_facts_json(const inspect_t* inspect, const tool_network_facts_t* facts) {
  tool_json_t json;
  tool_json_begin(&json, stdout);
  tool_json_text(&json, "model", inspect->task.model);
  tool_json_unsigned(&json, "nodes", facts->node_count);
  tool_json_unsigned(&json, "constants", facts->constant_count);
  tool_json_unsigned(&json, "constant_bytes", facts->constant_bytes);
  tool_json_end(&json);
  for (size_t i = 0; i < facts->op_count; ++i) {
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "operator", facts->ops[i].op);
    tool_json_unsigned(&json, "count", facts->ops[i].count);
    tool_json_end(&json);
  }
}

static void print_facts(const inspect_t* inspect, const tool_network_facts_t* facts) {
  if (tool_console_is_json()) {
    print_facts_json(inspect, facts);
    return;
  }
  tool_say("weights   %u constants, %.2f MiB\n", facts->constant_count,
           tool_mib(facts->constant_bytes));
  tool_say("operators %u nodes of %zu kinds\n", facts->node_count, facts->op_count);
  for (size_t i = 0; i < facts->op_count; ++i) {
    tool_say("%9u %s\n", facts->ops[i].count, facts->ops[i].op);
  }
}

void inspect_print_text(const char* text) {
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_lines(&json, "network", text);
    tool_json_end(&json);
  } else {
    tool_say("%s", text);
  }
}

static void print_node_type(const tenon_node_type_t* type) {
  if (tool_console_is_json()) {
    tool_json_t json;
    tool_json_begin(&json, stdout);
    tool_json_text(&json, "node", type->type);
    tool_json_text(&json, "domain", type->domain);
    tool_json_unsigned(&json, "version", (uint64_t)type->version);
    tool_json_unsigned(&json, "count", type->count);
    tool_json_text(&json, "plugin", type->plugin);
    tool_json_text(&json, "missing", type->message);
    tool_json_end(&json);
    return;
  }
  tool_say("%9u %s%s%s %s%s\n", type->count, type->domain, type->domain[0] != '\0' ? "::" : "",
           type->type, type->is_missing != 0 ? "missing" : "by ",
           type->is_missing != 0 ? "" : type->plugin);
}

/* Of a model that cannot be made a network: what it says of itself. Why it cannot was said. */
static void print_file(const tenon_network_t* network) {
  if (network == NULL ||
      (tenon_network_input_count(network) == 0 && tenon_network_node_type_count(network) == 0)) {
    return;
  }
  tool_say("declared by the file:\n");
  (void)print_all_io(network);
  tool_say("nodes\n");
  for (uint32_t i = 0; i < tenon_network_node_type_count(network); ++i) {
    tenon_node_type_t type = {.size = sizeof(type)};
    if (tenon_network_get_node_type(network, i, &type) == TENON_OK) {
      print_node_type(&type);
    }
  }
}

tenon_status_t inspect_read_model(const inspect_t* inspect) {
  const tool_task_t* task = &inspect->task;
  tenon_network_t* network = NULL;
  tool_network_facts_t facts;
  tenon_status_t status =
      tool_network_read(task->registry, task->model, &task->building, &task->feed, &network);
  if (status != TENON_OK) {
    print_file(network);
    tenon_network_destroy(network);
    return status;
  }
  status = tool_network_facts_find(network, &facts);
  if (status == TENON_OK) {
    status = print_all_io(network);
    if (status == TENON_OK) {
      print_facts(inspect, &facts);
    }
    tool_network_facts_free(&facts);
  }
  if (status == TENON_OK && inspect->network) {
    char* text = tool_network_text(network);
    inspect_print_text(text);
    tool_free(text);
  }
  tenon_network_destroy(network);
  return status;
}
