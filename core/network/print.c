/*
 * A network as text for people, nodes in order:
 *
 *   input x: f32[batch, 3, 224, 224]
 *   constant w: f32[64, 3, 7, 7]
 *   y: f32[batch, 64, 112, 112] = domain.name/1(x, w, _) {strides=[2, 2]}
 *   output probabilities: y
 *
 * Attributes are shown where they differ from the default. Bodies follow their node, indented.
 */
#include "core/network/print.h"

#include "core/network/order.h"
#include "core/operator/attribute.h"
#include "core/program/program_text.h"

typedef struct printer_t {
  const tenon__network_t* network;
  tenon__arena_t arena;
  void (*write)(void* user, const char* text);
  void* user;
} printer_t;

static void put(const printer_t* printer, const char* text) {
  printer->write(printer->user, text == NULL ? "?" : text);
}

static void indent(const printer_t* printer, uint32_t depth) {
  for (uint32_t i = 0; i < depth; ++i) {
    put(printer, "  ");
  }
}

static void put_line(const printer_t* printer, uint32_t depth, const char* word, const char* text) {
  indent(printer, depth);
  put(printer, word);
  put(printer, text);
  put(printer, "\n");
}

/* NULL when memory is out. */
static const char* between(printer_t* printer, const char* a, const char* sign, const char* b) {
  return b == NULL ? NULL : tenon__arena_format(&printer->arena, "%s%s%s", a, sign, b);
}

static const char* name_of(const tenon__graph_t* graph, uint32_t index) {
  return index < graph->value_count ? graph->values[index].name : "_";
}

static const char* value_text(printer_t* printer, const tenon__graph_t* graph, uint32_t index) {
  if (index >= graph->value_count) {
    return "_";
  }
  const tenon__value_node_t* value = &graph->values[index];
  return between(printer, value->name, ": ",
                 tenon__type_text(printer->network->pool, &value->type, &printer->arena));
}

static void put_attributes(printer_t* printer, const tenon__node_t* node) {
  bool first = true;
  for (uint32_t i = 0; i < node->attribute_count; ++i) {
    const tenon__scope_attribute_t* attribute = &node->attributes[i];
    const bool is_default = node->op != NULL && node->op->defaults != NULL &&
                            i < node->op->descriptor.attribute_count &&
                            tenon__attribute_equal(attribute, &node->op->defaults[i]);
    if (is_default || attribute->kind == TENON_ATTRIBUTE_BODY) {
      continue;
    }
    put(printer, first ? " {" : ", ");
    put(printer,
        between(printer, attribute->name, "=", tenon__attribute_text(attribute, &printer->arena)));
    first = false;
  }
  put(printer, first ? "" : "}");
}

static void put_semantics(printer_t* printer, const tenon__node_t* node) {
  if (node->form == TENON_NODE_EXPRESSION && node->expression != NULL) {
    for (uint32_t i = 0; i < node->expression->program.output_count; ++i) {
      put(printer, i == 0 ? ": " : "; ");
      put(printer, tenon__program_text(&node->expression->program, i, &printer->arena));
    }
  }
  if (node->form == TENON_NODE_MOVE && node->maps != NULL) {
    static const char* const kinds[] = {" linear", " affine", " general"};
    put(printer, kinds[node->maps[0].kind]);
  }
}

static void print_graph(printer_t* printer, uint32_t index, uint32_t depth);

static void print_node(printer_t* printer, const tenon__graph_t* graph, const tenon__node_t* node,
                       uint32_t depth) {
  indent(printer, depth);
  for (uint32_t i = 0; i < node->output_count; ++i) {
    put(printer, i == 0 ? "" : ", ");
    put(printer, value_text(printer, graph, node->outputs[i]));
  }
  put(printer, " = ");
  put(printer, node->op != NULL                      ? node->op->name
               : node->form == TENON_NODE_EXPRESSION ? "expression"
                                                     : "move");
  put(printer, "(");
  for (uint32_t i = 0; i < node->input_count; ++i) {
    put(printer, i == 0 ? "" : ", ");
    put(printer, name_of(graph, node->inputs[i]));
  }
  put(printer, ")");
  put_attributes(printer, node);
  put_semantics(printer, node);
  put(printer, node->contents_only ? "  # by its contents\n" : "\n");
  for (uint32_t i = 0; i < node->body_count; ++i) {
    print_graph(printer, node->bodies[i], depth + 1);
  }
}

static void print_values(printer_t* printer, const tenon__graph_t* graph, uint32_t depth) {
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    put_line(printer, depth, graph->parent == TENON_NONE ? "input " : "parameter ",
             value_text(printer, graph, graph->inputs[i]));
  }
  for (uint32_t i = 0; i < graph->value_count; ++i) {
    const tenon__value_node_t* value = &graph->values[i];
    if (value->alive && (value->weights != TENON_NONE || value->state != TENON_NONE)) {
      put_line(printer, depth, value->weights != TENON_NONE ? "constant " : "state ",
               value_text(printer, graph, i));
    }
  }
}

static void print_results(printer_t* printer, const tenon__graph_t* graph, uint32_t depth) {
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    const char* name = name_of(graph, graph->outputs[i]);
    const bool is_body = graph->parent != TENON_NONE;
    put_line(printer, depth, is_body ? "result " : "output ",
             is_body ? name : between(printer, graph->output_names[i], ": ", name));
  }
}

static void print_graph(printer_t* printer, uint32_t index, uint32_t depth) {
  if (index >= printer->network->graph_count || depth > TENON_RANK_LIMIT) {
    return;
  }
  const tenon__graph_t* graph = printer->network->graphs[index];
  put_line(printer, depth, graph->parent == TENON_NONE ? "graph " : "body ", graph->name);
  if (graph->fault != NULL) {
    put_line(printer, depth + 1, "cannot run: ", graph->fault);
  }
  print_values(printer, graph, depth + 1);
  const uint32_t* order = NULL;
  uint32_t count = 0;
  if (tenon__graph_order(printer->network, index, &printer->arena, NULL, &order, &count) !=
      TENON_OK) {
    put(printer, "  (its nodes have no order)\n");
    count = 0;
  }
  for (uint32_t i = 0; i < count; ++i) {
    print_node(printer, graph, &graph->nodes[order[i]], depth + 1);
  }
  print_results(printer, graph, depth + 1);
}

void tenon__network_print(const tenon__network_t* network,
                          void (*write)(void* user, const char* text), void* user) {
  printer_t printer = {.network = network, .write = write, .user = user};
  tenon__arena_initialize(&printer.arena, network->allocator);
  print_graph(&printer, 0, 0);
  for (uint32_t i = 0; i < network->state_count; ++i) {
    const tenon__state_node_t* state = &network->states[i];
    put_line(&printer, 0, "state ",
             between(&printer, state->name, " <- ", name_of(network->graphs[0], state->update)));
  }
  tenon__arena_deinitialize(&printer.arena);
}
