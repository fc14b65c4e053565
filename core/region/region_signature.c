/*
 * What a region costs depends on: its operators and attributes, its values' types and extents,
 * which of them are constant, its programs and how they reach their operands. All of that goes into
 * a digest, and nothing else: no names, no numbers of graph values, no ids of dimensions.
 * Dimensions count by their values at the profile's points; where these depend on coordinates, by
 * their structure.
 */
#include "core/region/region_signature.h"

#include <assert.h>
#include <string.h>

#include "core/base/bytes.h"
#include "core/dimension/dimension_pool.h"
#include "core/region/region.h"

/* A dimension of a strange map can unfold to more terms than can be visited. */
#define MOST_DIM_VISITS 4096u

typedef struct hasher_t {
  tenon__digest_state_t state;
  const struct tenon_region_t* region;
  uint32_t dim_visits;
} hasher_t;

static void hash_u64(hasher_t* s, uint64_t number) {
  uint8_t bytes[8];
  for (uint32_t k = 0; k < 8; ++k) {
    bytes[k] = (uint8_t)(number >> (8 * k));
  }
  tenon__digest_add(&s->state, bytes, sizeof bytes);
}

static void hash_f64(hasher_t* s, double number) {
  hash_u64(s, tenon__bits_of(number));
}

static void hash_text(hasher_t* s, const char* text) {
  const size_t size = text == NULL ? 0 : strlen(text);
  hash_u64(s, size);
  tenon__digest_add(&s->state, text == NULL ? "" : text, size);
}

static void hash_i64s(hasher_t* s, const int64_t* numbers, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    hash_u64(s, (uint64_t)numbers[k]);
  }
}

/* ---- Dimensions ---- */

static bool hash_known_dim(hasher_t* s, tenon_dim_t dim) {
  const tenon__profile_t* profile = s->region->profile;
  int64_t values[3];
  if (!tenon__extents_get(&profile->min, dim, &values[0]) ||
      !tenon__extents_get(&profile->optimum, dim, &values[1]) ||
      !tenon__extents_get(&profile->max, dim, &values[2])) {
    return false;
  }
  hash_u64(s, 1);
  hash_i64s(s, values, 3);
  return true;
}

static void hash_symbol(hasher_t* s, tenon_dim_t dim, uint32_t index) {
  const tenon__symbol_t* symbol = tenon__symbol_get(s->region->network->pool, index);
  int64_t guess = -1;
  hash_u64(s, (uint64_t)symbol->kind);
  if (symbol->kind == TENON_SYMBOL_COORDINATE) {
    hash_u64(s, symbol->a);
  } else {
    (void)tenon__extents_get(&s->region->profile->optimum, dim, &guess);
    hash_u64(s, (uint64_t)guess);
  }
}

static void hash_dim(hasher_t* s, tenon_dim_t dim) {
  if (dim.id == TENON_NONE || s->dim_visits >= MOST_DIM_VISITS) {
    hash_u64(s, 0);
    return;
  }
  s->dim_visits += 1;
  if (hash_known_dim(s, dim)) {
    return;
  }
  const tenon__dim_view_t view = tenon__dim_get(s->region->network->pool, dim);
  hash_u64(s, 2u + (uint64_t)view.kind);
  if (view.kind == TENON_DIM_SYMBOL) {
    hash_symbol(s, dim, view.index);
    return;
  }
  hash_u64(s, view.kind == TENON_DIM_OPERATION ? view.opcode : 0);
  hash_u64(s, view.kind == TENON_DIM_CONSTANT ? (uint64_t)view.value : 0);
  hash_u64(s, view.kind == TENON_DIM_ELEMENT ? view.index : 0);
  hash_u64(s, view.operand_count);
  for (uint32_t k = 0; k < view.operand_count; ++k) {
    hash_dim(s, view.operands[k]);
  }
}

static void hash_dims(hasher_t* s, uint32_t rank, const tenon_dim_t* dims) {
  hash_u64(s, rank);
  const uint32_t count = rank == TENON_NONE ? 0 : rank;
  for (uint32_t k = 0; k < count; ++k) {
    hash_dim(s, dims[k]);
  }
}

/* ---- Programs and maps ---- */

static void hash_program(hasher_t* s, const tenon_program_t* program) {
  hash_u64(s, program->rank);
  hash_u64(s, program->instruction_count);
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    const tenon_instruction_t* i = &program->instructions[k];
    hash_u64(s, i->opcode);
    hash_u64(s, i->dtype);
    hash_u64(s, i->operands[0]);
    hash_u64(s, i->operands[1]);
    hash_u64(s, i->operands[2]);
    hash_u64(s, (uint64_t)i->immediate.i);
  }
  hash_u64(s, program->operand_count);
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    const tenon_operand_t* operand = &program->operands[k];
    hash_u64(s, operand->kind);
    hash_u64(s, operand->kind == TENON_OPERAND_ARGUMENT ? operand->index : 0);
    hash_u64(s, operand->dtype);
    hash_u64(s, operand->indexed);
    hash_u64(s, operand->broadcast_axes);
  }
  hash_u64(s, program->output_count);
  for (uint32_t k = 0; k < program->output_count; ++k) {
    const tenon_program_output_t* output = &program->outputs[k];
    hash_u64(s, output->instruction);
    hash_u64(s, output->dtype);
    hash_u64(s, output->index);
    hash_u64(s, output->reduced_axes);
  }
  hash_u64(s, program->coordinate_count);
  for (uint32_t k = 0; k < program->coordinate_count; ++k) {
    hash_u64(s, program->coordinates[k]);
  }
}

/* Accesses of arguments are signed with the region's inputs; the slot's own value has none there.
 */
static void hash_expression(hasher_t* s, const tenon__expression_t* expression) {
  hash_program(s, &expression->program);
  hash_dims(s, expression->program.rank, expression->space);
  for (uint32_t k = 0; k < expression->program.operand_count; ++k) {
    if (expression->program.operands[k].kind == TENON_OPERAND_SLOT_VALUE) {
      hash_dims(s, expression->accesses[k].rank, expression->accesses[k].coordinates);
    }
  }
}

static void hash_map(hasher_t* s, const tenon__index_map_t* map) {
  hash_u64(s, (uint64_t)map->kind);
  hash_dims(s, map->rank, map->dims);
  hash_u64(s, map->source_count);
  for (uint32_t k = 0; k < map->source_count; ++k) {
    const tenon__map_source_t* source = &map->sources[k];
    hash_u64(s, source->input);
    hash_dims(s, source->rank, source->dims);
    hash_u64(s, source->coordinates != NULL ? 1 : 0);
    if (source->coordinates != NULL) {
      hash_dims(s, source->rank, source->coordinates);
    }
  }
  hash_u64(s, (uint64_t)map->fill);
  hash_u64(s, map->fill == TENON_FILL_INPUT ? map->fill_input : 0);
  hash_u64(s, map->fill == TENON_FILL_VALUE ? map->fill_dtype : 0);
  hash_u64(s, map->fill == TENON_FILL_VALUE ? (uint64_t)map->fill_value.i : 0);
}

/* ---- Nodes and values ---- */

static void hash_attribute(hasher_t* s, const tenon__scope_attribute_t* attribute) {
  hash_text(s, attribute->name);
  hash_u64(s, attribute->kind);
  hash_u64(s, attribute->count);
  switch (attribute->kind) {
    case TENON_ATTRIBUTE_INT:
    case TENON_ATTRIBUTE_DTYPE:
      hash_u64(s, (uint64_t)attribute->integer);
      break;
    case TENON_ATTRIBUTE_FLOAT:
      hash_f64(s, attribute->number);
      break;
    case TENON_ATTRIBUTE_STRING:
      hash_text(s, attribute->string);
      break;
    case TENON_ATTRIBUTE_INTS:
      for (size_t k = 0; k < attribute->count; ++k) {
        hash_u64(s, (uint64_t)attribute->integers[k]);
      }
      break;
    case TENON_ATTRIBUTE_FLOATS:
      for (size_t k = 0; k < attribute->count; ++k) {
        hash_f64(s, attribute->numbers[k]);
      }
      break;
    case TENON_ATTRIBUTE_STRINGS:
      for (size_t k = 0; k < attribute->count; ++k) {
        hash_text(s, attribute->strings[k]);
      }
      break;
    default:
      break;
  }
}

static void hash_node(hasher_t* s, const tenon__node_t* node) {
  hash_text(s, node->op == NULL ? "" : node->op->name);
  if (node->op != NULL) {
    tenon__digest_add(&s->state, &node->op->contract, sizeof node->op->contract);
  }
  hash_u64(s, node->attribute_count);
  for (uint32_t k = 0; k < node->attribute_count; ++k) {
    hash_attribute(s, &node->attributes[k]);
  }
  hash_u64(s, node->input_count);
  for (uint32_t k = 0; k < node->input_count; ++k) {
    hash_u64(s, tenon__region_value(s->region, node->inputs[k]));
  }
  hash_u64(s, node->output_count);
  for (uint32_t k = 0; k < node->output_count; ++k) {
    hash_u64(s, tenon__region_value(s->region, node->outputs[k]));
  }
}

/* One element can decide the work (an axis, a number of classes); the bytes of more do not. */
static void hash_constant(hasher_t* s, const tenon_value_info_t* value) {
  int64_t count = 1;
  for (uint32_t k = 0; k < value->rank; ++k) {
    count = value->dims_max[k] == 1 ? count : 0;
  }
  if (count == 1 && value->dtype == TENON_DTYPE_STRING) {
    const tenon_string_view_t* text = value->constant_data;
    hash_u64(s, text->size);
    tenon__digest_add(&s->state, text->size > 0 ? text->data : "", text->size);
  } else if (count == 1) {
    tenon__digest_add(&s->state, value->constant_data, (tenon__dtype_bits(value->dtype) + 7u) / 8u);
  }
}

static void hash_value(hasher_t* s, const tenon_value_info_t* value) {
  hash_u64(s, value->dtype);
  hash_u64(s, value->rank);
  hash_i64s(s, value->dims_min, value->rank);
  hash_i64s(s, value->dims_opt, value->rank);
  hash_i64s(s, value->dims_max, value->rank);
  hash_u64(s, value->constant_data != NULL ? 1 : 0);
  if (value->constant_data != NULL) {
    hash_constant(s, value);
  }
}

static void hash_arguments(hasher_t* s) {
  const struct tenon_region_t* region = s->region;
  hash_u64(s, region->input_count);
  for (uint32_t k = 0; k < region->input_count; ++k) {
    const tenon__region_input_t* input = &region->inputs[k];
    hash_u64(s, region->input_values[k]);
    hash_u64(s, input->aligned ? 1 : 0);
    const uint32_t rank = input->order == NULL ? 0 : region->values[region->input_values[k]].rank;
    for (uint32_t d = 0; d < rank; ++d) {
      hash_u64(s, input->order[d]);
    }
    if (input->aligned) {
      hash_u64(s, input->space);
      hash_dims(s, input->access.rank, input->access.coordinates);
    }
  }
  hash_u64(s, region->output_count);
  for (uint32_t k = 0; k < region->output_count; ++k) {
    const tenon__region_output_t* output = &region->outputs[k];
    hash_u64(s, region->output_values[k]);
    hash_u64(s, output->aligned ? 1 : 0);
    const uint32_t axis_count = output->aligned ? output->axis_count : 0;
    for (uint32_t d = 0; d < axis_count; ++d) {
      hash_u64(s, output->axes[d]);
    }
  }
}

tenon__digest_t tenon__region_signature(const struct tenon_region_t* region) {
  assert(region->profile != NULL); /* finished */
  hasher_t s = {.region = region};
  tenon__digest_begin(&s.state);
  hash_u64(&s, region->kind);
  hash_u64(&s, region->value_count);
  for (uint32_t k = 0; k < region->value_count; ++k) {
    hash_value(&s, &region->values[k]);
  }
  hash_arguments(&s);
  hash_u64(&s, region->node_count);
  for (uint32_t k = 0; k < region->node_count; ++k) {
    hash_node(&s, &region->network->graphs[region->graph]->nodes[region->nodes[k]]);
  }
  hash_u64(&s, region->slot_count);
  for (uint32_t k = 0; k < region->slot_count; ++k) {
    hash_u64(&s, region->slots[k].slot);
    hash_u64(&s, region->slots[k].kind);
    hash_u64(&s, region->slots[k].index);
    hash_expression(&s, &region->slots[k].expression);
  }
  hash_u64(&s, region->expression != NULL ? 1 : 0);
  if (region->expression != NULL) {
    hash_expression(&s, region->expression);
  }
  hash_u64(&s, region->map != NULL ? 1 : 0);
  if (region->map != NULL) {
    hash_map(&s, region->map);
  }
  return tenon__digest_end(&s.state);
}
