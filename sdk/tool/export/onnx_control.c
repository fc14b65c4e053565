/* Control forms: If, Loop and Scan. A body of theirs reads what it captures by the name that it has
 * outside; what it results in gets names of its own, for an output of a graph must be made in it.
 */
#include "export/onnx_node.h"
#include "text/memory.h"

/* A body on its way, and how it lies in its node. */
typedef struct body_t {
  const tool_onnx_node_t* node;
  tool_onnx_file_t file;
  const char* name;     /* of the attribute */
  uint32_t hidden;      /* parameters at the beginning that ONNX has not */
  uint32_t input_count; /* parameters that are inputs of the graph, hidden ones first */
  uint32_t captured;    /* the node's input that the first of the others is */
} body_t;

static void put_end(body_t* body, bool is_input, const char* name, tenon_value_t value,
                    uint32_t rank) {
  const tenon_value_type_t type = tool_export_type_of(body->node->network, value);
  const tenon_io_info_t info = {.name = name, .kind = type.kind, .dtype = type.dtype, .rank = rank};
  tool_onnx_end(&body->file, is_input, &info);
}

/* What is captured is named outside, where it is written if it is a constant. */
static bool call_captured(body_t* body, uint32_t outside, tenon_value_t value) {
  const tool_onnx_node_t* node = body->node;
  node->network->file = node->file;
  const char* name = tool_onnx_source(node, outside);
  node->network->file = &body->file;
  if (name == NULL || name[0] == '\0') {
    return name == NULL ? false : tool_onnx_refuse(node, "a value that it captures is absent");
  }
  tool_export_call(node->network, value, name, NULL);
  return true;
}

static bool call_parameter(void* user, uint32_t index, tenon_value_t value) {
  body_t* body = user;
  tool_export_network_t* network = body->node->network;
  if (index >= body->input_count) {
    return call_captured(body, body->captured + (index - body->input_count), value);
  }
  if (index < body->hidden) {
    tool_export_call(network, value, NULL, "the iteration is read, which a Scan does not tell");
    return true;
  }
  /* A Loop's iteration and condition are scalars; of the others nothing is said. */
  const uint32_t rank = body->hidden == 0 && index < 2 ? 0 : TENON_NONE;
  char* name = tool_export_aside(network, body->node->item, "in");
  tool_export_call(network, value, name, NULL);
  put_end(body, true, name, value, rank);
  tool_free(name);
  return true;
}

static bool put_results(body_t* body, const tool_export_body_t* walk) {
  tool_export_network_t* network = walk->network;
  if (walk->result_count == 0) {
    return tool_onnx_refuse(body->node, "a branch of it cannot run");
  }
  for (uint32_t i = body->hidden > 0 ? 1 : 0; i < walk->result_count; ++i) {
    const char* source = tool_export_result(network, walk->results[i]);
    if (source == NULL) {
      return false;
    }
    char* name = tool_export_aside(network, body->node->item, "out");
    tool_onnx_alias(network->file, name, source);
    put_end(body, false, name, walk->results[i], TENON_NONE);
    tool_free(name);
  }
  return true;
}

/* The body as a graph; false, and the node is refused, when something of it is lacking. */
static bool write_body(body_t* body, uint32_t number, tool_wire_writer_t* out_graph) {
  const tool_onnx_node_t* node = body->node;
  tool_export_body_t walk = {.network = node->network, .parameter = call_parameter, .user = body};
  body->file = (tool_onnx_file_t){.opset = TOOL_ONNX_OPSET};
  node->network->file = &body->file;
  const bool is_done = tool_export_write_body(&walk, number) && put_results(body, &walk);
  node->network->file = node->file;
  if (is_done) {
    *out_graph = tool_onnx_finish_body(&body->file, body->name, node->file);
  }
  tool_onnx_free(&body->file);
  tool_free(walk.results);
  return is_done;
}

static void put_outputs(const tool_onnx_node_t* node, tool_wire_writer_t* writer) {
  const tenon_network_item_t* item = node->item;
  for (uint32_t i = 0; i < item->output_count; ++i) {
    tool_onnx_output(writer,
                     item->outputs[i].id == 0 ? "" : tool_export_target(node->network, item, i));
  }
}

bool tool_onnx_branch(const tool_onnx_node_t* node) {
  static const char* const names[2] = {"then_branch", "else_branch"};
  const char* condition = tool_onnx_source(node, 0);
  tool_wire_writer_t graphs[2] = {{0}};
  bool is_done = condition != NULL;
  for (uint32_t i = 0; i < 2 && is_done; ++i) {
    body_t body = {.node = node, .name = names[i], .captured = 1};
    is_done = write_body(&body, node->item->bodies[i], &graphs[i]);
  }
  if (is_done) {
    tool_wire_writer_t* writer = tool_onnx_node(node->file, node->row->type, 0);
    tool_onnx_name(writer, node->item->name);
    tool_onnx_input(writer, condition);
    put_outputs(node, writer);
    tool_onnx_graph(writer, names[0], &graphs[0]);
    tool_onnx_graph(writer, names[1], &graphs[1]);
  }
  tool_free(graphs[0].data);
  tool_free(graphs[1].data);
  return is_done;
}

/* What a repetition has besides carried and captured values. */
typedef struct repetition_t {
  uint32_t carried;
  uint32_t scanned;
  uint32_t collected;
  const tenon_attribute_t* axes;
  const tenon_attribute_t* directions;
} repetition_t;

static repetition_t read_repetition(const tool_onnx_node_t* node) {
  repetition_t loop = {.carried = (uint32_t)tool_onnx_attribute_int(node, "carried_count"),
                       .scanned = (uint32_t)tool_onnx_attribute_int(node, "scanned_count"),
                       .axes = tool_onnx_attribute(node, "axes"),
                       .directions = tool_onnx_attribute(node, "directions")};
  loop.collected = node->item->output_count - loop.carried;
  return loop;
}

static bool are_zeros(const tenon_attribute_t* list) {
  const size_t count = list == NULL ? 0 : list->count;
  for (size_t i = 0; i < count; ++i) {
    if (list->integers[i] != 0) {
      return false;
    }
  }
  return true;
}

/* Entries of a list for scanned inputs, and those for collected outputs. */
static void put_lists(tool_wire_writer_t* writer, const repetition_t* loop,
                      const tenon_attribute_t* list, const char* inputs, const char* outputs) {
  if (list != NULL && list->count == (size_t)loop->scanned + loop->collected) {
    tool_onnx_ints(writer, inputs, list->integers, loop->scanned);
    tool_onnx_ints(writer, outputs, list->integers + loop->scanned, loop->collected);
  }
}

static bool write_repetition(const tool_onnx_node_t* node, const repetition_t* loop,
                             tool_wire_writer_t* graph) {
  const bool is_scan = loop->scanned > 0;
  const uint32_t first = is_scan ? 2 : 0;
  const uint32_t count = 2 + loop->carried + loop->scanned;
  const char** sources = tool_allocate(count, sizeof(*sources));
  bool is_done = true;
  for (uint32_t i = first; i < count && is_done; ++i) {
    sources[i] = tool_onnx_source(node, i);
    is_done = sources[i] != NULL;
  }
  if (is_done) {
    tool_wire_writer_t* writer = tool_onnx_node(node->file, is_scan ? "Scan" : "Loop", 0);
    tool_onnx_name(writer, node->item->name);
    for (uint32_t i = first; i < count; ++i) {
      tool_onnx_input(writer, sources[i]);
    }
    put_outputs(node, writer);
    tool_onnx_graph(writer, "body", graph);
    if (is_scan) {
      tool_onnx_int(writer, "num_scan_inputs", loop->scanned);
      put_lists(writer, loop, loop->axes, "scan_input_axes", "scan_output_axes");
      put_lists(writer, loop, loop->directions, "scan_input_directions", "scan_output_directions");
    }
  }
  tool_free(sources);
  return is_done;
}

bool tool_onnx_repetition(const tool_onnx_node_t* node) {
  const repetition_t loop = read_repetition(node);
  const bool is_scan = loop.scanned > 0;
  body_t body = {.node = node,
                 .name = "body",
                 .hidden = is_scan ? 2 : 0,
                 .input_count = 2 + loop.carried + loop.scanned,
                 .captured = 2 + loop.carried + loop.scanned};
  tool_wire_writer_t graph = {0};
  if (is_scan ? tool_onnx_has(node, 0) || tool_onnx_has(node, 1)
              : !are_zeros(loop.axes) || !are_zeros(loop.directions)) {
    return tool_onnx_refuse(node, is_scan ? "a Scan has neither a count nor a condition"
                                          : "a Loop collects along the first axis, forward");
  }
  const bool is_done =
      write_body(&body, node->item->bodies[0], &graph) && write_repetition(node, &loop, &graph);
  tool_free(graph.data);
  return is_done;
}
