/* What a plan says of itself. Texts grow in a byte writer and are copied into the arena. */
#include "core/plan/report.h"

#include <string.h>

#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/dimension/dimension_text.h"
#include "core/program/program_text.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

typedef struct text_t {
  tenon__byte_writer_t bytes;
  tenon__arena_t* arena;
} text_t;

static void begin(text_t* text, tenon__arena_t* arena) {
  text->arena = arena;
  tenon__byte_writer_initialize(&text->bytes, arena->allocator);
}

/* `piece` NULL: memory was out where it was made. */
static void append(text_t* text, const char* piece) {
  if (piece == NULL) {
    text->bytes.failed = true;
  } else {
    tenon__write_bytes(&text->bytes, piece, strlen(piece));
  }
}

static void append_item(text_t* text, const char* separator, const char* piece) {
  if (text->bytes.size > 0) {
    append(text, separator);
  }
  append(text, piece);
}

/* NULL when memory was out at any time. */
static const char* end(text_t* text) {
  const char* result =
      text->bytes.failed
          ? NULL
          : tenon__arena_copy_text(text->arena, (const char*)text->bytes.data, text->bytes.size);
  tenon__byte_writer_deinitialize(&text->bytes);
  return result;
}

/* ---- Devices ---- */

const char* tenon__plan_device_text(const tenon__plan_t* plan, uint32_t device,
                                    tenon__arena_t* arena) {
  const tenon__plan_device_t* d = &plan->devices[device];
  return device == 0 ? d->name : tenon__arena_format(arena, "%s:%u", d->name, d->index);
}

/* ---- Places ---- */

static bool is_channels_last(uint32_t rank, const uint32_t* order) {
  for (uint32_t k = 0; k < rank; ++k) {
    if (order[k] != (k == 0 ? 0 : k == rank - 1 ? 1 : k + 1)) {
      return false;
    }
  }
  return rank >= 3;
}

static const char* order_text(uint32_t rank, const uint32_t* order, tenon__arena_t* arena) {
  if (tenon__orders_equal(rank, order, NULL)) {
    return "row-major";
  }
  if (is_channels_last(rank, order)) {
    return "channels last";
  }
  text_t text;
  begin(&text, arena);
  for (uint32_t k = 0; k < rank; ++k) {
    append_item(&text, "-", tenon__arena_format(arena, k == 0 ? "order %u" : "%u", order[k]));
  }
  return end(&text);
}

static const char* order_of_place(const tenon__plan_t* plan, uint32_t graph, uint32_t place,
                                  tenon__arena_t* arena) {
  const tenon__place_t* p = &plan->schedules[graph].places[place];
  const tenon__value_node_t* value = &plan->network->graphs[graph]->values[p->value];
  if (value->type.kind != TENON_ARGUMENT_TENSOR || value->type.rank == TENON_NONE) {
    return "row-major";
  }
  switch (p->storage) {
    case TENON_STORAGE_VIEW:
      return "view";
    case TENON_STORAGE_PART:
      return tenon__arena_format(
          arena, "%s, part of %s", order_text(value->type.rank, p->order, arena),
          plan->network->graphs[graph]->values[plan->schedules[graph].places[p->base].value].name);
    case TENON_STORAGE_STATE:
    case TENON_STORAGE_NEXT:
      return tenon__arena_format(arena, "%s, %s state %s",
                                 order_text(value->type.rank, p->order, arena),
                                 p->storage == TENON_STORAGE_STATE ? "in" : "beside",
                                 plan->network->states[p->index].name);
    default:
      break;
  }
  return order_text(value->type.rank, p->order, arena);
}

const char* tenon__place_layout_text(const tenon__plan_t* plan, uint32_t graph, uint32_t place,
                                     tenon__arena_t* arena) {
  const char* text = order_of_place(plan, graph, place, arena);
  const tenon_dtype_t dtype = plan->schedules[graph].places[place].dtype;
  return dtype == TENON_DTYPE_UNDEFINED || text == NULL
             ? text
             : tenon__arena_format(arena, "%s, %s", tenon__dtype_name(dtype), text);
}

static void append_type(text_t* text, const tenon__network_t* network,
                        const tenon__value_node_t* value) {
  if (value->type.kind != TENON_ARGUMENT_TENSOR) {
    append(text, tenon__type_kind_name(value->type.kind));
    append(text, " ");
  }
  append(text, tenon__dtype_name(value->type.dtype));
  if (value->type.rank == TENON_NONE) {
    return;
  }
  append(text, "[");
  for (uint32_t k = 0; k < value->type.rank; ++k) {
    append(text, k == 0 ? "" : ",");
    append(text, tenon__dim_text(network->pool, value->type.dims[k], text->arena));
  }
  append(text, "]");
}

const char* tenon__place_text(const tenon__plan_t* plan, uint32_t graph, uint32_t place,
                              tenon__arena_t* arena) {
  const tenon__value_node_t* value =
      &plan->network->graphs[graph]->values[plan->schedules[graph].places[place].value];
  text_t text;
  begin(&text, arena);
  append(&text, value->name);
  append(&text, " ");
  append_type(&text, plan->network, value);
  if (value->type.kind == TENON_ARGUMENT_TENSOR) {
    append(&text, " ");
    append(&text, tenon__place_layout_text(plan, graph, place, arena));
  }
  return end(&text);
}

/* ---- Steps ---- */

static const char* kind_text(const tenon__step_t* step) {
  switch (step->kind) {
    case TENON_STEP_KERNEL:
      return step->region->covered_count == 0 ? "copy" : "kernel";
    case TENON_STEP_CONTENTS:
      return "contents";
    case TENON_STEP_CHOOSE:
      return "choose";
    case TENON_STEP_REPEAT:
      return "repeat";
    case TENON_STEP_COPY:
      return "copy";
    case TENON_STEP_MAP:
    default:
      return "map";
  }
}

/* Does the node read what node `other` computes? */
static bool reads_from(const tenon__graph_t* graph, uint32_t node, uint32_t other) {
  const tenon__node_t* n = &graph->nodes[node];
  for (uint32_t k = 0; k < n->input_count; ++k) {
    const uint32_t value = n->inputs[k];
    if (value != TENON_NONE && graph->values[value].producer == other) {
      return true;
    }
  }
  return false;
}

/* A step's nodes in an order in which they can be computed: the first of those left that reads from
 * none of them. Steps have few nodes. */
static uint32_t next_node(const tenon__graph_t* graph, uint32_t* left, uint32_t* inout_count) {
  uint32_t chosen = 0;
  for (uint32_t k = 0; k < *inout_count; ++k) {
    bool is_free = true;
    for (uint32_t j = 0; j < *inout_count && is_free; ++j) {
      is_free = j == k || !reads_from(graph, left[k], left[j]);
    }
    if (is_free) {
      chosen = k;
      break;
    }
  }
  const uint32_t node = left[chosen];
  *inout_count -= 1;
  memmove(left + chosen, left + chosen + 1, (*inout_count - chosen) * sizeof *left);
  return node;
}

static const char* nodes_text(const tenon__graph_t* graph, const tenon__step_t* step,
                              tenon__arena_t* arena) {
  if (step->kind == TENON_STEP_COPY) {
    return "";
  }
  if (step->kind != TENON_STEP_KERNEL) {
    return graph->nodes[step->node].name;
  }
  text_t text;
  begin(&text, arena);
  uint32_t count = step->region->covered_count;
  uint32_t* left = tenon__arena_allocate(arena, count + 1u, sizeof *left);
  if (left == NULL) {
    return NULL;
  }
  if (count > 0) {
    memcpy(left, step->region->covered, count * sizeof *left);
  }
  while (count > 0) {
    append_item(&text, ", ", graph->nodes[next_node(graph, left, &count)].name);
  }
  return end(&text);
}

static void append_program(text_t* text, const tenon_program_t* program) {
  for (uint32_t k = 0; k < program->output_count; ++k) {
    append_item(text, "; ", tenon__program_text(program, k, text->arena));
  }
}

/* What stands before an input or goes out by another way than the operator's says so: "before in0:
 * max(value, 0)". */
static void append_slot(text_t* text, const tenon__region_slot_t* slot) {
  const tenon_program_t* program = &slot->expression.program;
  const char* own = tenon__program_text(program, 0, text->arena);
  const char* side = slot->kind == TENON_SLOT_PROLOGUE ? "before in" : "out";
  if (slot->kind == TENON_SLOT_EPILOGUE) {
    append_program(text, program);
  } else {
    append_item(text, "; ",
                own == NULL ? NULL
                            : tenon__arena_format(text->arena, "%s%u: %s", side,
                                                  program->outputs[0].index, own));
  }
}

static const char* expression_text(const tenon__step_t* step, tenon__arena_t* arena) {
  if (step->kind != TENON_STEP_KERNEL) {
    return "";
  }
  text_t text;
  begin(&text, arena);
  if (step->region->expression != NULL) {
    append_program(&text, &step->region->expression->program);
  }
  for (uint32_t k = 0; k < step->region->slot_count; ++k) {
    append_slot(&text, &step->region->slots[k]);
  }
  return end(&text);
}

static const char* places_text(const tenon__plan_t* plan, uint32_t graph, const uint32_t* places,
                               uint32_t count, tenon__arena_t* arena) {
  text_t text;
  begin(&text, arena);
  for (uint32_t k = 0; k < count; ++k) {
    append_item(
        &text, ", ",
        places[k] == TENON_NONE ? "absent" : tenon__place_text(plan, graph, places[k], arena));
  }
  return end(&text);
}

static const char* faults_text(const tenon__network_t* network, const tenon__graph_t* graph,
                               const tenon__step_t* step, tenon__arena_t* arena) {
  if (step->kind != TENON_STEP_CHOOSE) {
    return "";
  }
  text_t text;
  begin(&text, arena);
  for (uint32_t k = 0; k < graph->nodes[step->node].body_count; ++k) {
    const tenon__graph_t* branch = network->graphs[graph->nodes[step->node].bodies[k]];
    if (branch->fault != NULL) {
      append(&text,
             tenon__arena_format(arena, "'%s' cannot run: %s\n", branch->name, branch->fault));
    }
  }
  return end(&text);
}

tenon_status_t tenon__step_describe(const tenon__plan_t* plan, uint32_t graph, uint32_t step,
                                    tenon__arena_t* arena, tenon__step_report_t* out_report) {
  const tenon__step_t* s = &plan->schedules[graph].steps[step];
  const bool has_output = s->output_count > 0 && s->outputs[0] != TENON_NONE;
  const tenon__step_report_t report = {
      .kind = kind_text(s),
      .nodes = nodes_text(plan->network->graphs[graph], s, arena),
      .expression = expression_text(s, arena),
      .inputs = places_text(plan, graph, s->inputs, s->input_count, arena),
      .outputs = places_text(plan, graph, s->outputs, s->output_count, arena),
      .layout = has_output ? tenon__place_layout_text(plan, graph, s->outputs[0], arena) : "",
      .faults = faults_text(plan->network, plan->network->graphs[graph], s, arena),
  };
  TENON_TRY_MEMORY(report.nodes != NULL && report.expression != NULL && report.inputs != NULL &&
                   report.outputs != NULL && report.layout != NULL && report.faults != NULL);
  *out_report = report;
  return TENON_OK;
}
