/*
 * Regions in a plan. What the reader gives back is whole: every number in it refers to something
 * that is there, programs read their operands in the types in which they are stored, and accesses
 * are affine. Whether extents fit one another depends on the shapes of a run and is checked when
 * views are aligned.
 */

#include "core/plan_file/region_file.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/plan_file/layout_file.h"
#include "core/plan_file/network_file.h"
#include "core/plan_file/program_file.h"
#include "core/plan_file/slot_check.h"
#include "core/program/program_check.h"
#include "core/region/region.h"
#include "core/region/retype.h"

#define MOST_AXES 64u

/* ---- Writing ---- */

static void write_inputs(const struct tenon_region_t* region, tenon__byte_writer_t* writer) {
  tenon__write_u32(writer, region->input_count);
  for (uint32_t k = 0; k < region->input_count; ++k) {
    const tenon__region_input_t* input = &region->inputs[k];
    tenon__write_u32(writer, input->value);
    tenon__write_u8(writer, (uint8_t)input->dtype);
    tenon__write_u8(writer, input->aligned ? 1 : 0);
    if (input->aligned) {
      tenon__write_u32(writer, input->space);
      tenon__write_u32(writer, input->access.rank);
      tenon__dims_write(input->access.coordinates, input->access.rank, writer);
    }
  }
}

static void write_outputs(const struct tenon_region_t* region, tenon__byte_writer_t* writer) {
  tenon__write_u32(writer, region->output_count);
  for (uint32_t k = 0; k < region->output_count; ++k) {
    const tenon__region_output_t* output = &region->outputs[k];
    tenon__write_u32(writer, output->value);
    tenon__write_u8(writer, (uint8_t)output->dtype);
    tenon__write_u8(writer, output->aligned ? 1 : 0);
    if (output->aligned) {
      tenon__write_u32(writer, output->axis_count);
      tenon__numbers_write(output->axes, output->axis_count, writer);
    }
  }
}

void tenon__region_write(const struct tenon_region_t* region, struct tenon__byte_writer_t* writer) {
  tenon__write_u32(writer, region->kind);
  tenon__write_u32(writer, region->node_count);
  tenon__numbers_write(region->nodes, region->node_count, writer);
  tenon__write_u32(writer, region->covered_count);
  tenon__numbers_write(region->covered, region->covered_count, writer);
  write_inputs(region, writer);
  write_outputs(region, writer);
  tenon__write_u32(writer, region->slot_count);
  for (uint32_t k = 0; k < region->slot_count; ++k) {
    tenon__write_u32(writer, region->slots[k].slot);
    tenon__write_u32(writer, region->slots[k].kind);
    tenon__write_u32(writer, region->slots[k].index);
    tenon__expression_write(&region->slots[k].expression, writer);
  }
  if (region->kind == TENON_REGION_EXPRESSION) {
    tenon__expression_write(region->expression, writer);
  } else if (region->kind == TENON_REGION_MOVE) {
    tenon__index_map_write(region->map, writer);
  }
}

/* ---- Reading ---- */

typedef struct region_reader_t {
  tenon__byte_reader_t* bytes;
  const tenon__network_t* network;
  const tenon__graph_t* graph;
  tenon__arena_t* arena;
  const tenon_sink_t* sink;
  struct tenon_region_t region;
} region_reader_t;

static tenon_status_t broken(const region_reader_t* r, const char* what) {
  return tenon__fail(r->sink, TENON_ERROR_INVALID_DATA,
                     "the plan is broken: in a region of '%s', %s", r->graph->name, what);
}

/* A helper's silent refusal in words. */
static tenon_status_t said(const region_reader_t* r, tenon_status_t status, const char* what) {
  return status == TENON_ERROR_INVALID_DATA ? broken(r, what) : status;
}

static const tenon__value_node_t* value_of(const region_reader_t* r, uint32_t value) {
  return &r->graph->values[value];
}

/* One of the graph's, or none. */
static bool is_value(const region_reader_t* r, uint32_t value) {
  return value == TENON_NONE || (value < r->graph->value_count && r->graph->values[value].alive);
}

/* A tensor whose rank is known. */
static bool is_tensor(const tenon__value_node_t* value) {
  return value->type.kind == TENON_ARGUMENT_TENSOR && value->type.rank <= MOST_AXES;
}

static tenon_status_t read_nodes(region_reader_t* r, uint32_t* out_count,
                                 const uint32_t** out_nodes) {
  uint32_t* nodes = NULL;
  *out_count = tenon__read_count(r->bytes, sizeof(uint32_t));
  TENON_TRY(
      said(r, tenon__numbers_read(r->bytes, *out_count, r->arena, &nodes), "nodes end early"));
  for (uint32_t k = 0; k < *out_count; ++k) {
    if (nodes[k] >= r->graph->node_count || !r->graph->nodes[nodes[k]].alive) {
      return broken(r, "a node is none of the graph's");
    }
  }
  *out_nodes = nodes;
  return TENON_OK;
}

static tenon_status_t read_access(region_reader_t* r, tenon__region_input_t* input) {
  input->space = tenon__read_u32(r->bytes);
  input->access.rank = tenon__read_u32(r->bytes);
  if (r->bytes->failed || input->value == TENON_NONE || !is_tensor(value_of(r, input->value)) ||
      input->access.rank != value_of(r, input->value)->type.rank) {
    return broken(r, "an access does not have the rank of its value");
  }
  return said(r,
              tenon__dims_read(r->bytes, r->network->pool, input->access.rank, r->arena,
                               &input->access.coordinates),
              "an access has broken coordinates");
}

/* The value's own type, or one that its elements may be in between two steps. */
static bool may_be_kept_as(const region_reader_t* r, uint32_t value, tenon_dtype_t dtype) {
  return dtype == TENON_DTYPE_UNDEFINED ||
         (value != TENON_NONE && is_tensor(value_of(r, value)) &&
          tenon__dtype_may_be_kept_as(value_of(r, value)->type.dtype, dtype));
}

static tenon_status_t read_inputs(region_reader_t* r) {
  const uint32_t count = tenon__read_count(r->bytes, 6);
  if (count > TENON_REGION_MOST_ARGUMENTS) {
    return broken(r, "there are too many inputs");
  }
  tenon__region_input_t* inputs = tenon__arena_allocate(r->arena, count, sizeof *inputs);
  TENON_TRY_MEMORY(inputs != NULL);
  for (uint32_t k = 0; k < count; ++k) {
    inputs[k].value = tenon__read_u32(r->bytes);
    inputs[k].dtype = tenon__read_u8(r->bytes);
    inputs[k].aligned = tenon__read_u8(r->bytes) != 0;
    if (r->bytes->failed || !is_value(r, inputs[k].value)) {
      return broken(r, "an input is none of the graph's values");
    }
    if (!may_be_kept_as(r, inputs[k].value, inputs[k].dtype)) {
      return broken(r, "an input is in a type that its value cannot be kept in");
    }
    TENON_TRY(inputs[k].aligned ? read_access(r, &inputs[k]) : TENON_OK);
  }
  r->region.input_count = count;
  r->region.inputs = inputs;
  return TENON_OK;
}

static tenon_status_t read_axes(region_reader_t* r, tenon__region_output_t* output) {
  uint32_t* axes = NULL;
  output->axis_count = tenon__read_u32(r->bytes);
  if (r->bytes->failed || output->value == TENON_NONE || !is_tensor(value_of(r, output->value)) ||
      output->axis_count != value_of(r, output->value)->type.rank) {
    return broken(r, "an aligned output does not have the rank of its value");
  }
  TENON_TRY(said(r, tenon__numbers_read(r->bytes, output->axis_count, r->arena, &axes),
                 "axes end early"));
  uint64_t seen = 0;
  for (uint32_t k = 0; k < output->axis_count; ++k) {
    if (axes[k] >= MOST_AXES || ((seen >> axes[k]) & 1u) != 0) {
      return broken(r, "an output runs twice along an axis, or along none");
    }
    seen |= UINT64_C(1) << axes[k];
  }
  output->axes = axes;
  return TENON_OK;
}

static tenon_status_t read_outputs(region_reader_t* r) {
  const uint32_t count = tenon__read_count(r->bytes, 6);
  if (count > TENON_REGION_MOST_ARGUMENTS) {
    return broken(r, "there are too many outputs");
  }
  tenon__region_output_t* outputs = tenon__arena_allocate(r->arena, count, sizeof *outputs);
  TENON_TRY_MEMORY(outputs != NULL);
  for (uint32_t k = 0; k < count; ++k) {
    outputs[k].value = tenon__read_u32(r->bytes);
    outputs[k].dtype = tenon__read_u8(r->bytes);
    outputs[k].aligned = tenon__read_u8(r->bytes) != 0;
    if (r->bytes->failed || !is_value(r, outputs[k].value)) {
      return broken(r, "an output is none of the graph's values");
    }
    if (!may_be_kept_as(r, outputs[k].value, outputs[k].dtype)) {
      return broken(r, "an output is in a type that its value cannot be kept in");
    }
    TENON_TRY(outputs[k].aligned ? read_axes(r, &outputs[k]) : TENON_OK);
  }
  r->region.output_count = count;
  r->region.outputs = outputs;
  return TENON_OK;
}

/* ---- Programs ---- */

static bool operands_fit(const region_reader_t* r, const tenon__expression_t* expression,
                         uint32_t space) {
  const tenon_program_t* program = &expression->program;
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    const tenon_operand_t* operand = &program->operands[k];
    if (operand->kind == TENON_OPERAND_SLOT_VALUE) {
      if (space == TENON_SPACE_PROGRAM || operand->indexed != 0) {
        return false;
      }
      continue;
    }
    if (operand->kind != TENON_OPERAND_ARGUMENT || operand->index >= r->region.input_count) {
      return false;
    }
    const tenon__region_input_t* input = &r->region.inputs[operand->index];
    if (input->value == TENON_NONE || !is_tensor(value_of(r, input->value)) ||
        tenon__region_input_dtype(&r->region, operand->index, NULL) != operand->dtype ||
        input->aligned != (operand->indexed == 0) || (input->aligned && input->space != space) ||
        (operand->indexed != 0 &&
         !tenon__program_loads_fit(program, k, value_of(r, input->value)->type.rank))) {
      return false;
    }
  }
  return true;
}

/* Each output of the program is one of the region's, in its type; those of the program itself are
 * aligned, along the axes that the program says. What a prologue makes is none. */
static bool outputs_fit(const region_reader_t* r, const tenon__expression_t* expression,
                        bool are_aligned) {
  const tenon_program_t* program = &expression->program;
  for (uint32_t k = 0; k < program->output_count; ++k) {
    const uint32_t index = program->outputs[k].index;
    if (index >= r->region.output_count || (are_aligned && index != k)) {
      return false;
    }
    const tenon__region_output_t* output = &r->region.outputs[index];
    if (output->value == TENON_NONE || !is_tensor(value_of(r, output->value)) ||
        tenon__region_output_dtype(&r->region, index, NULL) != program->outputs[k].dtype ||
        output->aligned != are_aligned) {
      return false;
    }
    if (are_aligned && (output->axis_count != expression->output_ranks[k] ||
                        memcmp(output->axes, expression->output_axes[k],
                               output->axis_count * sizeof *output->axes) != 0)) {
      return false;
    }
  }
  return program->output_count > 0;
}

/* `slot`: NULL: the region's own program. */
static tenon_status_t read_expression(region_reader_t* r, const tenon__region_slot_t* slot,
                                      tenon__expression_t* out_expression) {
  const uint32_t space = slot == NULL ? TENON_SPACE_PROGRAM : slot->slot;
  const bool is_prologue = slot != NULL && slot->kind == TENON_SLOT_PROLOGUE;
  TENON_TRY(tenon__expression_read(r->bytes, r->network->pool, r->arena, r->sink, out_expression));
  if (out_expression->program.rank > MOST_AXES || !operands_fit(r, out_expression, space) ||
      (!is_prologue && !outputs_fit(r, out_expression, slot == NULL)) ||
      (slot == NULL && out_expression->program.output_count != r->region.output_count)) {
    return broken(r, "a program does not fit the arguments");
  }
  return TENON_OK;
}

static tenon_status_t read_slots(region_reader_t* r) {
  const uint32_t count = tenon__read_count(r->bytes, 16);
  tenon__region_slot_t* slots = tenon__arena_allocate(r->arena, count, sizeof *slots);
  TENON_TRY_MEMORY(slots != NULL);
  if (count > MOST_AXES || (count > 0 && r->region.kind != TENON_REGION_OPERATOR)) {
    return broken(r, "there are slots where no kernel can have any");
  }
  for (uint32_t k = 0; k < count; ++k) {
    slots[k].slot = tenon__read_u32(r->bytes);
    slots[k].kind = tenon__read_u32(r->bytes);
    slots[k].index = tenon__read_u32(r->bytes);
    if (slots[k].slot == TENON_SPACE_PROGRAM) {
      return broken(r, "a slot has no number");
    }
    if (tenon__slot_is_filled(slots, k, &slots[k])) {
      return broken(r, "a slot is filled twice");
    }
    TENON_TRY(read_expression(r, &slots[k], &slots[k].expression));
    if (!tenon__slot_fits(&r->region, &slots[k])) {
      return broken(r, "what fills a slot does not fit where it is");
    }
  }
  r->region.slot_count = count;
  r->region.slots = slots;
  return TENON_OK;
}

/* Aligned inputs belong to a space that is there, and reach their value along affine coordinates.
 */
static tenon_status_t check_spaces(region_reader_t* r) {
  for (uint32_t k = 0; k < r->region.input_count; ++k) {
    const tenon__region_input_t* input = &r->region.inputs[k];
    if (!input->aligned) {
      continue;
    }
    uint32_t rank = 0;
    tenon_dim_t base = TENON_DIM_INVALID;
    tenon_dim_t coefficients[MOST_AXES];
    if (tenon__region_space(&r->region, input->space, &rank) == NULL) {
      return broken(r, "an input is aligned to a space that is not there");
    }
    for (uint32_t d = 0; d < input->access.rank; ++d) {
      if (!tenon__dim_affine(r->network->pool, input->access.coordinates[d], rank, &base,
                             coefficients)) {
        return tenon__dim_pool_failed(r->network->pool) ? TENON_ERROR_OUT_OF_MEMORY
                                                        : broken(r, "an access is not affine");
      }
    }
  }
  for (uint32_t k = 0; k < r->region.output_count; ++k) {
    if (r->region.outputs[k].aligned && r->region.kind != TENON_REGION_EXPRESSION) {
      return broken(r, "an output is aligned to a space that is not there");
    }
  }
  return TENON_OK;
}

/* ---- Moves ---- */

static bool is_one_element(const region_reader_t* r, uint32_t input) {
  if (input >= r->region.input_count || r->region.inputs[input].value == TENON_NONE) {
    return false;
  }
  const tenon__value_node_t* value = value_of(r, r->region.inputs[input].value);
  for (uint32_t k = 0; k < value->type.rank; ++k) {
    int64_t extent = 0;
    if (k >= MOST_AXES || !tenon__dim_known(r->network->pool, value->type.dims[k], &extent) ||
        extent != 1) {
      return false;
    }
  }
  return true;
}

static bool map_fits(const region_reader_t* r, const tenon__index_map_t* map) {
  if (r->region.output_count != 1 || r->region.outputs[0].value == TENON_NONE) {
    return false;
  }
  const tenon__value_node_t* output = value_of(r, r->region.outputs[0].value);
  const tenon_dtype_t dtype = tenon__region_output_dtype(&r->region, 0, NULL);
  if (!is_tensor(output) || output->type.rank != map->rank) {
    return false;
  }
  for (uint32_t k = 0; k < map->source_count; ++k) {
    const uint32_t input = map->sources[k].input;
    if (input >= r->region.input_count || r->region.inputs[input].value == TENON_NONE) {
      return false;
    }
    const tenon__value_node_t* value = value_of(r, r->region.inputs[input].value);
    if (!is_tensor(value) || value->type.rank != map->sources[k].rank ||
        tenon__region_input_dtype(&r->region, input, NULL) != dtype) {
      return false;
    }
  }
  return map->fill != TENON_FILL_INPUT ||
         (is_one_element(r, map->fill_input) &&
          tenon__region_input_dtype(&r->region, map->fill_input, NULL) == dtype);
}

static tenon_status_t read_map(region_reader_t* r) {
  tenon__index_map_t* map = tenon__arena_allocate(r->arena, 1, sizeof *map);
  /* What is read lies in the network's arena, and its pool may grow. */
  tenon__file_reading_t reading = {
      .reader = r->bytes, .network = (tenon__network_t*)r->network, .sink = r->sink};
  TENON_TRY_MEMORY(map != NULL);
  if (!tenon__index_map_read(&reading, r->region.input_count, map)) {
    return reading.out_of_memory || tenon__dim_pool_failed(r->network->pool)
               ? TENON_ERROR_OUT_OF_MEMORY
               : broken(r, "a map is broken");
  }
  r->region.map = map;
  return TENON_OK;
}

static tenon_status_t read_semantics(region_reader_t* r) {
  if (r->region.kind == TENON_REGION_EXPRESSION) {
    tenon__expression_t* expression = tenon__arena_allocate(r->arena, 1, sizeof *expression);
    TENON_TRY_MEMORY(expression != NULL);
    TENON_TRY(read_expression(r, NULL, expression));
    r->region.expression = expression;
  } else if (r->region.kind == TENON_REGION_MOVE) {
    TENON_TRY(read_map(r));
    if (!map_fits(r, r->region.map)) {
      return broken(r, "a map does not fit the arguments");
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__region_read(struct tenon__byte_reader_t* reader,
                                  const tenon__network_t* network, uint32_t graph,
                                  tenon__arena_t* arena, const tenon_sink_t* sink,
                                  struct tenon_region_t* out_region) {
  region_reader_t r = {.bytes = reader,
                       .network = network,
                       .graph = network->graphs[graph],
                       .arena = arena,
                       .sink = sink,
                       .region = {.network = network, .graph = graph}};
  r.region.kind = tenon__read_u32(reader);
  if (r.region.kind < TENON_REGION_OPERATOR || r.region.kind > TENON_REGION_MOVE) {
    return broken(&r, "the kind is unknown");
  }
  TENON_TRY(read_nodes(&r, &r.region.node_count, &r.region.nodes));
  TENON_TRY(read_nodes(&r, &r.region.covered_count, &r.region.covered));
  if ((r.region.kind == TENON_REGION_OPERATOR) != (r.region.node_count > 0)) {
    return broken(&r, "operators are missing, or stand where none can be");
  }
  TENON_TRY(read_inputs(&r));
  TENON_TRY(read_outputs(&r));
  TENON_TRY(read_slots(&r));
  if (!tenon__slots_fit_node(&r.region)) {
    return broken(&r, "the arguments are not those of the operator");
  }
  TENON_TRY(read_semantics(&r));
  TENON_TRY(check_spaces(&r));
  if (reader->failed) {
    return broken(&r, "bytes are missing");
  }
  *out_region = r.region;
  return TENON_OK;
}
