/* Composition of expressions, reading through views, and the normal form: all are assembling anew. */
#include <string.h>

#include "core/base/status.h"
#include "core/expression/assembler.h"
#include "core/expression/scalar.h"

typedef struct composition_t {
  tenon__dim_pool_t* pool;
  tenon__assembler_t assembler;
  uint32_t* map; /* instruction of the part being copied -> of the assembler */
} composition_t;

/* What replaces an operand, an index or an extent while a part is copied. */
typedef struct copying_t {
  const tenon__expression_t* part;
  const tenon_dim_t* replacements; /* coordinates of the part's space; NULL: the same space */
  const uint32_t* axes;            /* axis of the new space for each of the part's; NULL: the same */
  uint32_t index_base;
  const uint32_t* slots; /* operands that are replaced by `replacement` */
  uint32_t slot_count;
  uint32_t replacement;
  tenon_dtype_t replacement_type;
} copying_t;

static bool is_slot(const copying_t* c, int64_t operand) {
  for (uint32_t k = 0; k < c->slot_count; ++k) {
    if (c->slots[k] == (uint32_t)operand) {
      return true;
    }
  }
  return false;
}

static uint32_t copy_operand(composition_t* composition, const copying_t* c, uint32_t operand) {
  tenon_operand_t own = c->part->program.operands[operand];
  tenon__access_t access = c->part->accesses[operand];
  if (own.kind == TENON_OPERAND_ARGUMENT) {
    own.index += c->index_base;
  }
  if (own.indexed == 0 && c->replacements != NULL && access.rank > 0) {
    tenon_dim_t* coordinates = tenon__arena_allocate(composition->assembler.arena, access.rank,
                                                     sizeof *coordinates);
    if (coordinates == NULL) {
      composition->assembler.failed = true;
      return 0;
    }
    for (uint32_t k = 0; k < access.rank; ++k) {
      coordinates[k] =
          tenon__dim_substitute(composition->pool, access.coordinates[k], c->replacements,
                                c->part->program.rank, NULL);
    }
    access.coordinates = coordinates;
  }
  if (own.indexed == 0 && composition->pool != NULL) {
    own.broadcast_axes =
        tenon__access_broadcast(composition->pool, &access, composition->assembler.rank);
  }
  return tenon__assembler_operand(&composition->assembler, &own, &access);
}

static uint32_t cast_to(composition_t* composition, uint32_t index, tenon_dtype_t dtype) {
  const tenon_instruction_t cast = {
      .opcode = TENON_OPCODE_CAST, .dtype = (uint16_t)dtype, .operands = {index, 0, 0}};
  return tenon__assembler_add(&composition->assembler, &cast, NULL);
}

static void copy_part(composition_t* composition, const copying_t* c) {
  const tenon_program_t* program = &c->part->program;
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    tenon_instruction_t i = program->instructions[k];
    uint32_t coordinates[64];
    if (i.opcode == TENON_OPCODE_INPUT && is_slot(c, i.immediate.i)) {
      composition->map[k] = cast_to(composition, c->replacement, i.dtype);
      continue;
    }
    if (i.opcode == TENON_OPCODE_INPUT || i.opcode == TENON_OPCODE_LOAD) {
      i.immediate.i = copy_operand(composition, c, (uint32_t)i.immediate.i);
    }
    if (i.opcode == TENON_OPCODE_LOAD) {
      for (uint32_t d = 0; d < i.operands[1] && d < 64; ++d) {
        coordinates[d] = composition->map[program->coordinates[i.operands[0] + d]];
      }
    } else {
      for (uint32_t o = 0; o < tenon__opcode_operand_count(i.opcode); ++o) {
        i.operands[o] = composition->map[i.operands[o]];
      }
    }
    if ((i.opcode == TENON_OPCODE_INDEX || i.opcode == TENON_OPCODE_SIZE) && c->axes != NULL) {
      i.immediate.i = c->axes[i.immediate.i];
    }
    composition->map[k] = tenon__assembler_add(&composition->assembler, &i, coordinates);
  }
}

static bool begin(composition_t* composition, tenon__dim_pool_t* pool, tenon__arena_t* arena,
                  const tenon__expression_t* a, const tenon__expression_t* b) {
  const uint32_t instructions =
      a->program.instruction_count + (b == NULL ? 0 : b->program.instruction_count);
  composition->pool = pool;
  composition->map = tenon__arena_allocate(arena, instructions + 1u, sizeof(uint32_t));
  return composition->map != NULL &&
         tenon__assembler_initialize(
             &composition->assembler, arena, a->program.rank, a->space, instructions,
             a->program.operand_count + (b == NULL ? 0 : b->program.operand_count),
             a->program.coordinate_count + (b == NULL ? 0 : b->program.coordinate_count));
}

tenon_status_t tenon__expression_normalise(const tenon__expression_t* expression,
                                           tenon__arena_t* arena,
                                           tenon__expression_t* out_expression) {
  composition_t composition = {0};
  const copying_t c = {.part = expression};
  tenon_program_output_t* outputs = tenon__arena_allocate(
      arena, expression->program.output_count + 1u, sizeof *outputs);
  if (outputs == NULL || !begin(&composition, NULL, arena, expression, NULL)) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  copy_part(&composition, &c);
  for (uint32_t k = 0; k < expression->program.output_count; ++k) {
    outputs[k] = expression->program.outputs[k];
    outputs[k].instruction = composition.map[outputs[k].instruction];
  }
  return tenon__assembler_finish(&composition.assembler, outputs, expression->output_axes,
                                 expression->output_ranks, expression->program.output_count,
                                 out_expression);
}

static bool reduces(const tenon__expression_t* e) {
  for (uint32_t k = 0; k < e->program.instruction_count; ++k) {
    if (tenon__opcode_is_reduction(e->program.instructions[k].opcode)) {
      return true;
    }
  }
  return false;
}

/* INDEX, SIZE and LOAD know the space that they stand in. */
static bool knows_space(const tenon__expression_t* e) {
  for (uint32_t k = 0; k < e->program.instruction_count; ++k) {
    const uint16_t opcode = e->program.instructions[k].opcode;
    if (opcode == TENON_OPCODE_INDEX || opcode == TENON_OPCODE_SIZE || opcode == TENON_OPCODE_LOAD) {
      return true;
    }
  }
  return false;
}

static bool same_space(const tenon__expression_t* a, const tenon__expression_t* b) {
  if (a->program.rank != b->program.rank) {
    return false;
  }
  for (uint32_t k = 0; k < a->program.rank; ++k) {
    if (!tenon__dim_equal(a->space[k], b->space[k])) {
      return false;
    }
  }
  return true;
}

/* Does the access read the output at the same point of an equal space (reduced axes aside)? */
static bool at_identity(tenon__dim_pool_t* pool, const tenon__expression_t* consumer,
                        uint32_t operand, const tenon__expression_t* producer, uint32_t output) {
  const tenon__access_t* access = &consumer->accesses[operand];
  const uint64_t reduced = producer->program.outputs[output].reduced_axes;
  if (!same_space(consumer, producer) || access->rank != producer->output_ranks[output]) {
    return false;
  }
  uint64_t seen = 0;
  for (uint32_t d = 0; d < access->rank; ++d) {
    const uint32_t axis = producer->output_axes[output][d];
    int64_t number = 0;
    const bool is_zero =
        tenon__dim_known(pool, access->coordinates[d], &number) && number == 0;
    const bool is_own = tenon__dim_equal(
        access->coordinates[d], tenon__dim_coordinate(pool, axis, consumer->space[axis]));
    const bool is_single =
        tenon__dim_known(pool, producer->space[axis], &number) && number == 1;
    const bool is_reduced = ((reduced >> axis) & 1u) != 0;
    if (!(is_own && !is_reduced) && !(is_zero && (is_single || is_reduced)) &&
        !(is_own && is_single)) {
      return false;
    }
    seen |= UINT64_C(1) << axis;
  }
  const uint64_t all =
      producer->program.rank >= 64 ? UINT64_MAX : (UINT64_C(1) << producer->program.rank) - 1;
  return (seen | reduced) == all;
}

/* Coordinates of the producer's space in the consumer's; false when an axis has none. */
static bool replacements_for(tenon__dim_pool_t* pool, tenon__arena_t* arena,
                             const tenon__expression_t* consumer, uint32_t operand,
                             const tenon__expression_t* producer, uint32_t output,
                             tenon_dim_t** out_replacements) {
  const tenon__access_t* access = &consumer->accesses[operand];
  const uint32_t rank = producer->program.rank;
  tenon_dim_t* replacements = tenon__arena_allocate(arena, rank + 1u, sizeof *replacements);
  *out_replacements = replacements;
  if (replacements == NULL || access->rank != producer->output_ranks[output]) {
    return false;
  }
  for (uint32_t k = 0; k < rank; ++k) {
    replacements[k] = TENON_DIM_INVALID;
  }
  for (uint32_t d = 0; d < access->rank; ++d) {
    replacements[producer->output_axes[output][d]] = access->coordinates[d];
  }
  for (uint32_t k = 0; k < rank; ++k) {
    if (replacements[k].id == TENON_NONE) {
      replacements[k] = tenon__dim_constant(pool, 0);
      int64_t extent = 0;
      if (!tenon__dim_known(pool, producer->space[k], &extent) || extent != 1) {
        return false;
      }
    }
  }
  return true;
}

static bool same_access(const tenon__access_t* a, const tenon__access_t* b) {
  for (uint32_t k = 0; a->rank == b->rank && k < a->rank; ++k) {
    if (!tenon__dim_equal(a->coordinates[k], b->coordinates[k])) {
      return false;
    }
  }
  return a->rank == b->rank;
}

/* Stored and loaded again: what the value looks like to the consumer. */
static bool stored_value(composition_t* composition, uint32_t index,
                         const tenon_program_output_t* output, bool strict, uint32_t* out_index) {
  const uint32_t bits = tenon__dtype_bits(output->dtype);
  const tenon_dtype_t arithmetic = tenon__dtype_arithmetic(output->dtype);
  const char class = tenon__dtype_class(output->dtype);
  if (bits < 8 || class == 's' || class == 'c') {
    return false; /* packed types round where they are stored */
  }
  if (strict && arithmetic != output->dtype) {
    return false;
  }
  *out_index = cast_to(composition, index, arithmetic);
  return true;
}

static tenon_status_t finish(composition_t* composition, const tenon__expression_t* consumer,
                             const uint32_t* consumer_map, const tenon__expression_t* producer,
                             uint32_t producer_output, uint32_t kept_instruction, bool keep,
                             tenon__expression_t* out_expression) {
  tenon__arena_t* arena = composition->assembler.arena;
  const uint32_t own = consumer->program.output_count;
  const uint32_t count = own + (keep ? 1 : 0);
  tenon_program_output_t* outputs = tenon__arena_allocate(arena, count + 1u, sizeof *outputs);
  const uint32_t** axes = tenon__arena_allocate(arena, count + 1u, sizeof *axes);
  uint32_t* ranks = tenon__arena_allocate(arena, count + 1u, sizeof *ranks);
  if (outputs == NULL || axes == NULL || ranks == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t k = 0; k < own; ++k) {
    outputs[k] = consumer->program.outputs[k];
    outputs[k].instruction = consumer_map[outputs[k].instruction];
    axes[k] = consumer->output_axes[k];
    ranks[k] = consumer->output_ranks[k];
  }
  if (keep) {
    outputs[own] = producer->program.outputs[producer_output];
    outputs[own].instruction = kept_instruction;
    axes[own] = producer->output_axes[producer_output];
    ranks[own] = producer->output_ranks[producer_output];
  }
  return tenon__assembler_finish(&composition->assembler, outputs, axes, ranks, count,
                                 out_expression);
}

tenon_status_t tenon__expression_compose(tenon__dim_pool_t* pool,
                                         const tenon__expression_t* consumer,
                                         const uint32_t* slots, uint32_t slot_count,
                                         const tenon__expression_t* producer,
                                         uint32_t producer_output, bool keep_output,
                                         uint32_t producer_index_base, bool strict,
                                         tenon__arena_t* arena,
                                         tenon__expression_t* out_expression) {
  bool identity = true;
  for (uint32_t k = 0; k < slot_count; ++k) {
    if (consumer->program.operands[slots[k]].indexed != 0 ||
        !same_access(&consumer->accesses[slots[k]], &consumer->accesses[slots[0]])) {
      return TENON_ERROR_UNSUPPORTED;
    }
    identity = identity && at_identity(pool, consumer, slots[k], producer, producer_output);
  }
  if (slot_count == 0 || (!identity && (keep_output || reduces(producer) || knows_space(producer)))) {
    return TENON_ERROR_UNSUPPORTED;
  }
  /* A reduction over a space of which the other part knows nothing is fine; a consumer that reduces over the
   * same space keeps its axes. */
  composition_t composition = {0};
  if (!begin(&composition, pool, arena, consumer, producer)) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  copying_t first = {.part = producer, .index_base = producer_index_base};
  if (!identity) {
    tenon_dim_t* replacements = NULL;
    if (!replacements_for(pool, arena, consumer, slots[0], producer, producer_output,
                          &replacements)) {
      return replacements == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_ERROR_UNSUPPORTED;
    }
    first.replacements = replacements;
  }
  copy_part(&composition, &first);
  const tenon_program_output_t* output = &producer->program.outputs[producer_output];
  const uint32_t kept = composition.map[output->instruction];
  uint32_t value = 0;
  if (!stored_value(&composition, kept, output, strict, &value)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  const copying_t second = {
      .part = consumer, .slots = slots, .slot_count = slot_count, .replacement = value};
  copy_part(&composition, &second);
  return finish(&composition, consumer, composition.map, producer, producer_output, kept,
                keep_output, out_expression);
}

tenon_status_t tenon__expression_through_view(tenon__dim_pool_t* pool,
                                              const tenon__expression_t* expression,
                                              uint32_t operand, const tenon__index_map_t* map,
                                              tenon__arena_t* arena,
                                              tenon__expression_t* out_expression) {
  if (map->kind != TENON_MAP_AFFINE || map->source_count != 1 || map->fill != TENON_FILL_NONE ||
      expression->program.operands[operand].indexed != 0) {
    return TENON_ERROR_UNSUPPORTED;
  }
  const uint32_t count = expression->program.operand_count;
  tenon__access_t* accesses =
      tenon__arena_copy(arena, expression->accesses, count * sizeof *accesses);
  tenon_operand_t* operands =
      tenon__arena_copy(arena, expression->program.operands, count * sizeof *operands);
  tenon_dim_t* coordinates =
      tenon__arena_allocate(arena, map->sources[0].rank + 1u, sizeof *coordinates);
  if (accesses == NULL || operands == NULL || coordinates == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  for (uint32_t d = 0; d < map->sources[0].rank; ++d) {
    coordinates[d] = tenon__dim_substitute(pool, map->sources[0].coordinates[d],
                                           accesses[operand].coordinates, map->rank, NULL);
  }
  accesses[operand].rank = map->sources[0].rank;
  accesses[operand].coordinates = coordinates;
  operands[operand].broadcast_axes =
      tenon__access_broadcast(pool, &accesses[operand], expression->program.rank);
  *out_expression = *expression;
  out_expression->accesses = accesses;
  out_expression->program.operands = operands;
  return tenon__dim_pool_failed(pool) ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}
