/* See drawing.h. Boxes are links to the steps' rows. */
#include "page/drawing.h"

#include <stdbool.h>
#include <string.h>

#include "data/element.h"
#include "page/format.h"
#include "page/graph.h"
#include "page/html.h"
#include "text/memory.h"
#include "text/shape_text.h"

static const double box_width = 208;
static const double box_height = 72;
static const double line_height = 15;
static const double gap = 22;
static const double layer_step = 108;
enum { NAME_LIMIT = 30, TEXT_LIMIT = 34, LINES_MAX = 3 };

/* What stands for each node of the graph. */
typedef struct figure_t {
  const tool_facts_t* facts;
  tool_graph_t graph;
  uint32_t* node_of_step; /* TENON_NONE: not in this picture */
  uint32_t* step_of_node; /* TENON_NONE: an input or an output */
  const char** label_of_node;
  const tenon_io_info_t** tensor_of_node; /* of inputs and outputs */
  tenon_io_info_t* tensors;
} figure_t;

static uint32_t add_node(figure_t* figure, uint32_t step, const char* label) {
  const uint32_t node = tool_graph_add_node(&figure->graph, box_width);
  figure->step_of_node[node] = step;
  figure->label_of_node[node] = label;
  return node;
}

/* Does a list of tensors "x f32[1,3] row-major, y ..." hold one called `name`? */
static bool lists_name(const char* list, const char* name) {
  const size_t length = strlen(name);
  if (length > 0) {
    for (const char* at = list; (at = strstr(at, name)) != NULL; ++at) {
      const bool begins = at == list || (at - list >= 2 && at[-1] == ' ' && at[-2] == ',');
      if (begins && at[length] == ' ') {
        return true;
      }
    }
  }
  return false;
}

static uint32_t add_tensor(figure_t* figure, tenon_io_info_t* tensor) {
  const uint32_t node = add_node(figure, TENON_NONE, tensor->name);
  figure->tensor_of_node[node] = tensor;
  return node;
}

static tenon_status_t add_inputs(figure_t* figure) {
  const uint32_t count = tenon_engine_input_count(figure->facts->engine);
  for (uint32_t i = 0; i < count; ++i) {
    figure->tensors[i].size = sizeof(figure->tensors[i]);
    const tenon_status_t status =
        tenon_engine_get_input(figure->facts->engine, i, &figure->tensors[i]);
    if (status != TENON_OK) {
      return status;
    }
    (void)add_tensor(figure, &figure->tensors[i]);
  }
  return TENON_OK;
}

static void add_steps(figure_t* figure, bool bodies) {
  const tool_facts_t* facts = figure->facts;
  for (uint32_t i = 0; i < facts->count; ++i) {
    figure->node_of_step[i] = TENON_NONE;
    if ((facts->steps[i].info.depth > 0) == bodies) {
      figure->node_of_step[i] = add_node(figure, i, facts->steps[i].info.name);
    }
  }
  const uint32_t inputs = bodies ? 0 : tenon_engine_input_count(facts->engine);
  for (uint32_t i = 0; i < facts->count; ++i) {
    const tool_fact_t* fact = &facts->steps[i];
    for (uint32_t k = 0; k < fact->source_count && figure->node_of_step[i] != TENON_NONE; ++k) {
      tool_graph_add_edge(&figure->graph, figure->node_of_step[fact->sources[k]],
                          figure->node_of_step[i]);
    }
    for (uint32_t k = 0; k < inputs && figure->node_of_step[i] != TENON_NONE; ++k) {
      if (lists_name(facts->steps[i].info.inputs, figure->label_of_node[k])) {
        tool_graph_add_edge(&figure->graph, k, figure->node_of_step[i]);
      }
    }
  }
}

/* An output that is a view has another name than what a step writes: it belongs to the first step
 * whose result nothing else reads. */
static void join_view(figure_t* figure, uint32_t node) {
  const tool_graph_t* graph = &figure->graph;
  for (uint32_t from = 0; from < node; ++from) {
    bool is_read = figure->step_of_node[from] == TENON_NONE;
    for (size_t e = 0; e < graph->edge_count && !is_read; ++e) {
      is_read = graph->edges[e].from == from;
    }
    if (!is_read) {
      tool_graph_add_edge(&figure->graph, from, node);
      return;
    }
  }
}

static tenon_status_t add_outputs(figure_t* figure) {
  const tool_facts_t* facts = figure->facts;
  const uint32_t count = tenon_engine_output_count(facts->engine);
  for (uint32_t i = 0; i < count; ++i) {
    tenon_io_info_t* tensor = &figure->tensors[tenon_engine_input_count(facts->engine) + i];
    tensor->size = sizeof(*tensor);
    const tenon_status_t status = tenon_engine_get_output(facts->engine, i, tensor);
    if (status != TENON_OK) {
      return status;
    }
    const uint32_t node = add_tensor(figure, tensor);
    bool found = false;
    for (uint32_t k = 0; k < facts->count; ++k) {
      if (facts->steps[k].info.depth == 0 &&
          lists_name(facts->steps[k].info.outputs, tensor->name)) {
        tool_graph_add_edge(&figure->graph, figure->node_of_step[k], node);
        found = true;
      }
    }
    if (!found) {
      join_view(figure, node);
    }
  }
  return TENON_OK;
}

/* ---- SVG ---- */

static void write_edge(FILE* file, const tool_graph_t* graph, const tool_graph_edge_t* edge) {
  const tool_graph_node_t* from = &graph->nodes[edge->from];
  double x = from->x;
  double y = from->y + box_height;
  (void)fprintf(file, "<path d=\"M%.1f %.1f", x, y);
  for (uint32_t k = edge->bend_begin; k <= edge->bend_end; ++k) {
    const bool last = k == edge->bend_end;
    const tool_graph_node_t* to = &graph->nodes[last ? edge->to : k];
    const double middle = (y + to->y) / 2;
    (void)fprintf(file, " C%.1f %.1f %.1f %.1f %.1f %.1f", x, middle, to->x, middle, to->x, to->y);
    x = to->x;
    y = to->y;
    if (!last) {
      y += box_height;
      (void)fprintf(file, " L%.1f %.1f", x, y);
    }
  }
  (void)fputs("\"/>\n", file);
}

/* ---- What a box says ---- */

typedef struct lines_t {
  char text[LINES_MAX][TOOL_FORMAT_BYTES];
  uint32_t count;
} lines_t;

static void add_line(lines_t* lines, const char* text) {
  if (text[0] != '\0' && lines->count < LINES_MAX) {
    (void)snprintf(lines->text[lines->count++], TOOL_FORMAT_BYTES, "%s", text);
  }
}

/* Lines in the middle of a box: the name, then what is smaller. */
static void write_lines(FILE* file, const tool_graph_node_t* place, const char* name,
                        const lines_t* lines) {
  const double height = line_height * (lines->count + 1);
  double y = place->y + (box_height - height) / 2 + 12;
  (void)fprintf(file, "<text x=\"%.1f\" y=\"%.1f\">", place->x, y);
  const char* end = tool_format_tail(name, NAME_LIMIT);
  (void)fputs(end != name ? "&#8230;" : "", file);
  tool_html_text(file, end, NAME_LIMIT);
  (void)fputs("</text>", file);
  for (uint32_t i = 0; i < lines->count; ++i) {
    y += line_height;
    (void)fprintf(file, "<text class=\"small\" x=\"%.1f\" y=\"%.1f\">", place->x, y);
    tool_html_text(file, lines->text[i], TEXT_LIMIT);
    (void)fputs("</text>", file);
  }
}

static void write_tensor_box(FILE* file, const tool_graph_node_t* place, const char* name,
                             const tenon_io_info_t* tensor) {
  lines_t lines = {.count = 0};
  char shape[TOOL_FORMAT_BYTES] = "";
  char text[TOOL_FORMAT_BYTES];
  if (tensor->kind == TENON_ARGUMENT_TENSOR) {
    tool_shape_print(tensor->rank, tensor->dims, shape, sizeof(shape));
  }
  (void)snprintf(text, sizeof(text), "%s %.200s", tool_dtype_name(tensor->dtype), shape);
  add_line(&lines, text);
  (void)fprintf(file,
                "<g class=\"io\"><rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" "
                "rx=\"24\"/>",
                place->x - box_width / 2, place->y, box_width, box_height);
  write_lines(file, place, name, &lines);
  (void)fputs("</g>\n", file);
}

static void write_step_box(FILE* file, const figure_t* figure, const tool_graph_node_t* place,
                           uint32_t step) {
  const tool_facts_t* facts = figure->facts;
  const tenon_step_info_t* info = &facts->steps[step].info;
  lines_t lines = {.count = 0};
  char text[TOOL_FORMAT_BYTES];
  char time[32];
  char colour[32];
  tool_format_time(facts->steps[step].seconds, time);
  tool_format_colour(facts->longest > 0 ? facts->steps[step].seconds / facts->longest : 0, colour);
  tool_format_others(info, text);
  add_line(&lines, text);
  (void)snprintf(text, sizeof(text), "%.20s, %s",
                 info->kernel[0] != '\0' ? info->kernel : info->kind, time);
  add_line(&lines, text);
  tool_format_tensor(info->outputs, text);
  add_line(&lines, text);
  (void)fprintf(file, "<a href=\"#step%u\"><title>", step);
  tool_html_text(file, info->nodes[0] != '\0' ? info->nodes : info->name, 2000);
  (void)fputs("\n", file);
  tool_html_text(file, info->outputs, 1000);
  (void)fprintf(file,
                "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" rx=\"5\" "
                "style=\"fill:%s\"/>",
                place->x - box_width / 2, place->y, box_width, box_height, colour);
  write_lines(file, place, info->name, &lines);
  (void)fputs("</a>\n", file);
}

static void write_box(FILE* file, const figure_t* figure, uint32_t node) {
  const tool_graph_node_t* place = &figure->graph.nodes[node];
  if (figure->step_of_node[node] == TENON_NONE) {
    write_tensor_box(file, place, figure->label_of_node[node], figure->tensor_of_node[node]);
  } else {
    write_step_box(file, figure, place, figure->step_of_node[node]);
  }
}

static void write_figure(FILE* file, const figure_t* figure) {
  const tool_graph_t* graph = &figure->graph;
  (void)fprintf(
      file,
      "<p class=\"zoom quiet\">zoom <input type=\"range\" min=\"0.2\" max=\"2\" step=\"0.1\" "
      "value=\"1\"></p>\n<div class=\"graph\"><svg xmlns=\"http://www.w3.org/2000/svg\" "
      "width=\"%.0f\" "
      "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n<defs><marker id=\"tip\" "
      "viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" "
      "orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n<g class=\"edges\">\n",
      graph->width, graph->height, graph->width, graph->height);
  for (size_t i = 0; i < graph->edge_count; ++i) {
    write_edge(file, graph, &graph->edges[i]);
  }
  (void)fputs("</g>\n", file);
  for (uint32_t i = 0; i < graph->real_count; ++i) {
    write_box(file, figure, i);
  }
  (void)fputs("</svg></div>\n", file);
}

tenon_status_t tool_drawing_write(FILE* file, const tool_facts_t* facts, bool bodies) {
  const size_t most = (size_t)facts->count + tenon_engine_input_count(facts->engine) +
                      tenon_engine_output_count(facts->engine);
  figure_t figure = {.facts = facts};
  figure.node_of_step = tool_allocate(facts->count, sizeof(uint32_t));
  figure.step_of_node = tool_allocate(most, sizeof(uint32_t));
  figure.label_of_node = tool_allocate(most, sizeof(char*));
  figure.tensor_of_node = tool_allocate(most, sizeof(tenon_io_info_t*));
  figure.tensors = tool_allocate(most - facts->count, sizeof(tenon_io_info_t));
  tenon_status_t status = bodies ? TENON_OK : add_inputs(&figure);
  if (status == TENON_OK) {
    add_steps(&figure, bodies);
    status = bodies ? TENON_OK : add_outputs(&figure);
  }
  if (status == TENON_OK) {
    tool_graph_lay_out(&figure.graph, gap, layer_step, box_height);
    write_figure(file, &figure);
  }
  tool_graph_free(&figure.graph);
  tool_free(figure.node_of_step);
  tool_free(figure.step_of_node);
  tool_free((void*)figure.label_of_node);
  tool_free((void*)figure.tensor_of_node);
  tool_free(figure.tensors);
  return status;
}
