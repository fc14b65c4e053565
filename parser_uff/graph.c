/* Links between nodes: inputs are resolved by name, control inputs stay only if they lead to a
 * Switch, and a walk from the outputs finds the order. */
#include "graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

tenon__uff_attribute_t* tenon__uff_attribute(const tenon__uff_node_t* node, const char* name) {
  for (uint32_t i = 0; i < node->attribute_count; ++i) {
    if (strcmp(node->attributes[i].name, name) == 0) {
      return &node->attributes[i];
    }
  }
  return NULL;
}

const char* tenon__uff_node_text(tenon_reader_t* reader, const tenon__uff_node_t* node) {
  const char* text = tenon_reader_format(reader, "%s '%s' (%s)", node->operation, node->name,
                                         tenon__uff_place(reader, node->place));
  return text == NULL ? node->name : text;
}

/* ---- Names ---- */

static tenon_status_t define(tenon_reader_t* reader, tenon__uff_graph_t* graph) {
  for (size_t i = 0; i < graph->node_count; ++i) {
    tenon__uff_node_t* node = &graph->nodes[i];
    if (node->name[0] == '\0') {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s: a node without a name",
                               tenon__uff_node_text(reader, node));
    }
    if (tenon_reader_names_find(&graph->names, node->name) != NULL) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                               "%s: there are two nodes of that name",
                               tenon__uff_node_text(reader, node));
    }
    TENON_READER_TRY(tenon_reader_names_set(reader, &graph->names, node->name, node));
  }
  return TENON_OK;
}

/* "node" or "node:1"; a name that holds a colon itself counts first. */
static tenon_status_t find(tenon_reader_t* reader, const tenon__uff_graph_t* graph,
                           const char* name, tenon__uff_input_t* out_input) {
  const char* colon = strrchr(name, ':');
  *out_input = (tenon__uff_input_t){.name = name};
  out_input->node = tenon_reader_names_find(&graph->names, name);
  if (out_input->node == NULL && colon != NULL && colon[1] >= '0' && colon[1] <= '9') {
    char* end = NULL;
    const unsigned long long index = strtoull(colon + 1, &end, 10);
    const char* stem = tenon_reader_format(reader, "%.*s", (int)(colon - name), name);
    if (stem == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    out_input->node =
        *end == '\0' && index < 65536 ? tenon_reader_names_find(&graph->names, stem) : NULL;
    out_input->index = (uint32_t)index;
  }
  return out_input->node != NULL ? TENON_OK : TENON_ERROR_NOT_FOUND;
}

static tenon_status_t resolve(tenon_reader_t* reader, tenon__uff_graph_t* graph) {
  for (size_t i = 0; i < graph->node_count; ++i) {
    tenon__uff_node_t* node = &graph->nodes[i];
    for (uint32_t k = 0; k < node->input_count; ++k) {
      tenon__uff_input_t* input = &node->inputs[k];
      const tenon_status_t status = find(reader, graph, input->name, input);
      if (status == TENON_ERROR_NOT_FOUND) {
        return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                                 "%s: its input %u is '%s', which no node defines",
                                 tenon__uff_node_text(reader, node), k, input->name);
      }
      TENON_READER_TRY(status);
      input->node->is_used = true;
      if (input->node->output_count <= input->index) {
        input->node->output_count = input->index + 1;
      }
    }
  }
  return TENON_OK;
}

/* From a node to the Switch that it lies behind, over what has one input; index: the side. */
static bool find_switch(const tenon__uff_graph_t* graph, const tenon__uff_node_t* node,
                        tenon__uff_input_t* out_input) {
  for (size_t steps = 0; steps < graph->node_count && node->input_count == 1; ++steps) {
    const tenon__uff_input_t* input = &node->inputs[0];
    if (strcmp(input->node->operation, "Switch") == 0) {
      *out_input = *input;
      return true;
    }
    node = input->node;
  }
  return false;
}

/* What nodes without data wait for, as far as it is a side of a Switch: that decides whether they
 * are of use. The rest goes. */
static void resolve_controls(tenon__uff_graph_t* graph) {
  for (size_t i = 0; i < graph->node_count; ++i) {
    tenon__uff_node_t* node = &graph->nodes[i];
    const uint32_t count = node->control_count;
    node->control_count = 0;
    for (uint32_t k = 0; k < count; ++k) {
      tenon__uff_node_t* waited = tenon_reader_names_find(&graph->names, node->inputs[k].name);
      if (waited != NULL && find_switch(graph, waited, &node->inputs[node->control_count])) {
        waited->is_used = true;
        ++node->control_count;
      }
    }
  }
}

/* ---- Outputs ---- */

/* What does something, or stands for something, and gives no result of the network. */
static bool is_no_result(const tenon__uff_node_t* node) {
  static const char* const types[] = {"Const",  "NoOp",     "Assert", "Placeholder",
                                      "Input",  "Print",    "Assign", "PlaceholderWithDefault",
                                      "SaveV2", "RestoreV2"};
  for (size_t i = 0; i < sizeof(types) / sizeof(*types); ++i) {
    if (strcmp(node->operation, types[i]) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_mark(const tenon__uff_graph_t* graph, const tenon__uff_node_t* node) {
  return !graph->is_tensorflow && strcmp(node->operation, "MarkOutput") == 0;
}

static tenon_status_t add_output(tenon_reader_t* reader, tenon__uff_graph_t* graph,
                                 tenon__uff_input_t output) {
  if (graph->output_count == graph->output_capacity) {
    const uint32_t capacity = 2 * graph->output_capacity + 4;
    tenon__uff_input_t* outputs = tenon_reader_enlarge(reader, graph->outputs, graph->output_count,
                                                       capacity, sizeof(*outputs));
    if (outputs == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    graph->outputs = outputs;
    graph->output_capacity = capacity;
  }
  graph->outputs[graph->output_count++] = output;
  return TENON_OK;
}

/* Names with commas between them. */
static tenon_status_t add_wanted(tenon_reader_t* reader, tenon__uff_graph_t* graph,
                                 const char* names) {
  while (*names != '\0') {
    const size_t length = strcspn(names, ",");
    const char* name = tenon_reader_format(reader, "%.*s", (int)length, names);
    tenon__uff_input_t output;
    if (name == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    const tenon_status_t status = find(reader, graph, name, &output);
    if (status == TENON_ERROR_NOT_FOUND) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_ARGUMENT,
                               "outputs=...: there is no node '%s'", name);
    }
    TENON_READER_TRY(status);
    TENON_READER_TRY(add_output(reader, graph, output));
    if (output.node->output_count <= output.index) {
      output.node->output_count = output.index + 1;
    }
    names += length + (names[length] == ',' ? 1 : 0);
  }
  return TENON_OK;
}

/* All outputs of a node that nobody reads. */
static tenon_status_t add_last(tenon_reader_t* reader, tenon__uff_graph_t* graph,
                               tenon__uff_node_t* node) {
  TENON_READER_TRY(tenon_reader_spend(reader, node->output_count,
                                      sizeof(tenon__uff_input_t) + strlen(node->name)));
  for (uint32_t i = 0; i < node->output_count; ++i) {
    const char* name = i == 0 ? node->name : tenon_reader_format(reader, "%s:%u", node->name, i);
    if (name == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    TENON_READER_TRY(add_output(reader, graph, (tenon__uff_input_t){name, node, i}));
  }
  return TENON_OK;
}

/* What the file marks as outputs. */
static tenon_status_t add_marked(tenon_reader_t* reader, tenon__uff_graph_t* graph) {
  for (size_t i = 0; i < graph->node_count; ++i) {
    const tenon__uff_node_t* node = &graph->nodes[i];
    if (is_mark(graph, node) && node->input_count == 1) {
      TENON_READER_TRY(add_output(reader, graph, node->inputs[0]));
    }
  }
  return TENON_OK;
}

/* What nobody reads. UFF's nodes stand in reverse. */
static tenon_status_t add_unread(tenon_reader_t* reader, tenon__uff_graph_t* graph) {
  for (size_t i = 0; i < graph->node_count; ++i) {
    tenon__uff_node_t* node = &graph->nodes[graph->is_tensorflow ? i : graph->node_count - 1 - i];
    if (!node->is_used && !is_no_result(node) && !is_mark(graph, node)) {
      TENON_READER_TRY(add_last(reader, graph, node));
    }
  }
  return TENON_OK;
}

static tenon_status_t find_outputs(tenon_reader_t* reader, tenon__uff_graph_t* graph,
                                   const char* wanted) {
  TENON_READER_TRY(wanted != NULL ? add_wanted(reader, graph, wanted) : add_marked(reader, graph));
  if (wanted == NULL && graph->output_count == 0) {
    TENON_READER_TRY(add_unread(reader, graph));
  }
  return graph->output_count > 0
             ? TENON_OK
             : TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                                 "it has no outputs: name some (--setting outputs=NODE,NODE)");
}

/* ---- Order ---- */

static tenon_status_t fail_cycle(tenon_reader_t* reader, const tenon__uff_node_t* node) {
  return TENON_READER_FAIL(
      reader, TENON_ERROR_UNSUPPORTED,
      "%s: it depends on itself; loops of TensorFlow 1 (Enter, NextIteration) are not "
      "converted: freeze the graph without them",
      tenon__uff_node_text(reader, node));
}

static uint32_t all_inputs(const tenon__uff_node_t* node) {
  return node->input_count + node->control_count;
}

/* Depth first from one node, with a stack of its own. */
static tenon_status_t walk_from(tenon_reader_t* reader, tenon__uff_graph_t* graph,
                                tenon__uff_node_t** stack, tenon__uff_node_t* root) {
  size_t depth = 0;
  if (root->is_taken) {
    return TENON_OK;
  }
  root->is_taken = true;
  stack[depth++] = root;
  while (depth > 0) {
    tenon__uff_node_t* node = stack[depth - 1];
    if (node->next_input == all_inputs(node)) {
      ++node->next_input; /* done */
      graph->order[graph->order_count++] = node;
      --depth;
      continue;
    }
    tenon__uff_node_t* input = node->inputs[node->next_input++].node;
    if (!input->is_taken) {
      input->is_taken = true;
      stack[depth++] = input;
    } else if (input->next_input <= all_inputs(input)) {
      return fail_cycle(reader, input);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__uff_graph_link(tenon_reader_t* reader, tenon__uff_graph_t* graph,
                                     const char* outputs) {
  TENON_READER_TRY(define(reader, graph));
  TENON_READER_TRY(resolve(reader, graph));
  resolve_controls(graph);
  TENON_READER_TRY(find_outputs(reader, graph, outputs));
  /* Pointers, all of one size: those of the stack and of the order. */
  tenon__uff_node_t** stack = tenon_reader_allocate(reader, graph->node_count, sizeof(void*));
  graph->order = tenon_reader_allocate(reader, graph->node_count, sizeof(void*));
  if (stack == NULL || graph->order == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    TENON_READER_TRY(walk_from(reader, graph, stack, graph->outputs[i].node));
  }
  return TENON_OK;
}
